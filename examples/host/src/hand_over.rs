//! The first way in: hand over the tasks.

use std::{path::Path, sync::Arc};

use journeyman::{contract::Scorer, prelude::*};
use journeyman_disk::{DiskOptions, DiskStore};
use journeyman_tantivy::Bm25Retriever;

/// Learns from tasks; how held-out tasks went before and after.
pub async fn learn_and_compare(
    model: Arc<impl LanguageModel + Scorer + 'static>, // one model: acts, scores and writes
    world: Arc<dyn Environment>,                       // yours
    judge: Arc<dyn Judge>,                             // yours, or EnvironmentJudge
    library: &Path,
    tasks: Vec<Task>,
    held_out: Vec<Task>,
) -> Result<(RunReport, RunReport)> {
    let prompt_format = Arc::new(ChatFormat::default());
    let agent = ModelExecutor::new(
        model.clone(),
        prompt_format.clone(),
        ModelExecutorOptions::default(),
    )?;
    let store = Arc::new(DiskStore::open(library, &DiskOptions::default())?);
    let components = Components::new(Arc::new(agent), world, judge)
        .with_scorer(model.clone())
        .with_prompt_format(prompt_format)
        .with_model(model)
        .with_roles(Arc::new(GeneralRoles::shipped()?)) // writes, repairs and judges skills
        .with_retriever(Arc::new(Bm25Retriever::new(Default::default())?))
        .with_store(store.clone()) // the library, and a journal to resume from
        .with_journal(store)
        .with_clock(Arc::new(SystemClock::new())); // keeps time limits

    // A session keeps its name over restarts; two processes that write at the same time need two names.
    let options = Options::new("shop-agent", Seed(7));
    let journeyman = Journeyman::open(components, recipe::standard(), options).await?;
    for finding in journeyman.findings() {
        println!("note: {finding}"); // what will not happen, and why
    }
    let before = journeyman.evaluate(held_out.clone()).await?; // frozen, greedy
    journeyman.learn(tasks).await?; // writes and credits skills
    let after = journeyman.evaluate(held_out).await?;
    Ok((before, after))
}
