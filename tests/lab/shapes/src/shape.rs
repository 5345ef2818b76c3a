//! What a model of an architecture is made of.

use journeyman::{Error, Result};

use crate::block::{Block, Quantization};

/// The kinds of models whose shapes can be written.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Architecture {
    /// A bias on queries, keys and values.
    Qwen2,
    /// Queries and keys normalised by head.
    Qwen3,
}

impl Architecture {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Qwen2 => "qwen2",
            Self::Qwen3 => "qwen3",
        }
    }
}

/// The sizes of a model. Embeddings are tied: the same matrix reads tokens and gives logits.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// What it is called here.
    pub name: &'static str,
    /// Its kind.
    pub architecture: Architecture,
    /// Number of layers.
    pub layers: u32,
    /// Numbers in a token's state.
    pub width: u32,
    /// Number of heads that ask.
    pub heads: u32,
    /// Number of heads of keys and values.
    pub kv_heads: u32,
    /// Numbers in a head.
    pub head_width: u32,
    /// Numbers in the inner state of a feed-forward block.
    pub hidden: u32,
    /// Number of tokens.
    pub vocabulary: u32,
    /// Tokens of context that the header claims.
    pub context: u32,
}

impl Shape {
    /// For tests: all block types in one small file.
    pub const TINY: Self = Self {
        name: "tiny",
        architecture: Architecture::Qwen2,
        layers: 3,
        width: 224,
        heads: 7,
        kv_heads: 1,
        head_width: 32,
        hidden: 512,
        vocabulary: 2048,
        context: 4096,
    };
    /// For tests: normalised heads wider than the model, as [`Shape::B4`] has them.
    pub const TINY_NORMED: Self = Self {
        name: "tiny-normed",
        architecture: Architecture::Qwen3,
        width: 256,
        heads: 6,
        kv_heads: 2,
        head_width: 64,
        ..Self::TINY
    };
    /// Qwen2.5-0.5B's.
    pub const B0_5: Self = Self {
        name: "0.5b",
        architecture: Architecture::Qwen2,
        layers: 24,
        width: 896,
        heads: 14,
        kv_heads: 2,
        head_width: 64,
        hidden: 4864,
        vocabulary: 151_936,
        context: 32_768,
    };
    /// Qwen3-4B's.
    pub const B4: Self = Self {
        name: "4b",
        architecture: Architecture::Qwen3,
        layers: 36,
        width: 2560,
        heads: 32,
        kv_heads: 8,
        head_width: 128,
        hidden: 9728,
        vocabulary: 151_936,
        context: 40_960,
    };
    /// All that have a name.
    pub const ALL: [Self; 4] = [Self::TINY, Self::TINY_NORMED, Self::B0_5, Self::B4];

    /// The shape of this name.
    ///
    /// # Errors
    /// `NotFound`, with the names that there are.
    pub fn named(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|shape| shape.name == name);
        found.ok_or_else(|| {
            Error::new(
                journeyman::ErrorKind::NotFound,
                "Shape::named",
                "there is no shape of this name",
            )
            .hint(format!(
                "the shapes are {}",
                Self::ALL.map(|shape| shape.name).join(", ")
            ))
        })
    }

    /// All tensors, in the order of the file.
    pub(crate) fn tensors(&self, quantization: Quantization) -> Vec<Tensor> {
        let (width, hidden) = (self.width, self.hidden);
        let (asking, kept) = (
            self.heads * self.head_width,
            self.kv_heads * self.head_width,
        );
        let matrix = |name: String, row: u32, rows: u32, more_bits: bool| Tensor {
            name,
            row,
            rows,
            content: Content::Random(quantization.block(row, more_bits)),
        };
        let ones = |name: String, row: u32| Tensor {
            name,
            row,
            rows: 1,
            content: Content::Ones,
        };
        let mut tensors = vec![
            matrix("token_embd.weight".to_owned(), width, self.vocabulary, true),
            ones("output_norm.weight".to_owned(), width),
        ];
        for layer in 0..self.layers {
            let name = |part: &str| format!("blk.{layer}.{part}");
            let more = gets_more_bits(layer, self.layers);
            tensors.extend([
                ones(name("attn_norm.weight"), width),
                matrix(name("attn_q.weight"), width, asking, false),
                matrix(name("attn_k.weight"), width, kept, false),
                matrix(name("attn_v.weight"), width, kept, more),
                matrix(name("attn_output.weight"), asking, width, false),
                ones(name("ffn_norm.weight"), width),
                matrix(name("ffn_gate.weight"), width, hidden, false),
                matrix(name("ffn_up.weight"), width, hidden, false),
                matrix(name("ffn_down.weight"), hidden, width, more),
            ]);
            match self.architecture {
                Architecture::Qwen2 => tensors.extend(
                    [
                        ("attn_q.bias", asking),
                        ("attn_k.bias", kept),
                        ("attn_v.bias", kept),
                    ]
                    .map(|(part, row)| Tensor {
                        name: name(part),
                        row,
                        rows: 1,
                        content: Content::Zeros,
                    }),
                ),
                Architecture::Qwen3 => tensors.extend([
                    ones(name("attn_q_norm.weight"), self.head_width),
                    ones(name("attn_k_norm.weight"), self.head_width),
                ]),
            }
        }
        tensors
    }
}

/// The layers whose values and feed-forward outputs llama.cpp's Q4_K_M keeps in more bits (`use_more_bits`).
fn gets_more_bits(layer: u32, layers: u32) -> bool {
    let eighth = layers / 8;
    layer < eighth || layer >= 7 * layers / 8 || (layer - eighth) % 3 == 2
}

/// What a tensor holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Random(Block),
    Ones,
    Zeros,
}

#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) name: String,
    pub(crate) row: u32,
    pub(crate) rows: u32,
    pub(crate) content: Content,
}

impl Tensor {
    pub(crate) fn block(&self) -> Block {
        match self.content {
            Content::Random(block) => block,
            Content::Ones | Content::Zeros => Block::F32,
        }
    }

    pub(crate) fn row_bytes(&self) -> usize {
        self.block().bytes_of(self.row)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.row_bytes() as u64 * u64::from(self.rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers in all matrices.
    fn parameters(shape: &Shape) -> u64 {
        let tensors = shape.tensors(Quantization::Q8_0);
        let count = |tensor: &Tensor| u64::from(tensor.row) * u64::from(tensor.rows);
        tensors.iter().map(count).sum()
    }

    #[test]
    fn shapes_have_as_many_parameters_as_the_models_they_are_named_for() {
        // As the models' cards tell them: 0.49 B and 4.0 B.
        assert_eq!(parameters(&Shape::B0_5), 494_032_768);
        assert_eq!(parameters(&Shape::B4), 4_022_468_096);
    }

    #[test]
    fn a_row_of_no_whole_super_blocks_falls_back() {
        let blocks = |shape: Shape| {
            let tensors = shape.tensors(Quantization::Q4_K);
            let of = |name: &str| tensors.iter().find(|t| t.name == name).unwrap().block();
            (
                of("token_embd.weight"),
                of("blk.1.attn_q.weight"),
                of("blk.0.ffn_down.weight"),
            )
        };
        assert_eq!(blocks(Shape::B4), (Block::Q6_K, Block::Q4_K, Block::Q6_K));
        assert_eq!(blocks(Shape::B0_5), (Block::Q8_0, Block::Q5_0, Block::Q6_K));
    }

    #[test]
    fn an_unknown_name_is_told_the_known_ones() {
        assert_eq!(Shape::named("4b").unwrap(), Shape::B4);
        let error = Shape::named("5b").unwrap_err();
        assert!(error.hint_text().unwrap().contains("0.5b"), "{error}");
    }
}
