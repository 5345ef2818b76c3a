//! `model score`: the log-probability of given texts.

use journeyman::{
    Error, Result,
    contract::{ScoreRequest, TokenScores},
    domain::Prompt,
};
use serde_json::{Value, json};

use super::{
    arguments::Score,
    load::{Model, prompt},
};
use crate::output::{Answer, NATS, table};
use crate::progress::Progress;

/// A text with its scores.
struct Scored<'a> {
    text: &'a str,
    scores: TokenScores,
    pmi: Option<f64>,
}

impl Scored<'_> {
    fn key(&self) -> f64 {
        self.pmi.unwrap_or_else(|| self.scores.sum())
    }
}

pub(super) async fn score(command: &Score) -> Result<Answer> {
    let text = command.given.text()?;
    let system = command.given.system.as_deref();
    let model = Model::load(&command.load)?;
    let _progress = Progress::of("scoring");
    let request = |text: &str| ask(command, &model, prompt(system, text));
    let conditional = model.scorer.score(&request(&text)).await?;
    for (number, scores) in (1..).zip(&conditional) {
        if scores.ids.is_empty() {
            return Err(no_tokens(number));
        }
    }
    let pmi: Vec<Option<f64>> = match command.pmi {
        false => vec![None; conditional.len()],
        true => {
            let alone = model.scorer.score(&request("")).await?;
            let pairs = conditional.iter().zip(&alone);
            pairs
                .map(|(given, alone)| Some(given.sum() - alone.sum()))
                .collect()
        }
    };
    let texts = command.candidates.iter();
    let mut scored: Vec<Scored<'_>> = texts
        .zip(conditional)
        .zip(pmi)
        .map(|((text, scores), pmi)| Scored { text, scores, pmi })
        .collect();
    // A stable sort: equal texts stay in the order in which they were given.
    scored.sort_by(|a, b| b.key().total_cmp(&a.key()));
    Ok(Answer {
        json: json!({
            "model": model.scorer.model(),
            "candidates": scored.iter().map(as_json).collect::<Vec<_>>(),
        }),
        text: as_table(&scored, command.pmi),
        ..Answer::default()
    })
}

fn no_tokens(number: usize) -> Error {
    Error::invalid(
        "candidate",
        format!("candidate {number} has no tokens, so it has no probability"),
    )
    .with("candidate", number)
    .hint("give it some text, and a --max-tokens above 0")
}

fn ask(command: &Score, model: &Model, prompt: Prompt) -> ScoreRequest {
    ScoreRequest::new(prompt, command.candidates.clone())
        .with_max_continuation_tokens(command.max_tokens)
        .with_time_limit(model.time_limit)
}

fn as_json(scored: &Scored<'_>) -> Value {
    json!({
        "text": scored.text,
        "sum": scored.scores.sum(),
        "mean": scored.scores.mean(),
        "pmi": scored.pmi,
        "tokens": scored.scores.ids.len(),
        "cut": scored.scores.truncated,
        "ids": scored.scores.ids,
        "logprobs": scored.scores.logprobs,
    })
}

fn as_table(scored: &[Scored<'_>], pmi: bool) -> String {
    let mut head = vec!["SUM", "MEAN", "TOKENS", "CUT", "TEXT"];
    if pmi {
        head.insert(0, "PMI");
    }
    let rows: Vec<Vec<String>> = scored
        .iter()
        .map(|scored| {
            let pmi = scored.pmi.map(|pmi| format!("{pmi:.3}"));
            let cut = if scored.scores.truncated { "yes" } else { "no" };
            let rest = [
                format!("{:.3}", scored.scores.sum()),
                format!("{:.3}", scored.scores.mean()),
                scored.scores.ids.len().to_string(),
                cut.to_owned(),
                scored.text.to_owned(),
            ];
            pmi.into_iter().chain(rest).collect()
        })
        .collect();
    let mut text = table(&head, &rows);
    text.push_str(
        "SUM: the logarithm of the text's probability after the prompt, in nats. MEAN: the same for each of its tokens.",
    );
    if pmi {
        text.push_str(" PMI: SUM less that after an empty prompt, in nats.");
    }
    text.push_str(&format!(
        " CUT: the text was longer than --max-tokens. {NATS}\n"
    ));
    text
}
