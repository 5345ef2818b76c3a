//! Figures over several worlds: what a result is kept under, means with their spread, paired differences.

use journeyman::contract::LanguageModel;
use quickstart::Parts;

use super::{Bound, Figures, stats};

/// What a result is kept under: it belongs to the model that it was measured on.
pub(crate) fn key(parts: &Parts, what: &str) -> String {
    format!("{what}, {}", parts.model.capabilities().model)
}

/// Records the mean of values over worlds, and their standard deviation.
pub(crate) fn spread(figures: &mut Figures<'_>, name: &str, values: &[f64]) {
    bounded(figures, name, values, Bound::None);
}

/// The same, with a bound of the mean.
pub(crate) fn bounded(figures: &mut Figures<'_>, name: &str, values: &[f64], bound: Bound) {
    figures.record(name, stats::mean(values), bound);
    let deviation = stats::sample_sd(values);
    figures.record(&format!("{name}, sd"), deviation, Bound::None);
}

/// Records the mean difference of two lists over the same worlds, with its interval.
pub(crate) fn difference(
    figures: &mut Figures<'_>,
    name: &str,
    (one, other): (&[f64], &[f64]),
    (low, high): (Bound, Bound),
) {
    figures.interval(name, &stats::paired(one, other), low, high);
}
