//! Writes the encoder's texts: `pairs --out DIR [--seed N] [--count N]`.
//!
//! `training.jsonl` and `development.jsonl` have a task, its tool and the text of its skill on each line: what
//! [`VectorRetriever`](journeyman::agent::VectorRetriever) embeds in parts, as one. Nothing of the held-out tools is written.

use std::{
    error::Error,
    fs::{self, File},
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use encoder::{Case, Grid, Part, cases};
use serde_json::json;

/// How many development cases are written.
const DEVELOPMENT: usize = 1000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1)
    };
    let number = |name: &str, default: u64| value(name).map_or(Ok(default), |text| text.parse());
    let seed = number("--seed", 1)?;
    let count = usize::try_from(number("--count", 40_000)?)?;
    let out = PathBuf::from(value("--out").ok_or("--out DIR is missing")?);
    fs::create_dir_all(&out)?;
    write(&out, "training.jsonl", Part::Training, count, seed)?;
    write(
        &out,
        "development.jsonl",
        Part::Development,
        DEVELOPMENT,
        seed,
    )
}

fn write(
    out: &Path,
    name: &str,
    part: Part,
    count: usize,
    seed: u64,
) -> Result<(), Box<dyn Error>> {
    let mut lines = BufWriter::new(File::create(out.join(name))?);
    for case in cases(part, &Grid::whole(), count, seed)? {
        let Case {
            tool,
            skill,
            own_words,
            other_words,
        } = &case;
        let trigger = skill.trigger.as_deref().unwrap_or_default();
        let text = [
            &skill.title,
            skill.description.as_str(),
            trigger,
            &skill.body,
        ]
        .join("\n");
        let tool = tool.to_string();
        writeln!(
            lines,
            "{}",
            json!({"tool": tool, "own": own_words, "other": other_words, "skill": text})
        )?;
    }
    Ok(lines.flush()?)
}
