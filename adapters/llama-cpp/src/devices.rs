//! What llama.cpp can compute on, and the memory that is free there.

use std::fmt;

use journeyman::Result;
use llama_cpp_2::{LlamaBackendDevice, LlamaBackendDeviceType, list_llama_ggml_backend_devices};
use serde::Serialize;

use crate::loaded::backend;

/// Whether the build can have GPUs at all.
pub(crate) const GPU_BACKENDS: bool = cfg!(any(
    feature = "cuda",
    feature = "vulkan",
    feature = "metal",
    feature = "dynamic-backends"
));

/// The kinds of devices.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceKind {
    /// The processor.
    Cpu,
    /// A GPU with memory of its own.
    Gpu,
    /// A GPU that shares the system's memory.
    IntegratedGpu,
    /// What helps the processor, such as a BLAS library.
    Accelerator,
    /// What llama.cpp calls otherwise.
    Other,
}

/// A device that llama.cpp can compute on.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Device {
    /// llama.cpp's name, such as `CUDA0`.
    pub name: String,
    /// The maker's name.
    pub description: String,
    /// The backend that drives it, such as `CUDA`.
    pub backend: String,
    /// Its kind.
    pub kind: DeviceKind,
    /// Bytes of its memory.
    pub memory_total: u64,
    /// Bytes of it that are free now.
    pub memory_free: u64,
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cpu => "processor",
            Self::Gpu => "GPU",
            Self::IntegratedGpu => "integrated GPU",
            Self::Accelerator => "accelerator",
            Self::Other => "other",
        })
    }
}

impl Device {
    fn is_gpu(&self) -> bool {
        matches!(self.kind, DeviceKind::Gpu | DeviceKind::IntegratedGpu)
    }
}

impl From<LlamaBackendDevice> for Device {
    fn from(device: LlamaBackendDevice) -> Self {
        let kind = match device.device_type {
            LlamaBackendDeviceType::Cpu => DeviceKind::Cpu,
            LlamaBackendDeviceType::Gpu => DeviceKind::Gpu,
            LlamaBackendDeviceType::IntegratedGpu => DeviceKind::IntegratedGpu,
            LlamaBackendDeviceType::Accelerator => DeviceKind::Accelerator,
            LlamaBackendDeviceType::Unknown => DeviceKind::Other,
        };
        Self {
            name: device.name,
            description: device.description,
            backend: device.backend,
            kind,
            memory_total: device.memory_total as u64,
            memory_free: device.memory_free as u64,
        }
    }
}

/// The devices of the backends in this build and of those that were loaded. The processor's free memory is what the
/// system calls available, where that can be read.
///
/// # Errors
/// `Unavailable` where llama.cpp cannot be started.
pub fn devices() -> Result<Vec<Device>> {
    backend()?;
    let mut devices: Vec<Device> = list_llama_ggml_backend_devices()
        .into_iter()
        .map(Device::from)
        .collect();
    if let Some(available) = available() {
        let processors = devices
            .iter_mut()
            .filter(|device| device.kind == DeviceKind::Cpu);
        for processor in processors {
            // llama.cpp takes all of it for free.
            processor.memory_free = processor.memory_free.min(available);
        }
    }
    Ok(devices)
}

/// Loads the backends in a folder, such as `libggml-cuda.so`, that run on this machine, and gives the devices that
/// there are then. In a build with `dynamic-backends` there is no backend before, not even the processor's.
///
/// The libraries run inside this process: name a folder that only you can write.
///
/// # Errors
/// `NotFound` for no folder, or one without a backend that runs here; `Invalid` for a path that is not UTF-8.
#[cfg(feature = "dynamic-backends")]
pub fn load_backends(folder: &std::path::Path) -> Result<Vec<Device>> {
    use journeyman::{Error, ErrorKind};

    const OPERATION: &str = "load_backends";
    let with_path = |error: Error| error.with("path", folder.display());
    if !folder.is_dir() {
        let error = Error::new(ErrorKind::NotFound, OPERATION, "there is no such folder")
            .hint("name the folder that llama.cpp's build or package put its libggml-*.so into");
        return Err(with_path(error));
    }
    if folder.to_str().is_none_or(|path| path.contains('\0')) {
        let error = Error::invalid(OPERATION, "the path is not UTF-8");
        return Err(with_path(error.hint("rename the folder")));
    }
    let before = devices()?.len();
    llama_cpp_2::llama_backend::load_backends_from_path(folder);
    let devices = devices()?;
    if devices.len() > before {
        return Ok(devices);
    }
    let error = Error::new(
        ErrorKind::NotFound,
        OPERATION,
        "the folder has no backend that runs here and was not loaded before",
    )
    .hint("check that its libraries are of this build of llama.cpp and that their drivers are installed");
    Err(with_path(error))
}

/// Bytes that are free; `None` where there is no such memory, or nobody can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) system: Option<u64>,
    /// Of all GPUs together: llama.cpp shares layers out among them.
    pub(crate) gpu: Option<u64>,
}

impl Memory {
    pub(crate) fn read() -> Result<Self> {
        let devices = devices()?;
        let gpus: Vec<u64> = devices
            .iter()
            .filter(|device| device.is_gpu())
            .map(|device| device.memory_free)
            .collect();
        let system = devices
            .iter()
            .find(|device| device.kind == DeviceKind::Cpu)
            .map(|device| device.memory_free);
        Ok(Self {
            system,
            gpu: (!gpus.is_empty()).then(|| gpus.iter().sum()),
        })
    }
}

/// Bytes that can be had without swapping, and that this process's group may have.
fn available() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok();
    let available = meminfo.as_deref().and_then(available_of);
    let limit = [
        "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    ]
    .iter()
    .filter_map(|file| std::fs::read_to_string(file).ok()?.trim().parse().ok())
    .min();
    match (available, limit) {
        (Some(available), Some(limit)) => Some(available.min(limit)),
        (available, limit) => available.or(limit),
    }
}

/// `MemAvailable` of Linux's `/proc/meminfo`, in bytes.
fn available_of(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_is_a_device_with_memory() {
        let devices = devices().unwrap();
        let processor = devices.iter().find(|one| one.kind == DeviceKind::Cpu);
        let processor = processor.unwrap();
        assert_eq!(processor.backend, "CPU");
        assert!(!processor.name.is_empty());
        assert!(0 < processor.memory_free && processor.memory_free <= processor.memory_total);
    }

    #[test]
    fn available_memory_is_read_from_linux_own_list() {
        let meminfo = "MemTotal:       2048 kB\nMemFree:  1 kB\nMemAvailable:   1024 kB\n";
        assert_eq!(available_of(meminfo), Some(1 << 20));
        for other in [
            "",
            "MemAvailable: many kB",
            "MemAvailable: 3",
            "MemTotal: 3 kB",
        ] {
            assert_eq!(available_of(other), None);
        }
    }
}
