//! The papers' numbers, as the recipes have them: whoever changes a default sees here that it was one of these.
#![allow(clippy::expect_used, clippy::panic, missing_docs)]

use std::{
    collections::BTreeSet,
    num::{NonZeroU32, NonZeroU64},
};

use journeyman::{
    ErrorKind,
    domain::RoleRule,
    papers::{
        hisme::{MacroPolicy, MicroPolicy},
        skillos::{CompositeWeights, Rollouts},
        skillrl::{BankPolicy, BankSelector},
    },
    policy::Policies,
    recipe::{self, Maintenance, Recipe},
    stations::{maintain::QuarantinePolicy, propose::WriteWhen},
};
use serde_json::{Value, json};

/// A recipe's JSON, with its maintenance programs by their names instead of in a list: their numbers and options.
fn by_name(recipe: &Recipe) -> Value {
    let mut all = serde_json::to_value(recipe).expect("it is JSON");
    let maintenance = all["maintenance"].as_object_mut().expect("fields");
    maintenance.remove("programs");
    for one in &recipe.maintenance.programs {
        let program = json!({ "every": one.every, "options": one.program.options });
        let before = maintenance.insert(one.program.name.clone(), program);
        assert_eq!(before, None, "two programs of one name");
    }
    all
}

/// HiSME's JSON by [`by_name`] as a recipe is read from it.
fn listed(mut all: Value) -> Value {
    let maintenance = all["maintenance"].as_object_mut().expect("fields");
    let programs = ["micro", "macro"].map(|name| {
        let mut one = maintenance.remove(name).expect(name);
        let options = one["options"].take();
        json!({ "every": one["every"], "program": { "name": name, "options": options } })
    });
    maintenance.insert("programs".to_owned(), json!(programs));
    all
}

/// The names of a recipe's maintenance programs, in the order in which they run.
fn programs(recipe: &Recipe) -> Vec<&str> {
    let programs = recipe.maintenance.programs.iter();
    programs.map(|one| one.program.name.as_str()).collect()
}

/// A recipe has these values, by their places in its JSON ([`by_name`]).
fn check(recipe: &Recipe, expect: &[(&str, Value)]) {
    let all = by_name(recipe);
    for (place, value) in expect {
        assert_eq!(all.pointer(place), Some(value), "{place} in {all:#}");
    }
}

#[test]
fn arise_has_the_numbers_of_its_paper() {
    let arise = recipe::arise();
    check(
        &arise,
        &[
            ("/attempts/group", json!(8)),
            ("/reward/by/options/levels", json!([0.0, 1.0, 2.0])),
            ("/tiers/cache", json!(10)),
            ("/tiers/reservoir", json!(100)),
            ("/tiers/beta", json!(0.9)),
            // A.1: a step is 64 queries; the warm-up counts steps. D.3: the gain is measured after each 100 of them.
            ("/batch", json!(64)),
            ("/attempts/warm_up", json!(500)),
            ("/maintenance/gains/every", json!(100 * 64)),
            // D.1: of each attempt 400 characters are shown.
            ("/write/by/options/shown_chars", json!(400)),
        ],
    );
    let gate = arise.gate().expect("a gate");
    assert_eq!((gate.relative, gate.epsilon), (Some(0.35), 0.1));
    assert_eq!(gate.absolute, None);
    assert_eq!(programs(&arise), ["gains"]);
}

#[test]
fn skillrl_has_the_numbers_of_its_paper() {
    let skillrl = recipe::skillrl();
    check(
        &skillrl,
        &[
            // 4.1: K, the threshold of evolution, groups of 8, batches of 16. Eq. 8: a binary reward.
            ("/select/selector/options/limit", json!(6)),
            ("/maintenance/bank/options/success", json!(0.4)),
            ("/attempts/group", json!(8)),
            ("/batch", json!(16)),
            ("/reward/by/options/binary", json!(true)),
            // 3.3: failures are those of the verdict; 3.1: the first bank is distilled.
            ("/maintenance/bank/options/failure", json!("verdict")),
            ("/maintenance/bank/options/first", json!(true)),
            // It is looked after behind each round.
            ("/maintenance/bank/every", json!(null)),
            ("/maintenance/bank/options/round", json!(80)),
            // Algorithm 1 writes no skill from a single task.
            ("/write/when", json!("never")),
        ],
    );
    assert_eq!(programs(&skillrl), ["bank"]);
    skillrl.validate().expect("it is a recipe");
    skillrl.resolve(&Policies::new()).expect("it resolves");
    let bank = skillrl.select.selector.read::<BankSelector>();
    let bank = bank.expect("its options").expect("a bank");
    assert_eq!(bank.gate, None);
    let json = serde_json::to_string(&skillrl).expect("it is JSON");
    assert_eq!(
        serde_json::from_str::<Recipe>(&json).expect("it is read"),
        skillrl
    );
    // The other recipes have no bank, and their JSON says nothing of one.
    for recipe in [recipe::arise(), recipe::hisme(), recipe::standard()] {
        let json = serde_json::to_string(&recipe).expect("it is JSON");
        assert!(!json.contains("bank"), "{json}");
    }
}

#[test]
fn a_recipe_says_nothing_of_quarantine_unless_it_tries_skills_there() {
    let all = [
        recipe::arise(),
        recipe::scribe(),
        recipe::skillos(),
        recipe::hisme(),
        recipe::hisme_robust(),
        recipe::skillrl(),
        recipe::standard(),
    ];
    for mut recipe in all {
        let json = serde_json::to_string(&recipe).expect("it is JSON");
        assert!(!json.contains("quarantine"), "{json}");
        recipe.maintenance.quarantine = Some(QuarantinePolicy::default());
        recipe.validate().expect("it is a recipe");
        check(&recipe, &[("/maintenance/quarantine/tasks", json!(3))]);
        let json = serde_json::to_string(&recipe).expect("it is JSON");
        let read: Recipe = serde_json::from_str(&json).expect("it is read");
        assert_eq!(read, recipe);
    }
}

/// The places of every value of a JSON document that is no object.
fn places(value: &Value, place: &str) -> Vec<String> {
    match value {
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(name, field)| places(field, &format!("{place}/{name}")))
            .collect(),
        _ => vec![place.to_owned()],
    }
}

/// HiSME's fields for which the paper publishes no value, by the beginnings of their places.
const UNPUBLISHED: [&str; 22] = [
    "/name",
    "/select/candidates",
    "/select/rank",
    "/select/selector",
    "/reward",
    "/write/recovered",
    "/credit/by",
    "/credit/used_when",
    "/admit/duplicates",
    "/admit/fallback_state",
    "/tiers",
    "/maintenance/micro/options/bundles/most",
    "/maintenance/micro/options/refine/failed",
    "/maintenance/micro/options/refine/most",
    "/maintenance/macro/options/refactor/groups",
    "/maintenance/macro/options/refactor/members",
    "/maintenance/macro/options/refactor/overlap/neighbour",
    "/maintenance/macro/options/refactor/overlap/traces",
    "/maintenance/micro/options/filter/window",
    "/maintenance/macro/options/evolve/",
    "/maintenance/budget/",
    "/limits",
];

#[test]
fn hisme_has_the_numbers_of_its_paper() {
    let hisme = recipe::hisme();
    let paper = [
        // Algorithm 1: one attempt a task, its trace extracted, credit by a model. 4.1: deterministic decoding, three
        // candidates, maintenance and rules after each five tasks, which run at once.
        ("/attempts/group", json!(1)),
        ("/attempts/temperature", json!(0.0)),
        ("/attempts/warm_up", json!(0)),
        ("/write/when", json!("always")),
        ("/write/by/name", json!("extract")),
        ("/write/by/options/candidates", json!(3)),
        ("/write/by/options/failures", json!(true)),
        ("/credit/attribute", json!("always")),
        ("/batch", json!(5)),
        ("/maintenance/micro/every", json!(5)),
        ("/maintenance/macro/every", json!(5)),
        // Appendix B: a skill begins on trial; skills are retrieved for each turn.
        ("/admit/initial_state", json!("trial")),
        ("/admit/identity", json!("bytes")),
        ("/admit/revive", json!(false)),
        ("/select/per", json!("turn")),
        // Eq. 13: a version has to pass its bundle. Algorithm 4: fragments of harm are in it.
        ("/maintenance/micro/options/bundles/gate", json!("all")),
        ("/maintenance/micro/options/bundles/tasks", json!(1)),
        (
            "/maintenance/micro/options/bundles/harm_blocks",
            json!(true),
        ),
        (
            "/maintenance/micro/options/refine/insufficient",
            json!(false),
        ),
        (
            "/maintenance/micro/options/refine/failed_cases",
            json!(true),
        ),
        ("/maintenance/micro/options/refine/keep_drafts", json!(true)),
        ("/maintenance/micro/options/refine/whole", json!(true)),
        // Appendix C, Eq. 21.
        (
            "/maintenance/macro/options/refactor/overlap/ngram",
            json!(0.45),
        ),
        (
            "/maintenance/macro/options/refactor/overlap/embedding",
            json!(0.35),
        ),
        (
            "/maintenance/macro/options/refactor/overlap/error",
            json!(0.20),
        ),
        (
            "/maintenance/macro/options/refactor/overlap/error_factor",
            json!(1.7),
        ),
        (
            "/maintenance/macro/options/refactor/overlap/threshold",
            json!(0.18),
        ),
        (
            "/maintenance/macro/options/refactor/skip_covered",
            json!(false),
        ),
        (
            "/maintenance/macro/options/refactor/counterfactual",
            json!(false),
        ),
        // Appendix C: skill-revision groups are exempt from two tasks.
        ("/maintenance/macro/options/refactor/revisions", json!(true)),
        // Algorithm 5: at most five rules a role.
        ("/maintenance/macro/options/evolve/rules", json!(5)),
        // 3.3: harmful evidence, and no helpful evidence.
        ("/maintenance/micro/options/filter/helpful", json!(1)),
        (
            "/maintenance/micro/options/filter/keep_supported",
            json!(false),
        ),
    ];
    check(&hisme, &paper);
    assert_eq!(RoleRule::MOST, 5);
    // Algorithm 1: micro maintenance comes before macro maintenance.
    assert_eq!(programs(&hisme), ["micro", "macro"]);
    hisme.validate().expect("it is a recipe");
    hisme.resolve(&Policies::new()).expect("it resolves");

    // Every other field has no published value.
    let all = places(&by_name(&hisme), "");
    let published = paper.iter().map(|(place, _)| *place);
    let harmful = "/maintenance/micro/options/filter/harmful";
    let published: BTreeSet<&str> = published.chain([harmful]).collect();
    for place in &all {
        let unpublished = UNPUBLISHED.iter().any(|start| place.starts_with(start));
        assert!(unpublished || published.contains(place.as_str()), "{place}");
    }
}

/// SkillOS's fields that its summary speaks of; the others are ours.
#[test]
fn skillos_has_what_is_known_of_its_paper() {
    let skillos = recipe::skillos();
    check(
        &skillos,
        &[
            // One attempt a task, and a curator after each, in sequence; skills by retrieval, without a gate.
            ("/attempts/group", json!(1)),
            ("/attempts/warm_up", json!(0)),
            ("/write/when", json!("always")),
            ("/write/by/options/skills", json!(2)),
            ("/select/selector/options/limit", json!(2)),
            ("/select/candidates/search/limit", json!(2)),
            ("/select/per", json!("query")),
            ("/batch", json!(1)),
            ("/credit/attribute", json!("never")),
            // Nothing but the curator changes the repository.
            ("/admit/initial_state", json!("active")),
            ("/admit/duplicates", json!("add")),
        ],
    );
    assert!(skillos.maintenance.is_none() && skillos.tiers.cache >= 100_000);
    skillos.validate().expect("it is a recipe");
    // Training regime: eight rollouts, and the weights of the reward.
    let weights = CompositeWeights::default();
    let published = (weights.validity, weights.quality, weights.compression);
    assert_eq!(published, (1.0, 0.1, 0.05));
    assert_eq!(Rollouts::default().count.get(), 8);
    let json = serde_json::to_string(&skillos).expect("it is JSON");
    let read: Recipe = serde_json::from_str(&json).expect("a recipe");
    assert_eq!(read, skillos);
    let zero = json.replace("{\"skills\":2}", "{\"skills\":0}");
    let zero: Recipe = serde_json::from_str(&zero).expect("options are read when they are used");
    assert!(zero.validate().is_err() && zero.resolve(&Policies::new()).is_err());
}

/// The JSON pointers at which two values differ.
fn differences(at: &str, one: &Value, other: &Value, all: &mut Vec<String>) {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) if one.keys().eq(other.keys()) => {
            for (key, value) in one {
                differences(&format!("{at}/{key}"), value, &other[key], all);
            }
        }
        _ if one == other => {}
        _ => all.push(at.to_owned()),
    }
}

#[test]
fn ours_departs_from_the_paper_by_named_options_alone() {
    let mut found = Vec::new();
    let (paper, ours) = (by_name(&recipe::hisme()), by_name(&recipe::hisme_robust()));
    differences("", &paper, &ours, &mut found);
    let options = [
        "/admit/identity",
        "/admit/revive",
        "/maintenance/macro/options/refactor/counterfactual",
        "/maintenance/macro/options/refactor/revisions",
        "/maintenance/macro/options/refactor/skip_covered",
        "/maintenance/micro/options/bundles/gate",
        "/maintenance/micro/options/bundles/harm_blocks",
        "/maintenance/micro/options/bundles/tasks",
        "/maintenance/micro/options/filter/keep_supported",
        "/maintenance/micro/options/refine/failed_cases",
        "/maintenance/micro/options/refine/insufficient",
        "/maintenance/micro/options/refine/keep_drafts",
        "/maintenance/micro/options/refine/whole",
        "/name",
        "/select/per",
        "/write/by/options/failures",
    ];
    found.sort_unstable();
    assert_eq!(found, options);
    check(
        &recipe::hisme(),
        &[
            ("/maintenance/micro/options/bundles/gate", json!("all")),
            ("/maintenance/micro/options/bundles/tasks", json!(1)),
            (
                "/maintenance/micro/options/bundles/harm_blocks",
                json!(true),
            ),
            (
                "/maintenance/micro/options/filter/keep_supported",
                json!(false),
            ),
            (
                "/maintenance/micro/options/refine/failed_cases",
                json!(true),
            ),
            ("/maintenance/micro/options/refine/whole", json!(true)),
            ("/select/per", json!("turn")),
            ("/write/by/options/failures", json!(true)),
        ],
    );
}

#[test]
fn a_recipe_that_does_not_say_what_the_refiner_changes_lets_it_change_the_text() {
    let mut recipe = by_name(&recipe::hisme());
    let refine = recipe.pointer_mut("/maintenance/micro/options/refine");
    let refine = refine.and_then(Value::as_object_mut).expect("a policy");
    assert_eq!(refine.remove("whole"), Some(json!(true)));
    let read: Recipe = serde_json::from_value(listed(recipe)).expect("a recipe");
    let micro = read.maintenance.get::<MicroPolicy>().expect("its options");
    assert!(!micro.refine.expect("a policy").whole);
}

#[test]
fn a_recipe_that_says_nothing_of_skill_revision_groups_has_none() {
    let mut recipe = by_name(&recipe::hisme());
    let refactor = recipe.pointer_mut("/maintenance/macro/options/refactor");
    let refactor = refactor.and_then(Value::as_object_mut).expect("a policy");
    assert_eq!(refactor.remove("revisions"), Some(json!(true)));
    let read: Recipe = serde_json::from_value(listed(recipe)).expect("a recipe");
    let across = read.maintenance.get::<MacroPolicy>().expect("its options");
    assert!(!across.refactor.expect("a policy").revisions);
}

/// The numbers of a recipe that are at least 1 by their type.
const NOT_ZERO: [&str; 17] = [
    "/attempts/group",
    "/limits/scored_tokens",
    "/batch",
    "/maintenance/macro/every",
    "/maintenance/macro/options/evolve/rows",
    "/maintenance/macro/options/evolve/sample",
    "/maintenance/macro/options/refactor/groups",
    "/maintenance/micro/every",
    "/maintenance/micro/options/bundles/most",
    "/maintenance/micro/options/bundles/tasks",
    "/maintenance/micro/options/filter/harmful",
    "/maintenance/micro/options/filter/window",
    "/maintenance/micro/options/refine/failed",
    "/maintenance/micro/options/refine/most",
    "/select/candidates/search/limit",
    "/select/selector/options/limit",
    "/write/by/options/candidates",
];

#[test]
fn a_zero_is_refused_when_a_recipe_is_read() {
    let recipe = by_name(&recipe::hisme());
    for place in NOT_ZERO {
        let mut recipe = recipe.clone();
        *recipe.pointer_mut(place).expect(place) = json!(0);
        let error = match serde_json::from_value::<Recipe>(listed(recipe)) {
            Err(error) => error.to_string(),
            // The options of a policy are read when it is built.
            Ok(recipe) => {
                let error = recipe.resolve(&Policies::new()).expect_err(place);
                let reason = std::error::Error::source(&error).expect(place);
                reason.to_string()
            }
        };
        assert!(error.contains("expected a nonzero"), "{place}: {error}");
    }
    let mut with_budget = recipe;
    with_budget["select"]["skill_tokens"] = json!(0);
    assert!(serde_json::from_value::<Recipe>(listed(with_budget)).is_err());
}

#[test]
fn a_recipe_that_says_nothing_of_batches_and_maintenance_runs_one_task_at_a_time_without_any() {
    let mut json = serde_json::to_value(recipe::hisme()).expect("it is JSON");
    let fields = json.as_object_mut().expect("fields");
    assert!(fields.remove("batch").is_some() && fields.remove("maintenance").is_some());
    let read: Recipe = serde_json::from_value(json).expect("a recipe");
    assert_eq!(read.batch, NonZeroU64::MIN);
    assert_eq!(read.maintenance, Maintenance::default());
    assert!(read.maintenance.is_none());
}

#[test]
fn two_programs_of_one_name_are_refused() {
    let every = NonZeroU64::new(7).expect("not 0");
    let recipe = recipe::hisme().with_program(every, MacroPolicy::default());
    let error = recipe
        .validate()
        .expect_err("it has macro maintenance twice");
    assert_eq!(error.kind(), ErrorKind::Invalid);
    let said = error.to_string();
    assert!(
        said.contains("maintenance.programs") && said.contains("macro"),
        "{said}"
    );
}

#[test]
fn a_recipe_that_keeps_fewer_attempts_than_a_program_or_the_assessor_needs_is_refused() {
    let check = |mut recipe: Recipe, needs: &str, least: usize| {
        recipe.tiers.traces = least;
        recipe.resolve(&Policies::new()).expect(needs);
        recipe.tiers.traces = least - 1;
        recipe.validate().expect("the fields go together");
        let error = recipe.resolve(&Policies::new()).expect_err(needs);
        assert_eq!(error.kind(), ErrorKind::Invalid);
        let said = error.to_string();
        for part in ["tiers.traces", needs, &least.to_string()] {
            assert!(said.contains(part), "{part}: {said}");
        }
    };
    check(recipe::hisme(), "micro", 1);
    check(recipe::skillrl(), "bank", 640);
    check(recipe::scribe(), "subgoals", 1);
    // A bank needs the attempts of a whole round.
    let mut small = recipe::skillrl();
    small.attempts.group = NonZeroU32::new(3).expect("not 0");
    let round = NonZeroU64::new(7).expect("not 0");
    small
        .maintenance
        .edit(|bank: &mut BankPolicy| bank.round = round);
    check(small, "bank", 3 * 7);
    // Without test cases micro maintenance needs none.
    let mut without = recipe::hisme();
    without
        .maintenance
        .edit(|micro: &mut MicroPolicy| micro.bundles = None);
    without.tiers.traces = 0;
    without.resolve(&Policies::new()).expect("it needs none");
}

#[test]
fn a_number_out_of_its_range_is_refused_with_its_field() {
    let check = |change: fn(&mut Recipe), [policy, field]: [&str; 2]| {
        let mut recipe = recipe::hisme();
        change(&mut recipe);
        let checked = recipe.validate();
        let checked = checked.and_then(|()| recipe.resolve(&Policies::new()).map(drop));
        let error = checked.expect_err(field);
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        let said = error.to_string();
        assert!(said.contains(policy) && said.contains(field), "{said}");
    };
    check(
        |recipe| {
            recipe.maintenance.edit(|micro: &mut MicroPolicy| {
                let filter = micro.filter.as_mut().expect("it filters");
                filter.window = NonZeroU32::MIN;
            });
        },
        ["MicroPolicy", "filter.window"],
    );
    check(
        |recipe| {
            recipe.maintenance.edit(|across: &mut MacroPolicy| {
                let refactor = across.refactor.as_mut();
                refactor.expect("it refactors").members = 7;
            });
        },
        ["MacroPolicy", "refactor.members"],
    );
    check(
        |recipe| {
            recipe.maintenance.edit(|across: &mut MacroPolicy| {
                let evolve = across.evolve.as_mut();
                evolve.expect("it evolves").rules = RoleRule::MOST + 1;
            });
        },
        ["MacroPolicy", "evolve.rules"],
    );
    check(
        |recipe| recipe.write.when = WriteWhen::Below(1.5),
        ["Recipe::validate", "write.when"],
    );
}
