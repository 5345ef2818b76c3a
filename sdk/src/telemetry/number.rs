//! Whole numbers, as the conventions have them.

/// A signed number: OTLP and the conventions have no other, and `tracing-opentelemetry` sends an unsigned one as text.
pub(crate) fn int(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}
