//! Finds out which form of request scores a given text soundly.

use journeyman::{
    domain::{Prompt, TokenId},
    text::TextStream,
};
use serde_json::{Value, json};

use crate::{
    answer::{Answer, Chunk},
    config::{Route, Scoring, ScoringForm},
    error::OpenAiError,
    http::Place,
    probe::WRITTEN,
    retry::Deadline,
    score::unrendered,
    server::Server,
    support::{ServerKind, TokenizerForm},
    tokens::Written,
};

/// The greatest difference of a written token's log-probability and its score (nats).
const NEAR: f64 = 0.05;

/// What the model wrote behind a known prompt.
struct Known {
    prompt: Written,
    /// Its tokens, where it is a text.
    before: Vec<TokenId>,
    text: String,
    /// The written tokens, where the server names them.
    ids: Vec<TokenId>,
    /// Of the written tokens.
    logprobs: Vec<f64>,
}

impl Server {
    pub(crate) async fn find_scoring(&mut self, deadline: Deadline) -> Result<(), OpenAiError> {
        let forms = match self.config.scoring {
            Scoring::Off => return Ok(()),
            Scoring::Form(form) => vec![form],
            Scoring::Probe => match self.support.server {
                ServerKind::Sglang => vec![ScoringForm::Generate, ScoringForm::EchoIds],
                ServerKind::LlamaCppPython => vec![ScoringForm::EchoText],
                ServerKind::LlamaServer => vec![ScoringForm::Forced],
                ServerKind::OpenAi => vec![],
                _ => vec![ScoringForm::EchoIds],
            },
        };
        if forms.is_empty() {
            self.support
                .decline("score", "the service scores no given texts");
            return Ok(());
        }
        if self.config.route == Route::Chat && self.renders().is_none() {
            return match self.config.scoring {
                Scoring::Form(_) => Err(unrendered()),
                _ => {
                    self.support.decline("score", unrendered());
                    Ok(())
                }
            };
        }
        let known = match self.known(deadline).await {
            Ok(known) => known,
            Err(error) if matches!(self.config.scoring, Scoring::Form(_)) => return Err(error),
            Err(error) => {
                for form in forms {
                    self.support
                        .decline(format!("score by {form}"), error.clone());
                }
                return Ok(());
            }
        };
        for form in forms {
            let zero = [true, false];
            let tries = if form == ScoringForm::EchoIds {
                &zero[..]
            } else {
                &zero[1..]
            };
            for &takes_zero in tries {
                self.echo_takes_zero = takes_zero;
                match self.sound_scores(form, &known, deadline).await {
                    Ok(()) => {
                        self.support.scoring = Some(form);
                        if form == ScoringForm::EchoText {
                            self.bos = known.before.first().copied();
                        }
                        return Ok(());
                    }
                    Err(error) if takes_zero && matches!(error, OpenAiError::Status { .. }) => {}
                    Err(error) if self.config.scoring == Scoring::Form(form) => return Err(error),
                    Err(error) => {
                        self.support.decline(format!("score by {form}"), error);
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// What the model writes behind the first known prompt to which it writes plain text: one that is tokenized as it was
    /// written, or else any.
    async fn known(&self, deadline: Deadline) -> Result<Known, OpenAiError> {
        let mut some = None;
        for prompt in &self.config.known {
            let known = self.write_known(prompt, deadline).await?;
            if known.text.is_empty() || known.logprobs.is_empty() {
                continue;
            }
            let ids = match self.support.tokenizer {
                Some(_) => self.data_ids(&known.text, deadline, true).await?,
                None => Vec::new(),
            };
            let ids = match self.support.tokenizer {
                // It adds the BOS token always.
                Some(TokenizerForm::Extras) => ids.strip_prefix(&self.begin[..]).unwrap_or(&ids),
                _ => &ids,
            };
            let same = known.ids.is_empty() || known.ids == ids;
            if same && ids.len() == known.logprobs.len() {
                return Ok(known);
            }
            some = some.or(Some(known));
        }
        some.ok_or_else(|| OpenAiError::shape(
            "behind no prompt of Config::known does the model write plain text with log-probabilities",
        ))
    }

    async fn write_known(&self, prompt: &Prompt, deadline: Deadline) -> Result<Known, OpenAiError> {
        let prompt = self.written(prompt, deadline).await?;
        let asked = self.model_for(None)?;
        let mut body = json!({
            "prompt": prompt.to_json(), "max_tokens": WRITTEN, "temperature": 0,
            "logprobs": 1, "seed": 1,
        });
        asked.choose_in(&mut body);
        let answer = self
            .ask(Place::Api("completions"), Some(&body), deadline)
            .await?;
        let text = answer
            .pointer("/choices/0/text")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        let chunk: Chunk = serde_json::from_value(answer)
            .map_err(|_| OpenAiError::shape("the known text has no log-probabilities"))?;
        let mut written = Answer::new(TextStream::new(Vec::new(), None));
        (written.absorb(chunk)).map_err(|error| self.http.clean(error))?;
        let before = match (&prompt, self.support.tokenizer) {
            (Written::Text(text), Some(_)) => self.ids(text, true, false, deadline).await?,
            _ => Vec::new(),
        };
        Ok(Known {
            prompt,
            before,
            text,
            ids: written.ids,
            logprobs: written.logprobs.iter().copied().map(f64::from).collect(),
        })
    }

    /// Scores what the model wrote. The scores must be the log-probabilities with which it was written: a server that is
    /// off by one token gives finite numbers too.
    async fn sound_scores(
        &self,
        form: ScoringForm,
        known: &Known,
        deadline: Deadline,
    ) -> Result<(), OpenAiError> {
        let asked = self.model_for(None)?;
        let scored = match (&known.prompt, form) {
            (Written::Text(prefix), ScoringForm::EchoText) => {
                let prefix = (prefix.as_str(), &known.before[..]);
                let scores = self.echo_text(&asked, prefix, &known.text, WRITTEN, deadline);
                scores.await?.logprobs
            }
            (Written::Ids(prefix), form) if form != ScoringForm::EchoText => {
                let ids = self.data_ids(&known.text, deadline, true).await?;
                self.of_ids(form, &asked, prefix, &ids, deadline).await?
            }
            _ => {
                return Err(OpenAiError::shape(
                    "this form needs another tokenizer than the server has",
                ));
            }
        };
        // A text may be tokenized otherwise than it was written: its first token at least is the same.
        let pairs: Vec<(f64, f64)> = scored
            .iter()
            .copied()
            .zip(known.logprobs.iter().copied())
            .collect();
        let same = if scored.len() == known.logprobs.len() {
            pairs.len()
        } else {
            pairs.len().min(1)
        };
        let other = pairs[..same].iter().find(|(a, b)| (a - b).abs() > NEAR);
        match (pairs.first(), other) {
            (None, _) => Err(OpenAiError::shape(
                "the known text has no scores to compare",
            )),
            (_, None) => Ok(()),
            (_, Some((a, b))) => Err(OpenAiError::shape(format!(
                "a token written with log-probability {b:.4} is scored {a:.4}: the server's scores belong to other tokens"
            ))),
        }
    }
}
