//! Figures over several worlds: what a result is kept under, reports that count, means with their spread, paired differences.

use journeyman::{Error, Result, contract::LanguageModel, run::report::RunReport};
use quickstart::Parts;

use super::{Bound, Figures, stats};

/// What a result is kept under: it belongs to the model that it was measured on.
pub(crate) fn key(parts: &Parts, what: &str) -> String {
    format!("{what}, {}", parts.model.capabilities().model)
}

/// The report, where each of its tasks was attempted. A task whose policy failed was not: means would leave it out, or count it as
/// one that was not done, and an arm that attempts nothing would be worse than any other.
///
/// # Errors
/// The error of the task's policy; `Invalid` where there is another reason, or no task.
pub(crate) fn attempted(report: &RunReport) -> Result<&RunReport> {
    let invalid = |message: String| Error::invalid("figures", message);
    if report.tasks.is_empty() {
        return Err(invalid("no task was attempted".to_owned()));
    }
    let left_out = report.tasks.iter().find(|task| task.attempts.is_empty());
    left_out.map_or(Ok(report), |task| {
        let failed = task.failed.clone();
        Err(failed.unwrap_or_else(|| invalid(format!("task {} was not attempted", task.task))))
    })
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
