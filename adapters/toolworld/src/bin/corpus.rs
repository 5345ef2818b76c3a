//! Writes the training text of the bundled model: `corpus --seed N --tokens N --out DIR`.
//!
//! `vocabulary.json` holds tokens and merges; `early.bin`, `late.bin` and `last.bin` hold token ids as little-endian 16-bit
//! numbers whose highest bit says that the model learns to write the token; `sample.txt` is for people.

use std::collections::HashMap;
use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use journeyman_toolworld::corpus::{Mixture, document};
use journeyman_toolworld::script::Part;
use journeyman_toolworld::seed::Draws;
use journeyman_toolworld::vocabulary::Vocabulary;

/// The parts, their mixtures and their shares in per cent; `train.py` knows when each is used.
const PARTS: [(&str, &Mixture, u64); 3] = [
    ("early", &Mixture::EARLY, 30),
    ("late", &Mixture::LATE, 30),
    ("last", &Mixture::LAST, 40),
];

const LEARNT: u16 = 1 << 15;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: HashMap<String, String> = std::env::args()
        .skip(1)
        .collect::<Vec<_>>()
        .chunks(2)
        .filter_map(pair)
        .collect();
    let number = |name: &str, default: u64| {
        arguments
            .get(name)
            .map_or(Ok(default), |value| value.parse())
    };
    let seed = number("--seed", 1)?;
    let tokens = number("--tokens", 30_000_000)?;
    let out = PathBuf::from(arguments.get("--out").ok_or("--out DIR is missing")?);
    fs::create_dir_all(&out)?;
    let vocabulary = Vocabulary::new();
    fs::write(
        out.join("vocabulary.json"),
        serde_json::to_vec_pretty(&vocabulary)?,
    )?;
    for (name, mixture, share) in PARTS {
        write_part(&out, name, mixture, seed, tokens * share / 100, &vocabulary)?;
    }
    Ok(())
}

fn pair(words: &[String]) -> Option<(String, String)> {
    if let [name, value] = words {
        Some((name.clone(), value.clone()))
    } else {
        None
    }
}

fn write_part(
    out: &Path,
    name: &str,
    mixture: &Mixture,
    seed: u64,
    tokens: u64,
    vocabulary: &Vocabulary,
) -> Result<(), Box<dyn Error>> {
    let mut binary = BufWriter::new(File::create(out.join(format!("{name}.bin")))?);
    let mut sample = BufWriter::new(File::create(out.join(format!("{name}.txt")))?);
    let mut known: HashMap<String, Vec<u16>> = HashMap::new();
    let mut written = 0;
    let mut number = 0;
    while written < tokens {
        let script = document(mixture, &mut Draws::new(name, &[seed, number]));
        for (part, learnt) in script.parts() {
            let flag = if *learnt { LEARNT } else { 0 };
            let text = match part {
                Part::Control(control) => {
                    let id = vocabulary
                        .id(control)
                        .ok_or("a control is not in the vocabulary")?;
                    binary.write_all(&(id | flag).to_le_bytes())?;
                    written += 1;
                    continue;
                }
                Part::Text(text) => text,
            };
            for chunk in words(text) {
                let ids = known
                    .entry(chunk.to_owned())
                    .or_insert_with(|| vocabulary.encode(chunk));
                for id in ids.iter() {
                    binary.write_all(&(id | flag).to_le_bytes())?;
                }
                written += ids.len() as u64;
            }
        }
        if number < 2_000 {
            writeln!(sample, "{}\n", script.readable())?;
        }
        number += 1;
    }
    Ok(())
}

/// Cuts before each space, where the tokens of these texts always part.
fn words(text: &str) -> Vec<&str> {
    let mut cuts: Vec<usize> = text.match_indices(' ').map(|(at, _)| at).collect();
    cuts.push(text.len());
    cuts.windows(2)
        .filter_map(|pair| text.get(*pair.first()?..*pair.last()?))
        .collect()
}
