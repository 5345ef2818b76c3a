//! How near a sentence encoder holds tasks and skills.

use std::{env, sync::Arc};

use futures::executor::block_on;
use journeyman::{
    contract::{Embedder, Embedding},
    domain::Skill,
};
use journeyman_fastembed::{FastEmbedder, FastEmbedderConfig, Pooling};
use journeyman_llama_cpp::PublicModel;

use super::{data::Set, matrix::Matrix};
use crate::{figures::Figures, real_models::told};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Characters of a passage, and passages of a skill at most.
const PASSAGE: (usize, usize) = (900, 12);

/// all-MiniLM-L6-v2; `None` where ONNX Runtime is not at hand.
pub(crate) fn encoder(figures: &mut Figures<'_>) -> Result<Option<Arc<FastEmbedder>>, Failure> {
    if env::var_os("ORT_DYLIB_PATH").is_none() {
        figures.progress(format_args!(
            "without embeddings: ORT_DYLIB_PATH is not set; run: export ORT_DYLIB_PATH=$(bash tests/adapters/fastembed.sh)"
        ));
        return Ok(None);
    }
    let model = PublicModel::named("minilm").ok_or("minilm is not known")?;
    let file = model.fetch(&mut |line| told(line))?;
    // A model of several files is a folder.
    let folder = match file.is_dir() {
        true => file,
        false => file.parent().ok_or("a model has a folder")?.to_owned(),
    };
    Ok(Some(FastEmbedder::load(FastEmbedderConfig::new(
        folder,
        Pooling::Mean,
    ))?))
}

fn embedded(encoder: &FastEmbedder, texts: &[String]) -> Result<Vec<Embedding>, Failure> {
    let mut made = Vec::new();
    for some in texts.chunks(16) {
        let some: Vec<&str> = some.iter().map(String::as_str).collect();
        made.extend(block_on(encoder.embed(&some))?);
    }
    Ok(made)
}

pub(super) fn card(skill: &Skill) -> String {
    format!(
        "{}. {}",
        skill.name.as_str().replace('-', " "),
        skill.description
    )
}

/// What an agent reads of a skill before it asks for the rest.
pub(super) fn card_with_trigger(skill: &Skill) -> String {
    match &skill.trigger {
        Some(trigger) => format!("{} {trigger}", card(skill)),
        None => card(skill),
    }
}

pub(super) fn passages(skill: &Skill) -> Vec<String> {
    let text: Vec<char> = skill.body.chars().collect();
    let passages = text.chunks(PASSAGE.0).take(PASSAGE.1);
    passages.map(|some| some.iter().collect()).collect()
}

/// Of each task and each skill, the skill's passage that is nearest to the task.
pub(super) fn nearest_passages(
    encoder: &FastEmbedder,
    set: &Set,
) -> Result<Vec<Vec<String>>, Failure> {
    let tasks = set.tasks.iter().map(|one| one.instruction.clone());
    let tasks = embedded(encoder, &tasks.collect::<Vec<_>>())?;
    let mut nearest: Vec<Vec<String>> = vec![Vec::new(); tasks.len()];
    for skill in &set.skills {
        let texts = passages(skill);
        let parts = embedded(encoder, &texts)?;
        for (task, row) in tasks.iter().zip(&mut nearest) {
            let parts = parts.iter().zip(&texts);
            let best = parts
                .max_by(|(one, _), (other, _)| task.cosine(one).total_cmp(&task.cosine(other)));
            row.push(best.map_or_else(String::new, |(_, text)| text.clone()));
        }
    }
    Ok(nearest)
}

/// Cosines of each task with each skill's name and description, with the nearest of its passages, and their sum.
pub(super) fn near(encoder: &FastEmbedder, set: &Set) -> Result<[Matrix; 3], Failure> {
    let tasks: Vec<String> = set
        .tasks
        .iter()
        .map(|one| one.instruction.clone())
        .collect();
    let tasks = embedded(encoder, &tasks)?;
    let cards: Vec<String> = set.skills.iter().map(card).collect();
    let cards = embedded(encoder, &cards)?;
    let mut parts = Vec::new();
    for skill in &set.skills {
        parts.push(embedded(encoder, &passages(skill))?);
    }
    let of_cards: Matrix = (tasks.iter())
        .map(|task| cards.iter().map(|card| task.cosine(card)).collect())
        .collect();
    let nearest = |task: &Embedding, parts: &[Embedding]| {
        parts
            .iter()
            .map(|part| task.cosine(part))
            .fold(-1.0, f64::max)
    };
    let of_passages: Matrix = (tasks.iter())
        .map(|task| parts.iter().map(|parts| nearest(task, parts)).collect())
        .collect();
    let both = super::table::sum(&of_cards, &of_passages);
    Ok([of_cards, of_passages, both])
}
