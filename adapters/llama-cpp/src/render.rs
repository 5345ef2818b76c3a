//! Prompts and texts into tokens.

use journeyman::{
    Error, ErrorKind, Result,
    domain::{Prompt, Span},
};
use llama_cpp_2::{
    model::{LlamaChatMessage, LlamaChatTemplate, LlamaModel},
    token::LlamaToken,
};

use crate::{
    config::Template,
    convert::{role, too_long},
};

const LOAD: &str = "LlamaCpp::load";
/// Stands in a rendered template where a message's content goes.
const PLACEHOLDER: &str = "JOURNEYMAN-CONTENT-";

/// A model's vocabulary and chat template.
pub(crate) struct Renderer {
    model: LlamaModel,
    template: Option<LlamaChatTemplate>,
    /// Greatest number of tokens of prompt and output.
    pub(crate) context: usize,
    /// Bytes of the longest token, at least 1.
    pub(crate) longest_token: usize,
}

impl Renderer {
    pub(crate) fn new(model: LlamaModel, template: &Template, context: usize) -> Result<Self> {
        let template = choose_template(&model, template)?;
        let longest_token = model
            .tokens(true)
            .map(|(_, bytes)| bytes.len())
            .max()
            .unwrap_or(1)
            .max(1);
        Ok(Self {
            model,
            template,
            context,
            longest_token,
        })
    }

    /// The bytes that a token stands for; special tokens spelled out.
    pub(crate) fn piece(&self, token: LlamaToken) -> Vec<u8> {
        self.model.vocab().token_to_piece(token, true, None)
    }

    pub(crate) fn ends_text(&self, token: LlamaToken) -> bool {
        self.model.vocab().is_eog(token)
    }

    /// Whether a text is one token that data cannot spell.
    pub(crate) fn is_control_token(&self, text: &str) -> bool {
        let mut tokens = Vec::new();
        self.append(&mut tokens, text, true);
        matches!(tokens[..], [token] if self.model.vocab().is_control(token))
    }

    /// The tokens of a text of any origin.
    pub(crate) fn data(&self, text: &str) -> Vec<LlamaToken> {
        let mut tokens = Vec::new();
        self.append(&mut tokens, text, false);
        tokens
    }

    /// The tokens of a prompt: at least one, and not certain to fit the context.
    pub(crate) fn prompt(
        &self,
        operation: &'static str,
        prompt: &Prompt,
    ) -> Result<Vec<LlamaToken>> {
        // Far too much text is refused before it is tokenised.
        let spans = prompt.messages.iter().flat_map(|message| &message.content);
        let bytes: usize = spans
            .chain(&prompt.open)
            .map(|span| span.text().len())
            .sum();
        let least = bytes / self.longest_token;
        if least > self.context {
            return Err(too_long(operation, least, self.context));
        }
        let mut tokens = Vec::new();
        match &self.template {
            Some(template) => self.render(operation, template, prompt, &mut tokens)?,
            None => {
                for message in &prompt.messages {
                    self.append_spans(&mut tokens, &message.content);
                }
            }
        }
        self.append_spans(&mut tokens, &prompt.open);
        self.begin(operation, &mut tokens)?;
        Ok(tokens)
    }

    /// Puts BOS in front where it belongs.
    fn begin(&self, operation: &'static str, tokens: &mut Vec<LlamaToken>) -> Result<()> {
        let vocab = self.model.vocab();
        let bos = vocab.bos();
        let known = (0..vocab.n_tokens()).contains(&bos.0);
        let wanted = if tokens.is_empty() {
            // Without one in the file, llama.cpp names an arbitrary token.
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

    /// Renders with placeholders instead of contents, so that the template's own text and the contents are told
    /// apart, whatever the contents are.
    fn render(
        &self,
        operation: &'static str,
        template: &LlamaChatTemplate,
        prompt: &Prompt,
        tokens: &mut Vec<LlamaToken>,
    ) -> Result<()> {
        let chat = prompt.messages.iter().enumerate();
        let chat: Vec<_> = chat
            .map(|(index, message)| chat_message(role(message.speaker), placeholder(index)))
            .collect::<Result<_>>()?;
        let unfit = |why: &'static str| {
            Error::unsupported(operation, why).hint(
                "put the system message first and let user and assistant take turns, or load with Template::None",
            )
        };
        let rendered = self
            .model
            .apply_chat_template(template, &chat, true)
            .map_err(|error| {
                unfit("the chat template refuses these messages").source_from(error)
            })?;
        let mut rest = rendered.as_str();
        for (index, message) in prompt.messages.iter().enumerate() {
            let (before, after) = rest
                .split_once(&placeholder(index))
                .ok_or_else(|| unfit("the chat template drops or reorders a message"))?;
            self.append(tokens, before, true);
            self.append_spans(tokens, &message.content);
            rest = after;
        }
        if rest.contains(PLACEHOLDER) {
            return Err(unfit("the chat template repeats a message"));
        }
        self.append(tokens, rest, true);
        Ok(())
    }

    fn append_spans(&self, tokens: &mut Vec<LlamaToken>, spans: &[Span]) {
        for span in spans {
            self.append(tokens, span.text(), matches!(span, Span::Control(_)));
        }
    }

    fn append(&self, tokens: &mut Vec<LlamaToken>, text: &str, special: bool) {
        if !text.is_empty() {
            tokens.extend(self.model.vocab().tokenize(text.as_bytes(), false, special));
        }
    }
}

fn placeholder(index: usize) -> String {
    format!("{PLACEHOLDER}{index}-END")
}

fn chat_message(role: &str, content: String) -> Result<LlamaChatMessage> {
    LlamaChatMessage::new(role.to_owned(), content)
        .map_err(|error| Error::new(ErrorKind::Internal, LOAD, error.to_string()))
}

fn choose_template(model: &LlamaModel, template: &Template) -> Result<Option<LlamaChatTemplate>> {
    let (chosen, unknown) = match template {
        Template::None => return Ok(None),
        Template::Auto => match model.chat_template(None) {
            Err(_) => return Ok(None),
            Ok(own) => (
                own,
                Error::unsupported(LOAD, "llama.cpp does not know the file's chat template")
                    .hint("load with Template::Named of a template that fits, such as `chatml`, or with Template::None"),
            ),
        },
        Template::Named(name) => {
            let unknown = Error::invalid(LOAD, format!("llama.cpp knows no chat template `{name}`"))
                .hint("use a name of llama.cpp's list, such as `chatml`, `llama3` or `gemma`");
            match LlamaChatTemplate::new(name) {
                Ok(named) => (named, unknown),
                Err(_) => return Err(unknown),
            }
        }
    };
    let probe = [chat_message("user", placeholder(0))?];
    match model.apply_chat_template(&chosen, &probe, true) {
        Ok(_) => Ok(Some(chosen)),
        Err(error) => Err(unknown.source_from(error)),
    }
}
