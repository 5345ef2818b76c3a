//! Writes the training text of the bundled model's second edition: `general_corpus --seed N --tokens N --out DIR [--gate no]`.
//!
//! `vocabulary.json` holds tokens and merges. `early.bin` and `late.bin` hold token ids as little-endian 16-bit numbers, whose
//! highest bit marks tokens that the model learns to write; before each document stands the last control token. The text
//! files beside them are for people. `prompts.jsonl` holds prompts for comparing the trainer with llama.cpp. `--gate no`
//! leaves out skills behind tasks.

use std::collections::HashMap;
use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use journeyman_toolworld::general::corpus::{Mixture, Writer};
use journeyman_toolworld::general::vocabulary::{Encoder, Vocabulary};
use journeyman_toolworld::seed::Draws;
use serde_json::json;

/// Documents from which the vocabulary is learned. They are the same for every seed, so that all lineages have one vocabulary.
const SAMPLE: u64 = 6_000;
/// Documents in the files for people.
const READABLE: u64 = 400;
/// Prompts for comparing the trainer with llama.cpp.
const PROMPTS: u64 = 100;
/// The share of the first part in percent; `general_train.py` knows when each part is used.
const EARLY: u64 = 30;
const LEARNED: u16 = 1 << 15;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let arguments: HashMap<&str, &str> = words
        .chunks(2)
        .filter_map(|pair| Some((pair.first()?.as_str(), pair.get(1)?.as_str())))
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
    let writer = Writer::new()?;
    let sample: Vec<_> = (0..SAMPLE)
        .map(|number| writer.document(&Mixture::LATE, &mut Draws::new("vocabulary", &[number])))
        .collect();
    let vocabulary = Vocabulary::learn(&writer, &sample);
    fs::write(
        out.join("vocabulary.json"),
        serde_json::to_vec_pretty(&vocabulary)?,
    )?;
    let mut encoder = Encoder::new(&vocabulary);
    let gate = arguments.get("--gate") != Some(&"no");
    for (name, mixture, share) in [
        ("early", Mixture::EARLY, EARLY),
        ("late", Mixture::LATE, 100 - EARLY),
    ] {
        let mixture = if gate {
            mixture
        } else {
            mixture.without_gate()
        };
        let part = Part {
            name,
            seed,
            tokens: tokens * share / 100,
        };
        part.write(&out, &writer, &mixture, &mut encoder, vocabulary.controls)?;
    }
    write_prompts(&out, &writer, &mut encoder)
}

struct Part {
    name: &'static str,
    seed: u64,
    tokens: u64,
}

impl Part {
    fn write(
        &self,
        out: &Path,
        writer: &Writer,
        mixture: &Mixture,
        encoder: &mut Encoder,
        controls: usize,
    ) -> Result<(), Box<dyn Error>> {
        let Self { name, seed, tokens } = *self;
        let mut binary = BufWriter::new(File::create(out.join(format!("{name}.bin")))?);
        let mut sample = BufWriter::new(File::create(out.join(format!("{name}.txt")))?);
        let separator = u16::try_from(controls)?.saturating_sub(1);
        let mut written = 0;
        let mut number = 0;
        while written < tokens {
            let document = writer.document(mixture, &mut Draws::new(name, &[seed, number]));
            let ids = encoder.document(&document);
            binary.write_all(&separator.to_le_bytes())?;
            for (id, learned) in &ids {
                let flag = if *learned { LEARNED } else { 0 };
                binary.write_all(&(id | flag).to_le_bytes())?;
            }
            written += ids.len() as u64 + 1;
            if number < READABLE {
                writeln!(sample, "{}\n[{} tokens]\n", document.readable(), ids.len())?;
            }
            number += 1;
        }
        sample.flush()?;
        Ok(binary.flush()?)
    }
}

/// Writes `prompts.jsonl`: documents up to the first token that a model learns. Each line has the pieces of a prompt and its
/// token ids.
fn write_prompts(out: &Path, writer: &Writer, encoder: &mut Encoder) -> Result<(), Box<dyn Error>> {
    let mut lines = BufWriter::new(File::create(out.join("prompts.jsonl"))?);
    for number in 0..PROMPTS {
        let mut draws = Draws::new("general prompts", &[number]);
        let mut document = writer.document(&Mixture::LATE, &mut draws);
        let first = document.pieces.iter().position(|piece| piece.learned);
        document
            .pieces
            .truncate(first.unwrap_or(document.pieces.len()));
        let ids: Vec<u16> = encoder
            .document(&document)
            .iter()
            .map(|(id, _)| *id)
            .collect();
        writeln!(lines, "{}", json!({"pieces": document.pieces, "ids": ids}))?;
    }
    Ok(lines.flush()?)
}
