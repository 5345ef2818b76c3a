//! The host's own loop: groups of one, binary outcomes, without an agent, a world or a judge in the runtime's hands.

use std::{num::NonZeroUsize, sync::Arc};

use futures::executor::block_on;
use host::{model::Scripted, tasks::task};
use journeyman::{
    Result, Seed,
    agent::{MemoryStore, ModelExecutor, ModelExecutorOptions},
    contract::{Attempt, Environment, Executor, FixedGuidance, SkillStore},
    domain::{Outcome as Verdict, State, Task},
    recipe::{self, Recipe},
    run::{Journeyman, Options},
};
use journeyman_toolworld::environment::Toolworld;
use quickstart::{Parts, Split, Tasks};
use serde::{Deserialize, Serialize};

use crate::figures::{Bound, Figures, Outcome, key, stats};

/// Tasks that are learned from, and tasks that are held out of them.
const STREAM: usize = 200;
const HELD_OUT: usize = 100;
const STEPS: usize = 8;
const RESAMPLES: usize = 4_000;

/// What came of one recipe.
#[derive(Serialize, Deserialize)]
struct Learned {
    before: Vec<f64>,
    after: Vec<f64>,
    clusters: Vec<String>,
    skills: usize,
    active: usize,
    /// Attempts of the stream that were given a skill.
    injected: usize,
}

pub(super) fn run(figures: &mut Figures<'_>) -> Outcome {
    let seed = figures.options().seed;
    let parts = figures.parts(STEPS)?;
    for name in ["standard", "hisme"] {
        let what = format!("own loop, toolworld, {name}");
        let learned = figures.once(&key(&parts, &what), || {
            Ok(block_on(toolworld(&parts, recipe_of(name), seed))?)
        })?;
        record(figures, &what, &learned, seed)?;
        let what = format!("own loop, ticket desk, {name}");
        let learned = figures.once(&what, || Ok(block_on(desk(recipe_of(name), seed))?))?;
        record(figures, &what, &learned, seed)?;
    }
    Ok(())
}

fn recipe_of(name: &str) -> Recipe {
    match name {
        "hisme" => recipe::hisme_robust(),
        _ => recipe::standard(),
    }
}

fn record(figures: &mut Figures<'_>, what: &str, learned: &Learned, seed: Seed) -> Outcome {
    let points = |values: &[f64]| 100.0 * stats::mean(values);
    figures.record(
        &format!("{what}: no library, first attempt %"),
        points(&learned.before),
        Bound::None,
    );
    figures.record(
        &format!("{what}: learned library, first attempt %"),
        points(&learned.after),
        Bound::None,
    );
    let lift = stats::clustered(
        &learned.before,
        &learned.after,
        &learned.clusters,
        seed.derive("bootstrap", 0),
        RESAMPLES,
    )?;
    let lift = stats::Interval {
        mean: 100.0 * lift.mean,
        low: 100.0 * lift.low,
        high: 100.0 * lift.high,
        ..lift
    };
    figures.interval(
        &format!("{what}: lift, points"),
        &lift,
        Bound::Above(0.0),
        Bound::None,
    );
    figures.record(
        &format!("{what}: skills"),
        learned.skills as f64,
        Bound::None,
    );
    figures.record(
        &format!("{what}: active skills"),
        learned.active as f64,
        Bound::None,
    );
    let share = 100.0 * learned.injected as f64 / STREAM as f64;
    figures.record(
        &format!("{what}: tasks of the stream with a skill, %"),
        share,
        Bound::None,
    );
    Ok(())
}

/// A runtime that has the host's model and no agent, world or judge.
async fn own(
    parts: &Parts,
    recipe: Recipe,
    seed: Seed,
    store: Arc<dyn SkillStore>,
    frozen: bool,
) -> Result<Journeyman> {
    let mut components = parts.components(store, None)?;
    (
        components.executor,
        components.environment,
        components.judge,
    ) = (None, None, None);
    let mut options = Options::new("own", seed);
    options.in_flight = NonZeroUsize::MIN;
    options.read_only = frozen;
    Journeyman::open(components, recipe, options).await
}

async fn toolworld(parts: &Parts, recipe: Recipe, seed: Seed) -> Result<Learned> {
    let split = Split {
        stream: STREAM,
        held_out: HELD_OUT,
    };
    let tasks = Tasks::of(seed, split)?;
    let agent = Agent {
        executor: ModelExecutor::new(
            parts.model.clone(),
            parts.prompt_format(),
            ModelExecutorOptions::default(),
        )?,
        world: Toolworld::new(STEPS)?,
        seed,
    };
    let store: Arc<dyn SkillStore> = Arc::new(MemoryStore::new());
    let frozen = own(parts, recipe.clone(), seed, store.clone(), true).await?;
    let before = agent.all(&frozen, &tasks.held_out, 0.0).await?.0;
    let learning = own(parts, recipe.clone(), seed, store.clone(), false).await?;
    let (_, injected) = agent.all(&learning, &tasks.stream, 0.7).await?;
    let frozen = own(parts, recipe, seed, store, true).await?;
    let after = agent.all(&frozen, &tasks.held_out, 0.0).await?.0;
    let library = learning.library().await?;
    let tool = |task: &Task| tasks.tools.get(&task.id).cloned().unwrap_or_default();
    Ok(Learned {
        before,
        after,
        clusters: tasks.held_out.iter().map(tool).collect(),
        skills: library.cache().count(),
        active: library
            .cache()
            .filter(|one| one.skill.state == State::Active)
            .count(),
        injected,
    })
}

/// A host's agent, which the runtime does not know.
struct Agent {
    executor: ModelExecutor,
    world: Toolworld,
    seed: Seed,
}

impl Agent {
    /// First-attempt success task by task, and how many attempts were given a skill.
    async fn all(
        &self,
        journeyman: &Journeyman,
        tasks: &[Task],
        temperature: f32,
    ) -> Result<(Vec<f64>, usize)> {
        let (mut first, mut injected) = (Vec::new(), 0);
        for task in tasks {
            let (at_once, with_skill) = self.one(journeyman, task, temperature).await?;
            first.push(f64::from(u8::from(at_once)));
            injected += usize::from(with_skill);
        }
        Ok((first, injected))
    }

    async fn one(
        &self,
        journeyman: &Journeyman,
        task: &Task,
        temperature: f32,
    ) -> Result<(bool, bool)> {
        let mut handle = journeyman.begin(task.clone()).await?;
        let seed = self.seed.derive(task.id.as_str(), 0);
        let mut episode = self.world.reset(task, seed).await?;
        let injection = handle.injection().clone();
        let guidance = FixedGuidance::new(injection.clone());
        let mut attempt = Attempt::new("own", task, seed, &injection, &guidance);
        attempt.temperature = temperature;
        let made = self.executor.execute(attempt, episode.as_mut()).await?;
        let outcome = made.outcome.as_ref();
        let success = outcome.is_some_and(|outcome| outcome.success);
        let at_once = outcome.and_then(|outcome| outcome.parts.get("first_attempt")) == Some(&1.0);
        for exposure in &made.exposures {
            handle.used(&exposure.skill, exposure.used);
        }
        made.steps.into_iter().for_each(|step| handle.record(step));
        // Binary, as a host judges that only knows whether it worked in the end.
        handle.finish(Verdict::from(success)).await?;
        Ok((at_once, !injection.is_empty()))
    }
}

/// The scripted agent of the example, at its own desk.
async fn desk(recipe: Recipe, seed: Seed) -> Result<Learned> {
    let folder = tempfile::tempdir().map_err(|source| {
        journeyman::Error::invalid("figures", "no folder could be made").source_from(source)
    })?;
    let library = folder.path().join("library");
    let frozen = || Options::new("held-out", seed).read_only();
    let (before, _) = at_desk(&library, recipe.clone(), frozen(), 1_000, HELD_OUT).await?;
    let (_, injected) = at_desk(
        &library,
        recipe.clone(),
        Options::new("stream", seed),
        0,
        STREAM,
    )
    .await?;
    let (after, _) = at_desk(&library, recipe.clone(), frozen(), 1_000, HELD_OUT).await?;
    let learned = host::own_loop::open(&library, recipe, frozen())
        .await?
        .library()
        .await?;
    Ok(Learned {
        before,
        after,
        // Each task is drawn for itself: two kinds of task, and five customers.
        clusters: (0..HELD_OUT).map(|n| n.to_string()).collect(),
        skills: learned.cache().count(),
        active: learned
            .cache()
            .filter(|one| one.skill.state == State::Active)
            .count(),
        injected: injected.iter().filter(|with| **with).count(),
    })
}

async fn at_desk(
    library: &std::path::Path,
    recipe: Recipe,
    options: Options,
    from: usize,
    count: usize,
) -> Result<(Vec<f64>, Vec<bool>)> {
    let journeyman = host::own_loop::open(library, recipe, options).await?;
    let agent = Scripted::default();
    let (mut first, mut injected) = (Vec::new(), Vec::new());
    for n in from..from + count {
        let (at_once, with_skill) = host::own_loop::one_task(&journeyman, &agent, task(n)).await?;
        first.push(f64::from(u8::from(at_once)));
        injected.push(with_skill);
    }
    Ok((first, injected))
}
