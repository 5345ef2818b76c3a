//! Log-probabilities of a prompt that the server sends back.

use journeyman::{ErrorKind, contract::TokenScores, domain::TokenId};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    answer::sound,
    error::OpenAiError,
    http::Place,
    retry::Deadline,
    score::of,
    server::{Asked, Server},
    support::ServerKind,
};

/// An answer to a request with `echo` and `logprobs`.
#[derive(Debug, Deserialize)]
struct Echo {
    choices: Vec<EchoChoice>,
    usage: Option<EchoUsage>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct EchoUsage {
    prompt_tokens: usize,
    #[serde(default)]
    completion_tokens: usize,
}

#[derive(Debug, Deserialize)]
struct EchoChoice {
    logprobs: Option<EchoLogprobs>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct EchoLogprobs {
    pub(crate) token_logprobs: Vec<Option<f64>>,
    #[serde(skip)]
    usage: Option<EchoUsage>,
}

impl Server {
    /// Scores a continuation of a text, given with its tokens. Scoring begins where the tokens of both together part from
    /// those of the text alone.
    pub(crate) async fn echo_text(
        &self,
        asked: &Asked,
        (prefix, before): (&str, &[TokenId]),
        continuation: &str,
        most: usize,
        deadline: Deadline,
    ) -> Result<TokenScores, OpenAiError> {
        let text = format!("{prefix}{}", self.marks.harmless(continuation));
        let ids = self.ids(&text, true, false, deadline).await?;
        self.fits(ids.len(), 1)?;
        let answer = self.echo(asked, json!(text), ids.len(), deadline).await?;
        let of_ids = aligned(&ids, self.bos, answer)?;
        let from = before.iter().zip(&ids).take_while(|(a, b)| a == b).count();
        let truncated = ids.len() - from > most;
        let until = ids.len().min(from.saturating_add(most));
        let logprobs = of_ids[from..until].iter().copied().map(sound);
        Ok(TokenScores::new(
            ids[from..until].to_vec(),
            logprobs.collect::<Result<_, _>>()?,
        )
        .with_truncated(truncated))
    }

    /// Sends a prompt back with its log-probabilities.
    pub(crate) async fn echo(
        &self,
        asked: &Asked,
        prompt: Value,
        tokens: usize,
        deadline: Deadline,
    ) -> Result<EchoLogprobs, OpenAiError> {
        let mut body = json!({
            "model": asked.model, "prompt": prompt, "echo": true, "logprobs": 1, "temperature": 0,
            "max_tokens": i32::from(!self.echo_takes_zero),
        });
        if self.support.server == ServerKind::Vllm {
            body["add_special_tokens"] = json!(false);
        }
        let answer = self
            .paid(Place::Api("completions"), &body, tokens, deadline)
            .await?;
        let echo = of::<Echo>(answer)?;
        let choice = echo.choices.into_iter().next();
        let logprobs = choice.and_then(|choice| choice.logprobs);
        let mut logprobs =
            logprobs.ok_or_else(|| OpenAiError::shape("it has no log-probabilities"))?;
        logprobs.usage = echo.usage;
        Ok(logprobs)
    }
}

/// The log-probability of each of a text's tokens, as llama-cpp-python gives them (`_create_completion`, 0.3.36): it leaves
/// out every BOS token, and has the values of the following places only if it leaves one out at the text's begin. Texts and
/// offsets say nothing: it spells special tokens as empty texts. Where the BOS token is not known yet, the first token counts as
/// it; the probe then finds out by the values.
fn aligned(
    ids: &[TokenId],
    bos: Option<TokenId>,
    answer: EchoLogprobs,
) -> Result<Vec<Option<f64>>, OpenAiError> {
    let found = answer.token_logprobs;
    let usage = answer
        .usage
        .ok_or_else(|| OpenAiError::shape("it has no usage"))?;
    if usage.prompt_tokens != ids.len() {
        return Err(OpenAiError::shape(format!(
            "the server read {} tokens, and its tokenizer gave {}",
            usage.prompt_tokens,
            ids.len()
        )));
    }
    let begin = ids.first().copied();
    let none_left_out = found.len() == ids.len() + usage.completion_tokens;
    if none_left_out || bos.is_some() && begin != bos {
        return Err(OpenAiError::Request {
            kind: ErrorKind::Unsupported,
            what: "the text does not begin with the vocabulary's BOS token: llama-cpp-python then gives each token the log-probability of another place".to_owned(),
            hint: "begin the prompt with the BOS token as a span of control, or score with another server",
        });
    }
    let left_out = ids.iter().filter(|id| Some(**id) == begin).count();
    // The written tokens follow; a BOS token among them is left out too.
    let rest = (found.len() + left_out).checked_sub(ids.len());
    if rest.is_none_or(|rest| rest > usage.completion_tokens) {
        return Err(OpenAiError::shape(format!(
            "it has {} log-probabilities for {} tokens of a prompt",
            found.len(),
            ids.len()
        )));
    }
    let mut found = found.into_iter();
    let of = ids.iter().map(|id| match Some(*id) == begin {
        true => None,
        false => found.next().flatten(),
    });
    Ok(of.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The log-probabilities of three tokens that begin with `ids[0]`.
    fn check(
        bos: Option<TokenId>,
        ids: &[TokenId],
        found: &[Option<f64>],
        read: usize,
        expect: Result<Vec<Option<f64>>, &str>,
    ) {
        let answer = EchoLogprobs {
            token_logprobs: found.to_vec(),
            usage: Some(EchoUsage {
                prompt_tokens: read,
                completion_tokens: 1,
            }),
        };
        match (aligned(ids, bos, answer), expect) {
            (Ok(of), Ok(expect)) => assert_eq!(of, expect),
            (Err(error), Err(expect)) => assert!(error.to_string().contains(expect), "{error}"),
            (of, expect) => panic!("{of:?} in place of {expect:?}"),
        }
    }

    #[test]
    fn entries_are_matched_by_ids() {
        let (a, b, written) = (Some(-1.0), Some(-2.0), Some(-9.0));
        for bos in [None, Some(0)] {
            // The BOS token is 0; the first token behind it has none.
            let of = Ok(vec![None, None, a, b]);
            check(bos, &[0, 5, 6, 7], &[None, a, b, written], 4, of);
            // A BOS token within the text has none, and a written one no entry.
            let of = Ok(vec![None, None, None, b]);
            check(bos, &[0, 5, 0, 7], &[None, b, written], 4, of);
            check(bos, &[0, 5, 6], &[None, a], 3, Ok(vec![None, None, a]));
            // Nothing was left out: each value belongs to the place before.
            let refused = Err("does not begin with");
            check(bos, &[5, 6, 7], &[None, a, b, written], 3, refused);
            let refused = Err("the server read 4 tokens");
            check(bos, &[0, 5, 6], &[None, a, written], 4, refused);
            let refused = Err("2 log-probabilities for 4 tokens");
            check(bos, &[0, 5, 6, 7], &[None, a], 4, refused);
        }
        // A BOS token was left out, and not at the begin.
        let refused = Err("does not begin with");
        check(Some(0), &[5, 0, 7, 8], &[None, a, b, written], 4, refused);
    }
}
