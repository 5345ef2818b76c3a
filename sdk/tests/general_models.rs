//! General instruct models: the chat format keeps the rules of its contract, and an agent that is spoken to in it does a
//! task. Their roles: `roles/`.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use journeyman::{
    Error, Seed,
    agent::{ChatFormat, ModelExecutor, ModelExecutorOptions},
    contract::{Attempt, Environment, Executor, FixedGuidance},
    domain::{
        Action, EndReason, Outcome, SkillDraft, SkillUse, ToolDefinition, Trajectory, Transition,
    },
    library::format::seed_skills,
    testing::{
        Play, ScriptedEnvironment, ScriptedModel,
        conformance::{self, Report, prompt_format::UseSample},
        sample,
    },
};
use serde_json::json;

fn check(report: Report) {
    let report = report.into_result().unwrap();
    assert_eq!(report.skipped().count(), 0, "{report:?}");
}

#[test]
fn the_chat_format_keeps_the_rules() {
    let mut document = sample::skill("equation-setup");
    let draft = SkillDraft::from(&seed_skills()[0]);
    document.body = draft.body;
    document.metadata = draft.metadata;
    let fixture = conformance::prompt_format::PromptFormatFixture::new(
        sample::task("t", &["one"]),
        sample::observation("say one"),
    )
    .with_skills(vec![sample::skill("saying"), document])
    .with_replies(vec![
        r#"{"message": "one"}"#.to_owned(),
        r#"{"tool": "say", "arguments": {"word": "one"}}"#.to_owned(),
        r#"<think>Now what?</think>{"done": true}"#.to_owned(),
        r#"{"tool": 1}"#.to_owned(),
    ])
    .with_uses(
        [
            (
                vec![r#"{"message": "one"}"#],
                [SkillUse::Unknown, SkillUse::Unknown],
            ),
            (
                vec!["Skill: equation_setup\n{\"message\": \"one\"}"],
                [SkillUse::NotFollowed, SkillUse::Followed],
            ),
            (
                vec!["Skill: saying\nI begin.", r#"{"message": "one"}"#],
                [SkillUse::Followed, SkillUse::NotFollowed],
            ),
            (
                vec!["**Skill:** none {\"done\": true}"],
                [SkillUse::NotFollowed, SkillUse::NotFollowed],
            ),
            (
                vec!["Skill: swimming\n{\"done\": true}"],
                [SkillUse::Unknown, SkillUse::Unknown],
            ),
        ]
        .map(|(replies, used)| {
            UseSample::new(
                replies.into_iter().map(str::to_owned).collect(),
                used.into(),
            )
        })
        .into(),
    );
    let prompt_format = ChatFormat::default();
    check(block_on(conformance::prompt_format::check(
        &prompt_format,
        &fixture,
    )));
}

/// A door that opens when its code is typed by a tool and the word "open" is then said; anything else is refused. Ending
/// the turn fails.
fn door() -> ScriptedEnvironment {
    let wanted = || {
        let call = Action::call("type_code", json!({"code": "17", "times": 2}));
        [call, Action::Message("open".to_owned())]
    };
    let observation = |text: &str| {
        let schema = json!({
            "type": "object",
            "properties": {"code": {"type": "string"}, "times": {"type": "integer"}},
            "required": ["code", "times"],
        });
        let tool = ToolDefinition::new("type_code", "Types a code into the door.", schema);
        sample::observation(text).with_tools(vec![tool])
    };
    let world = ScriptedEnvironment::by(move |_, _, actions| {
        let right = wanted().starts_with(actions);
        let done = right && actions.len() == wanted().len();
        let ended = actions.last() == Some(&Action::EndTurn);
        let mut transition = match right {
            true => Transition::next(observation("typed")),
            false => Transition::refused(observation("the door stays shut")),
        };
        transition.outcome = (done || ended).then(|| Outcome::from(done));
        Play::Give(transition)
    });
    world.beginning(move |task, _| Play::Give(observation(&task.instruction)))
}

/// An attempt at the door by an agent that answers so, and the prompts that its model was given.
fn at_the_door(answers: &'static [&'static str]) -> (Trajectory, Vec<String>) {
    let prompts = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&prompts);
    let model = ScriptedModel::by(move |request, _| {
        let mut kept = kept.lock().unwrap();
        kept.push(request.prompt.text());
        match answers.get(kept.len() - 1) {
            Some(answer) => Play::Give((*answer).to_owned()),
            None => Play::Fail(Error::invalid("scripted", "no answer is left")),
        }
    });
    let agent = ModelExecutor::new(
        Arc::new(model),
        Arc::new(ChatFormat::default()),
        ModelExecutorOptions::default(),
    );
    let task = sample::task("t", &["open"]);
    let injection = sample::injection(&[sample::skill("saying")]);
    let guidance = FixedGuidance::new(injection.clone());
    let trajectory = block_on(async {
        let environment = door();
        let mut episode = environment.reset(&task, Seed(1)).await.unwrap();
        let attempt = Attempt::new("a", &task, Seed(7), &injection, &guidance);
        agent.unwrap().execute(attempt, episode.as_mut()).await
    })
    .unwrap();
    let prompts = prompts.lock().unwrap().clone();
    (trajectory, prompts)
}

#[test]
fn an_agent_acts_in_the_chat_format() {
    let answers = &[
        "I will type it.",
        "Skill: saying\n{\"tool\": \"type_code\", \"arguments\": {\"code\": \"17\", \"times\": 2}}",
        r#"```json
{"message": "open"}
```"#,
    ];
    let (trajectory, prompts) = at_the_door(answers);
    assert_eq!(trajectory.end, EndReason::Finished);
    assert!(trajectory.outcome.unwrap().success);
    let [called, said] = trajectory.steps.as_slice() else {
        panic!("{:?}", trajectory.steps);
    };
    let Action::Call(calls) = &called.action else {
        panic!("{:?}", called.action);
    };
    let [call] = calls.as_slice() else {
        panic!("{calls:?}");
    };
    assert_eq!(call.tool, "type_code");
    // Arguments keep their types.
    let arguments = serde_json::Value::Object(call.arguments.clone());
    assert_eq!(arguments, json!({"code": "17", "times": 2}));
    assert_eq!(called.transcript, answers[1]);
    assert_eq!(
        (called.result.text.as_str(), called.result.is_error),
        ("typed", false)
    );
    assert_eq!(said.action, Action::Message("open".to_owned()));
    assert_eq!(trajectory.exposures[0].used, SkillUse::Followed);
    // The first prompt shows the tool, the last one the call and what came back.
    assert!(prompts[0].contains("type_code") && prompts[0].contains("Types a code"));
    assert_eq!(prompts.len(), 3);
    assert!(prompts[2].contains(answers[1]) && prompts[2].contains("typed"));

    // Another argument is another call: the world refuses it.
    let (trajectory, _) = at_the_door(&[
        r#"{"tool": "type_code", "arguments": {"code": "71", "times": 2}}"#,
        r#"{"done": true}"#,
    ]);
    assert!(trajectory.steps[0].result.is_error);
    assert!(!trajectory.outcome.unwrap().success);
}
