use serde_json::json;

use super::*;
use crate::{
    agent::chat_format::reading,
    contract::{FinishReason, Generation, PromptFormat, TurnMove, TurnView},
    domain::{Injection, Observation, Prompt, Speaker, StepNote, StepResult, Task},
    testing::sample,
};

fn native() -> ChatFormat {
    ChatFormat {
        native_tools: true,
        ..ChatFormat::default()
    }
}

fn tool(name: &str) -> ToolDefinition {
    ToolDefinition::new(name, "Does it.", json!({"type": "object"}))
}

fn kitchen(text: &str) -> Observation {
    sample::observation(text).with_tools(vec![tool("unseal"), tool("brew")])
}

fn reply(text: &str, calls: &[(&str, serde_json::Value)]) -> Generation {
    let mut reply = Generation::new("test", &Prompt::default(), text);
    let made = |(name, arguments): &(&str, serde_json::Value)| {
        NativeCall::new("", ToolCall::new(*name, arguments.clone()))
    };
    reply.calls = calls.iter().map(made).collect();
    reply
}

fn turn(steps: &[Step], seen: &Observation, replies: &[Generation]) -> TurnMove {
    let view = TurnView {
        task: &Task::new("t", "brew coffee"),
        injection: &Injection::NONE,
        observation: seen,
        steps,
        replies,
    };
    native().turn(&view).unwrap()
}

/// Reads a text without calls; an error is the reason.
fn check(text: &str, expect: Result<Action, &str>) {
    let found = reading::read(&reply(text, &[]), &kitchen("").tools, true);
    assert_eq!(
        found
            .as_ref()
            .map(|taken| &taken.action)
            .map_err(|refused| refused.reason.as_str()),
        expect.as_ref().map_err(|e| *e)
    );
}

fn messages(next: TurnMove) -> Vec<Message> {
    match next {
        TurnMove::Generate { prompt, .. } => prompt.messages,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_tools_go_to_the_interface_and_not_into_a_message() {
    let TurnMove::Generate { prompt, tools, .. } = turn(&[], &kitchen(""), &[]) else {
        panic!("it asks the model");
    };
    assert_eq!(tools, kitchen("").tools);
    assert_eq!(prompt.messages[0].text(), RULES);
    assert_eq!(prompt.messages[1].text(), "brew coffee");
    // And without an interface into the message alone.
    let view = TurnView {
        task: &Task::new("t", "brew coffee"),
        injection: &Injection::NONE,
        observation: &kitchen(""),
        steps: &[],
        replies: &[],
    };
    let Ok(TurnMove::Generate { prompt, tools, .. }) = ChatFormat::default().turn(&view) else {
        panic!("it asks the model");
    };
    assert!(tools.is_empty() && prompt.messages[0].text().contains("unseal"));
    let none = messages(turn(&[], &sample::observation(""), &[]));
    assert!(none[0].text().ends_with("There are no tools now."));
}

#[test]
fn several_calls_at_once_are_one_action() {
    let three = [
        ("unseal", json!({"tin": "red"})),
        ("unseal", json!({"tin": "blue"})),
        ("brew", json!({})),
    ];
    let made = reply("<think>Which?</think>Both tins.", &three);
    let TurnMove::Act {
        action, transcript, ..
    } = turn(&[], &kitchen(""), &[made])
    else {
        panic!("it acts");
    };
    let calls = three.map(|(name, arguments)| ToolCall::new(name, arguments));
    assert_eq!(action, Action::Call(calls.to_vec()));
    assert_eq!(transcript, format!("Both tins.\n{}", action.to_json()));
}

#[test]
fn past_calls_and_results_are_structured() {
    let unseal = ToolCall::new("unseal", json!({"tin": "red"}));
    let brew = ToolCall::new("brew", json!({"cups": 2}));
    let source = sample::observation("").source;
    let both = Action::Call(vec![unseal.clone(), brew.clone()]);
    let words = format!("Now.\n{}", both.to_json());
    let steps = [
        Step::new(both, StepResult::new("open\n2 cups", source.clone())).saying(words),
        Step::new(
            Action::call("brew", json!({})),
            StepResult::refused("SKILL: obey", source.clone()),
        )
        .seeing(kitchen("open\n2 cups")),
        Step::new(
            Action::Message("Done?".to_owned()),
            StepResult::new("No.", source),
        )
        .seeing(kitchen("SKILL: obey")),
    ];
    let found = messages(turn(&steps, &kitchen("No."), &[]));
    let calls = [
        NativeCall::new("call00000", unseal),
        NativeCall::new("call00001", brew),
        NativeCall::new("call00002", ToolCall::new("brew", json!({}))),
    ];
    let expect = [
        Message::calling("Now.", calls[..2].to_vec()),
        Message::answering(&calls[0], WITH_THE_LAST),
        Message::answering(&calls[1], "open\n2 cups"),
        Message::calling("", calls[2..].to_vec()),
        Message::answering(&calls[2], "Error: > SKILL: obey"),
        Message::data(Speaker::Assistant, "Done?"),
    ];
    assert_eq!(found[2..8], expect);
    assert_eq!(found.len(), 9);
    assert_eq!(found[8].speaker, Speaker::User);
}

#[test]
fn a_text_is_a_message_unless_it_is_meant_as_a_call() {
    let said = |text: &str| Ok(Action::Message(text.to_owned()));
    let unseal = || Ok(Action::call("unseal", json!({"tin": "red"})));
    check("Shall I brew it?", said("Shall I brew it?"));
    check("<think>Hm.</think>\nYes.", said("Yes."));
    check("Set x to {1, 2} and [a].", said("Set x to {1, 2} and [a]."));
    check(
        "The person is {\"name\": \"Bob\"}.",
        said("The person is {\"name\": \"Bob\"}."),
    );
    check("All is done.\n{\"done\": true}", Ok(Action::EndTurn));
    check("{\"message\": \"hi\"}", said("hi"));
    // A call that the model's interface did not find, in whatever form.
    check(
        "First: {\"name\": \"unseal\", \"arguments\": {\"tin\": \"red\"}}",
        unseal(),
    );
    check(
        "<tool_call>\n{\"name\": \"unseal\", \"arguments\": {\"tin\": \"red\"}}\n</tool_call>",
        unseal(),
    );
    check(
        "<tool_call>\n{\"name\": \"sweep\", \"arguments\": {}}\n</tool_call>",
        Err("no tool has the name of the call; there are `unseal`, `brew`"),
    );
    // A block that was not opened.
    check("Hm.</think>Yes.", said("Yes."));
    check(
        "{\"name\": \"unseal\", \"arguments\": {\"tin\": \"red\"}}\n</tool_call>",
        unseal(),
    );
    check(
        "<tool_call>\n{\"name\": \"unseal\", \"argum",
        Err("the JSON object is not closed"),
    );
    check("", Err("the answer is empty"));
    check("<think>And", Err("the answer is empty"));
}

#[test]
fn an_answer_that_is_cut_is_asked_for_again_and_then_given_up() {
    let cut = |text: &str| {
        let mut cut = reply(text, &[]);
        cut.finish = FinishReason::Length;
        cut
    };
    let endless = cut("<think>And then, and then");
    for text in [
        "<think>And then, and then",
        "<think>\n\nAnd then\n</think>\n\n",
        "[THINK]And then",
        "<seed:think>And then",
        "<|channel|>analysis<|message|>And then",
    ] {
        let again = messages(turn(&[], &kitchen(""), &[cut(text)]));
        // No thought gets into the prompt.
        assert_eq!(again[2].text(), "", "{text}");
        let told = "the thoughts take all tokens of the answer";
        assert_eq!(
            again[3].text(),
            format!("This answer cannot be used: {told}. {AGAIN}"),
            "{text}"
        );
    }
    let again = messages(turn(&[], &kitchen(""), &[endless.clone(), cut("So")]));
    assert_eq!(again.len(), 6);
    assert_eq!(again[4].text(), "So");
    let gave_up = turn(
        &[],
        &kitchen(""),
        &[endless.clone(), endless.clone(), endless],
    );
    let expect = TurnMove::Unreadable {
        reason: "the thoughts take all tokens of the answer".to_owned(),
        transcript: String::new(),
    };
    assert_eq!(gave_up, expect);
    let prose = turn(
        &[],
        &kitchen(""),
        &[cut("I will"), cut("I will"), cut("I will")],
    );
    assert!(
        matches!(prose, TurnMove::Unreadable { reason, .. } if reason.contains("limit of tokens"))
    );
}

#[test]
fn a_call_that_does_not_fit_the_tools_is_told_and_goes_to_the_world_in_the_end() {
    let cups = json!({"type": "object", "properties": {"cups": {"type": "integer"}}});
    let seen = sample::observation("").with_tools(vec![ToolDefinition::new("brew", "", cups)]);
    let wrong = reply("", &[("boil", json!({}))]);
    let again = messages(turn(&[], &seen, std::slice::from_ref(&wrong)));
    assert_eq!(again[2].text(), "{\"arguments\":{},\"tool\":\"boil\"}");
    assert_eq!(
        again[3].text(),
        format!(
            "This answer cannot be used: no tool has the name of the call; there are `brew`. {AGAIN}"
        )
    );
    let many = reply("", &[("brew", json!({"cups": "many"}))]);
    let again = messages(turn(&[], &seen, std::slice::from_ref(&many)));
    assert!(
        again[3].text().contains("at /cups: "),
        "{}",
        again[3].text()
    );
    assert!(!again[3].text().contains("many"), "no value is repeated");
    // The world refuses it too.
    let acted = turn(&[], &seen, &[wrong.clone(), wrong.clone(), wrong]);
    let TurnMove::Act { action, notes, .. } = acted else {
        panic!("{acted:?}");
    };
    assert_eq!(action, Action::call("boil", json!({})));
    assert_eq!(notes, [StepNote::AskedAgain]);
}

#[test]
fn what_is_slightly_off_is_put_right_and_noted() {
    let cups = json!({"type": "object", "properties": {"cups": {"type": "integer"}}});
    let seen = sample::observation("").with_tools(vec![ToolDefinition::new("brew_it", "", cups)]);
    let brew = Action::call("brew_it", json!({"cups": 2}));
    let check = |answer: Generation, repaired: bool| {
        let acted = turn(&[], &seen, &[answer]);
        let TurnMove::Act { action, notes, .. } = acted else {
            panic!("{acted:?}");
        };
        assert_eq!(action, brew);
        assert_eq!(notes.contains(&StepNote::Repaired), repaired);
    };
    check(reply("", &[("brew_it", json!({"cups": 2}))]), false);
    check(reply("", &[("brew_it", json!({"cups": "2"}))]), true);
    check(
        reply("", &[("functions.brew_it", json!({"cups": 2.0}))]),
        true,
    );
    check(reply("", &[("Brew-It", json!({"cups": 2}))]), true);
    check(
        reply(
            "<tool_call>\n<function=brew_it>\n<parameter=cups>\n2\n</parameter>\n</function>\n</tool_call>",
            &[],
        ),
        true,
    );
    check(reply("brew_it[ARGS]{\"cups\": 2}", &[]), false);
}

#[test]
fn thoughts_in_channels_stay_out_of_transcripts() {
    let seen = kitchen("");
    let tool = seen.tools[0].name.clone();
    let call = Action::call(&tool, json!({}));
    let thought = "<|channel|>analysis<|message|>I wonder.<|end|><|start|>assistant";
    let called = format!(
        "<|channel|>commentary to=functions.{tool} <|constrain|>json<|message|>{{}}<|call|>"
    );
    let words = "<|channel|>commentary<|message|>I brew.<|end|><|start|>assistant";
    for (text, expect) in [
        (format!("{thought}{called}"), call.to_json()),
        (
            format!("{thought}{words}{called}"),
            format!("I brew.\n{}", call.to_json()),
        ),
    ] {
        let acted = turn(&[], &seen, &[reply(&text, &[])]);
        let TurnMove::Act {
            action, transcript, ..
        } = acted
        else {
            panic!("{acted:?}");
        };
        assert_eq!((action, transcript), (call.clone(), expect));
    }
    let object = format!("{thought}<|channel|>final<|message|>{}", call.to_json());
    let acted = turn(&[], &seen, &[reply(&object, &[])]);
    assert!(
        matches!(&acted, TurnMove::Act { transcript, .. } if *transcript == call.to_json()),
        "{acted:?}"
    );
    // A call that cannot be used is shown as it was written.
    let wrong = format!("{thought}<|channel|>commentary to=functions.{tool}<|message|>{{\"cups\"");
    let again = messages(turn(&[], &seen, &[reply(&wrong, &[])]));
    assert_eq!(again[2].text(), format!("{tool}({{\"cups\")"));
    let done = format!("{thought}<|channel|>final<|message|>It is done.<|return|>");
    let acted = turn(&[], &seen, &[reply(&done, &[])]);
    assert!(
        matches!(&acted, TurnMove::Act { transcript, .. } if transcript == "It is done."),
        "{acted:?}"
    );
}

#[test]
fn control_tokens_are_no_message() {
    for text in [
        "Yes. <|im_start|>user",
        "Yes.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nAnd then?",
        "Yes.<｜User｜>And then?",
    ] {
        check(
            text,
            Err("control tokens stand in it, and no call that can be read"),
        );
    }
    for text in ["Yes. [TOOL_CALLS]", "<tool_call>\nbrew"] {
        check(text, Err("the answer has no JSON object"));
    }
    for text in [
        "Done.<|im_end|>",
        "Done.<|eot_id|>",
        "Done.<｜end▁of▁sentence｜>",
    ] {
        check(text, Ok(Action::Message("Done.".to_owned())));
    }
}

#[test]
fn words_are_scored_in_the_fallback_form() {
    let step = Step::new(
        Action::call("brew", json!({})),
        StepResult::new("ok", sample::observation("").source),
    )
    .saying("{\"arguments\":{},\"tool\":\"brew\"}");
    let view = TurnView {
        task: &Task::new("t", "brew coffee"),
        injection: &Injection::NONE,
        observation: &kitchen(""),
        steps: &[],
        replies: &[],
    };
    let pair = native().scoring_pair(&view, &step).unwrap().unwrap();
    assert!(pair.prompt.messages[0].text().contains("\"unseal\""));
    assert_eq!(pair.continuation, step.transcript);
    let silent = Step {
        transcript: String::new(),
        ..step
    };
    assert_eq!(native().scoring_pair(&view, &silent).unwrap(), None);
}

#[test]
fn a_user_who_speaks_after_a_call_has_a_turn_of_the_user() {
    let source = crate::domain::Source::trusted("desk");
    let call = Action::call("unseal", json!({"tin": "red"}));
    let mut step = Step::new(call, StepResult::new("No, the blue one.", source).by_user());
    step.observation = kitchen("brew coffee");
    let now = kitchen("No, the blue one.").by_user();
    let found = messages(turn(&[step], &now, &[]));
    let said: Vec<(Speaker, String)> = found
        .iter()
        .map(|one| (one.speaker, one.text()))
        .skip(2)
        .collect();
    assert_eq!(
        said[1..],
        [
            (Speaker::Tool, THE_USER_SPEAKS.to_owned()),
            (Speaker::User, "No, the blue one.".to_owned())
        ]
    );
}
