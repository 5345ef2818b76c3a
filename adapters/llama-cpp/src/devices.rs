//! What a model can run on.

use journeyman::Result;
use llama_cpp_2::{LlamaBackendDeviceType, list_llama_ggml_backend_devices};
use serde::Serialize;

use crate::loaded::backend;

/// A device that this build of llama.cpp can use here.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Device {
    /// Its name, such as `CUDA0`.
    pub name: String,
    /// What it is, in its driver's words.
    pub description: String,
    /// The part of llama.cpp that drives it.
    pub backend: String,
    /// `cpu`, `accelerator`, `gpu`, `integrated gpu` or `unknown`.
    pub kind: &'static str,
    /// Bytes of memory.
    pub memory_total: u64,
    /// Bytes of it that are free.
    pub memory_free: u64,
}

/// The devices, the CPU among them.
///
/// # Errors
/// `Unavailable` where llama.cpp cannot be started.
pub fn devices() -> Result<Vec<Device>> {
    backend()?;
    let devices = list_llama_ggml_backend_devices().into_iter();
    Ok(devices
        .map(|device| Device {
            name: device.name,
            description: device.description,
            backend: device.backend,
            kind: match device.device_type {
                LlamaBackendDeviceType::Cpu => "cpu",
                LlamaBackendDeviceType::Accelerator => "accelerator",
                LlamaBackendDeviceType::Gpu => "gpu",
                LlamaBackendDeviceType::IntegratedGpu => "integrated gpu",
                LlamaBackendDeviceType::Unknown => "unknown",
            },
            memory_total: device.memory_total as u64,
            memory_free: device.memory_free as u64,
        })
        .collect())
}
