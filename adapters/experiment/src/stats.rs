//! Mean, standard deviation and interval of a sample.

/// The mean and spread of at least one value.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The sample's standard deviation (divided by n - 1); none for a single value.
    pub sd: Option<f64>,
    /// The number of values.
    pub n: usize,
}

impl Spread {
    /// None for no values.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let mean = mean(values)?;
        let n = values.len();
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Self {
            mean,
            sd: (n > 1).then(|| (squares / (n - 1) as f64).sqrt()),
            n,
        })
    }

    /// The mean's two-sided 95% interval by Student's t, lower end first; none for a single value.
    #[must_use]
    pub fn interval(&self) -> Option<(f64, f64)> {
        let half = t_975(self.n - 1)? * self.sd? / (self.n as f64).sqrt();
        Some((self.mean - half, self.mean + half))
    }

    /// The same in another unit.
    pub(crate) fn times(self, factor: f64) -> Self {
        Self {
            mean: self.mean * factor,
            sd: self.sd.map(|sd| sd * factor.abs()),
            n: self.n,
        }
    }
}

/// None for no values.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The 0.975 quantile of Student's t; none for 0 degrees of freedom.
fn t_975(degrees: usize) -> Option<f64> {
    const SMALL: [f64; 30] = [
        12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010,
        2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860, 2.0796, 2.0739,
        2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
    ];
    let small = SMALL.get(degrees.checked_sub(1)?).copied();
    Some(small.unwrap_or_else(|| {
        // Cornish and Fisher's expansion about the normal quantile; right to 1e-5 from here on.
        let (z, v) = (1.959_963_985_f64, degrees as f64);
        let (z3, z5) = (z.powi(3), z.powi(5));
        z + (z3 + z) / (4.0 * v) + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * v * v)
    }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn near(found: f64, expect: f64) {
        assert!((found - expect).abs() < 1e-3, "{found} is not {expect}");
    }

    #[test]
    fn spread_and_interval_by_hand() {
        // Mean 0.6, sd 0.5477, half-width 2.7764 * 0.5477 / sqrt(5) = 0.68.
        let spread = Spread::of(&[1.0, 0.0, 1.0, 1.0, 0.0]).unwrap();
        near(spread.mean, 0.6);
        near(spread.sd.unwrap(), 0.5477);
        let (low, high) = spread.interval().unwrap();
        near(low, -0.0801);
        near(high, 1.2801);
        let points = spread.times(-100.0);
        near(points.mean, -60.0);
        near(points.sd.unwrap(), 54.7723);
    }

    #[test]
    fn one_value_has_no_interval_and_none_no_mean() {
        let one = Spread::of(&[3.0]).unwrap();
        assert_eq!((one.mean, one.sd, one.interval()), (3.0, None, None));
        assert_eq!((Spread::of(&[]), mean(&[])), (None, None));
    }

    #[test]
    fn student_t() {
        for (degrees, expect, within) in [
            (4, 2.776, 1e-3),
            (31, 2.039_513, 1e-4),
            (40, 2.021_075, 1e-4),
            (299, 1.967_930, 1e-5),
        ] {
            let found = t_975(degrees).unwrap();
            assert!((found - expect).abs() < within, "{degrees}: {found}");
        }
        assert_eq!(t_975(0), None);
    }
}
