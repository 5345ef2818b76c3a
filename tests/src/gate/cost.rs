//! What a decision costs, beside reading a prompt with the same model.

use std::{path::Path, sync::Arc, time::Instant};

use futures::executor::block_on;
use journeyman::{
    agent::ChatFormat,
    contract::{Components, ScoreRequest, Scorer, Tokenizer},
    domain::{Message, Prompt, ScoreKind, Skill, Speaker},
    policy::Answer,
    recipe::Limits,
    run::{Effect, Performer},
};
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp};

use super::data::Set;
use crate::figures::{Bound, Figures, Outcome};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Skills of a decision.
const AMONG: usize = 10;
/// Tokens of a task.
const TASK: usize = 300;
/// Times that each is measured.
const TIMES: usize = 5;

/// `score`: by which the session decides.
pub(super) fn record(
    figures: &mut Figures<'_>,
    set: &Set,
    (path, score): (&Path, ScoreKind),
) -> Outcome {
    if set.skills.len() < AMONG {
        return Ok(());
    }
    let mut config = LlamaConfig::new(path);
    config.n_ctx = Some(8_192);
    let model = LlamaCpp::load(config)?;
    let mut ratios: [Vec<f64>; 3] = Default::default();
    for time in 0..TIMES {
        figures.progress(format_args!(
            "the cost of a decision ({} of {TIMES})",
            time + 1
        ));
        // Other skills and tasks each time, so that nothing is known of the first decision's.
        let skills: Vec<Skill> = (0..AMONG)
            .map(|at| set.skills[(time * AMONG + at) % set.skills.len()].clone())
            .collect();
        let components = Components::own_loop()
            .with_scorer(model.clone())
            .with_prompt_format(Arc::new(ChatFormat::default()));
        let performer = Performer::new(Arc::new(components), Limits::default());
        let decide = |number: usize| -> Result<f64, Failure> {
            let task = task(&*model, set, 3 * time + number);
            let begun = Instant::now();
            let effect = Effect::Score {
                query: task,
                skills: skills.clone().into(),
                score,
                repeatable: false,
                fitted_for: None,
            };
            let Answer::Scored(scores) = block_on(performer.perform(effect))? else {
                return Err("the model gave no scores".into());
            };
            scores?;
            Ok(begun.elapsed().as_secs_f64())
        };
        let (first, again) = (decide(0)?, decide(1)?);
        for (ratios, (took, tokens)) in
            ratios
                .iter_mut()
                .zip([(first, 3_000), (again, 1_600), (again, 1_000)])
        {
            ratios.push(took / reading(&model, set, (time, tokens))?);
        }
    }
    let names = [
        "a decision among ten skills, the first time, by reading 3,000 tokens",
        "the same skills again, by reading 1,600 tokens",
        "the same skills again, by reading 1,000 tokens",
    ];
    for (name, mut ratios) in names.into_iter().zip(ratios) {
        ratios.sort_by(f64::total_cmp);
        figures.record(name, ratios[TIMES / 2], Bound::AtMost(1.0));
    }
    Ok(())
}

/// A text of about so many tokens that no other one begins with.
fn text(tokenizer: &dyn Tokenizer, set: &Set, number: usize, tokens: usize) -> String {
    let mut text = format!("Task {number}. ");
    for at in 0..set.tasks.len() {
        text.push_str(&set.tasks[(number + at) % set.tasks.len()].instruction);
        text.push('\n');
        if tokenizer.count(&text).tokens > tokens {
            break;
        }
    }
    tokenizer.truncate(&text, tokens)
}

fn task(tokenizer: &dyn Tokenizer, set: &Set, number: usize) -> String {
    text(tokenizer, set, number, TASK)
}

/// The seconds in which a prompt of so many tokens is read.
fn reading(model: &LlamaCpp, set: &Set, (time, tokens): (usize, usize)) -> Result<f64, Failure> {
    // A number of its own, so that no other text begins like it and nothing of it is read already.
    let text = text(model, set, 10_000 * (1 + time) + tokens, tokens);
    let request = ScoreRequest::new(
        Prompt::new(vec![Message::data(Speaker::User, text)]),
        vec![".".to_owned()],
    )
    .with_max_continuation_tokens(1)
    .with_time_limit(Limits::default().attempt);
    let begun = Instant::now();
    block_on(model.score(&request))?;
    Ok(begun.elapsed().as_secs_f64())
}
