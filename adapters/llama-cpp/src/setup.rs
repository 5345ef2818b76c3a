//! What a worker's thread is started with.

use std::sync::Arc;

use journeyman::ModelId;

use crate::{config::LlamaConfig, context::Limits, digest::Hashed, render::Renderer};

/// What the thread needs.
pub(crate) struct Setup {
    pub(crate) config: LlamaConfig,
    pub(crate) renderer: Arc<Renderer>,
    pub(crate) limits: Limits,
    pub(crate) gpu_layers: u32,
    pub(crate) id: ModelId,
    pub(crate) file: Hashed,
}
