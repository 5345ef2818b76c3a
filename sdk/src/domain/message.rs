//! Messages and prompts. The author of a text decides how it is tokenized.

use serde::{Deserialize, Serialize};

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

/// One message.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Message {
    /// The speaker.
    pub speaker: Speaker,
    /// The content, in order.
    pub content: Vec<Span>,
}

impl Message {
    /// A message of one data span.
    pub fn data(speaker: Speaker, text: impl Into<String>) -> Self {
        Self {
            speaker,
            content: vec![Span::Data(text.into())],
        }
    }

    /// The content as one text.
    pub fn text(&self) -> String {
        self.content.iter().map(Span::text).collect()
    }
}

/// The messages that a model continues.
///
/// An adapter renders the messages by the model's chat template, or, for a model without one, writes their
/// contents one after the other with nothing between; `open` then begins the model's own turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Prompt {
    /// The messages so far.
    pub messages: Vec<Message>,
    /// The beginning of the model's own turn.
    pub open: Vec<Span>,
}

impl Prompt {
    /// All of it as one text, without any chat template.
    pub fn text(&self) -> String {
        let messages = self.messages.iter().flat_map(|message| &message.content);
        messages.chain(&self.open).map(Span::text).collect()
    }
}
