//! The command line of the figures.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use journeyman::Seed;
use journeyman_llama_cpp::find_model;

/// How to measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Every random choice is a function of it. Default 1.
    pub seed: Seed,
    /// Real input that lies outside the repository.
    pub data: Option<PathBuf>,
    /// The model's file, where it is not a bundled one; a group says whether it takes one.
    pub model: Option<PathBuf>,
    /// Whether to go on from what an earlier run saved.
    pub resume: bool,
    /// Where results are saved: `$JOURNEYMAN_OUT`, or `out`.
    pub out: PathBuf,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    /// One seed of a group.
    Group(String, Options),
    /// Mean and spread of a group over the seeds that were saved.
    Summary(String, Options),
    /// The names of the groups.
    List,
}

/// How it is called.
pub(super) const USAGE: &str = "usage: bash tests/figures.sh NAME [--seed N] [--data DIR] [--model FILE|NAME] [--resume] [--out DIR]\n       \
     bash tests/figures.sh NAME --summary    mean and spread over the seeds measured so far\n       \
     bash tests/figures.sh --list";

impl Wanted {
    /// # Errors
    /// What is wrong, in a line.
    pub fn parse(
        arguments: impl IntoIterator<Item = String>,
        out: Option<String>,
    ) -> Result<Self, String> {
        let mut name = None;
        let mut summary = false;
        let mut options = Options {
            seed: Seed(1),
            data: None,
            model: None,
            resume: false,
            out: out.unwrap_or_else(|| "out".to_owned()).into(),
        };
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let mut value = || {
                let value = arguments.next();
                value.ok_or_else(|| format!("{argument} needs a value"))
            };
            match argument.as_str() {
                "--list" => return Ok(Self::List),
                "--summary" => summary = true,
                "--resume" => options.resume = true,
                "--data" => options.data = Some(value()?.into()),
                "--model" => options.model = Some(value()?.into()),
                "--out" => options.out = value()?.into(),
                "--seed" => {
                    let text = value()?;
                    let seed = text.parse();
                    options.seed = Seed(seed.map_err(|_| format!("--seed {text}: not a number"))?);
                }
                flag if flag.starts_with('-') => return Err(format!("{flag}: no such option")),
                _ if name.is_some() => return Err(format!("{argument}: one group at a time")),
                _ => name = Some(argument),
            }
        }
        let name = name.ok_or("which group?")?;
        if let Some(data) = options.data.as_ref().filter(|data| !data.is_dir()) {
            return Err(format!("--data {}: no such folder", data.display()));
        }
        if let Some(named) = &options.model {
            options.model = Some(model_file(named, fetched)?);
        }
        Ok(match summary {
            true => Self::Summary(name, options),
            false => Self::Group(name, options),
        })
    }
}

/// The file of a model, which is fetched if it is a public one; with its progress on standard error.
fn fetched(named: &Path) -> journeyman::Result<PathBuf> {
    find_model(named, Path::new(""), &mut |line| {
        // Progress that cannot be shown is no failure.
        let _ = writeln!(io::stderr(), "{line}");
    })
}

/// The file of a model that is named by its path, or by the name of a public one, which `find` may fetch.
fn model_file(
    named: &Path,
    find: impl FnOnce(&Path) -> journeyman::Result<PathBuf>,
) -> Result<PathBuf, String> {
    let named_as = named.display();
    let file = find(named).map_err(|error| format!("--model {named_as}: {error}"))?;
    match file.is_file() {
        true => Ok(file),
        false => Err(format!("--model {named_as}: no such file")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Wanted, String> {
        Wanted::parse(line.split_whitespace().map(str::to_owned), None)
    }

    #[test]
    fn the_command_line() {
        let Ok(Wanted::Group(name, options)) = parse("main-job --seed 7 --resume") else {
            panic!("not a group");
        };
        assert_eq!(
            (name.as_str(), options.seed, options.resume),
            ("main-job", Seed(7), true)
        );
        assert_eq!(options.out, PathBuf::from("out"));
        assert_eq!(parse("--list"), Ok(Wanted::List));
        assert!(matches!(parse("x --summary"), Ok(Wanted::Summary(..))));
        let check = |line: &str, expect: &str| assert_eq!(parse(line).unwrap_err(), expect);
        check("", "which group?");
        check("a b", "b: one group at a time");
        check("a --seed x", "--seed x: not a number");
        check("a --seed", "--seed needs a value");
        check("a --fast", "--fast: no such option");
        check("a --data no/such", "--data no/such: no such folder");
        check("a --model no/such", "--model no/such: no such file");
    }

    #[test]
    fn a_public_model_is_found_by_its_name() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let found = model_file(Path::new("smollm2"), |named| {
            assert_eq!(named, Path::new("smollm2"));
            Ok(here.clone())
        });
        assert_eq!(found.as_ref(), Ok(&here));
        let refused = model_file(Path::new("smollm2"), |_| {
            Err(journeyman::Error::invalid("fetch", "pip is missing"))
        });
        assert!(refused.unwrap_err().contains("--model smollm2: "));
        // The name of a model of several files is that of a folder, which is no model that writes.
        let folder = model_file(Path::new("minilm"), |_| Ok(PathBuf::from(".")));
        assert_eq!(folder.unwrap_err(), "--model minilm: no such file");
    }
}
