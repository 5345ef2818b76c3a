//! The gate of a session, as it decides with the host's model.

use std::fmt;

use super::{journeyman::Journeyman, locking::lock};
use crate::{
    domain::{DecidedOn, FittedThreshold, FoundWeight, Scope, ScoreKind},
    error::{Error, Result},
    id::ModelId,
    policy::Answer,
    run::machine::Effect,
    stations::select::{Candidates, SelectorGate, check_fitted_for},
};

/// By which score and threshold a session injects a skill, and where the threshold comes from.
///
/// ```
/// use journeyman::{prelude::*, run::ThresholdBy};
///
/// # futures::executor::block_on(async {
/// let options = Options::new("desk", Seed(7));
/// let session = Journeyman::open(Components::own_loop(), recipe::standard(), options).await?;
/// let gate = session.gate().await?.expect("the recipe decides by one");
/// assert_eq!((gate.threshold, &gate.by), (Some(5.0), &ThresholdBy::Recipe));
/// assert!(gate.model.is_none(), "no scorer is there, so nothing is injected");
/// println!("{gate}");
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct GateInForce {
    /// The weights that score, with their adapter; `None` without a scorer.
    pub model: Option<ModelId>,
    /// The score.
    pub score: ScoreKind,
    /// The value that the best candidate must exceed, nats (nats a token for the mean); `None` where only the candidates are
    /// compared with each other.
    pub threshold: Option<f64>,
    /// What the score of a search counts beside the model's; `None` where the model's decides alone.
    pub found: Option<FoundWeight>,
    /// Where the threshold comes from.
    pub by: ThresholdBy,
}

impl GateInForce {
    /// A gate of no model, which compares the candidates alone.
    pub fn new(score: ScoreKind, by: ThresholdBy) -> Self {
        Self {
            model: None,
            score,
            threshold: None,
            found: None,
            by,
        }
    }
}

/// Where a threshold comes from.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub enum ThresholdBy {
    /// The recipe has it, for the model or by a person's choice.
    Recipe,
    /// A calibration was fitted for this model ([`GateCalibration`](crate::stations::select::GateCalibration)).
    Calibration,
    /// A calibration was fitted for another model, adapter or prompt format, so that the gate injects nothing. The error names both, and
    /// hints what to do.
    OtherModel(Error),
    /// The session fitted it to the model without labels.
    Fitted(FittedThreshold),
}

impl fmt::Display for GateInForce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let ThresholdBy::Fitted(fitted) = &self.by {
            return fitted.fmt(f);
        }
        f.write_str(self.score.name())?;
        if let Some(found) = &self.found {
            write!(f, " {found}")?;
        }
        match self.threshold {
            Some(threshold) => write!(f, " above {threshold:.2} nats")?,
            None => f.write_str(", compared among the candidates")?,
        }
        match &self.model {
            Some(model) => write!(f, " with {model}")?,
            None => f.write_str(" without a scorer")?,
        }
        match &self.by {
            ThresholdBy::Calibration => f.write_str(", calibrated for it"),
            ThresholdBy::OtherModel(error) => {
                let why = error.message();
                write!(
                    f,
                    ", by a calibration that does not hold here, so that the gate injects nothing: {why}"
                )
            }
            _ => f.write_str(", as the recipe says"),
        }
    }
}

impl Journeyman {
    /// The gate by which skills are injected; `None` for a recipe without one. A threshold that has to be fitted to the model is fitted
    /// now; otherwise that happens at the first decision.
    ///
    /// # Errors
    /// `Unsupported` where the model is too slow for a fit within a session; the error of a search or of scoring.
    pub async fn gate(&self) -> Result<Option<GateInForce>> {
        let session = &self.session;
        let Some(gate) = session.policies.selector.gate() else {
            return Ok(None);
        };
        let policy = gate.policy;
        let scorer = session.components.scorer.as_ref();
        let in_recipe = GateInForce {
            model: scorer.map(|scorer| scorer.weights(None)),
            score: policy.score,
            threshold: policy.absolute,
            found: policy.found,
            by: match &policy.fitted_for {
                Some(fitted) => match check_fitted_for(fitted, &session.components) {
                    Ok(()) => ThresholdBy::Calibration,
                    Err(error) => ThresholdBy::OtherModel(error),
                },
                None => ThresholdBy::Recipe,
            },
        };
        let Some(most_wrong) = policy.to_fit() else {
            return Ok(Some(in_recipe));
        };
        // A run does so before its first decision.
        session.performer.refresh_index().await;
        let effect = Effect::Threshold {
            most_wrong,
            on: self.decided_on(&gate).await?,
        };
        let fitted = match session.performer.perform(effect).await? {
            Answer::Fitted(fitted) => fitted?,
            _ => None,
        };
        Ok(Some(match fitted {
            None => in_recipe,
            Some(fitted) => GateInForce {
                score: fitted.score,
                threshold: Some(fitted.threshold),
                found: fitted.found,
                by: ThresholdBy::Fitted(*fitted),
                ..in_recipe
            },
        }))
    }

    /// Whether this session notices that the scores of its decisions drift from those that the gate's threshold was fitted on: its
    /// calibration keeps scores, and was fitted for this model, adapter and prompt format. The first decision about each task of learning
    /// and of a host's own loop is compared, and of evaluations in a session that only reads.
    pub fn watches_drift(&self) -> bool {
        lock(&self.session.watch).watches_drift()
    }

    /// Which skill the decisions of this session are about.
    async fn decided_on(&self, gate: &SelectorGate<'_>) -> Result<DecidedOn> {
        let library = self.library().await?;
        let offered = library.entries().map(|entry| &entry.skill);
        let offered = offered.filter(|skill| skill.state.is_offered());
        let policy = &self.session.recipe.select;
        let found = match (gate.own_candidates, policy.candidates) {
            (Some(_), _) if gate.exempts_general => 0,
            (Some(_), _) => offered
                .filter(|skill| skill.scope == Scope::General)
                .count(),
            (None, Candidates::Search { .. }) if self.session.components.retriever.is_some() => 0,
            (None, _) => offered.count(),
        };
        Ok(policy.retrieval().decided_on(gate, found))
    }
}
