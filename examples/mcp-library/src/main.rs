//! Serves the library in a folder over MCP. `mcp-library LIBRARY [SKILLS]` serves one client on standard streams;
//! with JOURNEYMAN_MCP_TOKEN set it serves HTTP on loopback, and says on standard error where. SKILLS is a folder of
//! skills that are added first. `docs/mcp.md` has the whole picture.

use std::{env, path::PathBuf, sync::Arc};

use futures::executor::block_on;
use journeyman::{contract::Backends, prelude::*, select::Selector};
use journeyman_disk::{DiskOptions, DiskStore, read_skills};
use journeyman_mcp::{LibraryServer, library::HttpOptions};
use journeyman_tantivy::Bm25Retriever;

fn main() -> Result<()> {
    let mut arguments = env::args_os().skip(1).map(PathBuf::from);
    let library = arguments.next().unwrap_or_else(|| "library".into());
    block_on(serve(library, arguments.next()))
}

async fn serve(library: PathBuf, skills: Option<PathBuf>) -> Result<()> {
    let store = Arc::new(DiskStore::open(library, &DiskOptions::default())?);
    let backends = Backends::own_loop()
        .with_retriever(Arc::new(Bm25Retriever::new(Default::default())?))
        .with_store(store.clone())
        .with_journal(store.clone())
        .with_clock(Arc::new(SystemClock::new()));
    // No model of the host's scores skills here, so the best by words is given.
    let mut recipe = recipe::standard();
    recipe.select.selector = Selector::First;
    let journeyman = Journeyman::open(backends, recipe, Options::new("mcp", Seed(7))).await?;
    if let Some(folder) = skills {
        let skills = read_skills(folder, &*store).await?;
        journeyman.add(skills, "shipped with the host").await?;
        store.sync_folders().await?;
    }
    let server = LibraryServer::new(Arc::new(journeyman)).with_files(store);
    match env::var("JOURNEYMAN_MCP_TOKEN") {
        Err(_) => server.serve_stdio().await,
        Ok(token) => {
            let served = server.serve_http(HttpOptions::new(token)).await?;
            #[expect(clippy::print_stderr, reason = "a person starts it by hand")]
            {
                eprintln!("{}", served.url());
            }
            std::future::pending().await
        }
    }
}
