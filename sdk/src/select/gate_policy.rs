//! The numbers of the gate.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    domain::ScoreKind,
    error::{Error, Result},
    id::ModelId,
};

/// When a candidate is good enough.
///
/// The relative test compares candidates with each other: one alone always has probability 1, and two equally
/// fitting ones (a skill that was written twice) at most 0.5 each. The absolute test compares the best with
/// 'none of these'. [`GatePolicy::paper`] has the first, the default the second; both may be on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GatePolicy {
    /// What is compared.
    pub score: ScoreKind,
    /// The softmax's temperature (sigma of Eq. 3), positive. The paper: 1.
    pub temperature: f64,
    /// The greatest probability must be at least this (delta), in [0, 1]. The paper: 0.35.
    pub relative: Option<f64>,
    /// The greatest value must exceed this, in the score's unit (nats; nats a token for the mean). 'Nothing'
    /// competes as PMI 0, and wins ties. Row J4.
    pub absolute: Option<f64>,
    /// How often a training run that passes the gate takes a skill of the whole pool at random, in [0, 1]. The
    /// paper: 0.1. Always 0 in evaluation.
    pub epsilon: f64,
    /// What the absolute threshold was fitted for; `None` for one that was chosen by hand.
    pub fitted_for: Option<ThresholdFor>,
}

/// What a threshold belongs to: it means nothing for another score or another model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThresholdFor {
    /// The score.
    pub score: ScoreKind,
    /// The model that scored.
    pub model: ModelId,
}

impl Default for GatePolicy {
    /// PMI above 5 nats (the query makes the skill some 150 times likelier), and no relative test.
    fn default() -> Self {
        Self {
            score: ScoreKind::Pmi,
            temperature: 1.0,
            relative: None,
            absolute: Some(5.0),
            epsilon: 0.1,
            fitted_for: None,
        }
    }
}

impl GatePolicy {
    /// The paper's gate: the summed log-probability, probability at least 0.35, epsilon 0.1 (Table 3).
    pub fn paper() -> Self {
        Self {
            score: ScoreKind::Sum,
            temperature: 1.0,
            relative: Some(0.35),
            absolute: None,
            epsilon: 0.1,
            fitted_for: None,
        }
    }

    /// Checks the ranges that the fields document, and that a fitted threshold was fitted for this score.
    ///
    /// # Errors
    /// `Invalid`, naming the field, its value and its range.
    pub fn validate(&self) -> Result<()> {
        let sigma = self.temperature;
        check(
            sigma.is_finite() && sigma > 0.0,
            "temperature",
            sigma,
            "finite and positive",
        )?;
        if let Some(delta) = self.relative {
            check((0.0..=1.0).contains(&delta), "relative", delta, "in [0, 1]")?;
        }
        if let Some(nats) = self.absolute {
            check(nats.is_finite(), "absolute", nats, "finite")?;
        }
        let epsilon = self.epsilon;
        check(
            (0.0..=1.0).contains(&epsilon),
            "epsilon",
            epsilon,
            "in [0, 1]",
        )?;
        match &self.fitted_for {
            Some(fitted) if fitted.score != self.score => Err(invalid(format!(
                "the threshold was fitted for {:?}, and the score is {:?}",
                fitted.score, self.score
            ))),
            _ => Ok(()),
        }
    }

    /// Checks that the thresholds hold for the model that scores.
    ///
    /// # Errors
    /// `Invalid` where they were fitted for another one.
    pub fn validate_for(&self, model: &ModelId) -> Result<()> {
        self.validate()?;
        match &self.fitted_for {
            Some(fitted) if fitted.model != *model => Err(invalid(format!(
                "the threshold was fitted for the model {}, and {model} scores",
                fitted.model
            ))
            .hint("fit it again, or choose one by hand and leave `fitted_for` empty")),
            _ => Ok(()),
        }
    }
}

fn check(holds: bool, field: &str, value: impl fmt::Display, range: &str) -> Result<()> {
    if holds {
        return Ok(());
    }
    Err(invalid(format!("{field} must be {range}, and is {value}")))
}

fn invalid(message: String) -> Error {
    Error::invalid("GatePolicy::validate", message)
}
