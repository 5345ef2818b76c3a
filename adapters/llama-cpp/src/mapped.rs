//! The files that the living models of this process have mapped into memory.
//!
//! The system counts their pages as available, because it can drop them. A model that computes reads all of them for each
//! token, so they are not available to another model.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

static LIVING: Mutex<Living> = Mutex::new(Living(BTreeMap::new()));

/// By a file's path, without links: the bytes of it that each model which lives was planned to map.
#[derive(Debug)]
pub(crate) struct Living(BTreeMap<PathBuf, Vec<u64>>);

/// Counts a model's files as mapped until it is dropped: the path of each, and the bytes that are planned.
#[derive(Debug)]
pub(crate) struct Mapped(Vec<(PathBuf, u64)>);

impl Drop for Mapped {
    fn drop(&mut self) {
        living().remove(&self.0);
    }
}

/// The files of the living models. Who plans a model by them holds them until the model is counted: another one that is loaded at the
/// same time would find the same memory free.
pub(crate) fn living() -> MutexGuard<'static, Living> {
    // An entry is changed as a whole.
    LIVING.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Living {
    /// Bytes that the models have mapped of other files than these: models of one file share its pages.
    pub(crate) fn of_others(&self, files: &[PathBuf]) -> u64 {
        if self.0.keys().all(|path| files.contains(path)) {
            return 0;
        }
        let listed = fs::read("/proc/self/maps").unwrap_or_default();
        self.listed_of_others(files, &String::from_utf8_lossy(&listed))
    }

    /// Linux lists what is mapped. While a model is being loaded, not all of it is listed: then it counts as planned.
    fn listed_of_others(&self, files: &[PathBuf], maps: &str) -> u64 {
        let others = self.0.iter().filter(|(path, _)| !files.contains(path));
        let bytes = others.map(|(path, models)| {
            // Each model maps the file anew.
            let listed = listed_bytes(maps, path) / models.len().max(1) as u64;
            models
                .iter()
                .fold(listed, |most, planned| most.max(*planned))
        });
        bytes.sum()
    }

    /// Counts a model's files, each with the bytes of it that are going to be mapped.
    pub(crate) fn add(&mut self, files: Vec<(PathBuf, u64)>) -> Mapped {
        for (path, planned) in &files {
            self.0.entry(path.clone()).or_default().push(*planned);
        }
        Mapped(files)
    }

    fn remove(&mut self, files: &[(PathBuf, u64)]) {
        for (path, planned) in files {
            let Some(models) = self.0.get_mut(path) else {
                continue;
            };
            if let Some(place) = models.iter().position(|one| one == planned) {
                models.swap_remove(place);
            }
            if models.is_empty() {
                self.0.remove(path);
            }
        }
    }
}

/// The files of a model, without links. Those of a model in several files are found by the name of the first,
/// `NAME-00001-of-00003.gguf`, as llama.cpp finds them.
pub(crate) fn files_of(first: &Path) -> Vec<PathBuf> {
    let mut files = vec![resolved(first)];
    let parts = later_parts(first).take_while(|part| part.exists());
    files.extend(parts.map(|part| resolved(&part)));
    files
}

fn later_parts(first: &Path) -> impl Iterator<Item = PathBuf> {
    let named = first.file_name().and_then(|name| {
        let (name, count) = name.to_str()?.strip_suffix(".gguf")?.rsplit_once("-of-")?;
        let name = name.strip_suffix("-00001")?;
        let is_number = count.len() == 5 && count.bytes().all(|byte| byte.is_ascii_digit());
        let count: u32 = count.parse().ok().filter(|_| is_number)?;
        Some((name, count))
    });
    named.into_iter().flat_map(move |(name, count)| {
        let part = move |part: u32| format!("{name}-{part:05}-of-{count:05}.gguf");
        (2..=count).map(move |number| first.with_file_name(part(number)))
    })
}

/// The bytes that a list such as `/proc/self/maps` has of a file.
fn listed_bytes(maps: &str, file: &Path) -> u64 {
    let lines = maps.lines().filter_map(|line| {
        // The fields before the path have no slash.
        let path = line.get(line.find('/')?..)?;
        let (range, _) = line.split_once(' ')?;
        let (begin, end) = range.split_once('-')?;
        let (begin, end) = (hexadecimal(begin)?, hexadecimal(end)?);
        (Path::new(path) == file).then(|| end.saturating_sub(begin))
    });
    lines.sum()
}

fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text, 16).ok()
}

/// The path without links; as it is, where there is no such file.
fn resolved(file: &Path) -> PathBuf {
    fs::canonicalize(file).unwrap_or_else(|_| file.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Held by tests of what all models of this process have mapped.
    static ALONE: Mutex<()> = Mutex::new(());

    #[cfg(target_os = "linux")]
    #[test]
    fn a_model_beside_one_that_takes_all_memory_is_refused_until_that_one_is_gone() {
        use crate::{GpuLayers, LlamaConfig, LlamaCpp};

        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        // Cargo says where the crate is; the package of the crate names no folder.
        let here = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
        let mut config = LlamaConfig::new(
            PathBuf::from(here).join("../../tests/lab/apprentice/apprentice.gguf"),
        );
        config.gpu_layers = GpuLayers::None;
        // More than any machine has.
        let other = living().add(vec![(PathBuf::from("other.gguf"), 1 << 60)]);
        let refused = LlamaCpp::load(config.clone());
        drop(other);
        let refused = refused.unwrap_err();
        assert_eq!(
            refused.kind(),
            journeyman::ErrorKind::Unavailable,
            "{refused}"
        );
        let said = refused.message();
        assert!(
            said.starts_with("the system's memory is too small"),
            "{said}"
        );
        assert!(said.ends_with(", 0 are free"), "{said}");
        let mapped = (1_u64 << 40).to_string();
        assert_eq!(refused.fact("mapped_by_other_models_mib"), Some(&*mapped));
        let hint = refused.hint_text().unwrap();
        assert!(
            hint.ends_with("use a smaller model or quantization"),
            "{hint}"
        );
        LlamaCpp::load(config).unwrap();
    }

    #[test]
    fn a_file_counts_while_a_model_of_it_lives_and_only_for_other_files() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let (one, other) = (PathBuf::from("one.gguf"), PathBuf::from("other.gguf"));
        let count = |file: &PathBuf| living().of_others(std::slice::from_ref(file));
        let add = || living().add(vec![(one.clone(), 700)]);
        // Models of other tests may live, too.
        let before = count(&one);
        let first = add();
        let second = add();
        assert_eq!(count(&other), before + 700);
        assert_eq!(count(&one), before);
        drop(first);
        assert_eq!(count(&other), before + 700);
        drop(second);
        assert_eq!(count(&other), before);
    }

    /// Bytes of models of one file of which each was planned to map so many, by a list that has so many of it.
    fn check(planned: &[u64], listed: u64, expect: u64) {
        let path = PathBuf::from("/models/one.gguf");
        let living = Living(BTreeMap::from([(path.clone(), planned.to_vec())]));
        let maps = format!("0-{listed:x} r--s 00000000 08:01 17   /models/one.gguf\n");
        assert_eq!(living.listed_of_others(&[], &maps), expect);
        assert_eq!(living.listed_of_others(&[path], &maps), 0);
    }

    #[test]
    fn a_model_that_is_being_loaded_counts_as_planned() {
        check(&[700], 0, 700);
        check(&[700], 800, 800);
        check(&[700, 700], 1_600, 800);
        // The second model has mapped nothing yet, or half.
        check(&[700, 700], 800, 700);
        check(&[700, 700], 1_200, 700);
        check(&[0, 700], 0, 700);
    }

    #[test]
    fn a_model_that_ends_takes_its_plan_with_it() {
        let mut living = Living(BTreeMap::new());
        let one = PathBuf::from("one.gguf");
        let plans = [vec![(one.clone(), 700)], vec![(one.clone(), 300)]];
        living.0.insert(one.clone(), vec![700, 300]);
        living.remove(&plans[0]);
        assert_eq!(living.listed_of_others(&[], ""), 300);
        living.remove(&plans[1]);
        assert!(living.0.is_empty());
    }

    #[test]
    fn all_files_of_a_model_in_several_are_found() {
        let names = |first: &str| {
            let parts = later_parts(Path::new(first));
            parts
                .map(|part| part.display().to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            names("big-00001-of-00003.gguf"),
            ["big-00002-of-00003.gguf", "big-00003-of-00003.gguf"]
        );
        for other in [
            "big.gguf",
            "big-00002-of-00003.gguf",
            "big-00001-of-00001.gguf",
            "big-00001-of-3.gguf",
            "big-00001-of-00003.bin",
        ] {
            assert!(names(other).is_empty(), "{other}");
        }

        let folder = std::env::temp_dir().join(format!("journeyman-parts-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let [first, second] =
            [1, 2].map(|part| folder.join(format!("big-0000{part}-of-00003.gguf")));
        for part in [&first, &second] {
            fs::write(part, "GGUF").unwrap();
        }
        // The third is missing.
        assert_eq!(files_of(&first), [resolved(&first), resolved(&second)]);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_linux_lists_of_a_file_is_summed() {
        let maps = "\
            5000-7000 r--s 00000000 08:01 17   /models/a b.gguf\n\
            9000-9800 r--s 00004000 08:01 17   /models/a b.gguf\n\
            a000-f000 r-xp 00000000 08:01 18   /lib/libc.so.6\n\
            f000-f800 rw-p 00000000 00:00 0\n\
            x-y r--s 0 0 0 /models/a b.gguf\n";
        assert_eq!(listed_bytes(maps, Path::new("/models/a b.gguf")), 0x2800);
        assert_eq!(listed_bytes(maps, Path::new("/models/b.gguf")), 0);
    }
}
