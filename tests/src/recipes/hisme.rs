//! HiSME against no skills, against itself without rules, and without each of its parts (Table 3).

use std::{num::NonZeroU32, sync::Arc};

use futures::executor::block_on;
use journeyman::{
    Result, Seed,
    agent::MemoryStore,
    domain::{Role, RoleRule, State},
    papers::hisme::{MacroPolicy, MicroPolicy},
    recipe::{self, Maintenance, Recipe},
    run::report::RunReport,
    stations::{
        propose::WriteWhen,
        select::{Nothing, SelectPer},
    },
};
use quickstart::{Parts, Summaries, spoken};
use serde::{Deserialize, Serialize};

use super::{
    Change,
    harm::{self, Given, Learnt, Made, Since},
    judged::Judged,
    key,
    noisy::{HIDDEN, universe},
    spread,
};
use crate::figures::{Bound, Figures, Outcome, attempted, stats};

/// Worlds behind each figure.
pub(super) const WORLDS: u64 = 4;
/// Tasks that are learned from, and after how many of them the library is looked at.
pub(super) const STREAM: usize = 30;
pub(super) const CHECK: usize = 10;
/// Tasks that are attempted with the frozen library.
pub(super) const HELD_OUT: usize = 40;
/// The arms whose process is looked at, and not only their end.
const PROCESS: [&str; 2] = ["hisme", "static"];

/// What came of one arm in one world.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Cell {
    /// Held-out tasks done at the first attempt, of all.
    first: f64,
    success: f64,
    /// Skills that are offered at the end.
    offered: usize,
    disabled: usize,
    rules: usize,
    /// What each role keeps to at the end.
    learnt: Rules,
    /// What came of the held-out tasks with the library as it was at each check, the end's last.
    checks: Vec<Check>,
    /// What credit the skills got that tasks of the stream were given.
    judged: Judged,
    /// The prompts of the held-out tasks at the end, in the order of the last check's scores.
    given: Vec<Given>,
    /// The stream's attempts.
    made: Vec<Made>,
}

/// Held-out tasks with the library of a moment, frozen.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Check {
    /// How many tasks had been learned from.
    after: usize,
    pub(super) first: f64,
    pub(super) success: f64,
    /// The score of each task.
    scores: Vec<f64>,
}

/// Whose rules each world's meta-test begins with: another world in which the same kind of demand passes.
pub(super) const DONORS: [usize; WORLDS as usize] = [2, 3, 0, 1];

/// The arms, each as a change of the recipe. *One task*: the attempt that a newcomer was made from is enough to release it,
/// as in the paper, which asks a second task of refactored skills alone.
const ARMS: [(&str, Change); 11] = [
    ("no skills", without_skills),
    ("hisme", |_| {}),
    ("skills each turn", |recipe| {
        recipe.select.per = SelectPer::Turn
    }),
    ("static", without_rules),
    ("no extractor", |recipe| {
        recipe.write.when = WriteWhen::Never
    }),
    ("no refiner", without_refiner),
    ("no refactorer", |recipe| {
        let maintenance = &mut recipe.maintenance;
        maintenance.edit(|across: &mut MacroPolicy| across.refactor = None);
    }),
    ("no credit filter", without_filter),
    ("one task", one_task),
    ("one task, static", static_of_one_task),
    ("one task, no credit filter", |recipe| {
        one_task(recipe);
        without_filter(recipe);
    }),
];

/// The meta-tests (H14): each with the arm whose rules it begins with.
const META: [(&str, &str, Change); 2] = [
    ("static from meta", "hisme", without_rules),
    ("one task, static from meta", "one task", static_of_one_task),
];

/// What has to be above what, or not below it. Rules teach what one attempt cannot: where a second task has to speak for each
/// skill, frozen ones that fit most tools cost those that they do not fit, and that is only told.
const PAIRS: [(&str, &str, Claim); 12] = [
    ("static", "no skills", Claim::Above),
    ("hisme", "static", Claim::NotBelow),
    ("static from meta", "static", Claim::Nothing),
    ("hisme", "no extractor", Claim::Above),
    ("hisme", "no refiner", Claim::NotBelow),
    ("hisme", "no refactorer", Claim::Above),
    ("hisme", "no credit filter", Claim::NotBelow),
    ("skills each turn", "hisme", Claim::Nothing),
    ("hisme", "one task", Claim::Above),
    ("one task", "one task, static", Claim::NotBelow),
    ("one task", "one task, no credit filter", Claim::Above),
    (
        "one task, static from meta",
        "one task, static",
        Claim::Above,
    ),
];

/// How much worse an arm may be, in the worst case that its worlds leave open, and still be no worse: a tenth of the tasks.
pub(super) const MARGIN: f64 = 0.1;

/// The greatest share of held-out tasks that the library may harm at the end of the stream.
pub(super) const HARMED: f64 = 0.01;

/// The arms that say whom held-out tasks are harmed by: the part of the group that is run alone.
const HARM: [&str; 4] = ["no skills", "hisme", "static", "no refiner"];

/// The arm beside them there: the gate of the standard recipe chooses, not the rank.
const GATE_ARM: (&str, Change) = ("standard's gate", gated);

/// The arms that it is compared with, without a bound.
const GATED: [(&str, &str, Claim); 2] = [
    ("standard's gate", "hisme", Claim::Nothing),
    ("standard's gate", "no skills", Claim::Nothing),
];

/// What is claimed of a difference between two arms.
#[derive(Clone, Copy)]
enum Claim {
    /// Its mean is above 0.
    Above,
    /// The lower end of its 95% interval over worlds is at least -[`MARGIN`].
    NotBelow,
    /// It is only told.
    Nothing,
}

pub(super) fn without_skills(recipe: &mut Recipe) {
    recipe.select.selector = Nothing.into();
    recipe.write.when = WriteWhen::Never;
    recipe.maintenance = Maintenance::default();
}

pub(super) fn one_task(recipe: &mut Recipe) {
    recipe.maintenance.edit(|micro: &mut MicroPolicy| {
        if let Some(bundles) = &mut micro.bundles {
            bundles.tasks = NonZeroU32::MIN;
        }
    });
}

fn static_of_one_task(recipe: &mut Recipe) {
    one_task(recipe);
    without_rules(recipe);
}

pub(super) fn without_rules(recipe: &mut Recipe) {
    let maintenance = &mut recipe.maintenance;
    maintenance.edit(|across: &mut MacroPolicy| across.evolve = None);
}

pub(super) fn without_refiner(recipe: &mut Recipe) {
    let maintenance = &mut recipe.maintenance;
    maintenance.edit(|micro: &mut MicroPolicy| micro.refine = None);
}

pub(super) fn without_filter(recipe: &mut Recipe) {
    let maintenance = &mut recipe.maintenance;
    maintenance.edit(|micro: &mut MicroPolicy| micro.filter = None);
}

/// The gate of the standard recipe in place of the two best by rank.
fn gated(recipe: &mut Recipe) {
    recipe.select = recipe::standard().select;
    if let Some(mut gate) = recipe.gate() {
        gate.epsilon = 0.0;
        recipe.select.selector = gate.into();
    }
}

pub(super) fn run(figures: &mut Figures<'_>, parts: &Parts) -> Outcome {
    let mut arms = attempted_by(figures, parts, &ARMS)?;
    let seed = figures.options().seed;
    for (name, from, change) in META {
        let learnt = arms.iter().find(|(arm, _)| *arm == from);
        let learnt = learnt.map_or(&[][..], |(_, cells)| cells);
        let mut cells = Vec::new();
        for (world, donor) in (0..WORLDS).zip(DONORS) {
            let rules = learnt.get(donor).map_or(&[][..], |cell| &cell.learnt);
            let key = key(parts, &cell_name(name, world));
            cells.push(figures.once(&key, || {
                let seed = seed.derive("world", world);
                Ok(block_on(cell(parts, seed, world, change, STREAM, rules))?)
            })?);
        }
        report(figures, name, &cells);
        arms.push((name, cells));
    }
    process(figures, &arms);
    harmed(figures, &arms);
    compare(figures, &arms, &PAIRS);
    Ok(())
}

/// The part of [`run`] that says by what held-out tasks are harmed, with the gate's arm beside it.
pub(super) fn run_harm(figures: &mut Figures<'_>, parts: &Parts) -> Outcome {
    let arms = ARMS.into_iter().filter(|(name, _)| HARM.contains(name));
    let arms: Vec<(&str, Change)> = arms.chain([GATE_ARM]).collect();
    let arms = attempted_by(figures, parts, &arms)?;
    process(figures, &arms);
    harmed(figures, &arms);
    compare(figures, &arms, &GATED);
    Ok(())
}

type Arms = Vec<(&'static str, Vec<Cell>)>;

/// What came of arms in all worlds.
fn attempted_by(
    figures: &mut Figures<'_>,
    parts: &Parts,
    arms: &[(&'static str, Change)],
) -> std::result::Result<Arms, Box<dyn std::error::Error + Send + Sync>> {
    let seed = figures.options().seed;
    let mut attempted = Arms::new();
    for &(name, change) in arms {
        let mut cells = Vec::new();
        for world in 0..WORLDS {
            let key = key(parts, &cell_name(name, world));
            let cell = figures.once(&key, || {
                let seed = seed.derive("world", world);
                let every = if PROCESS.contains(&name) {
                    CHECK
                } else {
                    STREAM
                };
                Ok(block_on(cell(parts, seed, world, change, every, &[]))?)
            })?;
            cells.push(cell);
        }
        report(figures, name, &cells);
        attempted.push((name, cells));
    }
    Ok(attempted)
}

/// What a cell is kept under.
fn cell_name(arm: &str, world: u64) -> String {
    format!("hisme, {HIDDEN} hidden, {arm}, world {world}")
}

fn compare(figures: &mut Figures<'_>, arms: &[(&str, Vec<Cell>)], pairs: &[(&str, &str, Claim)]) {
    let values = |name: &str| -> Vec<f64> {
        let arm = arms.iter().find(|(arm, _)| *arm == name);
        arm.map_or_else(Vec::new, |(_, cells)| {
            cells.iter().map(|cell| cell.first).collect()
        })
    };
    for &(one, other, claim) in pairs {
        let name = format!("{one} over {other}, first attempt");
        let over = stats::paired(&values(one), &values(other));
        let (mean, low) = match claim {
            Claim::Above => (Bound::Above(0.0), Bound::None),
            Claim::NotBelow => (Bound::None, Bound::AtLeast(-MARGIN)),
            Claim::Nothing => (Bound::None, Bound::None),
        };
        figures.record(&name, over.mean, mean);
        figures.interval(&format!("{name}, over worlds"), &over, low, Bound::None);
    }
}

fn report(figures: &mut Figures<'_>, name: &str, cells: &[Cell]) {
    let mut record = |what: &str, value: &dyn Fn(&Cell) -> f64| {
        let values: Vec<f64> = cells.iter().map(value).collect();
        spread(figures, &format!("{name}.{what}"), &values);
    };
    record("first attempt", &|cell| cell.first);
    record("within the budget", &|cell| cell.success);
    record("skills offered", &|cell| cell.offered as f64);
    record("skills disabled", &|cell| cell.disabled as f64);
    record("rules", &|cell| cell.rules as f64);
}

/// The rules of each role that learns them.
pub(super) type Rules = Vec<(Role, Vec<RoleRule>)>;

/// The rules that a world's stream teaches. No library is looked at on the way.
pub(super) async fn learnt(parts: &Parts, seed: Seed, world: u64) -> Result<Rules> {
    let cell = cell(parts, seed, world, |_| {}, usize::MAX, &[]).await?;
    Ok(cell.learnt)
}

async fn cell(
    parts: &Parts,
    seed: Seed,
    world: u64,
    change: Change,
    every: usize,
    rules: &[(Role, Vec<RoleRule>)],
) -> Result<Cell> {
    let universe = universe(seed, world)?;
    let stream = universe.stream(STREAM);
    let held_out = universe.held_out(&stream, HELD_OUT);
    let asked = spoken::tasks(&held_out, seed)?;
    let mut recipe = recipe::hisme_robust();
    change(&mut recipe);
    let store = Arc::new(MemoryStore::new());
    let journeyman = parts.open(recipe, "hisme", seed, store, None).await?;
    for (role, rules) in rules {
        let given = journeyman.set_rules(*role, rules.clone(), "what another world taught");
        given.await?;
    }
    let (mut checks, mut given, mut since) = (Vec::new(), Vec::new(), Since::new());
    // All arms learn in the same runs, so that they draw alike.
    for (number, part) in (1..).zip(stream.chunks(CHECK)) {
        journeyman.learn(spoken::tasks(part, seed)?).await?;
        let after = number * CHECK;
        let library = journeyman.library().await?;
        harm::note(&mut since, &library, after);
        if after.is_multiple_of(every) {
            let report = journeyman.evaluate(asked.clone()).await?;
            checks.push(check(&report, after)?);
            let learnt = Learnt {
                universe: &universe,
                stream: &stream,
                library: &library,
                since: &since,
            };
            given = learnt.given(&report, &held_out);
        }
    }
    let library = journeyman.library().await?;
    let learnt = Learnt {
        universe: &universe,
        stream: &stream,
        library: &library,
        since: &since,
    };
    Ok(of(checks, given, &learnt))
}

pub(super) fn check(report: &RunReport, after: usize) -> Result<Check> {
    let report = attempted(report)?;
    let attempts = report.tasks.iter().filter_map(|task| task.attempts.first());
    let all = Summaries::of(report).all;
    Ok(Check {
        after,
        first: all.first_attempt_success,
        success: all.success,
        scores: attempts.map(|attempt| attempt.score).collect(),
    })
}

fn of(checks: Vec<Check>, given: Vec<Given>, learnt: &Learnt<'_>) -> Cell {
    let library = learnt.library;
    let count = |holds: fn(State) -> bool| {
        let states = library.entries().map(|entry| entry.skill.state);
        states.filter(|state| holds(*state)).count()
    };
    let last = checks.last();
    Cell {
        first: last.map_or(f64::NAN, |last| last.first),
        success: last.map_or(f64::NAN, |last| last.success),
        checks,
        judged: Judged::of(learnt.stream, CHECK, library),
        given,
        made: learnt.made(),
        offered: count(State::is_offered),
        disabled: count(|state| state == State::Disabled),
        learnt: Role::ALL
            .into_iter()
            .filter(|role| role.learns_rules())
            .map(|role| (role, library.rules(role).to_vec()))
            .collect(),
        rules: Role::ALL
            .iter()
            .map(|role| library.rules(*role).len())
            .sum(),
    }
}

/// What stood in the prompts of the held-out tasks at the end, and which of these tasks go worse than without skills.
fn harmed(figures: &mut Figures<'_>, arms: &[(&str, Vec<Cell>)]) {
    let last = |cell: &Cell| cell.checks.last().map(|check| check.scores.clone());
    let unaided = arms.iter().find(|(arm, _)| *arm == "no skills");
    let unaided = unaided.map_or(&[][..], |(_, cells)| cells);
    let looked_at = arms.iter();
    let looked_at = looked_at
        .filter(|(arm, _)| *arm != "no skills" && (HARM.contains(arm) || *arm == GATE_ARM.0));
    for (name, cells) in looked_at {
        let scores: Vec<[f64; 2]> = cells
            .iter()
            .zip(unaided)
            .flat_map(|(cell, unaided)| {
                let [with, without] = [cell, unaided].map(|cell| last(cell).unwrap_or_default());
                let pairs = with.into_iter().zip(without);
                pairs
                    .map(|(with, without)| [with, without])
                    .collect::<Vec<_>>()
            })
            .collect();
        let given = cells.iter().flat_map(|cell| &cell.given);
        let tasks: Vec<(&Given, f64, f64)> = given
            .zip(&scores)
            .map(|(given, [with, without])| (given, *with, *without))
            .collect();
        harm::record(figures, &format!("harm.{name}"), &tasks);
    }
}

/// Over the stream (Figure 2): the held-out tasks that go better than without skills, and those that go worse.
fn process(figures: &mut Figures<'_>, arms: &[(&str, Vec<Cell>)]) {
    let cells = |name: &str| {
        let arm = arms.iter().find(|(arm, _)| *arm == name);
        arm.map_or(&[][..], |(_, cells)| cells)
    };
    for name in PROCESS {
        let unaided = cells("no skills");
        let cells = cells(name);
        let mut over: Vec<[f64; 2]> = Vec::new();
        for number in 0..STREAM / CHECK {
            let mut shares: Vec<[f64; 3]> = Vec::new();
            for (cell, unaided) in cells.iter().zip(unaided) {
                // Without skills nothing changes over the stream.
                let (Some(with), Some(without)) = (cell.checks.get(number), unaided.checks.last())
                else {
                    continue;
                };
                let pairs = || with.scores.iter().zip(&without.scores);
                let share = |holds: fn(&f64, &f64) -> bool| {
                    pairs()
                        .filter(|(with, without)| holds(with, without))
                        .count() as f64
                        / with.scores.len() as f64
                };
                shares.push([with.first, share(|a, b| a > b), share(|a, b| a < b)]);
            }
            let mean = |part: usize| {
                let values: Vec<f64> = shares
                    .iter()
                    .filter_map(|one| one.get(part))
                    .copied()
                    .collect();
                stats::mean(&values)
            };
            let after = (number + 1) * CHECK;
            for (part, what) in ["first attempt", "helped", "harmed"]
                .into_iter()
                .enumerate()
            {
                let name = format!("process.{name}, after {after}.{what}");
                figures.record(&name, mean(part), Bound::None);
            }
            over.push([mean(1), mean(2)]);
        }
        let name = format!("process.{name}");
        if let (Some([helped, _]), Some([more, harmed])) = (over.first(), over.last()) {
            let risen = format!("{name}.rise of helped tasks");
            figures.record(&risen, more - helped, Bound::Above(0.0));
            let at_the_end = format!("{name}.harmed tasks at the end");
            figures.record(&at_the_end, *harmed, Bound::AtMost(HARMED));
        }
        let judged = cells.iter().map(|cell| &cell.judged);
        Judged::sum(judged).record(figures, &name, CHECK, Bound::None);
    }
}
