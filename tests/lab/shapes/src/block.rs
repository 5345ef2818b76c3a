//! Quantised blocks filled with random numbers, in the layouts of llama.cpp's `ggml-common.h`.

use journeyman::{Error, ErrorKind, Result};
use rand_chacha::{ChaCha8Rng, rand_core::Rng};

/// How matrices are stored.
#[expect(non_camel_case_types, reason = "llama.cpp's names")]
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantization {
    /// None: four bytes a number. What rounds nothing shows what an engine itself adds.
    F32,
    /// Eight bits and a scale for 32.
    Q8_0,
    /// As llama.cpp's quantiser mixes Q4_K_M: four bits, in super-blocks of 256; the embeddings, and in half of the
    /// layers the values and the feed-forward's output, Q6_K. A row that is no multiple of 256 falls back as there:
    /// Q4_K to Q5_0, Q6_K to Q8_0. Of the 0.5B shape, where a row has 896, only the feed-forward's output is left in
    /// Q4_K and Q6_K.
    Q4_K,
}

impl Quantization {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::F32, Self::Q8_0, Self::Q4_K];

    /// Its name, in small letters.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Q8_0 => "q8_0",
            Self::Q4_K => "q4_k",
        }
    }

    /// The one of this name.
    ///
    /// # Errors
    /// `NotFound`, with the names that there are.
    pub fn named(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|one| one.name() == name);
        found.ok_or_else(|| {
            Error::new(
                ErrorKind::NotFound,
                "Quantization::named",
                "there is no quantization of this name",
            )
            .hint(format!(
                "the quantizations are {}",
                Self::ALL.map(Self::name).join(", ")
            ))
        })
    }

    /// llama.cpp's number for such a file (`llama_ftype`): F32, Q8_0, Q4_K_M.
    pub(crate) fn file_type(self) -> u32 {
        match self {
            Self::F32 => 0,
            Self::Q8_0 => 7,
            Self::Q4_K => 15,
        }
    }

    pub(crate) fn block(self, row: u32, more_bits: bool) -> Block {
        match (self, row.is_multiple_of(256), more_bits) {
            (Self::F32, ..) => Block::F32,
            (Self::Q4_K, true, true) => Block::Q6_K,
            (Self::Q4_K, true, false) => Block::Q4_K,
            (Self::Q4_K, false, false) => Block::Q5_0,
            (Self::Q8_0, ..) | (Self::Q4_K, false, true) => Block::Q8_0,
        }
    }
}

/// A type of block.
#[expect(non_camel_case_types, reason = "llama.cpp's names")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Block {
    F32,
    Q8_0,
    Q5_0,
    Q4_K,
    Q6_K,
}

impl Block {
    /// llama.cpp's number for it (`ggml_type`).
    pub(crate) fn number(self) -> u32 {
        match self {
            Self::F32 => 0,
            Self::Q5_0 => 6,
            Self::Q8_0 => 8,
            Self::Q4_K => 12,
            Self::Q6_K => 14,
        }
    }

    /// Numbers in a block, and its bytes.
    const fn size(self) -> (u32, usize) {
        match self {
            Self::F32 => (1, 4),
            Self::Q5_0 => (32, 2 + 4 + 16),
            Self::Q8_0 => (32, 2 + 32),
            Self::Q4_K => (256, 2 + 2 + 12 + 128),
            Self::Q6_K => (256, 128 + 64 + 16 + 2),
        }
    }

    /// Bytes of a row of so many numbers.
    pub(crate) fn bytes_of(self, row: u32) -> usize {
        let (numbers, bytes) = self.size();
        row as usize / numbers as usize * bytes
    }

    /// Fills whole blocks with numbers around 0 of this standard deviation (uniform within a block).
    pub(crate) fn fill(self, bytes: &mut [u8], deviation: f32, rng: &mut ChaCha8Rng) {
        rng.fill_bytes(bytes);
        for block in bytes.chunks_exact_mut(self.size().1) {
            self.shape(block, deviation);
        }
    }

    /// Makes random bytes a block: the scales are set, the quants stay as they were drawn.
    fn shape(self, block: &mut [u8], deviation: f32) {
        match self {
            // Drawn from the bits of one number each: 24 of them are enough.
            Self::F32 => {
                let drawn = u32::from_le_bytes([block[0], block[1], block[2], 0]);
                let unit = drawn as f32 / (1 << 23) as f32 - 1.0;
                let number = unit * deviation * 3_f32.sqrt();
                block.copy_from_slice(&number.to_le_bytes());
            }
            Self::Q8_0 => {
                let scale = half(deviation / spread(255));
                block[..2].copy_from_slice(&scale.to_le_bytes());
                for quant in &mut block[2..] {
                    // llama.cpp's quantiser never gives -128.
                    *quant += u8::from(*quant == 0x80);
                }
            }
            // Quants from -16 to 15 lean to one side: the scale's random sign evens that out.
            Self::Q5_0 => {
                let scale = half(deviation / spread(32)) | u16::from(block[1] & 0x80) << 8;
                block[..2].copy_from_slice(&scale.to_le_bytes());
            }
            // Scale and minimum of a part are the same number from 8 to 15 (root of the mean square: 11.7), so that
            // with a minimum of 7.5 scales the numbers lie around 0.
            Self::Q4_K => {
                let scale = half(deviation / (spread(16) * 11.7));
                block[..2].copy_from_slice(&scale.to_le_bytes());
                block[2..4].copy_from_slice(&half(7.5 * whole(scale)).to_le_bytes());
                for part in 0..4 {
                    let drawn = block[4 + part];
                    let (first, second) = (8 | drawn & 7, 8 | drawn >> 3 & 7);
                    block[4 + part] = first;
                    block[8 + part] = first;
                    block[12 + part] = second | second << 4;
                }
            }
            // Signed scales from 1 to 4 (root of the mean square: 2.74).
            Self::Q6_K => {
                for scale in &mut block[192..208] {
                    let drawn = *scale;
                    let number = 1 + (drawn & 3);
                    *scale = if drawn & 4 == 0 {
                        number
                    } else {
                        number.wrapping_neg()
                    };
                }
                block[208..].copy_from_slice(&half(deviation / (spread(64) * 2.74)).to_le_bytes());
            }
        }
    }
}

/// The standard deviation of a uniform draw from so many neighbouring whole numbers.
fn spread(values: u32) -> f32 {
    let values = values as f32;
    ((values * values - 1.0) / 12.0).sqrt()
}

/// The bits of a number in half precision, cut to what fits; at least the smallest normal one (6.1e-5).
fn half(number: f32) -> u16 {
    let bits = number.clamp(6.104e-5, 65_504.0).to_bits();
    ((bits >> 13) - (112 << 10)) as u16
}

/// The number of such bits.
fn whole(half: u16) -> f32 {
    f32::from_bits((u32::from(half) + (112 << 10)) << 13)
}

#[cfg(test)]
mod tests {
    use journeyman::Seed;

    use super::*;

    fn signed(bytes: &[u8]) -> f32 {
        let bits = u16::from_le_bytes([bytes[0], bytes[1]]);
        let size = whole(bits & 0x7fff);
        if bits & 0x8000 == 0 { size } else { -size }
    }

    /// As llama.cpp's `dequantize_row_*` read a block.
    fn numbers(kind: Block, b: &[u8]) -> Vec<f32> {
        match kind {
            Block::F32 => vec![f32::from_le_bytes(b.try_into().unwrap())],
            Block::Q8_0 => b[2..]
                .iter()
                .map(|&q| signed(b) * f32::from(q as i8))
                .collect(),
            Block::Q5_0 => {
                let high = u32::from_le_bytes(b[2..6].try_into().unwrap());
                let quant = |i: usize| {
                    let byte = b[6 + i % 16];
                    let low = if i < 16 { byte & 15 } else { byte >> 4 };
                    i32::from(low) + 16 * (high >> i & 1) as i32 - 16
                };
                (0..32).map(|i| signed(b) * quant(i) as f32).collect()
            }
            Block::Q4_K => {
                let s = &b[4..16];
                let pair = |j: usize| match j {
                    0..4 => (s[j] & 63, s[j + 4] & 63),
                    _ => (
                        s[j + 4] & 15 | (s[j - 4] >> 6) << 4,
                        s[j + 4] >> 4 | (s[j] >> 6) << 4,
                    ),
                };
                let number = |i: usize| {
                    let byte = b[16 + i / 64 * 32 + i % 32];
                    let quant = if i % 64 < 32 { byte & 15 } else { byte >> 4 };
                    let (scale, minimum) = pair(i / 32);
                    signed(b) * f32::from(scale) * f32::from(quant)
                        - signed(&b[2..]) * f32::from(minimum)
                };
                (0..256).map(number).collect()
            }
            Block::Q6_K => {
                let number = |i: usize| {
                    let (half, quarter, l) = (i / 128, i % 128 / 32, i % 32);
                    let low = b[64 * half + 32 * (quarter % 2) + l];
                    let low = if quarter < 2 { low & 15 } else { low >> 4 };
                    let high = b[128 + 32 * half + l] >> (2 * quarter) & 3;
                    let scale = b[192 + 8 * half + 2 * quarter + l / 16] as i8;
                    let quant = i32::from(low) + 16 * i32::from(high) - 32;
                    signed(&b[208..]) * f32::from(scale) * quant as f32
                };
                (0..256).map(number).collect()
            }
        }
    }

    #[test]
    fn numbers_lie_around_zero_and_spread_as_asked() {
        let kinds = [
            Block::F32,
            Block::Q8_0,
            Block::Q5_0,
            Block::Q4_K,
            Block::Q6_K,
        ];
        for kind in kinds {
            let mut bytes = vec![0; kind.bytes_of(1 << 18)];
            kind.fill(&mut bytes, 0.05, &mut Seed(3).rng());
            let blocks = bytes.chunks_exact(kind.size().1);
            let numbers: Vec<f32> = blocks.flat_map(|block| numbers(kind, block)).collect();
            let count = numbers.len() as f32;
            assert_eq!(numbers.len(), 1 << 18);
            let mean = numbers.iter().sum::<f32>() / count;
            let deviation = (numbers.iter().map(|n| n * n).sum::<f32>() / count).sqrt();
            assert!(mean.abs() < 5e-4, "{kind:?}: {mean}");
            assert!((deviation - 0.05).abs() < 1e-3, "{kind:?}: {deviation}");
        }
    }

    #[test]
    fn half_precision_is_ieee() {
        for (number, bits) in [(1.0, 0x3c00), (0.5, 0x3800), (1.5, 0x3e00), (0.0, 0x0400)] {
            assert_eq!(half(number), bits);
        }
        assert_eq!(whole(0x3e00), 1.5);
    }
}
