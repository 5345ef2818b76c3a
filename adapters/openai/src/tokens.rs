//! Tokens of texts, from the server's tokenizer.

use std::borrow::Cow;

use futures::future::try_join_all;
use journeyman::domain::{Prompt, Span, TokenId};
use serde_json::{Value, json};

use crate::{
    error::OpenAiError, http::Place, retry::Deadline, server::Server, support::TokenizerForm,
};

/// A prompt as it is sent to `/completions`.
#[derive(Clone, Debug)]
pub(crate) enum Written {
    /// Token ids.
    Ids(Vec<TokenId>),
    /// A text, with model marks in its data made harmless.
    Text(String),
}

impl Written {
    pub(crate) fn to_json(&self) -> Value {
        match self {
            Self::Ids(ids) => json!(ids),
            Self::Text(text) => json!(text),
        }
    }

    /// The greatest number of tokens that it can have: a token covers a byte at least.
    pub(crate) fn most_tokens(&self) -> u64 {
        let most = match self {
            Self::Ids(ids) => ids.len(),
            Self::Text(text) => text.len() + 1,
        };
        most as u64
    }
}

impl Server {
    /// The joined contents of a prompt, as ids where the server's tokenizer can tell data from markers.
    pub(crate) async fn written(
        &self,
        prompt: &Prompt,
        deadline: Deadline,
    ) -> Result<Written, OpenAiError> {
        let spans: Vec<Cow<'_, Span>> = prompt.spans().collect();
        match self.support.tokenizer {
            Some(TokenizerForm::Content | TokenizerForm::Prompt) => {
                let of_spans = spans.iter().map(|span| match span.as_ref() {
                    Span::Data(text) => self.data_ids(text, deadline, true),
                    Span::Control(text) => self.data_ids(text, deadline, false),
                });
                let ids = try_join_all(of_spans).await?.concat();
                let begins = !self.begin.is_empty() && ids.starts_with(&self.begin);
                let begin = if begins { &[][..] } else { &self.begin[..] };
                Ok(Written::Ids([begin, &ids].concat()))
            }
            _ => {
                let spelled = spans.iter().map(|span| match span.as_ref() {
                    Span::Data(text) => self.marks.harmless(text),
                    Span::Control(text) => text.as_str().into(),
                });
                Ok(Written::Text(spelled.collect()))
            }
        }
    }

    /// Refuses a text that alone is longer than the context, where it could be and the server's tokenizer can say:
    /// llama-cpp-python breaks the connection over such a prompt.
    pub(crate) async fn fits_as_text(
        &self,
        text: &str,
        deadline: Deadline,
    ) -> Result<(), OpenAiError> {
        let may_be_longer = text.len() > self.context();
        if may_be_longer && self.support.tokenizer == Some(TokenizerForm::Extras) {
            let ids = self.ids(text, true, false, deadline).await?;
            self.fits(ids.len(), 1)?;
        }
        Ok(())
    }

    /// The tokens of a text on its own: as data, in which no special token is found, or as the prompt author's.
    pub(crate) async fn data_ids(
        &self,
        text: &str,
        deadline: Deadline,
        is_data: bool,
    ) -> Result<Vec<TokenId>, OpenAiError> {
        match self.support.tokenizer {
            Some(TokenizerForm::Prompt) if is_data => {
                let pieces = self.marks.split(text).into_iter();
                let ids = pieces.map(|piece| self.ids(piece, !is_data, false, deadline));
                Ok(try_join_all(ids).await?.concat())
            }
            _ => self.ids(text, !is_data, false, deadline).await,
        }
    }

    /// Asks the server's tokenizer. `special` finds special tokens in the text, where the form can tell.
    pub(crate) async fn ids(
        &self,
        text: &str,
        special: bool,
        begin: bool,
        deadline: Deadline,
    ) -> Result<Vec<TokenId>, OpenAiError> {
        if text.is_empty() && !begin {
            return Ok(Vec::new());
        }
        let (place, body) = match self.support.tokenizer {
            Some(TokenizerForm::Content) => (
                Place::Root("tokenize"),
                json!({"content": text, "add_special": begin, "parse_special": special}),
            ),
            Some(TokenizerForm::Prompt) => (
                Place::Root("tokenize"),
                json!({"model": self.config.model, "prompt": text, "add_special_tokens": begin}),
            ),
            Some(TokenizerForm::Extras) => (Place::Root("extras/tokenize"), json!({"input": text})),
            None => return Err(OpenAiError::shape("the server has no tokenizer")),
        };
        let answer = self.ask(place, Some(&body), deadline).await?;
        token_ids(&answer)
    }
}

/// The ids of a tokenizer's answer.
pub(crate) fn token_ids(answer: &Value) -> Result<Vec<TokenId>, OpenAiError> {
    let tokens = answer.get("tokens").and_then(Value::as_array);
    let ids = tokens.map(|tokens| {
        let id = |token: &Value| TokenId::try_from(token.as_i64()?).ok();
        tokens.iter().map(id).collect::<Option<Vec<_>>>()
    });
    ids.flatten()
        .ok_or_else(|| OpenAiError::shape("the tokenizer gave no list of token ids"))
}
