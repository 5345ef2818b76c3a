//! 256 rollouts of a group of tasks at once: whether all finish, and their memory.

use std::{fs, num::NonZeroU32, sync::Arc};

use futures::executor::block_on;
use journeyman::{
    agent::MemoryStore, contract::Retriever, domain::Task, papers::skillos::Rollouts, recipe,
};
use journeyman_tantivy::{Bm25Retriever, Config};
use quickstart::Parts;
use serde::{Deserialize, Serialize};

use super::{
    key,
    world::{Host, World},
};
use crate::figures::{Bound, Figures, Outcome};

const ROLLOUTS: NonZeroU32 = NonZeroU32::new(256).expect("not 0");
/// Tasks of the group.
const GROUP: usize = 2;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Rolled {
    finished: usize,
    /// MB of resident memory at its peak, above what the process had before, for each rollout; each has an index of its own.
    memory: Option<f64>,
}

pub(super) fn run(figures: &mut Figures<'_>, parts: &Parts) -> Outcome {
    let seed = figures.options().seed;
    let key = key(parts, "forks");
    let rolled = figures.once(&key, || {
        let world = World::new(seed, 0)?;
        let host = Host::new(parts, world.seed);
        let store = Arc::new(MemoryStore::new());
        let session = host.open(recipe::skillos(), store, None)?;
        block_on(session.learn(world.stream.iter().take(20).cloned().collect()))?;
        let group: Vec<Task> = world.stream.iter().skip(20).take(GROUP).cloned().collect();
        let rollouts = Rollouts::new(ROLLOUTS).with_retriever(|| {
            let index = Bm25Retriever::new(Config::default())?;
            Ok(Arc::new(index) as Arc<dyn Retriever>)
        });
        let before = forget_peak().and_then(|()| status("VmRSS:"));
        let rolled = block_on(session.roll_out(group, &rollouts))?;
        let peak = before.and_then(|before| Some(status("VmHWM:")? - before));
        Ok(Rolled {
            finished: rolled.iter().filter(|one| one.is_ok()).count(),
            memory: peak.map(|peak| peak / 1024.0 / f64::from(ROLLOUTS.get())),
        })
    })?;
    let finished = rolled.finished as f64;
    figures.record(
        "skillos.256 forks at once that finish",
        finished,
        Bound::AtLeast(256.0),
    );
    let name = "skillos.memory of one of 256 forks (MB)";
    match rolled.memory {
        Some(memory) => figures.record(name, memory, Bound::AtMost(1.0)),
        None => figures.skip(name, "the system does not say what memory a process has"),
    }
    Ok(())
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
