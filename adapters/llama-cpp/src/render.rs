//! Converting prompts and texts to tokens.

use std::borrow::Cow;

use journeyman::{
    Error, Result,
    contract::{GenerateRequest, TokenCount},
    domain::{Prompt, Span},
};
use llama_cpp_2::{model::LlamaModel, token::LlamaToken};

use crate::{
    config::Template,
    constrain::{Constraint, Grammars},
    convert::{role, too_long},
    template::ChatTemplate,
    tokens::Splitting,
};

/// Number of tokens beyond the wanted ones that are examined.
const AHEAD: usize = 8;
/// About the length of a token in bytes, in a text that is too long to be tokenized.
const BYTES: usize = 3;

/// A model's vocabulary and chat template.
pub(crate) struct Renderer {
    model: LlamaModel,
    splitting: Splitting,
    template: Option<ChatTemplate>,
    grammars: Grammars,
    /// Maximum tokens of prompt and output.
    pub(crate) context: usize,
    /// Length of the longest token in bytes, at least 1.
    pub(crate) longest_token: usize,
}

impl Renderer {
    pub(crate) fn new(model: LlamaModel, template: &Template, context: usize) -> Result<Self> {
        let vocab = model.vocab();
        let spelled = |token: LlamaToken| match (0..vocab.n_tokens()).contains(&token.0) {
            true => String::from_utf8_lossy(&vocab.token_to_piece(token, true, None)).into_owned(),
            false => String::new(),
        };
        let own = model.chat_template(None).ok();
        let own = own.map(|own| String::from_utf8_lossy(own.as_c_str().to_bytes()).into_owned());
        let (bos, eos) = (spelled(vocab.bos()), spelled(vocab.eos()));
        let template = ChatTemplate::choose(template, own, bos, eos)?;
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

    /// The constraint of a request with a JSON Schema.
    pub(crate) fn constraint(
        &self,
        operation: &'static str,
        request: &GenerateRequest,
    ) -> Result<Option<Constraint>> {
        self.grammars.constraint(operation, &self.model, request)
    }

    /// Whether a text is one control token, which data cannot spell.
    pub(crate) fn is_control_token(&self, text: &str) -> bool {
        let mut tokens = Vec::new();
        self.append(&mut tokens, text, true);
        matches!(tokens[..], [token] if self.model.vocab().is_control(token))
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

    /// The number of tokens of a prompt, also of one that does not fit the context.
    pub(crate) fn count(&self, operation: &'static str, prompt: &Prompt) -> Result<TokenCount> {
        match self.prompt(operation, prompt) {
            Ok(tokens) => Ok(TokenCount {
                tokens: tokens.len(),
                estimated: false,
            }),
            Err(error) => {
                let least = error
                    .fact("prompt_tokens")
                    .and_then(|least| least.parse().ok());
                let least: usize = least.ok_or(error)?;
                Ok(TokenCount {
                    tokens: least.max(prompt.text().len() / BYTES),
                    estimated: true,
                })
            }
        }
    }

    /// The tokens of a prompt: at least one, and possibly more than fit the context.
    pub(crate) fn prompt(
        &self,
        operation: &'static str,
        prompt: &Prompt,
    ) -> Result<Vec<LlamaToken>> {
        // Text far above the context is refused before it is tokenized.
        let bytes: usize = prompt.spans().map(|span| span.text().len()).sum();
        let least = bytes / self.longest_token;
        if least > self.context {
            return Err(too_long(operation, least, self.context));
        }
        let mut tokens = Vec::new();
        match &self.template {
            Some(template) => self.render(operation, template, prompt, &mut tokens)?,
            None => {
                for message in &prompt.messages {
                    self.append_spans(&mut tokens, message.spans());
                }
            }
        }
        self.append_spans(&mut tokens, prompt.open.iter().map(Cow::Borrowed));
        self.begin(operation, &mut tokens)?;
        Ok(tokens)
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
    fn render(
        &self,
        operation: &'static str,
        template: &ChatTemplate,
        prompt: &Prompt,
        tokens: &mut Vec<LlamaToken>,
    ) -> Result<()> {
        let speakers = prompt.messages.iter().map(|message| message.speaker);
        let roles: Vec<&str> = speakers.map(role).collect();
        let mut texts = template.around(operation, &roles)?.into_iter();
        // In this order, because the iterator that ends first must be the messages.
        for (message, text) in prompt.messages.iter().zip(texts.by_ref()) {
            self.append(tokens, &text, true);
            self.append_spans(tokens, message.spans());
        }
        texts.for_each(|text| self.append(tokens, &text, true));
        Ok(())
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
