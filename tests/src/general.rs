//! The way that users take: the bundled model through `ChatDialect` and `GeneralRoles` in llama.cpp, on
//! held-out worlds.

mod context;
mod stream;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use apprentice::{Acting, Arena, Gate, METHODS, Robust, Roles, Same, Variant};
use journeyman::Seed;
use journeyman::contract::LanguageModel;
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp, Template};

use crate::figures::{Bound, Figures, Outcome};

/// Worlds a seed.
const WORLDS: usize = 300;
/// Cases of each role a seed.
const CASES: usize = 100;
/// Texts and prompts whose token ids are compared.
const TEXTS: usize = 1_000;

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    // Derived by name, so that it is no seed that development used.
    let seed = figures.options().seed.derive("general", 0);
    let model = model(figures);
    let measured = match &model {
        Some(path) => Some(measure(figures, path, seed)?),
        None => {
            figures.progress(format_args!(
                "the bundled model is not there: train one with examples/apprentice/train.sh, or name one with --model"
            ));
            None
        }
    };
    record_acting(figures, measured.as_ref().map(|one| &one.acting));
    record_robust(figures, measured.as_ref().map(|one| &one.robust));
    record_roles(figures, measured.as_ref().map(|one| &one.roles));
    record_gate(figures, measured.as_ref().map(|one| &one.gate));
    record_same(figures, measured.as_ref().map(|one| &one.same));
    context::record(figures, model.as_deref(), seed)?;
    stream::record(figures, model.as_deref())?;
    Ok(())
}

/// Measures and records what a context of 2,048 tokens comes to.
pub fn run_context(figures: &mut Figures<'_>) -> Outcome {
    let seed = figures.options().seed.derive("general", 0);
    let model = model(figures);
    context::record(figures, model.as_deref(), seed)
}

/// All that is measured of one model.
struct Measured {
    acting: Acting,
    robust: Robust,
    roles: Roles,
    gate: Gate,
    same: Same,
}

/// A file beside the bundled model.
fn beside(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../examples/apprentice")
        .join(name)
}

/// The model that is asked for, or the repository's; `None` where it is not there.
fn model(figures: &Figures<'_>) -> Option<PathBuf> {
    let path = figures
        .options()
        .model
        .clone()
        .unwrap_or_else(|| beside("apprentice.gguf"));
    path.exists().then_some(path)
}

fn load(path: &Path) -> Result<(Arena, Arc<LlamaCpp>), Box<dyn std::error::Error + Send + Sync>> {
    // In the arithmetic that users have.
    let model = LlamaCpp::load(LlamaConfig::new(path))?;
    Ok((Arena::new(model.clone(), model.clone())?, model))
}

fn measure(
    figures: &mut Figures<'_>,
    path: &Path,
    seed: Seed,
) -> Result<Measured, Box<dyn std::error::Error + Send + Sync>> {
    let (arena, model) = load(path)?;
    let name = model.capabilities().model.clone();
    figures.subject("model", name.as_str());
    let key = |what: &str| format!("{what}, {name}");
    // Compared with torch's outputs, which are of full precision.
    let mut config = LlamaConfig::new(path).exact();
    config.template = Template::None;
    let bare = LlamaCpp::load(config)?;
    let folder = path.with_extension("");
    Ok(Measured {
        same: figures.once(&key("token ids and greedy outputs"), || {
            Same::measure(&arena, bare.as_ref(), &folder, TEXTS)
        })?,
        acting: figures.once(&key("it acts"), || {
            Ok(Acting::measure(&arena, seed.0, WORLDS)?)
        })?,
        robust: figures.once(&key("it acts on changed prompts"), || {
            Ok(Robust::measure(&arena, seed.0, WORLDS)?)
        })?,
        roles: figures.once(&key("it plays the roles"), || {
            Ok(Roles::measure(&arena, seed.0, CASES)?)
        })?,
        gate: figures.once(&key("it chooses among ten"), || {
            Ok(Gate::measure(&arena, seed.0, WORLDS)?)
        })?,
    })
}

/// Records a value, or that it is missing, which is short.
fn record(figures: &mut Figures<'_>, name: &str, value: Option<f64>, bound: Bound) {
    figures.record(name, value.unwrap_or(f64::NAN), bound);
}

/// A figure of acting: its name, its value and its bound.
type ActingFigure = (&'static str, fn(&Acting) -> f64, Bound);

/// What is recorded of acting.
const ACTING: [ActingFigure; 16] = [
    (
        "right skill, hidden, first attempt",
        |a| a.right.hidden.value(),
        Bound::AtLeast(0.95),
    ),
    (
        "right skill, plain, first attempt",
        |a| a.right.plain.value(),
        Bound::None,
    ),
    (
        "no skill, hidden, first attempt",
        |a| a.none.0.hidden.value(),
        Bound::None,
    ),
    (
        "no skill, plain, first attempt",
        |a| a.none.0.plain.value(),
        Bound::None,
    ),
    (
        "no skill, hidden, within 2 retries",
        |a| a.none.1.hidden.value(),
        Bound::AtLeast(0.9),
    ),
    (
        "irrelevant skill, plain, first attempt",
        |a| a.irrelevant.0.plain.value(),
        Bound::None,
    ),
    (
        "irrelevant skill, hidden, within 2 retries",
        |a| a.irrelevant.1.hidden.value(),
        Bound::None,
    ),
    (
        "plain, first attempt: lost to an irrelevant skill",
        |a| a.none.0.plain.value() - a.irrelevant.0.plain.value(),
        Bound::AtMost(0.03),
    ),
    (
        "right and irrelevant skill, hidden, first attempt",
        |a| a.both.hidden.value(),
        Bound::None,
    ),
    (
        "cites the right skill",
        |a| a.cited[0].value(),
        Bound::AtLeast(0.85),
    ),
    (
        "cites no irrelevant skill",
        |a| a.cited[1].value(),
        Bound::AtLeast(0.85),
    ),
    (
        "cites the right one of both",
        |a| a.cited[2].value(),
        Bound::AtLeast(0.85),
    ),
    (
        "skill written from a success, fully right",
        |a| a.written.value(),
        Bound::AtLeast(0.9),
    ),
    (
        "new task with its own skill, hidden, first attempt",
        |a| a.own.value(),
        Bound::None,
    ),
    (
        "opaque refusals, no skill, done",
        |a| a.opaque[0].value(),
        Bound::None,
    ),
    (
        "opaque refusals, first attempt: with its own skill less without, low",
        Acting::opaque_gain_low,
        Bound::Above(0.0),
    ),
];

fn record_acting(figures: &mut Figures<'_>, acting: Option<&Acting>) {
    for (name, value, bound) in ACTING {
        record(figures, name, acting.map(value), bound);
    }
}

fn record_robust(figures: &mut Figures<'_>, robust: Option<&Robust>) {
    for variant in Variant::CHANGES {
        let name = format!("lost with {}", variant.words());
        let lost = robust.map(|robust| robust.lost(variant));
        record(figures, &name, lost, Bound::AtMost(0.05));
    }
}

fn record_roles(figures: &mut Figures<'_>, roles: Option<&Roles>) {
    for role in journeyman::domain::Role::ALL {
        let of = roles.and_then(|roles| roles.by_role.get(&role.to_string()));
        let right = of.map(|of| of.right.value());
        record(
            figures,
            &format!("role.{role}"),
            right,
            Bound::AtLeast(0.85),
        );
        let unreadable = of.map(|of| of.unreadable.value());
        let name = format!("role.{role}, unreadable");
        record(figures, &name, unreadable, Bound::AtMost(0.02));
    }
}

fn record_gate(figures: &mut Figures<'_>, gate: Option<&Gate>) {
    for (at, method) in METHODS.iter().enumerate() {
        let value = gate
            .and_then(|gate| gate.top.get(at))
            .map(|top| top.value());
        let bound = match *method {
            "PMI" => Bound::AtLeast(0.99),
            "fits" => Bound::AtLeast(0.85),
            _ => Bound::None,
        };
        record(
            figures,
            &format!("gate, {method}: right one first"),
            value,
            bound,
        );
    }
    let acted = ["BM25", "PMI", "none", "oracle"];
    for (at, name) in acted.iter().enumerate() {
        let value = gate
            .and_then(|gate| gate.acted.get(at))
            .map(|one| one.value());
        record(
            figures,
            &format!("gate, {name}: first attempt"),
            value,
            Bound::None,
        );
    }
}

fn record_same(figures: &mut Figures<'_>, same: Option<&Same>) {
    let all = Bound::AtLeast(TEXTS as f64);
    let texts = same.map(|same| same.texts as f64);
    record(figures, "texts with the trainer's token ids", texts, all);
    let prompts = same.map(|same| same.other_prompts as f64);
    record(
        figures,
        "prompts with other token ids",
        prompts,
        Bound::AtMost(0.0),
    );
    let different = same.map(|same| same.different as f64);
    let name = "greedy outputs that part from torch's without a near tie";
    record(figures, name, different, Bound::AtMost(0.0));
}
