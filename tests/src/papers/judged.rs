//! Judgements of the same subgoals again and again: by a rubric, and without one.

use std::collections::BTreeMap;

use futures::executor::block_on;
use journeyman::{
    Result, Seed,
    contract::{LanguageModel, RoleAnswer, RoleRequest, RoleTask, SubgoalInAttempt},
    domain::{
        AssessedSubgoal, Assessment, AttemptId, Prototype, PrototypeId, Rubric, SubgoalScore, Trace,
    },
    library::SkillLibrary,
};
use journeyman_toolworld::general::roles::NOT_HELPING;
use quickstart::{Parts, spoken};
use serde::{Deserialize, Serialize};

use super::world::World;
use crate::figures::stats;

/// How often each is judged.
const REPEATS: u32 = 8;
/// The temperature of judgements: at 0 all of a subgoal's would be the same.
const TEMPERATURE: f32 = 0.7;

/// What an arm's judge made of the same subgoals.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Judge {
    /// The variance of the repeated scores of a subgoal, on average.
    pub(super) variance: f64,
    /// The share of judgements with the full score exactly where the subgoal was reached ([`Reached`]).
    pub(super) agreement: f64,
}

/// The repeated scores of the same subgoals.
pub(super) struct Both {
    /// Bound to rubrics, and open: of the subgoals that both judges scored each time.
    pub(super) scores: [Scores; 2],
    /// Subgoals with a rubric.
    pub(super) asked: usize,
    /// The prototype whose rubric was used.
    pub(super) routes: BTreeMap<Place, PrototypeId>,
}

/// Judges each subgoal of assessed attempts that has a rubric, by the rubric and without it.
pub(super) fn scores<'a>(
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
            let subgoal = SubgoalInAttempt::new(attempt.clone(), one.subgoal.clone());
            // One judge after the other, since the model does not read a prompt again that equals the last one.
            for (scores, rubric) in [(&mut scored, Some(rubric)), (&mut openly, None)] {
                let scores: &mut Vec<SubgoalScore> = scores.entry(place.clone()).or_default();
                for repeat in 1..=REPEATS {
                    scores.extend(score(parts, world.seed, &subgoal, rubric, repeat)?);
                }
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
pub(super) struct Place {
    pub(super) attempt: AttemptId,
    pub(super) last: usize,
}

pub(super) type Scores = BTreeMap<Place, Vec<SubgoalScore>>;

/// The scores of some subgoals.
pub(super) fn only(scores: &Scores, of_these: impl Fn(&Place) -> bool) -> Scores {
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
    let roles = parts.roles();
    let mut asked = roles.prompt(&request)?;
    asked.sampling.temperature = TEMPERATURE;
    // As a run does: a build that holds no model to a schema reads what is written.
    if !parts.model.capabilities().json_schema {
        asked.json_schema = None;
    }
    let written = block_on(parts.model.generate(&asked))?;
    match roles.read(&request, &written.text) {
        Ok(RoleAnswer::Scored { score, .. }) => Ok(Some(score)),
        _ => Ok(None),
    }
}

/// Which of the judged subgoals were reached: those whose last step is of the rubric's kind in the world's own cut, if it is one that
/// helps. A rubric is of a kind of subgoal, such as finding out what a tool needs, which a refusal does.
pub(super) type Reached = BTreeMap<Place, bool>;

/// See [`Reached`]. A subgoal whose attempt is not among these is in none.
pub(super) fn reached(both: &Both, library: &SkillLibrary, attempts: &[Trace]) -> Result<Reached> {
    let titles: BTreeMap<&PrototypeId, &str> = (library.prototypes().iter())
        .map(|one| (&one.id, one.rubric.title.as_str()))
        .collect();
    let mut reached = Reached::new();
    for (place, route) in &both.routes {
        let of_it = |attempt: &&Trace| attempt.trajectory.attempt == place.attempt;
        let Some(attempt) = attempts.iter().find(of_it) else {
            continue;
        };
        let cut = spoken::true_cut(attempt)?;
        let mut subgoals = cut.subgoals().iter();
        let here = subgoals.find(|one| (one.first..=one.last).contains(&place.last));
        let is_so = here.is_some_and(|one| {
            one.skill != NOT_HELPING && titles.get(route) == Some(&one.skill.as_str())
        });
        reached.insert(place.clone(), is_so);
    }
    Ok(reached)
}

/// What the judgements of some subgoals say.
pub(super) fn judged(scores: &Scores, reached: &Reached) -> Judge {
    let (mut variances, mut agreeing) = (Vec::new(), Vec::new());
    for (place, scores) in scores {
        let values: Vec<f64> = scores.iter().map(|score| f64::from(score.get())).collect();
        let mean = stats::mean(&values);
        let squares: Vec<f64> = values.iter().map(|value| (value - mean).powi(2)).collect();
        variances.push(stats::mean(&squares));
        let reached = reached.get(place).copied().unwrap_or_default();
        let agrees = |score: &SubgoalScore| (score.get() == SubgoalScore::MAX) == reached;
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
