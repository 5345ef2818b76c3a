//! Scoring behind a shared prefix against one pass for each candidate, on the bundled model.

use std::path::Path;

use futures::executor::block_on;
use journeyman::{
    agent::ChatFormat,
    contract::{GenerateRequest, LanguageModel, PromptFormat, ScoreRequest, Scorer, TokenScores},
};
use journeyman_llama_cpp::LlamaCpp;
use journeyman_toolworld::stream::{Universe, UniverseSpec};

use super::{bare::Bare, config};
use crate::{
    figures::{Bound, Figures, Outcome},
    main_job::library,
};

const QUERIES: usize = 30;
const CANDIDATES: usize = 10;

pub(super) fn run(figures: &mut Figures<'_>, path: &Path) -> Outcome {
    let seed = figures.options().seed;
    let universe = Universe::make(UniverseSpec::default(), seed.0)?;
    let model = LlamaCpp::load(config(path))?;
    let prompt_format = ChatFormat::of(model.capabilities());
    let skills = library::true_skills(&universe)?;
    let continuations: Vec<String> = skills
        .iter()
        .take(CANDIDATES)
        .map(|skill| prompt_format.skill_text(skill))
        .collect();
    let bare = Bare::load(path);
    let (mut worst, mut tokens) = (0.0_f64, 0);
    for task in universe.stream(QUERIES) {
        let request = ScoreRequest::new(
            prompt_format.score_prompt(&task.world.query),
            continuations.clone(),
        );
        let asked = GenerateRequest::greedy(request.prompt.clone(), 0);
        let prompt = block_on(model.generate(&asked))?.prompt_ids;
        for TokenScores { ids, logprobs, .. } in block_on(model.score(&request))? {
            let want = bare.score(&prompt, &ids);
            if want.len() != logprobs.len() || want.is_empty() {
                return Err("the two ways scored other tokens".into());
            }
            tokens += want.len();
            for (a, b) in logprobs.iter().zip(&want) {
                worst = worst.max(if a.is_finite() {
                    (a - b).abs()
                } else {
                    f64::INFINITY
                });
            }
        }
    }
    figures.record("bundled model: tokens scored", tokens as f64, Bound::None);
    figures.record(
        "bundled model: greatest difference from one-by-one scoring, a token",
        worst,
        Bound::AtMost(1e-3),
    );
    Ok(())
}
