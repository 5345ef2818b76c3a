//! One arm with one seed: learns from the stream, and attempts the held-out tasks with the library as it was on the way.

use std::sync::Arc;

use journeyman::{
    CommitKey, Error, ErrorKind, Result, Revision, Seed,
    builtin::MemoryStore,
    contract::SkillStore,
    domain::{Cause, Commit, Committed, LibraryChange, Skill, Task},
    recipe::Recipe,
    sha256_hex,
};
use journeyman_toolworld::stream::{StreamTask, Universe};
use serde::{Serialize, Serializer, ser::Error as _};

use super::{
    EXPERIMENT,
    arm::Arm,
    measure::{History, held_out, stream},
    parts::Parts,
    plan::{Plan, World},
    result::{CellResult, Checkpoint},
};

/// All that a result follows from, but for the command's own code. What differs here is another cell.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Cell<'a> {
    /// The model's file, by its SHA-256.
    pub(super) model: &'a str,
    pub(super) deterministic: bool,
    pub(super) threads: u32,
    pub(super) world: &'a World,
    pub(super) recipe: &'a Recipe,
    pub(super) learns: bool,
    /// What the library starts with, by the SHA-256 of it all.
    #[serde(serialize_with = "digest")]
    pub(super) start: &'a [Skill],
    pub(super) seed: u64,
}

fn digest<S: Serializer>(skills: &[Skill], serializer: S) -> Result<S::Ok, S::Error> {
    let all = serde_json::to_string(skills).map_err(S::Error::custom)?;
    serializer.serialize_str(&sha256_hex(all))
}

impl<'a> Cell<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        arm: &'a Arm,
        model: &'a str,
        start: &'a [Skill],
        seed: u64,
    ) -> Self {
        Self {
            model,
            deterministic: plan.deterministic,
            threads: plan.threads,
            world: &plan.world,
            recipe: &arm.recipe,
            learns: arm.learns,
            start,
            seed,
        }
    }

    /// What tells it from every other: the SHA-256 of its form, and the form.
    pub(super) fn form(&self) -> Result<(String, String)> {
        let form = serde_json::to_string(self).map_err(|source| {
            Error::new(ErrorKind::Internal, EXPERIMENT, "a cell cannot be written")
                .source_from(source)
        })?;
        Ok((sha256_hex(&form), form))
    }

    pub(super) async fn run(&self, parts: &Parts) -> Result<CellResult> {
        let universe = Universe::make(self.world.universe.clone(), self.seed)?;
        let streamed = universe.stream(self.world.stream);
        let apart = tasks(&universe.held_out(&streamed, self.world.held_out))?;
        let mut result = CellResult::default();
        let store = self.started().await?;
        let (tasks_learned, positions) = match self.learns {
            true => (self.world.stream, self.world.positions()),
            false => (0, vec![0]),
        };
        if self.learns {
            let learning = parts.open(self.recipe.clone(), "learn", Seed(self.seed), store.clone());
            let report = learning.await?.learn(tasks(&streamed)?).await?;
            result.stream = stream(&report);
        }
        let committed = store.load().await?.committed;
        let history = History::of(&committed, tasks_learned)?;
        for learned in positions {
            let until = committed.get(..history.end(learned)).unwrap_or(&committed);
            let checkpoint = self.checkpoint(parts, learned, until, &apart).await?;
            result.checkpoints.push(checkpoint);
        }
        result.library = history.points;
        Ok(result)
    }

    /// The held-out tasks with a copy of the library that nothing is committed to.
    async fn checkpoint(
        &self,
        parts: &Parts,
        learned: usize,
        committed: &[Committed],
        apart: &[Task],
    ) -> Result<Checkpoint> {
        let store = Arc::new(MemoryStore::from_committed(committed.to_vec())?);
        let frozen = store.load().await?.revision;
        let evaluating = parts.open(
            self.recipe.clone(),
            "evaluate",
            Seed(self.seed),
            store.clone(),
        );
        let report = evaluating.await?.evaluate(apart.to_vec()).await?;
        if store.load().await?.revision != frozen {
            let message = "an evaluation changed its library";
            return Err(Error::new(ErrorKind::Internal, EXPERIMENT, message));
        }
        Ok(Checkpoint {
            learned: learned as u64,
            revision: frozen.0,
            tasks: held_out(&report)?,
        })
    }

    /// A store with what the library starts with.
    async fn started(&self) -> Result<Arc<MemoryStore>> {
        let store = Arc::new(MemoryStore::new());
        if self.start.is_empty() {
            return Ok(store);
        }
        let skills = self.start.iter().cloned();
        let mut changes = vec![LibraryChange::Configure(self.recipe.tiers.clone())];
        changes.extend(skills.map(|skill| LibraryChange::Add(Box::new(skill))));
        changes.push(LibraryChange::Maintain);
        let commit = Commit {
            base: Revision(0),
            key: CommitKey::new("experiment/start"),
            cause: Cause {
                run: None,
                task: None,
                reason: "what the experiment starts with".to_owned(),
            },
            changes,
        };
        store.commit(&commit).await?;
        Ok(store)
    }
}

fn tasks(tasks: &[StreamTask]) -> Result<Vec<Task>> {
    tasks.iter().map(StreamTask::task).collect()
}
