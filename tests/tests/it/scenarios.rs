//! The main job on the bundled model, through llama.cpp.

use std::sync::Arc;

use futures::executor::block_on;
use journeyman::{
    Result, Seed,
    agent::{MemoryJournal, MemoryStore},
    contract::Journal,
    recipe::{self, Recipe},
    run::{replay, report::RunReport},
};
use journeyman_tests::source::bundled_model;
use quickstart::{Choice, Parts, Split, Summaries, Tasks, standard};

fn parts() -> Parts {
    Parts::deterministic(&bundled_model(), 8).expect("the bundled model")
}

fn tasks(seed: u64) -> Tasks {
    let split = Split {
        stream: 24,
        held_out: 24,
    };
    let tasks = Tasks::of(Seed(seed), split);
    tasks.expect("tasks")
}

async fn before_and_after(parts: &Parts, recipe: Recipe, seed: u64) -> Result<[RunReport; 3]> {
    let tasks = tasks(seed);
    let store = Arc::new(MemoryStore::new());
    let journeyman = parts
        .open(recipe, "scenario", Seed(seed), store, None)
        .await?;
    let before = journeyman.evaluate(tasks.held_out.clone()).await?;
    let stream = journeyman.learn(tasks.stream).await?;
    let after = journeyman.evaluate(tasks.held_out).await?;
    Ok([before, stream, after])
}

#[test]
fn an_agent_learns_hidden_contracts_and_forgets_no_plain_task() {
    let [before, stream, after] =
        block_on(before_and_after(&parts(), standard(Choice::Pmi, true), 5)).expect("it runs");
    let (before, after) = (Summaries::of(&before), Summaries::of(&after));
    assert!(before.hidden.n >= 8 && before.plain.n >= 4, "{before:?}");
    assert!(before.hidden.first_attempt_success <= 0.1, "{before:?}");
    assert!(
        after.hidden.first_attempt_success >= before.hidden.first_attempt_success + 0.3,
        "{before:?} {after:?}"
    );
    assert!(
        after.plain.first_attempt_success >= before.plain.first_attempt_success - 0.03,
        "{before:?} {after:?}"
    );
    assert!(after.hidden.steps < before.hidden.steps);
    let written = stream.tasks.iter().flat_map(|task| &task.written);
    let (fallback, model): (Vec<_>, Vec<_>) = written.partition(|written| written.fallback);
    assert!(!model.is_empty());
    assert!(fallback.len() * 100 < 15 * (fallback.len() + model.len()).max(1));
}

#[test]
fn the_papers_recipe_runs_on_the_same_parts() {
    let mut arise = recipe::arise();
    arise.batch = std::num::NonZeroU64::MIN;
    arise.attempts.warm_up = 12;
    let [_, stream, after] = block_on(before_and_after(&parts(), arise, 6)).expect("it runs");
    assert!(
        stream.tasks[..12]
            .iter()
            .all(|task| task.attempts.len() == 8)
    );
    assert!(
        stream.tasks[..12]
            .iter()
            .all(|task| task.selections[0].skill().is_none())
    );
    assert!(Summaries::of(&after).all.skill_use > 0.0);
}

#[test]
fn a_run_on_the_real_model_replays_to_the_same_bytes() {
    let parts = parts();
    let journal = Arc::new(MemoryJournal::new());
    let (library, replayed) = block_on(async {
        let store = Arc::new(MemoryStore::new());
        let journeyman = parts
            .open(
                standard(Choice::Pmi, true),
                "replay",
                Seed(8),
                store,
                Some(journal.clone()),
            )
            .await?;
        let report = journeyman.learn(tasks(8).stream[..6].to_vec()).await?;
        let replayed = replay(
            &journal.read(&report.run).await?,
            &journeyman::policy::Policies::new(),
        )?;
        Ok::<_, journeyman::Error>((journeyman.library().await?, replayed))
    })
    .expect("it runs");
    assert_eq!(
        library.to_json().expect("JSON"),
        replayed.library().to_json().expect("JSON")
    );
}
