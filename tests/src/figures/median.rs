//! The median, for figures and for the benches of all crates, which include this file.

/// The median, of values that it sorts; NaN of nothing.
pub(crate) fn median(mut values: impl AsMut<[f64]>) -> f64 {
    let values = values.as_mut();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match (values.get(middle.wrapping_sub(1)), values.get(middle)) {
        (Some(low), Some(high)) if values.len().is_multiple_of(2) => low.midpoint(*high),
        (_, Some(middle)) => *middle,
        _ => f64::NAN,
    }
}
