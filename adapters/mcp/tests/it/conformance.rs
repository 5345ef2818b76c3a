//! The rules of `Environment`, through an MCP server in a child process, and those of `Judge`.

use futures::executor::block_on;
use journeyman::{
    Error, Seed,
    domain::{Action, EndReason, Source, Step, StepResult, Task, Trajectory},
    testing::conformance::{self, environment::EnvironmentFixture, judge::JudgeFixture},
};
use journeyman_mcp::{ExpectationJudge, Expected};
use serde_json::json;

use crate::support::{desk, environment};

#[test]
fn environment_of_a_child() {
    block_on(async {
        let desk = environment(desk("")).await;
        let add = |n: i64| Action::call("add", json!({ "n": n }));
        let done = Action::Message("done".to_owned());
        let fixture = EnvironmentFixture::new(
            Task::new("a", "Count to three."),
            Seed(7),
            vec![
                add(1),
                add(2),
                Action::call("show", json!({})),
                done.clone(),
            ],
        )
        .with_other((
            Task::new("b", "Count to ten."),
            Seed(8),
            vec![add(10), done],
        ))
        .with_refused(Action::call("add", json!({})))
        .with_unknown(Task::new("c", " "));
        let report = conformance::environment::check(&desk, &fixture).await;
        let report = report.into_result().unwrap();
        assert_eq!(report.skipped().count(), 0, "{report}");
    });
}

#[test]
fn judge_of_expectations() {
    let task = Task::new("lima", "What time is it in Lima?");
    let due = Expected::new(vec!["07:00".to_owned()], Vec::new());
    let judge = ExpectationJudge::new([(task.id.clone(), due)]);
    let attempt = |says: &str| {
        let mut attempt = Trajectory::new("a".into(), task.id.clone(), Seed(1));
        let result = StepResult::new("", Source::default());
        attempt.push(Step::new(Action::Message(says.to_owned()), result));
        attempt
    };
    let mut failed = attempt("I am about to look");
    failed.end = EndReason::Failed(Error::invalid("test", "a part failed"));
    let fixture = JudgeFixture::new(
        task.clone(),
        vec![attempt("It is 07:00."), attempt("It is late.")],
    )
    .with_undecidable(vec![failed]);
    let report = block_on(conformance::judge::check(&judge, &fixture));
    let report = report.into_result().unwrap();
    assert_eq!(report.skipped().count(), 0, "{report}");
}
