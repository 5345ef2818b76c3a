//! One HTTP request: its address, its deadlines, and the limit on its answer.

use std::{error::Error as _, future::Future, sync::Arc, time::Duration};

use journeyman::{
    Error, Result,
    text::{Redactor, plain_terminal},
};
use reqwest::{
    Client, Proxy, Response, StatusCode, Url,
    header::{AUTHORIZATION, CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER},
    redirect::Policy,
};
use serde_json::Value;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout_at},
};

use crate::{
    config::{CONNECT, Config, Deadlines},
    error::{DeadlineKind, OpenAiError},
    retry::{Deadline, retry_after},
    tls,
};

/// The greatest length in bytes of a refusal that is read.
const LONGEST_REFUSAL: usize = 64 * 1024;
/// The greatest length of a server's text in an error, in characters.
const LONGEST_SAID: usize = 500;

/// A place on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Below the base address.
    Api(&'static str),
    /// Beside the base address's `v1`.
    Root(&'static str),
}

/// Sends requests to one server.
#[derive(Debug)]
pub(crate) struct Http {
    client: Client,
    base: Url,
    root: Url,
    redactor: Redactor,
    deadlines: Deadlines,
    largest_response: usize,
    places: Arc<Semaphore>,
}

impl Http {
    pub(crate) fn new(config: &Config) -> Result<Self> {
        let base = config.check()?;
        let mut root = base.clone();
        let path = base.path().strip_suffix("v1/").unwrap_or(base.path());
        root.set_path(path);
        let mut headers = HeaderMap::new();
        if let Some(key) = &config.key
            && let Ok(mut value) = HeaderValue::from_str(&format!("Bearer {}", key.reveal()))
        {
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let is_encrypted = base.scheme() == "https";
        let mut client = Client::builder()
            .default_headers(headers)
            .redirect(Policy::none())
            .connect_timeout(config.deadlines.connect)
            .https_only(is_encrypted)
            .tls_backend_preconfigured(tls::config(is_encrypted)?)
            .no_proxy();
        if let Some(proxy) = &config.proxy {
            // The address is not repeated: it may hold a password.
            let proxy = Proxy::all(proxy).map_err(|_| {
                Error::invalid(CONNECT, "proxy is no address")
                    .with("field", "proxy")
                    .hint("give an address such as http://127.0.0.1:3128")
            })?;
            client = client.proxy(proxy);
        }
        let client = client.build().map_err(|error| {
            Error::invalid(CONNECT, "no HTTP client can be made of this configuration")
                .hint("check the proxy and the system's certificates")
                .source_from(error.without_url())
        })?;
        let secrets = config.key.iter().map(|key| key.reveal().to_owned());
        Ok(Self {
            client,
            base,
            root,
            redactor: Redactor::new(secrets)?,
            deadlines: config.deadlines,
            largest_response: config.largest_response.get(),
            places: Arc::new(Semaphore::new(
                config.concurrency.get().min(Semaphore::MAX_PERMITS),
            )),
        })
    }

    /// Sends one request at a time from here on.
    pub(crate) fn one_at_a_time(&self) {
        let free = self.places.available_permits();
        self.places.forget_permits(free.saturating_sub(1));
    }

    /// The address of a place, for errors too: it holds no secret.
    pub(crate) fn address(&self, place: Place) -> Url {
        let (from, path) = match place {
            Place::Api(path) => (&self.base, path),
            Place::Root(path) => (&self.root, path),
        };
        let mut url = from.clone();
        url.set_path(&format!("{}{path}", from.path()));
        url
    }

    /// Sends a request, POST where there is a body, and waits for the head of its answer.
    pub(crate) async fn send(
        &self,
        place: Place,
        body: Option<&Value>,
        deadline: Deadline,
    ) -> Result<Body, OpenAiError> {
        let waiting = self.places.clone().acquire_owned();
        let Ok(permit) = before(deadline, None, waiting).await? else {
            return Err(OpenAiError::Connect {
                said: "the connection is closed".to_owned(),
            });
        };
        let url = self.address(place);
        let request = match body {
            None => self.client.get(url),
            Some(body) => {
                let json = HeaderValue::from_static("application/json");
                self.client
                    .post(url)
                    .header(CONTENT_TYPE, json)
                    .body(body.to_string())
            }
        };
        let first_byte = Some((DeadlineKind::FirstByte, self.deadlines.first_byte));
        let response = before(deadline, first_byte, request.send())
            .await?
            .map_err(|error| self.failure(error))?;
        let status = response.status();
        let mut body = Body {
            idle: self.deadlines.idle,
            deadline,
            limit: self.largest_response,
            read: 0,
            response,
            redactor: self.redactor.clone(),
            _permit: permit,
        };
        if status.is_success() {
            return Ok(body);
        }
        body.limit = LONGEST_REFUSAL;
        Err(self.refusal(status, body).await)
    }

    /// Sends a request and reads its answer as JSON.
    pub(crate) async fn json(
        &self,
        place: Place,
        body: Option<&Value>,
        deadline: Deadline,
    ) -> Result<Value, OpenAiError> {
        let whole = self.send(place, body, deadline).await?.whole().await?;
        parsed(&whole)
    }

    async fn refusal(&self, status: StatusCode, mut body: Body) -> OpenAiError {
        let header = |name: HeaderName| {
            let value = body.response.headers().get(name)?;
            Some(value.to_str().ok()?.to_owned())
        };
        let date = header(DATE);
        let retry_after =
            header(RETRY_AFTER).and_then(|after| retry_after(&after, date.as_deref()));
        // A refusal that is cut short is one all the same.
        let mut said = Vec::new();
        while let Ok(Some(piece)) = body.piece().await {
            said.extend_from_slice(&piece);
        }
        let (code, said) = match serde_json::from_slice::<Value>(&said) {
            Ok(value) => explained(&value),
            Err(_) => (String::new(), String::from_utf8_lossy(&said).into_owned()),
        };
        OpenAiError::Status {
            status: status.as_u16(),
            code: self.safe(&code),
            said: self.safe(&said),
            retry_after,
        }
    }

    /// A server's text without secrets, on one line, cut to 500 characters.
    pub(crate) fn safe(&self, text: &str) -> String {
        safe(&self.redactor, text)
    }

    /// An error of an answer's content, with the server's text made safe.
    pub(crate) fn clean(&self, error: OpenAiError) -> OpenAiError {
        match error {
            OpenAiError::Status {
                status,
                code,
                said,
                retry_after,
            } => OpenAiError::Status {
                status,
                code: self.safe(&code),
                said: self.safe(&said),
                retry_after,
            },
            other => other,
        }
    }

    fn failure(&self, error: reqwest::Error) -> OpenAiError {
        failure(&self.redactor, error)
    }
}

/// The answer of a server as it comes in; its place among the concurrent requests is free when it is dropped.
#[derive(Debug)]
pub(crate) struct Body {
    response: Response,
    idle: Duration,
    deadline: Deadline,
    limit: usize,
    read: usize,
    redactor: Redactor,
    _permit: OwnedSemaphorePermit,
}

impl Body {
    /// Whether the answer is a stream of events.
    pub(crate) fn is_events(&self) -> bool {
        let kind = self.response.headers().get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let essence = kind.split(';').next().unwrap_or_default();
        essence.trim().eq_ignore_ascii_case("text/event-stream")
    }

    /// The next piece; `None` at the end.
    pub(crate) async fn piece(
        &mut self,
    ) -> Result<Option<impl std::ops::Deref<Target = [u8]> + use<>>, OpenAiError> {
        let idle = Some((DeadlineKind::Idle, self.idle));
        let piece = before(self.deadline, idle, self.response.chunk())
            .await?
            .map_err(|error| failure(&self.redactor, error))?;
        self.read += piece.as_ref().map_or(0, |piece| piece.len());
        if self.read > self.limit {
            return Err(OpenAiError::TooLong { limit: self.limit });
        }
        Ok(piece)
    }

    /// The rest.
    pub(crate) async fn whole(mut self) -> Result<Vec<u8>, OpenAiError> {
        let mut whole = Vec::new();
        while let Some(piece) = self.piece().await? {
            whole.extend_from_slice(&piece);
        }
        Ok(whole)
    }
}

/// An answer as JSON. The error does not repeat it.
pub(crate) fn parsed<T: serde::de::DeserializeOwned>(answer: &[u8]) -> Result<T, OpenAiError> {
    serde_json::from_slice(answer).map_err(|error| {
        let why = match error.classify() {
            serde_json::error::Category::Data => "it lacks what the endpoint documents",
            _ if is_page(answer) => "it is a web page, so something else answers at this address",
            _ => "it is not JSON",
        };
        OpenAiError::shape(format!(
            "{why} (line {}, column {})",
            error.line(),
            error.column()
        ))
    })
}

fn is_page(answer: &[u8]) -> bool {
    let begin: Vec<u8> = answer.trim_ascii_start().iter().take(14).copied().collect();
    let begin = begin.to_ascii_lowercase();
    begin.starts_with(b"<!doctype html") || begin.starts_with(b"<html")
}

/// Code and text of a refusal: `{"error": {"code", "message"}}`, or what servers send in its place.
pub(crate) fn explained(value: &Value) -> (String, String) {
    let error = value.get("error").unwrap_or(value);
    let text = |name: &str| error.get(name).and_then(Value::as_str);
    let code = text("code").or(text("type")).unwrap_or_default().to_owned();
    let said = text("message").or(text("detail")).or(error.as_str());
    let mut said = said.map_or_else(|| error.to_string(), str::to_owned);
    for count in ["n_prompt_tokens", "n_ctx"] {
        if let Some(number) = error.get(count).and_then(Value::as_u64) {
            said.push_str(&format!("; {count}: {number}"));
        }
    }
    (code, said)
}

pub(crate) fn safe(redactor: &Redactor, text: &str) -> String {
    let text = redactor.redact(text);
    let text = plain_terminal(&text);
    let line = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    line.take(LONGEST_SAID).collect()
}

fn failure(redactor: &Redactor, error: reqwest::Error) -> OpenAiError {
    let (is_connect, is_builder) = (error.is_connect(), error.is_builder());
    let error = error.without_url();
    let mut said = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        said.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    let said = safe(redactor, &said);
    match is_connect || is_builder {
        true => OpenAiError::Connect { said },
        false => OpenAiError::Broken { said },
    }
}

/// Waits until the deadline, or for a step's own limit where that is shorter.
async fn before<T>(
    deadline: Deadline,
    step: Option<(DeadlineKind, Duration)>,
    future: impl Future<Output = T>,
) -> Result<T, OpenAiError> {
    let total = (deadline.at, DeadlineKind::Total, deadline.limit);
    let step = step.map(|(kind, limit)| (Instant::now() + limit, kind, limit));
    let (at, kind, limit) = match step {
        Some(step) if step.0 < total.0 => step,
        _ => total,
    };
    timeout_at(at, future)
        .await
        .map_err(|_| OpenAiError::Deadline { kind, limit })
}
