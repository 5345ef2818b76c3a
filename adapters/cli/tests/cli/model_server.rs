//! A model server whose answers a test gives.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    thread,
};

use serde_json::{Value, json};

/// A server of the model `played`.
pub(crate) struct ModelServer {
    pub(crate) url: String,
}

impl ModelServer {
    /// Answers each chat with what `said` gives for its messages. At the first `None` it ends.
    pub(crate) fn start(mut said: impl FnMut(&Value) -> Option<String> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        thread::spawn(move || {
            for stream in listener.incoming() {
                if !serve(stream.unwrap(), &mut said) {
                    // Nobody listens any more.
                    return;
                }
            }
        });
        Self { url }
    }
}

/// Answers one request; false where the server ends.
fn serve(mut stream: TcpStream, said: &mut impl FnMut(&Value) -> Option<String>) -> bool {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).unwrap_or(0) == 0 {
            return true;
        }
    }
    let lower = head.to_ascii_lowercase();
    let length = lower.split("content-length: ").nth(1);
    let length = length.map_or(0, |rest| rest.lines().next().unwrap().parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let (status, kind, text) = match head.split(' ').nth(1).unwrap() {
        "/v1/models" => {
            let models = json!({"data": [{"id": "played", "owned_by": "test"}]});
            ("200 OK", "application/json", models.to_string())
        }
        "/v1/chat/completions" => {
            let Some(said) = said(&body["messages"]) else {
                return false;
            };
            let choice = json!({"index": 0, "delta": {"content": said}, "finish_reason": "stop"});
            let text = format!("data: {}\n\ndata: [DONE]\n\n", json!({"choices": [choice]}));
            ("200 OK", "text/event-stream", text)
        }
        _ => ("404 Not Found", "application/json", "{}".to_owned()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        text.len()
    );
    let _ = stream.write_all(format!("{head}{text}").as_bytes());
    true
}
