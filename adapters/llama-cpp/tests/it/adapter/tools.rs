//! Tools, calls and thoughts by a model's own chat template.

use futures::executor::block_on;
use journeyman::testing::Edited as _;
use journeyman::{
    ErrorKind, Result,
    agent::ChatFormat,
    contract::{
        GenerateRequest, Generation, LanguageModel, PromptFormat, ToolChoice, TurnMove, TurnView,
    },
    domain::{
        Action, Injection, Message, Observation, Prompt, Speaker, Task, ToolCall, ToolDefinition,
    },
};
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp, Template};
use serde_json::{Value, json};

use crate::support::{Tiny, gpu_layers, scripted, spelled};

const RECORDED: &str = include_str!("../../templates/recorded.json");
pub(crate) const QWEN2: &str = include_str!("../../templates/Qwen-Qwen2.5-7B-Instruct.jinja");
const QWEN3: &str = include_str!("../../templates/Qwen-Qwen3-0.6B.jinja");
pub(crate) const NEMO: &str =
    include_str!("../../templates/mistralai-Mistral-Nemo-Instruct-2407.jinja");
pub(crate) const SMALL: &str =
    include_str!("../../templates/Mistral-Small-3.2-24B-Instruct-2506.jinja");
const DEEPSEEK: &str =
    include_str!("../../templates/deepseek-ai-DeepSeek-R1-Distill-Qwen-32B.jinja");
pub(crate) const OBJECTS: &str = include_str!("../../templates/own/objects.jinja");
pub(crate) const FUNCTIONS: &str = include_str!("../../templates/own/functions.jinja");
const CHATML: &str = "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{% endfor %}";

pub(crate) fn ask(text: &str) -> GenerateRequest {
    let prompt = Prompt::new(vec![Message::data(Speaker::User, text)]);
    GenerateRequest::greedy(prompt, 400)
}

fn tools() -> Vec<ToolDefinition> {
    let at = json!({"type": "string", "description": "Where."});
    let schema = json!({"type": "object", "properties": {"at": at}, "required": ["at"]});
    vec![
        ToolDefinition::new("look", "Looks at a place.", schema),
        ToolDefinition::new("rest", "Rests.", json!({"type": "object"})),
    ]
}

fn with_tools(choice: ToolChoice) -> GenerateRequest {
    let mut request = ask("Is there a sail?");
    request.tools = tools();
    request.tool_choice = choice;
    request
}

fn written(template: &str, request: &GenerateRequest, text: &str) -> Result<Generation> {
    scripted::answer(template, |_| (), request, text)
}

/// The calls of an answer, as `tool arguments`.
fn calls(answer: &Generation) -> Vec<String> {
    let calls = answer.calls.iter();
    calls
        .map(|made| {
            format!(
                "{} {}",
                made.call.tool,
                Value::Object(made.call.arguments.clone())
            )
        })
        .collect()
}

/// What is read where llama.cpp writes `text`: the words, and the calls.
fn check(template: &str, text: &str, words: &str, expect: &[&str]) {
    let answer = written(template, &with_tools(ToolChoice::Auto), text).unwrap();
    assert_eq!(calls(&answer), expect, "{text}");
    assert_eq!(answer.text, words, "{text}");
    // The record has all that was written, the end too.
    assert_eq!(spelled(&answer.ids), format!("{text}</s>"));
}

const LOOK: &str = r#"look {"at":"mast"}"#;
const REST: &str = "rest {}";

#[test]
fn a_model_has_tools_exactly_where_its_template_takes_them() {
    for (template, expect) in [
        (QWEN2, true),
        (QWEN3, true),
        (NEMO, true),
        (SMALL, true),
        (OBJECTS, true),
        (FUNCTIONS, true),
        (DEEPSEEK, false),
        (CHATML, false),
    ] {
        let tiny = Tiny {
            template: Some(template),
            ..Tiny::default()
        };
        let model = tiny.load();
        assert_eq!(model.capabilities().tools, expect, "{template}");
        assert_eq!(ChatFormat::of(model.capabilities()).native_tools, expect);
        if !expect {
            let error = block_on(model.generate(&with_tools(ToolChoice::Auto))).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
        }
    }
    let without = Tiny::default().load();
    assert!(!without.capabilities().tools);
}

/// The tokens that reach llama.cpp spell the reference's rendering.
#[test]
fn llama_cpp_reads_the_reference_s_rendering() {
    let recorded: Vec<Value> = serde_json::from_str(RECORDED).unwrap();
    let mut count = 0;
    for family in &recorded {
        let file = family["template"].as_str().unwrap();
        let templates = [
            ("Qwen-Qwen2.5", QWEN2),
            ("Qwen-Qwen3", QWEN3),
            ("mistralai-Mistral-Nemo", NEMO),
            ("Mistral-Small", SMALL),
        ];
        let known = templates.iter().find(|(name, _)| file.starts_with(name));
        let Some((_, template)) = known else {
            continue;
        };
        let tiny = Tiny {
            template: Some(template),
            context: 8192,
            ..Tiny::default()
        };
        let model = tiny.load();
        for case in family["cases"].as_array().unwrap() {
            let messages = case["messages"].as_array().unwrap();
            let has_calls = messages.iter().any(|one| one.get("tool_calls").is_some());
            if has_calls || !case["thinking"].is_null() {
                continue;
            }
            let mut request = ask("");
            request.max_tokens = 0;
            request.prompt.messages = messages.iter().map(said).collect();
            let listed = case["tools"].as_array().unwrap().iter();
            request.tools = listed.map(defined).collect();
            let answer = block_on(model.generate(&request)).unwrap();
            assert_eq!(spelled(&answer.prompt_ids), case["rendered"], "{case}");
            let counted = block_on(model.count_prompt(&request)).unwrap();
            assert_eq!(counted.tokens, answer.prompt_ids.len());
            count += 1;
        }
    }
    assert_eq!(count, 20);
}

fn said(message: &Value) -> Message {
    let speaker = match message["role"].as_str().unwrap() {
        "system" => Speaker::System,
        "user" => Speaker::User,
        _ => Speaker::Assistant,
    };
    Message::data(speaker, message["content"].as_str().unwrap())
}

fn defined(tool: &Value) -> ToolDefinition {
    let function = &tool["function"];
    let text = |key: &str| function[key].as_str().unwrap().to_owned();
    ToolDefinition::new(
        text("name"),
        text("description"),
        function["parameters"].clone(),
    )
}

#[test]
fn each_form_of_calls_is_read_from_what_is_written() {
    check(
        QWEN2,
        "I look.\n<tool_call>\n{\"name\": \"look\", \"arguments\": {\"at\": \"mast\"}}\n</tool_call>",
        "I look.",
        &[LOOK],
    );
    check(
        OBJECTS,
        "{\"name\": \"look\", \"parameters\": {\"at\": \"mast\"}}",
        "",
        &[LOOK],
    );
    check(
        NEMO,
        "[TOOL_CALLS][{\"name\": \"look\", \"arguments\": {\"at\": \"mast\"}, \"id\": \"abcdefghi\"}]",
        "",
        &[LOOK],
    );
    check(
        SMALL,
        "[TOOL_CALLS]look[CALL_ID]abcdefghi[ARGS]{\"at\": \"mast\"}",
        "",
        &[LOOK],
    );
    check(
        FUNCTIONS,
        "<function=look>{\"at\": \"mast\"}</function>",
        "",
        &[LOOK],
    );
}

#[test]
fn three_calls_at_once_are_read_in_order() {
    let look = "<tool_call>\n{\"name\": \"look\", \"arguments\": {\"at\": \"mast\"}}\n</tool_call>";
    let rest = "<tool_call>\n{\"name\": \"rest\", \"arguments\": {}}\n</tool_call>";
    let three = format!("{look}\n{rest}\n{look}");
    check(QWEN3, &three, "", &[LOOK, REST, LOOK]);
    check(
        FUNCTIONS,
        "<function=look>{\"at\": \"mast\"}</function><function=rest>{}</function><function=look>{\"at\": \
         \"mast\"}</function>",
        "",
        &[LOOK, REST, LOOK],
    );
    check(
        SMALL,
        "[TOOL_CALLS]look[ARGS]{\"at\": \"mast\"}[TOOL_CALLS]rest[ARGS]{}[TOOL_CALLS]look[ARGS]{\"at\": \"mast\"}",
        "",
        &[LOOK, REST, LOOK],
    );
}

#[test]
fn an_answer_without_a_call_is_words() {
    for template in [QWEN2, NEMO, SMALL, OBJECTS, FUNCTIONS] {
        check(template, "I see no sail.", "I see no sail.", &[]);
        check(template, "", "", &[]);
    }
}

#[test]
fn broken_calls_are_repaired_or_stay_words() {
    let call = "{\"name\": \"look\", \"arguments\": {\"at\": \"mast\"}}";
    // A block that is closed and was not opened, and one that is opened and not closed.
    check(QWEN2, &format!("{call}\n</tool_call>"), "", &[LOOK]);
    check(QWEN2, &format!("<tool_call>{call}"), "", &[LOOK]);
    for words in [
        "</tool_call>",
        "</think></tool_call>",
        "<tool_call>\nlook at the mast\n</tool_call>",
        "<tool_call>{\"name\": \"swim\", \"arguments\": {}}</tool_call>",
        "<tool_call>{\"name\": \"look\", \"arguments\": {\"at\": [7]}}</tool_call>",
    ] {
        check(QWEN2, words, words, &[]);
    }
}

#[test]
fn a_call_that_must_be_made_is_begun_for_the_model() {
    let named = with_tools(ToolChoice::Named("look".to_owned()));
    let answer = written(QWEN2, &named, "{\"at\": \"mast\"}}\n</tool_call>").unwrap();
    assert_eq!(
        (calls(&answer), answer.text.as_str()),
        (vec![LOOK.to_owned()], "")
    );
    let prompt = spelled(&answer.prompt_ids);
    assert!(prompt.ends_with("<tool_call>\n{\"name\": \"look\", \"arguments\": "));
    assert_eq!(answer.prompt_tokens as usize, answer.prompt_ids.len());

    let required = with_tools(ToolChoice::Required);
    let rest = "rest\", \"arguments\": {}}\n</tool_call>";
    assert_eq!(calls(&written(QWEN2, &required, rest).unwrap()), [REST]);
    // Held to a call, the model cannot write anything else.
    if cfg!(not(feature = "llguidance")) {
        let error = written(QWEN2, &required, "no name\nand no call").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Model);
        assert!(error.message().contains("no tool is called"), "{error}");
    }
}

/// `ChatFormat`'s next move after `text`, which llama.cpp writes for its prompt.
fn next_move(template: &'static str, text: &str) -> TurnMove {
    let tiny = Tiny {
        template: Some(template),
        ..Tiny::default()
    };
    let prompt_format = ChatFormat::of(tiny.load().capabilities());
    let seen = Observation::default().with_tools(tools());
    let task = Task::new("t", "Is there a sail?");
    let turn = |replies: &[Generation]| {
        let injection = Injection::NONE;
        let view = TurnView::new(&task, &injection, &seen).edited(|it| it.replies = replies);
        prompt_format.turn(&view).unwrap()
    };
    let TurnMove::Generate { prompt, tools, .. } = turn(&[]) else {
        panic!("it asks the model");
    };
    let mut request = GenerateRequest::greedy(prompt, 400);
    request.tools = tools;
    turn(&[written(template, &request, text).unwrap()])
}

#[test]
fn chat_format_acts_by_the_model_s_own_calls() {
    let act = |template, text: &str, expect: Action| {
        let TurnMove::Act {
            action, transcript, ..
        } = next_move(template, text)
        else {
            panic!("it acts on {text}");
        };
        assert_eq!(action, expect, "{text}");
        transcript
    };
    let look = || ToolCall::new("look", json!({"at": "mast"}));
    let block =
        "<tool_call>\n{\"name\": \"look\", \"arguments\": {\"at\": \"mast\"}}\n</tool_call>";
    let thought = format!("<think>\nThe mast is high.\n</think>\n\n{block}");
    let transcript = act(QWEN3, &thought, Action::Call(vec![look()]));
    assert!(!transcript.contains("mast is high"), "{transcript}");
    let three = [block; 3].join("\n");
    act(QWEN2, &three, Action::Call(vec![look(), look(), look()]));
    // A block that it did not open.
    let (_, closed) = block.split_once('\n').unwrap();
    act(QWEN2, closed, Action::Call(vec![look()]));
    // Never a call.
    let words = "I see no sail.";
    act(SMALL, words, Action::Message(words.to_owned()));
    act(OBJECTS, "{\"done\": true}", Action::EndTurn);
    // A model without tools of its own answers in the fallback's form.
    let fallback = "{\"tool\": \"look\", \"arguments\": {\"at\": \"mast\"}}";
    let thoughts = format!("Where?\n</think>\n\n{fallback}");
    act(DEEPSEEK, &thoughts, Action::Call(vec![look()]));
}

#[test]
fn chat_format_asks_again_for_an_answer_that_cannot_be_read() {
    for (text, reason) in [
        ("<tool_call>\nlook at the mast\n</tool_call>", ""),
        (
            "<tool_call>\n{\"name\": \"swim\", \"arguments\": {}}\n</tool_call>",
            "no tool has the name of the call",
        ),
        ("", "empty"),
    ] {
        let TurnMove::Generate { prompt, tools, .. } = next_move(QWEN2, text) else {
            panic!("it asks again after {text}");
        };
        assert_eq!(tools.len(), 2);
        let last = prompt.messages.last().unwrap().text();
        assert!(
            last.contains("Answer again") && last.contains(reason),
            "{last}"
        );
    }
}

#[test]
fn a_template_that_throws_is_refused_with_its_words() {
    let throws = |when: &str| {
        format!(
            "{{% if {when} %}}{{{{ raise_exception('I do not like it') }}}}{{% endif %}}{CHATML}"
        )
    };
    let refused = |error: journeyman::Error| {
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        assert!(error.to_string().contains("I do not like it"), "{error}");
    };
    let file = Tiny::default().file();
    let mut config = LlamaConfig::new(&file.0);
    config.template = Template::Jinja(throws("true"));
    refused(LlamaCpp::load(config).map(drop).unwrap_err());
    // At tools: then it has none.
    let load = |template: String| {
        Tiny::default().load_with(|config| config.template = Template::Jinja(template))
    };
    assert!(!load(throws("tools")).capabilities().tools);
    // In the middle of a conversation.
    let model = load(throws("messages | length > 3"));
    let mut request = ask("one");
    request.prompt.messages = ["a", "b", "c", "d"]
        .map(|text| Message::data(Speaker::User, text))
        .to_vec();
    refused(block_on(model.generate(&request)).unwrap_err());
    refused(block_on(model.count_prompt(&request)).unwrap_err());
}

/// The bundled model takes tools by the template in its file and by another one of that form, and has none without.
#[test]
fn the_bundled_model_takes_tools_by_a_template() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/lab/apprentice/apprentice.gguf"
    );
    let load = |template| {
        let mut config = LlamaConfig::new(path);
        config.template = template;
        config.gpu_layers = gpu_layers();
        LlamaCpp::load(config).unwrap()
    };
    let bare = load(Template::None);
    assert!(!bare.capabilities().tools);
    assert!(!ChatFormat::of(bare.capabilities()).native_tools);

    for template in [Template::Auto, Template::Jinja(QWEN2.to_owned())] {
        let model = load(template);
        assert!(model.capabilities().tools);
        assert!(ChatFormat::of(model.capabilities()).native_tools);
        let mut request = with_tools(ToolChoice::Auto);
        request.max_tokens = 24;
        let with = block_on(model.generate(&request)).unwrap();
        assert!(with.output_tokens > 0 && with.output_tokens <= 24);
        request.tools.clear();
        let without = block_on(model.generate(&request)).unwrap();
        // The definitions of two tools and the words around them: its vocabulary has whole sentences of these as tokens.
        assert!(with.prompt_tokens > without.prompt_tokens + 40);
    }
}
