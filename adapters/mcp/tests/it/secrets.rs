//! The address of an endpoint may hold a secret: no error, `Debug` or log line has it.

use std::{
    fmt::{Debug, Write as _},
    io::{Read, Write as _},
    net::TcpListener,
    sync::{Arc, Mutex},
    thread,
};

use futures::executor::block_on;
use journeyman::{
    Error, ErrorKind, Seed, agent::EnvironmentJudge, contract::Environment, domain::Task,
};
use journeyman_mcp::{
    ApprovedTools, HttpEndpoint, McpConfig, McpEnvironment, McpServer, list_tools,
};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

const SECRET: &str = "a1B2c3D4e5F6";
const TOKEN: &str = "a-token-of-the-host";

/// Everything that this process logs, at every level: under `cargo test` what its other tests log too.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Log {
    fn text(&self) -> String {
        self.0.lock().unwrap().clone()
    }
}

impl Visit for &Log {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = writeln!(self.0.lock().unwrap(), "{field}: {value:?}");
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut &*self);
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut &*self);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut &*self);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn config(url: &str) -> McpConfig {
    let endpoint = HttpEndpoint::new(url).with_token(TOKEN);
    McpConfig::new("far", McpServer::Http(endpoint))
}

/// A server that refuses every request with this status, and repeats its path, its query and its token as many servers do.
fn echo(status: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            let length = stream.read(&mut request).unwrap_or(0);
            let request = String::from_utf8_lossy(&request[..length]).into_owned();
            let path = request.split(' ').nth(1).unwrap_or_default();
            let body = format!("Cannot POST {path} for {TOKEN}, and {SECRET} is no key");
            let answer = format!(
                "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\
                 Retry-After: {SECRET}\r\nWWW-Authenticate: Bearer error=\"insufficient_scope\", scope=\"{SECRET}\", realm=\"{path}\"\r\n\r\n{body}",
                body.len()
            );
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    port
}

async fn errors(url: &str) -> Vec<Error> {
    let judge = Arc::new(EnvironmentJudge);
    let listed = list_tools(&config(url)).await.unwrap_err();
    let far = McpEnvironment::new(config(url), ApprovedTools::none(), judge).await;
    let far = far.unwrap();
    assert!(!format!("{far:?} {:?}", config(url)).contains(SECRET));
    let task = Task::new("t", "Count.");
    let begun = far.reset(&task, Seed(7)).await.unwrap_err();
    let blocked = far.check().await.unwrap_err();
    vec![listed, begun, blocked]
}

#[test]
fn an_address_with_a_secret_is_nowhere_but_in_the_request() {
    let log = Log::default();
    tracing::subscriber::set_global_default(log.clone()).unwrap();
    block_on(async {
        for (port, reason) in [
            (9, "error sending request"),
            (echo("404 Not Found"), "Cannot POST [address]"),
            (echo("401 Unauthorized"), "Auth required"),
            (echo("429 Too Many Requests"), "HTTP 429"),
            (echo("403 Forbidden"), "Insufficient scope"),
        ] {
            let url = format!("http://127.0.0.1:{port}/s/{SECRET}/mcp?k={SECRET}");
            for error in errors(&url).await {
                let text = format!("{error} {error:?} {error:#?}");
                assert!(text.contains(reason), "{text}");
                assert!(!text.contains(SECRET) && !text.contains(TOKEN), "{text}");
                let shown = format!("http://127.0.0.1:{port}");
                assert_eq!(error.fact("url"), Some(shown.as_str()), "{error}");
            }
        }
        let log = log.text();
        // What MCP's library logs of these failures.
        assert!(log.contains("worker quit with fatal"), "{log}");
        assert!(!log.contains(SECRET) && !log.contains(TOKEN), "{log}");
    });
}

#[test]
fn a_user_name_or_a_password_in_an_address_is_refused() {
    block_on(async {
        for address in [format!("ada:{SECRET}@"), format!("{SECRET}@")] {
            let config = config(&format!("http://{address}127.0.0.1:9/mcp"));
            let judge = Arc::new(EnvironmentJudge);
            let listed = list_tools(&config).await.unwrap_err();
            let made = McpEnvironment::new(config, ApprovedTools::none(), judge).await;
            for error in [listed, made.unwrap_err()] {
                assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
                let hint = error.hint_text().unwrap_or_default();
                assert!(hint.contains("HttpEndpoint::with_token"), "{error}");
                assert!(!format!("{error:?}").contains(SECRET), "{error:?}");
            }
        }
    });
}
