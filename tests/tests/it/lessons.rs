//! Lessons on real inference: of other tasks of the same contract, the share that the bundled model does at the first attempt with
//! what it learns from failed attempts.

use std::{
    num::{NonZeroU32, NonZeroU64, NonZeroUsize},
    sync::Arc,
};

use futures::executor::block_on;
use journeyman::{
    Result, Seed,
    agent::{MemoryJournal, MemoryStore},
    contract::{Journal, JournalEntry},
    domain::{Skill, Task},
    papers::skillrl::{BankPolicy, BankSelector, Compression, Failure},
    recipe::{self, Recipe},
    run::{Journeyman, recorded_attempts, report::RunReport},
    stations::select::Nothing,
};
use journeyman_interchange::demonstrations;
use journeyman_tests::source::bundled_model;
use journeyman_toolworld::{
    environment::Setup,
    form::ContractForm,
    seed::Draws,
    tool::wire_name,
    world::{World, WorldSpec},
};
use quickstart::{Parts, Summaries, spoken};

/// Number of contracts.
const CONTRACTS: u64 = 16;

/// A share of other tasks of the same contracts that are done at the first attempt.
#[derive(Clone, Copy)]
struct Share {
    /// The bound, which was set with 60 contracts. A share below it is printed as short (`docs/results/general.md`) and fails no test.
    bound: f64,
    /// The share that was measured last with these contracts. One that is lower by more than [`MARGIN`] fails the test.
    measured: f64,
}

/// What lessons of recovered attempts bring. Of two lessons on one tool `distil-bank` keeps one, so the bound is missed.
const OF_RECOVERED: Share = Share {
    bound: 0.967 - BOUND_MARGIN,
    measured: 0.812,
};
/// What lessons of failed attempts bring.
const OF_FAILED: Share = Share {
    bound: 0.983 - BOUND_MARGIN,
    measured: 0.938,
};
/// What a first bank of patterns and lessons brings. It misses the bound as lessons of recovered attempts do.
const OF_BANK: Share = Share {
    bound: 1.0 - BOUND_MARGIN,
    measured: 0.812,
};
/// What a bound leaves to chance: two standard errors of a share of 0.97 of 60 contracts.
const BOUND_MARGIN: f64 = 0.045;
/// What a share may lose against the measured one, on a machine that rounds otherwise: one contract.
const MARGIN: f64 = 0.065;

/// How the tasks are grouped.
#[derive(Clone, Copy, Debug)]
enum By {
    Tool,
    Verb,
}

fn task(id: &str, world: &World, (seed, by): (u64, By)) -> Result<Task> {
    let target = &world.goal.target;
    let category = match by {
        By::Tool => target.to_string(),
        By::Verb => target.verb.clone(),
    };
    let task = Task::new(id, world.query.as_str()).with_category(category);
    let task = task.with_payload(Setup::new(world.clone()).to_json()?);
    spoken::task(task, Seed(seed))
}

/// Two tasks of each contract, in worlds with other words, values and tools; of the verbs and nouns that no training text
/// combines.
fn contracts(seed: u64, by: By, single: bool) -> Result<(Vec<Task>, Vec<Task>)> {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for number in 0..CONTRACTS {
        let mut draws = Draws::new("lessons", &[seed, number]);
        let spec = WorldSpec::wide(&mut draws);
        let mut form = ContractForm::draw_hidden(&mut draws);
        while single
            && !matches!(
                form,
                ContractForm::Before | ContractForm::Exact | ContractForm::Carried
            )
        {
            form = ContractForm::draw_hidden(&mut draws);
        }
        let world = World::with_form(&spec, form, &mut draws);
        let again = world.again(&spec, &mut draws).expect("it has a target");
        first.push(task(&format!("first-{number}"), &world, (seed, by))?);
        second.push(task(&format!("second-{number}"), &again, (seed, by))?);
    }
    Ok((first, second))
}

/// SkillRL with lessons alone: one greedy attempt a task, every failure after one round of all tasks.
fn lessons_alone(failure: Failure) -> Recipe {
    let mut recipe = recipe::skillrl();
    recipe.attempts.group = NonZeroU32::MIN;
    recipe.attempts.temperature = 0.0;
    let round = const { NonZeroU64::new(CONTRACTS).expect("not 0") };
    recipe.maintenance.edit(|bank: &mut BankPolicy| {
        *bank = BankPolicy::default();
        bank.round = round;
        bank.first = false;
        bank.success = 1.0;
        bank.failures = NonZeroU32::MAX;
        bank.failure = failure;
    });
    // The bundled model tells two skills apart.
    let mut bank = BankSelector::default();
    bank.limit = NonZeroUsize::new(2).expect("not 0");
    recipe.select.selector = bank.into();
    recipe
}

fn parts(steps: usize) -> Parts {
    Parts::deterministic(&bundled_model(), steps).expect("the bundled model")
}

async fn open(parts: &Parts, recipe: Recipe, store: &Arc<MemoryStore>) -> Journeyman {
    open_with(parts, recipe, store, &Arc::new(MemoryJournal::new())).await
}

async fn open_with(
    parts: &Parts,
    recipe: Recipe,
    store: &Arc<MemoryStore>,
    journal: &Arc<MemoryJournal>,
) -> Journeyman {
    let journal = journal.clone();
    let opened = parts.open(recipe, "lessons", Seed(7), store.clone(), Some(journal));
    opened.await.expect("it opens")
}

/// The share of tasks that were done with no call refused and none in vain.
fn at_first(report: &RunReport) -> f64 {
    Summaries::of(report).all.first_attempt_success
}

/// What came of learning from one task of each contract, and then doing the other tasks.
struct Measured {
    /// Contracts whose tool a skill names.
    named: usize,
    without: f64,
    with: f64,
}

/// Learns from one task of each contract within so many steps, then does the other tasks without skills and with them.
fn measure((seed, by): (u64, By), recipe: Recipe, steps: usize) -> Measured {
    let policy: BankPolicy = recipe.maintenance.get().expect("it has a bank");
    let single = policy.failure == Failure::Verdict;
    let (first, second) = contracts(seed, by, single).expect("worlds");
    let store = Arc::new(MemoryStore::new());
    block_on(async {
        let learning = parts(steps);
        let journeyman = open(&learning, recipe.clone(), &store).await;
        journeyman.learn(first.clone()).await.expect("it learns");
        let library = journeyman.library().await.expect("a library");
        let skills: Vec<_> = library.entries().map(|entry| &entry.skill).collect();
        let tokenizer = learning.model.as_ref();
        let compression = Compression::of_skills(tokenizer, &skills, library.traces());
        println!(
            "{} skills, their attempts {:?} times as long",
            skills.len(),
            compression.ratio()
        );

        let parts = parts(8);
        let mut none = recipe.clone();
        none.select.selector = Nothing.into();
        let without = open(&parts, none, &store)
            .await
            .evaluate(second.clone())
            .await;
        let journal = Arc::new(MemoryJournal::new());
        let with = open_with(&parts, recipe, &store, &journal)
            .await
            .evaluate(second)
            .await;
        let with = with.expect("it evaluates");
        shows_how_skills_are_used(&with, &journal.read(&with.run).await.expect("it reads"));
        Measured {
            named: named(&first, &skills),
            without: at_first(&without.expect("it evaluates")),
            with: at_first(&with),
        }
    })
}

/// How many of these tasks are about a tool that a skill names.
fn named(tasks: &[Task], skills: &[&Skill]) -> usize {
    let tool = |task: &Task| wire_name(&Setup::of(task).expect("a world").world.goal.target);
    let is_named = |tool: &String| skills.iter().any(|skill| skill.body.contains(tool));
    tasks.iter().map(tool).filter(is_named).count()
}

/// Each success with a skill is a demonstration, in the model's own words, and is read back as it was written.
fn shows_how_skills_are_used(report: &RunReport, journal: &[JournalEntry]) {
    let attempts = recorded_attempts(journal).expect("its attempts");
    let shown = demonstrations::of_attempts(&attempts).demonstrations;
    let done = report
        .attempts()
        .filter(|one| one.success == Some(true) && !one.injected.is_empty());
    assert_eq!(shown.len(), done.count());
    let lines = demonstrations::write(&shown).expect("they are written");
    assert_eq!(demonstrations::read(&lines).expect("they are read"), shown);
    // An answer begins with the skill that it follows.
    assert!(lines.contains("Skill: "), "{lines}");
}

/// Checks what came of a bank: a skill of each contract, no task that is done at the first attempt without skills, and at least the
/// measured share of them with skills, less one contract. Says whether the bound holds.
fn check(what: &str, measured: &Measured, share: Share) {
    let Measured {
        named,
        without,
        with,
    } = *measured;
    let held = if with >= share.bound { "ok" } else { "short" };
    println!("{what}: at the first attempt {without:.3} without skills, {with:.3} with them");
    println!("{what}: bound {:.3}, {held}", share.bound);
    assert_eq!(
        (named as u64, without),
        (CONTRACTS, 0.0),
        "{what}: a skill names each contract's tool"
    );
    assert!(with >= share.measured - MARGIN, "{what}: {with}");
}

#[test]
fn lessons_of_recovered_attempts_do_three_of_four_other_tasks_at_once() {
    let measured = measure((11, By::Tool), lessons_alone(Failure::Refusal), 8);
    check("lessons, by tool", &measured, OF_RECOVERED);
}

#[test]
fn lessons_of_recovered_attempts_by_verb_do_three_of_four_other_tasks_at_once() {
    let measured = measure((11, By::Verb), lessons_alone(Failure::Refusal), 8);
    check("lessons, by verb", &measured, OF_RECOVERED);
}

#[test]
fn lessons_of_failed_attempts_do_seven_of_eight_other_tasks_at_once() {
    // Within one step an attempt fails at its first refusal.
    let measured = measure((12, By::Tool), lessons_alone(Failure::Verdict), 1);
    check("lessons of failed attempts", &measured, OF_FAILED);
}

#[test]
fn a_first_bank_of_patterns_and_lessons_does_three_of_four_other_tasks_at_once() {
    let mut recipe = lessons_alone(Failure::Refusal);
    let maintenance = &mut recipe.maintenance;
    maintenance.edit(|bank: &mut BankPolicy| bank.first = true);
    let measured = measure((13, By::Tool), recipe, 8);
    check("a first bank", &measured, OF_BANK);
}
