//! Writes the training text of the bundled model: `general_corpus --seed N --tokens N --out DIR`.
//!
//! The text is written in five shards at once, each with draws of its own, so that a machine with more cores is done sooner and the text
//! is the same on all. `vocabulary.json` holds tokens and merges. `early.bin` and `late.bin` hold token ids as little-endian 16-bit numbers, whose
//! highest bit marks tokens that the model learns to write; before each document stands the last control token. The text
//! files beside them are for people. `prompts.jsonl` holds prompts for comparing the trainer with llama.cpp.

use std::collections::HashMap;
use std::error::Error;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::thread;

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
/// Shards of the text; shard `i` of seed `s` draws from seed `100 s + i`.
const SHARDS: u64 = 5;
/// The share of the first part in percent; `train.py` of the bundled model knows when each part is used.
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
    for (name, mixture, share) in [
        ("early", Mixture::EARLY, EARLY),
        ("late", Mixture::LATE, 100 - EARLY),
    ] {
        let part = Part {
            name,
            seed,
            tokens: tokens * share / 100,
            mixture,
        };
        part.write(&out, &writer, &vocabulary)?;
    }
    write_prompts(&out, &writer, &mut encoder)
}

struct Part {
    name: &'static str,
    seed: u64,
    tokens: u64,
    mixture: Mixture,
}

impl Part {
    /// Writes the shards, each to a file of its own, and joins these in order.
    fn write(
        &self,
        out: &Path,
        writer: &Writer,
        vocabulary: &Vocabulary,
    ) -> Result<(), Box<dyn Error>> {
        let path = |shard: u64| out.join(format!("{}-{shard}.bin", self.name));
        thread::scope(|scope| {
            let begun: Vec<_> = (0..SHARDS)
                .map(|shard| {
                    let path = path(shard);
                    scope.spawn(move || self.shard(shard, &path, writer, vocabulary))
                })
                .collect();
            begun.into_iter().try_for_each(|one| {
                one.join()
                    .unwrap_or_else(|_| Err(io::Error::other("a shard panicked")))
            })
        })?;
        let mut whole = File::create(out.join(format!("{}.bin", self.name)))?;
        for shard in 0..SHARDS {
            io::copy(&mut File::open(path(shard))?, &mut whole)?;
            fs::remove_file(path(shard))?;
        }
        fs::rename(
            path(0).with_extension("txt"),
            out.join(format!("{}.txt", self.name)),
        )?;
        (1..SHARDS).try_for_each(|shard| fs::remove_file(path(shard).with_extension("txt")))?;
        Ok(())
    }

    /// Writes a shard, and beside it its first documents for people.
    fn shard(
        &self,
        shard: u64,
        path: &Path,
        writer: &Writer,
        vocabulary: &Vocabulary,
    ) -> io::Result<()> {
        let mut binary = BufWriter::new(File::create(path)?);
        let mut sample = BufWriter::new(File::create(path.with_extension("txt"))?);
        let mut encoder = Encoder::new(vocabulary);
        let separator = u16::try_from(vocabulary.controls)
            .map_err(io::Error::other)?
            .saturating_sub(1);
        let mut written = 0;
        let mut number = 0;
        while written < self.tokens / SHARDS {
            let mut draws = Draws::new(self.name, &[100 * self.seed + shard, number]);
            let document = writer.document(&self.mixture, &mut draws);
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
        binary.flush()
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
