//! The exponential over a row of logits, in f64. A vocabulary has some 150,000 tokens and a row is summed for each token
//! that is written, so this is written for the compiler to turn into vector code: no branch, no call.

/// Below this, e^x is nothing beside the 1 that the greatest logit adds.
const LEAST: f64 = -700.0;
/// 1.5 * 2^52: adding it rounds to a whole number, which is then in the lowest bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts, the first of which is exact in products with small whole numbers (Cody and Waite 1980).
const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN_2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);
/// 1 / n! from n = 12 down to 0: |r| <= ln 2 / 2 leaves less than 2e-16.
const TAYLOR: [f64; 13] = [
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
    1.0,
    1.0,
];
/// Sums that are kept apart, so that one addition need not wait for the one before.
const LANES: usize = 8;

/// e^x for x <= 0, to some 1e-15; x under -700 counts as -700. NaN gives any number.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    let x = if x < LEAST { LEAST } else { x };
    let shifted = x * std::f64::consts::LOG2_E + ROUND;
    let whole = shifted - ROUND;
    let rest = (x - whole * LN_2_HIGH) - whole * LN_2_LOW;
    let mut sum = TAYLOR[0];
    for term in &TAYLOR[1..] {
        sum = sum * rest + term;
    }
    // Adds the whole number to the exponent.
    f64::from_bits(sum.to_bits().wrapping_add(shifted.to_bits() << 52))
}

/// The greatest of some numbers; NaN is passed over.
pub(crate) fn greatest(logits: &[f32]) -> f32 {
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let chunks = logits.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (lane, &logit) in lanes.iter_mut().zip(chunk) {
            *lane = if logit > *lane { logit } else { *lane };
        }
    }
    lanes
        .iter()
        .chain(rest)
        .copied()
        .fold(f32::NEG_INFINITY, f32::max)
}

/// The sum of e^(logit - max) over a row; NaN where a logit is.
pub(crate) fn sum_exp(logits: &[f32], max: f32) -> f64 {
    let mut sums = [0.0; LANES];
    let mut broken = false;
    let chunks = logits.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (sum, &logit) in sums.iter_mut().zip(chunk) {
            broken |= logit.is_nan();
            *sum += exp(f64::from(logit - max));
        }
    }
    let mut total: f64 = sums.iter().sum();
    for &logit in rest {
        broken |= logit.is_nan();
        total += exp(f64::from(logit - max));
    }
    if broken { f64::NAN } else { total }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_exponential() {
        for step in 0..200_000 {
            let x = -f64::from(step) * 0.0035;
            let (got, want) = (exp(x), x.exp());
            assert!(
                (got / want - 1.0).abs() < 2e-15,
                "{x}: {got} against {want}"
            );
        }
        assert!(exp(f64::NEG_INFINITY) < 1e-300);
        assert_eq!(exp(0.0), 1.0);
    }

    #[test]
    fn sums_take_every_number() {
        for length in [1_usize, 7, 8, 9, 100, 1003] {
            let logits: Vec<f32> = (0..length).map(|n| (n as f32 * 0.37).sin() * 9.0).collect();
            let max = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            assert_eq!(greatest(&logits), max);
            let want: f64 = logits.iter().map(|&l| f64::from(l - max).exp()).sum();
            assert!((sum_exp(&logits, max) / want - 1.0).abs() < 1e-13);
            let mut broken = logits.clone();
            broken[length / 2] = f32::NAN;
            assert!(sum_exp(&broken, greatest(&broken)).is_nan());
        }
    }
}
