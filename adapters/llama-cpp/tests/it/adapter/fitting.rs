//! Layers and contexts that fit, and those that do not.

use futures::executor::block_on;
use journeyman::{
    ErrorKind,
    contract::{GenerateRequest, LanguageModel},
};
use journeyman_llama_cpp::{DeviceKind, GpuLayers, LlamaConfig, LlamaCpp, Plan, Template, devices};

use crate::support::{TestFile, Tiny, prompt};

fn has_gpu() -> bool {
    let devices = devices().unwrap();
    devices
        .iter()
        .any(|device| matches!(device.kind, DeviceKind::Gpu | DeviceKind::IntegratedGpu))
}

#[test]
fn layers_go_to_a_gpu_or_are_refused() {
    let file = TestFile::new("tiny.gguf", &Tiny::default().bytes());
    for gpu_layers in [GpuLayers::All, GpuLayers::Count(1)] {
        let mut config = LlamaConfig::new(&file.0);
        config.gpu_layers = gpu_layers;
        let loaded = LlamaCpp::load(config);
        if has_gpu() {
            let request = GenerateRequest::greedy(prompt("go on"), 3);
            block_on(loaded.unwrap().generate(&request)).unwrap();
        } else {
            let error = loaded.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
            assert!(error.hint_text().unwrap().contains("GpuLayers::None"));
        }
    }
}

#[test]
fn layers_are_fitted_with_and_without_a_gpu() {
    let file = TestFile::new("tiny.gguf", &Tiny::default().bytes());
    let mut config = LlamaConfig::new(&file.0);
    config.gpu_layers = GpuLayers::Fit;
    let plan = Plan::new(&config).unwrap();
    assert_eq!((plan.layers, plan.context), (3, 1024));
    assert_eq!(plan.gpu_layers, if has_gpu() { 3 } else { 0 });
    assert!(plan.system_bytes > 0);
    config.template = Template::None;
    LlamaCpp::load(config).unwrap();
}

#[test]
fn a_context_beyond_all_memory_is_refused_before_it_is_allocated() {
    let mut tiny = Tiny::default().bytes();
    // Heads as wide as none are, so that a context takes terabytes.
    let key = b"llama.attention.head_count_kv";
    let at = tiny.windows(key.len()).position(|word| word == key);
    let at = at.unwrap() + key.len() + 4;
    tiny[at..at + 4].copy_from_slice(&(1_u32 << 16).to_le_bytes());
    let file = TestFile::new("wide.gguf", &tiny);
    let mut config = LlamaConfig::new(&file.0);
    config.n_ctx = Some(1 << 24);
    let error = LlamaCpp::load(config).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(error.message().contains("memory is too small"), "{error}");
    assert!(error.hint_text().unwrap().contains("set n_ctx to"));
}
