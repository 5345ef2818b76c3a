//! What repeated attempts at a subgoal and repeated executions of plans have in common (SCRIBE 6.1, appendix E; row C8).

use std::num::{NonZeroU32, NonZeroU64};

use futures::{StreamExt, stream};

use crate::{
    contract::{ScoreRequest, TokenScores},
    domain::{Action, Mode, Skill, Task},
    error::{Error, ErrorKind, Result},
    id::{AttemptId, RunId},
    policy::ChosenSkill,
    run::{
        driver::drive::{Driver, Log, Reach},
        host::journeyman::Journeyman,
        machine::{AttemptEffect, CaseEffect, Effect, RunMachine, RunPlan},
    },
    stations::measure::{ExecutedPlan, Trials},
};

/// How trials are made.
///
/// ```
/// use journeyman::{stations::measure::StructureOptions, run::TrialOptions};
///
/// // The paper's 64 rollouts of a subgoal.
/// let options = TrialOptions::new(StructureOptions::default().rollouts);
/// assert_eq!((options.count.get(), options.temperature), (64, None));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrialOptions {
    /// Number of trials: of the subgoal, or of each plan.
    pub count: NonZeroU32,
    /// The agent's sampling temperature, at least 0. `None` for that of the recipe's attempts
    /// ([`AttemptPolicy::temperature`](crate::recipe::AttemptPolicy)).
    pub temperature: Option<f32>,
    /// Whether a plan's executions also have the skills that are selected for the task, behind the plan. Rollouts of a subgoal
    /// always have them. Default: no, so that the plan alone is measured.
    pub with_selected: bool,
}

impl TrialOptions {
    /// So many trials at the recipe's temperature.
    pub fn new(count: NonZeroU32) -> Self {
        Self {
            count,
            temperature: None,
            with_selected: false,
        }
    }
}
impl Journeyman {
    /// What the trials at a task have in common.
    pub(super) async fn trials(
        &self,
        operation: &'static str,
        task: Task,
        options: &TrialOptions,
    ) -> Result<TrialsOf<'_>> {
        let session = &self.session;
        let temperature = options
            .temperature
            .unwrap_or(session.recipe.attempts.temperature);
        if !(temperature.is_finite() && temperature >= 0.0) {
            let rule = "the temperature is not a number from 0";
            return Err(Error::invalid(operation, rule).with("temperature", temperature));
        }
        let parts = (
            &session.components.executor,
            &session.components.environment,
        );
        if let (None, _) | (_, None) = parts {
            return Err(
                Error::unsupported(operation, "the host gave no agent or no world")
                    .hint("set `Components::executor` and `Components::environment`"),
            );
        }
        session.performer.attempts_again(operation)?;
        let run = session.next_run("trials");
        let task = session.performer.withhold(&run, task)?;
        let withheld = Withheld {
            journeyman: self,
            run: run.clone(),
        };
        let mut effect = self.evaluation(run, task).await?;
        effect.temperature = temperature;
        Ok(TrialsOf {
            effect,
            _withheld: withheld,
        })
    }

    /// The attempt of an evaluation of a redacted task, with its selected skills.
    async fn evaluation(&self, run: RunId, task: Task) -> Result<AttemptEffect> {
        let session = &self.session;
        let performer = &session.performer;
        performer.refresh_index().await;
        let library = performer.library().await?;
        let mut machine = RunMachine::new(RunPlan {
            run,
            seed: session.options.seed.derive("evaluate", 0),
            recipe: session.recipe.clone(),
            mode: Mode::Evaluate,
            tasks: vec![task],
            replays: false,
            library,
            policies: session.options.policies.clone(),
            width: NonZeroU64::MIN,
        })?;
        let driver = Driver {
            performer,
            journal: None,
            in_flight: session.options.in_flight,
        };
        let mut log = Log::new(0, None);
        driver
            .drive(&mut machine, Reach::AllButAttempts, &mut log, &mut |_| {})
            .await?;
        let mut effects = machine.effects().into_iter();
        let attempt = effects.find_map(|(_, effect)| match effect {
            Effect::Attempt(attempt) => Some(*attempt),
            _ => None,
        });
        attempt.ok_or_else(|| {
            // The selection failed in a way that ended the task.
            let report = machine.report().tasks.into_iter().next();
            let failed = report.and_then(|report| report.failed);
            failed.unwrap_or_else(|| {
                let message = "an evaluation of the task makes no attempt";
                Error::new(ErrorKind::Internal, "Journeyman::trials", message)
            })
        })
    }
}

/// Trials at one task.
pub(super) struct TrialsOf<'a> {
    /// The attempt that all trials begin from.
    pub(super) effect: AttemptEffect,
    _withheld: Withheld<'a>,
}

/// The originals of a run's tasks with secrets. Dropping this drops them.
pub(super) struct Withheld<'a> {
    pub(super) journeyman: &'a Journeyman,
    pub(super) run: RunId,
}

impl TrialsOf<'_> {
    /// The attempt with a plan in place of the selected skills, or before them.
    pub(super) fn following(&self, plan: Option<&Skill>, with_selected: bool) -> AttemptEffect {
        let mut effect = self.effect.clone();
        if !with_selected {
            effect.skills.clear();
            // Nor may a later turn select others.
            effect.each_turn = false;
        }
        let plan = plan.map(|plan| ChosenSkill {
            sha256: plan.content_sha256(),
            skill: plan.clone(),
        });
        effect.skills.splice(0..0, plan);
        effect
    }

    /// Trial `number` of what `of` names.
    pub(super) fn trial(
        &self,
        effect: &AttemptEffect,
        prefix: &[Action],
        of: &str,
        number: u32,
    ) -> CaseEffect {
        let mut attempt = effect.clone();
        attempt.attempt = AttemptId::new(format!("{}/{of}/{number}", effect.run));
        attempt.seed = effect.seed.derive(of, u64::from(number));
        CaseEffect {
            attempt,
            prefix: prefix.to_vec(),
        }
    }
}

impl Drop for Withheld<'_> {
    fn drop(&mut self) {
        self.journeyman.session.performer.forget(&self.run);
    }
}

// Repeated executions of plans, and how the model prefers them (SCRIBE 6.1, appendix E; row C8).

const PLANS: &str = "Journeyman::plan_trials";

/// The executions of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanRun {
    /// r: the log-probability of the plan's text given the task, divided by its number of tokens, in nats (SCRIBE Eq. 1). `None`
    /// where the host gave no scorer or no prompt format.
    pub preference: Option<f64>,
    /// The executions that were judged; `None` where none was.
    pub trials: Option<Trials>,
    /// The errors of the others.
    pub faults: Vec<Error>,
}

impl PlanRun {
    /// The plan as the metrics count it ([`HighLevel`](crate::stations::measure::HighLevel)); `None` where it was not scored or not judged.
    pub fn executed(&self) -> Option<ExecutedPlan> {
        Some(ExecutedPlan {
            preference: self.preference?,
            trials: self.trials?,
        })
    }
}
impl Journeyman {
    /// Executes each plan several times, and scores it. A plan is given as a skill: what the agent is to follow, in the words that
    /// it follows skills in. It stands in the prompt as an injected skill does, and need not be in the library. The host's judge
    /// decides whether an execution solved the task.
    ///
    /// Executions differ in the agent's seed alone. The preference is the mean log-probability of the skill's whole text, as the
    /// host's prompt format writes it, behind the prompt format's prompt for the task ([`PromptFormat::score_prompt`]). Nothing is learned, written to
    /// the journal or told as an event. [`candidate_plans`] finds plans of earlier attempts.
    ///
    /// ```
    /// use std::{num::NonZeroU32, sync::Arc};
    ///
    /// use journeyman::{
    ///     Seed,
    ///     agent::EnvironmentJudge,
    ///     contract::Components,
    ///     domain::{Action, Skill},
    ///     stations::measure::{HighLevel, StructureOptions},
    ///     recipe,
    ///     run::{Journeyman, Options, TrialOptions},
    ///     testing::{Play, ScriptedFormat, ScriptedEnvironment, ScriptedExecutor, ScriptedScorer, sample},
    /// };
    ///
    /// # futures::executor::block_on(async {
    /// // An agent that says the words of the plan in its prompt.
    /// let agent = ScriptedExecutor::acting(|attempt, steps| {
    ///     let plan = attempt.injection.skills[0].text.lines().nth(1).unwrap_or_default().to_owned();
    ///     Play::Give(plan.split(' ').nth(steps.len()).map(|word| Action::Message(word.to_owned())))
    /// });
    /// let world = ScriptedEnvironment::words();
    /// let components = Components::new(Arc::new(agent), Arc::new(world), Arc::new(EnvironmentJudge))
    ///     .with_prompt_format(Arc::new(ScriptedFormat))
    ///     .with_scorer(Arc::new(ScriptedScorer::table([("good day", -0.5)])));
    /// let journeyman = Journeyman::open(components, recipe::scribe(), Options::new("desk", Seed(7))).await?;
    ///
    /// let plan = |words: &str| Skill { body: words.to_owned(), ..sample::skill("plan") };
    /// let plans = [plan("good day"), plan("day good")];
    /// let task = sample::task("greet", &["good", "day"]);
    /// let options = TrialOptions::new(StructureOptions::default().trials);
    /// let runs = journeyman.plan_trials(task, &plans, &options).await?;
    /// let executed: Vec<_> = runs.iter().filter_map(|run| run.executed()).collect();
    /// let high = HighLevel::of([&executed[..]], &StructureOptions::default())?;
    /// assert_eq!((high.selection, high.separation), (Some(1.0), Some(1.0)));
    /// # Ok::<_, journeyman::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// `Invalid` for a temperature that is not a number from 0; `Unsupported` where the host gave no agent, no world or no judge, and
    /// where the world cannot set up a task again;
    /// the scorer's and the store's error. The errors of executions are in the result.
    ///
    /// [`PromptFormat::score_prompt`]: crate::contract::PromptFormat::score_prompt
    /// [`candidate_plans`]: crate::stations::measure::candidate_plans
    pub async fn plan_trials(
        &self,
        task: Task,
        plans: &[Skill],
        options: &TrialOptions,
    ) -> Result<Vec<PlanRun>> {
        if self.session.components.judge.is_none() {
            return Err(Error::unsupported(PLANS, "the host gave no judge")
                .hint("set `Components::judge`: it decides whether an execution solved the task"));
        }
        let trials = self.trials(PLANS, task, options).await?;
        let preferences = self.preferences(&trials.effect.task, plans).await?;
        let executions = (0..plans.len())
            .flat_map(|plan| (0..options.count.get()).map(move |number| (plan, number)));
        let executed = executions.map(|(plan, number)| {
            let effect = trials.following(plans.get(plan), options.with_selected);
            let trial = trials.trial(&effect, &[], &format!("plan-{plan}"), number);
            async move { self.execution(&trial).await }
        });
        let in_flight = self.session.options.in_flight.get();
        let executed: Vec<Result<bool>> =
            stream::iter(executed).buffered(in_flight).collect().await;
        let each = usize::try_from(options.count.get()).unwrap_or(usize::MAX);
        let runs = executed.chunks(each).enumerate().map(|(plan, outcomes)| {
            let judged = outcomes.iter().filter_map(|outcome| outcome.as_ref().ok());
            let faults = outcomes.iter().filter_map(|outcome| outcome.as_ref().err());
            PlanRun {
                preference: preferences.as_ref().and_then(|all| all.get(plan).copied()),
                trials: Trials::of(judged.copied()),
                faults: faults.cloned().collect(),
            }
        });
        Ok(runs.collect())
    }

    /// Whether an execution of a plan solved the task.
    ///
    /// # Errors
    /// The error of an execution that could not be made or judged; `Invalid` where the judge did not decide.
    async fn execution(&self, trial: &CaseEffect) -> Result<bool> {
        let performer = &self.session.performer;
        let trajectory = performer.trial(trial).await?;
        let judging = performer.judge(&trial.attempt.task, &trajectory);
        let limit = performer.limits.judge;
        let verdict = performer.bounded("Judge::judge", limit, judging).await?;
        verdict
            .success()
            .ok_or_else(|| Error::invalid(PLANS, "the judge did not decide"))
    }

    /// The mean log-probability of each plan's whole text given the task; `None` without a scorer or a prompt format.
    async fn preferences(&self, task: &Task, plans: &[Skill]) -> Result<Option<Vec<f64>>> {
        let components = &self.session.components;
        let (Some(scorer), Some(prompt_format)) = (&components.scorer, &components.prompt_format)
        else {
            return Ok(None);
        };
        let performer = &self.session.performer;
        let scoring = async {
            let texts = plans.iter().map(|plan| prompt_format.skill_text(plan));
            let request = ScoreRequest {
                // A plan is not cut, as a skill is for the gate.
                max_continuation_tokens: usize::MAX,
                ..performer.score_request(
                    prompt_format.score_prompt(&task.instruction),
                    texts.collect(),
                )
            };
            scorer.score(&request).await
        };
        let limit = performer.limits.score;
        let scores = performer.bounded("Scorer::score", limit, scoring).await?;
        let means: Vec<f64> = scores.iter().map(TokenScores::mean).collect();
        let sound = means.len() == plans.len() && means.iter().all(|mean| mean.is_finite());
        match sound {
            true => Ok(Some(means)),
            false => Err(Error::new(
                ErrorKind::Model,
                "Scorer::score",
                "the scorer did not give a finite score for each plan",
            )),
        }
    }
}
