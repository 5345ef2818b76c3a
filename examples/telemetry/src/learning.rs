//! The work that is traced: the host of `examples/host` learns from a few tasks, and keeps its library.

use std::sync::Arc;

use host::{desk::Desk, judge::Supervisor, model::Scripted, tasks::task};
use journeyman::{
    Seed,
    agent::{HashedEmbedder, MemoryJournal, MemoryStore},
    domain::{Skill, State},
    prelude::*,
    stations::retrieve::RankWeights,
};
use journeyman_tantivy::Bm25Retriever;

/// A skill that the host ships.
const GREETING: &str = "---\nname: greet-first\ndescription: Greets the customer before anything else.\n---\nGreet the customer.\n";

/// Learns from twelve tasks, then adds a skill, upgrades it and takes it out of use; what came of it, in a line.
pub(crate) async fn learn(texts_in_spans: bool) -> Result<String> {
    let model = Arc::new(Scripted::default());
    let prompt_format = Arc::new(ChatFormat::default());
    let agent = ModelExecutor::new(
        model.clone(),
        prompt_format.clone(),
        ModelExecutorOptions::default(),
    )?;
    let components = Components::new(Arc::new(agent), Arc::new(Desk), Arc::new(Supervisor))
        .with_scorer(model.clone())
        .with_prompt_format(prompt_format)
        .with_model(model)
        .with_roles(Arc::new(GeneralRoles::shipped()?))
        .with_retriever(Arc::new(Bm25Retriever::new(Default::default())?))
        .with_embedder(Arc::new(HashedEmbedder::default()))
        .with_store(Arc::new(MemoryStore::new()))
        .with_journal(Arc::new(MemoryJournal::new()))
        .with_clock(Arc::new(SystemClock::new()));
    let mut options = Options::new("desk", Seed(7));
    options.texts_in_spans = texts_in_spans;
    let mut recipe = recipe::standard();
    // Candidates are ranked by meaning too, so that there is something to embed.
    recipe.select.rank = Some(RankWeights::default());
    let journeyman = Journeyman::open(components, recipe, options).await?;
    let report = journeyman.learn((0..12).map(task).collect()).await?;
    let skills = journeyman.library().await?.entries().count();
    let greeting = Skill::from_skill_md(GREETING)?;
    let id = greeting.id.clone();
    let mut next = greeting.clone().with_version(2);
    next.body = "Greet the customer by name.\n".into();
    journeyman.add(vec![greeting], "version 1").await?;
    journeyman.add(vec![next], "version 2").await?;
    let reason = "the desk greets by itself";
    journeyman.set_state(&id, State::Archived, reason).await?;
    let attempts = report.attempts().count();
    Ok(format!("made {attempts} attempts, learned {skills} skills"))
}
