//! Computed by hand: 4 layers of 1 MiB, 8 key and value elements per token and layer, shared embeddings of 2 MiB.

use super::*;
use crate::{config::Precision, gguf::Tensor, sizes::Needs};

const MIB: u64 = 1 << 20;

fn sizes() -> Sizes {
    let tensor = |name: &str, bytes| Tensor {
        name: name.to_owned(),
        shape: Vec::new(),
        kind: 0,
        bytes,
    };
    let mut tensors = vec![
        tensor("token_embd.weight", 2 * MIB),
        tensor("output_norm.weight", 64),
    ];
    for layer in 0..4 {
        tensors.push(tensor(&format!("blk.{layer}.attn_q.weight"), MIB / 2));
        tensors.push(tensor(&format!("blk.{layer}.ffn_up.weight"), MIB / 2));
    }
    let number = |name: &str| match name {
        "block_count" => Some(4),
        "embedding_length" => Some(8),
        "attention.head_count" => Some(4),
        "attention.head_count_kv" => Some(2),
        "feed_forward_length" => Some(16),
        _ => None,
    };
    Sizes::new(&tensors, number, 100, true)
}

/// No cells beside the context's, batches of 2 tokens.
fn config() -> LlamaConfig {
    let mut config = LlamaConfig::new("model.gguf");
    config.shared_cells = Some(0);
    config.n_batch = 1;
    config.n_seq_max = 2;
    config.precision = Precision::Full;
    config.gpu_layers = GpuLayers::None;
    config
}

fn memory(system: u64, gpu: Option<u64>) -> Memory {
    Memory {
        system: Some(system),
        gpu,
    }
}

/// Compute buffers of a batch of two: 100 + 4 x 16 elements each, and for 4 heads one for each cell.
fn computing(context: u64) -> u64 {
    (164 + 4 * context) * 2 * 4
}

#[test]
fn needs_are_those_of_layers_cells_and_batches() {
    let (sizes, config) = (sizes(), config());
    let kept = 8 * 1000 * 4;
    assert_eq!(
        sizes.needs(&config, 0, 1000),
        Needs {
            device: 0,
            host: 6 * MIB + 64 + 4 * kept + computing(1000)
        }
    );
    // The output layer first, with a copy of the embeddings; then the last layer.
    assert_eq!(
        sizes.needs(&config, 2, 1000),
        Needs {
            device: 3 * MIB + 64 + kept + computing(1000),
            host: 5 * MIB + 3 * kept + computing(1000)
        }
    );
    assert_eq!(
        sizes.needs(&config, 5, 1000),
        Needs {
            device: 6 * MIB + 64 + 4 * kept + computing(1000),
            host: 2 * MIB
        }
    );
    let mut lean = config.clone();
    lean.precision = Precision::Half;
    assert_eq!(
        sizes.needs(&lean, 0, 1000).host,
        6 * MIB + 64 + 2 * kept + computing(0)
    );
}

#[test]
fn layers_are_fitted_to_what_is_free() {
    let sizes = sizes();
    let mut config = config();
    config.gpu_layers = GpuLayers::Fit;
    let layers = |free| plan(&sizes, &config, 1000, memory(1 << 40, free)).unwrap();
    assert_eq!(layers(None).gpu_layers, 0);
    assert_eq!(layers(Some(MIB)).gpu_layers, 0);
    assert_eq!(layers(Some(4 * MIB)).gpu_layers, 2);
    assert_eq!(layers(Some(1 << 40)).gpu_layers, 5);
    // No spare memory for the fifth.
    let all = sizes.needs(&config, 5, 1000).device;
    assert_eq!(layers(Some(all)).gpu_layers, 4);
    assert_eq!(layers(Some(all + all / 15 + 1)).gpu_layers, 5);
}

#[test]
fn a_context_that_nobody_asked_for_is_made_to_fit() {
    let (sizes, config) = (sizes(), config());
    let free = sizes.needs(&config, 0, 700).host;
    let plan = |config| plan(&sizes, &config, 1000, memory(free, None));
    assert_eq!(plan(config.clone()).unwrap().context, 700);
    let mut asked = config;
    asked.n_ctx = Some(1000);
    let error = plan(asked).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    let hint = error.hint_text().unwrap();
    assert!(hint.starts_with("set n_ctx to 700 or less; or"), "{hint}");
}

#[test]
fn more_layers_than_memory_are_refused_with_what_would_fit() {
    let sizes = sizes();
    let mut config = config();
    config.gpu_layers = GpuLayers::All;
    let error = plan(&sizes, &config, 1000, memory(1 << 40, Some(4 * MIB))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Unavailable at LlamaCpp::load: the GPU's memory is too small: about 7 MiB are needed for weights and a \
         context of 1000, 4 are free; hint: set gpu_layers to 2 or fewer of 5, or to GpuLayers::Fit; or end other \
         programs that use this memory; or use a smaller model or quantization"
    );
    // The same for the system's memory.
    config.gpu_layers = GpuLayers::None;
    let error = plan(&sizes, &config, 1000, memory(MIB, None)).unwrap_err();
    assert!(error.message().starts_with("the system's"), "{error}");
    assert_eq!(error.kind(), ErrorKind::Unavailable);
}

#[test]
fn a_model_gets_what_those_before_it_leave() {
    let (sizes, mut config) = (sizes(), config());
    config.n_ctx = Some(1000);
    let planned = |mapped| plan(&sizes, &config, 1000, Memory::read(mapped).unwrap());
    assert_eq!(planned(0).unwrap().context, 1000);
    // More than any machine has. Where no system says what is available, nothing is refused.
    if std::path::Path::new("/proc/meminfo").exists() {
        let error = planned(1 << 60).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.message().ends_with("0 are free"), "{error}");
    }
}

#[test]
fn weights_on_a_gpu_are_not_mapped() {
    let sizes = sizes();
    let in_system = |layers| sizes.weights_in_system(layers);
    assert_eq!(in_system(0), 6 * MIB + 64);
    assert_eq!(in_system(2), 5 * MIB);
    assert_eq!(in_system(5), 2 * MIB);
    assert_eq!(in_system(9), 2 * MIB);
}

#[test]
fn where_memory_cannot_be_read_nothing_is_refused() {
    let nowhere = Memory {
        system: None,
        gpu: None,
    };
    let mut asked = config();
    asked.n_ctx = Some(1 << 24);
    let large = plan(&sizes(), &asked, 1 << 24, nowhere).unwrap();
    assert_eq!((large.gpu_layers, large.layers), (0, 5));
    assert_eq!(large.context, 1 << 24);
    // What nobody asked for stays usual.
    let usual = plan(&sizes(), &config(), 1 << 24, nowhere).unwrap();
    assert_eq!(usual.context, USUAL_CONTEXT);
}

#[test]
fn a_large_context_that_nobody_asked_for_leaves_room() {
    let (sizes, config) = (sizes(), config());
    let host = |context| sizes.needs(&config, 0, context).host;
    let planned = |config: &LlamaConfig, free| {
        let wanted = config.n_ctx.unwrap_or(200_000);
        plan(&sizes, config, wanted, memory(free, None))
            .unwrap()
            .context
    };
    assert_eq!(planned(&config, 1 << 40), 200_000);
    // More than the weights need, so that the quarter binds. A quarter of what is free is what 60,000 more tokens take.
    let more = host(USUAL_CONTEXT + 60_000) - host(USUAL_CONTEXT);
    assert_eq!(planned(&config, 4 * more), USUAL_CONTEXT + 60_000);
    assert_eq!(planned(&config, 4 * more - 4), USUAL_CONTEXT + 59_999);
    let mut asked = config.clone();
    asked.n_ctx = Some(16_000);
    assert_eq!(planned(&asked, host(16_000)), 16_000);
}

#[test]
fn a_model_in_several_files_is_loaded_unseen_but_not_fitted() {
    let mut sizes = sizes();
    sizes.whole = false;
    let mut config = config();
    plan(&sizes, &config, 1000, memory(0, Some(0))).unwrap();
    config.gpu_layers = GpuLayers::Fit;
    let fitted = plan(&sizes, &config, 1000, memory(0, Some(1 << 40))).unwrap();
    assert_eq!(fitted.gpu_layers, 0);
}
