//! Messages and prompts. The author of a text decides how it is tokenized.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::ToolCall;

/// The speaker of a message.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// The host's standing instructions.
    System,
    /// The person or world that asks.
    User,
    /// The model.
    Assistant,
    /// A tool's result.
    Tool,
}

/// A piece of a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Span {
    /// Text of any origin: tasks, tool results, skills. Tokenized with special parsing off, so that
    /// `<|im_end|>` in a user's text stays text.
    Data(String),
    /// The prompt author's own markers: tokenized with special parsing on.
    Control(String),
}

impl Span {
    /// The text, whichever kind it is.
    pub fn text(&self) -> &str {
        match self {
            Self::Data(text) | Self::Control(text) => text,
        }
    }
}

/// A tool call in the form of a model's own interface: written by the model, or shown to it as one that it made before.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NativeCall {
    /// The id that the model, its server or the prompt format gave the call; empty where none did.
    pub id: String,
    /// The tool and its arguments.
    pub call: ToolCall,
    /// Whether the name was written in another spelling, or values were in another type than the tool's schema wants, and were
    /// converted (`text::ToolCalls`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repaired: bool,
}

impl NativeCall {
    /// A call with its id.
    pub fn new(id: impl Into<String>, call: ToolCall) -> Self {
        Self {
            id: id.into(),
            call,
            repaired: false,
        }
    }
}

/// The call that a tool's message answers.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AnsweredCall {
    /// The call's id.
    pub id: String,
    /// The tool's name.
    pub tool: String,
}

impl AnsweredCall {
    /// A call of a tool, by its id.
    pub fn new(id: impl Into<String>, tool: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            tool: tool.into(),
        }
    }
}

/// One message.
///
/// ```
/// use journeyman::domain::{Message, NativeCall, Speaker, ToolCall};
/// use serde_json::json;
///
/// let call = ToolCall::new("brew", json!({"cups": 2}));
/// let asked = Message::calling("One moment.", vec![NativeCall::new("call00000", call)]);
/// let answered = Message::answering(&asked.calls[0], "2 cups");
/// assert_eq!(asked.speaker, Speaker::Assistant);
/// assert_eq!(answered.answers.unwrap().id, "call00000");
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Message {
    /// The speaker.
    pub speaker: Speaker,
    /// The content, in order.
    pub content: Vec<Span>,
    /// The calls of an assistant's message, made after its content. An adapter with the capability `tools` writes them in the
    /// form of the model's family; any other one as [`Message::spans`] does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<NativeCall>,
    /// The call that a tool's message answers, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<AnsweredCall>,
}

impl Message {
    /// A message of these spans, without calls.
    pub fn new(speaker: Speaker, content: Vec<Span>) -> Self {
        Self {
            speaker,
            content,
            calls: Vec::new(),
            answers: None,
        }
    }

    /// A message of one data span.
    pub fn data(speaker: Speaker, text: impl Into<String>) -> Self {
        Self::new(speaker, vec![Span::Data(text.into())])
    }

    /// A message of the assistant with calls, and the words before them, often none.
    pub fn calling(words: impl Into<String>, calls: Vec<NativeCall>) -> Self {
        Self {
            calls,
            ..Self::data(Speaker::Assistant, words)
        }
    }

    /// A tool's message that answers a call.
    pub fn answering(call: &NativeCall, text: impl Into<String>) -> Self {
        Self {
            answers: Some(AnsweredCall {
                id: call.id.clone(),
                tool: call.call.tool.clone(),
            }),
            ..Self::data(Speaker::Tool, text)
        }
    }

    /// The content, followed by each call as a JSON object with `name` and `arguments` on a line of its own: for a model without
    /// an interface for tools.
    pub fn spans(&self) -> impl Iterator<Item = Cow<'_, Span>> {
        let mut starts_line = self.content.iter().all(|span| span.text().is_empty());
        let calls = self.calls.iter().map(move |NativeCall { call, .. }| {
            let object = json!({"name": call.tool, "arguments": call.arguments});
            let line = match std::mem::take(&mut starts_line) {
                true => object.to_string(),
                false => format!("\n{object}"),
            };
            Cow::Owned(Span::Data(line))
        });
        self.content.iter().map(Cow::Borrowed).chain(calls)
    }

    /// The [spans](Self::spans) as one text.
    pub fn text(&self) -> String {
        self.spans().map(|span| span.text().to_owned()).collect()
    }
}

/// The messages that a model continues.
///
/// An adapter renders the messages by the model's chat template, or, for a model without one, writes their
/// contents one after the other with nothing between; `open` then begins the model's own turn.
///
/// ```
/// use journeyman::domain::{Message, Prompt, Speaker};
///
/// let mut prompt = Prompt::default();
/// prompt.messages.push(Message::data(Speaker::System, "Answer in one word."));
/// prompt.messages.push(Message::data(Speaker::User, "Where is the lamp?"));
/// assert!(prompt.text().ends_with("Where is the lamp?"));
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Prompt {
    /// The messages so far.
    pub messages: Vec<Message>,
    /// The beginning of the model's own turn.
    pub open: Vec<Span>,
}

impl Prompt {
    /// Messages, with nothing of the model's own turn.
    pub fn new(messages: Vec<Message>) -> Self {
        Self {
            messages,
            open: Vec::new(),
        }
    }
}

impl Prompt {
    /// The [spans](Message::spans) of all messages, and of the model's own turn.
    pub fn spans(&self) -> impl Iterator<Item = Cow<'_, Span>> {
        let messages = self.messages.iter().flat_map(Message::spans);
        messages.chain(self.open.iter().map(Cow::Borrowed))
    }

    /// All of it as one text, without any chat template.
    pub fn text(&self) -> String {
        self.spans().map(|span| span.text().to_owned()).collect()
    }
}
