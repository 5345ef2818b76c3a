//! The exponential over a row of logits, in f64. A vocabulary has about 150,000 tokens and a row is summed for each
//! generated token, so the code has neither branches nor calls, for the compiler to vectorize.

/// Below this, e^x is negligible beside the 1 that the greatest logit adds.
const LEAST: f64 = -700.0;
/// 1.5 * 2^52: adding it rounds to a whole number, which is then in the lowest bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts, the first of which is exact in products with small whole numbers (Cody and Waite 1980).
const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN_2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);
/// 1 / n! from n = 8 down to 0: |r| <= ln 2 / 2 leaves an error of 2e-10, a thousandth of the rounding error of a logit
/// in single precision.
const TAYLOR: [f64; 9] = [
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
/// Number of independent sums, so that one addition need not wait for the one before.
const LANES: usize = 8;

/// e^x of each x <= 0, with a relative error of 3e-10; x under -700 counts as -700. NaN gives any number. Each step
/// runs lane by lane, so that the compiler makes vectors of the lanes.
#[inline(always)]
fn exp(mut x: [f64; LANES]) -> [f64; LANES] {
    let mut shifted = [0.0; LANES];
    let mut sum = [TAYLOR[0]; LANES];
    for lane in 0..LANES {
        x[lane] = if x[lane] < LEAST { LEAST } else { x[lane] };
        shifted[lane] = x[lane] * std::f64::consts::LOG2_E + ROUND;
    }
    for lane in 0..LANES {
        let whole = shifted[lane] - ROUND;
        x[lane] = (x[lane] - whole * LN_2_HIGH) - whole * LN_2_LOW;
    }
    for term in &TAYLOR[1..] {
        for lane in 0..LANES {
            sum[lane] = sum[lane] * x[lane] + term;
        }
    }
    for lane in 0..LANES {
        // Adds the whole number to the exponent.
        sum[lane] = f64::from_bits(
            sum[lane]
                .to_bits()
                .wrapping_add(shifted[lane].to_bits() << 52),
        );
    }
    sum
}

/// The greatest number of a row; NaN is skipped.
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

/// The index of the first number of a row that is this one; it looks at many at a time.
pub(crate) fn first(logits: &[f32], wanted: f32) -> Option<usize> {
    const BLOCK: usize = 64;
    let is_in = |block: &[f32]| {
        block
            .iter()
            .fold(false, |is, &logit| is | (logit == wanted))
    };
    let block = logits.chunks(BLOCK).position(is_in)?;
    let begin = block * BLOCK;
    let within = logits[begin..].iter().position(|&logit| logit == wanted)?;
    Some(begin + within)
}

/// The sum of e^(logit - max) over a row; NaN where a logit is.
pub(crate) fn sum_exp(logits: &[f32], max: f32) -> f64 {
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "it halves what a token costs beside llama.cpp")]
    if std::arch::is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has the features that the function is compiled for, as was just checked.
        return unsafe { sum_exp_avx512(logits, max) };
    } else if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: as above.
        return unsafe { sum_exp_avx2(logits, max) };
    }
    sum_exp_anywhere(logits, max)
}

/// The same operations, and so the same bits, in wider vectors.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn sum_exp_avx512(logits: &[f32], max: f32) -> f64 {
    sum_exp_anywhere(logits, max)
}

/// As above.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn sum_exp_avx2(logits: &[f32], max: f32) -> f64 {
    sum_exp_anywhere(logits, max)
}

#[inline(always)]
fn sum_exp_anywhere(logits: &[f32], max: f32) -> f64 {
    let (chunks, rest) = logits.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for chunk in chunks {
        let powers = exp(chunk.map(|logit| f64::from(logit - max)));
        for lane in 0..LANES {
            sums[lane] += powers[lane];
        }
    }
    let rest = rest.iter().map(|&logit| f64::from(logit - max).exp());
    let total: f64 = sums.into_iter().chain(rest).sum();
    if has_nan(logits) { f64::NAN } else { total }
}

#[inline(always)]
fn has_nan(logits: &[f32]) -> bool {
    let (chunks, rest) = logits.as_chunks::<LANES>();
    let mut broken = [false; LANES];
    for chunk in chunks {
        for lane in 0..LANES {
            broken[lane] |= chunk[lane].is_nan();
        }
    }
    broken.into_iter().any(|lane| lane) || rest.iter().any(|logit| logit.is_nan())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_exponential() {
        for step in 0..200_000 {
            let x = -f64::from(step) * 0.0035;
            let (got, want) = (exp([x; LANES])[3], x.exp());
            assert!(
                (got / want - 1.0).abs() < 3e-10,
                "{x}: {got} against {want}"
            );
        }
        assert!(exp([f64::NEG_INFINITY; LANES])[0] < 1e-300);
        assert_eq!(exp([0.0; LANES])[7], 1.0);
    }

    #[test]
    fn sums_take_every_number() {
        for length in [1_usize, 7, 8, 9, 100, 1003] {
            let logits: Vec<f32> = (0..length).map(|n| (n as f32 * 0.37).sin() * 9.0).collect();
            let max = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            assert_eq!(greatest(&logits), max);
            let place = logits.iter().position(|&logit| logit == max);
            assert_eq!(first(&logits, max), place);
            assert_eq!(first(&logits, 99.0), None);
            let want: f64 = logits.iter().map(|&l| f64::from(l - max).exp()).sum();
            let got = sum_exp(&logits, max);
            assert!((got / want - 1.0).abs() < 3e-10);
            let plain = sum_exp_anywhere(&logits, max);
            assert_eq!(got.to_bits(), plain.to_bits(), "wider vectors differ");
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "as above")]
            if std::arch::is_x86_feature_detected!("avx2") {
                // SAFETY: as above.
                let narrower = unsafe { sum_exp_avx2(&logits, max) };
                assert_eq!(narrower.to_bits(), plain.to_bits());
            }
            let mut broken = logits.clone();
            broken[length / 2] = f32::NAN;
            assert!(sum_exp(&broken, greatest(&broken)).is_nan());
        }
    }
}
