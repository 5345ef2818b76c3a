//! A host's second hour: whether a figure says what was measured, what is undone stays undone and returns when it is learned
//! again, and customers are no experiment. The world is the shop of the examples.

pub mod child;
mod doubles;
mod live;
mod repeats;
mod shops;
mod told;
mod undo;

use std::{path::PathBuf, sync::Arc};

use journeyman::{
    Seed,
    contract::{Components, LanguageModel, Scorer},
    recipe::{self, Recipe},
    run::{Journeyman, Options},
    testing::{Play, ScriptedModel},
};
use serde::Deserialize;

use crate::{
    figures::{Bound, Figures, Outcome},
    real_models::silence,
    source::repository,
};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    told::record(figures)?;
    undo::record(figures)?;
    live::record(figures)?;
    doubles::record(figures)?;
    let root = repository();
    let seed = figures.options().seed.0.to_string();
    let silence: f64 = figures.once("the quickstart, for its silence", || {
        silence(&root, &["--tasks", "8", "--held-out", "8", "--seed", &seed])
    })?;
    figures.record(
        "quickstart, 8 tasks: longest silence, seconds",
        silence,
        Bound::AtMost(10.0),
    );
    // The longest come last.
    repeats::record(figures)?;
    shops::record(figures)
}

/// A kind of request at the shop.
#[derive(Deserialize)]
struct Kind {
    name: String,
    /// In the order that the desk demands.
    tools: Vec<String>,
    /// What the desk says when a tool was left out; empty where it demands no other one.
    rule: String,
    messages: Vec<Vec<String>>,
}

/// All kinds.
fn kinds() -> Vec<Kind> {
    let all = include_str!("../../../examples/shop/requests.json");
    serde_json::from_str(all).unwrap_or_default()
}

/// A writer that puts the calls of an attempt in other words than the shop's, under other titles; with the
/// customer's words, or without.
fn other_words(with_request: bool) -> Arc<dyn LanguageModel> {
    Arc::new(ScriptedModel::by(move |request, _| {
        let attempt = request.prompt.text();
        let met = kinds()
            .into_iter()
            .find(|kind| !kind.rule.is_empty() && attempt.contains(&kind.rule));
        let mut messages = met.iter().flat_map(|kind| kind.messages.iter().flatten());
        let request = messages.find(|message| with_request && attempt.contains(*message));
        let about = match request {
            Some(message) => format!("For requests such as this one: {message}"),
            None => "How the house wants requests of this kind to be served".to_owned(),
        };
        let skill = met.map(|kind| {
            let tools = kind.tools.iter();
            let steps = tools.map(|tool| format!("Then use {tool}"));
            let steps: Vec<String> = steps.chain(["Tell the customer".to_owned()]).collect();
            serde_json::json!({
                "skill_name": format!("{}_as_the_house_has_it", kind.name),
                "key_insight": about,
                "method": steps,
                "check": "The customer was told",
            })
        });
        Play::Give(skill.unwrap_or_default().to_string())
    }))
}

/// The shop with its scripted scorer.
fn parts() -> journeyman::Result<Components> {
    shop::parts(Arc::new(shop::scripted::scorer()) as Arc<dyn Scorer>)
}

/// The skills that a person wrote for the shop.
fn by_a_person() -> PathBuf {
    repository().join("examples/shop/skills")
}

/// A session of the shop.
async fn open(parts: &Components, session: &str, seed: Seed) -> journeyman::Result<Journeyman> {
    open_with(parts, recipe::standard(), Options::new(session, seed)).await
}

async fn open_with(
    parts: &Components,
    recipe: Recipe,
    options: Options,
) -> journeyman::Result<Journeyman> {
    Journeyman::open(parts.clone(), recipe, options).await
}
