//! That a run is a machine, on the real model: resumed, replayed and answered in shuffled orders, it ends in the same
//! library.

use std::sync::Arc;

use futures::executor::block_on;
use journeyman::{
    Result, RunId, Seed,
    builtin::{MemoryJournal, MemoryStore},
    contract::Journal,
    library::SkillLibrary,
    recipe,
    run::{Performer, RunMachine, RunPlan, replay},
    select::Mode,
};
use quickstart::{Choice, Parts, Split, Tasks, selector};

use super::library;
use crate::figures::{Bound, Figures, Outcome};

/// The stream that is learned from again and again.
const SPLIT: Split = Split {
    stream: 6,
    held_out: 1,
};

/// In how many shuffled orders needs are answered.
const ORDERS: u64 = 3;

pub(super) fn run(figures: &mut Figures<'_>, parts: &Parts) -> Outcome {
    let seed = figures.options().seed;
    let tasks = Tasks::of(seed, SPLIT)?;
    figures.progress(format_args!("one run, whole"));
    let (whole, replayed, skills) = block_on(whole(parts, seed, &tasks))?;
    figures.record(
        "replay gives the same bytes",
        same(&whole, &replayed),
        Bound::AtLeast(1.0),
    );
    figures.record(
        "skills that the run learned",
        skills as f64,
        Bound::AtLeast(1.0),
    );
    figures.progress(format_args!("saved and resumed"));
    let resumed = block_on(shuffled(parts, seed, &tasks, Seed(0), true))?;
    figures.record(
        "saved and resumed at every answer, same bytes",
        same(&whole, &resumed),
        Bound::AtLeast(1.0),
    );
    let mut equal = 0.0;
    for order in 1..=ORDERS {
        figures.progress(format_args!("shuffled order {order} of {ORDERS}"));
        let other = block_on(shuffled(parts, seed, &tasks, Seed(order), false))?;
        equal += same(&whole, &other);
    }
    figures.record(
        "shuffled orders, share with the same bytes",
        equal / ORDERS as f64,
        Bound::AtLeast(1.0),
    );
    Ok(())
}

fn same(one: &str, other: &str) -> f64 {
    f64::from(u8::from(one == other))
}

fn recipe() -> recipe::Recipe {
    let mut recipe = recipe::standard();
    recipe.selector = selector(Choice::Pmi, true);
    recipe
}

/// The library of an uninterrupted run and of its replay, and how many skills the run learned.
async fn whole(parts: &Parts, seed: Seed, tasks: &Tasks) -> Result<(String, String, usize)> {
    let journal = Arc::new(MemoryJournal::new());
    let store = Arc::new(MemoryStore::new());
    let journeyman = parts
        .open(recipe(), "whole", seed, store, Some(journal.clone()))
        .await?;
    let report = journeyman.learn(tasks.stream.clone()).await?;
    let machine = replay(&journal.read(&report.run).await?)?;
    let library = journeyman.library().await?;
    Ok((
        library.to_json()?,
        machine.library().to_json()?,
        library.entries().count(),
    ))
}

/// The library of a run whose needs are answered one at a time in a shuffled order, and which is perhaps saved and
/// resumed before each.
async fn shuffled(
    parts: &Parts,
    seed: Seed,
    tasks: &Tasks,
    order: Seed,
    save: bool,
) -> Result<String> {
    let store = library::store(&[]).await?;
    let backends = parts.backends(store, None)?;
    let performer = Performer::new(Arc::new(backends), recipe().limits);
    let mut machine = RunMachine::new(RunPlan {
        run: RunId::new("whole/learn-0"),
        seed,
        recipe: recipe(),
        mode: Mode::Train,
        tasks: tasks.stream.clone(),
        library: SkillLibrary::new(),
        width: 1,
    })?;
    let mut round = 0;
    while !machine.is_finished() {
        if save {
            machine = RunMachine::resume(&machine.save()?)?;
        }
        let mut needs = machine.needs();
        let pick = order.derive("pick", round).index(needs.len()).unwrap_or(0);
        let (id, need) = needs.swap_remove(pick);
        let answer = performer.perform(need).await?;
        machine.answer(id, answer)?;
        round += 1;
    }
    machine.library().to_json()
}
