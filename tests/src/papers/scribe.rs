//! SCRIBE: the judge that is bound to rubrics against an open one, the router against clusters that came later, and prototypes that
//! persist.

use std::{collections::BTreeMap, sync::Arc};

use futures::executor::block_on;
use journeyman::{
    AttemptId, PrototypeId, Result, Seed,
    builtin::MemoryStore,
    contract::{
        LanguageModel, RoleAnswer, RoleRequest, RoleTask, Roles, SkillStore, SubgoalInAttempt,
    },
    domain::{AssessedSubgoal, Assessment, Prototype, Rubric, SubgoalScore, Trace},
    library::SkillLibrary,
};
use journeyman_toolworld::writer::ApprenticeRoles;
use quickstart::Parts;
use serde::{Deserialize, Serialize};

use super::{
    WORLDS, arms, bounded, difference, key,
    patterns::{right, true_patterns},
    router::router,
    spread,
    world::{Host, World},
};
use crate::figures::{Bound, Figures, Outcome, stats};

/// Tasks that are learned from, in parts of as many tasks as lie between two refreshes.
const STREAM: usize = 50;
const PART: usize = 10;
/// Attempts whose subgoals are judged again and again: the latest that are kept.
const JUDGED: usize = 60;
/// How often each is judged.
const REPEATS: u32 = 8;

/// What an arm's judge made of the same subgoals.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Judge {
    /// The variance of the repeated scores of a subgoal, on average.
    variance: f64,
    /// The share of judgements with the full score exactly where the world accepted the subgoal's last call.
    agreement: f64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Cell {
    bound: Judge,
    open: Judge,
    /// Of both judges for the subgoals of tasks without a passing demand alone, which no rubric can know.
    lasting: [Judge; 2],
    /// Of the judge that is bound to rubrics, where the rubric's pattern is what the world demands of the tool, and where it is not;
    /// with the number of subgoals; `None` without one. Tools that no task is about are in neither.
    by_rubric: [Option<(Judge, usize)>; 2],
    /// Subgoals that both judges scored each time, and those that were asked about.
    subgoals: [usize; 2],
    /// The router's accuracy: spans, skills, prototypes; and prototypes in a second pass over the clusters' own members.
    router: [f64; 4],
    /// For each refresh, the share of the prototypes before that go on.
    persisting: Vec<f64>,
    prototypes: usize,
    /// For prototypes with members of one task alone, and for those of several: how many have the true pattern, of how many.
    right: [(usize, usize); 2],
}

pub(super) fn run(figures: &mut Figures<'_>, parts: &Parts) -> Outcome {
    let mut cells: Vec<Cell> = Vec::new();
    for number in 0..WORLDS {
        let seed = figures.options().seed;
        let key = key(parts, &format!("judged, world {number}"));
        cells.push(figures.once(&key, || {
            let world = World::new(seed, number)?;
            Ok(cell(parts, &world)?)
        })?);
    }
    judges(figures, &cells);
    prototypes(figures, &cells);
    Ok(())
}

/// The judge that is bound to rubrics beside the open one.
fn judges(figures: &mut Figures<'_>, cells: &[Cell]) {
    let of = |value: &dyn Fn(&Cell) -> f64| -> Vec<f64> { cells.iter().map(value).collect() };
    let subgoals = of(&|cell| cell.subgoals[0] as f64);
    spread(
        figures,
        "scribe.subgoals judged by both each time",
        &subgoals,
    );
    let asked = of(&|cell| cell.subgoals[1] as f64);
    spread(figures, "scribe.subgoals with a rubric", &asked);
    let bound = of(&|cell| cell.bound.variance);
    let open = of(&|cell| cell.open.variance);
    spread(
        figures,
        "scribe.variance of repeated judgements, bound to rubrics",
        &bound,
    );
    spread(
        figures,
        "scribe.variance of repeated judgements, open",
        &open,
    );
    difference(
        figures,
        "scribe.variance, bound to rubrics less open",
        (&bound, &open),
        (Bound::None, Bound::Below(0.0)),
    );
    let bound = of(&|cell| cell.bound.agreement);
    let open = of(&|cell| cell.open.agreement);
    bounded(
        figures,
        "scribe.agreement with the world, bound to rubrics",
        &bound,
        Bound::AtLeast(0.85),
    );
    spread(figures, "scribe.agreement with the world, open", &open);
    difference(
        figures,
        "scribe.agreement, bound to rubrics less open",
        (&bound, &open),
        (Bound::Above(0.0), Bound::None),
    );
    for (place, what) in ["bound to rubrics", "open"].into_iter().enumerate() {
        let agreement = of(&|cell| cell.lasting[place].agreement);
        let name = format!("scribe.agreement where no demand passes, {what}");
        spread(figures, &name, &agreement);
    }
    for (place, what) in ["a true pattern", "another pattern"]
        .into_iter()
        .enumerate()
    {
        let some: Vec<(Judge, usize)> = cells
            .iter()
            .filter_map(|cell| cell.by_rubric[place])
            .collect();
        let count: usize = some.iter().map(|(_, count)| count).sum();
        let name = format!("scribe.subgoals whose rubric has {what}");
        figures.record(&name, count as f64, Bound::None);
        // Each subgoal weighs the same, whichever world it is of.
        let agreeing = some
            .iter()
            .map(|(judge, count)| judge.agreement * *count as f64);
        if count > 0 {
            let name = format!("scribe.agreement where the rubric has {what}");
            figures.record(&name, agreeing.sum::<f64>() / count as f64, Bound::None);
        }
    }
}

/// The router, and the prototypes that it routes to.
fn prototypes(figures: &mut Figures<'_>, cells: &[Cell]) {
    let of = |value: &dyn Fn(&Cell) -> f64| -> Vec<f64> { cells.iter().map(value).collect() };
    for (place, what) in ["spans that match exactly", "skills", "prototypes"]
        .into_iter()
        .enumerate()
    {
        let accuracy = of(&|cell| cell.router[place]);
        let name = format!("scribe.router: {what}");
        bounded(figures, &name, &accuracy, Bound::AtLeast(0.95));
    }
    let again = of(&|cell| cell.router[3]);
    let name = "scribe.router: prototypes of the clusters' own members, in a second pass";
    spread(figures, name, &again);
    let prototypes = of(&|cell| cell.prototypes as f64);
    spread(figures, "scribe.prototypes", &prototypes);
    for (place, what) in ["one task alone", "several tasks"].into_iter().enumerate() {
        let right: usize = cells.iter().map(|cell| cell.right[place].0).sum();
        let all: usize = cells.iter().map(|cell| cell.right[place].1).sum();
        let name = format!("scribe.prototypes of {what}");
        figures.record(&name, all as f64, Bound::None);
        if all > 0 {
            let share = right as f64 / all as f64;
            figures.record(
                &format!("{name}, with the true pattern"),
                share,
                Bound::None,
            );
        }
    }
    let persisting = of(&|cell| stats::mean(&cell.persisting));
    bounded(
        figures,
        "scribe.prototypes that persist over a refresh",
        &persisting,
        Bound::AtLeast(0.9),
    );
}

/// Learns from the stream. The library, and for each refresh but the first the share of prototypes that go on.
pub(super) fn learn(host: &Host<'_>, world: &World) -> Result<(Arc<MemoryStore>, Vec<f64>)> {
    let store = Arc::new(MemoryStore::new());
    let session = host.open(arms::scribe(), store.clone(), None)?;
    let mut before = Vec::new();
    let mut persisting = Vec::new();
    let stream = world.stream.get(..STREAM).unwrap_or(&world.stream);
    for part in stream.chunks(PART) {
        block_on(session.learn(part.to_vec()))?;
        let library = block_on(session.library())?;
        let now = library.prototypes().iter().map(|one| one.id.clone());
        let now: Vec<_> = now.collect();
        if !before.is_empty() {
            let go_on = before.iter().filter(|id| now.contains(id)).count();
            persisting.push(go_on as f64 / before.len() as f64);
        }
        before = now;
    }
    Ok((store, persisting))
}

fn cell(parts: &Parts, world: &World) -> Result<Cell> {
    let host = Host::new(parts, world.seed);
    let (store, persisting) = learn(&host, world)?;
    let library = SkillLibrary::replay(&block_on(store.load())?.committed)?;
    let traces: Vec<Trace> = library.traces().cloned().collect();
    let attempts = traces.get(traces.len().saturating_sub(JUDGED)..);
    let attempts = attempts.unwrap_or(&traces);
    let again = Host {
        seed: world.seed.derive("judge", 0),
        ..host.clone()
    };
    let session = again.open(arms::scribe(), store, None)?;
    let policy = arms::scribe().assess.unwrap_or_default();
    let assessed = block_on(session.assess(attempts, &policy))?.assessments;
    let both = scores(parts, world, &library, attempts.iter().zip(&assessed))?;
    let [scored, openly] = &both.scores;
    let lasting: Vec<Trace> = attempts
        .iter()
        .filter(|attempt| !world.passing.contains(&attempt.task.id))
        .cloned()
        .collect();
    let lasting = |scores: &Scores| {
        let of_these = |place: &Place| {
            let mut known = lasting.iter();
            known.any(|attempt| attempt.trajectory.attempt == place.attempt)
        };
        judged(&only(scores, of_these), &lasting)
    };
    let true_patterns = true_patterns(&library, &world.truths);
    let by_rubric = [true, false].map(|wanted| {
        let is_so = |place: &Place| {
            let route = both.routes.get(place);
            route.and_then(|route| true_patterns.get(route)) == Some(&wanted)
        };
        let scores = only(scored, is_so);
        (!scores.is_empty()).then(|| (judged(&scores, attempts), scores.len()))
    });
    Ok(Cell {
        bound: judged(scored, attempts),
        open: judged(openly, attempts),
        lasting: [lasting(scored), lasting(openly)],
        by_rubric,
        subgoals: [scored.len(), both.asked],
        router: router(
            &assessed.into_iter().flatten().collect::<Vec<_>>(),
            &library,
        )?,
        persisting,
        prototypes: library.prototypes().len(),
        right: right(&library, &world.truths),
    })
}

/// The repeated scores of the same subgoals.
struct Both {
    /// Bound to rubrics, and open: of the subgoals that both judges scored each time.
    scores: [Scores; 2],
    /// Subgoals with a rubric.
    asked: usize,
    /// The prototype whose rubric was used.
    routes: BTreeMap<Place, PrototypeId>,
}

/// Judges each subgoal of assessed attempts that has a rubric, by the rubric and without it.
fn scores<'a>(
    parts: &Parts,
    world: &World,
    library: &SkillLibrary,
    assessed: impl Iterator<Item = (&'a Trace, &'a Option<Assessment>)>,
) -> Result<Both> {
    let (mut scored, mut openly) = (Scores::new(), Scores::new());
    let mut routes = BTreeMap::new();
    for (attempt, assessment) in assessed {
        for one in assessment.iter().flat_map(|of| &of.subgoals) {
            // A subgoal that is like no prototype has no rubric, and SCRIBE does not score it.
            let Some(Prototype { id, rubric, .. }) = prototype(library, one) else {
                continue;
            };
            let place = Place {
                attempt: attempt.trajectory.attempt.clone(),
                last: one.subgoal.last,
            };
            routes.insert(place.clone(), id.clone());
            let subgoal = SubgoalInAttempt {
                attempt: attempt.clone(),
                subgoal: one.subgoal.clone(),
            };
            for repeat in 1..=REPEATS {
                let judge = |rubric| score(parts, world.seed, &subgoal, rubric, repeat);
                scored
                    .entry(place.clone())
                    .or_default()
                    .extend(judge(Some(rubric))?);
                openly
                    .entry(place.clone())
                    .or_default()
                    .extend(judge(None)?);
            }
        }
    }
    // Where both judged each time.
    let whole = |scores: &Vec<SubgoalScore>| scores.len() == REPEATS as usize;
    let asked = scored.len();
    scored.retain(|_, scores| whole(scores));
    openly.retain(|place, scores| whole(scores) && scored.contains_key(place));
    scored.retain(|place, _| openly.contains_key(place));
    Ok(Both {
        scores: [scored, openly],
        asked,
        routes,
    })
}

/// A judged subgoal: its attempt, and its last step.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    attempt: AttemptId,
    last: usize,
}

type Scores = BTreeMap<Place, Vec<SubgoalScore>>;

/// The scores of some subgoals.
fn only(scores: &Scores, of_these: impl Fn(&Place) -> bool) -> Scores {
    let these = scores.iter().filter(|(place, _)| of_these(place));
    these
        .map(|(place, scores)| (place.clone(), scores.clone()))
        .collect()
}

/// The prototype that a subgoal was routed to.
fn prototype<'a>(library: &'a SkillLibrary, subgoal: &AssessedSubgoal) -> Option<&'a Prototype> {
    let route = subgoal.route.as_ref()?;
    let mut prototypes = library.prototypes().iter();
    prototypes.find(|one| one.id == route.prototype)
}

/// A sampled judgement; `None` where the answer could not be read.
fn score(
    parts: &Parts,
    seed: Seed,
    subgoal: &SubgoalInAttempt,
    rubric: Option<&Rubric>,
    repeat: u32,
) -> Result<Option<SubgoalScore>> {
    let task = RoleTask::Score {
        subgoal: Box::new(subgoal.clone()),
        rubric: rubric.cloned().map(Box::new),
        repeat,
    };
    let request = RoleRequest::new(&task, seed);
    let written = block_on(parts.model.generate(&ApprenticeRoles.prompt(&request)?))?;
    match ApprenticeRoles.read(&request, &written.text) {
        Ok(RoleAnswer::Scored { score, .. }) => Ok(Some(score)),
        _ => Ok(None),
    }
}

/// What the judgements of the subgoals of some attempts say.
fn judged(scores: &Scores, attempts: &[Trace]) -> Judge {
    let (mut variances, mut agreeing) = (Vec::new(), Vec::new());
    for (place, scores) in scores {
        let values: Vec<f64> = scores.iter().map(|score| f64::from(score.get())).collect();
        let mean = stats::mean(&values);
        let squares: Vec<f64> = values.iter().map(|value| (value - mean).powi(2)).collect();
        variances.push(stats::mean(&squares));
        let of_it = |attempt: &&Trace| attempt.trajectory.attempt == place.attempt;
        let attempt = attempts.iter().find(of_it);
        let step = attempt.and_then(|attempt| attempt.trajectory.steps.get(place.last));
        let accepted = step.is_some_and(|step| !step.result.is_error);
        let agrees = |score: &SubgoalScore| (score.get() == SubgoalScore::MAX) == accepted;
        agreeing.extend(
            scores
                .iter()
                .map(|score| f64::from(u8::from(agrees(score)))),
        );
    }
    Judge {
        variance: stats::mean(&variances),
        agreement: stats::mean(&agreeing),
    }
}
