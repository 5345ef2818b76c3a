//! Converting prompts and texts to tokens.

use std::borrow::Cow;

use journeyman::{
    Error, Result,
    domain::{Prompt, Span, ToolDefinition},
};
use llama_cpp_2::{model::LlamaModel, token::LlamaToken};

use crate::{
    calls::CallForm,
    config::{LlamaConfig, Thinking},
    constrain::{Alternative, Constraint, Grammars},
    convert::too_long,
    template::{ChatTemplate, Conversation, Piece, Spellings, spells_plain},
    tokens::Splitting,
};

/// Number of tokens beyond the wanted ones that are examined.
const AHEAD: usize = 8;
const THOUGHTS_OPEN: &str = "<think>";
const THOUGHTS_CLOSE: &str = "</think>";

/// A prompt as tokens.
pub(crate) struct Rendered {
    pub(crate) tokens: Vec<LlamaToken>,
    /// The mark with which the template has opened the model's thoughts, if it has.
    pub(crate) opened: Option<&'static str>,
}

/// What the model's own turn begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// Thoughts, where the template and the configuration have them.
    Thoughts,
    /// The answer: no thoughts.
    Answer,
}

/// A model's vocabulary and chat template.
pub(crate) struct Renderer {
    model: LlamaModel,
    splitting: Splitting,
    template: Option<ChatTemplate>,
    thinking: Thinking,
    /// The tokens of a phrase that is written again and again, after which a text is ended.
    pub(crate) most_repeated: Option<usize>,
    grammars: Grammars,
    /// Maximum tokens of prompt and output.
    pub(crate) context: usize,
    /// Length of the longest token in bytes, at least 1.
    pub(crate) longest_token: usize,
}

impl Renderer {
    pub(crate) fn new(model: LlamaModel, config: &LlamaConfig, context: usize) -> Result<Self> {
        let vocab = model.vocab();
        let spelled = |token: LlamaToken| match (0..vocab.n_tokens()).contains(&token.0) {
            true => String::from_utf8_lossy(&vocab.token_to_piece(token, true, None)).into_owned(),
            false => String::new(),
        };
        let own = model.chat_template(None).ok();
        let own = own.map(|own| String::from_utf8_lossy(own.as_c_str().to_bytes()).into_owned());
        let specials = (0..vocab.n_tokens())
            .map(LlamaToken)
            .filter(|token| vocab.is_control(*token));
        let spellings = Spellings {
            bos: spelled(vocab.bos()),
            eos: spelled(vocab.eos()),
            plain: specials
                .map(spelled)
                .filter(|token| spells_plain(token))
                .collect(),
        };
        let template = ChatTemplate::choose(&config.template, own, spellings)?;
        let longest_token = model
            .tokens(true)
            .map(|(_, bytes)| bytes.len())
            .max()
            .unwrap_or(1)
            .max(1);
        Ok(Self {
            splitting: Splitting::of(&model),
            model,
            template,
            thinking: config.thinking,
            most_repeated: config.most_repeated.map(|tokens| tokens as usize),
            grammars: Grammars::default(),
            context,
            longest_token,
        })
    }

    /// The bytes of a token; special tokens by their names.
    pub(crate) fn piece(&self, token: LlamaToken) -> Vec<u8> {
        self.model.vocab().token_to_piece(token, true, None)
    }

    pub(crate) fn ends_text(&self, token: LlamaToken) -> bool {
        self.model.vocab().is_eog(token)
    }

    /// The constraint of an output to one of these alternatives.
    pub(crate) fn constraint(
        &self,
        operation: &'static str,
        alternatives: &[Alternative],
    ) -> Result<Constraint> {
        (self.grammars).constraint(operation, &self.model, alternatives)
    }

    /// Whether no control token is spelled in a text.
    pub(crate) fn is_plain(&self, text: &str) -> bool {
        let mut tokens = Vec::new();
        self.append(&mut tokens, text, true);
        tokens == self.data(text)
    }

    /// The tokens of a text as data.
    pub(crate) fn data(&self, text: &str) -> Vec<LlamaToken> {
        let mut tokens = Vec::new();
        self.append(&mut tokens, text, false);
        tokens
    }

    /// The start of a text that its first `tokens` tokens can cover, and some more, so that the cut does not change
    /// them.
    pub(crate) fn head<'t>(&self, text: &'t str, tokens: usize) -> &'t str {
        let reach = tokens
            .saturating_add(AHEAD)
            .saturating_mul(self.longest_token);
        &text[..text.floor_char_boundary(reach)]
    }

    /// The first `most` tokens of a text as data, and whether there are more.
    pub(crate) fn first(&self, text: &str, most: usize) -> (Vec<LlamaToken>, bool) {
        let head = self.head(text, most);
        let mut tokens = self.data(head);
        if tokens.len() <= most && head.len() < text.len() {
            // In a vocabulary that drops spaces, tokens can cover more bytes.
            tokens = self.data(text);
        }
        let more = tokens.len() > most;
        tokens.truncate(most);
        (tokens, more)
    }

    /// The form in which the model writes calls; `None` where its template has no tools.
    pub(crate) fn call_form(&self) -> Option<&CallForm> {
        self.template.as_ref()?.features().form()
    }

    /// Maximum tokens of thoughts in an answer of at most `room` tokens: at least half of them are left for the answer.
    pub(crate) fn thoughts(&self, room: usize) -> usize {
        let half = room / 2;
        match self.thinking {
            Thinking::Budget(tokens) => half.min(tokens as usize),
            Thinking::Off | Thinking::Template => half,
        }
    }

    /// The tokens that end the model's thoughts.
    pub(crate) fn end_of_thoughts(&self) -> Vec<LlamaToken> {
        let mut tokens = Vec::new();
        self.append(&mut tokens, &format!("\n{THOUGHTS_CLOSE}\n\n"), true);
        tokens
    }

    /// The tokens of a prompt: at least one, and possibly more than fit the context.
    pub(crate) fn prompt(
        &self,
        operation: &'static str,
        prompt: &Prompt,
        tools: &[ToolDefinition],
        opening: Opening,
    ) -> Result<Rendered> {
        // Text far above the context is refused before it is tokenized.
        self.check_length(
            operation,
            prompt.spans().map(|span| span.text().len()).sum(),
        )?;
        let mut tokens = Vec::new();
        let mut opened = None;
        match &self.template {
            Some(template) => {
                let wants_answer = opening == Opening::Answer || self.thinking == Thinking::Off;
                let wants_thoughts = matches!(self.thinking, Thinking::Budget(_));
                let has_switch = template.features().thinking_switch;
                let pieces = template.render(
                    operation,
                    &Conversation {
                        messages: &prompt.messages,
                        tools,
                        thinking: (has_switch && (wants_answer || wants_thoughts))
                            .then_some(!wants_answer),
                    },
                )?;
                self.check_length(operation, pieces.iter().map(Piece::len).sum())?;
                let is_open = opens_thoughts(&pieces);
                self.append_pieces(&mut tokens, pieces);
                if is_open && wants_answer {
                    tokens.extend(self.end_of_thoughts());
                } else if is_open {
                    opened = Some(THOUGHTS_OPEN);
                }
            }
            None => {
                for message in &prompt.messages {
                    self.append_spans(&mut tokens, message.spans());
                }
            }
        }
        self.append_spans(&mut tokens, prompt.open.iter().map(Cow::Borrowed));
        self.begin(operation, &mut tokens)?;
        Ok(Rendered { tokens, opened })
    }

    /// Adds the beginning of a call, with the tools' names in it as data.
    pub(crate) fn begin_call(
        &self,
        tokens: &mut Vec<LlamaToken>,
        begun: &str,
        tools: &[ToolDefinition],
    ) {
        let named = tools
            .iter()
            .find_map(|tool| Some((begun.find(&tool.name)?, tool.name.len())));
        match named.filter(|_| !spells_plain(begun)) {
            Some((at, length)) if length > 0 => {
                self.append(tokens, &begun[..at], true);
                self.append(tokens, &begun[at..at + length], false);
                self.append(tokens, &begun[at + length..], true);
            }
            _ => self.append(tokens, begun, true),
        }
    }

    fn check_length(&self, operation: &'static str, bytes: usize) -> Result<()> {
        let least = bytes / self.longest_token;
        match least > self.context {
            true => Err(too_long(operation, least, self.context)),
            false => Ok(()),
        }
    }

    /// Adds the BOS token in front where it belongs.
    fn begin(&self, operation: &'static str, tokens: &mut Vec<LlamaToken>) -> Result<()> {
        let vocab = self.model.vocab();
        let bos = vocab.bos();
        let known = (0..vocab.n_tokens()).contains(&bos.0);
        let wanted = if tokens.is_empty() {
            // If the file has none, llama.cpp names an arbitrary token.
            known && vocab.is_control(bos)
        } else {
            known && vocab.should_add_bos() && tokens[0] != bos
        };
        if wanted {
            tokens.insert(0, bos);
        }
        if tokens.is_empty() {
            return Err(Error::invalid(operation, "the prompt is empty")
                .hint("this vocabulary has no BOS token: begin the prompt with some text"));
        }
        Ok(())
    }

    /// The template's own text is parsed as the prompt author's, and the contents as data or controls, as they are
    /// marked.
    fn append_pieces(&self, tokens: &mut Vec<LlamaToken>, pieces: Vec<Piece>) {
        for piece in pieces {
            match piece {
                Piece::Template(text) => self.append(tokens, &text, true),
                Piece::Content(spans) => {
                    self.append_spans(tokens, spans.into_iter().map(Cow::Owned));
                }
            }
        }
    }

    fn append_spans<'s>(
        &self,
        tokens: &mut Vec<LlamaToken>,
        spans: impl Iterator<Item = Cow<'s, Span>>,
    ) {
        for span in spans {
            let special = matches!(*span, Span::Control(_));
            self.append(tokens, span.text(), special);
        }
    }

    fn append(&self, tokens: &mut Vec<LlamaToken>, text: &str, special: bool) {
        tokens.extend(self.splitting.tokens(&self.model, text, special));
    }
}

/// Whether the template begins the model's turn with thoughts.
fn opens_thoughts(pieces: &[Piece]) -> bool {
    let last = match pieces.last() {
        Some(Piece::Template(text)) => text,
        _ => return false,
    };
    last.trim_end().ends_with(THOUGHTS_OPEN)
}
