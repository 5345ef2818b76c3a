//! HiSME as in the paper and ours (`recipe::hisme_robust`), and what each option in which they differ brings.
//!
//! The worlds are those of `hisme`: in six of ten tasks of a stream the service demands something that passes. Each arm but
//! the paper's is ours with one option as the paper has it.

use std::sync::Arc;

use futures::executor::block_on;
use journeyman::{
    Result, Seed,
    agent::MemoryStore,
    domain::Usage,
    papers::hisme::{
        BundlePolicy, FilterPolicy, Gate, MacroPolicy, MicroPolicy, RefactorPolicy, RefinePolicy,
    },
    recipe::{self, Recipe},
    run::report::RunReport,
    stations::{admit::Identity, propose::Extract, select::SelectPer},
};
use quickstart::{Parts, spoken};
use serde::{Deserialize, Serialize};

use super::{
    Change,
    hisme::{CHECK, HELD_OUT, MARGIN, STREAM, WORLDS, check, one_task},
    key,
    noisy::universe,
    spread,
};
use crate::figures::{Bound, Figures, Outcome, stats};

/// Ours, which every other arm is compared with.
const OURS: (&str, Change) = ("ours", |_| {});
/// The paper's recipe.
const PAPERS: (&str, Change) = ("the paper's", |recipe| *recipe = recipe::hisme());

/// Ours with one option as in the paper. The option's row, its name here, and how it is set back.
const DEPARTURES: [(&str, Change); 15] = [
    ("H1 failed attempts extracted", |recipe| {
        if let Ok(Some(mut extract)) = recipe.write.by.read::<Extract>() {
            extract.failures = true;
            recipe.write.by = extract.into();
        }
    }),
    ("H1 skills are the same by bytes alone", |recipe| {
        recipe.admit.identity = Identity::Bytes;
    }),
    ("H3 covered groups not skipped", |recipe| {
        refactor(recipe, |refactor| refactor.skip_covered = false);
    }),
    ("H3 no counterfactual", |recipe| {
        refactor(recipe, |refactor| refactor.counterfactual = false);
    }),
    ("H3 skill-revision groups", |recipe| {
        refactor(recipe, |refactor| refactor.revisions = true);
    }),
    ("H5 one task releases", one_task),
    ("H6 every case has to pass", |recipe| {
        bundles(recipe, |bundles| bundles.gate = Gate::All);
    }),
    ("H6 a case of harm blocks", |recipe| {
        bundles(recipe, |bundles| bundles.harm_blocks = true);
    }),
    ("H9 supported skills filtered", |recipe| {
        filter(recipe, |filter| filter.keep_supported = false);
    }),
    ("H9 no comeback", |recipe| recipe.admit.revive = false),
    ("H10 refusals do not refine", |recipe| {
        refine(recipe, |refine| refine.insufficient = false);
    }),
    ("H10 failed cases refine", |recipe| {
        refine(recipe, |refine| refine.failed_cases = true);
    }),
    ("H10 all of a skill is refined", |recipe| {
        refine(recipe, |refine| refine.whole = true);
    }),
    ("H6 refused versions stay as drafts", |recipe| {
        refine(recipe, |refine| refine.keep_drafts = true);
    }),
    ("H12 skills each turn", |recipe| {
        recipe.select.per = SelectPer::Turn;
    }),
];

fn bundles(recipe: &mut Recipe, change: fn(&mut BundlePolicy)) {
    let maintenance = &mut recipe.maintenance;
    maintenance.edit(|micro: &mut MicroPolicy| micro.bundles.iter_mut().for_each(change));
}

fn refine(recipe: &mut Recipe, change: fn(&mut RefinePolicy)) {
    let maintenance = &mut recipe.maintenance;
    maintenance.edit(|micro: &mut MicroPolicy| micro.refine.iter_mut().for_each(change));
}

fn filter(recipe: &mut Recipe, change: fn(&mut FilterPolicy)) {
    let maintenance = &mut recipe.maintenance;
    maintenance.edit(|micro: &mut MicroPolicy| micro.filter.iter_mut().for_each(change));
}

fn refactor(recipe: &mut Recipe, change: fn(&mut RefactorPolicy)) {
    let maintenance = &mut recipe.maintenance;
    maintenance.edit(|across: &mut MacroPolicy| across.refactor.iter_mut().for_each(change));
}

/// What came of an arm in a world.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Cell {
    /// Held-out tasks done at the first attempt with the frozen library, of all.
    first: f64,
    /// Held-out tasks done within the budget.
    success: f64,
    /// Tokens of a task of the stream: of the agent's attempts, of the roles that are asked about a task, of maintenance's
    /// roles, and of the agent in test cases.
    tokens: [f64; 4],
}

const TOKENS: [&str; 4] = [
    "agent",
    "roles of a task",
    "roles of maintenance",
    "test cases",
];

pub(super) fn run(figures: &mut Figures<'_>, parts: &Parts) -> Outcome {
    let ours = arm(figures, parts, OURS)?;
    let papers = arm(figures, parts, PAPERS)?;
    let over = over(&ours, &papers);
    let name = "ours over the paper's, first attempt";
    figures.record(name, over.mean, Bound::Above(0.0));
    let interval = format!("{name}, over worlds");
    figures.interval(&interval, &over, Bound::Above(0.0), Bound::None);
    for departure in DEPARTURES {
        let other = arm(figures, parts, departure)?;
        let over = self::over(&ours, &other);
        let name = format!("ours over {}, first attempt, over worlds", departure.0);
        figures.interval(&name, &over, Bound::AtLeast(-MARGIN), Bound::None);
    }
    Ok(())
}

/// The difference in first attempts, paired by world.
fn over(ours: &[Cell], other: &[Cell]) -> stats::Interval {
    let firsts = |cells: &[Cell]| cells.iter().map(|cell| cell.first).collect::<Vec<f64>>();
    stats::paired(&firsts(ours), &firsts(other))
}

/// All worlds of an arm.
fn arm(
    figures: &mut Figures<'_>,
    parts: &Parts,
    (name, change): (&str, Change),
) -> std::result::Result<Vec<Cell>, Box<dyn std::error::Error + Send + Sync>> {
    let seed = figures.options().seed;
    let mut cells = Vec::new();
    for world in 0..WORLDS {
        let key = key(parts, &format!("departures, {name}, world {world}"));
        cells.push(figures.once(&key, || {
            let seed = seed.derive("world", world);
            Ok(block_on(cell(parts, seed, world, change))?)
        })?);
    }
    let mut record = |what: &str, value: &dyn Fn(&Cell) -> f64| {
        let values: Vec<f64> = cells.iter().map(value).collect();
        spread(figures, &format!("{name}.{what}"), &values);
    };
    record("first attempt", &|cell| cell.first);
    record("within the budget", &|cell| cell.success);
    for (number, whose) in TOKENS.iter().enumerate() {
        let what = format!("tokens of a learned task, {whose}");
        record(&what, &|cell| cell.tokens[number]);
    }
    Ok(cells)
}

async fn cell(parts: &Parts, seed: Seed, world: u64, change: Change) -> Result<Cell> {
    let universe = universe(seed, world)?;
    let stream = universe.stream(STREAM);
    let held_out = spoken::tasks(&universe.held_out(&stream, HELD_OUT), seed)?;
    let mut recipe: Recipe = recipe::hisme_robust();
    change(&mut recipe);
    let store = Arc::new(MemoryStore::new());
    let journeyman = parts.open(recipe, "hisme", seed, store, None).await?;
    let mut tokens = [0.0; 4];
    // In the same runs as the arms of `hisme`, so that they draw alike.
    for part in stream.chunks(CHECK) {
        let report = journeyman.learn(spoken::tasks(part, seed)?).await?;
        for (sum, more) in tokens.iter_mut().zip(spent(&report)) {
            *sum += more / STREAM as f64;
        }
    }
    let report = journeyman.evaluate(held_out).await?;
    let check = check(&report, STREAM)?;
    Ok(Cell {
        first: check.first,
        success: check.success,
        tokens,
    })
}

/// The tokens of a run, in the order of [`TOKENS`].
fn spent(report: &RunReport) -> [f64; 4] {
    let total = |usage: &Usage| usage.total() as f64;
    let attempts = report.tasks.iter().flat_map(|task| &task.attempts);
    [
        attempts.map(|attempt| total(&attempt.usage)).sum(),
        report
            .tasks
            .iter()
            .map(|task| total(&task.role_usage) + total(&task.failed_usage))
            .sum(),
        total(&report.maintenance.roles),
        total(&report.maintenance.cases),
    ]
}

#[cfg(test)]
mod tests {
    use journeyman::policy::Policies;
    use serde_json::Value;

    use super::*;

    fn json(recipe: &Recipe) -> Value {
        serde_json::to_value(recipe).unwrap()
    }

    /// The leaves of a recipe, name aside, in an order of their own.
    fn leaves(value: &Value, place: String, all: &mut Vec<(String, Value)>) {
        match value {
            Value::Object(fields) => {
                for (field, value) in fields {
                    leaves(value, format!("{place}/{field}"), all);
                }
            }
            Value::Array(elements) => {
                for (number, value) in elements.iter().enumerate() {
                    leaves(value, format!("{place}/{number}"), all);
                }
            }
            _ if place == "/name" => {}
            _ => all.push((place, value.clone())),
        }
    }

    fn flat(recipe: &Recipe) -> Vec<(String, Value)> {
        let mut all = Vec::new();
        leaves(&json(recipe), String::new(), &mut all);
        all
    }

    #[test]
    fn each_departure_is_one_option_and_all_of_them_are_the_papers() {
        let ours = recipe::hisme_robust();
        let mut all = ours.clone();
        for (name, change) in DEPARTURES {
            let mut one = ours.clone();
            change(&mut one);
            one.validate().unwrap();
            one.resolve(&Policies::new()).unwrap();
            let pairs = flat(&ours).into_iter().zip(flat(&one));
            let changed = pairs.filter(|(before, after)| before != after).count();
            assert_eq!(changed, 1, "{name}");
            change(&mut all);
        }
        assert_eq!(flat(&all), flat(&recipe::hisme()));
    }
}
