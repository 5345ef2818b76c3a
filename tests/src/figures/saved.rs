//! What a run of figures keeps on disk.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The schema of the file; another one is not read.
const SCHEMA: u32 = 3;

/// `out/figures/NAME-SEED.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Saved {
    schema: u32,
    pub(super) group: String,
    pub(super) seed: u64,
    /// The folder of real input, or nothing: results of another input are not gone on with.
    data: Option<PathBuf>,
    /// The SHA-256 of the program that computed all results.
    pub(super) code: String,
    /// What was measured, by name: the model, where there is one.
    #[serde(default)]
    pub(super) subjects: BTreeMap<String, String>,
    /// Whether the group came to its end.
    pub(super) finished: bool,
    /// What was computed by `once`.
    pub(super) results: BTreeMap<String, Value>,
    /// The figures of a finished run, in the order in which they were recorded.
    pub(super) figures: Vec<Figure>,
}

/// A figure as it was recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Figure {
    pub(super) name: String,
    /// Nothing when it was skipped, or was not a number.
    pub(super) value: Option<f64>,
    pub(super) bound: String,
    pub(super) result: String,
}

impl Saved {
    pub(super) fn new(group: &str, seed: u64, data: Option<PathBuf>, code: String) -> Self {
        Self {
            schema: SCHEMA,
            group: group.to_owned(),
            seed,
            data,
            code,
            subjects: BTreeMap::new(),
            finished: false,
            results: BTreeMap::new(),
            figures: Vec::new(),
        }
    }

    pub(super) fn folder(out: &Path) -> PathBuf {
        out.join("figures")
    }

    pub(super) fn path(&self, out: &Path) -> PathBuf {
        Self::folder(out).join(format!("{}-{}.json", self.group, self.seed))
    }

    /// What an earlier run of the same group, seed and input saved. Results of other code are left out; then the second
    /// value says of which code they are, and how many there were.
    ///
    /// # Errors
    /// When there is a file that is of something else, or damaged.
    pub(super) fn resume(self, out: &Path) -> io::Result<(Self, Option<(String, usize)>)> {
        let path = self.path(out);
        let found = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((self, None)),
            found => Self::read(&path, &found?)?,
        };
        let same = (&found.group, found.seed, &found.data) == (&self.group, self.seed, &self.data);
        if !same {
            return Err(unusable(&path, "it is of another --data"));
        }
        if found.code != self.code {
            return Ok((self, Some((found.code, found.results.len()))));
        }
        let results = found.results;
        Ok((Self { results, ..self }, None))
    }

    fn read(path: &Path, bytes: &[u8]) -> io::Result<Self> {
        let found: Self =
            serde_json::from_slice(bytes).map_err(|error| unusable(path, &error.to_string()))?;
        if found.schema != SCHEMA {
            return Err(unusable(path, "it is of another version"));
        }
        Ok(found)
    }

    /// Finished runs of a group, in the order of seeds.
    ///
    /// # Errors
    /// When a file is damaged.
    pub(super) fn finished(out: &Path, group: &str) -> io::Result<Vec<Self>> {
        let mut all = Vec::new();
        let folder = match fs::read_dir(Self::folder(out)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(all),
            folder => folder?,
        };
        for entry in folder {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with(&format!("{group}-")) && name.ends_with(".json") {
                all.push(Self::read(&path, &fs::read(&path)?)?);
            }
        }
        all.retain(|saved| saved.finished && saved.group == group);
        all.sort_by_key(|saved| saved.seed);
        Ok(all)
    }

    /// Writes beside and renames, so that a killed run leaves the last whole file.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub(super) fn save(&self, out: &Path) -> io::Result<()> {
        let path = self.path(out);
        fs::create_dir_all(Self::folder(out))?;
        let beside = path.with_extension("json.new");
        fs::write(&beside, serde_json::to_vec_pretty(self)?)?;
        fs::rename(beside, path)
    }
}

fn unusable(path: &Path, why: &str) -> io::Error {
    io::Error::other(format!("{}: {why}; run without --resume", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_other_code_are_left_out() {
        let out = tempfile::tempdir().unwrap();
        let of = |code: &str| Saved::new("group", 1, None, code.to_owned());
        let mut first = of("one");
        first.results.insert("cell".to_owned(), Value::from(0.25));
        first.finished = true;
        first.save(out.path()).unwrap();
        let (same, other) = of("one").resume(out.path()).unwrap();
        assert_eq!((same.results, other), (first.results.clone(), None));
        assert!(!same.finished);
        let (anew, other) = of("two").resume(out.path()).unwrap();
        assert_eq!(anew, of("two"));
        assert_eq!(other, Some(("one".to_owned(), 1)));
        // What is saved then is of the new code alone.
        anew.save(out.path()).unwrap();
        let (again, other) = of("one").resume(out.path()).unwrap();
        assert_eq!((again, other), (of("one"), Some(("two".to_owned(), 0))));
    }
}
