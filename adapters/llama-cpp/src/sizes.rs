//! Estimates of the memory that a model's weights, keys and values and compute buffers need, from its header.

use crate::{
    config::{LlamaConfig, Precision},
    gguf::Tensor,
};

/// The memory needs of a model's parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Bytes of each layer's weights.
    layers: Vec<u64>,
    /// Bytes of the output layer's own weights.
    output: u64,
    /// Bytes of the token embeddings where the output layer shares them: a GPU with the output layer has a copy.
    shared: u64,
    /// Bytes of all weights.
    all: u64,
    /// Key and value elements of one token in one layer.
    kept: u64,
    /// Elements per token of a batch in compute buffers, without attention.
    computed: u64,
    /// Attention heads, each with an element for each pair of a batch's token and a cell.
    heads: u64,
    /// Whether the file holds the whole model.
    pub(crate) whole: bool,
}

impl Sizes {
    /// Bytes of all weights.
    pub(crate) fn weights(&self) -> u64 {
        self.all
    }

    /// Bytes of the weights that stay in the system's memory with this number of layers on a GPU.
    pub(crate) fn weights_in_system(&self, gpu_layers: u32) -> u64 {
        self.all.saturating_sub(self.weights_on_gpu(gpu_layers))
    }

    /// Bytes of the weights that move to a GPU with this number of layers, without copies.
    fn weights_on_gpu(&self, gpu_layers: u32) -> u64 {
        match gpu_layers {
            0 => 0,
            _ => {
                let stay = self.layers.len() - self.moved(gpu_layers);
                self.output + self.layers[stay..].iter().sum::<u64>()
            }
        }
    }

    /// The layers that move to a GPU, of so many with the output layer, which moves first.
    fn moved(&self, gpu_layers: u32) -> usize {
        gpu_layers.saturating_sub(1).min(self.layers.len() as u32) as usize
    }

    /// Computes the sizes from the tensors and the architecture's numbers. A width that is a list over layers counts as
    /// the largest possible one.
    pub(crate) fn new(
        tensors: &[Tensor],
        number: impl Fn(&str) -> Option<u64>,
        vocabulary: u64,
        whole: bool,
    ) -> Self {
        let layers = number("block_count").unwrap_or(0).min(512) as usize;
        let mut sizes = Self {
            layers: vec![0; layers],
            whole,
            ..Self::default()
        };
        let mut output = false;
        for Tensor { name, bytes, .. } in tensors {
            sizes.all = sizes.all.saturating_add(*bytes);
            let layer = name
                .strip_prefix("blk.")
                .and_then(|rest| rest.split('.').next()?.parse::<usize>().ok())
                .and_then(|layer| sizes.layers.get_mut(layer));
            match layer {
                Some(layer) => *layer += bytes,
                None if name.starts_with("output") => sizes.output += bytes,
                None if name == "token_embd.weight" => sizes.shared = *bytes,
                None => {}
            }
            output |= name == "output.weight";
        }
        if output {
            sizes.shared = 0;
        }
        let size = |name: &str, other: u64| number(name).unwrap_or(other).min(1 << 28);
        let width = size("embedding_length", 0);
        sizes.heads = size("attention.head_count", 1).max(1);
        let head = width / sizes.heads;
        sizes.kept = size("attention.head_count_kv", sizes.heads)
            * (size("attention.key_length", head) + size("attention.value_length", head));
        sizes.computed = vocabulary + 4 * size("feed_forward_length", 4 * width);
        sizes
    }

    /// Number of layers, with the output layer counted as one, as llama.cpp does.
    pub(crate) fn steps(&self) -> u32 {
        self.layers.len() as u32 + 1
    }

    /// The bytes needed on the GPUs and in the system's memory, with this number of layers on a GPU, beginning with the
    /// last.
    pub(crate) fn needs(&self, config: &LlamaConfig, gpu_layers: u32, context: u32) -> Needs {
        let cells = u64::from(context) + u64::from(config.shared_cells_for(context));
        let of_layers = |count: usize| {
            let number = match config.precision {
                Precision::Half => 2,
                Precision::Full => 4,
            };
            (count as u64).saturating_mul(self.kept.saturating_mul(cells * number))
        };
        let batch = u64::from(config.n_batch.max(config.n_seq_max));
        let attention = match config.precision {
            // Flash attention keeps no product of a batch's tokens and the cells.
            Precision::Half => 0,
            Precision::Full => self.heads.saturating_mul(cells),
        };
        let computing = (self.computed.saturating_add(attention)).saturating_mul(batch * 4);
        let moved = self.moved(gpu_layers);
        let stay = self.layers.len() - moved;
        let (mut device, mut host) = (0, 0);
        if gpu_layers > 0 {
            device = self
                .weights_on_gpu(gpu_layers)
                .saturating_add(self.shared)
                .saturating_add(of_layers(moved))
                .saturating_add(computing);
        }
        if stay > 0 {
            host = of_layers(stay).saturating_add(computing);
        }
        host = host.saturating_add(self.weights_in_system(gpu_layers));
        Needs { device, host }
    }
}

/// Bytes that a model needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Needs {
    /// On the GPUs.
    pub(crate) device: u64,
    /// In the system's memory.
    pub(crate) host: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_of_its_own_is_not_shared() {
        let tensors = ["token_embd.weight", "output.weight", "blk.7.odd"].map(|name| Tensor {
            name: name.to_owned(),
            shape: Vec::new(),
            kind: 0,
            bytes: 1 << 20,
        });
        let number = |name: &str| (name == "block_count").then_some(4);
        let sizes = Sizes::new(&tensors, number, 0, true);
        assert_eq!(
            (sizes.shared, sizes.output, sizes.all),
            (0, 1 << 20, 3 << 20)
        );
        // Numbers that no model has stay numbers.
        let config = LlamaConfig::new("model.gguf");
        let sizes = Sizes::new(&tensors, |_| Some(u64::MAX), 0, true);
        assert!(sizes.needs(&config, 3, 1 << 24).host > 1 << 40);
    }
}
