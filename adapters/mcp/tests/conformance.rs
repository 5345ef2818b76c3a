//! The rules of `Environment`, through an MCP server in a child process.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use futures::executor::block_on;
use journeyman::{
    Seed,
    conformance::{self, environment::EnvironmentFixture},
    domain::{Action, Task},
};
use serde_json::json;
use support::{desk, environment};

#[test]
fn environment_of_a_child() {
    block_on(async {
        let desk = environment(desk("")).await;
        let add = |n: i64| Action::call("add", json!({ "n": n }));
        let done = Action::Message("done".to_owned());
        let fixture = EnvironmentFixture {
            task: Task::new("a", "Count to three."),
            seed: Seed(7),
            actions: vec![
                add(1),
                add(2),
                Action::call("show", json!({})),
                done.clone(),
            ],
            other: Some((
                Task::new("b", "Count to ten."),
                Seed(8),
                vec![add(10), done],
            )),
            refused: Some(Action::call("add", json!({}))),
            unknown: Some(Task::new("c", " ")),
        };
        let report = conformance::environment::check(&desk, &fixture).await;
        let report = report.into_result().unwrap();
        assert_eq!(report.skipped().count(), 0, "{report}");
    });
}
