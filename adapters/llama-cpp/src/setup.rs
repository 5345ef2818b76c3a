//! The parameters of a worker thread.

use std::sync::Arc;

use journeyman::ModelId;

use crate::{
    adapter_digests::AdapterDigests, config::LlamaConfig, context::Limits, digest::FileHash,
    mapped::Mapped, render::Renderer,
};

/// The parameters of a worker thread.
pub(crate) struct Setup {
    pub(crate) config: LlamaConfig,
    pub(crate) renderer: Arc<Renderer>,
    pub(crate) limits: Limits,
    pub(crate) gpu_layers: u32,
    pub(crate) id: ModelId,
    pub(crate) file: FileHash,
    pub(crate) digests: AdapterDigests,
    /// Held as long as the weights.
    pub(crate) _mapped: Option<Mapped>,
}
