//! Evaluates the bundled model through llama.cpp on held-out worlds.
//!
//! `apprentice [--model FILE.gguf] [--seed N] [-n N] [--mode model|row|host] [--narrow yes] [--card FILE]`

use std::collections::HashMap;
use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use apprentice::{Acting, Arena, Gate, Roles, greedy, held_out, tokens};
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp, Template};
use journeyman_toolworld::dialect::Mode;
use journeyman_toolworld::seed::Draws;
use journeyman_toolworld::world::WorldSpec;

/// The card's figures stand between these lines.
const OPEN: &str = "<!-- figures: written by the evaluation -->";
const CLOSE: &str = "<!-- end of figures -->";
/// Texts whose token ids are compared.
const TEXTS: usize = 1000;

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let arguments: HashMap<&str, &str> = words
        .chunks(2)
        .filter_map(|pair| Some((pair.first()?.as_str(), pair.get(1)?.as_str())))
        .collect();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let model = arguments
        .get("--model")
        .map_or_else(|| here.join("apprentice.gguf"), PathBuf::from);
    let seed: u64 = arguments.get("--seed").unwrap_or(&"1").parse()?;
    let count: usize = arguments.get("-n").unwrap_or(&"300").parse()?;
    let (mode_name, mode) = match arguments.get("--mode") {
        None | Some(&"row") => ("row", Mode::Row),
        Some(&"model") => ("model", Mode::Model),
        Some(&"host") => ("host", Mode::Host),
        Some(other) => return Err(format!("unknown mode {other}; use model, row or host").into()),
    };
    let narrow = arguments.contains_key("--narrow");
    let spec = |draws: &mut Draws| {
        if narrow {
            WorldSpec::default()
        } else {
            held_out(draws)
        }
    };

    let mut config = LlamaConfig::new(&model).exact();
    // The dialect writes the markers of a turn itself.
    config.template = Template::None;
    let model = LlamaCpp::load(config)?;
    let arena = Arena::new(model.clone(), model.clone(), mode)?;
    let kind = if narrow {
        "3 to 5 tools, 5% invented nouns, one wording of refusals (the other roles in wider ones)"
    } else {
        "3 to 8 tools, 25% invented nouns, five wordings of refusals"
    };
    let mut report = format!(
        "{count} held-out worlds of seed {seed}, {kind}, mode `{mode_name}`; per cent, one standard error.\n\n"
    );
    report.push_str(&Acting::measure(&arena, spec, seed, count)?.tables());
    report.push('\n');
    report.push_str(&Roles::measure(&arena, seed, count)?.tables());
    report.push('\n');
    report.push_str(&Gate::measure(&arena, spec, seed, count)?.tables());
    let same = greedy(model.as_ref(), &here.join("greedy.jsonl"))?;
    report.push_str(&format!(
        "\nGreedy outputs of llama.cpp and of torch on {} prompts: {} equal, {} part where two tokens are nearly tied, \
         {} differ.\n",
        same.equal + same.tied + same.different,
        same.equal,
        same.tied,
        same.different
    ));
    let (equal, differs) = tokens(model.as_ref(), TEXTS)?;
    report.push_str(&format!(
        "\nToken ids of {equal} of {TEXTS} texts equal the trainer's.\n"
    ));
    if let Some(text) = differs {
        report.push_str(&format!("The first that differ: {text:?}\n"));
    }
    std::io::stdout().write_all(report.as_bytes())?;
    if let Some(card) = arguments.get("--card") {
        write_card(Path::new(card), &report)?;
    }
    Ok(())
}

fn write_card(path: &Path, report: &str) -> Result<(), Box<dyn Error + Send + Sync>> {
    let card = std::fs::read_to_string(path)?;
    let (before, rest) = card
        .split_once(OPEN)
        .ok_or("the card lacks the line where its figures begin")?;
    let (_, after) = rest
        .split_once(CLOSE)
        .ok_or("the card lacks the line where its figures end")?;
    Ok(std::fs::write(
        path,
        format!("{before}{OPEN}\n{report}{CLOSE}{after}"),
    )?)
}
