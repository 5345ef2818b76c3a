//! A skill library, served over MCP.

mod catalog;
mod followed;
mod handler;
mod http;
mod reports;
mod tools;

use std::{num::NonZeroU32, sync::Arc};

use futures::future::{Either, select};
use journeyman::{Error, ErrorKind, Result, contract::SkillFiles, run::Journeyman};
use rmcp::{ServiceExt, transport::async_rw::AsyncRwTransport};
use tokio::io::{AsyncRead, AsyncWrite};

pub use http::{HttpOptions, ServedLibrary};

use self::{handler::Handler, reports::Reports};
use crate::runtime::Runtime;

const SERVE: &str = "LibraryServer::serve";
const REPORTS_PER_SKILL: NonZeroU32 = NonZeroU32::new(100).expect("not 0");

/// Serves the library of a [`Journeyman`] session over MCP.
///
/// - The Skills extension (SEP-2640): `skills/list` and `skills/get` give the manifests of the skills in use, and
///   `resources/read` their files by `skill://` URIs. The bytes of a SKILL.md and its SHA-256 are those of the skill's
///   folder.
/// - The tool `search_skills` begins an attempt at a task: the session's recipe selects skills for it as for any task.
/// - The tool `report_outcome` ends that attempt: the outcome is credited to the skills that the agent was given. An
///   attempt is counted once, and at most [`reports_per_skill`](Self::with_reports_per_skill) for one version of a skill
///   (S20). Where the store or the journal fails for a moment, the client is told to report again; the server keeps the
///   outcome in memory until then. Where the store or the journal refuses the outcome for good, the client gets that error.
///
/// Several processes may serve one store. Each needs a session of a name of its own
/// ([`Options::session`](journeyman::run::Options::session)), which includes processes that one client each starts.
///
/// What a client writes is a query and an outcome. No text of it comes into a skill.
///
/// ```
/// use std::sync::Arc;
/// use journeyman::{Seed, contract::Components, recipe, run::{Journeyman, Options}};
/// use journeyman_mcp::{LibraryServer, library::HttpOptions};
///
/// # futures::executor::block_on(async {
/// let options = Options::new("desk", Seed(7));
/// let journeyman = Journeyman::open(Components::own_loop(), recipe::standard(), options).await?;
/// let server = LibraryServer::new(Arc::new(journeyman));
/// let served = server.serve_http(HttpOptions::new("a token of the host's, at least 16 bytes")).await?;
/// assert!(served.address().ip().is_loopback());
/// println!("{}", served.url());
/// served.close().await;
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct LibraryServer {
    journeyman: Arc<Journeyman>,
    files: Option<Arc<dyn SkillFiles>>,
    reports_per_skill: NonZeroU32,
}

impl LibraryServer {
    /// A server of a session's library.
    pub fn new(journeyman: Arc<Journeyman>) -> Self {
        Self {
            journeyman,
            files: None,
            reports_per_skill: REPORTS_PER_SKILL,
        }
    }

    /// With the store of the skills' files. Without it a skill that has files beside SKILL.md is not served.
    #[must_use]
    pub fn with_files(mut self, files: Arc<dyn SkillFiles>) -> Self {
        self.files = Some(files);
        self
    }

    /// With another maximum number of outcomes that are credited to one version of a skill while this server runs (100).
    /// All clients together are one source.
    #[must_use]
    pub fn with_reports_per_skill(mut self, most: NonZeroU32) -> Self {
        self.reports_per_skill = most;
        self
    }

    /// Serves one client on this process's standard streams, until the client ends its session. Nothing else may write to
    /// standard output meanwhile.
    ///
    /// # Errors
    /// `Unavailable` where no session comes about.
    pub async fn serve_stdio(self) -> Result<()> {
        self.serve_stdio_until(std::future::pending()).await
    }

    /// As [`serve_stdio`](Self::serve_stdio), but at most until `stop` completes. A request that is under way then ends without
    /// an answer; an outcome in it waits for the session's next [`settle`](journeyman::run::Journeyman::settle).
    ///
    /// # Errors
    /// As [`serve_stdio`](Self::serve_stdio).
    pub async fn serve_stdio_until(self, stop: impl Future<Output = ()>) -> Result<()> {
        let runtime = Runtime::start(SERVE).await?;
        let handler = self.handler();
        let work = async move {
            let (input, output) = rmcp::transport::io::stdio();
            serve(handler, input, output).await
        };
        let served = {
            let work = std::pin::pin!(runtime.run(SERVE, work));
            match select(work, std::pin::pin!(stop)).await {
                Either::Left((served, _)) => served,
                Either::Right(_) => Ok(()),
            }
        };
        runtime.end().await;
        served
    }

    /// Serves one client on a pair of streams, until the client ends its session.
    ///
    /// # Errors
    /// As [`serve_stdio`](Self::serve_stdio).
    pub async fn serve_on(
        self,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<()> {
        let runtime = Runtime::start(SERVE).await?;
        runtime
            .run(SERVE, serve(self.handler(), input, output))
            .await
    }

    /// Serves clients over streamable HTTP on a loopback address, until the returned value is closed or dropped. A request
    /// needs the bearer token, and a `Host` header that names loopback; a request with an `Origin` header, which browsers
    /// send, is refused (S16).
    ///
    /// # Errors
    /// `Invalid` for an address that is not loopback and for a token of less than 16 bytes; `Unavailable` where the address
    /// cannot be listened on.
    pub async fn serve_http(self, options: HttpOptions) -> Result<ServedLibrary> {
        ServedLibrary::start(self.handler(), options).await
    }

    fn handler(self) -> Handler {
        Handler {
            reports: Arc::new(Reports::new(self.reports_per_skill)),
            journeyman: self.journeyman,
            files: self.files,
        }
    }
}

async fn serve(
    handler: Handler,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<()> {
    let failed = |reason: String| {
        Error::new(ErrorKind::Unavailable, SERVE, reason)
            .hint("the client has to begin with `initialize` or `server/discover`, in JSON lines")
    };
    let transport = AsyncRwTransport::new_server(input, output);
    let service = handler.serve(transport).await;
    let service = service.map_err(|error| failed(error.to_string()))?;
    let ended = service.waiting().await;
    ended.map(drop).map_err(|error| failed(error.to_string()))
}
