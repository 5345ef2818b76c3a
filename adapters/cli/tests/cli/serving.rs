//! `journeyman serve mcp`.

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Lines, Read, Write},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Stdio},
    thread,
    time::Duration,
};

use futures::executor::block_on;
use journeyman::{contract::SkillStore, domain::SkillName};
use journeyman_disk::{DiskOptions, DiskStore};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::Place;

/// A server with its client.
struct Client {
    child: Child,
    to: ChildStdin,
    from: Lines<BufReader<ChildStdout>>,
    errors: ChildStderr,
    asked: u32,
}

impl Client {
    fn start(place: &Place) -> Self {
        let mut child = place
            .command(&["serve", "mcp"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut client = Self {
            errors: child.stderr.take().unwrap(),
            to: child.stdin.take().unwrap(),
            from: BufReader::new(child.stdout.take().unwrap()).lines(),
            asked: 0,
            child,
        };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        assert!(client.ask("initialize", hello)["capabilities"]["tools"].is_object());
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        writeln!(client.to, "{ready}").unwrap();
        client
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let request =
            json!({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params});
        writeln!(self.to, "{request}").unwrap();
        let answer = self.from.next().unwrap().unwrap();
        serde_json::from_str::<Value>(&answer).unwrap()["result"].clone()
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        assert!(result["structuredContent"].is_object(), "{result}");
        result["structuredContent"].clone()
    }

    /// Searches, and reports that it went well.
    fn attempt(&mut self) {
        let found = self.call("search_skills", json!({"task": "brew"}));
        assert_eq!(found["skills"][0]["name"], "brew", "{found}");
        let outcome = json!({"attempt": found["attempt"], "success": true});
        let reported = self.call("report_outcome", outcome);
        assert_eq!(reported["counted"], true, "{reported}");
    }

    /// Ends the server as a program's supervisor does.
    fn end_by_signal(mut self) {
        signal(&self.child, Signal::TERM);
        assert!(self.child.wait().unwrap().success());
    }

    fn end(mut self) {
        drop(self.to);
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn a_library_is_served_on_standard_streams_until_the_client_goes() {
    let mut client = Client::start(&Place::with_library());
    let tools = client.ask("tools/list", json!({}));
    let names: Vec<&Value> = tools["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    assert_eq!(names, ["search_skills", "report_outcome"]);
    client.end();
}

#[test]
fn servers_of_one_library_keep_the_outcomes_of_all_their_clients() {
    const EACH: u64 = 4;
    let place = Place::with_library();
    let uses = || {
        let library = place.library();
        let brew = library.by_name(&SkillName::new("brew").unwrap());
        brew.unwrap().uses
    };
    let before = uses();
    // Both are there before either begins an attempt.
    let clients = [Client::start(&place), Client::start(&place)];
    let clients = clients.map(|mut client| {
        thread::spawn(move || {
            (0..EACH).for_each(|_| client.attempt());
            client.end();
        })
    });
    clients
        .into_iter()
        .for_each(|client| client.join().unwrap());
    assert_eq!(uses(), before + 2 * EACH);

    let mut options = DiskOptions::default();
    options.create = false;
    let store = DiskStore::open(place.root(), &options).unwrap();
    let committed = block_on(store.load()).unwrap().committed;
    let runs = committed.iter().filter_map(|one| one.cause.run.as_ref());
    let sessions: BTreeSet<&str> = runs
        .filter_map(|run| run.as_str().split_once('/'))
        .map(|(session, _)| session)
        .collect();
    assert_eq!(sessions.len(), 2, "{sessions:?}");
    assert!(sessions.iter().all(|session| session.starts_with("mcp-")));
}

fn signal(child: &Child, signal: Signal) {
    let id = Pid::from_raw(child.id().try_into().unwrap()).unwrap();
    kill_process(id, signal).unwrap();
}

#[test]
fn an_outcome_that_waits_is_written_before_a_signal_ends_the_server() {
    let place = Place::with_library();
    let uses = || {
        place
            .library()
            .by_name(&SkillName::new("brew").unwrap())
            .unwrap()
            .uses
    };
    let before = uses();
    let mut client = Client::start(&place);
    let found = client.call("search_skills", json!({"task": "brew"}));
    // Another program holds the database longer than the library waits for it.
    let other = rusqlite::Connection::open(place.root().join("library.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let outcome = json!({"attempt": found["attempt"], "success": true});
    let refused = client.ask(
        "tools/call",
        json!({"name": "report_outcome", "arguments": outcome}),
    );
    let said = refused["content"][0]["text"].as_str().unwrap();
    assert!(said.contains("report this attempt again"), "{said}");
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(uses(), before);
    client.end_by_signal();
    assert_eq!(uses(), before + 1);
}

#[test]
fn an_outcome_that_cannot_be_written_before_the_end_is_told_by_the_exit_code() {
    let place = Place::with_library();
    let mut client = Client::start(&place);
    let found = client.call("search_skills", json!({"task": "brew"}));
    let other = rusqlite::Connection::open(place.root().join("library.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let outcome = json!({"attempt": found["attempt"], "success": true});
    client.ask(
        "tools/call",
        json!({"name": "report_outcome", "arguments": outcome}),
    );
    signal(&client.child, Signal::TERM);
    // A terminal that is closed and a supervisor may both send a signal: the second one does not cut the writing short.
    signal(&client.child, Signal::HUP);
    assert_eq!(client.child.wait().unwrap().code(), Some(5));
    let mut said = String::new();
    client.errors.read_to_string(&mut said).unwrap();
    assert!(said.contains("not written: outcomes that "), "{said}");
}

#[test]
fn an_outcome_that_is_being_written_outlives_a_signal() {
    let place = Place::with_library();
    let uses = || {
        place
            .library()
            .by_name(&SkillName::new("brew").unwrap())
            .unwrap()
            .uses
    };
    let before = uses();
    let mut client = Client::start(&place);
    let found = client.call("search_skills", json!({"task": "brew"}));
    let other = rusqlite::Connection::open(place.root().join("library.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let outcome = json!({"attempt": found["attempt"], "success": true});
    let params = json!({"name": "report_outcome", "arguments": outcome});
    let request = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params});
    writeln!(client.to, "{request}").unwrap();
    // Long enough for the server to begin with it, and too short for it to give up.
    thread::sleep(Duration::from_secs(2));
    signal(&client.child, Signal::TERM);
    signal(&client.child, Signal::TERM);
    thread::sleep(Duration::from_secs(1));
    other.execute_batch("ROLLBACK").unwrap();
    assert!(client.child.wait().unwrap().success());
    assert_eq!(uses(), before + 1);
}

#[test]
fn each_signal_that_asks_for_the_end_ends_a_server_over_http() {
    let place = Place::with_library();
    for asks in [Signal::TERM, Signal::INT, Signal::HUP] {
        let mut child = place
            .command(&["serve", "mcp", "--http", "0"])
            .env("JOURNEYMAN_MCP_TOKEN", "0123456789abcdef")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        let serves = said.next().unwrap().unwrap();
        assert!(serves.contains("http://127.0.0.1:"), "{serves}");
        signal(&child, asks);
        assert!(child.wait().unwrap().success(), "{asks:?}");
    }
}

#[test]
fn what_cannot_be_served_is_refused_before_anything_listens() {
    let place = Place::empty();
    place.run(&["serve", "mcp"]).failed(3, "library");
    let place = Place::with_library();
    place
        .run(&["serve", "mcp", "--http", "0"])
        .failed(1, "JOURNEYMAN_MCP_TOKEN");
}
