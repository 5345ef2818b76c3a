//! `journeyman serve mcp`.

use std::{
    io::{BufRead, BufReader, Write},
    process::Stdio,
};

use serde_json::{Value, json};

use crate::support::Place;

#[test]
fn a_library_is_served_on_standard_streams_until_the_client_goes() {
    let place = Place::with_library();
    let mut child = place
        .command(&["serve", "mcp"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut to = child.stdin.take().unwrap();
    let mut from = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut ask = |id: u32, method: &str, params: Value| {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(to, "{request}").unwrap();
        let answer = from.next().unwrap().unwrap();
        serde_json::from_str::<Value>(&answer).unwrap()["result"].clone()
    };
    let client = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    assert!(ask(1, "initialize", client)["capabilities"]["tools"].is_object());
    let tools = ask(2, "tools/list", json!({}));
    let names: Vec<&Value> = tools["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    assert_eq!(names, ["search_skills", "report_outcome"]);
    drop(to);
    assert!(child.wait().unwrap().success());
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
