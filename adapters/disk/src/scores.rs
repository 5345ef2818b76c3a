//! The file of kept scores: a line of JSON for each, the last of a key counts.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::{BufRead, BufReader, ErrorKind, Write},
    path::{Path, PathBuf},
};

use journeyman::{Result, contract::KeptScores};

use crate::convert::file_failed;

/// Lines from which on the file is written anew when it is read, with the newer half alone.
const MOST: usize = 200_000;

/// The file, which need not be there.
#[derive(Debug)]
pub(crate) struct Scores {
    path: PathBuf,
}

impl Scores {
    /// Those of the library in this folder.
    pub(crate) fn of(root: &Path) -> Self {
        Self {
            path: root.join("scores.jsonl"),
        }
    }

    /// What is kept. A file that has become long is made shorter.
    pub(crate) fn read(&self) -> Result<Vec<KeptScores>> {
        let mut lines = self.read_only()?;
        if lines.len() > MOST {
            lines.drain(..lines.len() - MOST / 2);
            if let Err(error) = self.replace(&lines) {
                tracing::warn!(%error, "the file of kept scores could not be made shorter");
            }
        }
        Ok(lines)
    }

    /// The same without a change to the file.
    pub(crate) fn read_only(&self) -> Result<Vec<KeptScores>> {
        let failed = |source| file_failed("SkillStore::kept_scores", &self.path, source);
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut lines = Vec::new();
        for line in BufReader::new(file).split(b'\n') {
            // A line that was cut short, or edited, is computed again.
            if let Ok(one) = serde_json::from_slice::<KeptScores>(&line.map_err(failed)?) {
                lines.push(one);
            }
        }
        let mut places = HashMap::with_capacity(lines.len());
        for (place, one) in lines.iter().enumerate() {
            places.insert(one.key.clone(), place);
        }
        let mut place = 0;
        lines.retain(|one| {
            place += 1;
            places.get(&one.key) == Some(&(place - 1))
        });
        Ok(lines)
    }

    pub(crate) fn append(&self, scores: &[KeptScores]) -> Result<()> {
        let failed = |source| file_failed("SkillStore::keep_scores", &self.path, source);
        let mut options = File::options();
        let mut file = (options.create(true).append(true).open(&self.path)).map_err(failed)?;
        // A line begins on a new one, also behind a line that was cut short. One write, so that another process writes before or behind.
        file.write_all(&[b"\n", in_lines(scores)?.as_slice()].concat())
            .map_err(failed)
    }

    fn replace(&self, scores: &[KeptScores]) -> Result<()> {
        let failed = |source| file_failed("SkillStore::kept_scores", &self.path, source);
        let beside = self.path.with_extension("new");
        fs::write(&beside, in_lines(scores)?).map_err(failed)?;
        fs::rename(&beside, &self.path).map_err(failed)
    }
}

fn in_lines(scores: &[KeptScores]) -> Result<Vec<u8>> {
    let mut lines = Vec::new();
    for one in scores {
        serde_json::to_writer(&mut lines, one).map_err(|error| {
            journeyman::Error::invalid("SkillStore::keep_scores", "a score is no JSON")
                .source_from(error)
        })?;
        lines.push(b'\n');
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(key: &str, sum: f64) -> KeptScores {
        KeptScores::new(key.to_owned(), 3, vec![sum])
    }

    #[test]
    fn what_was_kept_is_read_and_bad_lines_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let scores = Scores::of(folder.path());
        assert_eq!(scores.read().unwrap(), []);
        scores.append(&[of("one", -0.1), of("two", -2.0)]).unwrap();
        // Another process was killed while it wrote, and somebody edited the file.
        let mut text = fs::read(&scores.path).unwrap();
        text.extend_from_slice(b"{\"key\": \"three\", \"tok");
        fs::write(&scores.path, text).unwrap();
        scores.append(&[of("one", -0.1 - 0.2)]).unwrap();
        let kept = scores.read().unwrap();
        assert_eq!(kept, [of("two", -2.0), of("one", -0.1 - 0.2)]);
    }

    #[test]
    fn a_file_that_grew_too_long_keeps_the_newer_half() {
        let folder = tempfile::tempdir().unwrap();
        let scores = Scores::of(folder.path());
        let all: Vec<KeptScores> = (0..=MOST).map(|at| of(&at.to_string(), -1.0)).collect();
        scores.append(&all).unwrap();
        assert_eq!(scores.read().unwrap(), all[MOST / 2 + 1..]);
        assert_eq!(scores.read().unwrap().len(), MOST / 2);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_an_error_that_names_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let scores = Scores::of(&folder.path().join("missing"));
        let error = scores.append(&[of("one", -1.0)]).unwrap_err();
        assert!(error.to_string().contains("scores.jsonl"), "{error}");
    }
}
