//! A calibration of the gate that is kept in a file, and what it says of its threshold.

use std::{fmt, fs, path::Path};

use journeyman::{
    Result,
    stations::select::{GateCalibration, GatePolicy, GateRates, OutcomeFit},
};

use crate::files::unreadable;

/// Reads a calibration from its file.
///
/// # Errors
/// `NotFound` or `Unavailable` for a file that cannot be read; those of [`GateCalibration::from_json`].
pub(crate) fn read(operation: &'static str, file: &Path) -> Result<GateCalibration> {
    let text = fs::read_to_string(file).map_err(|source| unreadable(operation, file, source))?;
    GateCalibration::from_json(&text).map_err(|error| error.with("path", file.display()))
}

/// What a calibration's threshold does, as far as its fit tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Calibrated {
    /// On held-out tasks, or without labels on each task by the others.
    HeldOut(GateRates),
    /// The harm and the help that it does, and the bound on the harm.
    Outcomes(OutcomeFit),
}

impl Calibrated {
    pub(crate) fn of(calibration: &GateCalibration) -> Self {
        match calibration.outcomes {
            Some(outcomes) => Self::Outcomes(outcomes),
            None => Self::HeldOut(calibration.held_out),
        }
    }

    pub(crate) fn held_out(self) -> Option<GateRates> {
        match self {
            Self::HeldOut(rates) => Some(rates),
            Self::Outcomes(_) => None,
        }
    }

    pub(crate) fn outcomes(self) -> Option<OutcomeFit> {
        match self {
            Self::HeldOut(_) => None,
            Self::Outcomes(outcomes) => Some(outcomes),
        }
    }
}

/// Whether a session notices that scores drift from those that the gate's threshold was fitted on; `None` for a threshold of no calibration.
pub(crate) fn drift_check(gate: &GatePolicy) -> Option<String> {
    gate.fitted_for.as_ref()?;
    Some(match &gate.fitted_on {
        Some(scores) => format!(
            "a run says when the scores of its decisions are no longer like the {} that the calibration keeps",
            scores.values.len()
        ),
        None => "no run notices it, since the calibration keeps no scores; one of `journeyman model calibrate` with --tasks or --outcomes does"
            .to_owned(),
    })
}

impl fmt::Display for Calibrated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeldOut(rates) => write!(f, "on held-out tasks {rates}"),
            Self::Outcomes(outcomes) => write!(f, "by outcomes {outcomes}"),
        }
    }
}
