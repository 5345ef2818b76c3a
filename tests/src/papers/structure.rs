//! SCRIBE's MidSucc and MidUnc on fixed sets of subgoals, before learning and after (appendix E).

use std::{num::NonZeroU32, sync::Arc};

use futures::executor::block_on;
use journeyman::{
    Result,
    agent::{MemoryJournal, MemoryStore},
    contract::Journal,
    domain::{Subgoal, Trace},
    papers::scribe::{MidLevel, TrialOptions, Trials},
    run::recorded_attempts,
};
use quickstart::Parts;
use serde::{Deserialize, Serialize};

use super::{
    difference, key,
    scribe::{self, COURSE, HIDDEN, WORLDS},
    spread,
    subgoals::completes,
    world::{Host, World},
};
use crate::figures::{Bound, Figures, Outcome};

/// Held-out tasks whose attempts give the subgoals.
const TASKS: usize = 4;
/// Rollouts of each subgoal. The paper: 64.
const ROLLOUTS: NonZeroU32 = NonZeroU32::new(8).expect("not 0");

/// The metrics of the same subgoals before learning and after.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Compared {
    before: MidLevel,
    after: MidLevel,
    /// The share of rollouts after learning that were given a skill.
    given: f64,
}

/// `None` where the agent did no task.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Cell {
    /// Of the subgoals of the agent with the skills that it learned.
    skilled: Option<Compared>,
    /// Of those of the agent without skills.
    unaided: Option<Compared>,
}

pub(super) fn run(figures: &mut Figures<'_>, parts: &Parts) -> Outcome {
    let mut cells: Vec<Cell> = Vec::new();
    for number in 0..WORLDS {
        let seed = figures.options().seed;
        let key = key(parts, &format!("structure, world {number}"));
        cells.push(figures.once(&key, || {
            let world = World::of(HIDDEN, seed, number)?;
            Ok(cell(parts, &world)?)
        })?);
    }
    let skilled: Vec<Compared> = cells.iter().filter_map(|cell| cell.skilled).collect();
    compare(figures, ("subgoals rolled out", ""), &skilled);
    let unaided: Vec<Compared> = cells.iter().filter_map(|cell| cell.unaided).collect();
    let names = (
        "subgoals of the agent without skills rolled out",
        ", subgoals of the agent without skills,",
    );
    compare(figures, names, &unaided);
    Ok(())
}

/// Records the metrics of one kind of subgoals, `whose` behind a metric's name.
fn compare(figures: &mut Figures<'_>, (count, whose): (&str, &str), worlds: &[Compared]) {
    if worlds.len() < 2 {
        let name = format!("scribe.MidSucc{whose} after learning less before");
        figures.skip(&name, "fewer than two worlds have such subgoals");
        return;
    }
    let of = |value: fn(&Compared) -> f64| -> Vec<f64> { worlds.iter().map(value).collect() };
    let subgoals = of(|one| one.before.subgoals as f64);
    spread(figures, &format!("scribe.{count}"), &subgoals);
    let given = of(|one| one.given);
    let name = format!("scribe.rollouts with a skill after learning{whose}");
    spread(figures, name.trim_end_matches(','), &given);
    type Metric = fn(&MidLevel) -> f64;
    let metrics: [(&str, Metric, Bound); 2] = [
        ("MidSucc", |one| one.success, Bound::Above(0.0)),
        ("MidUnc", |one| one.uncertainty, Bound::None),
    ];
    for (metric, value, low) in metrics {
        let name = format!("scribe.{metric}{whose}");
        let before: Vec<f64> = worlds.iter().map(|one| value(&one.before)).collect();
        let after: Vec<f64> = worlds.iter().map(|one| value(&one.after)).collect();
        spread(figures, &format!("{name} before learning"), &before);
        spread(figures, &format!("{name} after learning"), &after);
        let name = format!("{name} after learning less before");
        difference(figures, &name, (&after, &before), (low, Bound::None));
    }
}

fn cell(parts: &Parts, world: &World) -> Result<Cell> {
    let host = Host::new(parts, world.seed);
    // As the judges' cell did: what it asks again is recalled.
    let (learned, _) = scribe::learn(&host, world, COURSE)?;
    let empty = Arc::new(MemoryStore::new());
    let compared = |store: &Arc<MemoryStore>| -> Result<Option<Compared>> {
        let subgoals = subgoals(&host, store, world)?;
        let before = rolled_out(&host, &empty, &subgoals)?;
        let after = rolled_out(&host, &learned, &subgoals)?;
        Ok(before
            .zip(after)
            .map(|((before, _), (after, given))| Compared {
                before,
                after,
                given,
            }))
    };
    Ok(Cell {
        skilled: compared(&learned)?,
        unaided: compared(&empty)?,
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
    let session = host.open(scribe::recipe(COURSE), store.clone(), Some(kept))?;
    let tasks = world.held_out.iter().take(TASKS).cloned().collect();
    block_on(async {
        let report = session.evaluate(tasks).await?;
        let attempts = recorded_attempts(&journal.read(&report.run).await?)?;
        let assessed = session
            .assess(&attempts, &scribe::assess(COURSE))
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

/// The metrics of subgoals that are rolled out with a library, and the share of rollouts that were given a skill; `None` for no
/// subgoal.
fn rolled_out(
    host: &Host<'_>,
    store: &Arc<MemoryStore>,
    subgoals: &[(Trace, Subgoal)],
) -> Result<Option<(MidLevel, f64)>> {
    let mut trials: Vec<Trials> = Vec::new();
    let (mut all, mut given) = (0_usize, 0_usize);
    for (attempt, subgoal) in subgoals {
        let mut brief = host.clone();
        // A rollout is judged by as many steps as the subgoal has: what comes behind them is not made.
        brief.acting.max_steps = u32::try_from(subgoal.last + 1).unwrap_or(u32::MAX);
        let session = brief.open(scribe::recipe(COURSE), store.clone(), None)?;
        let options = TrialOptions::new(ROLLOUTS);
        let rollouts = block_on(session.subgoal_rollouts(attempt, subgoal, &options))?;
        let made = rollouts.rollouts.iter().flatten();
        for rollout in made {
            all += 1;
            given += usize::from(!rollout.injection.skills.is_empty());
        }
        trials.extend(rollouts.trials(|rollout, own| completes(attempt, subgoal, rollout, own)));
    }
    let mid = MidLevel::of(&trials);
    Ok(mid.map(|mid| (mid, given as f64 / all as f64)))
}
