//! A gate's threshold by what a library's tasks came to with and without the skills that the gate chose.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::journeyman::Journeyman;
use crate::{
    error::{Error, Result},
    id::ModelId,
    stations::select::{ByOutcomes, GateCalibration, HarmBound, Wanted, scored_by, tried},
};

/// What [`Journeyman::calibrate_by_outcomes`] fitted, and on how many tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutcomeCalibration {
    /// The threshold, or how many tasks are missing.
    pub fit: ByOutcomes,
    /// The bound that it is fitted for.
    pub bound: HarmBound,
    /// Number of tasks that count, each attempted with a skill that the gate chose and without any.
    pub tasks: u64,
    /// Number of other tasks with such pairs. They say nothing here: no score of the gate was kept, another model, adapter or prompt
    /// format scored, the search counted otherwise, or another model acted.
    pub left_out: u64,
    /// The model that acted, with its adapter; `None` where the agent does not say, and without a task.
    pub model: Option<ModelId>,
}

impl fmt::Display for OutcomeCalibration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.fit {
            ByOutcomes::NotYet { .. } => {
                let (tasks, least) = (self.tasks, self.bound.least_tasks());
                write!(
                    f,
                    "not yet fitted: {tasks} tasks with pairs, at least {least} needed"
                )?;
            }
            ByOutcomes::Fitted(fitted) => {
                let (threshold, score) = (fitted.threshold, fitted.fitted_for.score.name());
                let tasks = self.tasks;
                write!(
                    f,
                    "{score} above {threshold:.2} nats, fitted on {tasks} tasks with pairs"
                )?;
                if let Some(outcomes) = &fitted.outcomes {
                    write!(f, ": {outcomes}")?;
                }
            }
        }
        match self.left_out {
            0 => Ok(()),
            count => write!(f, "; pairs at {count} other tasks do not count here"),
        }
    }
}

impl Journeyman {
    /// Fits the gate's threshold on the pairs of attempts that the library keeps, so that at most the share of tasks that `bound` names
    /// gets a skill and goes worse for it ([`GateCalibration::by_outcomes`]).
    ///
    /// A pair is a task that was attempted with a skill and without any, under the same conditions, at which the gate had chosen this
    /// skill in a kept attempt: those of [`certify`](Self::certify) and of [`ProvenRelease`](crate::stations::proof::ProvenRelease), by
    /// every session that wrote to the library. Whether an injection harms a task is seen in pairs alone. Tasks that went without a skill
    /// by chance ([`SelectPolicy::withhold`](crate::stations::select::SelectPolicy::withhold)) have no second attempt, and do not count.
    ///
    /// Pairs count whose scores are of this session's model, adapter and prompt format, and which this session's agent made; without an
    /// agent, those of the model that made most. Nothing is committed. The calibration is for
    /// [`Recipe::calibrate`](crate::recipe::Recipe::calibrate).
    ///
    /// ```
    /// use journeyman::{
    ///     Seed,
    ///     contract::Components,
    ///     recipe,
    ///     run::{Journeyman, Options},
    ///     stations::select::{ByOutcomes, HarmBound},
    ///     testing::{Play, ScriptedFormat, ScriptedScorer},
    /// };
    /// use std::sync::Arc;
    ///
    /// # futures::executor::block_on(async {
    /// let components = Components::own_loop()
    ///     .with_scorer(Arc::new(ScriptedScorer::that(Play::Give(-0.5))))
    ///     .with_prompt_format(Arc::new(ScriptedFormat));
    /// let options = Options::new("desk", Seed(7));
    /// let journeyman = Journeyman::open(components, recipe::standard(), options).await?;
    /// let calibration = journeyman.calibrate_by_outcomes(HarmBound::default()).await?;
    /// assert_eq!(calibration.fit, ByOutcomes::NotYet { more: 45 });
    /// let told = calibration.to_string();
    /// assert_eq!(told, "not yet fitted: 0 tasks with pairs, at least 45 needed");
    /// # Ok::<_, journeyman::Error>(())
    /// # })?;
    /// # Ok::<(), journeyman::Error>(())
    /// ```
    ///
    /// # What the bound holds for
    /// Beside what [`GateCalibration::by_outcomes`] says:
    /// - The tasks are those at which the gate of then chose the skill. The share of harmed ones among them is no less than their share
    ///   among all tasks, so the bound holds for those too. Nothing below the lowest of their scores was tried, so the threshold is at
    ///   least that one, and drift is looked for above it alone.
    /// - Pairs are made until it is clear whether a skill helps, so that their number hangs a little on how they went, where the test
    ///   takes it for given.
    /// - With the skill, the task is attempted with that skill alone.
    ///
    /// # Errors
    /// `Invalid` for a bound out of its ranges; `Unsupported` without a scorer or a prompt format; the store's error.
    pub async fn calibrate_by_outcomes(&self, bound: HarmBound) -> Result<OutcomeCalibration> {
        bound.validate()?;
        let session = &self.session;
        let by = scored_by(&session.components);
        let prompt_format = session.components.prompt_format.as_deref();
        let Some((by, prompt_format)) = by.zip(prompt_format) else {
            return Err(Error::unsupported(
                "Journeyman::calibrate_by_outcomes",
                "the host gave no scorer or no prompt format, so that no score can be compared with those of the pairs",
            )
            .hint("set `Components::scorer` and `Components::prompt_format`"));
        };
        let library = self.library().await?;
        let model = session.performer.acting_model();
        let gate = session.policies.selector.gate();
        let fixed = gate.filter(|gate| gate.policy.to_fit().is_none());
        let wanted = Wanted {
            by: &by,
            model: model.as_ref(),
            // A gate whose score somebody chose takes no calibration for another.
            score: fixed.map(|gate| gate.policy.score),
        };
        let tried = tried(&library, &wanted);
        let kind = tried.kind.as_ref();
        let score = kind.map(|kind| kind.score).unwrap_or_default();
        let of = (&by.model, score, prompt_format);
        let mut fit = GateCalibration::by_outcomes(&tried.tasks, of, bound, session.options.seed)?;
        if let ByOutcomes::Fitted(fitted) = &mut fit {
            fitted.found = kind.and_then(|kind| kind.found);
            let scores = fitted.scores.take();
            fitted.scores = scores.and_then(|scores| scores.tried_above(tried.lowest()));
        }
        Ok(OutcomeCalibration {
            fit,
            bound,
            tasks: tried.tasks.len() as u64,
            left_out: tried.left_out,
            model: kind.and_then(|kind| kind.model.clone()),
        })
    }
}
