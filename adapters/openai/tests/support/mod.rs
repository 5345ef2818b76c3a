//! A raw HTTP server that plays what a test tells it to, and a toy model behind it.
#![allow(dead_code, reason = "each test binary uses its own part of this")]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use journeyman::{
    contract::TokenSink,
    domain::{Message, Prompt, Speaker},
};
use journeyman_openai::{Config, Retries, Route};
use serde_json::Value;

pub(crate) mod failing;
pub(crate) mod real;
pub(crate) mod toy;

/// A request as the server saw it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// What the server does on a connection, in order.
#[derive(Clone, Debug)]
pub(crate) enum Play {
    Send(Vec<u8>),
    /// Sends this many bytes of text in pieces, so that a test can measure the memory of the other side.
    Flood(usize),
    Wait(Duration),
    /// Closes the connection so that the other side sees a reset.
    Reset,
}

pub(crate) type Script = Vec<Play>;
type Handler = Box<dyn Fn(&Seen) -> Script + Send + Sync>;

/// Ends when it is dropped.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) seen: Arc<Mutex<Vec<Seen>>>,
    ended: Arc<AtomicBool>,
}

impl Server {
    pub(crate) fn start(handler: impl Fn(&Seen) -> Script + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let ended = Arc::new(AtomicBool::new(false));
        let handler: Arc<Handler> = Arc::new(Box::new(handler));
        let (seen_by, end) = (seen.clone(), ended.clone());
        thread::spawn(move || {
            for stream in listener.incoming() {
                if end.load(Ordering::SeqCst) {
                    break;
                }
                let (handler, seen) = (handler.clone(), seen_by.clone());
                let stream = stream.unwrap();
                thread::spawn(move || serve(stream, &handler, &seen));
            }
        });
        Self {
            address,
            seen,
            ended,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// How many requests came for this path.
    pub(crate) fn count(&self, path: &str) -> usize {
        let seen = self.seen.lock().unwrap();
        seen.iter().filter(|seen| seen.path == path).count()
    }

    pub(crate) fn last(&self, path: &str) -> Seen {
        let seen = self.seen.lock().unwrap();
        seen.iter().rfind(|seen| seen.path == path).unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
    }
}

/// One request a connection.
fn serve(mut stream: TcpStream, handler: &Handler, seen: &Mutex<Vec<Seen>>) {
    let Some(request) = read_request(&stream) else {
        return;
    };
    seen.lock().unwrap().push(request.clone());
    for play in handler(&request) {
        match play {
            Play::Send(bytes) => {
                if stream.write_all(&bytes).is_err() {
                    return;
                }
            }
            Play::Flood(bytes) => {
                let piece = [b'x'; 64 << 10];
                let mut left = bytes;
                while left > 0 {
                    let next = left.min(piece.len());
                    if stream.write_all(&piece[..next]).is_err() {
                        return;
                    }
                    left -= next;
                }
            }
            Play::Wait(time) => thread::sleep(time),
            Play::Reset => {
                rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
                return;
            }
        }
    }
}

fn read_request(stream: &TcpStream) -> Option<Seen> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        head.push_str(&line);
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse::<usize>().unwrap())
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    Some(Seen {
        path: head.split(' ').nth(1)?.to_owned(),
        head,
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
    })
}

/// A whole answer with a status and more headers.
pub(crate) fn answer(status: u16, headers: &str, body: &str) -> Script {
    let text = format!(
        "HTTP/1.1 {status} Some\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n{body}",
        body.len()
    );
    vec![Play::Send(text.into_bytes())]
}

pub(crate) fn json(body: &Value) -> Script {
    answer(200, "", &body.to_string())
}

/// The head of a stream of events, which ends with the connection.
pub(crate) fn events_head() -> Play {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    Play::Send(head.as_bytes().to_vec())
}

pub(crate) fn event(body: &Value) -> Play {
    Play::Send(format!("data: {body}\n\n").into_bytes())
}

pub(crate) fn done() -> Play {
    Play::Send(b"data: [DONE]\n\n".to_vec())
}

/// Keeps the pieces that it gets.
#[derive(Default)]
pub(crate) struct Pieces(pub(crate) Mutex<Vec<String>>);

impl TokenSink for Pieces {
    fn token(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }
}

pub(crate) fn prompt(text: &str) -> Prompt {
    Prompt::new(vec![Message::data(Speaker::User, text)])
}

/// A configuration with short waits.
pub(crate) fn config(url: &str, model: &str, route: Route) -> Config {
    let mut config = Config::new(url, model);
    config.route = route;
    config.retries = Retries::default().with_first_wait(Duration::from_millis(5));
    config
}
