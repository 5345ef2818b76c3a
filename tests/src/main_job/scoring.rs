//! Scoring ten candidates behind a shared prefix against ten separate passes, side by side in one run.

use std::time::{Duration, Instant};

use futures::executor::block_on;
use journeyman::contract::{Dialect, ScoreRequest, Scorer};
use journeyman_toolworld::{
    dialect::{ApprenticeDialect, Mode},
    stream::{Universe, UniverseSpec},
};
use quickstart::Parts;

use super::library;
use crate::figures::{Bound, Figures, Outcome};

/// Pairs of timed passes, after one that is not counted.
const ROUNDS: usize = 60;

pub(super) fn run(figures: &mut Figures<'_>, parts: &Parts) -> Outcome {
    figures.progress(format_args!("ten candidates, {ROUNDS} rounds of both ways"));
    let seed = figures.options().seed;
    let universe = Universe::make(UniverseSpec::default(), seed.0)?;
    let dialect = ApprenticeDialect::new(Mode::Row);
    let continuations: Vec<String> = library::true_skills(&universe)?
        .iter()
        .take(10)
        .map(|skill| dialect.skill_text(skill))
        .collect();
    let mut ratios = Vec::new();
    let mut worst: f64 = 0.0;
    for (round, task) in universe.stream(ROUNDS + 1).iter().enumerate() {
        let request = ScoreRequest {
            prompt: dialect.score_prompt(&task.world.query),
            continuations: continuations.clone(),
            max_continuation_tokens: 128,
            time_limit: Duration::from_secs(60),
        };
        let start = Instant::now();
        let shared = block_on(parts.model.score(&request))?;
        let between = Instant::now();
        let separate = block_on(parts.model.score_separately(&request))?;
        let end = Instant::now();
        for (one, other) in shared.iter().zip(&separate) {
            assert_eq!(one.ids, other.ids, "the same tokens");
            for (a, b) in one.logprobs.iter().zip(&other.logprobs) {
                worst = worst.max((a - b).abs());
            }
        }
        if round > 0 {
            ratios.push((end - between).as_secs_f64() / (between - start).as_secs_f64());
        }
    }
    ratios.sort_by(f64::total_cmp);
    figures.record(
        "separate passes over shared prefix, median ratio of times",
        ratios[ROUNDS / 2],
        Bound::Above(1.0),
    );
    figures.record(
        "greatest difference of a token's log-probability",
        worst,
        Bound::AtMost(1e-3),
    );
    Ok(())
}
