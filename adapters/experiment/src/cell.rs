//! A cell, one arm with one seed: learns from the stream, and attempts the held-out tasks at each checkpoint.

use std::{collections::BTreeMap, sync::Arc};

use futures::executor::block_on;
use journeyman::{
    Error, Result, Seed,
    agent::MemoryStore,
    contract::{Components, SkillStore},
    domain::{
        Cause, Commit, CommitKey, Committed, LibraryChange, Revision, Skill, Task, sha256_hex,
    },
    recipe::Recipe,
    run::{Journeyman, Options},
};
use serde::{Serialize, Serializer, ser::Error as _};

use crate::{
    arm::Arm,
    fault::{EXPERIMENT, internal},
    host::{Host, Tasks},
    measure::{History, held_out, stream},
    plan::Plan,
    result::{CellResult, Checkpoint},
};

/// One arm with one seed, not run yet.
#[derive(Debug)]
pub(crate) struct Cell<'a, H> {
    plan: &'a Plan,
    host: &'a H,
    arm: &'a Arm,
    seed: u64,
}

/// Everything that a result follows from, except the program's code; cells that differ here have different keys. The
/// order of the fields is part of the key.
#[derive(Serialize)]
struct CellForm<'a, W> {
    model: &'a str,
    deterministic: bool,
    threads: u32,
    world: WorldForm<'a, W>,
    recipe: &'a Recipe,
    learns: bool,
    /// Left out where there are none: cells of before have this key.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    models: &'a BTreeMap<String, String>,
    #[serde(serialize_with = "digest")]
    start: &'a [Skill],
    seed: u64,
}

#[derive(Serialize)]
struct WorldForm<'a, W> {
    stream: usize,
    held_out: usize,
    checkpoints: usize,
    #[serde(flatten)]
    settings: &'a W,
}

fn digest<S: Serializer>(skills: &[Skill], serializer: S) -> Result<S::Ok, S::Error> {
    let all = serde_json::to_string(skills).map_err(S::Error::custom)?;
    serializer.serialize_str(&sha256_hex(all))
}

/// Whether tasks may be attempted at more than one checkpoint.
fn sets_up_again(components: &Components) -> bool {
    let world = components.environment.as_ref();
    world.is_none_or(|world| world.capabilities().resettable)
}

// Derived, it would ask that the host can be copied.
impl<H> Clone for Cell<'_, H> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<H> Copy for Cell<'_, H> {}

impl<'a, H: Host> Cell<'a, H> {
    pub(crate) fn new(plan: &'a Plan, host: &'a H, arm: &'a Arm, seed: u64) -> Self {
        Self {
            plan,
            host,
            arm,
            seed,
        }
    }

    pub(crate) fn arm(&self) -> &'a Arm {
        self.arm
    }

    /// The cell's key, which is the SHA-256 of its form, and the form as JSON.
    pub(crate) fn form(&self) -> Result<(String, String)> {
        let (plan, arm) = (self.plan, self.arm);
        let form = CellForm {
            model: &plan.conditions.model_digest,
            deterministic: plan.conditions.deterministic,
            threads: plan.conditions.threads,
            world: WorldForm {
                stream: plan.stream,
                held_out: plan.held_out,
                checkpoints: plan.checkpoints,
                settings: self.host.world(),
            },
            recipe: &arm.recipe,
            learns: arm.learns,
            models: &arm.models,
            start: &arm.start,
            seed: self.seed,
        };
        let form = serde_json::to_string(&form).map_err(|source| {
            internal("a cell cannot be written")
                .hint("the world's settings serialize as a struct or a map")
                .source_from(source)
        })?;
        Ok((sha256_hex(&form), form))
    }

    /// Blocks, on a thread without an executor.
    pub(crate) fn run(&self, engine: &mut H::Engine) -> Result<CellResult> {
        self.host.begin(engine)?;
        let result = block_on(self.measured(engine));
        self.host.end(engine);
        result
    }

    async fn measured(&self, engine: &H::Engine) -> Result<CellResult> {
        let tasks = self.tasks()?;
        let mut result = CellResult::default();
        let store = self.started().await?;
        let (tasks_learned, mut positions) = match self.arm.learns {
            true => (self.plan.stream, self.plan.positions()),
            false => (0, vec![0]),
        };
        if self.arm.learns {
            let components = self.host.components(engine, self.arm)?;
            if !sets_up_again(&components) {
                positions.retain(|learned| *learned == self.plan.stream);
            }
            let learning = self.open(components, "learn", store.clone()).await?;
            let report = learning.learn(tasks.stream).await?;
            result.stream = stream(&report);
        }
        let committed = store.load().await?.committed;
        let history = History::of(&committed, tasks_learned)?;
        for learned in positions {
            let until = committed.get(..history.end(learned)).unwrap_or(&committed);
            let checkpoint = self
                .checkpoint(engine, learned, until, &tasks.held_out)
                .await?;
            result.checkpoints.push(checkpoint);
        }
        result.library = history.points;
        Ok(result)
    }

    /// The seed's tasks, as many as the plan says.
    fn tasks(&self) -> Result<Tasks> {
        let tasks = self.host.tasks(self.plan, self.seed)?;
        let (plan, found) = (self.plan, (tasks.stream.len(), tasks.held_out.len()));
        if found != (plan.stream, plan.held_out) {
            let message = "the host gave another number of tasks than the plan says";
            return Err(Error::invalid(EXPERIMENT, message)
                .with("stream", found.0)
                .with("held_out", found.1)
                .hint("give as many as the plan's `stream` and `held_out`"));
        }
        Ok(tasks)
    }

    /// A session over a store.
    async fn open(
        &self,
        components: Components,
        session: &str,
        store: Arc<MemoryStore>,
    ) -> Result<Journeyman> {
        let components = components.with_store(store);
        let mut options = Options::new(session, Seed(self.seed));
        options.redactor = self.plan.redactor.clone();
        let options = options.with_policies(self.plan.policies.clone());
        Journeyman::open(components, self.arm.recipe.clone(), options).await
    }

    /// The held-out tasks with a copy of the library, to which nothing is committed.
    async fn checkpoint(
        &self,
        engine: &H::Engine,
        learned: usize,
        committed: &[Committed],
        held_out_tasks: &[Task],
    ) -> Result<Checkpoint> {
        let store = Arc::new(MemoryStore::from_committed(committed.to_vec())?);
        let frozen = store.load().await?.revision;
        let components = self.host.components(engine, self.arm)?;
        let evaluating = self.open(components, "evaluate", store.clone()).await?;
        let report = evaluating.evaluate(held_out_tasks.to_vec()).await?;
        if store.load().await?.revision != frozen {
            return Err(internal("an evaluation changed its library"));
        }
        Ok(Checkpoint {
            learned: learned as u64,
            revision: frozen.0,
            tasks: held_out(&report)?,
        })
    }

    /// A store with the arm's first library.
    async fn started(&self) -> Result<Arc<MemoryStore>> {
        let store = Arc::new(MemoryStore::new());
        if self.arm.start.is_empty() {
            return Ok(store);
        }
        let skills = self.arm.start.iter().cloned();
        let mut changes = vec![LibraryChange::Configure(self.arm.recipe.tiers.clone())];
        changes.extend(skills.map(|skill| LibraryChange::Add(Box::new(skill))));
        changes.push(LibraryChange::Maintain);
        let commit = Commit::new(
            Revision(0),
            CommitKey::new("experiment/start"),
            Cause::new("what the experiment starts with"),
            changes,
        );
        store.commit(&commit).await?;
        Ok(store)
    }
}
