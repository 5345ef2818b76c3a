//! The number of compute threads that this machine is good for.

use std::{collections::BTreeSet, fs, num::NonZero, path::Path, thread};

/// Bytes of weights below which a second thread costs more than it gives: each layer is a meeting of all threads.
const SMALL: u64 = 64 << 20;
/// The greatest number that the configuration allows.
const MOST: usize = 512;

/// The compute threads for a model of so many bytes where the host names none: one for each physical core that this process may
/// use, and one alone for a small model. Two threads of one core share what computes, so that they do not count twice.
pub(crate) fn for_model(bytes: u64) -> u32 {
    if bytes < SMALL {
        return 1;
    }
    let allowed = thread::available_parallelism().map_or(1, NonZero::get);
    let physical = physical_cores(Path::new("/sys/devices/system/cpu"));
    let cores = physical.map_or(allowed, |physical| physical.min(allowed));
    u32::try_from(cores.clamp(1, MOST)).unwrap_or(1)
}

/// The physical cores by Linux's table of processors; `None` where there is none.
fn physical_cores(processors: &Path) -> Option<usize> {
    let mut cores = BTreeSet::new();
    for entry in fs::read_dir(processors).ok()?.flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("cpu"));
        if number.is_none_or(|number| number.parse::<u32>().is_err()) {
            continue;
        }
        // Processors of one core name the same siblings; one that is switched off has no topology.
        if let Ok(siblings) = fs::read_to_string(entry.path().join("topology/thread_siblings_list"))
        {
            cores.insert(siblings.trim().to_owned());
        }
    }
    (!cores.is_empty()).then_some(cores.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_that_share_a_core_count_once() {
        let folder = std::env::temp_dir().join(format!("journeyman-cores-{}", std::process::id()));
        assert_eq!(physical_cores(&folder), None);
        fs::create_dir_all(&folder).unwrap();
        assert_eq!(physical_cores(&folder), None);
        let processor = |name: &str, siblings: Option<&str>| {
            let topology = folder.join(name).join("topology");
            fs::create_dir_all(&topology).unwrap();
            if let Some(siblings) = siblings {
                fs::write(topology.join("thread_siblings_list"), siblings).unwrap();
            }
        };
        for (number, siblings) in ["0,4", "1,5", "2,6", "3,7", "0,4", "1,5", "2,6", "3,7"]
            .into_iter()
            .enumerate()
        {
            processor(&format!("cpu{number}"), Some(&format!("{siblings}\n")));
        }
        processor("cpu8", None);
        processor("cpufreq", Some("9"));
        let found = physical_cores(&folder);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found, Some(4));
    }

    #[test]
    fn a_small_model_has_one_thread_and_a_large_one_at_most_those_that_there_are() {
        let allowed = thread::available_parallelism().map_or(1, NonZero::get);
        assert_eq!(for_model(SMALL - 1), 1);
        let threads = for_model(SMALL) as usize;
        assert!((1..=allowed).contains(&threads), "{threads} of {allowed}");
    }
}
