//! Judgements of the same subgoals again and again: by a rubric, and without one.

use std::collections::BTreeMap;

use futures::executor::block_on;
use journeyman::{
    AttemptId, PrototypeId, Result, Seed,
    contract::{LanguageModel, RoleAnswer, RoleRequest, RoleTask, SubgoalInAttempt},
    domain::{AssessedSubgoal, Assessment, Prototype, Rubric, SubgoalScore, Trace},
    library::SkillLibrary,
};
use quickstart::Parts;
use serde::{Deserialize, Serialize};

use super::world::World;
use crate::figures::stats;

/// How often each is judged.
const REPEATS: u32 = 8;

/// What an arm's judge made of the same subgoals.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Judge {
    /// The variance of the repeated scores of a subgoal, on average.
    pub(super) variance: f64,
    /// The share of judgements with the full score exactly where the world accepted the subgoal's last call.
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
    let written = block_on(parts.model.generate(&roles.prompt(&request)?))?;
    match roles.read(&request, &written.text) {
        Ok(RoleAnswer::Scored { score, .. }) => Ok(Some(score)),
        _ => Ok(None),
    }
}

/// What the judgements of the subgoals of some attempts say.
pub(super) fn judged(scores: &Scores, attempts: &[Trace]) -> Judge {
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
