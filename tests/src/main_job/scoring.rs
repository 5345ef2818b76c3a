//! Scoring ten candidates behind a shared prefix against ten separate passes, side by side in one run.

use std::time::Instant;

use futures::executor::block_on;
use journeyman::contract::{ScoreRequest, Scorer, TokenScores};
use journeyman::testing::Edited as _;
use journeyman_toolworld::stream::{Universe, UniverseSpec};
use quickstart::Parts;

use super::library;
use crate::figures::{Bound, Figures, Outcome, stats};

/// Candidates that are scored together.
const CANDIDATES: usize = 10;

/// Pairs of timed passes, after one that is not counted.
const ROUNDS: usize = 60;

pub(super) fn run(figures: &mut Figures<'_>, parts: &Parts) -> Outcome {
    figures.progress(format_args!("ten candidates, {ROUNDS} rounds of both ways"));
    let seed = figures.options().seed;
    let universe = Universe::make(UniverseSpec::default(), seed.0)?;
    let prompt_format = parts.prompt_format();
    let continuations: Vec<String> = library::true_skills(&universe)?
        .iter()
        .take(CANDIDATES)
        .map(|skill| prompt_format.skill_text(skill))
        .collect();
    let mut ratios = Vec::new();
    let mut worst: f64 = 0.0;
    for (round, task) in universe.stream(ROUNDS + 1).iter().enumerate() {
        let request = ScoreRequest::new(
            prompt_format.score_prompt(&task.world.query),
            continuations.clone(),
        );
        let start = Instant::now();
        let shared = block_on(parts.model.score(&request))?;
        let between = Instant::now();
        let separate = separately(parts, &request)?;
        let end = Instant::now();
        worst = worst.max(apart(&shared, &separate)?);
        if round > 0 {
            ratios.push((end - between).as_secs_f64() / (between - start).as_secs_f64());
        }
    }
    figures.record(
        "separate passes over shared prefix, median ratio of times",
        stats::median(&mut ratios),
        Bound::Above(1.0),
    );
    figures.record(
        "greatest difference of a token's log-probability",
        worst,
        Bound::AtMost(1e-3),
    );
    Ok(())
}

/// A request for each candidate: in the model's deterministic mode, none finds what another one decoded.
fn separately(
    parts: &Parts,
    request: &ScoreRequest,
) -> Result<Vec<TokenScores>, journeyman::Error> {
    let mut scores = Vec::new();
    for continuation in &request.continuations {
        let alone = request
            .clone()
            .edited(|it| it.continuations = vec![continuation.clone()]);
        scores.extend(block_on(parts.model.score(&alone))?);
    }
    Ok(scores)
}

/// The greatest difference of a token's log-probability between two ways to score the same candidates.
fn apart(shared: &[TokenScores], separate: &[TokenScores]) -> Result<f64, String> {
    if [shared.len(), separate.len()] != [CANDIDATES; 2] {
        return Err(format!(
            "of {CANDIDATES} candidates {} and {} were scored",
            shared.len(),
            separate.len()
        ));
    }
    let mut worst: f64 = 0.0;
    for (one, other) in shared.iter().zip(separate) {
        let tokens = one.ids.len();
        if tokens == 0 || one.ids != other.ids {
            return Err("the two ways scored other tokens, or none".to_owned());
        }
        if [one.logprobs.len(), other.logprobs.len()] != [tokens; 2] {
            return Err("a token has no log-probability".to_owned());
        }
        for (a, b) in one.logprobs.iter().zip(&other.logprobs) {
            let difference = (a - b).abs();
            if !difference.is_finite() {
                return Err("a log-probability is no number".to_owned());
            }
            worst = worst.max(difference);
        }
    }
    Ok(worst)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_have_to_score_every_token() {
        let scores = |ids: &[i32], logprobs: &[f64]| {
            let one = serde_json::json!({"ids": ids, "logprobs": logprobs, "truncated": false});
            vec![serde_json::from_value::<TokenScores>(one).unwrap(); CANDIDATES]
        };
        let (one, near) = (
            scores(&[1, 2], &[-1.0, -2.0]),
            scores(&[1, 2], &[-1.0, -2.5]),
        );
        assert_eq!(apart(&one, &near), Ok(0.5));
        assert!(apart(&one[1..], &near).is_err());
        assert!(apart(&one, &scores(&[1, 3], &[-1.0, -2.0])).is_err());
        assert!(apart(&one, &scores(&[1, 2], &[-1.0])).is_err());
        assert!(apart(&scores(&[], &[]), &scores(&[], &[])).is_err());
    }
}
