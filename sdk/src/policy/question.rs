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
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// The candidates for a query.
    Retrieve(Query),
    /// The embeddings of texts.
    Embed(Vec<String>),
    /// The log-probabilities of skills behind a query.
    Score {
        /// The query.
        query: String,
        /// The skills, in the order of the answer.
        skills: Vec<Skill>,
        /// Whether those behind an empty query are needed too (PMI).
        unconditional: bool,
    },
    /// An attempt at a task; a run's own to ask.
    #[non_exhaustive]
    Attempt {
        /// The task.
        task: Box<Task>,
        /// Its number within its group, from 0.
        number: u32,
        /// The skills in its prompt.
        skills: Vec<ChosenSkill>,
    },
    /// The verdict on an attempt; a run's own to ask.
    #[non_exhaustive]
    Judge {
        /// The task.
        task: Box<Task>,
        /// The attempt at it.
        trajectory: Box<Trajectory>,
    },
    /// To a role.
    Role(Box<RoleTask>),
    /// How a test case goes.
    Case(Case),
    /// A skill's information gain over attempts.
    Gain {
        /// The skill.
        skill: Box<Skill>,
        /// The attempts.
        attempts: Vec<Trace>,
    },
}

/// A test case, and the skill that it is played with: one that may not be in the library, or none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// The skill; none to see how it goes without one.
    pub skill: Option<Box<Skill>>,
    /// The case.
    pub case: Box<BundleCase>,
}

/// The questions, answers and events of policies.
#[derive(Debug)]
pub struct Questions;

impl Dialogue for Questions {
    type Question = Question;
    type Answer = Answer;
    type Event = EventKind;
}

/// The handle of a policy.
pub type Ask = program::Ask<Questions>;

/// A task of a role, and its answer; `None` where the run has no model or no roles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// What the role was asked.
    pub task: RoleTask,
    /// What it said.
    pub said: Result<Option<Played>>,
}

/// A test case that was played.
#[derive(Debug)]
pub struct PlayedCase {
    /// The case.
    pub case: Case,
    /// What came of it.
    pub run: Result<CaseRun>,
}

impl Ask {
    /// Candidates for a query.
    ///
    /// # Errors
    /// What the retriever gives.
    pub async fn retrieve(&mut self, query: Query) -> Result<Vec<Candidate>> {
        match self.one(Question::Retrieve(query)).await {
            Answer::Retrieved(found) => found,
            _ => Err(other_answer()),
        }
    }

    /// The log-probabilities of skills behind a query, with those behind an empty query where `unconditional` says so (PMI).
    ///
    /// # Errors
    /// What the scorer gives.
    pub async fn score(
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

    /// An attempt at a task, the `number`-th of its group from 0, with these skills in its prompt.
    ///
    /// # Errors
    /// What the executor gives where it could not try.
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
    ///
    /// # Errors
    /// What the judge gives.
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
    pub async fn roles(&mut self, tasks: Vec<RoleTask>) -> Vec<Said> {
        let questions = tasks.iter().cloned().map(Box::new).map(Question::Role);
        let answers = self.all(questions).await;
        let said = tasks.into_iter().zip(answers).map(|(task, answer)| {
            let said = match answer {
                Answer::Played(said) => said.map_err(|failed| failed.error),
                _ => Err(other_answer()),
            };
            Said { task, said }
        });
        said.collect()
    }

    /// Plays test cases, all at once.
    pub async fn play(&mut self, cases: Vec<Case>) -> Vec<PlayedCase> {
        let answers = self.all(cases.iter().cloned().map(Question::Case)).await;
        let runs = cases.into_iter().zip(answers).map(|(case, answer)| {
            let run = match answer {
                Answer::Tried(run) => run.map_err(|failed| failed.error),
                _ => Err(other_answer()),
            };
            PlayedCase { case, run }
        });
        runs.collect()
    }

    /// The embeddings of texts, in order; `None` without texts and where there is nothing that embeds.
    pub async fn embed(&mut self, texts: Vec<String>) -> Option<Vec<Embedding>> {
        if texts.is_empty() {
            return None;
        }
        match self.one(Question::Embed(texts)).await {
            Answer::Embedded(Ok(embedded)) => embedded,
            _ => None,
        }
    }

    /// The information gains of skills over attempts, all at once.
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
