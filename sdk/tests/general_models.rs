//! General instruct models: the chat dialect keeps the rules of its contract, and an agent that is spoken to in it does a
//! task. Their roles: `roles/`.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::{sync::Arc, time::Duration};

use futures::executor::block_on;
use journeyman::{
    AttemptId, Seed,
    builtin::{ChatDialect, ModelExecutor, ModelExecutorOptions},
    conformance::{self, Report},
    contract::{Attempt, Environment, Executor, FixedGuidance},
    domain::{EndReason, SkillDraft},
    format::seed_skills,
    testing::{ScriptedEnvironment, ScriptedModel, sample},
};

fn check(report: Report) {
    let report = report.into_result().unwrap();
    assert_eq!(report.skipped().count(), 0, "{report:?}");
}

#[test]
fn the_chat_dialect_keeps_the_rules() {
    let mut document = sample::skill("equation-setup");
    let draft = SkillDraft::from(&seed_skills()[0]);
    document.body = draft.body;
    document.metadata = draft.metadata;
    let fixture = conformance::dialect::DialectFixture {
        task: sample::task("t", &["one"]),
        observation: sample::observation("say one"),
        skills: vec![sample::skill("saying"), document],
        replies: vec![
            r#"{"message": "one"}"#.to_owned(),
            r#"{"tool": "say", "arguments": {"word": "one"}}"#.to_owned(),
            r#"<think>Now what?</think>{"done": true}"#.to_owned(),
            r#"{"tool": 1}"#.to_owned(),
        ],
    };
    let dialect = ChatDialect::default();
    check(block_on(conformance::dialect::check(&dialect, &fixture)));
}

#[test]
fn an_agent_acts_in_the_chat_dialect() {
    let answers = [
        "I will say it.",
        r#"{"message": "one"}"#,
        r#"```json
{"message": "two"}
```"#,
    ];
    let model = ScriptedModel::answers(answers);
    let agent = ModelExecutor::new(
        Arc::new(model),
        Arc::new(ChatDialect::default()),
        ModelExecutorOptions::default(),
    );
    let task = sample::task("t", &["one", "two"]);
    let injection = sample::injection(&[sample::skill("saying")]);
    let guidance = FixedGuidance::new(injection.clone());
    let trajectory = block_on(async {
        let environment = ScriptedEnvironment::words();
        let mut episode = environment.reset(&task, Seed(1)).await.unwrap();
        let attempt = Attempt {
            id: AttemptId::new("a"),
            task: &task,
            seed: Seed(7),
            temperature: 0.0,
            injection: &injection,
            guidance: &guidance,
            time_limit: Duration::from_secs(60),
            prefix: &[],
        };
        agent.unwrap().execute(attempt, episode.as_mut()).await
    })
    .unwrap();
    assert_eq!(trajectory.end, EndReason::Finished);
    assert!(trajectory.outcome.unwrap().success);
    assert_eq!(trajectory.steps.len(), 2);
    assert_eq!(trajectory.steps[0].transcript, answers[1]);
    assert!(trajectory.exposures[0].used);
}
