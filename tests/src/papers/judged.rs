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
use journeyman_toolworld::general::roles::{NOT_HELPING, taught_rubric};
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
    /// What was judged.
    pub(super) asked_about: BTreeMap<Place, Asked>,
}

/// A judged subgoal: its first step, and the prototype whose rubric was used.
pub(super) struct Asked {
    first: usize,
    prototype: PrototypeId,
}

/// Judges each subgoal of assessed attempts that has a rubric, by the rubric and without it.
pub(super) fn scores<'a>(
    parts: &Parts,
    world: &World,
    library: &SkillLibrary,
    assessed: impl Iterator<Item = (&'a Trace, &'a Option<Assessment>)>,
) -> Result<Both> {
    let (mut scored, mut openly) = (Scores::new(), Scores::new());
    let mut asked_about = BTreeMap::new();
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
            let asked = Asked {
                first: one.subgoal.first,
                prototype: id.clone(),
            };
            asked_about.insert(place.clone(), asked);
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
        asked_about,
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

/// What is known of a judged subgoal.
pub(super) struct Fact {
    /// Whether it was reached: its last step is of the rubric's kind in the world's own cut, and that kind is one that helps. A rubric
    /// is of a kind of subgoal, such as finding out what a tool needs, which a refusal does.
    reached: bool,
    /// The groups that its judgements are counted in, one of each list of [`GROUPS`].
    groups: Vec<String>,
}

/// By what judgements are counted apart.
const GROUPS: [&str; 3] = ["rubric", "last call", "span"];

/// The facts of the judged subgoals. A subgoal whose attempt is not among these has none.
pub(super) type Facts = BTreeMap<Place, Fact>;

/// See [`Facts`].
pub(super) fn facts(both: &Both, library: &SkillLibrary, attempts: &[Trace]) -> Result<Facts> {
    let rubrics: BTreeMap<&PrototypeId, &Rubric> = (library.prototypes().iter())
        .map(|one| (&one.id, &one.rubric))
        .collect();
    let mut facts = Facts::new();
    for (place, asked) in &both.asked_about {
        let of_it = |attempt: &&Trace| attempt.trajectory.attempt == place.attempt;
        let Some(attempt) = attempts.iter().find(of_it) else {
            continue;
        };
        let Some(rubric) = rubrics.get(&asked.prototype) else {
            continue;
        };
        let cut = spoken::true_cut(attempt)?;
        let mut subgoals = cut.subgoals().iter();
        let here = subgoals.find(|one| (one.first..=one.last).contains(&place.last));
        let reached = here.is_some_and(|one| one.skill != NOT_HELPING && one.skill == rubric.title);
        let is_own = here.is_some_and(|one| (one.first, one.last) == (asked.first, place.last));
        let last = attempt.trajectory.steps.get(place.last);
        let is_refused = last.is_some_and(|step| step.result.is_error);
        let is_taught = taught_rubric(&rubric.title).is_some_and(|taught| taught == **rubric);
        let of = [
            if is_taught {
                "as in training"
            } else {
                "another"
            },
            if is_refused { "refused" } else { "accepted" },
            if is_own { "the world's own" } else { "another" },
        ];
        let groups = GROUPS.iter().zip(of);
        let groups = groups.map(|(by, value)| format!("{by}: {value}"));
        let fact = Fact {
            reached,
            groups: groups.collect(),
        };
        facts.insert(place.clone(), fact);
    }
    Ok(facts)
}

/// Counts of judgements: those that are wrong by the world, and how they differ.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Tally {
    pub(super) judgements: usize,
    /// The full score of a subgoal that was not reached.
    pub(super) too_good: usize,
    /// The second score of one that was reached, such as for a trap of the rubric.
    pub(super) flawed: usize,
    /// Less than that of one that was reached.
    pub(super) missed: usize,
    subgoals: usize,
    /// The sum of the variances of each subgoal's scores.
    variances: f64,
}

impl Tally {
    /// Adds the counts of other judgements.
    pub(super) fn add(&mut self, other: &Self) {
        self.judgements += other.judgements;
        self.too_good += other.too_good;
        self.flawed += other.flawed;
        self.missed += other.missed;
        self.subgoals += other.subgoals;
        self.variances += other.variances;
    }

    /// The mean variance of a subgoal's scores.
    pub(super) fn variance(&self) -> f64 {
        self.variances / self.subgoals as f64
    }

    fn judged(&mut self, scores: &[SubgoalScore], reached: bool) {
        self.subgoals += 1;
        self.variances += variance(scores);
        self.judgements += scores.len();
        for score in scores {
            match (reached, SubgoalScore::MAX - score.get()) {
                (false, 0) => self.too_good += 1,
                (true, 1) => self.flawed += 1,
                (true, 2..) => self.missed += 1,
                (true, 0) | (false, _) => {}
            }
        }
    }
}

/// The judgements by groups.
pub(super) type Tallies = BTreeMap<String, Tally>;

/// Counts the judgements of each group.
pub(super) fn tallied(scores: &Scores, facts: &Facts) -> Tallies {
    let mut tallies = Tallies::new();
    for (place, scores) in scores {
        let Some(fact) = facts.get(place) else {
            continue;
        };
        for group in &fact.groups {
            let tally = tallies.entry(group.clone()).or_default();
            tally.judged(scores, fact.reached);
        }
    }
    tallies
}

fn variance(scores: &[SubgoalScore]) -> f64 {
    let values: Vec<f64> = scores.iter().map(|score| f64::from(score.get())).collect();
    let mean = stats::mean(&values);
    let squares: Vec<f64> = values.iter().map(|value| (value - mean).powi(2)).collect();
    stats::mean(&squares)
}

/// What the judgements of some subgoals say.
pub(super) fn judged(scores: &Scores, facts: &Facts) -> Judge {
    let (mut variances, mut agreeing) = (Vec::new(), Vec::new());
    for (place, scores) in scores {
        variances.push(variance(scores));
        let reached = facts.get(place).is_some_and(|fact| fact.reached);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn judgements_are_counted_by_what_is_wrong_with_them() {
        let scores = |of: &[u8]| -> Vec<SubgoalScore> {
            let scores = of.iter().map(|score| SubgoalScore::new(*score).unwrap());
            scores.collect()
        };
        let mut tally = Tally::default();
        tally.judged(&scores(&[3, 2, 1, 0]), true);
        tally.judged(&scores(&[3, 3, 2, 0]), false);
        assert_eq!(tally.judgements, 8);
        assert_eq!((tally.too_good, tally.flawed, tally.missed), (2, 1, 2));
        assert_eq!(tally.variance(), f64::midpoint(1.25, 1.5));
    }
}
