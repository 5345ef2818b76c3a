//! The papers' numbers, as the recipes have them: whoever changes a default sees here that it was one of these.
#![allow(clippy::expect_used, clippy::panic, missing_docs)]

use std::{collections::BTreeSet, num::NonZeroU32};

use journeyman::{
    domain::RoleRule,
    policy::Policies,
    recipe::{self, Recipe},
    run::Rollouts,
    stations::{
        maintain::QuarantinePolicy, propose::WriteWhen, reward::CompositeWeights,
        select::BankSelector,
    },
};
use serde_json::{Value, json};

/// A recipe has these values, by their places in its JSON.
fn check(recipe: &Recipe, expect: &[(&str, Value)]) {
    let all = serde_json::to_value(recipe).expect("it is JSON");
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
            // A.1: a step is 64 queries; warm-up and gain count steps.
            ("/schedule/batch", json!(64)),
            ("/attempts/warm_up", json!(500)),
            ("/schedule/gain", json!(100)),
            // D.1: of each attempt 400 characters are shown.
            ("/write/by/options/shown_chars", json!(400)),
        ],
    );
    let gate = arise.gate().expect("a gate");
    assert_eq!((gate.relative, gate.epsilon), (Some(0.35), 0.1));
    assert_eq!(gate.absolute, None);
}

#[test]
fn skillrl_has_the_numbers_of_its_paper() {
    let skillrl = recipe::skillrl();
    check(
        &skillrl,
        &[
            // 4.1: K, the threshold of evolution, groups of 8, batches of 16. Eq. 8: a binary reward.
            ("/select/selector/options/limit", json!(6)),
            ("/maintenance/bank/success", json!(0.4)),
            ("/attempts/group", json!(8)),
            ("/schedule/batch", json!(16)),
            ("/reward/by/options/binary", json!(true)),
            // 3.3: failures are those of the verdict; 3.1: the first bank is distilled.
            ("/maintenance/bank/failure", json!("verdict")),
            ("/maintenance/bank/first", json!(true)),
            // Algorithm 1 writes no skill from a single task.
            ("/write/when", json!("never")),
        ],
    );
    skillrl.validate().expect("it is a recipe");
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
const UNPUBLISHED: [&str; 23] = [
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
    "/schedule/gain",
    "/maintenance/bundles/most",
    "/maintenance/refine/failed",
    "/maintenance/refine/most",
    "/maintenance/refactor/groups",
    "/maintenance/refactor/members",
    "/maintenance/refactor/overlap/neighbour",
    "/maintenance/refactor/overlap/traces",
    "/maintenance/filter/window",
    "/maintenance/evolve/",
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
        ("/schedule/batch", json!(5)),
        ("/schedule/micro", json!(5)),
        ("/schedule/macro", json!(5)),
        // Appendix B: a skill begins on trial; skills are retrieved for each turn.
        ("/admit/initial_state", json!("trial")),
        ("/admit/identity", json!("bytes")),
        ("/admit/revive", json!(false)),
        ("/select/per", json!("turn")),
        // Eq. 13: a version has to pass its bundle. Algorithm 4: fragments of harm are in it.
        ("/maintenance/bundles/gate", json!("all")),
        ("/maintenance/bundles/tasks", json!(1)),
        ("/maintenance/bundles/harm_blocks", json!(true)),
        ("/maintenance/refine/insufficient", json!(false)),
        ("/maintenance/refine/failed_cases", json!(true)),
        ("/maintenance/refine/keep_drafts", json!(true)),
        ("/maintenance/refine/whole", json!(true)),
        // Appendix C, Eq. 21.
        ("/maintenance/refactor/overlap/ngram", json!(0.45)),
        ("/maintenance/refactor/overlap/embedding", json!(0.35)),
        ("/maintenance/refactor/overlap/error", json!(0.20)),
        ("/maintenance/refactor/overlap/error_factor", json!(1.7)),
        ("/maintenance/refactor/overlap/threshold", json!(0.18)),
        ("/maintenance/refactor/skip_covered", json!(false)),
        ("/maintenance/refactor/counterfactual", json!(false)),
        // Algorithm 5: at most five rules a role.
        ("/maintenance/evolve/rules", json!(5)),
        // 3.3: harmful evidence, and no helpful evidence.
        ("/maintenance/filter/helpful", json!(1)),
        ("/maintenance/filter/keep_supported", json!(false)),
    ];
    check(&hisme, &paper);
    assert_eq!(RoleRule::MOST, 5);
    hisme.validate().expect("it is a recipe");

    // Every other field has no published value.
    let all = places(&serde_json::to_value(&hisme).expect("it is JSON"), "");
    let published = paper.iter().map(|(place, _)| *place);
    let published: BTreeSet<&str> = published.chain(["/maintenance/filter/harmful"]).collect();
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
            ("/schedule/batch", json!(1)),
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
    let json = |recipe| serde_json::to_value(recipe).expect("a recipe is JSON");
    let mut found = Vec::new();
    let (paper, ours) = (json(recipe::hisme()), json(recipe::hisme_robust()));
    differences("", &paper, &ours, &mut found);
    let options = [
        "/admit/identity",
        "/admit/revive",
        "/maintenance/bundles/gate",
        "/maintenance/bundles/harm_blocks",
        "/maintenance/bundles/tasks",
        "/maintenance/filter/keep_supported",
        "/maintenance/refactor/counterfactual",
        "/maintenance/refactor/skip_covered",
        "/maintenance/refine/failed_cases",
        "/maintenance/refine/insufficient",
        "/maintenance/refine/keep_drafts",
        "/maintenance/refine/whole",
        "/name",
        "/select/per",
        "/write/by/options/failures",
    ];
    found.sort_unstable();
    assert_eq!(found, options);
    check(
        &recipe::hisme(),
        &[
            ("/maintenance/bundles/gate", json!("all")),
            ("/maintenance/bundles/tasks", json!(1)),
            ("/maintenance/bundles/harm_blocks", json!(true)),
            ("/maintenance/filter/keep_supported", json!(false)),
            ("/maintenance/refine/failed_cases", json!(true)),
            ("/maintenance/refine/whole", json!(true)),
            ("/select/per", json!("turn")),
            ("/write/by/options/failures", json!(true)),
        ],
    );
}

#[test]
fn a_recipe_that_does_not_say_what_the_refiner_changes_lets_it_change_the_text() {
    let mut recipe = serde_json::to_value(recipe::hisme()).expect("a recipe is JSON");
    let refine = recipe.pointer_mut("/maintenance/refine");
    let refine = refine.and_then(Value::as_object_mut).expect("a policy");
    assert_eq!(refine.remove("whole"), Some(json!(true)));
    let read: Recipe = serde_json::from_value(recipe).expect("a recipe");
    assert!(!read.maintenance.refine.expect("a policy").whole);
}

/// The numbers of a recipe that are at least 1 by their type.
const NOT_ZERO: [&str; 17] = [
    "/attempts/group",
    "/limits/scored_tokens",
    "/maintenance/bundles/most",
    "/maintenance/bundles/tasks",
    "/maintenance/evolve/rows",
    "/maintenance/evolve/sample",
    "/maintenance/filter/harmful",
    "/maintenance/filter/window",
    "/maintenance/refactor/groups",
    "/maintenance/refine/failed",
    "/maintenance/refine/most",
    "/schedule/batch",
    "/schedule/macro",
    "/schedule/micro",
    "/select/candidates/search/limit",
    "/select/selector/options/limit",
    "/write/by/options/candidates",
];

#[test]
fn a_zero_is_refused_when_a_recipe_is_read() {
    let recipe = serde_json::to_value(recipe::hisme()).expect("it is JSON");
    let refused = |place: &str, value: Value| {
        let mut recipe = recipe.clone();
        *recipe.pointer_mut(place).expect(place) = value;
        let error = match serde_json::from_value::<Recipe>(recipe) {
            Err(error) => error.to_string(),
            // The options of a policy are read when it is checked.
            Ok(recipe) => {
                let error = recipe.validate().expect_err(place);
                let reason = std::error::Error::source(&error).expect(place);
                reason.to_string()
            }
        };
        assert!(error.contains("expected a nonzero"), "{place}: {error}");
    };
    for place in NOT_ZERO {
        refused(place, json!(0));
    }
    refused("/schedule/gain", json!(0));
    let mut with_budget = recipe.clone();
    with_budget["select"]["skill_tokens"] = json!(0);
    assert!(serde_json::from_value::<Recipe>(with_budget).is_err());
}

#[test]
fn a_number_out_of_its_range_is_refused_with_its_field() {
    let check = |change: fn(&mut Recipe), field: &str| {
        let mut recipe = recipe::hisme();
        change(&mut recipe);
        let error = recipe.validate().expect_err(field).to_string();
        assert!(error.contains(field), "{error}");
    };
    check(
        |recipe| {
            let filter = recipe.maintenance.filter.as_mut().expect("it filters");
            filter.window = NonZeroU32::MIN;
        },
        "maintenance.filter.window",
    );
    check(
        |recipe| {
            let refactor = recipe.maintenance.refactor.as_mut();
            refactor.expect("it refactors").members = 7;
        },
        "maintenance.refactor.members",
    );
    check(
        |recipe| {
            let evolve = recipe.maintenance.evolve.as_mut();
            evolve.expect("it evolves").rules = RoleRule::MOST + 1;
        },
        "maintenance.evolve.rules",
    );
    check(
        |recipe| recipe.write.when = WriteWhen::Below(1.5),
        "write.when",
    );
}
