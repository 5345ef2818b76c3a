//! The process that is killed: it learns, or goes on with what was left, and prints the library's hash at its end.

use std::{
    error::Error,
    io::{self, Write},
    num::{NonZeroU32, NonZeroU64},
    path::Path,
    sync::Arc,
};

use futures::executor::block_on;
use host::{desk::Desk, model::Scripted, tasks::task};
use journeyman::{
    Seed,
    agent::{
        ChatFormat, EnvironmentJudge, ModelExecutor, ModelExecutorOptions, role::GeneralRoles,
    },
    contract::{Components, Journal, Retriever},
    domain::{Task, sha256_hex},
    recipe::{self, Recipe},
    run::{Journeyman, Options},
};
use journeyman_disk::{DiskOptions, DiskStore, Durability};
use journeyman_tantivy::Bm25Retriever;

/// What the process is called with behind its name.
pub const ARGUMENT: &str = "host-child";
/// How many tasks it learns from.
const TASKS: usize = 12;

/// A recipe by name: those of the figures, so that something is injected from the start.
fn recipe(name: &str) -> Option<Recipe> {
    Some(match name {
        "arise" => {
            let mut arise = recipe::arise();
            arise.batch = NonZeroU64::MIN;
            arise.attempts.warm_up = 0;
            arise.attempts.group = const { NonZeroU32::new(3).unwrap() };
            arise
        }
        "hisme" => recipe::hisme_robust(),
        "standard" => recipe::standard(),
        _ => return None,
    })
}

/// Learns in `folder`: `host-child FOLDER RECIPE memory|disk SEED`.
///
/// # Errors
/// For a wrong call, and what the run gives.
pub fn run(mut arguments: impl Iterator<Item = String>) -> Result<(), Box<dyn Error>> {
    let mut next = || arguments.next().ok_or("an argument is missing");
    let (folder, name, retriever, seed) = (next()?, next()?, next()?, next()?);
    let recipe = recipe(&name).ok_or("no such recipe")?;
    let hash = block_on(learn(Path::new(&folder), recipe, &retriever, seed.parse()?))?;
    let mut out = io::stdout();
    writeln!(out, "library {hash}")?;
    Ok(())
}

async fn learn(
    folder: &Path,
    recipe: Recipe,
    retriever: &str,
    seed: u64,
) -> Result<String, Box<dyn Error>> {
    let mut options = DiskOptions::default();
    // A killed process loses nothing that the system has.
    options.durability = Durability::Relaxed;
    options.folders = false;
    let store = Arc::new(DiskStore::open(folder.join("library"), &options)?);
    let index: Arc<dyn Retriever> = match retriever {
        "disk" => Arc::new(Bm25Retriever::open(
            folder.join("index"),
            Default::default(),
        )?),
        _ => Arc::new(Bm25Retriever::new(Default::default())?),
    };
    let (model, prompt_format) = (
        Arc::new(Scripted::default()),
        Arc::new(ChatFormat::default()),
    );
    let agent = ModelExecutor::new(
        model.clone(),
        prompt_format.clone(),
        ModelExecutorOptions::default(),
    )?;
    let components = Components::new(Arc::new(agent), Arc::new(Desk), Arc::new(EnvironmentJudge))
        .with_store(store.clone())
        .with_journal(store.clone())
        .with_retriever(index)
        .with_scorer(model.clone())
        .with_prompt_format(prompt_format)
        .with_model(model)
        .with_roles(Arc::new(GeneralRoles::shipped()?));
    let tasks: Vec<Task> = (0..TASKS).map(task).collect();
    let session = Options::new("killed", Seed(seed));
    let journeyman = Journeyman::open(components, recipe, session).await?;
    writeln!(io::stdout(), "ready")?;
    io::stdout().flush()?;
    match journeyman.unfinished_runs().await?.first() {
        Some(run) => {
            journeyman.resume(run).await?;
        }
        // Killed before the first word was kept, or behind the last.
        None if Journal::runs(store.as_ref()).await?.is_empty() => {
            journeyman.learn(tasks).await?;
        }
        None => {}
    }
    Ok(sha256_hex(journeyman.library().await?.to_json()?))
}
