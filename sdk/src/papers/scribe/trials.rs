//! What repeated attempts at a subgoal and repeated executions of plans have in common (SCRIBE 6.1, appendix E; row C8).

use std::num::{NonZeroU32, NonZeroU64};

use crate::{
    domain::{Action, Mode, Skill, Task},
    error::{Error, Result},
    id::{AttemptId, RunId},
    policy::ChosenSkill,
    run::{
        driver::drive::{Driver, Log, Reach},
        host::{journeyman::Journeyman, withheld::Withheld},
        machine::{AttemptEffect, CaseEffect, Effect, RunMachine, RunPlan},
    },
};

/// How trials are made.
///
/// ```
/// use journeyman::papers::scribe::{StructureOptions, TrialOptions};
///
/// // The paper's 64 rollouts of a subgoal.
/// let options = TrialOptions::new(StructureOptions::default().rollouts);
/// assert_eq!((options.count.get(), options.temperature), (64, None));
/// ```
#[non_exhaustive]
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
    pub(crate) async fn trials(
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
            model: None,
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
                Error::internal("Journeyman::trials", message)
            })
        })
    }
}

/// Trials at one task.
pub(crate) struct TrialsOf<'a> {
    /// The attempt that all trials begin from.
    pub(crate) effect: AttemptEffect,
    _withheld: Withheld<'a>,
}

impl TrialsOf<'_> {
    /// The attempt with a plan in place of the selected skills, or before them.
    pub(crate) fn following(&self, plan: Option<&Skill>, with_selected: bool) -> AttemptEffect {
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
    pub(crate) fn trial(
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
