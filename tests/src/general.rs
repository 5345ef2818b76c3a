//! The bundled model through `ChatFormat` and `GeneralRoles` in llama.cpp, as users' models are run, on held-out worlds.

mod context;
mod story;
mod stream;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use apprentice::{Acting, Arena, Gate, METHODS, Robust, Roles, Same, Share, Variant};
use journeyman::Seed;
use journeyman::contract::LanguageModel;
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp, Template};

use quickstart::default_model;

use crate::figures::{Bound, Figures, Outcome, stats::t_interval};

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
    let measured = measure(figures, &model, seed)?;
    for (name, value, bound) in ACTING {
        figures.record(name, value(&measured.acting), bound);
    }
    for variant in Variant::CHANGES {
        let name = format!("lost with {}", variant.words());
        figures.record(&name, measured.robust.lost(variant), Bound::AtMost(0.05));
    }
    record_roles(figures, &measured.roles);
    record_gate(figures, &measured.gate);
    record_same(figures, &measured.same);
    context::record(figures, &model, seed)?;
    stream::record(figures, &model)
}

/// Measures and records what a context of 2,048 tokens comes to.
pub fn run_context(figures: &mut Figures<'_>) -> Outcome {
    let seed = figures.options().seed.derive("general", 0);
    let model = model(figures);
    context::record(figures, &model, seed)
}

/// Measures and records what the quickstart comes to in its travel office.
pub fn run_story(figures: &mut Figures<'_>) -> Outcome {
    let model = model(figures);
    story::record(figures, &model)
}

/// All that is measured of one model.
struct Measured {
    acting: Acting,
    robust: Robust,
    roles: Roles,
    gate: Gate,
    same: Same,
}

/// The model that is asked for, or the bundled one.
fn model(figures: &Figures<'_>) -> PathBuf {
    let model = figures.options().model.clone();
    model.unwrap_or_else(default_model)
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
        Bound::AtMost(0.03),
    ),
    (
        "no skill, plain, first attempt",
        |a| a.none.0.plain.value(),
        Bound::AtLeast(0.95),
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
        Bound::AtLeast(0.9),
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
        Bound::AtLeast(0.95),
    ),
    (
        "new task with its own skill, hidden, first attempt",
        |a| a.own.value(),
        Bound::AtLeast(0.9),
    ),
    (
        "opaque refusals, no skill, done",
        |a| a.opaque[0].value(),
        Bound::None,
    ),
    (
        "opaque refusals, first attempt: with its own skill less without, low",
        |a| t_interval(&a.gained).low,
        Bound::Above(0.0),
    ),
];

fn record_roles(figures: &mut Figures<'_>, roles: &Roles) {
    for role in journeyman::domain::Role::ALL {
        let of = roles.by_role.get(&role.to_string());
        let share = |of: Option<&Share>| of.map_or(f64::NAN, Share::value);
        let right = share(of.map(|of| &of.right));
        figures.record(&format!("role.{role}"), right, Bound::AtLeast(0.85));
        let unreadable = share(of.map(|of| &of.unreadable));
        let name = format!("role.{role}, unreadable");
        figures.record(&name, unreadable, Bound::AtMost(0.02));
    }
}

fn record_gate(figures: &mut Figures<'_>, gate: &Gate) {
    for (method, first) in METHODS.iter().zip(&gate.top) {
        let bound = match *method {
            "PMI" => Bound::AtLeast(0.99),
            "fits" => Bound::AtLeast(0.85),
            _ => Bound::None,
        };
        let name = format!("gate, {method}: right one first");
        figures.record(&name, first.value(), bound);
    }
    for (name, acted) in ["BM25", "PMI", "none", "oracle"].iter().zip(&gate.acted) {
        let bound = match *name {
            "none" => Bound::AtMost(0.03),
            _ => Bound::None,
        };
        let name = format!("gate, {name}: first attempt");
        figures.record(&name, acted.value(), bound);
    }
}

fn record_same(figures: &mut Figures<'_>, same: &Same) {
    let rows = [
        (
            "texts with the trainer's token ids",
            same.texts,
            Bound::AtLeast(TEXTS as f64),
        ),
        (
            "prompts with other token ids",
            same.other_prompts,
            Bound::AtMost(0.0),
        ),
        (
            "greedy outputs that part from torch's without a near tie",
            same.different,
            Bound::AtMost(0.0),
        ),
        (
            "greedy outputs that part from torch's at a near tie",
            same.tied,
            Bound::AtMost(5.0),
        ),
        (
            "prompts whose outputs are compared with torch's",
            same.equal + same.tied + same.different,
            Bound::AtLeast(100.0),
        ),
    ];
    for (name, count, bound) in rows {
        figures.record(name, count as f64, bound);
    }
}
