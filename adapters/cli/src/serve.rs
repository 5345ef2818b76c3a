//! `serve mcp`: the library for agents of other programs.

use std::{
    env,
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use futures::{FutureExt, channel::oneshot};
use journeyman::{
    Error, ErrorKind, Result, Seed,
    agent::SystemClock,
    contract::Components,
    domain::State,
    library::SkillLibrary,
    recipe,
    run::{Journeyman, Options},
    stations::select::First,
};
use journeyman_mcp::{
    LibraryServer,
    library::{HttpOptions, ServedLibrary},
};

use crate::{
    arguments::ServeMcp,
    library,
    output::{Answer, Exit, tell, warn},
    stemming::retriever,
};

/// How long a command that was told to end may take to write what it holds, before a further signal ends it at once.
const PATIENCE: Duration = Duration::from_secs(10);

/// The variable that holds the token of clients over HTTP.
const TOKEN: &str = "JOURNEYMAN_MCP_TOKEN";

/// Serves one client on standard streams until it goes, or clients over HTTP. Either ends when the command is told to end.
pub(crate) async fn mcp(root: &Path, command: &ServeMcp) -> Result<Answer> {
    let opened = library::open(root, false).await?;
    let skills = served(&opened.library);
    let store = Arc::new(opened.store);
    let components = Components::own_loop()
        .with_retriever(Arc::new(retriever(command.stems)?))
        .with_store(store.clone())
        .with_journal(store.clone())
        .with_clock(Arc::new(SystemClock::new()));
    // No model scores skills here, so the best by words is given.
    let mut recipe = recipe::standard();
    recipe.select.selector = First.into();
    let options = Options::new(fresh_session(), Seed(1));
    let journeyman = Journeyman::open(components, recipe, options).await?;
    let server = LibraryServer::new(Arc::new(journeyman.clone())).with_files(store);
    let end = told_to_end()?;
    let served = match command.http {
        None => {
            tell(&format!("serving {skills} on standard streams"));
            server.serve_stdio_until(end.map(drop)).await
        }
        Some(port) => {
            let served = serve_http(server, port).await?;
            tell(&format!("serving {skills} at {}", served.url()));
            let _ = end.await;
            served.close().await;
            Ok(())
        }
    };
    // The last chance for an outcome that was under way, or that the library refused when it was reported.
    let settled = journeyman.settle().await.map_err(|error| {
        error.with(
            "not written",
            "outcomes that the library refused until now; clients that reported some have to begin these attempts again",
        )
    });
    if let (Err(_), Err(error)) = (&served, &settled) {
        warn(error);
    }
    served?;
    settled.map(|_| Answer::default())
}

/// How many skills clients may be given.
fn served(skills: &SkillLibrary) -> String {
    let [active, on_trial] =
        [State::Active, State::Trial].map(|state| library::count(skills, state));
    let all = match active + on_trial {
        1 => "1 skill".to_owned(),
        all => format!("{all} skills"),
    };
    match on_trial {
        0 => all,
        _ => format!("{all}, of which on trial: {on_trial}"),
    }
}

async fn serve_http(server: LibraryServer, port: u16) -> Result<ServedLibrary> {
    let token = env::var(TOKEN).map_err(|_| {
        Error::invalid("serve mcp", "the clients' token is not set")
            .with("variable", TOKEN)
            .hint("set it to a random text of at least 16 bytes, such as the output of `openssl rand -hex 16`")
    })?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    server.serve_http(HttpOptions::new(token).at(address)).await
}

/// Completes when a person or the system tells the command to end: Ctrl-C, SIGTERM or SIGHUP. A further signal changes nothing
/// at first, since closing a terminal or a supervisor may send several; after [`PATIENCE`] it ends the command at once, with
/// what it still holds.
fn told_to_end() -> Result<oneshot::Receiver<()>> {
    let (sender, told) = oneshot::channel();
    let mut sender = Some(sender);
    let mut since = None;
    let handler = move || match (sender.take(), since) {
        (Some(sender), _) => {
            since = Some(Instant::now());
            let _ = sender.send(());
        }
        (None, Some(since)) if since.elapsed() < PATIENCE => {}
        (None, _) => {
            tell("ended while outcomes were being written: some that clients reported may be lost");
            std::process::exit(Exit::Unavailable as i32)
        }
    };
    ctrlc::set_handler(handler).map_err(|error| {
        Error::new(
            ErrorKind::Unavailable,
            "serve mcp",
            "the signals that end the command cannot be awaited",
        )
        .hint("free threads and file descriptors of this user, and start it again")
        .source_from(error)
    })?;
    Ok(told)
}

/// A session's name that no other server has. Several serve one library at the same time, since every client on standard
/// streams starts its own, and the runs of two sessions of one name would have the same ids.
fn fresh_session() -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = now.map_or(0, |now| now.as_nanos());
    format!("mcp-{now}-{}", std::process::id())
}
