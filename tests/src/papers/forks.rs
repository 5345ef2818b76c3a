//! 256 rollouts of a group of tasks at once: whether all finish, what ended those that do not, and their memory.

use std::{
    collections::BTreeMap, error::Error as _, fs, num::NonZeroU32, sync::Arc, time::Duration,
};

use futures::executor::block_on;
use journeyman::{
    Error, Result,
    agent::{
        MemoryStore,
        role::{GeneralRoles, RoleOptions},
    },
    contract::Retriever,
    domain::Task,
    papers::skillos::{GroupRollout, Rollouts},
    recipe,
    run::report::NoAnswer,
};
use journeyman_tantivy::{Bm25Retriever, Config};
use quickstart::{Parts, default_model};
use serde::{Deserialize, Serialize};

use super::{
    STEPS, key,
    world::{Host, World},
};
use crate::figures::{Bound, Figures, Outcome};

const ROLLOUTS: NonZeroU32 = NonZeroU32::new(256).expect("not 0");
/// Tasks that are learned from before.
const LEARNED: usize = 20;
/// Tasks of the group.
const GROUP: usize = 2;
/// What an answer may take, an attempt, and a curation. A limit counts from the call, so with 256 callers of one model it is mostly the
/// place in the queue.
const PATIENCE: Duration = Duration::from_secs(4 * 3600);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Rolled {
    finished: usize,
    /// What ended the other rollouts, with their numbers.
    ended: BTreeMap<String, usize>,
    /// What ended attempts of rollouts that finished, with the numbers of attempts.
    attempts: BTreeMap<String, usize>,
    /// Tasks of rollouts that finished about which the curator could not be asked.
    not_curated: usize,
    /// MB of resident memory at its peak, above what the process had before, for each rollout; each has an index of its own.
    memory: Option<f64>,
}

pub(super) fn run(figures: &mut Figures<'_>, parts: &Parts) -> Outcome {
    let seed = figures.options().seed;
    // As it was when the bound was set: the default limits, and a model that answers one after the other.
    let rolled = figures.once(&key(parts, "forks"), || {
        Ok(roll_out(parts, &World::new(seed, 0)?, None)?)
    })?;
    let finished = rolled.finished as f64;
    figures.record(
        "skillos.256 forks at once that finish",
        finished,
        Bound::AtLeast(256.0),
    );
    for (what, counts) in [
        ("forks that were ended by", &rolled.ended),
        ("attempts of forks that finish, ended by", &rolled.attempts),
    ] {
        for (cause, count) in counts {
            let name = format!("skillos.{what} {cause}");
            figures.record(&name, *count as f64, Bound::None);
        }
    }
    figures.record(
        "skillos.tasks of forks that finish, about which the curator could not be asked",
        rolled.not_curated as f64,
        Bound::None,
    );
    let name = "skillos.memory of one of 256 forks (MB)";
    match rolled.memory {
        Some(memory) => figures.record(name, memory, Bound::AtMost(1.0)),
        None => figures.skip(name, "the system does not say what memory a process has"),
    }
    let name =
        "skillos.256 forks at once that finish, with four hours an answer and shared batches";
    if (2..=5).contains(&seed.0) {
        figures.skip(name, "it takes minutes and has no bound: at seed 1 alone");
        return Ok(());
    }
    let path = figures.options().model.clone();
    let path = path.unwrap_or_else(default_model);
    let patient = figures.once(&key(parts, "forks, four hours"), || {
        let parts = Parts::load(&path, STEPS)?;
        Ok(roll_out(&parts, &World::new(seed, 0)?, Some(PATIENCE))?)
    })?;
    figures.record(name, patient.finished as f64, Bound::None);
    Ok(())
}

/// `patience`: what an answer may take, an attempt, and a curation; `None` for the default limits.
fn roll_out(parts: &Parts, world: &World, patience: Option<Duration>) -> Result<Rolled> {
    let mut host = Host::new(parts, world.seed);
    let mut recipe = recipe::skillos();
    if let Some(patience) = patience {
        host.acting.generation_time = patience;
        let mut options = RoleOptions::default();
        options.time_limit = patience;
        host.roles = Arc::new(GeneralRoles::shipped()?.with_options(options));
        recipe.limits.attempt = patience;
        recipe.limits.write = patience;
    }
    let session = host.open(recipe, Arc::new(MemoryStore::new()), None)?;
    let learned = world.stream.iter().take(LEARNED).cloned().collect();
    block_on(session.learn(learned))?;
    let group = world.stream.iter().skip(LEARNED).take(GROUP);
    let group: Vec<Task> = group.cloned().collect();
    let rollouts = Rollouts::new(ROLLOUTS).with_retriever(|| {
        let index = Bm25Retriever::new(Config::default())?;
        Ok(Arc::new(index) as Arc<dyn Retriever>)
    });
    let before = forget_peak().and_then(|()| status("VmRSS:"));
    let rolled = block_on(session.roll_out(group, &rollouts))?;
    let peak = before.and_then(|before| Some(status("VmHWM:")? - before));
    Ok(counted(&rolled, peak))
}

/// What became of the rollouts; `peak` in KB.
fn counted(rolled: &[Result<GroupRollout>], peak: Option<f64>) -> Rolled {
    let mut counted = Rolled {
        finished: 0,
        ended: BTreeMap::new(),
        attempts: BTreeMap::new(),
        not_curated: 0,
        memory: peak.map(|peak| peak / 1024.0 / f64::from(ROLLOUTS.get())),
    };
    for one in rolled {
        let report = match one {
            Ok(one) => &one.report,
            Err(error) => {
                *counted.ended.entry(cause(error)).or_default() += 1;
                continue;
            }
        };
        counted.finished += 1;
        for (_, error) in report.errors() {
            *counted.attempts.entry(cause(error)).or_default() += 1;
        }
        let curations = report
            .tasks
            .iter()
            .filter_map(|task| task.curation.as_ref());
        let not_asked =
            curations.filter(|one| matches!(one.no_answer, Some(NoAnswer::NotPlayed(_))));
        counted.not_curated += not_asked.count();
    }
    counted
}

/// The kind and the operation of the first error behind this one.
fn cause(error: &Error) -> String {
    let mut first = error;
    while let Some(behind) = first.source().and_then(|one| one.downcast_ref::<Error>()) {
        first = behind;
    }
    format!("{:?} at {}", first.kind(), first.operation())
}

/// Has the system count the process's peak of resident memory from now on.
fn forget_peak() -> Option<()> {
    fs::write("/proc/self/clear_refs", "5").ok()
}

/// A line of the process's status, in KB.
fn status(name: &str) -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use journeyman::ErrorKind;

    use super::*;

    #[test]
    fn a_fork_is_counted_under_the_first_error_behind_its_own() {
        let late = Error::new(ErrorKind::Timeout, "LlamaCpp::generate", "not finished");
        let none = Error::new(
            ErrorKind::Timeout,
            "Journeyman::learn",
            "none of 2 attempts",
        );
        let rolled = [Err(none.source_from(late.clone())), Err(late)];
        let counted = counted(&rolled, Some(512.0 * 1024.0));
        let ended = BTreeMap::from([("Timeout at LlamaCpp::generate".to_owned(), 2)]);
        assert_eq!((counted.finished, counted.ended), (0, ended));
        assert_eq!(counted.memory, Some(2.0));
    }
}
