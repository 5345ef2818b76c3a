//! A language model that follows a script.

use std::{collections::BTreeSet, fmt, sync::Arc};

use async_trait::async_trait;

use super::play::{Calls, Play, word_id, words};
use crate::{
    contract::{
        FinishReason, GenerateRequest, Generation, LanguageModel, ModelCapabilities, ModelSpeed,
        TokenCount, ToolChoice,
    },
    domain::{NativeCall, ToolCall},
    error::{Error, Result},
    id::ModelId,
};

const GENERATE: &str = "LanguageModel::generate";

type Script = dyn Fn(&GenerateRequest, usize) -> Play<String> + Send + Sync;

/// A [`LanguageModel`] that follows a script. Its tokens are words.
///
/// ```
/// use journeyman::{contract::{GenerateRequest, LanguageModel}, domain::Prompt, testing::ScriptedModel};
///
/// let model = ScriptedModel::answers(["first", "second"]);
/// let request = GenerateRequest::greedy(Prompt::default(), 10);
/// let answer = futures::executor::block_on(model.generate(&request))?;
/// assert_eq!((answer.text.as_str(), model.calls()), ("first", 1));
/// # Ok::<(), journeyman::Error>(())
/// ```
pub struct ScriptedModel {
    capabilities: ModelCapabilities,
    adapters: BTreeSet<String>,
    script: Box<Script>,
    calls: Arc<Calls>,
}

impl ScriptedModel {
    /// A model that follows a closure.
    pub fn by(
        script: impl Fn(&GenerateRequest, usize) -> Play<String> + Send + Sync + 'static,
    ) -> Self {
        let mut capabilities = ModelCapabilities::new(ModelId::new("scripted"), 4_096);
        capabilities.token_records = true;
        capabilities.deterministic = true;
        Self {
            capabilities,
            adapters: BTreeSet::new(),
            script: Box::new(script),
            calls: Arc::default(),
        }
    }

    /// A model that writes these texts in order, and fails with `Unavailable` when none is left.
    pub fn answers<T: Into<String>>(answers: impl IntoIterator<Item = T>) -> Self {
        let answers: Vec<String> = answers.into_iter().map(Into::into).collect();
        Self::by(move |_, call| match answers.get(call) {
            Some(answer) => Play::Give(answer.clone()),
            None => Play::Fail(Error::unavailable(
                "LanguageModel::generate",
                "the script has no further answer",
            )),
        })
    }

    /// A model that writes the same text at every call.
    pub fn always(answer: impl Into<String>) -> Self {
        let answer = answer.into();
        Self::by(move |_, _| Play::Give(answer.clone()))
    }

    /// A model that plays the same at every call, such as [`Play::Hang`].
    pub fn that(play: Play<String>) -> Self {
        Self::by(move |_, _| play.clone())
    }

    /// Has adapters of these names; the script sees which one a request is for.
    #[must_use]
    pub fn with_adapters<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.adapters.extend(names.into_iter().map(Into::into));
        self
    }

    /// Sets the model's id.
    #[must_use]
    pub fn with_id(mut self, model: impl Into<ModelId>) -> Self {
        self.capabilities.model = model.into();
        self
    }

    /// Sets the speed that was measured.
    #[must_use]
    pub fn with_speed(mut self, speed: ModelSpeed) -> Self {
        self.capabilities.speed = Some(speed);
        self
    }

    /// Sets the context, in words.
    #[must_use]
    pub fn with_context(mut self, context: usize) -> Self {
        self.capabilities.context = context;
        self
    }

    /// Gives no token ids and log-probabilities.
    #[must_use]
    pub fn without_records(mut self) -> Self {
        self.capabilities.token_records = false;
        self
    }

    /// Declares the capability to obey a JSON Schema; the script must then write valid answers.
    #[must_use]
    pub fn with_json_schema(mut self) -> Self {
        self.capabilities.json_schema = true;
        self
    }

    /// Declares the capability to call tools: where a request has tools, a text that is an array of objects with `tool` and
    /// `arguments` becomes calls. The script must then keep to the tools' schemas.
    #[must_use]
    pub fn with_tools(mut self) -> Self {
        self.capabilities.tools = true;
        self
    }

    /// The number of calls.
    pub fn calls(&self) -> usize {
        self.calls.count()
    }

    fn fit(&self, prompt: &str, written: &str, request: &GenerateRequest) -> Generation {
        let room = request.max_tokens;
        let pieces = words(written);
        let mut text: String = pieces.iter().take(room).copied().collect();
        let mut finish = match pieces.len() > room {
            true => FinishReason::Length,
            false => FinishReason::EndOfText,
        };
        let cut = (request.stop.iter().filter(|stop| !stop.is_empty()))
            .filter_map(|stop| text.find(stop.as_str()))
            .min();
        if let Some(cut) = cut {
            text.truncate(cut);
            finish = FinishReason::Stop;
        }
        let ids: Vec<i32> = words(&text).into_iter().map(word_id).collect();
        let prompt_ids: Vec<i32> = words(prompt).into_iter().map(word_id).collect();
        let records = self.capabilities.token_records;
        Generation {
            calls: Vec::new(),
            output_tokens: ids.len() as u64,
            prompt_tokens: prompt_ids.len() as u64,
            logprobs: if records {
                vec![-1.0; ids.len()]
            } else {
                Vec::new()
            },
            ids: if records { ids } else { Vec::new() },
            forced: Vec::new(),
            prompt_ids: if records { prompt_ids } else { Vec::new() },
            text,
            finish,
            model: self.capabilities.model.clone(),
            adapter: None,
        }
    }
}

/// The calls that a text of this script means, where the request has tools.
fn calls_in(text: &str, request: &GenerateRequest) -> Option<Vec<NativeCall>> {
    if request.tools.is_empty() {
        return None;
    }
    let calls: Vec<ToolCall> = serde_json::from_str(text).ok()?;
    let calls = calls.into_iter().enumerate();
    let calls = calls.map(|(at, call)| NativeCall::new(format!("call-{at}"), call));
    Some(calls.collect())
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedModel")
            .field("capabilities", &self.capabilities)
            .field("calls", &self.calls())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl LanguageModel for ScriptedModel {
    fn capabilities(&self) -> &ModelCapabilities {
        &self.capabilities
    }

    /// Tools are counted as the words of their names, descriptions and schemas, although a generation reports the prompt's
    /// words alone: then the number is an estimate.
    async fn count_prompt(&self, request: &GenerateRequest) -> Result<TokenCount> {
        let tools = request.tools.iter().map(|tool| {
            let schema = tool.input_schema.to_string();
            [tool.name.as_str(), &tool.description, &schema].map(|text| words(text).len())
        });
        let tools: usize = tools.flatten().sum();
        Ok(TokenCount {
            tokens: words(&request.prompt.text()).len() + tools,
            estimated: tools > 0,
        })
    }

    async fn generate(&self, request: &GenerateRequest) -> Result<Generation> {
        let prompt = request.prompt.text();
        let (length, context) = (words(&prompt).len(), self.capabilities.context);
        if length > context {
            return Err(Error::invalid(
                "LanguageModel::generate",
                "the prompt is longer than the context",
            )
            .with("prompt_tokens", length)
            .with("context", context));
        }
        if let Some(adapter) = request.adapter.as_ref()
            && !self.adapters.contains(adapter)
        {
            return Err(Error::not_found(
                "LanguageModel::generate",
                format!("no adapter `{adapter}` is loaded"),
            ));
        }
        if request.json_schema.is_some() && !self.capabilities.json_schema {
            return Err(Error::unsupported(
                "LanguageModel::generate",
                "this model obeys no JSON Schema",
            ));
        }
        if !self.capabilities.tools {
            request.refuse_tools(GENERATE)?;
        }
        let names: BTreeSet<&str> = request
            .tools
            .iter()
            .map(|tool| tool.name.as_str())
            .collect();
        let is_absent = match &request.tool_choice {
            ToolChoice::Named(name) => !names.contains(name.as_str()),
            _ => false,
        };
        if is_absent || names.len() < request.tools.len() {
            let why = "the named tool is not there, or two tools have one name";
            return Err(Error::invalid(GENERATE, why));
        }
        let play = (self.script)(request, self.calls.next());
        let written = play.perform().await?;
        if let Some(written) = calls_in(&written, request) {
            let mut answer = self.fit(&prompt, "", request);
            answer.calls = written;
            return Ok(answer);
        }
        let answer = self.fit(&prompt, &written, request);
        if let Some(sink) = &request.sink {
            words(&answer.text)
                .into_iter()
                .for_each(|word| sink.token(word));
        }
        Ok(answer)
    }
}
