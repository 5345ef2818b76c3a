//! The gate fitted on outcomes on real inference: what it harms, and what help it loses, in worlds that it was not fitted on.

use std::num::NonZeroUsize;

use futures::executor::block_on;
use journeyman::{
    Seed,
    contract::LanguageModel,
    domain::{ScoreKind, Skill},
    run::report::TaskReport,
    stations::select::{
        ByOutcomes, Candidates, GateCalibration, GatePolicy, HarmBound, Nothing, OutcomeScores,
    },
};
use journeyman_toolworld::stream::{Member, Universe, UniverseSpec};
use quickstart::{Parts, spoken};
use serde::{Deserialize, Serialize};

use super::{
    at_most, percent,
    services::{STEPS, admitted, done, id, opened, taking_the_best, wrong},
};
use crate::figures::{Bound, Figures, Outcome, attempted, key};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Worlds that a threshold is fitted on, and as many that are held out.
const WORLDS: u64 = 20;
/// Services of a world with a hidden contract, and without one; and its tasks.
const HIDDEN: usize = 6;
const PLAIN: usize = 6;
const TASKS: usize = 24;
/// Skills that the search finds for a decision.
const CANDIDATES: NonZeroUsize = const { NonZeroUsize::new(4).expect("not 0") };
/// The greatest shares of tasks that may be harmed, and how often more may be.
const MOST: [f64; 3] = [0.01, 0.05, 0.1];
const ERROR: f64 = 0.1;
/// A threshold that every score exceeds, nats.
const LOWEST: f64 = -1e6;
/// Tasks of all worlds of a role.
const ALL: usize = WORLDS as usize * TASKS;
/// The greatest number of them that may end without a verdict: a twentieth.
const UNDECIDED: usize = ALL / 20;

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    let parts = figures.parts(STEPS)?;
    let fitted_on = worlds(figures, &parts, "to fit")?;
    let held_out = worlds(figures, &parts, "held out")?;
    for (what, tried) in [("fitted on", &fitted_on), ("held out", &held_out)] {
        let name = format!("injections: tasks {what}");
        figures.record(&name, tried.tasks as f64, Bound::AtLeast(ALL as f64));
        let name = format!("{name}, without a verdict");
        let most = Bound::AtMost(UNDECIDED as f64);
        figures.record(&name, tried.undecided as f64, most);
    }
    let all = Rates::of(&held_out, LOWEST);
    record(figures, "all candidates", &all, Bound::None);
    figures.record(
        "injections, all candidates: helped, %",
        all.helped,
        Bound::None,
    );
    if let Some(threshold) = GatePolicy::default().absolute {
        let rates = Rates::of(&held_out, threshold);
        record(figures, "the recipe's threshold", &rates, Bound::None);
    }
    let format = parts.prompt_format();
    let model = &parts.model.capabilities().model;
    let seed = figures.options().seed;
    for most in MOST {
        let name = format!("{}% may be harmed", 100.0 * most);
        let of = (model, ScoreKind::Pmi, format.as_ref());
        let bound = HarmBound::new(most, ERROR);
        let threshold = match GateCalibration::by_outcomes(&fitted_on.scores, of, bound, seed)? {
            ByOutcomes::Fitted(fitted) => fitted.threshold,
            // No threshold has no rates: each of them is recorded, and short.
            ByOutcomes::NotYet { more } => {
                figures.progress(format_args!("{name}: {more} more tasks are needed"));
                f64::NAN
            }
            _ => return Err("the fit says something that is not known here".into()),
        };
        let rates = Rates::of(&held_out, threshold);
        record(figures, &name, &rates, at_most(most, ALL));
        let name = format!("injections, {name}: threshold, nats");
        figures.record(&name, threshold, Bound::None);
    }
    Ok(())
}

/// What came of the tasks of worlds.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Tried {
    /// Attempted tasks. One without a candidate or without a verdict is one of them, is not injected, and goes neither better nor worse.
    tasks: usize,
    undecided: usize,
    /// Of those with a candidate and a verdict, which alone a threshold is fitted on.
    scores: Vec<OutcomeScores>,
}

/// What a threshold does on tasks, %; no numbers for a threshold that is none.
#[derive(Debug)]
struct Rates {
    /// Of all tasks: a skill is injected, and the task goes worse for it, and better.
    injected: f64,
    harmed: f64,
    helped: f64,
    /// Of the tasks that the candidate helps: it is not injected.
    lost: f64,
}

impl Rates {
    fn of(tried: &Tried, threshold: f64) -> Self {
        if threshold.is_nan() {
            return Self {
                injected: f64::NAN,
                harmed: f64::NAN,
                helped: f64::NAN,
                lost: f64::NAN,
            };
        }
        let tasks = &tried.scores;
        let count = |is: &dyn Fn(&OutcomeScores) -> bool| {
            let injected = tasks.iter().filter(|one| one.score > threshold);
            injected.filter(|one| is(one)).count()
        };
        let helped = count(&|one| one.with > one.before);
        let helpful = tasks.iter().filter(|one| one.with > one.before).count();
        let share = |count: usize| percent(count, tried.tasks);
        Self {
            injected: share(count(&|_| true)),
            harmed: share(count(&|one| one.with < one.before)),
            helped: share(helped),
            lost: percent(helpful - helped, helpful),
        }
    }
}

fn record(figures: &mut Figures<'_>, name: &str, rates: &Rates, harmed: Bound) {
    for (what, value, bound) in [
        ("harmed, %", rates.harmed, harmed),
        ("helpful injections lost, %", rates.lost, Bound::None),
        ("injected, %", rates.injected, Bound::None),
    ] {
        figures.record(&format!("injections, {name}: {what}"), value, bound);
    }
}

/// What the tasks of all worlds of a role came to, each world saved by itself.
fn worlds(figures: &mut Figures<'_>, parts: &Parts, role: &str) -> Result<Tried, Failure> {
    let seed = figures.options().seed;
    let mut all = Tried::default();
    for world in 0..WORLDS {
        let key = key(parts, &format!("injections, world {world} {role}"));
        let seed = seed.derive(&format!("injections {role}"), world);
        let tried: Tried = figures.once(&key, || block_on(tried(parts, seed)))?;
        all.tasks += tried.tasks;
        all.undecided += tried.undecided;
        all.scores.extend(tried.scores);
    }
    Ok(all)
}

/// What the tasks of a world come to with no skill, and with the best candidate whatever its score is.
async fn tried(parts: &Parts, seed: Seed) -> Result<Tried, Failure> {
    let universe = Universe::make(UniverseSpec::of(HIDDEN, PLAIN), seed.0)?;
    let stream = universe.stream(HIDDEN + PLAIN);
    let tasks = spoken::tasks(&universe.held_out(&stream, TASKS), seed)?;
    let (mut without, mut with) = (taking_the_best(), taking_the_best());
    without.select.selector = Nothing.into();
    let mut gate = GatePolicy::default();
    gate.score = ScoreKind::Pmi;
    gate.absolute = Some(LOWEST);
    gate.most_wrong = None;
    with.select.selector = gate.into();
    with.select.candidates = Candidates::Search { limit: CANDIDATES };
    let skills = library(universe.members())?;
    let without = opened(parts, without, seed, Vec::new()).await?;
    let without = without.evaluate(tasks.clone()).await?;
    let with = opened(parts, with, seed, skills).await?;
    let with = with.evaluate(tasks).await?;
    if let Some(reason) = with.not_measured() {
        return Err(reason.into());
    }
    let mut all = Tried::default();
    let pairs = attempted(&without)?.tasks.iter();
    for (before, with) in pairs.zip(&attempted(&with)?.tasks) {
        all.tasks += 1;
        let Some((before, after)) = outcome(before).zip(outcome(with)) else {
            all.undecided += 1;
            continue;
        };
        let best = with.selections.first().and_then(|one| one.best());
        all.scores.extend(
            best.map(|best| OutcomeScores::new(with.task.clone(), best.value, before, after)),
        );
    }
    Ok(all)
}

/// 1 for a task that was done at once, else 0; `None` without a verdict.
fn outcome(task: &TaskReport) -> Option<f64> {
    Some(f64::from(u8::from(done(task)?)))
}

/// A skill for each service, of which every second one is wrong: it says what another service with a hidden contract calls for.
fn library(members: &[Member]) -> journeyman::Result<Vec<Skill>> {
    let skill = |(service, member): (usize, &Member)| {
        let draft = match service % 2 {
            0 => spoken::draft(member),
            _ => wrong(member, &members[(service + 2) % HIDDEN]),
        };
        admitted(&draft, id(service))
    };
    members.iter().enumerate().map(skill).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(score: f64, before: f64, with: f64) -> OutcomeScores {
        OutcomeScores::new(format!("task-{score}").as_str(), score, before, with)
    }

    #[test]
    fn rates_are_as_by_hand() {
        let scores = vec![
            tried(1.0, 1.0, 0.0),
            tried(2.0, 0.0, 1.0),
            tried(3.0, 0.0, 1.0),
            tried(4.0, 1.0, 1.0),
        ];
        let mut tasks = Tried {
            tasks: 4,
            undecided: 0,
            scores,
        };
        let check = |tasks: &Tried, threshold: f64, expect: [f64; 4]| {
            let rates = Rates::of(tasks, threshold);
            let found = [rates.injected, rates.harmed, rates.helped, rates.lost];
            assert_eq!(found, expect, "{threshold}");
        };
        check(&tasks, LOWEST, [100.0, 25.0, 50.0, 0.0]);
        // The threshold itself does not pass.
        check(&tasks, 2.0, [50.0, 0.0, 25.0, 50.0]);
        check(&tasks, 9.0, [0.0, 0.0, 0.0, 100.0]);
        // As many again that nobody decided about are tasks, too.
        tasks.tasks = 8;
        check(&tasks, LOWEST, [50.0, 12.5, 25.0, 0.0]);
        assert!(Rates::of(&tasks, f64::NAN).harmed.is_nan());
    }

    #[test]
    fn half_of_a_library_is_wrong_about_its_own_services() {
        let universe = Universe::make(UniverseSpec::of(HIDDEN, PLAIN), 101).unwrap();
        let members = universe.members();
        let skills = library(members).unwrap();
        assert_eq!(skills.len(), HIDDEN + PLAIN);
        for (service, (skill, member)) in skills.iter().zip(members).enumerate() {
            let says = spoken::says(&skill.body, member);
            assert_eq!(says, service % 2 == 0, "{}", skill.body);
            // Right or wrong, it names its own service.
            assert_eq!(skill.name.as_str(), spoken::draft(member).title);
        }
    }
}
