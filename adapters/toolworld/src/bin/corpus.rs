//! Writes the training text of the bundled model: `corpus --seed N --tokens N --out DIR`.
//!
//! `vocabulary.json` holds tokens and merges. `early.bin`, `late.bin` and `last.bin` hold token ids as little-endian
//! 16-bit numbers, whose highest bit marks tokens that the model learns to write. The text files beside them are for
//! people. `prompts.jsonl` holds prompts for comparing the trainer with llama.cpp.

use std::collections::HashMap;
use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use journeyman_toolworld::corpus::{Mixture, document};
use journeyman_toolworld::roles::Role;
use journeyman_toolworld::script::{Part, Script};
use journeyman_toolworld::seed::Draws;
use journeyman_toolworld::split::Split;
use journeyman_toolworld::tool::SkillText;
use journeyman_toolworld::vocabulary::Vocabulary;
use journeyman_toolworld::world::{World, WorldSpec};
use serde_json::json;

/// The parts, their mixtures and their shares in percent; `train.py` knows when each part is used.
const PARTS: [(&str, &Mixture, u64); 3] = [
    ("early", &Mixture::EARLY, 26),
    ("late", &Mixture::LATE, 26),
    ("last", &Mixture::LAST, 48),
];

/// Number of prompts for comparing the trainer with llama.cpp.
const PROMPTS: usize = 100;

const LEARNED: u16 = 1 << 15;

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
    write_prompts(&out, &vocabulary)
}

/// Writes `prompts.jsonl`: prompts of held-out worlds on which the trainer and llama.cpp are compared. Each line has
/// the parts of a prompt and its token ids.
fn write_prompts(out: &Path, vocabulary: &Vocabulary) -> Result<(), Box<dyn Error>> {
    let mut lines = BufWriter::new(File::create(out.join("prompts.jsonl"))?);
    for number in 0..PROMPTS {
        let mut draws = Draws::new("prompts", &[number as u64]);
        let spec = WorldSpec {
            split: Split::HeldOut,
            ..WorldSpec::wide(&mut draws)
        };
        let role = Role::ALL.get(number % (2 * Role::ALL.len()));
        let script = match role {
            Some(role) => role.case(&spec, &mut draws).prompt,
            None => opening(&spec, &mut draws),
        };
        let ids: Vec<u16> = script
            .encode(vocabulary)
            .iter()
            .map(|(id, _)| *id)
            .collect();
        let parts: Vec<_> = script.parts().iter().map(|(part, _)| part).collect();
        writeln!(lines, "{}", json!({"parts": parts, "ids": ids}))?;
    }
    Ok(lines.flush()?)
}

/// A task with the right skill, and the tools.
fn opening(spec: &WorldSpec, draws: &mut Draws) -> Script {
    let world = World::make(spec, draws);
    let skill = world
        .target()
        .map(|target| SkillText::of(target, &world.given_names()).to_string());
    Script::task(&world.query)
        .skills(skill.iter().map(|skill| (skill.as_str(), false)))
        .tools(world.services.iter().map(|service| &service.tool))
        .plan()
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
        for (part, learned) in script.parts() {
            let flag = if *learned { LEARNED } else { 0 };
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
    sample.flush()?;
    Ok(binary.flush()?)
}

/// Cuts before each space: tokens of these texts never cross one.
fn words(text: &str) -> Vec<&str> {
    let mut cuts: Vec<usize> = text.match_indices(' ').map(|(at, _)| at).collect();
    cuts.push(text.len());
    cuts.windows(2)
        .filter_map(|pair| text.get(*pair.first()?..*pair.last()?))
        .collect()
}
