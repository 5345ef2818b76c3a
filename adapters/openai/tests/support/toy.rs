//! A toy model of bytes behind the interfaces of several servers: the probability of a token follows from the two tokens
//! before it. Its one special token is `<call>`.

use std::{
    num::NonZeroUsize,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::executor::block_on;
use journeyman_openai::{Config, OpenAi, Route};
use serde_json::{Value, json};

use super::{Play, Script, Seen, Server, answer, config, done, event, events_head, json};

pub(crate) const CONTEXT: usize = 512;
const SPECIAL: &str = "<call>";
const CALL: i64 = 256;
const BOS: i64 = 257;
/// What it writes, over and over; each position's word follows from the prompt's length.
const WORDS: &[u8] = b"unseal the tin and brew it well; ";

/// Whose interface it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Like {
    Vllm,
    Sglang,
    LlamaServer,
    LlamaCppPython,
    OpenAi,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Toy {
    pub(crate) like: Like,
    /// Scores are those of the token before: the fault of a server that is off by one.
    pub(crate) is_off_by_one: bool,
    /// The wait before each token.
    pub(crate) pause: Duration,
}

impl Toy {
    pub(crate) fn new(like: Like) -> Self {
        Self {
            like,
            is_off_by_one: false,
            pause: Duration::ZERO,
        }
    }

    pub(crate) fn start(self) -> Server {
        Server::start(move |seen| self.answer(seen))
    }

    pub(crate) fn config(self, server: &Server, route: Route) -> Config {
        let mut config = config(&server.url(), "toy", route);
        if self.like != Like::Vllm {
            config.context = NonZeroUsize::new(CONTEXT);
        }
        config
    }

    pub(crate) fn answer(self, seen: &Seen) -> Script {
        match seen.path.as_str() {
            "/v1/models" => json(&self.models()),
            "/tokenize" if self.like == Like::LlamaServer => {
                let text = seen.body["content"].as_str().unwrap();
                let special = seen.body["parse_special"] == true;
                let bos = seen.body["add_special"] == true;
                json(&json!({"tokens": begin(bos, tokens(text, special))}))
            }
            "/tokenize" => {
                let messages = seen.body["messages"].as_array();
                let text = match messages {
                    Some(messages) => messages
                        .iter()
                        .map(|m| m["content"].as_str().unwrap())
                        .collect(),
                    None => seen.body["prompt"].as_str().unwrap().to_owned(),
                };
                let bos = seen.body["add_special_tokens"] == true || messages.is_some();
                json(
                    &json!({"tokens": begin(bos, tokens(&text, true)), "count": 1, "max_model_len": CONTEXT}),
                )
            }
            "/apply-template" if self.like == Like::LlamaServer => {
                let messages = seen.body["messages"].as_array().unwrap().iter();
                let texts = messages.map(|message| message["content"].as_str().unwrap());
                json(&json!({"prompt": texts.collect::<String>()}))
            }
            "/extras/tokenize" => {
                let text = seen.body["input"].as_str().unwrap();
                json(&json!({"tokens": begin(true, tokens(text, true))}))
            }
            "/generate" => self.generate(&seen.body),
            "/v1/completions" => self.completions(&seen.body),
            "/v1/chat/completions" => self.chat(&seen.body),
            "/v1/embeddings" => json(&embeddings(&seen.body)),
            _ => answer(404, "", r#"{"detail":"Not Found"}"#),
        }
    }

    fn models(self) -> Value {
        let owner = match self.like {
            Like::Vllm => "vllm",
            Like::Sglang => "sglang",
            Like::LlamaServer => "llamacpp",
            Like::LlamaCppPython => "me",
            Like::OpenAi => "openai",
        };
        json!({"object": "list", "data": [
            {"id": "toy", "object": "model", "owned_by": owner, "max_model_len": if self.like == Like::Vllm { Some(CONTEXT) } else { None }},
            {"id": "toy-lora", "object": "model", "owned_by": owner, "parent": "toy"},
            {"id": "other", "object": "model", "owned_by": owner},
        ]})
    }

    fn generate(self, body: &Value) -> Script {
        if self.like != Like::Sglang {
            return answer(404, "", r#"{"detail":"Not Found"}"#);
        }
        let ids = ids(&body["input_ids"]);
        let start = body["logprob_start_len"].as_u64().unwrap() as usize;
        let scored = (start..ids.len()).map(|at| {
            let logprob = (at > start).then(|| logprob(&ids, at));
            json!([logprob, ids[at], null])
        });
        json(
            &json!({"text": "x", "meta_info": {"input_token_logprobs": scored.collect::<Vec<_>>()}}),
        )
    }

    fn completions(self, body: &Value) -> Script {
        let prompt = match &body["prompt"] {
            Value::String(text) => begin(self.like == Like::LlamaCppPython, tokens(text, true)),
            given => ids(given),
        };
        if prompt.len() >= CONTEXT {
            return too_long(prompt.len());
        }
        let (echo, logprobs) = (body["echo"] == true, body["logprobs"].is_number());
        if echo && matches!(self.like, Like::LlamaServer | Like::OpenAi | Like::Sglang) {
            return answer(
                400,
                "",
                r#"{"error":{"message":"Only no echo is supported","type":"invalid_request_error"}}"#,
            );
        }
        if echo {
            return self.echo(prompt, body["max_tokens"].as_u64().unwrap());
        }
        if self.like == Like::LlamaServer && body["logit_bias"].is_object() {
            return self.forced(&prompt, &body["logit_bias"]);
        }
        let (written, reason, stopped) = write(&prompt, body);
        if body["stream"] == true {
            return self.stream(body, &prompt, &written, reason, stopped);
        }
        let text = spelled(&written);
        let all = [&prompt[..], &written[..]].concat();
        let of = |at: usize| logprob(&all, prompt.len() + at);
        let logprobs = logprobs.then(|| {
            let found: Vec<f64> = (0..written.len()).map(of).collect();
            match self.like {
                Like::LlamaServer => {
                    let content = written.iter().zip(found);
                    json!({"content": content.map(|(id, l)| json!({"id": id, "logprob": l})).collect::<Vec<_>>()})
                }
                _ => json!({"token_logprobs": found}),
            }
        });
        json(
            &json!({"choices": [{"index": 0, "text": text, "finish_reason": reason, "logprobs": logprobs}],
            "usage": {"prompt_tokens": prompt.len(), "completion_tokens": written.len()}}),
        )
    }

    /// The token that a bias forces, with its log-probability before the bias.
    fn forced(self, prompt: &[i64], bias: &Value) -> Script {
        let id: i64 = bias
            .as_object()
            .unwrap()
            .keys()
            .next()
            .unwrap()
            .parse()
            .unwrap();
        let all = [prompt, &[id]].concat();
        let at = prompt.len() - usize::from(self.is_off_by_one);
        let content = json!([{"id": id, "token": spelled(&[id]), "logprob": logprob(&all, at)}]);
        json(
            &json!({"choices": [{"index": 0, "text": spelled(&[id]), "finish_reason": "length", "logprobs": {"content": content}}],
            "usage": {"prompt_tokens": prompt.len(), "completion_tokens": 1}}),
        )
    }

    fn echo(self, prompt: Vec<i64>, max_tokens: u64) -> Script {
        let extra = i64::from(WORDS[0]);
        let read = prompt.len();
        let mut all = prompt;
        all.extend((0..max_tokens).map(|_| extra));
        let first = usize::from(self.like == Like::LlamaCppPython);
        let (mut found, mut spellings, mut offsets, mut offset) =
            (Vec::new(), Vec::new(), Vec::new(), 0);
        for at in first..all.len() {
            let of = if self.is_off_by_one {
                at.saturating_sub(1)
            } else {
                at
            };
            found.push((at > first).then(|| logprob(&all, of)));
            let spelling = spelled(&all[at..=at]);
            offsets.push(offset);
            offset += spelling.chars().count();
            spellings.push(spelling);
        }
        json(
            &json!({"choices": [{"index": 0, "text": "", "finish_reason": "length",
            "logprobs": {"tokens": spellings, "token_logprobs": found, "text_offset": offsets}}],
            "usage": {"prompt_tokens": read, "completion_tokens": max_tokens}}),
        )
    }

    fn chat(self, body: &Value) -> Script {
        let messages = body["messages"].as_array().unwrap();
        let text: String = messages
            .iter()
            .map(|m| m["content"].as_str().unwrap())
            .collect();
        let prompt = begin(true, tokens(&text, true));
        if prompt.len() >= CONTEXT {
            return too_long(prompt.len());
        }
        let chosen = &body["tool_choice"];
        if self.like == Like::LlamaCppPython && chosen == "required" {
            return answer(
                422,
                "",
                r#"{"error":{"message":"Input should be 'none' or 'auto'"}}"#,
            );
        }
        if chosen == "required" || chosen.is_object() {
            let tool = &body["tools"][0]["function"];
            return self.call(tool, body, &prompt);
        }
        if let Some(schema) = body.pointer("/response_format/json_schema/schema") {
            let text = match self.like {
                // It ignores the field.
                Like::LlamaCppPython => "it is ready".to_owned(),
                _ if schema["properties"]["ready"].is_object() => r#"{"ready":true}"#.to_owned(),
                _ => "{}".to_owned(),
            };
            let written = tokens(&text, false);
            return self.stream(body, &prompt, &written, "stop", None);
        }
        let (written, reason, stopped) = write(&prompt, body);
        self.stream(body, &prompt, &written, reason, stopped)
    }

    /// A call of the tool, its arguments a byte at a time.
    fn call(self, tool: &Value, body: &Value, prompt: &[i64]) -> Script {
        let schema = &tool["parameters"];
        let of = |name: &str| match &schema["properties"][name] {
            property if property["enum"].is_array() => property["enum"][0].clone(),
            property if property["type"] == "boolean" => json!(true),
            _ => json!("x"),
        };
        let required = schema["required"].as_array().into_iter().flatten();
        let required = required.map(|name| name.as_str().unwrap());
        let arguments: serde_json::Map<String, Value> =
            required.map(|name| (name.to_owned(), of(name))).collect();
        let most = ["max_tokens", "max_completion_tokens"];
        let most = most.iter().find_map(|name| body[*name].as_u64()).unwrap() as usize;
        let arguments = Value::Object(arguments).to_string();
        let delta = |call: Value| {
            event(
                &json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": null}]}),
            )
        };
        let named = json!({"name": tool["name"], "arguments": ""});
        let mut script = vec![
            events_head(),
            delta(json!({"index": 0, "id": "call-7", "type": "function", "function": named})),
        ];
        let pieces = arguments.as_bytes().iter().take(most);
        script.extend(pieces.map(|piece| {
            let piece = char::from(*piece).to_string();
            delta(json!({"index": 0, "function": {"arguments": piece}}))
        }));
        let reason = match arguments.len() > most {
            true => "length",
            false => "tool_calls",
        };
        script.push(event(
            &json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}),
        ));
        let written = arguments.len().min(most);
        script.push(event(&json!({"choices": [], "usage": {"prompt_tokens": prompt.len(), "completion_tokens": written}})));
        script.push(done());
        script
    }

    fn stream(
        self,
        body: &Value,
        prompt: &[i64],
        written: &[i64],
        reason: &str,
        stopped: Option<String>,
    ) -> Script {
        let chat = body["messages"].is_array();
        let logprobs = body["logprobs"] == true || body["logprobs"].is_number();
        let all = [prompt, written].concat();
        let mut script = vec![events_head()];
        for at in 0..=written.len() {
            script.push(Play::Wait(self.pause));
            let piece = written.get(at..at + 1).unwrap_or_default();
            let text = spelled(piece);
            let found: Vec<f64> = piece
                .iter()
                .map(|_| logprob(&all, prompt.len() + at))
                .collect();
            let mut choice = json!({"index": 0, "finish_reason": null});
            match chat {
                true => choice["delta"] = json!({"content": text}),
                false => choice["text"] = json!(text),
            }
            if logprobs {
                let content = piece.iter().zip(&found);
                choice["logprobs"] = match (self.like, chat) {
                    (Like::LlamaServer, _) => {
                        json!({"content": content.map(|(id, l)| json!({"id": id, "token": "", "logprob": l})).collect::<Vec<_>>()})
                    }
                    (_, true) => {
                        json!({"content": content.map(|(_, l)| json!({"token": "", "logprob": l})).collect::<Vec<_>>()})
                    }
                    (_, false) => json!({"token_logprobs": found}),
                };
            }
            let is_last = at == written.len();
            if is_last {
                choice["finish_reason"] = json!(reason);
            }
            match self.like {
                Like::Vllm => {
                    choice["stop_reason"] = json!(stopped.as_ref().filter(|_| is_last));
                    choice["token_ids"] = json!(piece);
                    if at == 0 {
                        choice["prompt_token_ids"] = json!(prompt);
                    }
                }
                Like::Sglang => {
                    choice["matched_stop"] = json!(stopped.as_ref().filter(|_| is_last))
                }
                _ => {}
            }
            script.push(event(&json!({"choices": [choice]})));
        }
        script.push(event(&json!({"choices": [], "usage": {"prompt_tokens": prompt.len(), "completion_tokens": written.len()}})));
        script.push(done());
        script
    }
}

fn too_long(tokens: usize) -> Script {
    let said = format!(
        "This model's maximum context length is {CONTEXT} tokens. However, your messages have {tokens} tokens."
    );
    answer(
        400,
        "",
        &json!({"error": {"message": said, "type": "BadRequestError", "code": 400}}).to_string(),
    )
}

fn tokens(text: &str, special: bool) -> Vec<i64> {
    let bytes = |text: &str| text.bytes().map(i64::from).collect::<Vec<_>>();
    match special {
        false => bytes(text),
        true => text
            .split(SPECIAL)
            .map(bytes)
            .collect::<Vec<_>>()
            .join(&CALL),
    }
}

fn begin(bos: bool, mut tokens: Vec<i64>) -> Vec<i64> {
    if bos {
        tokens.insert(0, BOS);
    }
    tokens
}

fn spelled(tokens: &[i64]) -> String {
    let bytes = tokens.iter().flat_map(|token| match *token {
        CALL => SPECIAL.as_bytes().to_vec(),
        byte => vec![u8::try_from(byte).unwrap_or(b'?')],
    });
    String::from_utf8_lossy(&bytes.collect::<Vec<_>>()).into_owned()
}

fn ids(value: &Value) -> Vec<i64> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|id| id.as_i64().unwrap())
        .collect()
}

/// In (-6, -0.1].
fn logprob(all: &[i64], at: usize) -> f64 {
    let mix = all[at] * 31 + all[at.saturating_sub(1)] * 17 + all[at.saturating_sub(2)] * 7;
    -0.1 - 5.9 * (mix % 101) as f64 / 101.0
}

/// The text after a prompt, why it ended, and the stop text.
fn write(prompt: &[i64], body: &Value) -> (Vec<i64>, &'static str, Option<String>) {
    let most = ["max_tokens", "max_completion_tokens"]
        .iter()
        .find_map(|name| body[*name].as_u64());
    let most = most.unwrap() as usize;
    let shift = prompt.len() + body["seed"].as_u64().unwrap_or(0) as usize;
    let whole = 20 + shift % 7;
    let long = prompt.ends_with(&tokens("go on", false));
    let whole = if long { 1_000 } else { whole };
    let written: Vec<i64> = (0..whole.min(most))
        .map(|at| i64::from(WORDS[(shift + at) % WORDS.len()]))
        .collect();
    let text = spelled(&written);
    let stops = body["stop"].as_array().into_iter().flatten();
    let stops = stops.map(|stop| stop.as_str().unwrap());
    let first = stops
        .filter_map(|stop| Some((text.find(stop)?, stop)))
        .min();
    match first {
        Some((at, stop)) => (written[..at].to_vec(), "stop", Some(stop.to_owned())),
        None if written.len() == most => (written, "length", None),
        None => (written, "stop", None),
    }
}

fn embeddings(body: &Value) -> Value {
    let texts = body["input"].as_array().unwrap();
    // In another order than they were asked for.
    let data = texts.iter().enumerate().rev().map(|(index, text)| {
        let mut counts = [1.0_f64; 8];
        for byte in text.as_str().unwrap().bytes() {
            counts[usize::from(byte) % 8] += f64::from(byte) / 16.0;
        }
        json!({"object": "embedding", "index": index, "embedding": counts})
    });
    json!({"data": data.collect::<Vec<_>>(), "usage": {"prompt_tokens": 3}})
}

/// A server that connects like a toy model and then plays this.
pub(crate) fn playing(like: Like, script: Script) -> (Server, OpenAi) {
    let toy = Toy::new(like);
    let ready = Arc::new(AtomicBool::new(false));
    let is_ready = ready.clone();
    let server = Server::start(move |seen: &Seen| {
        match is_ready.load(Ordering::SeqCst) && seen.path == "/v1/chat/completions" {
            true => script.clone(),
            false => toy.answer(seen),
        }
    });
    let model = block_on(OpenAi::connect(toy.config(&server, Route::Chat))).unwrap();
    ready.store(true, Ordering::SeqCst);
    (server, model)
}
