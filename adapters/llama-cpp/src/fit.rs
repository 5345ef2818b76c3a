//! Fitting a model into free memory: layers on a GPU, context in memory.
//!
//! llama.cpp allocates while it loads, and running out of memory ends in a plain "failed", on some systems in the end
//! of the process. Here the need is estimated before, from the file's header.

use std::{fs, path::PathBuf};

use journeyman::{Error, ErrorKind, Result};

use crate::{
    config::{GpuLayers, LlamaConfig},
    devices::{GPU_BACKENDS, Memory},
    gguf::{self, Header},
    mapped::{self, Mapped},
    sizes::Sizes,
    weights::is_mapped,
};

const OPERATION: &str = "LlamaCpp::load";
/// Minimum context, in tokens, to which a context that the host did not set is reduced where memory is short.
const LEAST_CONTEXT: u32 = 512;
/// Context, in tokens, up to which free memory is used as a whole; a larger one that the host did not set has to leave room.
const USUAL_CONTEXT: u32 = 4096;
/// A context above [`USUAL_CONTEXT`] that the host did not set takes this fraction (one part in `ROOM`) of the free memory at most.
const ROOM: u64 = 4;
/// [`GpuLayers::Fit`] leaves this fraction (one part in `SPARE`) of a device's free memory unused.
const SPARE: u64 = 16;

/// The plan of loading a model: layers, context, and the memory that they need.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Layers on a GPU, beginning with the last. The output layer counts as one and is the first to move to the GPU.
    pub gpu_layers: u32,
    /// All layers of the model, the output layer included.
    pub layers: u32,
    /// Context size in tokens.
    pub context: u32,
    /// Bytes needed on GPUs: weights, keys and values, and compute buffers. A conservative estimate.
    pub gpu_bytes: u64,
    /// Bytes needed in the system's memory, estimated in the same way.
    pub system_bytes: u64,
}

impl Plan {
    /// Plans the loading of a model without loading it, from the file's header and the present free memory.
    ///
    /// # Errors
    /// As [`LlamaCpp::load`](crate::LlamaCpp::load), as far as a header shows.
    pub fn new(config: &LlamaConfig) -> Result<Self> {
        config.check()?;
        let header = gguf::inspect(&config.path, gguf::Purpose::Writing)?;
        let mapped = mapped::living().of_others(&mapped::files_of(&config.path));
        Self::beside(mapped, config, &header)
    }

    /// Plans a loading, and counts the model's files as mapped, where they are going to be, until the value is dropped. No other
    /// loading is planned between the two.
    pub(crate) fn reserved(
        config: &LlamaConfig,
        header: &Header,
    ) -> Result<(Self, Option<Mapped>)> {
        let files = mapped::files_of(&config.path);
        let mut living = mapped::living();
        let plan = Self::beside(living.of_others(&files), config, header)?;
        let mapped = is_mapped(&config.path).then(|| living.add(plan.parts(files, header)));
        Ok((plan, mapped))
    }

    /// The plan beside other models of this process, which have mapped so many bytes.
    fn beside(mapped: u64, config: &LlamaConfig, header: &Header) -> Result<Self> {
        plan(
            &header.sizes,
            config,
            config.context_for(header.trained_context),
            Memory::read(mapped)?,
        )
        .map_err(|error| {
            let error = error.with("path", config.path.display());
            match mapped >> 20 {
                0 => error,
                mib => error.with("mapped_by_other_models_mib", mib),
            }
        })
    }

    /// The bytes that are going to be mapped of each of the model's files, of which the first has the header.
    fn parts(&self, files: Vec<PathBuf>, header: &Header) -> Vec<(PathBuf, u64)> {
        let first = header.sizes.weights_in_system(self.gpu_layers);
        // Which layers another file has is not known. Where a GPU has some, a file counts once it is mapped.
        let later = |path: &PathBuf| match self.gpu_layers {
            0 => fs::metadata(path).map_or(0, |file| file.len()),
            _ => 0,
        };
        let most = if header.sizes.whole { 1 } else { files.len() };
        let files = files.into_iter().take(most).enumerate();
        let files = files.map(|(place, path)| {
            let bytes = if place == 0 { first } else { later(&path) };
            (path, bytes)
        });
        files.collect()
    }
}

/// Chooses layers and context; the error says what does not fit and what would.
fn plan(sizes: &Sizes, config: &LlamaConfig, wanted: u32, memory: Memory) -> Result<Plan> {
    let usual = match config.n_ctx {
        Some(_) => wanted,
        None => wanted.min(USUAL_CONTEXT),
    };
    // A larger context that nobody asked for moves no layer from the GPU.
    let gpu_layers = layers_wanted(sizes, config, usual, memory)?;
    let wanted = roomy(sizes, config, (gpu_layers, usual, wanted), memory);
    let made = |context| {
        let needs = sizes.needs(config, gpu_layers, context);
        Plan {
            gpu_layers,
            layers: sizes.steps(),
            context,
            gpu_bytes: needs.device,
            system_bytes: needs.host,
        }
    };
    let room = |context| {
        let needs = sizes.needs(config, gpu_layers, context);
        !sizes.whole
            || (memory.gpu.is_none_or(|free| needs.device <= free)
                && memory.system.is_none_or(|free| needs.host <= free))
    };
    let largest = greatest(wanted, room);
    match largest {
        Some(context) if context == wanted => Ok(made(wanted)),
        Some(context) if config.n_ctx.is_none() && context >= LEAST_CONTEXT => Ok(made(context)),
        _ => Err(too_little(made(wanted), sizes, config, memory, largest)),
    }
}

/// The greatest context, from the usual to the wanted one, whose part above the usual one takes a fraction of the free memory.
/// Where it is not known what is free, the usual one.
fn roomy(
    sizes: &Sizes,
    config: &LlamaConfig,
    (gpu_layers, usual, wanted): (u32, u32, u32),
    memory: Memory,
) -> u32 {
    let needs = |context| sizes.needs(config, gpu_layers, context);
    let base = needs(usual);
    let within = |more: u64, free: Option<u64>| free.is_some_and(|free| more <= free / ROOM);
    let leaves_room = |context| {
        let needs = needs(context);
        let (device, host) = (needs.device - base.device, needs.host - base.host);
        (device == 0 || within(device, memory.gpu)) && (host == 0 || within(host, memory.system))
    };
    let more = greatest(wanted - usual, |more| leaves_room(usual + more));
    usual + more.unwrap_or(0)
}

fn layers_wanted(sizes: &Sizes, config: &LlamaConfig, context: u32, memory: Memory) -> Result<u32> {
    let layers = match config.gpu_layers {
        GpuLayers::None | GpuLayers::Count(0) => return Ok(0),
        GpuLayers::Count(layers) => layers.min(sizes.steps()),
        GpuLayers::All => sizes.steps(),
        GpuLayers::Fit => {
            let Some(free) = memory.gpu else {
                return Ok(0);
            };
            if !sizes.whole {
                tracing::warn!(
                    model = %config.path.display(),
                    "a model in several files is computed by the processor: set gpu_layers to a number, or merge the files \
                     with llama.cpp's llama-gguf-split"
                );
                return Ok(0);
            }
            let free = free - free / SPARE;
            return Ok(most_layers(sizes, config, context, free));
        }
    };
    if memory.gpu.is_some() {
        return Ok(layers);
    }
    let error = Error::unsupported(OPERATION, "layers are assigned to a GPU, and there is none")
        .with("field", "gpu_layers");
    Err(error.hint(if GPU_BACKENDS {
        "no GPU is found: check its driver with `devices()`, load its backend with `load_backends` where backends \
         are plugins, or set gpu_layers to GpuLayers::None or Fit"
    } else {
        "build with the feature cuda, vulkan, metal or dynamic-backends of journeyman-llama-cpp, or set gpu_layers to \
         GpuLayers::None or Fit"
    }))
}

/// Maximum layers that fit on a GPU with this context.
fn most_layers(sizes: &Sizes, config: &LlamaConfig, context: u32, free: u64) -> u32 {
    greatest(sizes.steps(), |layers| {
        sizes.needs(config, layers, context).device <= free
    })
    .unwrap_or(0)
}

/// The greatest good number up to `most`, where every number below a good one is good.
fn greatest(most: u32, good: impl Fn(u32) -> bool) -> Option<u32> {
    if good(most) {
        return Some(most);
    }
    if !good(0) {
        return None;
    }
    let (mut least, mut bad) = (0, most);
    while bad - least > 1 {
        let middle = least + (bad - least) / 2;
        if good(middle) {
            least = middle;
        } else {
            bad = middle;
        }
    }
    Some(least)
}

fn too_little(
    plan: Plan,
    sizes: &Sizes,
    config: &LlamaConfig,
    memory: Memory,
    context: Option<u32>,
) -> Error {
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    let gpu = memory.gpu.filter(|&free| plan.gpu_bytes > free);
    let (place, needed, free) = match (gpu, memory.system) {
        (Some(free), _) => ("the GPU's", plan.gpu_bytes, free),
        (None, free) => ("the system's", plan.system_bytes, free.unwrap_or(0)),
    };
    let mut ways = Vec::new();
    if gpu.is_some() {
        let layers = most_layers(sizes, config, plan.context, free);
        ways.push(format!(
            "set gpu_layers to {layers} or fewer of {}, or to GpuLayers::Fit",
            plan.layers
        ));
    }
    if let Some(context) = context.filter(|&context| context >= 16) {
        ways.push(format!("set n_ctx to {context} or less"));
    }
    ways.push("end other programs that use this memory".to_owned());
    ways.push("use a smaller model or quantization".to_owned());
    Error::new(
        ErrorKind::Unavailable,
        OPERATION,
        format!(
            "{place} memory is too small: about {} MiB are needed for weights and a context of {}, {} are free",
            mib(needed),
            plan.context,
            free >> 20
        ),
    )
    .hint(ways.join("; or "))
}

#[cfg(test)]
mod tests;
