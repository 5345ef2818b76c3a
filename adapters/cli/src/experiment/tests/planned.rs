use std::num::{NonZeroU32, NonZeroU64};

use journeyman::{
    ErrorKind,
    domain::State,
    papers::{
        hisme::MicroPolicy,
        scribe::AssessPolicy,
        skillrl::{BankPolicy, BankSelector},
    },
    recipe,
    stations::{
        propose::WriteWhen,
        select::{Candidates, GatePolicy, Nothing},
    },
};
use journeyman_llama_cpp::GpuLayers;

use super::planned;
use crate::{
    experiment::{arm::Start, plan::PlanFile, world::World},
    tests::root,
};

const SMALL: &str = r#"tasks = "tasks.jsonl"
name = "small"
model = "model.gguf"
seeds = 3
world = { program = "python3" }
[[arm]]
name = "no skills"
recipe = "none"
"#;

#[test]
fn what_is_left_out_has_its_default() {
    let file = planned(SMALL).unwrap();
    let plan = &file.plan;
    assert_eq!(plan.seeds, [1, 2, 3]);
    assert!(plan.conditions.deterministic);
    assert_eq!((plan.conditions.threads, plan.baseline), (1, 0));
    assert_eq!(plan.positions(), [0, 12, 24, 36, 48]);
    let World::Own(own) = &file.settings.world else {
        unreachable!("{:?}", file.settings)
    };
    assert_eq!(own.steps, 16);
    let arm = &plan.arms[0];
    assert_eq!(arm.recipe.select.selector, Nothing.into());
    assert_eq!((arm.has_skills, arm.learns), (false, false));
    assert!(file.model.ends_with("model.gguf") && file.model.is_absolute());
}

#[test]
fn layers_on_gpus_are_part_of_the_cells_keys_and_backends_are_not() {
    let with = |lines: &str| planned(&SMALL.replace("seeds = 3", &format!("seeds = 3\n{lines}")));
    let key = |file: &PlanFile| serde_json::to_string(&file.settings).unwrap();
    let plain = with("").unwrap();
    let layers = with("gpu_layers = 20").unwrap();
    assert_eq!(layers.settings.gpu_layers, Some(GpuLayers::Count(20)));
    assert_ne!(key(&layers), key(&plain));
    let backends = with("backends = \"ggml\"").unwrap();
    assert!(backends.backends.as_ref().unwrap().ends_with("ggml"));
    assert_eq!(key(&backends), key(&plain));
    let refused = with("gpu_layers = \"some\"").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid);
    assert_eq!(refused.fact("line"), Some("5"), "{refused}");
}

#[test]
fn arms_and_sweeps_become_arms() {
    let text = r#"
name = "gates"
model = "../model.gguf"
seeds = [7, 2]
baseline = "arise"
deterministic = false
threads = 2
tasks = "tasks.jsonl"
stream = 10
held_out = 5
checkpoints = 3
steps = 6

[world]
program = "python3"

[[arm]]
name = "none"
recipe = "none"

[[arm]]
name = "arise"
recipe = "arise"
library = "seeds"
unset = ["select.selector.options.relative"]
set."attempts.warm_up" = 0
set.tiers = { cache = 5, initial_utility = 1 }
set."write.when.below" = 0.5

[[arm]]
name = "frozen"
recipe = "standard"
library = "skills"
learn = false

[[sweep]]
arm = "arise"
path = "select.selector.options.relative"
values = [0.15, 0.55]

[[sweep]]
arm = "frozen"
path = "select.candidates"
values = ["cache"]
"#;
    let file = planned(text).unwrap();
    let plan = &file.plan;
    assert_eq!(plan.seeds, [7, 2]);
    assert_eq!(
        (
            plan.conditions.deterministic,
            plan.conditions.threads,
            plan.baseline
        ),
        (false, 2, 1)
    );
    assert_eq!(plan.positions(), [0, 3, 6, 10]);
    let names: Vec<&str> = plan.arms.iter().map(|arm| arm.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "none",
            "arise",
            "frozen",
            "arise, relative=0.15",
            "arise, relative=0.55",
            "frozen, candidates=cache"
        ]
    );
    let arise = &plan.arms[1];
    assert_eq!(arise.recipe.attempts.warm_up, 0);
    assert_eq!(arise.recipe.write.when, WriteWhen::Below(0.5));
    let mut tiers = journeyman::recipe::arise().tiers;
    tiers.cache = 5;
    tiers.initial_utility = 1.0;
    assert_eq!(arise.recipe.tiers, tiers);
    assert_eq!((&file.starts[1], arise.learns), (&Start::Seeds, true));
    assert!(
        arise
            .description
            .ends_with(", select.selector.options.relative = nothing"),
        "{}",
        arise.description
    );
    assert!(matches!(&file.starts[2], Start::Folder(path) if path.ends_with("skills")));
    assert!(!plan.arms[2].learns);
    let swept = &plan.arms[4];
    assert_eq!(swept.recipe.gate().unwrap().relative, Some(0.55));
    assert_eq!(file.starts[4], Start::Seeds);
    assert_eq!(plan.arms[5].recipe.select.candidates, Candidates::Cache);
    let places: Vec<usize> = plan.sweeps[0].values.iter().map(|(_, arm)| *arm).collect();
    assert_eq!(places, [3, 4]);
}

/// Checks the error for the small file with `from` replaced by `to`.
#[track_caller]
fn refused(from: &str, to: &str, line: usize, message: &str, hint: &str) {
    assert!(SMALL.contains(from));
    let error = planned(&SMALL.replacen(from, to, 1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.message().contains(message), "{error}");
    assert!(error.hint_text().unwrap().contains(hint), "{error}");
    assert_eq!(
        error.fact("line"),
        Some(line.to_string().as_str()),
        "{error}"
    );
}

#[test]
fn each_fault_is_refused_with_its_line_and_a_remedy() {
    let seeds = "seeds = 3";
    refused(seeds, "seeds = 0", 4, "these are no seeds", "[1, 2, 7]");
    refused(
        seeds,
        "seeds = [1, 1]",
        4,
        "these are no seeds",
        "different",
    );
    refused(seeds, "seeds = [-1]", 4, "these are no seeds", "");
    refused(
        seeds,
        "seed = 3",
        4,
        "unknown field `seed`, expected one of `name`, `model`, `seeds`",
        "docs/",
    );
    refused(
        seeds,
        "seeds = 3\nthreads = 0",
        5,
        "threads is out of range",
        "1 to 512",
    );
    refused(seeds, "seeds = 3\nseeds = 4", 5, "duplicate key", "");
    refused(seeds, "seeds = ", 4, "", "docs/");
    refused(
        seeds,
        "seeds = 3\nbaseline = \"other\"",
        5,
        "no arm of this name",
        "there are: no skills",
    );
    refused(
        seeds,
        "seeds = 3\ndeterministic = \"secret\"",
        5,
        "expected true or false",
        "",
    );
    refused(
        "\"small\"",
        "\"Small one\"",
        2,
        "not a name for an experiment",
        "a-z",
    );
    refused(
        "\"no skills\"",
        "\"../../no\"",
        7,
        "not a name for an arm",
        "take a letter or digit",
    );
    refused(
        "\"none\"",
        "\"arize\"",
        8,
        "there is no such recipe",
        "`arise`, `hisme`, `hisme-robust`, `scribe`, `skillos`, `skillrl`, `standard`",
    );
    refused(
        "\"none\"",
        "\"none\"\nlibrary = \"seeds\"",
        9,
        "nothing to set",
        "leave it out",
    );
    let arm = |more: &str| format!("\"standard\"\n{more}");
    refused(
        "\"none\"",
        &arm("set = { gruop = 2 }"),
        9,
        "no such field: expected one of `name`, `select`",
        "",
    );
    refused(
        "\"none\"",
        &arm("set.attempts.group = 0"),
        9,
        "expected a whole number from 1",
        "",
    );
    refused(
        "\"none\"",
        &arm("set.attempts.group = 1.5"),
        9,
        "expected a whole number from 1",
        "",
    );
    refused(
        "\"none\"",
        &arm("set.attempts.temperature = nan"),
        9,
        "not finite",
        "unset",
    );
    refused(
        "\"none\"",
        &arm("set.name = 1979-05-27"),
        9,
        "no field takes a date",
        "",
    );
    refused(
        "\"none\"",
        &arm("unset = [\"gate\"]"),
        9,
        "no such field",
        "at the top",
    );
    refused(
        "\"none\"",
        &arm("set.schedule.batch = 2"),
        9,
        "no such field: expected one of `name`, `select`",
        "",
    );
    refused(
        "\"none\"",
        &arm("set.maintenance.programs.micro.every = 2"),
        9,
        "no such field",
        "at `maintenance.programs` there are: none",
    );
    let second = "\"standard\"\n[[arm]]\nname = \"No skills\"\nrecipe = \"none\"";
    refused(
        "\"none\"",
        second,
        10,
        "two arms have the same name",
        "of its own",
    );
    let held_out = "seeds = 3\nheld_out = 0";
    refused(seeds, held_out, 5, "out of range", "take 1 to 1000000");
    let checkpoints = "seeds = 3\nstream = 2\ncheckpoints = 3";
    refused(seeds, checkpoints, 6, "out of range", "take 1 to 2");
}

#[test]
fn fields_are_taken_from_other_recipes() {
    let arm = r#""hisme"
take = { assess = "scribe", reward = "scribe", "select.rank" = "arise" }
set.assess.options.first = 5
set.maintenance.programs.micro = { every = 10, program.options.bundles.tasks = 3 }
unset = ["maintenance.programs.micro.program.options.refine"]"#;
    let file = planned(&SMALL.replacen("\"none\"", arm, 1)).unwrap();
    let arm = &file.plan.arms[0];
    let (hisme, scribe) = (recipe::hisme(), recipe::scribe());
    assert_eq!(arm.recipe.reward, scribe.reward);
    let assess = |recipe: &recipe::Recipe| -> AssessPolicy {
        let named = recipe.assess.as_ref().unwrap();
        named.read().unwrap().unwrap()
    };
    assert_eq!(assess(&arm.recipe).first.get(), 5);
    assert_eq!(assess(&arm.recipe).refresh, assess(&scribe).refresh);
    assert_eq!(arm.recipe.select.rank, None, "ARISE has none");
    let maintenance = &arm.recipe.maintenance;
    assert_eq!(maintenance.programs[0].every, NonZeroU64::new(10));
    assert_eq!(maintenance.programs[1], hisme.maintenance.programs[1]);
    let mut micro: MicroPolicy = hisme.maintenance.get().unwrap();
    micro.refine = None;
    micro.bundles.as_mut().unwrap().tasks = NonZeroU32::new(3).unwrap();
    assert_eq!(maintenance.get::<MicroPolicy>(), Some(micro));
    assert!(
        arm.description.contains("reward of scribe"),
        "{}",
        arm.description
    );

    refused(
        "\"none\"",
        "\"hisme\"\ntake.reward = \"scrib\"",
        9,
        "there is no such recipe",
        "`scribe`",
    );
    refused(
        "\"none\"",
        "\"hisme\"\ntake.rewards = \"scribe\"",
        9,
        "no such field",
        "reward",
    );
    refused(
        "\"none\"",
        "\"hisme\"\ntake.reward = \"scribe.credit\"",
        9,
        "",
        "",
    );
    refused(
        "\"none\"",
        "\"none\"\ntake.reward = \"scribe\"",
        9,
        "nothing to set",
        "leave it out",
    );
}

#[test]
fn the_examples_mix_recipes() {
    let folder = root().join("examples/experiments");
    let mixed = |name: &str| {
        let file = PlanFile::read(&folder.join(name), false).unwrap();
        file.plan.arms.last().unwrap().recipe.clone()
    };

    let recipe = mixed("hisme-under-scribe.toml");
    assert_eq!(recipe.reward, recipe::scribe().reward);
    assert!(recipe.assess.is_some());
    assert_eq!(recipe.maintenance, recipe::hisme().maintenance);

    let recipe = mixed("skillrl-behind-arise.toml");
    let bank = recipe.select.selector.read::<BankSelector>().unwrap();
    let bank = bank.unwrap();
    let mut absolute = GatePolicy::default();
    absolute.epsilon = 0.0;
    let gate = bank.gate.as_ref().unwrap();
    assert_eq!((&gate.policy, gate.exempt_general), (&absolute, false));
    let evolves = |recipe: &recipe::Recipe| -> BankPolicy { recipe.maintenance.get().unwrap() };
    let (mixed_bank, paper) = (evolves(&recipe), evolves(&recipe::skillrl()));
    assert_eq!(mixed_bank.success, paper.success);
    // A round is distilled when it is over.
    assert_eq!(
        recipe.maintenance.programs[0].every, None,
        "after each of its rounds"
    );

    let recipe = mixed("skillos-released-as-hisme.toml");
    assert_eq!(recipe.write, recipe::skillos().write);
    assert_eq!(recipe.admit.initial_state, State::Trial);
    let micro: MicroPolicy = recipe::hisme().maintenance.get().unwrap();
    let mut gate = MicroPolicy::default();
    gate.bundles = micro.bundles;
    assert_eq!(recipe.maintenance.get::<MicroPolicy>(), Some(gate));
    assert_eq!(recipe.maintenance.programs.len(), 1);
    assert_eq!(recipe.batch, recipe::hisme().batch);
}

#[test]
fn what_the_policies_of_an_arm_refuse_is_refused_with_its_line() {
    let check = |arm: &str, message: &str, hint: &str| {
        refused("\"none\"", arm, 7, message, hint);
    };
    check(
        "\"hisme\"\nset.maintenance.programs.micro.program.options.bundels = 1",
        "not the options of this policy: unknown field `bundels`, expected one of `bundles`",
        "",
    );
    check(
        "\"scribe\"\nset.assess.options.least_confidence = 1.5",
        "the least confidence must be in [0, 1]",
        "",
    );
    check(
        "\"standard\"\nset.credit.by.name = \"nobody\"",
        "a credit rule that is not registered; registered are: ",
        "",
    );
    let few = "a policy needs more attempts than the recipe keeps";
    for (recipe, kept, policy, needed) in [
        // A round is 80 tasks of 8 attempts.
        ("skillrl", 639, "bank", "640"),
        ("hisme", 0, "micro", "1"),
        ("scribe", 0, "subgoals", "1"),
    ] {
        let arm = format!("\"{recipe}\"\nset.tiers.traces = {kept}");
        check(&arm, few, "");
        let error = planned(&SMALL.replacen("\"none\"", &arm, 1)).unwrap_err();
        assert_eq!(error.fact("field"), Some("tiers.traces"), "{error}");
        let said = (error.fact("policy"), error.fact("needed"));
        assert_eq!(said, (Some(policy), Some(needed)), "{error}");
    }
    let sweep =
        "\"skillrl\"\n[[sweep]]\narm = \"no skills\"\npath = \"tiers.traces\"\nvalues = [640, 600]";
    refused("\"none\"", sweep, 12, few, "");
}

#[test]
fn sweeps_are_refused_as_arms_are() {
    let sweep = |arm: &str, path: &str, values: &str| {
        format!(
            "\"standard\"\n[[arm]]\nname = \"none\"\nrecipe = \"none\"\n[[sweep]]\narm = \"{arm}\"\npath = \"{path}\"\nvalues = {values}"
        )
    };
    let check = |arm, path, values, line, message| {
        refused("\"none\"", &sweep(arm, path, values), line, message, "");
    };
    check("nome", "attempts.group", "[1]", 13, "no arm of this name");
    check("none", "attempts.group", "[1]", 13, "nothing to sweep");
    check(
        "no skills",
        "attempts.group",
        "[]",
        15,
        "there are no values",
    );
    check("no skills", "groups", "[1]", 15, "no such field");
    check(
        "no skills",
        "attempts.group",
        "[2, 0]",
        15,
        "expected a whole number from 1",
    );
    check(
        "no skills",
        "attempts.group",
        "[2, 2]",
        15,
        "two arms have the same name",
    );
}

#[test]
fn a_value_that_does_not_fit_is_not_repeated() {
    let error =
        planned(&SMALL.replace("seeds = 3", "seeds = 3\nthreads = \"sk-secret\"")).unwrap_err();
    assert!(!format!("{error:?}").contains("sk-secret"), "{error:?}");
    assert_eq!(error.fact("key"), Some("threads"));
}
