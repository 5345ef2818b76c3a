//! Devices that llama.cpp can compute on, and their free memory.

use std::{
    collections::BTreeSet,
    fmt,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use journeyman::{Error, ErrorKind, Result};
use llama_cpp_2::{LlamaBackendDevice, LlamaBackendDeviceType, list_llama_ggml_backend_devices};
use serde::Serialize;

use crate::backend::backend;

/// Whether the build has a GPU backend or can load one.
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
    /// A helper of the processor, such as a BLAS library.
    Accelerator,
    /// A kind that llama.cpp does not name.
    Other,
}

/// A device that llama.cpp can compute on.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Device {
    /// llama.cpp's name, such as `CUDA0`.
    pub name: String,
    /// The maker's product name.
    pub description: String,
    /// Its backend, such as `CUDA`.
    pub backend: String,
    /// The kind of device.
    pub kind: DeviceKind,
    /// Its memory in bytes.
    pub memory_total: u64,
    /// Its free memory in bytes, at the time of the call.
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

/// Lists the devices of the backends in this build and of those that were loaded. The processor's free memory is what
/// the system calls available, where that can be read.
///
/// # Errors
/// `Unavailable` where llama.cpp cannot be started.
pub fn devices() -> Result<Vec<Device>> {
    devices_beside(0)
}

/// The same where `mapped` bytes of files have to stay in memory.
fn devices_beside(mapped: u64) -> Result<Vec<Device>> {
    backend()?;
    let mut devices: Vec<Device> = list_llama_ggml_backend_devices()
        .into_iter()
        .map(Device::from)
        .collect();
    if let Some(available) = available(mapped) {
        let processors = devices
            .iter_mut()
            .filter(|device| device.kind == DeviceKind::Cpu);
        for processor in processors {
            // llama.cpp reports all memory as free.
            processor.memory_free = processor.memory_free.min(available);
        }
    }
    Ok(devices)
}

/// Loads the backends in a folder, such as `libggml-cuda.so`, that run on this machine, and returns all devices. In a
/// build with `dynamic-backends` no backend is present before, not even the processor's; an exception is the folder
/// that llama.cpp was built with, which it loads by itself where it still exists.
///
/// The libraries run inside this process: name a folder that only you can write.
///
/// # Errors
/// `NotFound` where the folder does not exist or has no backend that runs here; `Invalid` for a path that is not UTF-8;
/// `Unsupported` in a build without `dynamic-backends`.
pub fn load_backends(folder: &Path) -> Result<Vec<Device>> {
    const OPERATION: &str = "load_backends";
    let with_path = |error: Error| error.with("path", folder.display());
    if !cfg!(feature = "dynamic-backends") {
        let error = Error::unsupported(OPERATION, "this build loads no backends").hint(
            "build with the feature `dynamic-backends`, or leave the folder out: the backends of this build are \
                built in",
        );
        return Err(with_path(error));
    }
    if !folder.is_dir() {
        let error = Error::new(ErrorKind::NotFound, OPERATION, "there is no such folder")
            .hint("name the folder with the libggml-*.so of llama.cpp's build or package");
        return Err(with_path(error));
    }
    if folder.to_str().is_none_or(|path| path.contains('\0')) {
        let error = Error::invalid(OPERATION, "the path is not UTF-8");
        return Err(with_path(error.hint("rename the folder")));
    }
    let before = devices()?.len();
    #[cfg(feature = "dynamic-backends")]
    llama_cpp_2::llama_backend::load_backends_from_path(folder);
    let devices = devices()?;
    if devices.len() > before || drives_some(folder, &devices) {
        return Ok(devices);
    }
    let error = Error::new(
        ErrorKind::NotFound,
        OPERATION,
        "the folder has no backend that runs here",
    )
    .hint("check that its libraries are of this build of llama.cpp and that their drivers are installed");
    Err(with_path(error))
}

/// Whether a backend of the folder drives one of the devices: then it had been loaded before.
fn drives_some(folder: &Path, devices: &[Device]) -> bool {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names = files.filter_map(|file| file.file_name().into_string().ok());
    names.any(|name| {
        // `libggml-cpu-haswell.so` is a backend of the processor.
        let name = name.strip_prefix("lib").unwrap_or(&name);
        let name = name.strip_prefix("ggml-").unwrap_or_default();
        let backend = name.split(['-', '.']).next().unwrap_or_default();
        let mut devices = devices.iter();
        devices.any(|device| device.backend.eq_ignore_ascii_case(backend))
    })
}

/// Loads a folder's backends unless that was done before, and checks that there is a device.
pub(crate) fn ensure_devices(operation: &'static str, folder: Option<&Path>) -> Result<()> {
    static LOADED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    if let Some(folder) = folder {
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        if !loaded.contains(folder) {
            load_backends(folder)?;
            loaded.insert(folder.to_owned());
        }
    }
    require_device(operation, &devices()?)
}

fn require_device(operation: &'static str, devices: &[Device]) -> Result<()> {
    if devices.is_empty() {
        return Err(Error::new(
            ErrorKind::Unavailable,
            operation,
            "llama.cpp has no device to compute on: no backend is loaded, not even the processor's",
        )
        .hint("call load_backends with the folder of llama.cpp's libggml-*.so first, or name the folder in \
            LlamaConfig::backends"));
    }
    Ok(())
}

/// Free memory in bytes; `None` where there is no such memory or it cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) system: Option<u64>,
    /// Sum over all GPUs: llama.cpp distributes layers among them.
    pub(crate) gpu: Option<u64>,
}

impl Memory {
    /// The free memory where `mapped` bytes of files have to stay in the system's.
    pub(crate) fn read(mapped: u64) -> Result<Self> {
        let devices = devices_beside(mapped)?;
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

/// Bytes that are available without swapping, within the limit of this process's control group, where `mapped` bytes of files
/// have to stay: the system counts them as available, because it can read them again.
fn available(mapped: u64) -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok();
    let available = meminfo.as_deref().and_then(available_of);
    let available = available.map(|available| available.saturating_sub(mapped));
    let limit = [
        (
            "",
            ["memory.max", "memory.current"],
            ["inactive_file", "active_file"],
        ),
        (
            "memory/",
            ["memory.limit_in_bytes", "memory.usage_in_bytes"],
            ["total_inactive_file", "total_active_file"],
        ),
    ]
    .iter()
    .filter_map(|(folder, [limit, used], kept)| {
        let read = |file: &str| std::fs::read_to_string(format!("/sys/fs/cgroup/{folder}{file}"));
        let used = read(used).unwrap_or_default();
        let stat = read("memory.stat").unwrap_or_default();
        left_under_limit(&read(limit).ok()?, &used, (stat.as_str(), kept), mapped)
    })
    .min();
    match (available, limit) {
        (Some(available), Some(limit)) => Some(available.min(limit)),
        (available, limit) => available.or(limit),
    }
}

/// The bytes that a control group may still use under its limit. Of its present use, cached files that were not used lately (the
/// first of the two statistics) are freed on demand. `mapped` bytes of files have to stay: whether they count as cached, as used
/// lately or are not read yet, they are needed beside all that is no file. `None` without a limit.
fn left_under_limit(
    limit: &str,
    used: &str,
    (stat, [unused, recent]): (&str, &[&str; 2]),
    mapped: u64,
) -> Option<u64> {
    let limit: u64 = limit.trim().parse().ok()?;
    let used: u64 = used.trim().parse().unwrap_or(0);
    let kept = |wanted: &str| {
        let found = stat.lines().find_map(|line| {
            let (name, bytes) = line.split_once(' ')?;
            (name == wanted).then(|| bytes.trim().parse::<u64>().ok())?
        });
        found.unwrap_or(0)
    };
    let (unused, recent) = (kept(unused), kept(recent));
    let no_file = used.saturating_sub(unused).saturating_sub(recent);
    let needed = used
        .saturating_sub(unused)
        .max(no_file.saturating_add(mapped));
    Some(limit.saturating_sub(needed))
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

    #[test]
    fn what_a_group_uses_is_not_free() {
        let stat = "anon 50\ninactive_file 30\nactive_file 7\ntotal_inactive_file 20\n";
        let names = ["inactive_file", "active_file"];
        let left = |limit, used| left_under_limit(limit, used, (stat, &names), 0);
        assert_eq!(left("100\n", "80\n"), Some(50));
        assert_eq!(left("100", "10"), Some(100));
        assert_eq!(left("100", "1000"), Some(0));
        assert_eq!(left("100", ""), Some(100));
        assert_eq!(left("max\n", "80"), None);
        let older = ["total_inactive_file", "total_active_file"];
        assert_eq!(left_under_limit("100", "80", (stat, &older), 0), Some(40));
        assert_eq!(left_under_limit("100", "80", ("", &names), 0), Some(20));
        // 43 are no file. Mapped files are needed beside them, once, however they are counted.
        let beside = |mapped| left_under_limit("100", "80", (stat, &names), mapped);
        assert_eq!(beside(7), Some(50));
        assert_eq!(beside(20), Some(37));
        assert_eq!(beside(1000), Some(0));
    }

    #[test]
    fn without_a_device_it_is_told_how_to_load_one() {
        let error = require_device("test", &[]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.hint_text().unwrap().contains("load_backends"));
        require_device("test", &devices().unwrap()).unwrap();
    }

    #[test]
    fn a_folder_of_what_is_loaded_already_is_told_by_its_libraries() {
        let devices = devices().unwrap();
        let folder = std::env::temp_dir().join(format!("backends-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let told = |file: &str| {
            std::fs::write(folder.join(file), "").unwrap();
            let told = drives_some(&folder, &devices);
            std::fs::remove_file(folder.join(file)).unwrap();
            told
        };
        let names = ["libggml-cpu.so", "libggml-cpu-haswell.so", "ggml-cpu.dll"];
        assert!(names.iter().all(|name| told(name)));
        let names = ["libggml-base.so", "libggml.so", "libllama.so", "cpu.so"];
        assert!(!names.iter().any(|name| told(name)));
        std::fs::remove_dir(&folder).unwrap();
    }

    #[cfg(not(feature = "dynamic-backends"))]
    #[test]
    fn without_the_feature_no_folder_is_loaded() {
        let error = ensure_devices("test", Some(Path::new("/"))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }
}
