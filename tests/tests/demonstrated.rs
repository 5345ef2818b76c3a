//! Demonstrations of the bundled model's attempts: each answer stands behind the tokens that the model was given in the run.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex},
};

use futures::executor::block_on;
use journeyman::{
    Result, Seed, async_trait,
    builtin::{MemoryStore, ModelExecutor, ModelExecutorOptions},
    contract::{GenerateRequest, Generation, LanguageModel, ModelCapabilities, SkillStore},
    domain::{
        AnsweredCall, Message, NativeCall, Prompt, Speaker, Task, TokenId, ToolCall, ToolDefinition,
    },
    interchange::demonstrations::{Prompted, PromptedMessage, prompted},
    library::SkillLibrary,
    recipe,
    run::{Journeyman, Options},
};
use journeyman_llama_cpp::LlamaCpp;
use journeyman_toolworld::stream::{StreamTask, Universe, UniverseSpec};
use quickstart::Parts;
use serde_json::Value;

/// A model that keeps what it wrote, by the tokens that it was given.
#[derive(Debug)]
struct Kept {
    inner: Arc<LlamaCpp>,
    given: Mutex<HashMap<Vec<TokenId>, String>>,
}

#[async_trait]
impl LanguageModel for Kept {
    fn capabilities(&self) -> &ModelCapabilities {
        self.inner.capabilities()
    }

    async fn generate(&self, request: &GenerateRequest) -> Result<Generation> {
        let written = self.inner.generate(request).await?;
        let mut given = self.given.lock().unwrap();
        given.insert(written.prompt_ids.clone(), written.text.clone());
        Ok(written)
    }
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
        .map(|(id, tool)| AnsweredCall { id, tool });
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
    let model = "../examples/apprentice/general.gguf";
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join(model);
    let parts = Parts::exact(&model, 8).expect("the bundled model");
    let spec = UniverseSpec {
        hidden: 4,
        plain: 1,
        ..UniverseSpec::default()
    };
    let universe = Universe::make(spec, 11).expect("a universe");
    let stream = universe.stream(10);
    let spoken = |task: &StreamTask| parts.way.task(task.task()?, Seed(11));
    let tasks: Result<Vec<Task>> = stream.iter().map(spoken).collect();
    let kept = Arc::new(Kept {
        inner: parts.model.clone(),
        given: Mutex::default(),
    });
    let store = Arc::new(MemoryStore::new());
    let mut backends = parts.backends(store.clone(), None).expect("the parts");
    let options = ModelExecutorOptions::default();
    let agent = ModelExecutor::new(kept.clone(), parts.dialect(), options).expect("an agent");
    backends.executor = Some(Arc::new(agent));
    let mut recipe = recipe::standard();
    recipe.tiers.traces = 100;
    block_on(async {
        let options = Options::new("demonstrate", Seed(11));
        let journeyman = Journeyman::open(backends, recipe, options).await;
        let journeyman = journeyman.expect("it opens");
        journeyman.learn(tasks.unwrap()).await.expect("it learns");
    });
    let committed = block_on(store.load()).expect("it loads").committed;
    let library = SkillLibrary::replay(&committed).expect("a library");
    let dialect = parts.dialect();
    let (mut answers, mut with_skill) = (0, 0);
    for attempt in library.traces() {
        with_skill += u32::from(!attempt.trajectory.injection.is_empty());
        for answer in prompted(dialect.as_ref(), attempt).expect("answers") {
            // As a line of a file.
            let line = serde_json::to_string(&answer).unwrap();
            let answer: Prompted = serde_json::from_str(&line).unwrap();
            let prompt = Prompt {
                messages: answer.prompt.iter().map(read).collect(),
                open: Vec::new(),
            };
            let mut request = GenerateRequest::greedy(prompt, 1);
            request.tools = answer.tools.iter().map(tool).collect();
            let asked = block_on(parts.model.generate(&request)).expect("it writes");
            let given = kept.given.lock().unwrap();
            let text = given
                .get(&asked.prompt_ids)
                .expect("it was given these tokens");
            let said = &answer.completion[0];
            let called = said
                .tool_calls
                .first()
                .map(|call| &call["function"]["name"]);
            let called = called.and_then(|name| name.as_str()).unwrap_or_default();
            assert!(
                text.contains(said.content.trim()) && text.contains(called),
                "{text}\n{said:?}"
            );
            answers += 1;
        }
    }
    assert!(answers > 10 && with_skill > 2, "{answers} {with_skill}");
}
