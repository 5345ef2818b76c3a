//! Answers in the form of each kind of server. `server_kinds.jsonl` was written by hand after the servers' documentation and public fault
//! reports: none of these servers was run.

use std::collections::BTreeSet;

use futures::executor::block_on;
use journeyman::{
    contract::{GenerateRequest, LanguageModel, ToolChoice},
    domain::ToolDefinition,
    text::without_thinking,
};
use serde_json::{Value, json};

use crate::support::{
    done, event, events_head, json as whole, prompt,
    toy::{Like, playing},
};

const CASES: &str = include_str!("server_kinds.jsonl");

#[test]
fn the_answers_of_each_kind_of_server_are_read() {
    let mut kinds = BTreeSet::new();
    for line in CASES.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let name = format!("{}, {}", case["server"], case["what"]);
        let script = match case["chunks"].as_array() {
            None => whole(&case["whole"]),
            Some(chunks) => {
                let mut script = vec![events_head()];
                script.extend(chunks.iter().map(event));
                script.push(done());
                script
            }
        };
        let (_server, model) = playing(Like::OpenAi, script);
        let mut request = GenerateRequest::greedy(prompt("set level 8"), 64);
        let schema = json!({
            "type": "object",
            "properties": {"level": {"type": "integer"}},
            "required": ["level"],
        });
        request.tools = vec![ToolDefinition::new("set_level", "Sets the dial.", schema)];
        request.tool_choice = ToolChoice::Auto;
        let made = block_on(model.generate(&request)).unwrap();
        let calls: Vec<Value> = (made.calls.iter())
            .map(|made| {
                assert_eq!(made.call.tool, "set_level", "{name}");
                made.call.arguments.clone().into()
            })
            .collect();
        assert_eq!(Value::from(calls), case["calls"], "{name}");
        assert_eq!(without_thinking(&made.text), case["text"], "{name}");
        assert_eq!(format!("{:?}", made.finish), case["finish"], "{name}");
        kinds.insert(case["server"].to_string());
    }
    println!("{} kinds of servers", kinds.len());
    assert_eq!(kinds.len(), 18);
}
