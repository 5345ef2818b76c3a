//! A model in a process of its own, and everything that can happen to that process.
#![cfg(target_os = "linux")]

mod adapters;
mod answers;
mod deaths;
mod embedder;
mod starting;

use std::{
    fs,
    sync::{
        Mutex,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::Duration,
};

use journeyman::contract::{GenerateRequest, TokenSink};
use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Tiny, prompt};

/// One that can write for longer than any test takes.
pub(crate) fn tireless() -> Tiny {
    Tiny {
        context: 1 << 17,
        ..Tiny::default()
    }
}

pub(crate) fn endless() -> GenerateRequest {
    let mut request = greedy(100_000);
    request.time_limit = Duration::from_secs(600);
    request
}

/// Answered within 10 seconds, or not at all.
pub(crate) fn greedy(max_tokens: usize) -> GenerateRequest {
    let mut request = GenerateRequest::greedy(prompt("turn on the lamp"), max_tokens);
    request.time_limit = Duration::from_secs(10);
    request
}

/// Tells of each token.
pub(crate) struct Told(Mutex<Sender<String>>);

impl Told {
    pub(crate) fn new() -> (Self, Receiver<String>) {
        let (tell, told) = channel();
        (Self(Mutex::new(tell)), told)
    }
}

impl TokenSink for Told {
    fn token(&self, text: &str) {
        let _ = self.0.lock().unwrap().send(text.to_owned());
    }
}

pub(crate) fn send(process: u32, signal: Signal) {
    kill_process(Pid::from_raw(process as i32).unwrap(), signal).unwrap();
}

/// Gone, or dead with nobody to reap it.
pub(crate) fn is_gone(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"));
    stat.map_or(true, |stat| {
        stat.rsplit(')').next().unwrap().starts_with(" Z")
    })
}

/// Waits for what must come; ten seconds at most.
#[track_caller]
pub(crate) fn wait_until(what: impl Fn() -> bool) {
    for _ in 0..1000 {
        if what() {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("not within ten seconds");
}
