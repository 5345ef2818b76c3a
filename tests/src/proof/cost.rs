//! What the ledger costs: the time of a task with a tenth withheld, beside none.

use std::{num::NonZeroUsize, sync::Arc, time::Instant};

use futures::executor::block_on;
use journeyman::{
    Result, Seed,
    agent::{EnvironmentJudge, MemoryStore},
    contract::{Attempt, Components},
    domain::{Action, Step, Task, Withhold},
    recipe,
    run::{Journeyman, Options},
    stations::{propose::WriteWhen, select::Top},
    testing::{Play, ScriptedEnvironment, ScriptedExecutor, ScriptedRetriever, sample},
};

use crate::figures::{Bound, Figures, Outcome, stats};

/// Tasks of a round, and rounds of each kind, which take turns.
const TASKS: usize = 300;
const ROUNDS: usize = 9;
/// The share that goes without.
const SHARE: f64 = 0.1;

pub(super) fn run(figures: &mut Figures<'_>) -> Outcome {
    let seed = figures.options().seed;
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..ROUNDS as u64 {
        for (times, withhold) in times.iter_mut().zip([None, Some(Withhold::new(SHARE))]) {
            times.push(1e6 * block_on(timed(seed.derive("cost", round), withhold))? / TASKS as f64);
        }
    }
    let [without, with] = times.map(|mut times| stats::median(&mut times));
    figures.record("a task, nothing withheld, us", without, Bound::None);
    figures.record("a task, a tenth withheld, us", with, Bound::None);
    figures.record(
        "time of a task with a tenth withheld, of that without",
        with / without,
        Bound::AtMost(1.2),
    );
    Ok(())
}

/// The seconds of a round, in a world and with an agent that cost next to nothing.
async fn timed(seed: Seed, withhold: Option<Withhold>) -> Result<f64> {
    let agent = ScriptedExecutor::acting(|attempt: &Attempt<'_>, steps: &[Step]| {
        let words: Vec<String> =
            serde_json::from_value(attempt.task.payload.clone()).unwrap_or_default();
        Play::Give(words.get(steps.len()).cloned().map(Action::Message))
    });
    let mut components = Components::new(
        Arc::new(agent),
        Arc::new(ScriptedEnvironment::words()),
        Arc::new(EnvironmentJudge),
    );
    components.store = Some(Arc::new(MemoryStore::new()));
    components.retriever = Some(Arc::new(ScriptedRetriever::new()));
    let mut recipe = recipe::standard();
    recipe.select.selector = Top::new(NonZeroUsize::MIN).into();
    recipe.write.when = WriteWhen::Never;
    recipe.select.withhold = withhold;
    let session = Journeyman::open(components, recipe, Options::new("cost", seed)).await?;
    let skills = ["say-one", "say-two", "say-three"].map(sample::skill);
    session.add(skills.to_vec(), "the figures").await?;
    let words = ["one", "two", "three"];
    let tasks = (0..TASKS).map(|number| {
        let own = [words[number % 3], words[(number + 1) % 3]];
        sample::task(&format!("task-{number}"), &own)
    });
    let tasks: Vec<Task> = tasks.collect();
    let begun = Instant::now();
    session.learn(tasks).await?;
    Ok(begun.elapsed().as_secs_f64())
}
