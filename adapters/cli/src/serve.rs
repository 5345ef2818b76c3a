//! `serve mcp`: the library for agents of other programs.

use std::{
    env,
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    sync::Arc,
    time::SystemTime,
};

use journeyman::{
    Error, Result, Seed,
    builtin::SystemClock,
    contract::Backends,
    recipe,
    run::{Journeyman, Options},
    select::Selector,
};
use journeyman_mcp::{LibraryServer, library::HttpOptions};
use journeyman_tantivy::Bm25Retriever;

use crate::{
    arguments::ServeMcp,
    library,
    output::{Answer, tell, warn},
};

/// The variable that holds the token of clients over HTTP.
const TOKEN: &str = "JOURNEYMAN_MCP_TOKEN";

/// Serves one client on standard streams until it goes, or clients over HTTP until the command is ended.
pub(crate) async fn mcp(root: &Path, command: &ServeMcp) -> Result<Answer> {
    let opened = library::open(root, false).await?;
    let offered = opened.library.entries();
    let offered = offered.filter(|one| one.skill.state.is_offered()).count();
    let store = Arc::new(opened.store);
    let backends = Backends::own_loop()
        .with_retriever(Arc::new(Bm25Retriever::new(Default::default())?))
        .with_store(store.clone())
        .with_journal(store.clone())
        .with_clock(Arc::new(SystemClock::new()));
    // No model scores skills here, so the best by words is given.
    let mut recipe = recipe::standard();
    recipe.select.selector = Selector::First;
    let options = Options::new(fresh_session(), Seed(1));
    let journeyman = Journeyman::open(backends, recipe, options).await?;
    let server = LibraryServer::new(Arc::new(journeyman.clone())).with_files(store);
    let Some(port) = command.http else {
        tell(&format!("serving {offered} skills on standard streams"));
        server.serve_stdio().await?;
        // The last chance for an outcome that the library refused when it was reported.
        if let Err(error) = journeyman.settle().await {
            warn(&error);
        }
        return Ok(Answer::default());
    };
    let token = env::var(TOKEN).map_err(|_| {
        Error::invalid("serve mcp", "the clients' token is not set")
            .with("variable", TOKEN)
            .hint("set it to a random text of at least 16 bytes, such as the output of `openssl rand -hex 16`")
    })?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let served = server
        .serve_http(HttpOptions::new(token).at(address))
        .await?;
    tell(&format!("serving {offered} skills at {}", served.url()));
    std::future::pending().await
}

/// A session's name that no other server has. Several serve one library at the same time, since every client on standard
/// streams starts its own, and the runs of two sessions of one name would have the same ids.
fn fresh_session() -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = now.map_or(0, |now| now.as_nanos());
    format!("mcp-{now}-{}", std::process::id())
}
