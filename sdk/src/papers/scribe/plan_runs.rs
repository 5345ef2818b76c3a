//! Trials of a plan: whether plans that work are preferred (SCRIBE 6.1, appendix E; row C8).

use futures::{StreamExt, stream};

use crate::{
    contract::{ScoreRequest, TokenScores},
    domain::{Skill, Task},
    error::{Error, ErrorKind, Result},
    papers::scribe::{ExecutedPlan, Trials, trials::TrialOptions},
    run::{host::journeyman::Journeyman, machine::CaseEffect},
};

const PLANS: &str = "Journeyman::plan_trials";

/// The executions of a plan.
#[non_exhaustive]
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
    /// The plan as the metrics count it ([`HighLevel`](crate::papers::scribe::HighLevel)); `None` where it was not scored or not judged.
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
    ///     papers::scribe::{HighLevel, StructureOptions, TrialOptions},
    ///     recipe,
    ///     run::{Journeyman, Options},
    ///     testing::{
    ///         Play, ScriptedEnvironment, ScriptedExecutor, ScriptedFormat, ScriptedScorer, sample,
    ///     },
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
    /// let plan = |words: &str| sample::skill("plan").with_body(words);
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
    /// [`candidate_plans`]: crate::papers::scribe::candidate_plans
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
