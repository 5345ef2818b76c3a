//! Conversion of the SDK's requests into bodies.

use journeyman::{
    ErrorKind,
    contract::{GenerateRequest, ToolChoice},
    domain::{Message, NativeCall, Prompt, Sampling, Span, Speaker, ToolDefinition},
};
use serde_json::{Map, Value, json};

use crate::{
    config::Route,
    error::OpenAiError,
    names::wire_name,
    server::{Asked, Server},
    support::ServerKind,
};

impl Server {
    /// The messages of a prompt in chat's form. Spellings of special tokens in data are made harmless, since servers find
    /// them in rendered messages.
    pub(crate) fn messages(&self, prompt: &Prompt) -> Result<Vec<Value>, OpenAiError> {
        let mut messages: Vec<Value> = prompt
            .messages
            .iter()
            .map(|message| self.message(message))
            .collect();
        if !prompt.open.is_empty() {
            if !self.support.continues {
                return Err(OpenAiError::Request {
                    kind: ErrorKind::Unsupported,
                    what: "the server is not known to continue a message of the assistant, which the prompt opens".to_owned(),
                    hint: "set Config::continues where it does, or use Route::Completions",
                });
            }
            let opened = Message::new(Speaker::Assistant, prompt.open.clone());
            messages.push(self.message(&opened));
        }
        Ok(messages)
    }

    /// Calls and the results that answer them are fields of their own where the server calls tools, else text.
    fn message(&self, message: &Message) -> Value {
        let has_calls = self.support.tools && !message.calls.is_empty();
        let spelled = |span: &Span| match span {
            Span::Data(text) => self.marks.harmless(text).into_owned(),
            Span::Control(text) => text.clone(),
        };
        let content: String = match has_calls {
            true => message.content.iter().map(spelled).collect(),
            false => message.spans().map(|span| spelled(&span)).collect(),
        };
        let role = self.role(message);
        let mut fields = json!({"role": role, "content": content});
        if has_calls {
            let calls = message.calls.iter().map(|made| self.past_call(made));
            fields["tool_calls"] = calls.collect();
        }
        if let (Some(answered), "tool") = (&message.answers, role) {
            fields["tool_call_id"] = json!(answered.id);
        }
        fields
    }

    /// A call that the model made before.
    fn past_call(&self, made: &NativeCall) -> Value {
        let arguments = Value::Object(made.call.arguments.clone()).to_string();
        json!({"id": made.id, "type": "function", "function": {
            "name": wire_name(&self.marks.harmless(&made.call.tool)),
            "arguments": self.marks.harmless(&arguments),
        }})
    }

    fn role(&self, message: &Message) -> &'static str {
        let is_strict = matches!(
            self.support.server,
            ServerKind::OpenAi | ServerKind::LlamaCppPython | ServerKind::Other
        );
        let answers_call = message.answers.is_some() && self.support.tools;
        match message.speaker {
            Speaker::System => "system",
            Speaker::Assistant => "assistant",
            // OpenAI refuses a tool's message that answers no call by its id.
            Speaker::Tool if answers_call || !is_strict => "tool",
            // Any speaker that is added later is outside the model.
            _ => "user",
        }
    }

    /// The fields of a generation beside its prompt. The text is streamed always, so that deadlines and dropped futures end
    /// it.
    pub(crate) fn fields(
        &self,
        request: &GenerateRequest,
        asked: &Asked,
        max_tokens: usize,
    ) -> Map<String, Value> {
        let kind = self.support.server;
        let mut fields = Map::new();
        let mut set = |name: &str, value: Value| {
            fields.insert(name.to_owned(), value);
        };
        for (name, value) in asked.fields() {
            set(name, value);
        }
        set("stream", json!(true));
        set("stream_options", json!({"include_usage": true}));
        let is_openai_chat = kind == ServerKind::OpenAi && self.config.route == Route::Chat;
        set(self.most_field(is_openai_chat), json!(max_tokens));
        let Sampling {
            temperature,
            top_p,
            seed,
            ..
        } = request.sampling;
        set("temperature", json!(temperature));
        set("top_p", json!(top_p));
        // The least of what servers accept is 31 bits.
        set("seed", json!(seed.0 & 0x7fff_ffff));
        for (name, value) in unfiltered(kind) {
            set(name, value);
        }
        if kind == ServerKind::Vllm {
            set("return_token_ids", json!(true));
        }
        if self.config.route == Route::Completions && kind.spells_special_tokens() {
            set("skip_special_tokens", json!(false));
        }
        if self.gives_records(request) {
            match self.config.route {
                Route::Chat => {
                    set("logprobs", json!(true));
                    set("top_logprobs", json!(1));
                }
                Route::Completions => set("logprobs", json!(1)),
            }
        }
        if self.support.stop_reported && !request.stop.is_empty() {
            set("stop", json!(request.stop));
        }
        for (name, value) in self.schema_fields(request) {
            set(name, value);
        }
        if !request.tools.is_empty() {
            let (tools, choice) = self.tools(request);
            set("tools", tools);
            set("tool_choice", choice);
        }
        if self.config.route == Route::Chat && !request.prompt.open.is_empty() {
            set("add_generation_prompt", json!(false));
            if matches!(
                kind,
                ServerKind::Vllm | ServerKind::Sglang | ServerKind::Other
            ) {
                set("continue_final_message", json!(true));
            }
        }
        fields.retain(|name, _| !self.support.left_out.contains(&name.as_str()));
        fields
    }

    /// What asks for an answer of the request's JSON schema.
    fn schema_fields(&self, request: &GenerateRequest) -> Vec<(&'static str, Value)> {
        let Some(schema) = &request.json_schema else {
            return Vec::new();
        };
        let named = json!({"name": "answer", "strict": true, "schema": schema});
        let format = json!({"type": "json_schema", "json_schema": named});
        let mut fields = vec![("response_format", format)];
        let is_llama = self.support.server == ServerKind::LlamaServer;
        if is_llama && self.config.route == Route::Completions {
            fields.push(("json_schema", schema.clone()));
        }
        fields
    }
}

impl Server {
    /// Whether a request's generation carries token records. One with tools does not: servers cut calls out of the text, and
    /// not all of them leave the records whole.
    pub(crate) fn gives_records(&self, request: &GenerateRequest) -> bool {
        self.support.token_records && request.tools.is_empty()
    }

    /// The fields `tools` and `tool_choice`.
    fn tools(&self, request: &GenerateRequest) -> (Value, Value) {
        let mut tools: Vec<&ToolDefinition> = request.tools.iter().collect();
        let choice = match &request.tool_choice {
            ToolChoice::None => json!("none"),
            ToolChoice::Required => json!("required"),
            // llama-server knows no names here: the others are left out.
            ToolChoice::Named(name) if self.support.server == ServerKind::LlamaServer => {
                tools.retain(|tool| tool.name == *name);
                json!("required")
            }
            ToolChoice::Named(name) => {
                json!({"type": "function", "function": {"name": wire_name(name)}})
            }
            _ => json!("auto"),
        };
        let tool = |tool: &ToolDefinition| {
            let mut schema = tool.input_schema.clone();
            self.make_harmless(&mut schema);
            json!({"type": "function", "function": {
                "name": wire_name(&tool.name),
                "description": self.marks.harmless(&tool.description),
                "parameters": schema,
            }})
        };
        (tools.into_iter().map(tool).collect(), choice)
    }

    /// Makes spellings of special tokens harmless in a schema's descriptions; values that arguments are compared with stay
    /// as they are. The schema was compiled before, so it is not deep.
    fn make_harmless(&self, schema: &mut Value) {
        match schema {
            Value::Object(fields) => {
                for (name, value) in fields {
                    match value {
                        Value::String(text) if matches!(name.as_str(), "description" | "title") => {
                            *text = self.marks.harmless(text).into_owned();
                        }
                        _ => self.make_harmless(value),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.make_harmless(item)),
            _ => {}
        }
    }
}

/// The fields that turn off filters which servers of this kind apply unless they are told not to.
fn unfiltered(kind: ServerKind) -> Vec<(&'static str, Value)> {
    let (top_k, penalty) = match kind {
        ServerKind::Vllm | ServerKind::Sglang => (-1, "repetition_penalty"),
        ServerKind::LlamaServer | ServerKind::LlamaCppPython => (0, "repeat_penalty"),
        ServerKind::OpenAi | ServerKind::Other => return Vec::new(),
    };
    vec![
        ("top_k", json!(top_k)),
        ("min_p", json!(0.0)),
        (penalty, json!(1.0)),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// [`Server::fields`] takes these out of the sampling. It cannot take it apart whole, since it can gain fields.
    #[test]
    fn a_request_has_every_field_of_the_sampling() {
        let sampling = serde_json::to_value(Sampling::GREEDY).unwrap();
        let fields = sampling.as_object().unwrap().keys().map(String::as_str);
        let expect = BTreeSet::from(["temperature", "top_p", "seed"]);
        assert_eq!(
            fields.collect::<BTreeSet<_>>(),
            expect,
            "Server::fields must send what was added to Sampling, or refuse it"
        );
    }
}
