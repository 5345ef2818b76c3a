//! An agent that follows a script.

use std::fmt;

use async_trait::async_trait;

use super::play::{Calls, Play};
use crate::{
    contract::{Attempt, Episode, Executor},
    domain::{
        Action, EndReason, Exposure, Injection, SkillUse, Step, StepResult, Trajectory, Usage,
    },
    error::Result,
};

/// The greatest number of steps of an acting script.
const STEPS: usize = 64;

type Whole = dyn Fn(&Attempt<'_>, usize) -> Play<Trajectory> + Send + Sync;
type Acting = dyn Fn(&Attempt<'_>, &[Step]) -> Play<Option<Action>> + Send + Sync;

enum Script {
    Whole(Box<Whole>),
    Acting(Box<Acting>),
}

/// An [`Executor`] that follows a script.
///
/// ```
/// use journeyman::{
///     domain::Action,
///     testing::{Play, ScriptedExecutor},
/// };
///
/// // Says the words of the task's payload, and gives up behind the last.
/// let agent = ScriptedExecutor::acting(|attempt, steps| {
///     let word = attempt.task.payload[steps.len()].as_str();
///     Play::Give(word.map(|word| Action::Message(word.to_owned())))
/// });
/// assert_eq!(agent.calls(), 0);
/// ```
pub struct ScriptedExecutor {
    script: Script,
    calls: Calls,
}

impl ScriptedExecutor {
    /// An agent whose whole trajectory comes from a closure; it takes no step in the episode.
    pub fn by(
        script: impl Fn(&Attempt<'_>, usize) -> Play<Trajectory> + Send + Sync + 'static,
    ) -> Self {
        Self {
            script: Script::Whole(Box::new(script)),
            calls: Calls::default(),
        }
    }

    /// An agent whose next action comes from a closure; `None` gives up. It replays the prefix, says of every injected skill
    /// that it follows it, and does not ask its guidance.
    pub fn acting(
        script: impl Fn(&Attempt<'_>, &[Step]) -> Play<Option<Action>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            script: Script::Acting(Box::new(script)),
            calls: Calls::default(),
        }
    }

    /// An agent that plays the same at every call, such as [`Play::Hang`].
    pub fn that(play: Play<Trajectory>) -> Self {
        Self::by(move |_, _| play.clone())
    }

    /// The number of calls.
    pub fn calls(&self) -> usize {
        self.calls.count()
    }
}

impl fmt::Debug for ScriptedExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedExecutor")
            .field("calls", &self.calls())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Executor for ScriptedExecutor {
    async fn execute(&self, attempt: Attempt<'_>, episode: &mut dyn Episode) -> Result<Trajectory> {
        let call = self.calls.next();
        match &self.script {
            Script::Whole(script) => script(&attempt, call).perform().await,
            Script::Acting(script) => act(script, &attempt, episode).await,
        }
    }
}

async fn act(
    script: &Acting,
    attempt: &Attempt<'_>,
    episode: &mut dyn Episode,
) -> Result<Trajectory> {
    let exposures = (attempt.injection.skills.iter())
        .map(|injected| Exposure {
            skill: injected.skill.clone(),
            used: SkillUse::Followed,
            since: 0,
        })
        .collect::<Vec<_>>();
    exposures
        .iter()
        .for_each(|exposure| attempt.guidance.used(&exposure.skill, exposure.used));
    let mut trajectory = Trajectory {
        schema: Trajectory::SCHEMA,
        attempt: attempt.id.clone(),
        task: attempt.task.id.clone(),
        seed: attempt.seed,
        model: None,
        steps: Vec::new(),
        exposures,
        injection: Injection::NONE,
        left_out: Vec::new(),
        undecided: None,
        unread: None,
        compaction: crate::domain::Compaction::NONE,
        outcome: None,
        end: EndReason::StepBudget,
        usage: Usage::default(),
    };
    while trajectory.steps.len() < STEPS {
        let action = match attempt.prefix.get(trajectory.steps.len()) {
            Some(action) => Some(action.clone()),
            None => script(attempt, &trajectory.steps).perform().await?,
        };
        let Some(action) = action else {
            trajectory.end = EndReason::GaveUp;
            break;
        };
        let observation = episode.observation().clone();
        let transition = match episode.step(&action).await {
            Ok(transition) => transition,
            Err(error) => {
                trajectory.end = EndReason::Failed(error);
                break;
            }
        };
        trajectory.steps.push(Step {
            index: trajectory.steps.len() as u32,
            turn: 0,
            actor: "agent".to_owned(),
            observation,
            action,
            result: StepResult::from(&transition),
            transcript: String::new(),
            generations: Vec::new(),
            notes: Vec::new(),
        });
        if transition.outcome.is_some() {
            trajectory.outcome = transition.outcome;
            trajectory.end = EndReason::Finished;
            break;
        }
    }
    Ok(trajectory)
}
