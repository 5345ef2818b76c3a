//! Repeated attempts at a subgoal, and repeated executions of plans (SCRIBE 6.1, appendix E; row C8).

use std::num::{NonZeroU32, NonZeroU64};

use futures::{StreamExt, stream};

use super::journeyman::Journeyman;
use crate::{
    contract::{ScoreRequest, TokenScores},
    domain::{Action, Mode, Skill, Subgoal, Task, Trace, Trajectory},
    error::{Error, ErrorKind, Result},
    id::{AttemptId, RunId},
    measure::{ExecutedPlan, Trials},
    policy::ChosenSkill,
    run::{
        driver::{
            drive::{Driver, Reach},
            log::Log,
            redacting::holds_mark,
        },
        machine::{AttemptNeed, CaseNeed, Need, RunMachine, RunPlan},
    },
};

const ROLLOUTS: &str = "Journeyman::subgoal_rollouts";
const PLANS: &str = "Journeyman::plan_trials";

/// How trials are made.
///
/// ```
/// use journeyman::{measure::StructureOptions, run::TrialOptions};
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

/// The rollouts of a subgoal.
#[derive(Clone, Debug, PartialEq)]
pub struct SubgoalRollouts {
    /// Number of steps that were replayed: the agent's own first step has this index.
    pub replayed: usize,
    /// The rollouts, in order. The error of one that could not be made, or that a part's fault ended.
    pub rollouts: Vec<Result<Box<Trajectory>>>,
}

impl SubgoalRollouts {
    /// Counts the rollouts that completed the subgoal. `completed` is given a rollout and the index of the agent's own first
    /// step; `None` where it cannot tell. Such a rollout does not count, and one with an error does not either; `None` where none
    /// counts.
    pub fn trials(&self, completed: impl Fn(&Trajectory, usize) -> Option<bool>) -> Option<Trials> {
        let made = self.rollouts.iter().filter_map(|one| one.as_deref().ok());
        Trials::of(made.filter_map(|one| completed(one, self.replayed)))
    }
}

/// The executions of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanRun {
    /// r: the log-probability of the plan's text given the task, divided by its number of tokens, in nats (SCRIBE Eq. 1). `None`
    /// where the host gave no scorer or no dialect.
    pub preference: Option<f64>,
    /// The executions that were judged; `None` where none was.
    pub trials: Option<Trials>,
    /// The errors of the others.
    pub faults: Vec<Error>,
}

impl PlanRun {
    /// The plan as the metrics count it ([`HighLevel`](crate::measure::HighLevel)); `None` where it was not scored or not judged.
    pub fn executed(&self) -> Option<ExecutedPlan> {
        Some(ExecutedPlan {
            preference: self.preference?,
            trials: self.trials?,
        })
    }
}

impl Journeyman {
    /// Lets the agent work on a subgoal again and again: in each rollout the actions of an attempt before the subgoal are
    /// replayed, and then the agent acts until the episode ends. It has the skills that an evaluation of the task would select
    /// from the present library at the first turn. Whether a rollout completed the subgoal, the host says
    /// ([`SubgoalRollouts::trials`]).
    ///
    /// Rollouts differ in the agent's seed alone: the world's is the attempt's. The seeds follow from the session's, so that two
    /// checkpoints draw the same ones. Nothing is learned, written to the journal or told as an event.
    ///
    /// ```
    /// use std::{num::NonZeroU32, sync::Arc};
    ///
    /// use journeyman::{
    ///     Seed,
    ///     builtin::EnvironmentJudge,
    ///     contract::Backends,
    ///     domain::Action,
    ///     recipe,
    ///     run::{Journeyman, Options, TrialOptions},
    ///     testing::{Play, ScriptedEnvironment, ScriptedExecutor, sample},
    /// };
    ///
    /// # futures::executor::block_on(async {
    /// // An agent that knows the second word at every other seed.
    /// let agent = ScriptedExecutor::acting(|attempt, _| {
    ///     let word = if attempt.seed.0 % 2 == 0 { "day" } else { "night" };
    ///     Play::Give((word == "day").then(|| Action::Message(word.to_owned())))
    /// });
    /// let world = ScriptedEnvironment::words();
    /// let backends = Backends::new(Arc::new(agent), Arc::new(world), Arc::new(EnvironmentJudge));
    /// let journeyman = Journeyman::open(backends, recipe::scribe(), Options::new("desk", Seed(7))).await?;
    ///
    /// let task = sample::task("greet", &["good", "day"]);
    /// let attempt = sample::trace("desk/learn-0/0/0", &task, &["good", "day"], true);
    /// let subgoal = sample::subgoal("say the second word", 1, 1);
    /// let options = TrialOptions::new(NonZeroU32::new(64).expect("not 0"));
    /// let rollouts = journeyman.subgoal_rollouts(&attempt, &subgoal, &options).await?;
    /// let trials = rollouts.trials(|rollout, own| {
    ///     Some(rollout.steps.get(own).is_some_and(|step| !step.result.is_error))
    /// });
    /// let rate = trials.expect("64 rollouts").rate();
    /// assert!(0.2 < rate && rate < 0.8, "{rate}");
    /// # Ok::<_, journeyman::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// `Unsupported` where a prefix has to be replayed and the environment is not deterministic, where the host gave no agent or
    /// no world, and for a task whose secrets were redacted; `Invalid` for a subgoal that is not among the attempt's steps, and
    /// for a temperature that is not a number from 0; the store's error.
    pub async fn subgoal_rollouts(
        &self,
        attempt: &Trace,
        subgoal: &Subgoal,
        options: &TrialOptions,
    ) -> Result<SubgoalRollouts> {
        let steps = &attempt.trajectory.steps;
        if subgoal.first > subgoal.last || subgoal.last >= steps.len() {
            return Err(
                Error::invalid(ROLLOUTS, "the subgoal is not among the attempt's steps")
                    .with("first", subgoal.first)
                    .with("last", subgoal.last)
                    .with("steps", steps.len()),
            );
        }
        if subgoal.first > 0 && !self.session.performer.repeats() {
            return Err(Error::unsupported(
                ROLLOUTS,
                "the actions before the subgoal can be replayed in a deterministic environment alone",
            )
            .hint("declare it in `Environment::capabilities`, or take the first subgoal of an attempt"));
        }
        if holds_mark(&attempt.task) {
            return Err(Error::unsupported(
                ROLLOUTS,
                "the attempt's task held a secret, and only its redacted form was kept",
            )
            .with("task", &attempt.task.id)
            .hint("take an attempt at a task without secrets"));
        }
        let prefix: Vec<Action> = steps
            .iter()
            .take(subgoal.first)
            .map(|step| step.action.clone())
            .collect();
        let of = format!("{}#{}", attempt.trajectory.attempt, subgoal.first);
        let trials = self.trials(ROLLOUTS, attempt.task.clone(), options).await?;
        let mut need = trials.need.clone();
        need.world_seed = attempt.world_seed;
        let made = (0..options.count.get()).map(|number| {
            let trial = trials.trial(&need, &prefix, &of, number);
            async move { self.session.performer.trial(&trial).await }
        });
        let in_flight = self.session.options.in_flight.get();
        let rollouts = stream::iter(made).buffered(in_flight).collect().await;
        Ok(SubgoalRollouts {
            replayed: prefix.len(),
            rollouts,
        })
    }

    /// Executes each plan several times, and scores it. A plan is given as a skill: what the agent is to follow, in the words that
    /// it follows skills in. It stands in the prompt as an injected skill does, and need not be in the library. The host's judge
    /// decides whether an execution solved the task.
    ///
    /// Executions differ in the agent's seed alone. The preference is the mean log-probability of the skill's whole text, as the
    /// host's dialect writes it, behind the dialect's prompt for the task ([`Dialect::score_prompt`]). Nothing is learned, written to
    /// the journal or told as an event. [`candidate_plans`] finds plans of earlier attempts.
    ///
    /// ```
    /// use std::{num::NonZeroU32, sync::Arc};
    ///
    /// use journeyman::{
    ///     Seed,
    ///     builtin::EnvironmentJudge,
    ///     contract::Backends,
    ///     domain::{Action, Skill},
    ///     measure::{HighLevel, StructureOptions},
    ///     recipe,
    ///     run::{Journeyman, Options, TrialOptions},
    ///     testing::{Play, ScriptedDialect, ScriptedEnvironment, ScriptedExecutor, ScriptedScorer, sample},
    /// };
    ///
    /// # futures::executor::block_on(async {
    /// // An agent that says the words of the plan in its prompt.
    /// let agent = ScriptedExecutor::acting(|attempt, steps| {
    ///     let plan = attempt.injection.skills[0].text.lines().nth(1).unwrap_or_default().to_owned();
    ///     Play::Give(plan.split(' ').nth(steps.len()).map(|word| Action::Message(word.to_owned())))
    /// });
    /// let world = ScriptedEnvironment::words();
    /// let backends = Backends::new(Arc::new(agent), Arc::new(world), Arc::new(EnvironmentJudge))
    ///     .with_dialect(Arc::new(ScriptedDialect))
    ///     .with_scorer(Arc::new(ScriptedScorer::table([("good day", -0.5)])));
    /// let journeyman = Journeyman::open(backends, recipe::scribe(), Options::new("desk", Seed(7))).await?;
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
    /// `Invalid` for a temperature that is not a number from 0; `Unsupported` where the host gave no agent, no world or no judge;
    /// the scorer's and the store's error. The errors of executions are in the result.
    ///
    /// [`Dialect::score_prompt`]: crate::contract::Dialect::score_prompt
    /// [`candidate_plans`]: crate::measure::candidate_plans
    pub async fn plan_trials(
        &self,
        task: Task,
        plans: &[Skill],
        options: &TrialOptions,
    ) -> Result<Vec<PlanRun>> {
        if self.session.backends.judge.is_none() {
            return Err(Error::unsupported(PLANS, "the host gave no judge")
                .hint("set `Backends::judge`: it decides whether an execution solved the task"));
        }
        let trials = self.trials(PLANS, task, options).await?;
        let preferences = self.preferences(&trials.need.task, plans).await?;
        let executions = (0..plans.len())
            .flat_map(|plan| (0..options.count.get()).map(move |number| (plan, number)));
        let executed = executions.map(|(plan, number)| {
            let need = trials.following(plans.get(plan), options.with_selected);
            let trial = trials.trial(&need, &[], &format!("plan-{plan}"), number);
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
    async fn execution(&self, trial: &CaseNeed) -> Result<bool> {
        let performer = &self.session.performer;
        let trajectory = performer.trial(trial).await?;
        let judging = performer.judge(&trial.attempt.task, &trajectory);
        let limit = performer.limits.judge;
        let verdict = performer.bounded("Judge::judge", limit, judging).await?;
        verdict
            .success()
            .ok_or_else(|| Error::invalid(PLANS, "the judge did not decide"))
    }

    /// The mean log-probability of each plan's whole text given the task; `None` without a scorer or a dialect.
    async fn preferences(&self, task: &Task, plans: &[Skill]) -> Result<Option<Vec<f64>>> {
        let backends = &self.session.backends;
        let (Some(scorer), Some(dialect)) = (&backends.scorer, &backends.dialect) else {
            return Ok(None);
        };
        let performer = &self.session.performer;
        let scoring = async {
            let texts = plans.iter().map(|plan| dialect.skill_text(plan));
            let request = ScoreRequest {
                // A plan is not cut, as a skill is for the gate.
                max_continuation_tokens: usize::MAX,
                ..performer.score_request(dialect.score_prompt(&task.instruction), texts.collect())
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

    /// What the trials at a task have in common.
    async fn trials(
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
        let parts = (&session.backends.executor, &session.backends.environment);
        if let (None, _) | (_, None) = parts {
            return Err(
                Error::unsupported(operation, "the host gave no agent or no world")
                    .hint("set `Backends::executor` and `Backends::environment`"),
            );
        }
        let run = session.next_run("trials");
        let task = session.performer.withhold(&run, task)?;
        let withheld = Withheld {
            journeyman: self,
            run: run.clone(),
        };
        let mut need = self.evaluation(run, task).await?;
        need.temperature = temperature;
        Ok(TrialsOf {
            need,
            _withheld: withheld,
        })
    }

    /// The attempt of an evaluation of a redacted task, with its selected skills.
    async fn evaluation(&self, run: RunId, task: Task) -> Result<AttemptNeed> {
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
        let mut needs = machine.needs().into_iter();
        let attempt = needs.find_map(|(_, need)| match need {
            Need::Attempt(attempt) => Some(*attempt),
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
struct TrialsOf<'a> {
    /// The attempt that all trials begin from.
    need: AttemptNeed,
    _withheld: Withheld<'a>,
}

/// The original of a task with secrets. Dropping this drops the original.
struct Withheld<'a> {
    journeyman: &'a Journeyman,
    run: RunId,
}

impl TrialsOf<'_> {
    /// The attempt with a plan in place of the selected skills, or before them.
    fn following(&self, plan: Option<&Skill>, with_selected: bool) -> AttemptNeed {
        let mut need = self.need.clone();
        if !with_selected {
            need.skills.clear();
            // Nor may a later turn select others.
            need.each_turn = false;
        }
        let plan = plan.map(|plan| ChosenSkill {
            sha256: plan.content_sha256(),
            skill: plan.clone(),
        });
        need.skills.splice(0..0, plan);
        need
    }

    /// Trial `number` of what `of` names.
    fn trial(&self, need: &AttemptNeed, prefix: &[Action], of: &str, number: u32) -> CaseNeed {
        let mut attempt = need.clone();
        attempt.attempt = AttemptId::new(format!("{}/{of}/{number}", need.run));
        attempt.seed = need.seed.derive(of, u64::from(number));
        CaseNeed {
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
