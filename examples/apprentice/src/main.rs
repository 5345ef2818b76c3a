//! Evaluates the bundled model through llama.cpp on held-out worlds.
//!
//! `apprentice [--model FILE.gguf] [--seed N] [-n N] [--mode model|row|host] [--tools N] [--invented PERCENT] [--card FILE]`
//! `apprentice --records FILE [-n N]` writes prompts and outputs for `check.py`.

use std::collections::HashMap;
use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use apprentice::{Acting, Arena, Gate, equality};
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp};
use journeyman_toolworld::dialect::Mode;
use journeyman_toolworld::world::WorldSpec;

/// The card's figures stand between these lines.
const OPEN: &str = "<!-- figures: written by the evaluation -->";
/// Texts whose token ids are compared.
const TEXTS: usize = 1000;
const CLOSE: &str = "<!-- end of figures -->";

fn main() -> Result<(), Box<dyn Error>> {
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
    let mut spec = WorldSpec::default();
    if let Some(tools) = arguments.get("--tools") {
        spec.fewest_tools = tools.parse()?;
        spec.most_tools = spec.fewest_tools;
    }
    if let Some(percent) = arguments.get("--invented") {
        spec.invented_nouns = percent.parse::<f64>()? / 100.0;
    }

    let model = LlamaCpp::load(LlamaConfig::new(&model))?;
    let arena = Arena::new(model.clone(), model.clone(), mode)?;
    if let Some(out) = arguments.get("--records") {
        let records = equality::records(&arena, &spec, seed, count, Path::new(out))?;
        writeln!(std::io::stdout(), "{records} records in {out}")?;
        return Ok(());
    }
    let mut report = format!(
        "{count} held-out worlds of seed {seed}, {} to {} tools, {:.0}% invented nouns, mode `{mode_name}`; per cent, \
         one standard error.\n\n",
        spec.fewest_tools,
        spec.most_tools,
        100.0 * spec.invented_nouns
    );
    report.push_str(&Acting::measure(&arena, &spec, seed, count)?.tables());
    report.push('\n');
    report.push_str(&Gate::measure(&arena, &spec, seed, count)?.tables());
    let (equal, differs) = equality::tokens(model.as_ref(), TEXTS)?;
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

fn write_card(path: &Path, report: &str) -> Result<(), Box<dyn Error>> {
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
