//! The questions that a policy can ask, and methods of [`Ask`] that return typed answers.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    contract::{Embedding, RoleTask, SkillScores},
    domain::{
        BundleCase, Candidate, DecidedOn, FittedThreshold, InformationGain, Query, Role, ScoreKind,
        Skill, Task, Trace, Trajectory, Usage, Verdict,
        gate_policy::{GatePolicy, ThresholdFor},
    },
    error::{Error, Result},
    policy::{
        answers::{Answer, CaseRun, ChosenSkill, Played},
        program::{self, Dialogue},
    },
    run::report::{EventKind, shown},
};

/// A question of a policy to a host's parts.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// The candidates for a query.
    Retrieve(Query),
    /// The embeddings of texts.
    Embed(Vec<String>),
    /// The log-probabilities by which skills are compared for a query.
    Score {
        /// The query.
        query: String,
        /// The skills; the answer has the same order.
        skills: Arc<[Skill]>,
        /// The score that they are for.
        score: ScoreKind,
        /// What the threshold was fitted for that the scores are compared with, if it was. Where another model, adapter or prompt format
        /// scores, the answer is an error.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fitted_for: Option<ThresholdFor>,
    },
    /// The threshold of a gate for the model that scores, where nobody fitted one.
    Threshold {
        /// The share of tasks without a right skill at which one may be injected.
        most_wrong: f64,
        /// Which skill the decision is about.
        on: DecidedOn,
    },
    /// An attempt at a task. Only the run itself asks this.
    #[non_exhaustive]
    Attempt {
        /// The task.
        task: Box<Task>,
        /// The attempt's number within its group, from 0.
        number: u32,
        /// The skills in its prompt.
        skills: Vec<ChosenSkill>,
    },
    /// The verdict on an attempt. Only the run itself asks this.
    #[non_exhaustive]
    Judge {
        /// The task.
        task: Box<Task>,
        /// The attempt at it.
        trajectory: Box<Trajectory>,
    },
    /// A role's answer to a task.
    Role(Box<RoleTask>),
    /// The result of a test case.
    Case(Case),
    /// A skill's information gain over attempts.
    Gain {
        /// The skill.
        skill: Box<Skill>,
        /// The attempts.
        attempts: Vec<Trace>,
    },
}

impl Question {
    pub(crate) fn role(&self) -> Option<Role> {
        match self {
            Self::Role(task) => Some(task.role()),
            _ => None,
        }
    }
}

/// A test case, and the skill that is injected while it is played. The skill need not be in the library.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// The skill; none to play the case without a skill, as the baseline.
    pub skill: Option<Box<Skill>>,
    /// Further skills, behind it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Skill>,
    /// The case.
    pub case: Box<BundleCase>,
}

impl Case {
    /// A case that is played without a skill.
    pub fn new(case: Box<BundleCase>) -> Self {
        Self {
            skill: None,
            beside: Vec::new(),
            case,
        }
    }
}

/// The [`Dialogue`] of policies: its types of questions, answers and events.
#[derive(Debug)]
pub struct Questions;

impl Dialogue for Questions {
    type Question = Question;
    type Answer = Answer;
    type Event = EventKind;

    /// The skills of a score are identified by their versions: a version's text never changes, and a cache of skills is
    /// long. What its threshold was fitted for is the recipe's, which a run keeps.
    fn identity(question: &Question) -> serde_json::Result<Vec<u8>> {
        match question {
            Question::Score {
                query,
                skills,
                score,
                ..
            } => {
                let skills: Vec<_> = skills.iter().map(Skill::reference).collect();
                serde_json::to_vec(&("score", query, skills, score))
            }
            question => serde_json::to_vec(question),
        }
    }
}

/// The handle through which a policy asks questions and emits events.
pub type Ask = program::Ask<Questions>;

/// A task for a role, with the role's answer.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoleReply {
    /// The task.
    pub task: RoleTask,
    /// The answer; `None` where the host gave no model or no roles.
    #[serde(rename = "said")]
    pub reply: Result<Option<Played>>,
}

/// A test case that was played.
#[non_exhaustive]
#[derive(Debug)]
pub struct PlayedCase {
    /// The case.
    pub case: Case,
    /// The result.
    pub run: Result<CaseRun>,
}

impl Ask {
    /// Retrieves candidates for a query.
    ///
    /// # Errors
    /// The retriever's error.
    pub async fn retrieve(&mut self, query: Query) -> Result<Vec<Candidate>> {
        match self.one(Question::Retrieve(query)).await {
            Answer::Retrieved(found) => found,
            _ => Err(other_answer()),
        }
    }

    /// Scores skills for a query: the answers have what [`SkillScores::value`] needs for this kind of score. The check of a
    /// replay identifies skills by id and version: give a skill that is not in the library an id that depends on its text.
    ///
    /// # Errors
    /// The scorer's error.
    pub async fn score(
        &mut self,
        query: String,
        skills: Vec<Skill>,
        score: ScoreKind,
    ) -> Result<Vec<SkillScores>> {
        let skills = skills.into();
        let question = Question::Score {
            query,
            skills,
            score,
            fitted_for: None,
        };
        self.scored(question).await
    }

    /// [`score`](Self::score) for a gate, by its score.
    ///
    /// # Errors
    /// `Invalid` where its threshold was fitted for another model, adapter or prompt format than those that score
    /// ([`GatePolicy::fitted_for`](crate::stations::select::GatePolicy)); else the scorer's error.
    pub async fn score_for_gate(
        &mut self,
        query: String,
        skills: Vec<Skill>,
        gate: &GatePolicy,
    ) -> Result<Vec<SkillScores>> {
        let skills = skills.into();
        let question = Question::Score {
            query,
            skills,
            score: gate.score,
            fitted_for: gate.fitted_for.clone(),
        };
        self.scored(question).await
    }

    async fn scored(&mut self, question: Question) -> Result<Vec<SkillScores>> {
        match self.one(question).await {
            Answer::Scored(scores) => scores,
            _ => Err(other_answer()),
        }
    }

    /// The score and the threshold by which the model that scores injects a skill at no more than this share of the tasks that no skill
    /// is right for. `on` says which skill the decision is about. `None` where the model was trained to score such
    /// skills ([`Scorer::is_trained_to_score`](crate::contract::Scorer::is_trained_to_score)), so that the recipe's own hold, and where there is no
    /// scorer. A session fits them once, and again when its library has grown.
    ///
    /// Where [`FittedThreshold::found`] is there, what the search's score counts has to be added to the model's before the two are compared.
    ///
    /// # Errors
    /// `Unsupported` where the model is too slow to be asked here; the scorer's error.
    pub async fn threshold(
        &mut self,
        most_wrong: f64,
        on: DecidedOn,
    ) -> Result<Option<FittedThreshold>> {
        let question = Question::Threshold { most_wrong, on };
        match self.one(question).await {
            Answer::Fitted(fitted) => fitted.map(|fitted| fitted.map(|one| *one)),
            _ => Err(other_answer()),
        }
    }

    /// Makes attempt `number` of a group, from 0, with these skills in its prompt.
    ///
    /// # Errors
    /// The executor's error where the attempt could not be made.
    pub(crate) async fn attempt(
        &mut self,
        task: &Task,
        number: u32,
        skills: Vec<ChosenSkill>,
    ) -> Result<Box<Trajectory>> {
        let task = Box::new(task.clone());
        let question = Question::Attempt {
            task,
            number,
            skills,
        };
        match self.one(question).await {
            Answer::Attempted(made) => made,
            _ => Err(other_answer()),
        }
    }

    /// Has an attempt judged.
    ///
    /// # Errors
    /// The judge's error.
    pub(crate) async fn judge(
        &mut self,
        task: &Task,
        trajectory: Box<Trajectory>,
    ) -> Result<Verdict> {
        let task = Box::new(task.clone());
        match self.one(Question::Judge { task, trajectory }).await {
            Answer::Judged(verdict) => verdict,
            _ => Err(other_answer()),
        }
    }

    /// Gives each role its task, all concurrently. The answers have the order of the tasks.
    pub async fn roles(&mut self, tasks: Vec<RoleTask>) -> Vec<RoleReply> {
        self.roles_counted(tasks).await.0
    }

    /// [`roles`](Self::roles), with the tokens that were used, failed calls included.
    pub(crate) async fn roles_counted(&mut self, tasks: Vec<RoleTask>) -> (Vec<RoleReply>, Usage) {
        let questions = tasks.iter().cloned().map(Box::new).map(Question::Role);
        let answers = self.all(questions).await;
        let used = used(&answers);
        let replies = tasks.into_iter().zip(answers).map(|(task, answer)| {
            let reply = match answer {
                Answer::Played(reply) => reply.map_err(|failed| failed.error),
                _ => Err(other_answer()),
            };
            RoleReply { task, reply }
        });
        (replies.collect(), used)
    }

    /// Plays test cases, all concurrently. The results have the order of the cases. A case is `Unsupported` where the task cannot
    /// be attempted again ([`View::replays`](super::View::replays)).
    pub async fn play(&mut self, cases: Vec<Case>) -> Vec<PlayedCase> {
        self.play_counted(cases).await.0
    }

    /// [`play`](Self::play), with the tokens that were used, failed cases included.
    pub(crate) async fn play_counted(&mut self, cases: Vec<Case>) -> (Vec<PlayedCase>, Usage) {
        let answers = self.all(cases.iter().cloned().map(Question::Case)).await;
        let used = used(&answers);
        let runs = cases.into_iter().zip(answers).map(|(case, answer)| {
            let run = match answer {
                Answer::Tried(run) => run.map_err(|failed| failed.error),
                _ => Err(other_answer()),
            };
            PlayedCase { case, run }
        });
        (runs.collect(), used)
    }

    /// The embeddings of texts, in order; `None` for no texts, without an embedder, and where the embedder fails.
    pub async fn embed(&mut self, texts: Vec<String>) -> Option<Vec<Embedding>> {
        if texts.is_empty() {
            return None;
        }
        match self.one(Question::Embed(texts)).await {
            Answer::Embedded(Ok(embedded)) => embedded,
            _ => None,
        }
    }

    /// Measures the information gain of each skill over its attempts, all concurrently.
    pub async fn gains(
        &mut self,
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

fn used(answers: &[Answer]) -> Usage {
    let mut used = Usage::default();
    for answer in answers {
        used.add(answer.usage().total());
    }
    used
}

fn other_answer() -> Error {
    Error::internal("Ask::all", "the answer belongs to another kind of question")
}

/// Whether an answer has the variant that belongs to the question.
pub(crate) fn fits(question: &Question, answer: &Answer) -> bool {
    matches!(
        (question, answer),
        (Question::Retrieve(_), Answer::Retrieved(_))
            | (Question::Score { .. }, Answer::Scored(_))
            | (Question::Threshold { .. }, Answer::Fitted(_))
            | (Question::Attempt { .. }, Answer::Attempted(_))
            | (Question::Judge { .. }, Answer::Judged(_))
            | (Question::Role(_), Answer::Played(_))
            | (Question::Case(_), Answer::Tried(_))
            | (Question::Embed(_), Answer::Embedded(_))
            | (Question::Gain { .. }, Answer::Gained(_))
    )
}

/// Gives each role its task, all concurrently, and emits an event for each that could not be played.
pub(crate) async fn ask_roles(ask: &mut Ask, tasks: Vec<RoleTask>) -> Vec<RoleReply> {
    ask_roles_counted(ask, tasks).await.0
}

/// [`ask_roles`], with the tokens that were used, failed calls included.
pub(crate) async fn ask_roles_counted(
    ask: &mut Ask,
    tasks: Vec<RoleTask>,
) -> (Vec<RoleReply>, Usage) {
    let (replies, used) = ask.roles_counted(tasks).await;
    let failed = unreadable(&replies).into_iter();
    let failed = failed.filter(|event| !matches!(event, EventKind::FellBack { .. }));
    failed.for_each(|event| ask.tell(event));
    (replies, used)
}

/// Events for prompts that were shortened, for roles that could not be played, and for unreadable answers that a fallback stands
/// in for.
pub(crate) fn unreadable(replies: &[RoleReply]) -> Vec<EventKind> {
    let shortened = |RoleReply { task, reply }: &RoleReply| {
        let prompt = reply.as_ref().ok()?.as_ref()?.shortened.as_ref()?;
        Some(EventKind::RoleShortened {
            role: task.role(),
            whole: prompt.whole,
            sent: prompt.sent,
            left_out: prompt.left_out.clone(),
        })
    };
    let failed = |RoleReply { task, reply }: &RoleReply| match reply {
        Err(error) => Some(EventKind::RoleFailed {
            role: task.role(),
            reason: error.to_string(),
        }),
        Ok(Some(played)) if played.fallback => Some(EventKind::FellBack {
            role: task.role(),
            reason: played.why_unreadable(),
            wrote: played
                .unreadable
                .last()
                .map_or_else(String::new, |last| shown(&last.text)),
        }),
        Ok(_) => None,
    };
    let events = replies.iter().filter_map(shortened);
    events.chain(replies.iter().filter_map(failed)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{id::Version, testing::sample};

    #[test]
    fn scores_are_told_apart_by_query_version_and_kind() {
        let identity = |query: &str, version: u64, score: ScoreKind| {
            let mut skill = sample::skill("brew");
            skill.version = Version(version);
            Questions::identity(&Question::Score {
                query: query.to_owned(),
                skills: Arc::from([skill]),
                score,
                fitted_for: None,
            })
            .unwrap()
        };
        let one = identity("brew coffee", 1, ScoreKind::Sum);
        assert_eq!(one, identity("brew coffee", 1, ScoreKind::Sum));
        for other in [
            identity("brew tea", 1, ScoreKind::Sum),
            identity("brew coffee", 2, ScoreKind::Sum),
            identity("brew coffee", 1, ScoreKind::Pmi),
        ] {
            assert_ne!(one, other);
        }
    }

    #[test]
    fn what_a_threshold_was_fitted_for_changes_no_journal() {
        let of = |fitted_for| Question::Score {
            query: "brew coffee".to_owned(),
            skills: Arc::from([sample::skill("brew")]),
            score: ScoreKind::Pmi,
            fitted_for,
        };
        let fitted = ThresholdFor {
            score: ScoreKind::Pmi,
            model: "m".into(),
            prompt_format: None,
        };
        assert_eq!(
            Questions::identity(&of(Some(fitted))).unwrap(),
            Questions::identity(&of(None)).unwrap()
        );
        let json = serde_json::to_string(&of(None)).unwrap();
        assert!(!json.contains("fitted_for"), "{json}");
    }
}
