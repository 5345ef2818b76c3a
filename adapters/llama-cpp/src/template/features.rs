//! What a template can render, found out by rendering, and messages in the form that it accepts.

use std::borrow::Cow;

use journeyman::{
    Result,
    contract::{FinishReason, ToolChoice},
    domain::{Message, NativeCall, Span, Speaker, ToolCall, ToolDefinition},
    text::{ToolCalls, published_calls},
};
use serde_json::json;

use super::{conversation::Conversation, json::dumped, leaves::Piece};
use crate::calls::CallForm;

const TOOL: &str = "journeyman_probe";
const ARGUMENT: &str = "place";
/// Not plain, so that it stands behind a placeholder.
const SAID: &str = "journeyman <probe>";
const SEPARATOR: &str = "\n\n";

/// What a template can render.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Features {
    /// Whether it accepts a system message.
    pub(super) system: bool,
    /// Whether user and assistant must take turns.
    pub(super) alternates: bool,
    /// Whether it accepts a tool's message that answers no call.
    tool_role: bool,
    /// How it writes calls; `None` where it renders no tools.
    calls: Option<Calls>,
    /// Whether `enable_thinking` makes a difference.
    pub(crate) thinking_switch: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Calls {
    form: CallForm,
    /// Whether it wants arguments as the text of a JSON object.
    as_text: bool,
    /// Whether it accepts several calls in one message.
    several: bool,
    /// Whether it writes a system message where a tool's result is last. Mistral's templates to version 7 drop it.
    keeps_system: bool,
}

impl Default for Features {
    /// Any message, and no tools.
    fn default() -> Self {
        Self {
            system: true,
            alternates: false,
            tool_role: true,
            calls: None,
            thinking_switch: false,
        }
    }
}

impl Features {
    /// Finds the features out with renderings of a few messages.
    ///
    /// # Errors
    /// The template's, for a single message of the user.
    pub(super) fn of(
        render: impl Fn(&Conversation<'_>, bool) -> Result<Vec<Piece>>,
    ) -> Result<Self> {
        let plain = |messages: &[Message], thinking| {
            let conversation = Conversation {
                messages,
                tools: &[],
                thinking,
            };
            render(&conversation, false)
        };
        let accepts = |messages: &[Message]| plain(messages, None).is_ok();
        let user = said(Speaker::User);
        let alone = plain(std::slice::from_ref(&user), None)?;
        let mut features = Self {
            system: accepts(&[said(Speaker::System), user.clone()]),
            alternates: !accepts(&[user.clone(), user.clone()]),
            tool_role: accepts(&[user.clone(), said(Speaker::Assistant), said(Speaker::Tool)]),
            calls: None,
            thinking_switch: false,
        };
        let thinking = |is| plain(std::slice::from_ref(&user), Some(is)).ok();
        features.thinking_switch = thinking(true) != thinking(false);
        let tools = [probe()];
        let with_tools = Conversation {
            messages: std::slice::from_ref(&user),
            tools: &tools,
            thinking: None,
        };
        let shown = render(&with_tools, false);
        let shows_tools = shown.is_ok_and(|shown| names(&shown) && !names(&alone));
        if shows_tools {
            features.calls = [false, true]
                .into_iter()
                .find_map(|as_text| Calls::of(&render, as_text));
        }
        Ok(features)
    }

    /// The form of calls; `None` where the template renders no tools, or calls in an unknown form.
    pub(crate) fn form(&self) -> Option<&CallForm> {
        self.calls.as_ref().map(|calls| &calls.form)
    }

    /// Whether it accepts several calls in one message.
    #[cfg(test)]
    pub(super) fn several_calls(&self) -> bool {
        self.has_calls(|calls| calls.several)
    }

    pub(super) fn arguments_as_text(&self) -> bool {
        self.has_calls(|calls| calls.as_text)
    }

    fn has_calls(&self, with: impl Fn(&Calls) -> bool) -> bool {
        self.calls.as_ref().is_some_and(with)
    }

    /// The messages in a form that the template accepts: the system message in front of a message of the user, calls as
    /// text or one at a time, neighbors of one speaker merged.
    pub(super) fn adapted<'m>(&self, messages: &'m [Message]) -> Cow<'m, [Message]> {
        let mut messages = Cow::Borrowed(messages);
        if self.calls.is_none() && messages.iter().any(|one| !one.calls.is_empty()) {
            messages = messages.iter().map(in_words).collect();
        }
        // A template that accepts calls accepts their results; Mistral's refuses a result without a call's id.
        let is_refused = |one: &Message| {
            let is_result = self.calls.is_some() && one.answers.is_some();
            one.speaker == Speaker::Tool && !self.tool_role && !is_result
        };
        if messages.iter().any(is_refused) {
            let said = |one: &Message| match is_refused(one) {
                true => Message::new(Speaker::User, one.content.clone()),
                false => one.clone(),
            };
            messages = messages.iter().map(said).collect();
        }
        if messages.iter().any(|one| one.speaker == Speaker::System) {
            let ends_with_result = messages.last().map(|one| one.speaker) == Some(Speaker::Tool);
            if !self.system {
                messages = Cow::Owned(folded(&messages, |messages| {
                    messages.iter().position(is_user)
                }));
            } else if ends_with_result && self.has_calls(|calls| !calls.keeps_system) {
                // Where such a template writes it as long as the user speaks last.
                messages = Cow::Owned(folded(&messages, |messages| {
                    messages.iter().rposition(is_user)
                }));
            }
        }
        if self.has_calls(|calls| !calls.several) {
            messages = Cow::Owned(one_at_a_time(&messages));
        }
        if self.alternates {
            messages = Cow::Owned(merged(&messages));
        }
        messages
    }
}

impl Calls {
    fn of(
        render: &impl Fn(&Conversation<'_>, bool) -> Result<Vec<Piece>>,
        as_text: bool,
    ) -> Option<Self> {
        let tools = [probe()];
        let call = |number: usize| {
            let call = ToolCall::new(TOOL, json!({ARGUMENT: SAID}));
            NativeCall::new(format!("call{number:05}"), call)
        };
        let written = |messages: &[Message]| {
            let conversation = Conversation {
                messages,
                tools: &tools,
                thinking: None,
            };
            let pieces = render(&conversation, as_text).ok()?;
            Some(pieces.iter().map(text).collect::<String>())
        };
        let calling = |before: &[Message], calls: Vec<NativeCall>| {
            let answers = calls.iter().map(|call| Message::answering(call, SAID));
            let mut messages = before.to_vec();
            messages.push(Message::calling("", calls.clone()));
            messages.extend(answers);
            messages
        };
        let user = [said(Speaker::User)];
        let asked = written(&user)?;
        let called = calling(&user, vec![call(0)]);
        let answered = written(&called)?;
        // Behind the user's words stands what opens the model's turn, or the call, and then the result.
        let opening = &asked[asked.rfind(SAID)? + SAID.len()..];
        let begin = answered.find(SAID)? + SAID.len();
        let with_result = &answered[begin..answered.rfind(SAID)?];
        let alone = written(&called[..called.len() - 1]);
        let alone = alone.as_deref().and_then(|alone| alone.get(begin..));
        // The result's own opening may look like a call; some templates write a call otherwise where it is last.
        let shared = alone.map(|alone| common(with_result, alone));
        let is_call = |text: &&str| is_read(text, &tools, &call(0));
        let call_text = shared.filter(is_call);
        let call_text = call_text.or_else(|| Some(with_result).filter(is_call))?;
        let arguments = dumped(&json!({ARGUMENT: SAID}));
        Some(Self {
            form: CallForm::of(call_text, opening, TOOL, &arguments)?,
            as_text,
            several: written(&calling(&user, vec![call(0), call(1)])).is_some(),
            keeps_system: written(&calling(
                &[said(Speaker::System), said(Speaker::User)],
                vec![call(0)],
            ))
            .is_some(),
        })
    }
}

/// Whether a call is read back from a text.
fn is_read(text: &str, tools: &[ToolDefinition], call: &NativeCall) -> bool {
    let found = published_calls(text, &|name| name == TOOL).unwrap_or_default();
    let calls = ToolCalls::new(tools, &ToolChoice::Auto);
    let read = calls.and_then(|calls| calls.read(found.calls, FinishReason::EndOfText));
    matches!(read.as_deref(), Ok([one]) if one.call == call.call)
}

/// What two texts begin with.
fn common<'t>(text: &'t str, other: &str) -> &'t str {
    let same = text.chars().zip(other.chars());
    let same = same.take_while(|(one, other)| one == other);
    &text[..same.map(|(one, _)| one.len_utf8()).sum()]
}

fn probe() -> ToolDefinition {
    let schema = json!({
        "type": "object",
        "properties": {ARGUMENT: {"type": "string", "description": "Where."}},
        "required": [ARGUMENT],
    });
    ToolDefinition::new(TOOL, "Looks.", schema)
}

fn said(speaker: Speaker) -> Message {
    Message::data(speaker, SAID)
}

fn text(piece: &Piece) -> String {
    match piece {
        Piece::Template(text) => text.clone(),
        Piece::Content(spans) => spans.iter().map(Span::text).collect(),
    }
}

fn names(pieces: &[Piece]) -> bool {
    pieces.iter().any(|piece| text(piece).contains(TOOL))
}

fn in_words(message: &Message) -> Message {
    let spans = message.spans().map(Cow::into_owned);
    Message::new(message.speaker, spans.collect())
}

fn is_user(message: &Message) -> bool {
    message.speaker == Speaker::User
}

/// The system messages in front of a message of the user.
fn folded(messages: &[Message], place: impl Fn(&[Message]) -> Option<usize>) -> Vec<Message> {
    let (system, mut rest): (Vec<Message>, Vec<Message>) = messages
        .iter()
        .cloned()
        .partition(|message| message.speaker == Speaker::System);
    let mut rules = Message::new(Speaker::User, Vec::new());
    for message in &system {
        join(&mut rules, message);
    }
    match place(&rest) {
        Some(at) => {
            join(&mut rules, &rest[at]);
            rest[at].content = rules.content;
        }
        None => rest.insert(0, rules),
    }
    rest
}

/// Each call in a message of its own, with its result behind it.
fn one_at_a_time(messages: &[Message]) -> Vec<Message> {
    let mut out: Vec<Message> = Vec::new();
    let mut answers: Vec<&Message> = messages
        .iter()
        .filter(|message| message.speaker == Speaker::Tool && message.answers.is_some())
        .collect();
    for message in messages {
        if message.calls.len() < 2 {
            let is_placed = message.speaker == Speaker::Tool
                && message.answers.is_some()
                && !answers.iter().any(|one| std::ptr::eq(*one, message));
            if !is_placed {
                out.push(message.clone());
            }
            continue;
        }
        for (number, call) in message.calls.iter().enumerate() {
            let mut own = message.clone();
            own.calls = vec![call.clone()];
            if number > 0 {
                own.content.clear();
            }
            out.push(own);
            let answer = |one: &&Message| {
                let answered = one.answers.as_ref();
                answered.is_some_and(|answered| answered.id == call.id)
            };
            if let Some(at) = answers.iter().position(answer) {
                out.push(answers.remove(at).clone());
            }
        }
    }
    out
}

/// Neighbors of one speaker as one message. A user who speaks behind a tool speaks in the tool's message, since templates that
/// let user and assistant take turns do not count tools and their callers.
fn merged(messages: &[Message]) -> Vec<Message> {
    let mut out: Vec<Message> = Vec::new();
    for message in messages {
        let Some(last) = out.last_mut() else {
            out.push(message.clone());
            continue;
        };
        let speaks_on = last.speaker == message.speaker
            && last.calls.is_empty()
            && message.speaker != Speaker::Tool;
        let behind_tool = last.speaker == Speaker::Tool && message.speaker == Speaker::User;
        if speaks_on || behind_tool {
            join(last, message);
            last.calls.clone_from(&message.calls);
        } else {
            out.push(message.clone());
        }
    }
    out
}

fn join(to: &mut Message, more: &Message) {
    if !to.content.is_empty() && !more.content.is_empty() {
        to.content.push(Span::Data(SEPARATOR.to_owned()));
    }
    to.content.extend(more.content.iter().cloned());
}
