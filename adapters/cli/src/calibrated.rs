//! A calibration of the gate that is kept in a file, and what it says of its threshold.

use std::{fmt, fs, path::Path};

use journeyman::{
    Result,
    stations::select::{GateCalibration, GatePolicy, GateRates, OutcomeFit},
};
use serde_json::json;

use crate::files::{begin, unreadable, whole};

/// Reads a calibration from its file.
///
/// # Errors
/// `NotFound` or `Unavailable` for a file that cannot be read; those of [`GateCalibration::from_json`].
pub(crate) fn read(operation: &'static str, file: &Path) -> Result<GateCalibration> {
    let text = fs::read_to_string(file).map_err(|source| unreadable(operation, file, source))?;
    GateCalibration::from_json(&text).map_err(|error| error.with("path", file.display()))
}

/// Checks that a calibration can be written, where a file is named for it: a fit may take hours.
///
/// # Errors
/// Those of [`begin`].
pub(crate) fn may_be_written(operation: &'static str, file: Option<&Path>) -> Result<()> {
    // The file of a moment is removed when it is dropped.
    file.map_or(Ok(()), |file| begin(operation, file).map(drop))
}

/// Writes a calibration, where a file is named for it.
///
/// # Errors
/// Those of [`whole`].
pub(crate) fn keep(
    operation: &'static str,
    fitted: &GateCalibration,
    file: Option<&Path>,
) -> Result<()> {
    let Some(file) = file else {
        return Ok(());
    };
    let text = format!("{:#}\n", json!(fitted));
    whole(operation, file, text.as_bytes())
}

/// The threshold, and what it is one of.
pub(crate) fn threshold(fitted: &GateCalibration) -> String {
    let found = fitted
        .found
        .map_or_else(String::new, |found| format!(" {found}"));
    let of = &fitted.fitted_for;
    format!(
        "threshold {:.3} nats of {}{found}, model {}",
        fitted.threshold,
        of.score.name(),
        of.model
    )
}

/// Where a calibration is kept.
pub(crate) fn written(file: Option<&Path>) -> String {
    match file {
        Some(file) => format!(
            "Written to {}: name it as `calibration` in [model] of a run's file.\n",
            file.display()
        ),
        None => "Not written: --out FILE keeps it for runs.\n".to_owned(),
    }
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

/// Whether a run that learns notices that scores drift from those that the gate's threshold was fitted on, where the calibration holds;
/// `None` for a threshold of no calibration.
pub(crate) fn drift_check(gate: &GatePolicy) -> Option<String> {
    gate.fitted_for.as_ref()?;
    Some(match &gate.fitted_on {
        Some(scores) => format!(
            "a run that learns says when the scores of its decisions are no longer like the {} that the calibration keeps",
            scores.values.len()
        ),
        None => "no run notices it, since the calibration keeps no scores; one of `journeyman library calibrate`, or of `journeyman model calibrate` with --tasks, does"
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
