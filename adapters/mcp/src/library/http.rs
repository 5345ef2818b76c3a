//! The library over streamable HTTP, on loopback (S16).

use std::{
    convert::Infallible,
    fmt,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, combinators::BoxBody};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use journeyman::{Error, ErrorKind, Result};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use sha2::{Digest, Sha256};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, oneshot},
    task::JoinSet,
};
use tower_service::Service;

use super::handler::Handler;
use crate::runtime::Runtime;

const SERVE: &str = "LibraryServer::serve_http";
/// The least length of a token in bytes.
const LEAST_TOKEN: usize = 16;
/// Maximum number of connections at once.
const CONNECTIONS: usize = 64;
/// Time limit of a request's headers.
const HEADERS_LIMIT: Duration = Duration::from_secs(10);
/// The greatest length of a request's body in bytes.
const BODY_CAP: usize = 1024 * 1024;

/// Where a library is served over HTTP, and to whom.
#[derive(Clone)]
pub struct HttpOptions {
    address: SocketAddr,
    token: String,
}

/// Omits the token.
impl fmt::Debug for HttpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpOptions")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl HttpOptions {
    /// A free port of 127.0.0.1, for clients that send this bearer token. It has at least 16 bytes; draw it at random.
    pub fn new(token: impl Into<String>) -> Self {
        Self {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            token: token.into(),
        }
    }

    /// At another loopback address.
    #[must_use]
    pub fn at(mut self, address: SocketAddr) -> Self {
        self.address = address;
        self
    }

    fn check(&self) -> Result<()> {
        if !self.address.ip().is_loopback() {
            return Err(Error::invalid(SERVE, "a library is served on loopback alone")
                .with("address", self.address)
                .hint("use 127.0.0.1 or [::1]; for other machines put a server of your own with encryption before it"));
        }
        if self.token.len() < LEAST_TOKEN {
            return Err(Error::invalid(SERVE, "the token has less than 16 bytes")
                .hint("draw a token at random, such as 32 hexadecimal digits"));
        }
        Ok(())
    }
}

/// A library that is served over HTTP. Dropping it ends the server.
#[derive(Debug)]
pub struct ServedLibrary {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    stopped: oneshot::Receiver<()>,
    runtime: Runtime,
}

impl ServedLibrary {
    pub(crate) async fn start(handler: Handler, options: HttpOptions) -> Result<Self> {
        options.check()?;
        let runtime = Runtime::start(SERVE).await?;
        let wanted = options.address;
        let listen = async move {
            let listener = TcpListener::bind(wanted).await.map_err(|error| {
                Error::new(
                    ErrorKind::Unavailable,
                    SERVE,
                    "the address cannot be listened on",
                )
                .with("address", wanted)
                .hint("take port 0 for a free one, or end the program that has it")
                .source_from(error)
            })?;
            let address = listener.local_addr().map_err(|error| {
                Error::new(ErrorKind::Unavailable, SERVE, "the listener has no address")
                    .source_from(error)
            })?;
            Ok((listener, address))
        };
        let (listener, address) = runtime.run(SERVE, listen).await?;
        let (stop, end) = oneshot::channel();
        let (done, stopped) = oneshot::channel();
        let service = Guarded::new(handler, &options.token);
        runtime.handle().spawn(async move {
            // Ends when the sender is dropped, too.
            tokio::select! {
                () = accept(listener, service) => {}
                _ = end => {}
            }
            let _ = done.send(());
        });
        Ok(Self {
            address,
            stop,
            stopped,
            runtime,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL for clients.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Ends the server and its connections. Requests that are under way end without an answer; an outcome among them waits for
    /// the session's next [`settle`](journeyman::run::Journeyman::settle).
    pub async fn close(self) {
        let _ = self.stop.send(());
        let _ = self.stopped.await;
        self.runtime.end().await;
    }
}

async fn accept(listener: TcpListener, service: Guarded) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    // Dropped with this future: so are the connections.
    let mut connections = JoinSet::new();
    loop {
        let Ok(place) = room.clone().acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((stream, _)) => {
                let service = service.clone();
                connections.spawn(async move {
                    serve(stream, service).await;
                    drop(place);
                });
            }
            // Too many open files, for one: it passes.
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(stream: TcpStream, service: Guarded) {
    let answer = service_fn(move |request| {
        let service = service.clone();
        async move { Ok::<_, Infallible>(service.answer(request).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS_LIMIT)
        .serve_connection(TokioIo::new(stream), answer)
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, "a connection ended with an error");
    }
}

type Answer = Response<BoxBody<Bytes, Infallible>>;

/// The service behind its token.
#[derive(Clone)]
struct Guarded {
    service: StreamableHttpService<Handler, LocalSessionManager>,
    /// The SHA-256 of the token: comparing hashes says nothing about the token by its time.
    token: [u8; 32],
}

impl Guarded {
    fn new(handler: Handler, token: &str) -> Self {
        // `allowed_hosts` names loopback by default. No page of a browser may call: an empty list of origins alone would
        // allow all.
        let config = StreamableHttpServerConfig::default()
            .enforce_origin_validation()
            .with_max_request_body_bytes(BODY_CAP);
        let make = move || Ok(handler.clone());
        Self {
            service: StreamableHttpService::new(make, Arc::default(), config),
            token: Sha256::digest(token).into(),
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Answer {
        if !self.is_allowed(&request) {
            return plain(StatusCode::UNAUTHORIZED, "a bearer token is needed");
        }
        if request.uri().path() != "/mcp" {
            return plain(StatusCode::NOT_FOUND, "the library is at /mcp");
        }
        let mut service = self.service.clone();
        match service.call(request).await {
            Ok(answer) => answer,
        }
    }

    fn is_allowed(&self, request: &Request<Incoming>) -> bool {
        let given = request.headers().get(header::AUTHORIZATION);
        let given = given.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        given.is_some_and(|given| <[u8; 32]>::from(Sha256::digest(given)) == self.token)
    }
}

fn plain(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *answer.status_mut() = status;
    if status == StatusCode::UNAUTHORIZED {
        let challenge = header::HeaderValue::from_static("Bearer");
        answer
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, challenge);
    }
    answer
}
