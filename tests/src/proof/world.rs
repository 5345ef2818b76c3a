//! The ledger and release by proof on real inference: services with hidden contracts, a skill for each, half of them poisoned.

use std::{collections::BTreeMap, num::NonZeroU64};

use futures::executor::block_on;
use journeyman::{
    Result, Seed,
    domain::{Skill, State, Task, Withhold},
    recipe::ScheduledProgram,
    stations::{
        credit::{Attribute, ByContribution, CreditPolicy},
        proof::{LiftOf, LiftPolicy, LiftVerdict, ProvenRelease},
    },
};
use journeyman_toolworld::stream::{Universe, UniverseSpec};
use quickstart::{Parts, spoken};
use serde::{Deserialize, Serialize};

use super::services::{STEPS, admitted, evaluated, id, opened, taking_the_best};
use crate::figures::{
    Bound, Figures, Outcome, key,
    stats::{self, Interval},
};

/// Services with a hidden contract, and without one.
const HIDDEN: usize = 12;
const PLAIN: usize = 6;
/// Tasks of the stream with the ledger, of the one with proof, and those that say the truth.
const LEDGER: usize = 720;
const PROOF: usize = 180;
const TRUTH: usize = 270;
/// Tasks of each stream whose attempts credit the skills in another way.
const CREDITED: usize = 180;
/// The share that goes without.
const SHARE: f64 = 0.2;
/// A skill with at least this difference helps.
const HELPS: f64 = 0.5;
/// Resamples of the skills behind an interval.
const RESAMPLES: usize = 4_000;

/// A skill, and what came of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Known {
    poisoned: bool,
    /// The difference that it makes: tasks of its service that are done at once, with it less without any.
    truth: f64,
    /// What the ledger says.
    lift: Option<f64>,
    helps: bool,
    harms: bool,
    /// Its utility after the same attempts, by the recipe's own credit.
    utility: f64,
    /// Its utility where attempts are made again without it; and, of what the model judged of its effect, the helpful ones less the
    /// harmful ones, as a share of all.
    contribution: f64,
    judged: f64,
    /// Whether it was released by proof.
    released: bool,
}

/// What came of a seed.
#[derive(Debug, Serialize, Deserialize)]
struct Came {
    skills: Vec<Known>,
    /// Held-out tasks that are done at once: with no skill, with all skills, and with those that proof released, %.
    none: f64,
    all: f64,
    proven: f64,
    /// Attempts that proof made for each released skill.
    attempts: f64,
}

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    let parts = figures.parts(STEPS)?;
    let seed = figures.options().seed;
    let key = key(&parts, "ledger, proof and credit");
    let came: Came = figures.once(&key, || Ok(measure(&parts, seed)?))?;
    correlations(figures, &came.skills)?;
    let rows = shares(&came).into_iter().chain(held_out(&came));
    for (name, value, bound) in rows {
        figures.record(name, value, bound);
    }
    Ok(())
}

type Row = (&'static str, f64, Bound);

/// What the ledger and proof say of the skills.
fn shares(came: &Came) -> Vec<Row> {
    let helps = |one: &Known| one.truth >= HELPS;
    let no_help = |one: &Known| one.truth <= 0.0;
    let skills = &came.skills;
    let share = |of: &dyn Fn(&Known) -> bool, is: fn(&Known) -> bool| {
        let all = skills.iter().filter(|one| of(one));
        let count = all.clone().count();
        // Of none nothing is known: that is no number, which reaches no bound.
        100.0 * all.filter(|one| is(one)).count() as f64 / count as f64
    };
    let helpful = skills.iter().filter(|one| helps(one)).count() as f64;
    vec![
        ("skills that help, by the truth", helpful, Bound::None),
        (
            "ledger: of those that help, said to, %",
            share(&helps, |one| one.helps),
            Bound::AtLeast(80.0),
        ),
        (
            "ledger: of those that do not help, said to, %",
            share(&no_help, |one| one.helps),
            Bound::AtMost(5.0),
        ),
        (
            "ledger: of those that help, said to harm, %",
            share(&helps, |one| one.harms),
            Bound::AtMost(0.0),
        ),
        (
            "proof: of those that help, released, %",
            share(&helps, |one| one.released),
            Bound::AtLeast(80.0),
        ),
        (
            "proof: of those that do not help, released, %",
            share(&no_help, |one| one.released),
            Bound::AtMost(5.0),
        ),
        (
            "proof: attempts for each released skill",
            came.attempts,
            Bound::None,
        ),
    ]
}

/// What the skills do on held-out tasks.
fn held_out(came: &Came) -> Vec<Row> {
    vec![
        ("done at once with no skill, %", came.none, Bound::None),
        (
            "done at once with all skills, half poisoned, %",
            came.all,
            Bound::None,
        ),
        (
            "done at once with the proven ones, %",
            came.proven,
            Bound::None,
        ),
        (
            "done at once: proven ones less all, points",
            came.proven - came.all,
            Bound::AtLeast(0.0),
        ),
    ]
}

/// What orders the skills.
type Order = (&'static str, fn(&Known) -> f64, Bound);

const ORDERS: [Order; 4] = [
    (
        "ledger: rank correlation of the lifts with the truth",
        |one| one.lift.unwrap_or(0.0),
        Bound::AtLeast(0.7),
    ),
    (
        "ledger: rank correlation of utilities with the truth",
        |one| one.utility,
        Bound::None,
    ),
    (
        "credit by contribution: rank correlation of utilities with the truth",
        |one| one.contribution,
        Bound::AtLeast(0.7),
    ),
    (
        "credit by a judge of skills: rank correlation with the truth",
        |one| one.judged,
        Bound::None,
    ),
];

fn correlations(figures: &mut Figures<'_>, skills: &[Known]) -> Outcome {
    let seed = figures.options().seed.derive("skills", 0);
    let truth: Vec<f64> = skills.iter().map(|one| one.truth).collect();
    for (name, value, bound) in ORDERS {
        let values: Vec<f64> = skills.iter().map(value).collect();
        figures.record(name, spearman(&values, &truth), bound);
        let Interval { low, high, .. } = over_skills(&values, &truth, seed)?;
        figures.record(&format!("{name}.low"), low, Bound::None);
        figures.record(&format!("{name}.high"), high, Bound::None);
    }
    Ok(())
}

fn measure(parts: &Parts, seed: Seed) -> Result<Came> {
    block_on(measured(parts, seed))
}

async fn measured(parts: &Parts, seed: Seed) -> Result<Came> {
    let seed = seed.derive("proof", 0);
    let tasks = Worlds::of(seed)?;
    let library = skills(&tasks.universe)?;
    let mut known: Vec<Known> = (0..library.len())
        .map(|index| Known {
            poisoned: is_poisoned(index),
            ..Known::default()
        })
        .collect();
    let none = truth(parts, seed, &tasks, (&library, &mut known)).await?;
    ledger(parts, seed, &tasks, (&library, &mut known)).await?;
    let pairs = proof(parts, seed, &tasks, (&library, &mut known)).await?;
    credit(parts, seed, &tasks, (&library, &mut known)).await?;
    let released = library.iter().zip(&known).filter(|(_, one)| one.released);
    let released: Vec<Skill> = released.map(|(skill, _)| skill.clone()).collect();
    let percent = |done: &[f64]| 100.0 * stats::mean(done);
    Ok(Came {
        none: percent(&none),
        attempts: 2.0 * pairs as f64 / released.len().max(1) as f64,
        all: percent(&evaluated(parts, seed, library, &tasks.held_out).await?),
        proven: percent(&evaluated(parts, seed, released, &tasks.held_out).await?),
        skills: known,
    })
}

/// The tasks of a seed.
struct Worlds {
    universe: Universe,
    stream: Vec<Task>,
    held_out: Vec<Task>,
    /// The service that each held-out task is about.
    about: Vec<usize>,
}

impl Worlds {
    fn of(seed: Seed) -> Result<Self> {
        let universe = Universe::make(UniverseSpec::of(HIDDEN, PLAIN), seed.0)?;
        let stream = universe.stream(LEDGER);
        let held_out = universe.held_out(&stream, TRUTH);
        let members = universe.members().iter().enumerate();
        let services: BTreeMap<String, usize> = members
            .map(|(index, member)| (member.service.tool.name.to_string(), index))
            .collect();
        let about = held_out
            .iter()
            .map(|task| task.world.goal.target.to_string());
        let about = about.filter_map(|service| services.get(&service).copied());
        Ok(Self {
            about: about.collect(),
            stream: spoken::tasks(&stream, seed)?,
            held_out: spoken::tasks(&held_out, seed)?,
            universe,
        })
    }
}

type Skills<'a> = (&'a [Skill], &'a mut [Known]);

/// Each service's held-out tasks with its skill in the prompt; and all of them with none, which it returns.
async fn truth(
    parts: &Parts,
    seed: Seed,
    tasks: &Worlds,
    (library, known): Skills<'_>,
) -> Result<Vec<f64>> {
    let without = evaluated(parts, seed, Vec::new(), &tasks.held_out).await?;
    for (index, (skill, one)) in library.iter().zip(known).enumerate() {
        let is_own = |(of, _): &(&usize, &Task)| **of == index;
        let own = tasks.about.iter().zip(&tasks.held_out).filter(is_own);
        let own: Vec<Task> = own.map(|(_, task)| task.clone()).collect();
        let with = evaluated(parts, seed, vec![skill.clone()], &own).await?;
        let done = tasks.about.iter().zip(&without);
        let done: Vec<f64> = (done.filter(|(of, _)| **of == index))
            .map(|(_, done)| *done)
            .collect();
        one.truth = stats::mean(&with) - stats::mean(&done);
    }
    Ok(without)
}

async fn ledger(
    parts: &Parts,
    seed: Seed,
    tasks: &Worlds,
    (library, known): Skills<'_>,
) -> Result<()> {
    let mut recipe = taking_the_best();
    recipe.select.withhold = Some(Withhold::new(SHARE));
    let session = opened(parts, recipe, seed, library.to_vec()).await?;
    session.learn(tasks.stream.clone()).await?;
    let learned = session.library().await?;
    let lifts = session.lift(LiftPolicy::default())?;
    for (index, one) in known.iter_mut().enumerate() {
        let id = id(index);
        one.utility = learned.get(&id).map_or(0.0, |entry| entry.utility);
        let lift = lifts.lifts.iter().find(|lift| {
            let is_it = matches!(&lift.of, LiftOf::Skill(skill) if skill.id == id);
            is_it && lift.category.is_none()
        });
        one.lift = lift.and_then(|lift| lift.success.estimate());
        one.helps = lift.is_some_and(|lift| lift.verdict == Some(LiftVerdict::Helps));
        one.harms = lift.is_some_and(|lift| lift.verdict == Some(LiftVerdict::Harms));
    }
    Ok(())
}

/// The skills' credit in other ways, after the first tasks of the stream.
async fn credit(
    parts: &Parts,
    seed: Seed,
    tasks: &Worlds,
    (library, known): Skills<'_>,
) -> Result<()> {
    let credited = async |credit: CreditPolicy| {
        let mut recipe = taking_the_best();
        recipe.credit = credit;
        let session = opened(parts, recipe, seed, library.to_vec()).await?;
        let stream = tasks.stream.iter().take(CREDITED).cloned();
        session.learn(stream.collect()).await?;
        session.library().await
    };
    let mut contributed = CreditPolicy::default();
    contributed.by = ByContribution::default().into();
    let by_contribution = credited(contributed).await?;
    let mut judged = CreditPolicy::default();
    judged.attribute = Attribute::Always;
    let by_judge = credited(judged).await?;
    for (index, one) in known.iter_mut().enumerate() {
        let id = id(index);
        one.contribution = by_contribution.get(&id).map_or(0.0, |entry| entry.utility);
        one.judged = by_judge.get(&id).map_or(0.0, |entry| {
            let counts = entry.life.counts(entry.skill.version);
            let less = f64::from(counts.helpful) - f64::from(counts.harmful);
            less / f64::from(counts.total().max(1))
        });
    }
    Ok(())
}

/// All skills begin on trial, and proof releases them. Returns the number of pairs.
async fn proof(
    parts: &Parts,
    seed: Seed,
    tasks: &Worlds,
    (library, known): Skills<'_>,
) -> Result<usize> {
    let mut recipe = taking_the_best();
    recipe.tiers.traces = PROOF;
    let every = const { NonZeroU64::new(60).expect("not 0") };
    recipe.maintenance.programs = vec![ScheduledProgram::new(every, ProvenRelease::default())];
    let on_trial = library
        .iter()
        .cloned()
        .map(|skill| skill.with_state(State::Trial));
    let session = opened(parts, recipe, seed, on_trial.collect()).await?;
    let stream = tasks.stream.iter().take(PROOF).cloned();
    session.learn(stream.collect()).await?;
    let proven = session.library().await?;
    let mut pairs = 0;
    for (index, one) in known.iter_mut().enumerate() {
        if let Some(entry) = proven.get(&id(index)) {
            one.released = entry.skill.state == State::Active;
            pairs += entry.life.pairs(entry.skill.version).count();
        }
    }
    Ok(pairs)
}

/// Every second skill says what another service calls for, under the name of its own.
fn is_poisoned(index: usize) -> bool {
    index % 2 == 1
}

fn skills(universe: &Universe) -> Result<Vec<Skill>> {
    let members = universe.members();
    let drafts: Vec<_> = members.iter().map(spoken::draft).collect();
    let skill = |index: usize| {
        let mut draft = drafts[index].clone();
        if is_poisoned(index) {
            // The other's body: a hidden contract's, for plain services too.
            draft.body.clone_from(&drafts[(index + 2) % HIDDEN].body);
        }
        admitted(&draft, id(index))
    };
    (0..members.len()).map(skill).collect()
}

/// Spearman's rank correlation, with mean ranks for ties.
fn spearman(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (ranks(a), ranks(b));
    let (ma, mb) = (stats::mean(&a), stats::mean(&b));
    let product = a.iter().zip(&b).map(|(x, y)| (x - ma) * (y - mb));
    let square = |of: &[f64], mean: f64| of.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    product.sum::<f64>() / (square(&a, ma) * square(&b, mb)).sqrt()
}

/// The rank correlation with its 95% interval by a bootstrap over skills.
fn over_skills(a: &[f64], b: &[f64], seed: Seed) -> Result<Interval, String> {
    let correlation = |drawn: &[usize]| {
        let [a, b] = [a, b].map(|of| drawn.iter().map(|&at| of[at]).collect::<Vec<f64>>());
        let value = spearman(&a, &b);
        // Skills that are all alike have no order, and so none that is that of the truth.
        if value.is_nan() { 0.0 } else { value }
    };
    let each: Vec<String> = (0..a.len()).map(|at| at.to_string()).collect();
    stats::clustered_of(correlation, &each, seed, RESAMPLES)
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count();
        let same = values.iter().filter(|other| *other == value).count();
        below as f64 + (same as f64 + 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_correlate_as_by_hand() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 9.0]), [2.5, 1.0, 2.5, 4.0]);
        assert!((spearman(&[1.0, 2.0, 3.0], &[10.0, 20.0, 99.0]) - 1.0).abs() < 1e-9);
        assert!((spearman(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]) + 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_interval_of_a_correlation_holds_it_and_is_the_same_for_a_seed() {
        let a: Vec<f64> = (0..18_u8).map(f64::from).collect();
        let b: Vec<f64> = (0..18_u8).map(|at| f64::from(at * 7 % 18)).collect();
        let interval = over_skills(&a, &b, Seed(1)).unwrap();
        let value = spearman(&a, &b);
        assert!(
            interval.low < value && value < interval.high,
            "{interval:?}"
        );
        assert!(interval.low >= -1.0 && interval.high <= 1.0, "{interval:?}");
        assert_eq!(over_skills(&a, &b, Seed(1)).unwrap(), interval);
        // What is in order in each resample is so surely.
        let same = over_skills(&a, &a, Seed(1)).unwrap();
        assert!(same.low > 1.0 - 1e-9 && same.high < 1.0 + 1e-9, "{same:?}");
        // Skills that are all alike have no order.
        assert_eq!(over_skills(&a, &[0.5; 18], Seed(1)).unwrap().mean, 0.0);
    }
}
