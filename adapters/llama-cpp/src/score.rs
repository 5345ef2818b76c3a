//! The log-probability of given texts.

use std::ops::Range;

use journeyman::{
    Error, Result,
    contract::{ScoreRequest, TokenScores},
};
use llama_cpp_2::token::LlamaToken;

use crate::{
    convert::{ids, too_long},
    decode::{Engine, GoOn, Row, sequence_rows},
    sampling::LogSum,
};

pub(crate) const SCORE: &str = "LlamaCpp::score";

/// How the passes over the model are laid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passes {
    /// The prompt once, the continuations packed behind it.
    Shared,
    /// Prompt and continuation anew for each continuation.
    Separate,
}

/// A row, and the token behind it where that is to be scored.
struct Scored {
    row: Row,
    /// Which continuation.
    of: usize,
    next: Option<LlamaToken>,
}

pub(crate) fn score(
    engine: &mut Engine<'_>,
    request: &ScoreRequest,
    passes: Passes,
    go_on: GoOn<'_>,
) -> Result<Vec<TokenScores>> {
    if request.continuations.is_empty() {
        return Ok(Vec::new());
    }
    let prompt = engine.renderer.prompt(SCORE, &request.prompt)?;
    let mut texts = Vec::with_capacity(request.continuations.len());
    let mut scores = Vec::with_capacity(request.continuations.len());
    for continuation in &request.continuations {
        go_on()?;
        let mut tokens = engine.renderer.data(continuation);
        let truncated = tokens.len() > request.max_continuation_tokens;
        tokens.truncate(request.max_continuation_tokens);
        scores.push(TokenScores {
            ids: ids(&tokens),
            logprobs: Vec::with_capacity(tokens.len()),
            truncated,
        });
        texts.push(tokens);
    }
    check_room(engine, prompt.len(), &texts)?;
    match passes {
        Passes::Shared => shared(engine, &prompt, &texts, &mut scores, go_on)?,
        Passes::Separate => separate(engine, &prompt, &texts, &mut scores, go_on)?,
    }
    Ok(scores)
}

/// Refuses what would not fit the context; nothing is cut that the request did not say to cut.
fn check_room(engine: &Engine<'_>, prompt: usize, texts: &[Vec<LlamaToken>]) -> Result<()> {
    let context = engine.renderer.context;
    let longest = texts.iter().map(Vec::len).max().unwrap_or(0);
    if prompt >= context {
        return Err(too_long(SCORE, prompt, context));
    }
    if prompt + longest > context {
        return Err(Error::invalid(
            SCORE,
            format!("the prompt has {prompt} tokens, the longest continuation {longest} and the context {context}"),
        )
        .with("prompt_tokens", prompt)
        .with("continuation_tokens", longest)
        .with("context", context)
        .hint("shorten the prompt, lower max_continuation_tokens, or load the model with a larger n_ctx"));
    }
    Ok(())
}

fn shared(
    engine: &mut Engine<'_>,
    prompt: &[LlamaToken],
    texts: &[Vec<LlamaToken>],
    scores: &mut [TokenScores],
    go_on: GoOn<'_>,
) -> Result<()> {
    let row = engine.prefill(SCORE, prompt, go_on)?;
    let logits = engine.logits(row);
    let log_sum = LogSum::of(SCORE, logits)?;
    for (text, score) in texts.iter().zip(scores.iter_mut()) {
        if let Some(first) = text.first() {
            score
                .logprobs
                .push(log_sum.logprob(SCORE, logits, first.0)?);
        }
    }
    // The last token of a text is predicted, never read, so it takes no cell.
    let cells: Vec<usize> = texts
        .iter()
        .map(|text| text.len().saturating_sub(1))
        .collect();
    let free_cells = engine.limits.cells - prompt.len();
    for round in rounds(&cells, free_cells, engine.limits.sequences - 1) {
        let mut rows = Vec::new();
        for (slot, of) in round.clone().enumerate() {
            engine.fork(SCORE, slot + 1)?;
            rows.extend(scored_rows(&texts[of], of, slot + 1, prompt.len()));
        }
        decode_scored(engine, &rows, scores, go_on)?;
        for slot in 0..round.len() {
            engine.forget(SCORE, slot + 1)?;
        }
    }
    Ok(())
}

fn separate(
    engine: &mut Engine<'_>,
    prompt: &[LlamaToken],
    texts: &[Vec<LlamaToken>],
    scores: &mut [TokenScores],
    go_on: GoOn<'_>,
) -> Result<()> {
    for (of, text) in texts.iter().enumerate() {
        let Some(&first) = text.first() else {
            continue;
        };
        engine.reset();
        let read = prompt.iter().chain(text).copied();
        let next = prompt.iter().skip(1).map(|_| None);
        let next = next
            .chain([Some(first)])
            .chain(text.iter().skip(1).copied().map(Some));
        let rows: Vec<Scored> = sequence_rows(read, 0, 0)
            .zip(next)
            .map(|(row, next)| scored(row, of, next))
            .collect();
        decode_scored(engine, &rows, scores, go_on)?;
    }
    Ok(())
}

fn scored(row: Row, of: usize, next: Option<LlamaToken>) -> Scored {
    let logits = next.is_some();
    Scored {
        row: Row { logits, ..row },
        of,
        next,
    }
}

/// The rows that predict all tokens of a text but the first.
fn scored_rows(
    text: &[LlamaToken],
    of: usize,
    sequence: usize,
    from: usize,
) -> impl Iterator<Item = Scored> {
    sequence_rows(text.iter().copied(), sequence, from)
        .zip(text.iter().skip(1))
        .map(move |(row, &next)| scored(row, of, Some(next)))
}

fn decode_scored(
    engine: &mut Engine<'_>,
    rows: &[Scored],
    scores: &mut [TokenScores],
    go_on: GoOn<'_>,
) -> Result<()> {
    let wanted: Vec<usize> = rows.iter().map(|row| usize::from(row.row.logits)).collect();
    for batch in rounds(&wanted, engine.scored_rows(), engine.limits.batch) {
        go_on()?;
        let rows = &rows[batch];
        let batch: Vec<Row> = rows.iter().map(|scored| scored.row).collect();
        engine.decode(SCORE, &batch)?;
        for (index, scored) in rows.iter().enumerate() {
            if let Some(next) = scored.next {
                let logits = engine.logits(index);
                let logprob = LogSum::of(SCORE, logits)?.logprob(SCORE, logits, next.0)?;
                scores[scored.of].logprobs.push(logprob);
            }
        }
    }
    Ok(())
}

/// Cuts things, in order, into rounds of at most `count` things that need at most `room` together. Each fits alone.
fn rounds(needs: &[usize], room: usize, count: usize) -> Vec<Range<usize>> {
    let mut rounds = Vec::new();
    let (mut start, mut used) = (0, 0);
    for (index, &need) in needs.iter().enumerate() {
        if index > start && (index - start == count || used + need > room) {
            rounds.push(start..index);
            (start, used) = (index, 0);
        }
        used += need;
    }
    if start < needs.len() {
        rounds.push(start..needs.len());
    }
    rounds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_fit_cells_and_sequences() {
        let check = |needs: &[usize], room, count, ends: &[usize]| {
            let rounds = rounds(needs, room, count);
            let got: Vec<usize> = rounds.iter().map(|round| round.end).collect();
            assert_eq!(got, ends, "{needs:?}");
            let starts: Vec<usize> = rounds.iter().map(|round| round.start).collect();
            assert!(
                starts
                    .iter()
                    .zip([&0].into_iter().chain(ends))
                    .all(|(a, b)| a == b)
            );
        };
        check(&[], 10, 4, &[]);
        check(&[3, 3, 3], 10, 4, &[3]);
        check(&[3, 3, 3], 9, 4, &[3]);
        check(&[3, 3, 3], 8, 4, &[2, 3]);
        check(&[0, 0, 0, 0, 0], 8, 2, &[2, 4, 5]);
        check(&[8, 8, 1], 8, 4, &[1, 2, 3]);
    }
}
