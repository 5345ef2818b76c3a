//! SCRIBE's structural metrics on fixed sets of subgoals and plans, before learning and after (appendix E).

use std::{collections::BTreeMap, num::NonZeroU32, sync::Arc};

use futures::executor::block_on;
use journeyman::{
    Error, ErrorKind, Result, TaskId,
    agent::{MemoryJournal, MemoryStore},
    contract::{Journal, SkillStore},
    domain::{Skill, Subgoal, Task, Trace},
    library::SkillLibrary,
    papers::scribe::{
        ExecutedPlan, HighLevel, MidLevel, StructureOptions, TrialOptions, Trials, candidate_plans,
    },
    run::{Journeyman, recorded_attempts},
};
use journeyman_toolworld::environment::Setup;
use quickstart::Parts;
use serde::{Deserialize, Serialize};

use super::{
    WORLDS, difference, key, scribe, spread,
    subgoals::{completes, rendered},
    world::{Host, MANY_HIDDEN, World},
};
use crate::figures::{Bound, Figures, Outcome};

/// Held-out tasks whose attempts give the subgoals.
const TASKS: usize = 4;
/// Held-out tasks with several plans that are executed.
const PLANNED: usize = 5;
/// Rollouts of each subgoal. The paper: 64.
const ROLLOUTS: NonZeroU32 = NonZeroU32::new(8).expect("not 0");
/// Steps of an execution of a plan: too few to find out by refusals what a tool demands.
const FEW: usize = 3;

/// The metrics of one checkpoint; `None` where no task has viable and other plans.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Metrics {
    success: f64,
    uncertainty: f64,
    selection: Option<f64>,
    separation: Option<f64>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Cell {
    subgoals: usize,
    before: Metrics,
    after: Metrics,
    /// Of the subgoals of the agent without skills alone, before and after; `None` where it did no task.
    unaided: Option<[MidLevel; 2]>,
}

pub(super) fn run(figures: &mut Figures<'_>, parts: &Parts) -> Outcome {
    let few = figures.parts(FEW)?.one_at_a_time();
    let mut cells: Vec<Cell> = Vec::new();
    for number in 0..WORLDS {
        let seed = figures.options().seed;
        let key = key(parts, &format!("structure, world {number}"));
        cells.push(figures.once(&key, || {
            let world = World::of(MANY_HIDDEN, seed, number)?;
            Ok(cell(parts, &few, &world)?)
        })?);
    }
    let subgoals: Vec<f64> = cells.iter().map(|cell| cell.subgoals as f64).collect();
    spread(figures, "scribe.subgoals rolled out", &subgoals);
    let mut each = |name: &str, value: fn(&Metrics) -> Option<f64>, low: Bound| {
        let both = cells
            .iter()
            .filter_map(|cell| Some((value(&cell.before)?, value(&cell.after)?)));
        let (before, after): (Vec<f64>, Vec<f64>) = both.unzip();
        if before.len() < 2 {
            figures.skip(
                name,
                "fewer than two worlds have it before and after learning",
            );
            return;
        }
        spread(figures, &format!("{name} before learning"), &before);
        spread(figures, &format!("{name} after learning"), &after);
        let name = format!("{name} after learning less before");
        difference(figures, &name, (&after, &before), (low, Bound::None));
    };
    each("scribe.MidSucc", |of| Some(of.success), Bound::Above(0.0));
    each("scribe.MidUnc", |of| Some(of.uncertainty), Bound::None);
    each("scribe.HighLvl", |of| of.selection, Bound::None);
    each("scribe.PlanSep", |of| of.separation, Bound::None);
    unaided(figures, &cells);
    Ok(())
}

/// MidSucc of subgoals that the agent reached without skills.
fn unaided(figures: &mut Figures<'_>, cells: &[Cell]) {
    let cells: Vec<[MidLevel; 2]> = cells.iter().filter_map(|cell| cell.unaided).collect();
    let name = "scribe.MidSucc, subgoals of the agent without skills,";
    if cells.len() < 2 {
        figures.skip(name, "fewer than two worlds have such subgoals");
        return;
    }
    let count: Vec<f64> = cells
        .iter()
        .map(|[before, _]| before.subgoals as f64)
        .collect();
    spread(
        figures,
        "scribe.subgoals of the agent without skills rolled out",
        &count,
    );
    let before: Vec<f64> = cells.iter().map(|[before, _]| before.success).collect();
    let after: Vec<f64> = cells.iter().map(|[_, after]| after.success).collect();
    spread(figures, &format!("{name} before learning"), &before);
    spread(figures, &format!("{name} after learning"), &after);
    let name = format!("{name} after learning less before");
    difference(
        figures,
        &name,
        (&after, &before),
        (Bound::Above(0.0), Bound::None),
    );
}

/// A session whose attempts may have all steps, and one whose attempts have few.
struct Checkpoint {
    whole: Journeyman,
    few: Journeyman,
}

fn cell(parts: &Parts, few_parts: &Parts, world: &World) -> Result<Cell> {
    let host = Host::new(parts, world.seed);
    // As the judges' cell did: what it asks again is recalled.
    let (store, _) = scribe::learn(&host, world)?;
    let few = Host {
        parts: few_parts,
        ..host.clone()
    };
    let checkpoint = |store: Arc<MemoryStore>| -> Result<Checkpoint> {
        Ok(Checkpoint {
            whole: host.open(scribe::recipe(), store.clone(), None)?,
            few: few.open(scribe::recipe(), store, None)?,
        })
    };
    let before = checkpoint(Arc::new(MemoryStore::new()))?;
    let after = checkpoint(store.clone())?;
    let subgoals = subgoals(&host, &store, world)?;
    let without = Arc::new(MemoryStore::new());
    let unaided = self::subgoals(&host, &without, world)?;
    let library = SkillLibrary::replay(&block_on(store.load())?.committed)?;
    let plans = plans(&library, world)?;
    Ok(Cell {
        subgoals: subgoals.len(),
        before: metrics(&before, &subgoals, &plans)?,
        after: metrics(&after, &subgoals, &plans)?,
        unaided: match unaided.is_empty() {
            true => None,
            false => Some([mid_level(&before, &unaided)?, mid_level(&after, &unaided)?]),
        },
    })
}

/// The subgoals of successful attempts at held-out tasks.
fn subgoals(
    host: &Host<'_>,
    store: &Arc<MemoryStore>,
    world: &World,
) -> Result<Vec<(Trace, Subgoal)>> {
    let journal = Arc::new(MemoryJournal::new());
    let kept: Arc<dyn Journal> = journal.clone();
    let session = host.open(scribe::recipe(), store.clone(), Some(kept))?;
    let tasks = world.held_out.iter().take(TASKS).cloned().collect();
    block_on(async {
        let report = session.evaluate(tasks).await?;
        let attempts = recorded_attempts(&journal.read(&report.run).await?)?;
        let assessed = session
            .assess(&attempts, &scribe::assess())
            .await?
            .assessments;
        let mut subgoals = Vec::new();
        for (attempt, assessment) in attempts.iter().zip(assessed) {
            let cut = assessment.into_iter().flat_map(|one| one.subgoals);
            let cut = cut.filter(|_| attempt.is_success());
            subgoals.extend(cut.map(|one| (attempt.clone(), one.subgoal)));
        }
        Ok(subgoals)
    })
}

fn mid_level(checkpoint: &Checkpoint, subgoals: &[(Trace, Subgoal)]) -> Result<MidLevel> {
    let mut trials: Vec<Trials> = Vec::new();
    for (attempt, subgoal) in subgoals {
        let rollouts = TrialOptions::new(ROLLOUTS);
        let rollouts = checkpoint
            .whole
            .subgoal_rollouts(attempt, subgoal, &rollouts);
        let rollouts = block_on(rollouts)?;
        trials.extend(rollouts.trials(|rollout, own| completes(attempt, subgoal, rollout, own)));
    }
    MidLevel::of(&trials)
        .ok_or_else(|| Error::new(ErrorKind::Internal, "figures", "no attempt has a subgoal"))
}

fn metrics(
    checkpoint: &Checkpoint,
    subgoals: &[(Trace, Subgoal)],
    plans: &[(Task, Vec<Skill>)],
) -> Result<Metrics> {
    let options = StructureOptions::default();
    let mid = mid_level(checkpoint, subgoals)?;
    let mut executed: Vec<Vec<ExecutedPlan>> = Vec::new();
    for (task, plans) in plans {
        let mut trials = TrialOptions::new(options.trials);
        trials.with_selected = true;
        let runs = checkpoint.few.plan_trials(task.clone(), plans, &trials);
        let runs = block_on(runs)?;
        executed.push(runs.iter().filter_map(|run| run.executed()).collect());
    }
    let high = HighLevel::of(executed.iter().map(Vec::as_slice), &options)?;
    Ok(Metrics {
        success: mid.success,
        uncertainty: mid.uncertainty,
        selection: high.selection,
        separation: high.separation,
    })
}

/// For the first held-out task of each tool, the plans of the attempts at the tool's tasks in the stream; some tools with several
/// plans.
fn plans(library: &SkillLibrary, world: &World) -> Result<Vec<(Task, Vec<Skill>)>> {
    let mut of_tool: BTreeMap<String, Vec<TaskId>> = BTreeMap::new();
    for task in &world.stream {
        let tool = Setup::of(task)?.world.goal.target.to_string();
        of_tool.entry(tool).or_default().push(task.id.clone());
    }
    let attempts: BTreeMap<&str, &Trace> = library
        .traces()
        .map(|trace| (trace.trajectory.attempt.as_str(), trace))
        .collect();
    let mut first: BTreeMap<&str, &Task> = BTreeMap::new();
    for (tool, task) in world.tools.iter().zip(&world.held_out) {
        first.entry(tool).or_insert(task);
    }
    let most = StructureOptions::default().plans;
    let plans = first.into_iter().filter_map(|(tool, task)| {
        let alike = of_tool.get(tool)?;
        let plans = candidate_plans(library, alike, most);
        let plans = plans.iter().filter_map(|plan| rendered(plan, &attempts));
        Some((task.clone(), plans.collect::<Vec<_>>()))
    });
    let several = plans.filter(|(_, plans)| plans.len() > 1);
    Ok(several.take(PLANNED).collect())
}
