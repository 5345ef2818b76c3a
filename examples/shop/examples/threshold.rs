//! Where the gate's threshold for SmolLM2 comes from: requests to learn from alone, and seeds that no figure has.
//! `cargo run -p shop --example threshold`, some minutes.
#![allow(clippy::print_stdout, missing_docs)]

use std::{path::Path, sync::Arc};

use journeyman::{agent::MemoryStore, contract::Scorer, prelude::*};
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp, find_model};
use shop::{desk::tasks, gate, parts, scripted};

/// The best candidate of a request: its value, whether it is the right one, and whether a house rule holds.
struct Best(f64, bool, bool);

#[tokio::main]
async fn main() -> Result<()> {
    let file = find_model(Path::new("smollm2"), Path::new(""), &mut |_| {})?;
    let scorer = LlamaCpp::load(LlamaConfig::new(file))?;
    let mut best = Vec::new();
    for seed in [Seed(100), Seed(101)] {
        let store = Arc::new(MemoryStore::new());
        let open = async |scorer: Arc<dyn Scorer>| {
            let parts = parts(scorer)?.with_store(store.clone());
            // Nothing passes this gate: skills are written from agents without one.
            Journeyman::open(parts, gate(1_000.0), Options::new("threshold", seed)).await
        };
        let session = open(Arc::new(scripted::scorer())).await?;
        session.learn(tasks(seed, 36, false)).await?;
        let session = open(scorer.clone()).await?;
        let library = session.library().await?;
        // Other requests than those that were learned from.
        let requests = tasks(Seed(seed.0 + 50), 54, false);
        let report = session.evaluate(requests.clone()).await?;
        for (task, report) in requests.iter().zip(&report.tasks) {
            let first = report.selections.first().and_then(|one| one.best());
            let name_of = |id| library.get(id)?.skill.original_name.as_ref();
            let is_right = first.is_some_and(|one| name_of(&one.skill.id) == task.tags.first());
            let value = first.map_or(f64::MIN, |one| one.value);
            best.push(Best(value, is_right, !task.tags.is_empty()));
        }
    }
    for nats in 5..30 {
        let passes = |one: &Best| one.0 > f64::from(nats);
        let done = |one: &&Best| {
            if one.2 {
                passes(one) && one.1
            } else {
                !passes(one)
            }
        };
        let (rule, none): (Vec<_>, Vec<_>) = best.iter().partition(|one| one.2);
        let share =
            |of: &[&Best]| of.iter().filter(|one| done(one)).count() as f64 / of.len() as f64;
        let all = best.iter().filter(done).count() as f64 / best.len() as f64;
        println!(
            "{nats:2} nats: done at once {all:.2}, with a rule {:.2}, without {:.2}",
            share(&rule),
            share(&none)
        );
    }
    Ok(())
}
