//! An agent driven by a language model.

mod compact;
mod fitting;
mod options;
mod turn;
mod writing;

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;
pub use options::ModelExecutorOptions;

use self::{
    fitting::Fitting,
    turn::{Acted, Turn},
};
use crate::{
    contract::{
        Attempt, Episode, Executor, LanguageModel, ModelCapabilities, PromptFormat, TurnContext,
    },
    domain::{
        EndReason, Exposure, Injection, Observation, Outcome, SkillRef, SkillUse, Step, StepResult,
        Trajectory, UnreadTurn, Usage,
    },
    error::{Error, ErrorKind, Result},
};

/// An [`Executor`] that lets a [`LanguageModel`] write each turn in its [`PromptFormat`].
///
/// The first turn has the attempt's skills. For every later turn the attempt's guidance is asked, and a turn whose guidance
/// fails has no skills. Every generation has its own seed, derived from the attempt's. The executor reads no clock: the
/// attempt's time limit bounds each generation, and the caller bounds the whole attempt by dropping the future.
///
/// Each prompt is counted by the model before it is sent. One that is too long for the model's context, with room for the
/// answer ([`Room`](crate::stations::inject::Room)), is made of less: `docs/reference/prompts.md` has the order in which results, steps and
/// descriptions of tools are left out, and [`Trajectory::compaction`] says what was. Where even that does not fit, the attempt
/// ends with [`EndReason::ContextLength`].
///
/// ```
/// use std::sync::Arc;
///
/// use journeyman::{
///     Seed,
///     agent::{ChatFormat, EnvironmentJudge, ModelExecutor, ModelExecutorOptions},
///     contract::Components,
///     recipe,
///     run::{Journeyman, Options},
///     testing::{ScriptedEnvironment, ScriptedModel, sample},
/// };
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::answers([r#"{"message": "good"}"#, r#"{"message": "day"}"#]);
/// let prompt_format = Arc::new(ChatFormat::default());
/// let agent = ModelExecutor::new(Arc::new(model), prompt_format, ModelExecutorOptions::default())?;
/// let world = Arc::new(ScriptedEnvironment::words());
/// let components = Components::new(Arc::new(agent), world, Arc::new(EnvironmentJudge));
///
/// let options = Options::new("session", Seed(7));
/// let journeyman = Journeyman::open(components, recipe::standard(), options).await?;
/// let report = journeyman.evaluate(vec![sample::task("greet", &["good", "day"])]).await?;
/// assert_eq!(report.tasks[0].attempts[0].success, Some(true));
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct ModelExecutor {
    model: Arc<dyn LanguageModel>,
    prompt_format: Arc<dyn PromptFormat>,
    options: ModelExecutorOptions,
}

impl ModelExecutor {
    /// An agent that is this model, prompted in this prompt format.
    ///
    /// # Errors
    /// `Invalid` for a step budget of 0, a generation time of 0, or a nucleus outside (0, 1].
    pub fn new(
        model: Arc<dyn LanguageModel>,
        prompt_format: Arc<dyn PromptFormat>,
        options: ModelExecutorOptions,
    ) -> Result<Self> {
        options.validate()?;
        Ok(Self {
            options: options.for_model(model.capabilities()),
            model,
            prompt_format,
        })
    }
}

#[async_trait]
impl Executor for ModelExecutor {
    fn capabilities(&self) -> Option<&ModelCapabilities> {
        Some(self.model.capabilities())
    }

    async fn execute(&self, attempt: Attempt<'_>, episode: &mut dyn Episode) -> Result<Trajectory> {
        check(&attempt)?;
        let mut run = Run::new(self, attempt);
        let end = match run.until_end(episode).await {
            Ok(end) => end,
            Err(error) if !run.acted => return Err(error),
            Err(error) => run.reason(error),
        };
        Ok(run.into_trajectory(end))
    }
}

fn check(attempt: &Attempt<'_>) -> Result<()> {
    if !(attempt.temperature.is_finite() && attempt.temperature >= 0.0) {
        return Err(Error::invalid(
            "Executor::execute",
            "the temperature is not a number from 0",
        )
        .with("temperature", attempt.temperature));
    }
    Ok(())
}

/// One attempt under way.
struct Run<'a> {
    executor: &'a ModelExecutor,
    attempt: Attempt<'a>,
    steps: Vec<Step>,
    /// The turn of the task, from 0; a turn ends with the end of the turn or a message to the user.
    turn: u32,
    exposures: Vec<Exposure>,
    unread: Option<Box<UnreadTurn>>,
    outcome: Option<Outcome>,
    usage: Usage,
    generations: u64,
    fitting: Fitting,
    /// Whether the agent has acted in the environment. From then on an error ends the trajectory and is not returned.
    acted: bool,
}

impl<'a> Run<'a> {
    fn new(executor: &'a ModelExecutor, attempt: Attempt<'a>) -> Self {
        Self {
            executor,
            attempt,
            steps: Vec::new(),
            turn: 0,
            exposures: Vec::new(),
            unread: None,
            outcome: None,
            usage: Usage::default(),
            generations: 0,
            fitting: Fitting::default(),
            acted: false,
        }
    }

    async fn until_end(&mut self, episode: &mut dyn Episode) -> Result<EndReason> {
        self.expose(self.attempt.injection);
        let mut prefix = self.attempt.prefix.iter();
        let mut first = true;
        while self.outcome.is_none() {
            if self.steps.len() >= self.executor.options.max_steps as usize {
                return Ok(EndReason::StepBudget);
            }
            if let Some(action) = prefix.next() {
                self.step(episode, Acted::replayed(action.clone())).await?;
                continue;
            }
            let observation = episode.observation().clone();
            let injection = self
                .injection(&observation, std::mem::take(&mut first))
                .await;
            self.expose(&injection);
            match self.write(&observation, &injection).await? {
                Turn::Unreadable(unread) => {
                    self.unread = Some(unread);
                    return Ok(EndReason::Unreadable);
                }
                Turn::TooLong(prompt) => {
                    let context = self.executor.model.context() as u64;
                    return Ok(EndReason::ContextLength { prompt, context });
                }
                Turn::Act(acted) => {
                    self.mark_used(&injection, &acted.used);
                    self.step(episode, *acted).await?;
                }
            }
        }
        Ok(EndReason::Finished)
    }

    /// The skills of a turn: the attempt's for the first turn, else those of its guidance.
    async fn injection(&self, observation: &Observation, first: bool) -> Injection {
        if first {
            return self.attempt.injection.clone();
        }
        let context = TurnContext {
            turn: self.steps.len() as u32,
            observation,
            steps: &self.steps,
        };
        match self.attempt.guidance.for_turn(&context).await {
            Ok(injection) => injection,
            Err(error) => {
                tracing::warn!(%error, turn = context.turn, "no guidance for this turn");
                Injection::NONE
            }
        }
    }

    async fn step(&mut self, episode: &mut dyn Episode, acted: Acted) -> Result<()> {
        let Acted {
            action,
            transcript,
            used: _,
            notes,
            generations,
        } = acted;
        let observation = episode.observation().clone();
        self.acted = true;
        let transition = episode.step(&action).await?;
        let step = Step {
            index: self.steps.len() as u32,
            turn: self.turn,
            actor: "agent".to_owned(),
            observation,
            action,
            result: StepResult::from(&transition),
            transcript,
            generations,
            notes,
        };
        self.turn += u32::from(step.ends_turn());
        self.steps.push(step);
        self.outcome = transition.outcome;
        Ok(())
    }

    fn expose(&mut self, injection: &Injection) {
        let known: BTreeSet<SkillRef> =
            (self.exposures.iter().map(|exposure| exposure.skill.clone())).collect();
        for injected in &injection.skills {
            if !known.contains(&injected.skill) {
                self.exposures.push(Exposure {
                    skill: injected.skill.clone(),
                    used: SkillUse::Unknown,
                    since: self.steps.len() as u32,
                });
            }
        }
    }

    /// Records what the model said of the skills of a turn. Over the turns of an attempt followed beats not followed, and both
    /// beat unknown.
    fn mark_used(&mut self, injection: &Injection, used: &[SkillUse]) {
        for (injected, used) in injection.skills.iter().zip(used) {
            let mut exposures = self.exposures.iter_mut();
            let exposure = exposures.find(|exposure| exposure.skill == injected.skill);
            if let Some(exposure) = exposure.filter(|exposure| exposure.used < *used) {
                exposure.used = *used;
                self.attempt.guidance.used(&exposure.skill, *used);
            }
        }
    }

    /// The end reason of an attempt that an error ended. A timeout of a generation that had the attempt's whole time limit is
    /// the attempt's deadline.
    fn reason(&self, error: Error) -> EndReason {
        let own_limit = self.attempt.time_limit <= self.executor.options.generation_time;
        if own_limit && error.kind() == ErrorKind::Timeout {
            EndReason::Deadline
        } else {
            EndReason::Failed(error)
        }
    }

    fn into_trajectory(self, end: EndReason) -> Trajectory {
        Trajectory {
            schema: Trajectory::SCHEMA,
            attempt: self.attempt.id,
            task: self.attempt.task.id.clone(),
            seed: self.attempt.seed,
            model: None,
            steps: self.steps,
            exposures: self.exposures,
            injection: Injection::NONE,
            left_out: Vec::new(),
            undecided: None,
            unread: self.unread,
            compaction: self.fitting.left_out,
            outcome: self.outcome,
            end,
            usage: self.usage,
        }
    }
}
