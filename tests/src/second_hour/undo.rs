//! A bad day that is undone: what is learned again, and what a person took away and must not return.

use std::{collections::BTreeSet, sync::Arc};

use futures::executor::block_on;
use journeyman::testing::Edited as _;
use journeyman::{
    RunId, Seed,
    agent::MemoryStore,
    contract::{Components, SkillStore},
    domain::{Cause, Commit, CommitKey, LibraryChange, State},
    library::{RunFilter, SkillLibrary},
};
use shop::desk::tasks;

use super::{Failure, open, other_words, parts};
use crate::figures::{Bound, Figures, Outcome};

pub(super) fn record(figures: &mut Figures<'_>) -> Outcome {
    let seed = figures.options().seed;
    let (learned, again, back) = block_on(undone(seed))?;
    figures.record(
        "undo: skills that were learned before it",
        learned as f64,
        Bound::AtLeast(6.0),
    );
    figures.record(
        "undo: of these learned again from the same tasks, %",
        100.0 * again as f64 / learned as f64,
        Bound::AtLeast(100.0),
    );
    figures.record(
        "undo: of these back, where the undone run had disabled all, %",
        100.0 * back as f64 / learned as f64,
        Bound::AtLeast(100.0),
    );
    let (away, returned) = block_on(taken_away(seed))?;
    figures.record(
        "taken away by a person: skills",
        away as f64,
        Bound::AtLeast(6.0),
    );
    figures.record(
        "taken away by a person: returned under another name, in other words",
        returned as f64,
        Bound::AtMost(0.0),
    );
    Ok(())
}

/// The names of the skills in use.
fn in_use(library: &SkillLibrary) -> BTreeSet<String> {
    let offered = library
        .entries()
        .filter(|entry| entry.skill.state.is_offered());
    offered.map(|entry| entry.skill.name.to_string()).collect()
}

/// How many skills a day brought, how many of them the day after it was undone, and how many came back after another session
/// had disabled all and was undone.
async fn undone(seed: Seed) -> Result<(usize, usize, usize), Failure> {
    let store = Arc::new(MemoryStore::new());
    let parts = parts()?.with_store(store.clone());
    let day = open(&parts, "day", seed).await?;
    day.learn(tasks(seed, 90, false)).await?;
    let learned = in_use(&day.library().await?);
    day.retire(&RunFilter::of_session("day"), "a bad day")
        .await?;
    if !in_use(&day.library().await?).is_empty() {
        return Err("the undone day's skills are in use".into());
    }
    let next = open(&parts, "next day", seed).await?;
    next.learn(tasks(seed, 90, false)).await?;
    let library = next.library().await?;
    let again = in_use(&library).intersection(&learned).count();
    // A judge's mistakes take everything out of use.
    let disables = library.entries().map(|entry| LibraryChange::SetState {
        skill: entry.skill.id.clone(),
        state: State::Disabled,
        reason: "it was no use".to_owned(),
    });
    let commit = Commit::new(
        library.revision(),
        CommitKey::new("a broken judge"),
        Cause::new("a broken judge").edited(|it| it.run = Some(RunId::new("broken/begin-0"))),
        disables.collect(),
    );
    store.commit(&commit).await?;
    next.retire(&RunFilter::of_session("broken"), "the judge was broken")
        .await?;
    let back = in_use(&next.library().await?)
        .intersection(&learned)
        .count();
    Ok((learned.len(), again, back))
}

/// How many skills a person took out of use, and how many with the same calls are in use after the same was learned again.
async fn taken_away(seed: Seed) -> Result<(usize, usize), Failure> {
    let parts: Components = parts()?.with_store(Arc::new(MemoryStore::new()));
    let first = open(&parts, "first", seed).await?;
    first.learn(tasks(seed, 90, false)).await?;
    let library = first.library().await?;
    let states = [State::Quarantined, State::Disabled, State::Archived];
    let mut away = Vec::new();
    for (entry, state) in library.entries().zip(states.iter().cycle()) {
        first.set_state(&entry.skill.id, *state, "no").await?;
        away.push(entry.skill.id.clone());
    }
    let parts = parts.with_model(other_words(false));
    let again = open(&parts, "again", seed).await?;
    again.learn(tasks(seed, 90, false)).await?;
    let library = again.library().await?;
    let returned = in_use(&library).len();
    Ok((away.len(), returned))
}
