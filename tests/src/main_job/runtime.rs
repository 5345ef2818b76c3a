//! That a run is a machine, on the real model: resumed, replayed and answered in shuffled orders, it ends in the same
//! library.

use std::sync::Arc;

use futures::executor::block_on;
use journeyman::testing::Edited as _;
use journeyman::{
    Result, Seed,
    agent::{MemoryJournal, MemoryStore},
    contract::Journal,
    recipe::Recipe,
    run::{Performer, RunMachine, RunPlan, replay, report::RunReport},
};
use quickstart::{Choice, Parts, Split, Tasks, standard};

use super::library;
use crate::figures::{Bound, Figures, Outcome};

/// The stream that is learned from again and again.
const SPLIT: Split = Split {
    stream: 6,
    held_out: 1,
};

/// In how many shuffled orders effects are answered.
const ORDERS: u64 = 3;

pub(super) fn run(figures: &mut Figures<'_>, parts: &Parts) -> Outcome {
    let seed = figures.options().seed;
    let tasks = Tasks::of(seed, SPLIT)?;
    figures.progress(format_args!("one run, whole"));
    let Whole {
        library: whole,
        replayed,
        skills,
        report,
    } = block_on(whole(parts, seed, &tasks))?;
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
    let resumed = block_on(shuffled(parts, &report, &tasks, Seed(0), true))?;
    figures.record(
        "saved and resumed at every answer, same bytes",
        same(&whole, &resumed),
        Bound::AtLeast(1.0),
    );
    let mut equal = 0.0;
    for order in 1..=ORDERS {
        figures.progress(format_args!("shuffled order {order} of {ORDERS}"));
        let other = block_on(shuffled(parts, &report, &tasks, Seed(order), false))?;
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

fn recipe() -> Recipe {
    standard(Choice::Pmi, true)
}

/// An uninterrupted run: its library, that of its replay, how many skills it learned, and its report.
struct Whole {
    library: String,
    replayed: String,
    skills: usize,
    report: RunReport,
}

async fn whole(parts: &Parts, seed: Seed, tasks: &Tasks) -> Result<Whole> {
    let journal = Arc::new(MemoryJournal::new());
    let store = Arc::new(MemoryStore::new());
    let journeyman = parts
        .open(recipe(), "whole", seed, store, Some(journal.clone()))
        .await?;
    let report = journeyman.learn(tasks.stream.clone()).await?;
    let machine = replay(
        &journal.read(&report.run).await?,
        &journeyman::policy::Policies::new(),
    )?;
    let library = journeyman.library().await?;
    Ok(Whole {
        library: library.to_json()?,
        replayed: machine.library().to_json()?,
        skills: library.entries().count(),
        report,
    })
}

/// The library of the same run, but its effects are answered one at a time in a shuffled order, and it is perhaps saved and resumed
/// before each.
async fn shuffled(
    parts: &Parts,
    whole: &RunReport,
    tasks: &Tasks,
    order: Seed,
    save: bool,
) -> Result<String> {
    let store = library::store(&[]).await?;
    let components = parts.components(store, None)?;
    let performer = Performer::new(Arc::new(components), recipe().limits);
    let tasks = tasks.stream.clone();
    let plan =
        RunPlan::new(whole.run.clone(), whole.seed, recipe(), tasks).edited(|it| it.replays = true);
    let mut machine = RunMachine::new(plan)?;
    let mut round = 0;
    while !machine.is_finished() {
        if save {
            machine = RunMachine::resume(&machine.save()?, &journeyman::policy::Policies::new())?;
        }
        let mut effects = machine.effects();
        let pick = order
            .derive("pick", round)
            .index(effects.len())
            .unwrap_or(0);
        let (id, effect) = effects.swap_remove(pick);
        let answer = performer.perform(effect).await?;
        machine.answer(id, answer)?;
        round += 1;
    }
    machine.library().to_json()
}
