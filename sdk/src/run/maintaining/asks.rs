//! The questions of maintenance programs, and what their answers say.

use serde::{Deserialize, Serialize};

use super::super::{
    Answer, AttemptNeed, CaseNeed, CaseRun, ChosenSkill, EventKind, Need, Played, context::Context,
};
use crate::{
    contract::{Embedding, RoleTask},
    domain::{BundleCase, CaseOutcome, InformationGain, Skill, SkillRef, Trace},
    error::{Error, ErrorKind, Result, Retry},
    id::{AttemptId, Seed},
    program::{self, Dialogue, Place},
};

/// A question of a maintenance program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Question {
    /// To a role.
    Role(Box<RoleTask>),
    /// How a test case goes.
    Case(Case),
    /// The embeddings of texts.
    Embed(Vec<String>),
    /// A skill's information gain over attempts.
    Gain {
        skill: Box<Skill>,
        attempts: Vec<Trace>,
    },
}

/// A test case, and the skill that it is played with: one that may not be in the library, or none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Case {
    pub(super) skill: Option<Box<Skill>>,
    pub(super) case: Box<BundleCase>,
}

/// What maintenance programs ask, are answered and tell.
#[derive(Debug)]
pub(super) struct Maintenance;

impl Dialogue for Maintenance {
    type Question = Question;
    type Answer = Answer;
    type Event = EventKind;
}

/// The handle of a maintenance program.
pub(super) type Ask = program::Ask<Maintenance>;

/// A task of a role, and its answer; `None` where the run has no model or no roles.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) task: RoleTask,
    pub(super) said: Result<Option<Played>>,
}

/// A test case that was played.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) case: Case,
    pub(super) run: Result<CaseRun>,
}

impl Ask {
    /// Asks roles, all at once, and tells of each that could not be played or read.
    pub(super) async fn roles(&self, tasks: Vec<RoleTask>) -> Vec<Said> {
        let questions = tasks.iter().cloned().map(Box::new).map(Question::Role);
        let answers = self.all(questions).await;
        let said = tasks.into_iter().zip(answers).map(|(task, answer)| {
            let said = match answer {
                Answer::Played(said) => said,
                _ => Err(other_answer()),
            };
            if let Err(error) = &said {
                self.tell(EventKind::RoleFailed {
                    role: task.role(),
                    reason: error.to_string(),
                });
            }
            Said { task, said }
        });
        said.collect()
    }

    /// Plays test cases, all at once.
    pub(super) async fn play(&self, cases: Vec<Case>) -> Vec<Run> {
        let answers = self.all(cases.iter().cloned().map(Question::Case)).await;
        let runs = cases.into_iter().zip(answers).map(|(case, answer)| {
            let run = match answer {
                Answer::Tried(run) => run,
                _ => Err(other_answer()),
            };
            Run { case, run }
        });
        runs.collect()
    }

    /// The embeddings of texts, in order; `None` without texts and where there is nothing that embeds.
    pub(super) async fn embed(&self, texts: Vec<String>) -> Option<Vec<Embedding>> {
        if texts.is_empty() {
            return None;
        }
        match self.one(Question::Embed(texts)).await {
            Answer::Embedded(Ok(embedded)) => embedded,
            _ => None,
        }
    }

    /// The information gains of skills over attempts, all at once.
    pub(super) async fn gains(
        &self,
        of: Vec<(Skill, Vec<Trace>)>,
    ) -> Vec<(Skill, Result<Option<InformationGain>>)> {
        let questions = of.iter().cloned().map(|(skill, attempts)| Question::Gain {
            skill: Box::new(skill),
            attempts,
        });
        let answers = self.all(questions).await;
        let gains = of.into_iter().zip(answers).map(|((skill, _), answer)| {
            let gain = match answer {
                Answer::Gained(gain) => gain,
                _ => Err(other_answer()),
            };
            (skill, gain)
        });
        gains.collect()
    }
}

fn other_answer() -> Error {
    Error::new(
        ErrorKind::Internal,
        "Ask::all",
        "the answer is to another kind of question",
    )
}

/// Whether an answer is of the kind that a question asks for.
pub(super) fn fits(question: &Question, answer: &Answer) -> bool {
    matches!(
        (question, answer),
        (Question::Role(_), Answer::Played(_))
            | (Question::Case(_), Answer::Tried(_))
            | (Question::Embed(_), Answer::Embedded(_))
            | (Question::Gain { .. }, Answer::Gained(_))
    )
}

/// The work that a question at a place gives to the host's parts.
pub(super) fn need(context: &Context<'_>, step: u64, place: &Place, question: &Question) -> Need {
    let seed = context.step_seed(step);
    match question {
        Question::Role(task) => Need::Role {
            ask: task.clone(),
            seed: seed_at(seed, place),
        },
        Question::Embed(texts) => Need::Embed(texts.clone()),
        Question::Gain { skill, attempts } => Need::Gain {
            skill: skill.clone(),
            attempts: attempts.clone(),
        },
        Question::Case(Case { skill, case }) => {
            // With a skill and without it a case is played alike, and at another place too.
            let seed = seed.derive(&case.name, 0);
            Need::Case(Box::new(CaseNeed {
                attempt: AttemptNeed {
                    run: context.run.clone(),
                    attempt: AttemptId::new(format!("{}/{step}/m{place}", context.run)),
                    task: case.task.clone(),
                    seed,
                    world_seed: case.world_seed,
                    temperature: 0.0,
                    skills: skill.iter().map(|skill| chosen(skill)).collect(),
                    skill_tokens: context.recipe.skill_tokens,
                    // A case is about this skill.
                    turns: None,
                    time_limit: context.recipe.limits.attempt,
                },
                prefix: case.prefix.clone(),
            }))
        }
    }
}

fn seed_at(seed: Seed, place: &Place) -> Seed {
    let mut seed = seed;
    for number in place.path() {
        seed = seed.derive("maintain", u64::from(*number));
    }
    seed
}

fn chosen(skill: &Skill) -> ChosenSkill {
    ChosenSkill {
        sha256: skill.content_sha256(),
        skill: skill.clone(),
    }
}

/// What a case came to.
pub(super) fn outcome(case: &BundleCase, run: &Result<CaseRun>) -> CaseOutcome {
    let (failed, refusals) = match run {
        Err(error) => (Some(cannot(error)), None),
        Ok(run) if run.verdict.success.is_none() => (Some(UNTOLD.to_owned()), None),
        Ok(run) => (failed(case, run), Some(run.refusals)),
    };
    CaseOutcome {
        name: case.name.clone(),
        failed,
        refusals,
    }
}

/// Why a case says nothing whose attempt nobody could judge.
pub(super) const UNTOLD: &str = "nobody could tell whether the task was done";

/// Why a case fails; none where it passes.
pub(super) fn failed(case: &BundleCase, run: &CaseRun) -> Option<String> {
    let (score, least) = (run.verdict.score, case.least_score);
    if run.verdict.success != Some(true) {
        Some("the task was not done".to_owned())
    } else if run.refusals > case.refusals {
        let (refusals, most) = (run.refusals, case.refusals);
        Some(format!(
            "{refusals} actions were refused, of {most} allowed"
        ))
    } else if score < least {
        Some(format!("the score is {score}, and has to be {least}"))
    } else {
        None
    }
}

/// What came of a version's cases.
pub(super) struct Ran {
    pub(super) skill: SkillRef,
    pub(super) cases: Vec<(BundleCase, CaseOutcome)>,
    /// Whether one of them could not be played for now: then the others decide nothing, and all are due again.
    pub(super) for_now: bool,
}

/// The outcomes by skill, in order.
pub(super) fn outcomes(runs: &[Run]) -> Vec<Ran> {
    let mut outcomes: Vec<Ran> = Vec::new();
    for Run { case, run } in runs {
        let Some(skill) = case.skill.as_deref().map(Skill::reference) else {
            continue;
        };
        let for_now = run.as_ref().is_err_and(is_for_now);
        let ran = (BundleCase::clone(&case.case), outcome(&case.case, run));
        match outcomes.last_mut() {
            Some(last) if last.skill == skill => {
                last.cases.push(ran);
                last.for_now |= for_now;
            }
            _ => outcomes.push(Ran {
                skill,
                cases: vec![ran],
                for_now,
            }),
        }
    }
    outcomes
}

/// Whether what failed may go well another time.
pub(super) fn is_for_now(error: &Error) -> bool {
    error.retry() == Retry::Temporary
}

pub(super) fn cannot(error: &Error) -> String {
    format!("the case could not be played: {error}")
}
