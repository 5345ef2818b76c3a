//! The attempts of a run, out of its journal.

use std::collections::BTreeMap;

use super::{
    effect::{EffectId, Station},
    journal::RunEntry,
};
use crate::{
    contract::JournalEntry,
    domain::{Trace, Trajectory, Verdict},
    error::{Error, ErrorKind, Result},
    policy::Answer,
    program::QuestionPath,
};

/// The attempts of a learning or evaluating run with their verdicts, out of the entries of its journal, in the order of tasks:
/// material for a bank ([`Journeyman::distil_bank`](crate::run::Journeyman::distil_bank)) and for demonstrations
/// (`demonstrations` of the crate `journeyman-interchange`). Attempts that could not be made, or that a part's
/// fault ended, are left out; the verdict is `None` where there is none. As in the library, token records are left out.
///
/// # Errors
/// `NotFound` for entries without the run's start; `Unsupported` and `Corrupt` as [`RunEntry::from_entry`].
///
/// ```
/// use std::sync::Arc;
///
/// use journeyman::{
///     Seed,
///     builtin::{EnvironmentJudge, MemoryJournal},
///     contract::{Components, Journal},
///     domain::Action,
///     recipe,
///     run::{Journeyman, Options, recorded_attempts},
///     testing::{Play, ScriptedEnvironment, ScriptedExecutor, sample},
/// };
///
/// # futures::executor::block_on(async {
/// let agent = ScriptedExecutor::acting(|_, _| Play::Give(Some(Action::Message("good".to_owned()))));
/// let world = ScriptedEnvironment::words();
/// let journal = Arc::new(MemoryJournal::new());
/// let components = Components::new(Arc::new(agent), Arc::new(world), Arc::new(EnvironmentJudge))
///     .with_journal(journal.clone());
/// let journeyman = Journeyman::open(components, recipe::standard(), Options::new("desk", Seed(7))).await?;
/// let report = journeyman.evaluate(vec![sample::task("greet", &["good"])]).await?;
///
/// let attempts = recorded_attempts(&journal.read(&report.run).await?)?;
/// assert_eq!(attempts.len(), 1);
/// assert!(attempts[0].is_success());
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
pub fn recorded_attempts(entries: &[JournalEntry]) -> Result<Vec<Trace>> {
    let mut machine = None;
    let mut made: BTreeMap<(u64, Vec<u32>), Box<Trajectory>> = BTreeMap::new();
    let mut judged: BTreeMap<(u64, Vec<u32>), Verdict> = BTreeMap::new();
    for entry in entries {
        match RunEntry::from_entry(entry)? {
            RunEntry::Started { machine: one, .. } => machine = Some(one),
            RunEntry::Answered { id, answer, .. } => match *answer {
                Answer::Attempted(Ok(trajectory)) if id.station == Station::Attempt => {
                    made.insert(rollout(&id), trajectory);
                }
                Answer::Judged(Ok(verdict)) => drop(judged.insert(rollout(&id), verdict)),
                _ => {}
            },
            _ => {}
        }
    }
    let Some(machine) = machine else {
        return Err(Error::new(
            ErrorKind::NotFound,
            "run::recorded_attempts",
            "the journal has no entry of the run's start",
        )
        .hint("pass all entries of one run, beginning with its first"));
    };
    let context = machine.context();
    let sound = made
        .into_iter()
        .filter(|(_, trajectory)| trajectory.is_evidence());
    let traces = sound.filter_map(|(rollout, trajectory)| {
        let (step, _) = rollout;
        let task = machine.tasks.get(usize::try_from(step).ok()?)?;
        let trace = Trace {
            task: task.clone(),
            trajectory: *trajectory,
            verdict: judged.remove(&rollout),
            world_seed: context.step_seed(step).derive("world", 0),
        };
        Some(trace.lean())
    });
    Ok(traces.collect())
}

/// The step and the scope of a rollout: an attempt and its verdict are asked for side by side in one scope.
fn rollout(EffectId { step, place, .. }: &EffectId) -> (u64, Vec<u32>) {
    let path = QuestionPath::path(place);
    let scope = path.split_last().map_or(&[][..], |(_, scope)| scope);
    (*step, scope.to_vec())
}
