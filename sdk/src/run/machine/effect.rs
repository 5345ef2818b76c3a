//! [`Effect`], a piece of work that a run's machine requests from the host's parts, [`EffectId`], its identity, and how a policy's
//! question becomes one.

use std::{fmt, num::NonZeroUsize, ops::Deref, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    contract::RoleTask,
    domain::{
        Action, Commit, DecidedOn, MaintenanceBudget, Mode, Query, ScoreKind, Skill, Task, Trace,
        Trajectory, TurnQuery, gate_policy::ThresholdFor,
    },
    id::{AttemptId, ModelId, RunId, Seed},
    library::SkillLibrary,
    policy::{
        Answer, Case, ChosenSkill, Context, Question, ResolvedPolicies, View, program::QuestionPath,
    },
    stations::{recipe::Recipe, select::SelectPer},
};

/// The kinds of work for which a run can wait. The first seven are in the order in which a task passes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Station {
    /// Retrieval of candidates.
    Retrieve,
    /// Embeddings for the ranking of candidates.
    Rank,
    /// Log-probabilities of candidates.
    Score,
    /// Attempts.
    Attempt,
    /// Verdicts.
    Judge,
    /// Answers of roles about the attempts: drafts, and judgements of skills.
    Role,
    /// The task's commit.
    Commit,
    /// All questions of the maintenance after the task.
    Maintain,
    /// A commit of maintenance.
    Keep,
    /// Test cases and gains that a policy of the host's own asks for.
    Try,
    /// All questions of the selection for a later turn of an attempt.
    Turn,
}

/// The identity of an effect. It depends on where it arises and not on when, so answers can come in any order.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EffectId {
    /// The task's index in the stream, from 0.
    pub step: u64,
    /// The kind of work.
    pub station: Station,
    /// The place of the question in its program; for a commit, the commit's number within the step, from 0.
    pub place: QuestionPath,
}

impl fmt::Display for EffectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{:?}/{}", self.step, self.station, self.place)
    }
}

/// A piece of work for the host's parts.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Candidates for a query.
    Retrieve(Query),
    /// The log-probabilities by which skills are compared for a query.
    Score {
        /// The query.
        query: String,
        /// The skills; the answer has the same order.
        skills: Arc<[Skill]>,
        /// The score that they are for.
        score: ScoreKind,
        /// Whether the answer has to be the same each time ([`ScoreRequest::repeatable`](crate::contract::ScoreRequest)).
        repeatable: bool,
        /// What the threshold was fitted for that the scores are compared with, if it was. Where another model, adapter or prompt format
        /// scores, the answer is an error.
        fitted_for: Option<ThresholdFor>,
    },
    /// The threshold of a gate for the model that scores.
    Threshold {
        /// The share of tasks without a right skill at which one may be injected.
        most_wrong: f64,
        /// Which skill the decision is about.
        on: DecidedOn,
    },
    /// An attempt at a task.
    Attempt(Box<AttemptEffect>),
    /// A verdict on an attempt.
    Judge {
        /// The task.
        task: Box<Task>,
        /// The attempt at it.
        trajectory: Box<Trajectory>,
    },
    /// A role's answer.
    Role {
        /// The role's task.
        ask: Box<RoleTask>,
        /// The seed of the sampling.
        seed: Seed,
    },
    /// A test case, to be played and judged.
    Case(Box<CaseEffect>),
    /// The embeddings of texts.
    Embed(Vec<String>),
    /// The exact information gain of a skill (ARISE Eq. 14).
    Gain {
        /// The skill.
        skill: Box<Skill>,
        /// Successful attempts.
        attempts: Vec<Trace>,
    },
    /// A commit to the library.
    Commit(Commit),
}

/// The parameters of an attempt.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct AttemptEffect {
    /// The run.
    pub run: RunId,
    /// The attempt's id.
    pub attempt: AttemptId,
    /// The task, redacted.
    pub task: Task,
    /// The seed of the agent.
    pub seed: Seed,
    /// The seed of the environment; the same for all attempts of a group.
    pub world_seed: Seed,
    /// The agent's sampling temperature; 0 is greedy.
    pub temperature: f32,
    /// The skills to inject, in order.
    pub skills: Vec<ChosenSkill>,
    /// Maximum number of tokens of all injected skill texts together.
    pub skill_tokens: Option<usize>,
    /// Whether skills are selected again for each later turn ([`SelectPer::Turn`](crate::stations::select::SelectPer::Turn)); otherwise
    /// the skills of the first turn stay.
    pub each_turn: bool,
    /// Time limit of the attempt.
    pub time_limit: Duration,
}

/// A request for the skills of a later turn of an attempt.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnAsk {
    /// The effect of the attempt.
    pub attempt: EffectId,
    /// The attempt's seed.
    pub seed: Seed,
    /// The turn, from 1.
    pub turn: u32,
    /// The query of the turn.
    pub query: TurnQuery,
}

/// The parameters of a test case: an attempt that begins with given actions.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct CaseEffect {
    /// The attempt.
    pub attempt: AttemptEffect,
    /// The actions that are played before the agent acts.
    pub prefix: Vec<Action>,
}

impl Station {
    /// Whether an answer of this variant can belong to this station.
    pub(crate) fn takes(self, answer: &Answer) -> bool {
        match answer {
            Answer::Committed(_) => matches!(self, Self::Commit | Self::Keep),
            // Maintenance and selections for turns ask questions of every kind; the program checks the answer later.
            _ if matches!(self, Self::Maintain | Self::Turn) => true,
            Answer::Retrieved(_) => self == Self::Retrieve,
            Answer::Scored(_) | Answer::Fitted(_) => self == Self::Score,
            Answer::Attempted(_) => self == Self::Attempt,
            Answer::Judged(_) => self == Self::Judge,
            Answer::Played(_) => self == Self::Role,
            Answer::Embedded(_) => self == Self::Rank,
            Answer::Tried(_) | Answer::Gained(_) => self == Self::Try,
        }
    }
}

// Converts questions of policies to effects: adds seeds, ids and limits.

/// The owner of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Of {
    /// A task of the stream.
    Task,
    /// Maintenance.
    Maintenance,
}

/// The station of a question's effect.
pub(crate) fn station(of: Of, question: &Question) -> Station {
    match (of, question) {
        (Of::Maintenance, _) => Station::Maintain,
        (_, Question::Retrieve(_)) => Station::Retrieve,
        (_, Question::Embed(_)) => Station::Rank,
        (_, Question::Score { .. } | Question::Threshold { .. }) => Station::Score,
        (_, Question::Attempt { .. }) => Station::Attempt,
        (_, Question::Judge { .. }) => Station::Judge,
        (_, Question::Role(_)) => Station::Role,
        (_, Question::Case(_) | Question::Gain { .. }) => Station::Try,
    }
}

/// The effect of a question at a place of a step's program.
pub(crate) fn effect(
    context: &RunContext<'_>,
    step: u64,
    of: Of,
    place: &QuestionPath,
    question: &Question,
) -> Effect {
    match question {
        Question::Retrieve(query) => Effect::Retrieve(query.clone()),
        Question::Embed(texts) => Effect::Embed(texts.clone()),
        Question::Score {
            query,
            skills,
            score,
            fitted_for,
        } => Effect::Score {
            query: query.clone(),
            skills: skills.clone(),
            score: *score,
            // What is evaluated is decided alike each time, whatever shares the model's batches.
            repeatable: context.mode == Mode::Evaluate,
            fitted_for: fitted_for.clone(),
        },
        Question::Threshold { most_wrong, on } => Effect::Threshold {
            most_wrong: *most_wrong,
            on: *on,
        },
        Question::Attempt {
            task,
            number,
            skills,
        } => Effect::Attempt(Box::new(attempt(context, step, task, *number, skills))),
        Question::Judge { task, trajectory } => Effect::Judge {
            task: task.clone(),
            trajectory: trajectory.clone(),
        },
        Question::Role(task) => Effect::Role {
            ask: task.clone(),
            seed: match of {
                // Derived from the question's number within the scope; from its whole place if the policy asks in nested
                // scopes.
                Of::Task => {
                    let (role, path) = (task.role().name(), place.path());
                    let (number, before) = path.split_last().unwrap_or((&0, &[]));
                    let in_scopes = before.iter().skip(1).any(|scope| *scope > 0);
                    let seed = context.step_seed(step);
                    match in_scopes {
                        true => seed_at(seed.derive(role, 0), place),
                        false => seed.derive(role, u64::from(*number)),
                    }
                }
                Of::Maintenance => seed_at(context.step_seed(step), place),
            },
        },
        Question::Case(one) => Effect::Case(Box::new(case(context, step, place, one))),
        Question::Gain { skill, attempts } => Effect::Gain {
            skill: skill.clone(),
            attempts: attempts.clone(),
        },
    }
}

fn seed_at(seed: Seed, place: &QuestionPath) -> Seed {
    let numbers = place.path().iter();
    numbers.fold(seed, |seed, number| {
        seed.derive("maintain", u64::from(*number))
    })
}

fn attempt(
    context: &RunContext<'_>,
    step: u64,
    task: &Task,
    number: u32,
    skills: &[ChosenSkill],
) -> AttemptEffect {
    let seed = context.step_seed(step);
    AttemptEffect {
        run: context.run.clone(),
        attempt: AttemptId::of(context.run, step, number),
        task: task.clone(),
        seed: seed.derive("attempt", u64::from(number)),
        world_seed: seed.derive("world", 0),
        temperature: match context.mode {
            Mode::Train => context.recipe.attempts.temperature,
            Mode::Evaluate => 0.0,
        },
        skills: skills.to_vec(),
        skill_tokens: context.recipe.select.skill_tokens.map(NonZeroUsize::get),
        each_turn: context.recipe.select.per == SelectPer::Turn && !context.warming_up,
        time_limit: context.recipe.limits.attempt,
    }
}

fn case(context: &RunContext<'_>, step: u64, place: &QuestionPath, one: &Case) -> CaseEffect {
    let Case {
        skill,
        beside,
        case,
    } = one;
    let skills = skill.iter().map(|skill| &**skill).chain(beside);
    // The seed depends only on the step and the case, so that the case is played alike with and without the skill.
    let seed = context.step_seed(step).derive(&case.name, 0);
    CaseEffect {
        attempt: AttemptEffect {
            run: context.run.clone(),
            attempt: AttemptId::new(format!("{}/{step}/m{place}", context.run)),
            task: case.task.clone(),
            seed,
            world_seed: case.world_seed,
            temperature: 0.0,
            skills: skills.map(chosen).collect(),
            skill_tokens: context.recipe.select.skill_tokens.map(NonZeroUsize::get),
            // A case tests this skill, so no other may be selected.
            each_turn: false,
            time_limit: context.recipe.limits.attempt,
        },
        prefix: case.prefix.clone(),
    }
}

fn chosen(skill: &Skill) -> ChosenSkill {
    ChosenSkill {
        sha256: skill.content_sha256(),
        skill: skill.clone(),
    }
}

/// The run's state that is lent to its tasks, its maintenance and its selections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunContext<'a> {
    context: Context<'a>,
    pub(crate) recipe: &'a Recipe,
    /// The policies that the recipe names.
    pub(crate) policies: &'a ResolvedPolicies,
}

impl<'a> RunContext<'a> {
    /// Borrows the present state of a run.
    pub(crate) fn new(
        (run, seed): (&'a RunId, Seed),
        (mode, replays, model): (Mode, bool, Option<&'a ModelId>),
        recipe: &'a Recipe,
        library: &'a SkillLibrary,
        policies: &'a ResolvedPolicies,
    ) -> Self {
        let attempts = &recipe.attempts;
        let context = Context {
            run,
            seed,
            mode,
            group: match mode {
                Mode::Train => attempts.group.get(),
                Mode::Evaluate => 1,
            },
            // The library counts the tasks, so that runs of a single task count towards the warm-up too.
            warming_up: mode == Mode::Train && library.tasks_learned() < recipe.warm_up_tasks(),
            explores: true,
            replays,
            model,
            left: MaintenanceBudget::default(),
            standing: &policies.standing,
            retrieval: recipe.select.retrieval(),
            library,
        };
        Self {
            context,
            recipe,
            policies,
        }
    }

    /// Sets whether a gate may explore.
    pub(crate) fn exploring(mut self, explores: bool) -> Self {
        self.context.explores = explores;
        self
    }

    pub(crate) fn with_seed(mut self, seed: Seed) -> Self {
        self.context.seed = seed;
        self
    }

    /// Sets what is left of the budget of this round of maintenance.
    pub(crate) fn within(mut self, left: MaintenanceBudget) -> Self {
        self.context.left = left;
        self
    }

    pub(crate) fn view(&self, step: u64) -> View {
        View::of(&self.context, step)
    }
}

impl<'a> Deref for RunContext<'a> {
    type Target = Context<'a>;

    fn deref(&self) -> &Context<'a> {
        &self.context
    }
}
