//! The work that is traced: the host of `examples/host` learns from a few tasks.

use std::sync::Arc;

use host::{desk::Desk, judge::Supervisor, model::Scripted, tasks::task};
use journeyman::{
    Seed,
    builtin::{MemoryJournal, MemoryStore},
    prelude::*,
};
use journeyman_tantivy::Bm25Retriever;

/// Learns from twelve tasks; what came of it, in a line.
pub(crate) async fn learn(texts_in_spans: bool) -> Result<String> {
    let model = Arc::new(Scripted::default());
    let dialect = Arc::new(ChatDialect::default());
    let agent = ModelExecutor::new(
        model.clone(),
        dialect.clone(),
        ModelExecutorOptions::default(),
    )?;
    let backends = Backends::new(Arc::new(agent), Arc::new(Desk), Arc::new(Supervisor))
        .with_scorer(model.clone())
        .with_dialect(dialect)
        .with_model(model)
        .with_roles(Arc::new(GeneralRoles::shipped()?))
        .with_retriever(Arc::new(Bm25Retriever::new(Default::default())?))
        .with_store(Arc::new(MemoryStore::new()))
        .with_journal(Arc::new(MemoryJournal::new()))
        .with_clock(Arc::new(SystemClock::new()));
    let mut options = Options::new("desk", Seed(7));
    options.texts_in_spans = texts_in_spans;
    let journeyman = Journeyman::open(backends, recipe::standard(), options).await?;
    let report = journeyman.learn((0..12).map(task).collect()).await?;
    let skills = journeyman.library().await?.entries().count();
    let attempts = report.attempts().count();
    Ok(format!("made {attempts} attempts, learned {skills} skills"))
}
