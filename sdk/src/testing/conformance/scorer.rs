//! The conformance suite of [`Scorer`].

use std::time::Duration;

use super::report::{Report, Tried, require, require_error, skip};
use crate::{
    contract::{ScoreRequest, Scorer, TokenScores},
    domain::{Message, Prompt, Speaker},
    error::{ErrorKind, Result},
};

/// The inputs for checking a scorer.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct ScorerFixture {
    /// The prompt before the continuations.
    pub prompt: Prompt,
    /// At least two texts of more than one token each.
    pub continuations: Vec<String>,
    /// The spelling of one of the model's special tokens; with none, the rule of data is skipped.
    pub special: Option<String>,
    /// The model's context in tokens; with none, the rule of prompts that are too long is skipped.
    pub context: Option<usize>,
    /// Time limit of a request.
    pub time_limit: Duration,
}

impl ScorerFixture {
    /// Continuations of a prompt, within a minute.
    pub fn new(prompt: Prompt, continuations: Vec<String>) -> Self {
        Self {
            prompt,
            continuations,
            special: None,
            context: None,
            time_limit: Duration::from_secs(60),
        }
    }

    /// The same with the spelling of one of the model's special tokens.
    #[must_use]
    pub fn with_special(mut self, special: impl Into<String>) -> Self {
        self.special = Some(special.into());
        self
    }

    /// The same with the model's context in tokens.
    #[must_use]
    pub fn with_context(mut self, context: impl Into<Option<usize>>) -> Self {
        self.context = context.into();
        self
    }

    /// The same with this time limit.
    #[must_use]
    pub fn with_time_limit(mut self, time_limit: Duration) -> Self {
        self.time_limit = time_limit;
        self
    }
}

/// Checks a scorer.
pub async fn check(scorer: &dyn Scorer, fixture: &ScorerFixture) -> Report {
    let mut report = Report::new("Scorer");
    report.case("one each", one_each(scorer, fixture).await);
    report.case("finite", finite(scorer, fixture).await);
    report.case("cut", cut(scorer, fixture).await);
    report.case("shared prefix", shared_prefix(scorer, fixture).await);
    report.case("data", data(scorer, fixture).await);
    report.case("empty", empty(scorer, fixture).await);
    report.case("too long", too_long(scorer, fixture).await);
    report.case("weights", weights(scorer));
    report
}

const ROOM: usize = 128;

async fn score(
    scorer: &dyn Scorer,
    fixture: &ScorerFixture,
    continuations: &[String],
    limit: usize,
) -> Result<Vec<TokenScores>> {
    let request = ScoreRequest {
        prompt: fixture.prompt.clone(),
        continuations: continuations.to_vec(),
        max_continuation_tokens: limit,
        time_limit: fixture.time_limit,
        adapter: None,
        repeatable: false,
    };
    scorer.score(&request).await
}

async fn one_each(scorer: &dyn Scorer, fixture: &ScorerFixture) -> Tried {
    let all = &fixture.continuations;
    let forward = score(scorer, fixture, all, ROOM).await?;
    require(forward.len() == all.len(), || {
        format!(
            "expected {0} entries for {0} continuations, found {1}",
            all.len(),
            forward.len()
        )
    })?;
    let turned: Vec<String> = all.iter().rev().cloned().collect();
    let backward = score(scorer, fixture, &turned, ROOM).await?;
    let same = (forward.iter().zip(backward.iter().rev())).all(|(a, b)| a.ids == b.ids);
    require(same && backward.len() == all.len(), || {
        "expected the entries of reversed continuations in reversed order, found others".to_owned()
    })
}

async fn finite(scorer: &dyn Scorer, fixture: &ScorerFixture) -> Tried {
    for scores in score(scorer, fixture, &fixture.continuations, ROOM).await? {
        let sound = (scores.logprobs.iter()).all(|logprob| logprob.is_finite() && *logprob <= 0.0);
        require(sound, || {
            format!(
                "expected finite log-probabilities of at most 0, found {:?}",
                scores.logprobs
            )
        })?;
        require(scores.logprobs.len() == scores.ids.len(), || {
            format!(
                "expected {} log-probabilities, one for each id, found {}",
                scores.ids.len(),
                scores.logprobs.len()
            )
        })?;
    }
    Ok(())
}

async fn cut(scorer: &dyn Scorer, fixture: &ScorerFixture) -> Tried {
    let whole = score(scorer, fixture, &fixture.continuations, ROOM).await?;
    for limit in [1, 2] {
        let short = score(scorer, fixture, &fixture.continuations, limit).await?;
        for (whole, short) in whole.iter().zip(&short) {
            require(short.ids.len() <= limit, || {
                format!("expected at most {limit} ids, found {}", short.ids.len())
            })?;
            require(short.truncated == (whole.ids.len() > limit), || {
                format!(
                    "expected `truncated` to be {} for {} tokens with a limit of {limit}, found {}",
                    whole.ids.len() > limit,
                    whole.ids.len(),
                    short.truncated
                )
            })?;
        }
    }
    Ok(())
}

async fn shared_prefix(scorer: &dyn Scorer, fixture: &ScorerFixture) -> Tried {
    let among = score(scorer, fixture, &fixture.continuations, ROOM).await?;
    for (continuation, among) in fixture.continuations.iter().zip(&among) {
        let alone = score(scorer, fixture, std::slice::from_ref(continuation), ROOM).await?;
        let alone = alone
            .first()
            .map_or(&[][..], |scores| scores.logprobs.as_slice());
        // Each difference is compared by itself, since a maximum would ignore NaN.
        let close = (alone.iter().zip(&among.logprobs)).all(|(a, b)| (a - b).abs() <= 1e-3);
        require(alone.len() == among.logprobs.len() && close, || {
            format!(
                "expected the log-probabilities {alone:?}, as for the continuation alone, found {:?} among others",
                among.logprobs
            )
        })?;
    }
    Ok(())
}

async fn data(scorer: &dyn Scorer, fixture: &ScorerFixture) -> Tried {
    let Some(special) = &fixture.special else {
        return skip("the fixture has no special token");
    };
    let scores = score(scorer, fixture, std::slice::from_ref(special), ROOM).await?;
    let tokens = scores.first().map_or(0, |scores| scores.ids.len());
    require(tokens > 1, || {
        format!(
            "expected the spelling of a special token to be plain text of several tokens, found {tokens} token"
        )
    })
}

async fn empty(scorer: &dyn Scorer, fixture: &ScorerFixture) -> Tried {
    let none = score(scorer, fixture, &[], ROOM).await?;
    require(none.is_empty(), || {
        format!(
            "expected no entries for no continuations, found {}",
            none.len()
        )
    })?;
    let one = fixture.continuations.first().cloned().unwrap_or_default();
    let mixed = score(scorer, fixture, &[String::new(), one], ROOM).await?;
    let first = mixed.first();
    let tokenless = first.is_some_and(|s| s.ids.is_empty() && s.logprobs.is_empty());
    require(mixed.len() == 2 && tokenless, || {
        format!("expected an entry without tokens for an empty continuation, found {first:?}")
    })
}

async fn too_long(scorer: &dyn Scorer, fixture: &ScorerFixture) -> Tried {
    let Some(context) = fixture.context else {
        return skip("the fixture has no context length");
    };
    let request = ScoreRequest {
        prompt: Prompt {
            // More words than the context has tokens.
            messages: vec![Message::data(Speaker::User, "word ".repeat(context + 1))],
            open: Vec::new(),
        },
        continuations: fixture.continuations.clone(),
        max_continuation_tokens: ROOM,
        time_limit: fixture.time_limit,
        adapter: None,
        repeatable: false,
    };
    let tried = scorer.score(&request).await;
    require_error(
        tried,
        &[ErrorKind::Invalid],
        "a request with a prompt longer than the context",
    )
    .map(drop)
}

fn weights(scorer: &dyn Scorer) -> Tried {
    let [alone, one, two] = [None, Some("one"), Some("two")].map(|name| scorer.weights(name));
    require(alone == *scorer.model(), || {
        format!(
            "expected the weights {} without an adapter, found {alone}",
            scorer.model()
        )
    })?;
    require(one != alone && two != alone && one != two, || {
        format!("expected other weights for each adapter, found {alone}, {one} and {two}")
    })
}
