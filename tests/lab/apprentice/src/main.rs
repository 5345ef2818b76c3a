//! Evaluates the bundled model through llama.cpp on held-out worlds; for development, on seeds of 100 and above.
//!
//! `apprentice [--model FILE.gguf|NAME] [--seed N] [-n N] [--only acting|failed|robust|roles|gate|same]`; `failed` prints attempts that
//! failed, and with `--role NAME` wrong answers of a role

use std::collections::HashMap;
use std::error::Error;
use std::io::Write as _;
use std::path::Path;

use apprentice::{Acting, Arena, Gate, METHODS, Robust, Roles, Same};
use journeyman::contract::LanguageModel as _;
use journeyman::domain::Role;
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp, Template, find_model};

/// Texts whose token ids are compared.
const TEXTS: usize = 1_000;

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let arguments: HashMap<&str, &str> = words
        .chunks(2)
        .filter_map(|pair| Some((pair.first()?.as_str(), pair.get(1)?.as_str())))
        .collect();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let bundled = here.join("apprentice.gguf");
    let named = arguments.get("--model").map(Path::new);
    let path = find_model(named.unwrap_or(&bundled), Path::new(""), &mut |line| {
        // Progress that cannot be shown is no failure.
        let _ = writeln!(std::io::stderr(), "{line}");
    })?;
    let seed: u64 = arguments.get("--seed").unwrap_or(&"100").parse()?;
    let count: usize = arguments.get("-n").unwrap_or(&"100").parse()?;
    let wanted = |part: &str| arguments.get("--only").is_none_or(|only| *only == part);
    let config = LlamaConfig::new(&path).exact();
    let model = LlamaCpp::load(config)?;
    let arena = Arena::new(model.clone(), model.clone())?;
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{}, seed {seed}, {count} worlds, {count} cases",
        model.capabilities().model
    )?;
    if wanted("same") {
        let mut config = LlamaConfig::new(&path).exact();
        config.template = Template::None;
        let bare = LlamaCpp::load(config)?;
        let same = Same::measure(&arena, bare.as_ref(), &path.with_extension(""), TEXTS)?;
        writeln!(out, "{same:#?}")?;
    }
    if wanted("acting") {
        let acting = Acting::measure(&arena, seed, count)?;
        for (name, share) in acting.shares() {
            writeln!(out, "{name}: {share}")?;
        }
    }
    if arguments.get("--only") == Some(&"failed") {
        let failed = match arguments.get("--role") {
            Some(name) => {
                let mut roles = Role::ALL.into_iter();
                let role = roles.find(|role| role.to_string() == *name);
                Roles::failed(&arena, role.ok_or("no such role")?, seed, count)?
            }
            None => Acting::failed(&arena, seed, count)?,
        };
        for text in failed {
            writeln!(out, "\n{text}")?;
        }
    }
    if wanted("robust") {
        for (change, share) in Robust::measure(&arena, seed, count)?.by_change {
            writeln!(out, "right skill, hidden, first attempt, {change}: {share}")?;
        }
    }
    if wanted("roles") {
        for (role, figures) in Roles::measure(&arena, seed, count)?.by_role {
            let (right, unreadable) = (figures.right, figures.unreadable);
            writeln!(out, "{role}: right {right}, unreadable {unreadable}")?;
        }
    }
    if wanted("gate") {
        let gate = Gate::measure(&arena, seed, count)?;
        for (method, share) in METHODS.iter().zip(&gate.top) {
            writeln!(out, "gate, {method}: {share}")?;
        }
    }
    Ok(())
}
