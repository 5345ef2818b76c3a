//! Demonstrations of the bundled model's attempts: each answer stands behind the tokens that the model was given in the run.

use std::{collections::BTreeMap, sync::Arc};

use futures::executor::block_on;
use journeyman::{
    Seed,
    agent::{MemoryJournal, MemoryStore, ModelExecutor, ModelExecutorOptions},
    contract::{GenerateRequest, Journal, LanguageModel},
    domain::{
        AnsweredCall, AttemptId, Message, NativeCall, Prompt, Speaker, TokenId, ToolCall,
        ToolDefinition, Trace,
    },
    recipe,
    run::{Journeyman, Options, recorded_attempts},
};
use journeyman_interchange::{
    demonstrations::{Prompted, PromptedMessage, prompted},
    rollouts,
};
use journeyman_tests::source::bundled_model;
use journeyman_toolworld::stream::{Universe, UniverseSpec};
use quickstart::{Parts, spoken};
use serde_json::Value;

/// The prompts of an attempt's generations, as the journal has their tokens, by attempt and step.
type Given = BTreeMap<(AttemptId, u32), Vec<Vec<TokenId>>>;

/// Attempts of a learning run, and the tokens that the model was given in them.
fn attempts(parts: &Parts) -> (Vec<Trace>, Given) {
    let universe = Universe::make(UniverseSpec::of(4, 1), 11).expect("a universe");
    let tasks = spoken::tasks(&universe.stream(10), Seed(11));
    let journal = Arc::new(MemoryJournal::new());
    let store = Arc::new(MemoryStore::new());
    let mut components = parts
        .components(store, Some(journal.clone()))
        .expect("the parts");
    let mut options = ModelExecutorOptions::default();
    options.record = true;
    let agent = ModelExecutor::new(parts.model.clone(), parts.prompt_format(), options);
    components.executor = Some(Arc::new(agent.expect("an agent")));
    block_on(async {
        let options = Options::new("demonstrate", Seed(11));
        let journeyman = Journeyman::open(components, recipe::standard(), options).await;
        let journeyman = journeyman.expect("it opens");
        let report = journeyman.learn(tasks.unwrap()).await.expect("it learns");
        let entries = journal.read(&report.run).await.expect("entries");
        let mut given = Given::new();
        for rollout in rollouts::of_journal(&entries).expect("rollouts").rollouts {
            for segment in rollout.segments {
                let place = (rollout.attempt.clone(), segment.step);
                given.entry(place).or_default().push(segment.prompt_ids);
            }
        }
        (recorded_attempts(&entries).expect("attempts"), given)
    })
}

/// The message that a line of a trainer's file has.
fn read(message: &PromptedMessage) -> Message {
    let speaker = match message.role.as_str() {
        "system" => Speaker::System,
        "user" => Speaker::User,
        "assistant" => Speaker::Assistant,
        _ => Speaker::Tool,
    };
    let calls = message.tool_calls.iter().map(|call| {
        let function = &call["function"];
        let tool = function["name"].as_str().unwrap();
        let call_of = ToolCall::new(tool, function["arguments"].clone());
        NativeCall::new(call["id"].as_str().unwrap(), call_of)
    });
    let mut read = Message::data(speaker, message.content.clone());
    read.calls = calls.collect();
    read.answers = (message.tool_call_id.clone().zip(message.name.clone()))
        .map(|(id, tool)| AnsweredCall::new(id, tool));
    read
}

/// The tool that a line has as a function.
fn tool(function: &Value) -> ToolDefinition {
    let text = |field: &str| function["function"][field].as_str().unwrap_or_default();
    let schema = function["function"]["parameters"].clone();
    ToolDefinition::new(text("name"), text("description"), schema)
}

#[test]
fn each_answer_stands_behind_the_tokens_that_the_model_was_given() {
    let parts = Parts::deterministic(&bundled_model(), 8).expect("the bundled model");
    let prompt_format = parts.prompt_format();
    let (mut answers, mut with_skill, mut later) = (0, 0, 0);
    let (attempts, given) = attempts(&parts);
    for attempt in attempts {
        with_skill += u32::from(!attempt.trajectory.injection.is_empty());
        let steps = attempt.trajectory.steps.iter();
        let steps = steps.filter(|step| step.notes.is_empty());
        let answers_of = prompted(prompt_format.as_ref(), &attempt).expect("answers");
        for (step, answer) in steps.zip(&answers_of) {
            // As a line of a file.
            let line = serde_json::to_string(answer).unwrap();
            let answer: Prompted = serde_json::from_str(&line).unwrap();
            let prompt = Prompt::new(answer.prompt.iter().map(read).collect());
            let mut request = GenerateRequest::greedy(prompt, 1);
            request.tools = answer.tools.iter().map(tool).collect();
            let asked = block_on(parts.model.generate(&request)).expect("it writes");
            let place = (attempt.trajectory.attempt.clone(), step.index);
            assert_eq!(given.get(&place), Some(&vec![asked.prompt_ids]));
            answers += 1;
            // It holds the answers before, as they are to be learned.
            later += u32::from(step.index > 0);
        }
    }
    assert!(
        answers > 10 && with_skill > 2 && later > 2,
        "{answers} {with_skill} {later}"
    );
}
