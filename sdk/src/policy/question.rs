//! The questions of policies, and what their answers say.

use serde::{Deserialize, Serialize};

use super::{Answer, CaseRun, ChosenSkill, Played};
use crate::{
    contract::{Embedding, RoleTask, SkillScores},
    domain::{
        BundleCase, Candidate, InformationGain, Query, Skill, Task, Trace, Trajectory, Verdict,
    },
    error::{Error, ErrorKind, Result},
    program::{self, Dialogue},
    report::EventKind,
};

/// A question of a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Question {
    /// The candidates for a query.
    Retrieve(Query),
    /// The embeddings of texts.
    Embed(Vec<String>),
    /// The log-probabilities of skills behind a query.
    Score {
        query: String,
        skills: Vec<Skill>,
        unconditional: bool,
    },
    /// An attempt at a task, with these skills in its prompt; its number within its group, from 0.
    Attempt {
        task: Box<Task>,
        number: u32,
        skills: Vec<ChosenSkill>,
    },
    /// The verdict on an attempt.
    Judge {
        task: Box<Task>,
        trajectory: Box<Trajectory>,
    },
    /// To a role.
    Role(Box<RoleTask>),
    /// How a test case goes.
    Case(Case),
    /// A skill's information gain over attempts.
    Gain {
        skill: Box<Skill>,
        attempts: Vec<Trace>,
    },
}

/// A test case, and the skill that it is played with: one that may not be in the library, or none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Case {
    pub(crate) skill: Option<Box<Skill>>,
    pub(crate) case: Box<BundleCase>,
}

/// The questions, answers and events of policies.
#[derive(Debug)]
pub(crate) struct Policies;

impl Dialogue for Policies {
    type Question = Question;
    type Answer = Answer;
    type Event = EventKind;
}

/// The handle of a policy.
pub(crate) type Ask = program::Ask<Policies>;

/// A task of a role, and its answer; `None` where the run has no model or no roles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Said {
    pub(crate) task: RoleTask,
    pub(crate) said: Result<Option<Played>>,
}

/// A test case that was played.
#[derive(Debug)]
pub(crate) struct PlayedCase {
    pub(crate) case: Case,
    pub(crate) run: Result<CaseRun>,
}

impl Ask {
    /// Candidates for a query.
    pub(crate) async fn retrieve(&mut self, query: Query) -> Result<Vec<Candidate>> {
        match self.one(Question::Retrieve(query)).await {
            Answer::Retrieved(found) => found,
            _ => Err(other_answer()),
        }
    }

    /// The log-probabilities of skills behind a query.
    pub(crate) async fn score(
        &mut self,
        query: String,
        skills: Vec<Skill>,
        unconditional: bool,
    ) -> Result<Vec<SkillScores>> {
        let question = Question::Score {
            query,
            skills,
            unconditional,
        };
        match self.one(question).await {
            Answer::Scored(scores) => scores,
            _ => Err(other_answer()),
        }
    }

    /// An attempt at a task.
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

    /// The verdict on an attempt at a task.
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

    /// Asks roles, all at once.
    pub(crate) async fn roles(&mut self, tasks: Vec<RoleTask>) -> Vec<Said> {
        let questions = tasks.iter().cloned().map(Box::new).map(Question::Role);
        let answers = self.all(questions).await;
        let said = tasks.into_iter().zip(answers).map(|(task, answer)| {
            let said = match answer {
                Answer::Played(said) => said,
                _ => Err(other_answer()),
            };
            Said { task, said }
        });
        said.collect()
    }

    /// Plays test cases, all at once.
    pub(crate) async fn play(&mut self, cases: Vec<Case>) -> Vec<PlayedCase> {
        let answers = self.all(cases.iter().cloned().map(Question::Case)).await;
        let runs = cases.into_iter().zip(answers).map(|(case, answer)| {
            let run = match answer {
                Answer::Tried(run) => run,
                _ => Err(other_answer()),
            };
            PlayedCase { case, run }
        });
        runs.collect()
    }

    /// The embeddings of texts, in order; `None` without texts and where there is nothing that embeds.
    pub(crate) async fn embed(&mut self, texts: Vec<String>) -> Option<Vec<Embedding>> {
        if texts.is_empty() {
            return None;
        }
        match self.one(Question::Embed(texts)).await {
            Answer::Embedded(Ok(embedded)) => embedded,
            _ => None,
        }
    }

    /// The information gains of skills over attempts, all at once.
    pub(crate) async fn gains(
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

fn other_answer() -> Error {
    Error::new(
        ErrorKind::Internal,
        "Ask::all",
        "the answer is to another kind of question",
    )
}

/// Whether an answer is of the kind that a question asks for.
pub(crate) fn fits(question: &Question, answer: &Answer) -> bool {
    matches!(
        (question, answer),
        (Question::Retrieve(_), Answer::Retrieved(_))
            | (Question::Score { .. }, Answer::Scored(_))
            | (Question::Attempt { .. }, Answer::Attempted(_))
            | (Question::Judge { .. }, Answer::Judged(_))
            | (Question::Role(_), Answer::Played(_))
            | (Question::Case(_), Answer::Tried(_))
            | (Question::Embed(_), Answer::Embedded(_))
            | (Question::Gain { .. }, Answer::Gained(_))
    )
}
