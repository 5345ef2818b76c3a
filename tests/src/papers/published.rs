//! The bank that SkillRL's published memories give.

use std::fs;

use journeyman::{
    domain::{Source, Trust},
    interchange::{
        memories::{self, BankOptions, Memory},
        skillrl,
    },
    measure::Compression,
};
use quickstart::Parts;

use crate::figures::{Bound, Figures, Outcome};

const FILE: &str = "skillrl/alfworld.generated_memories_alfworld_total.json";

pub(super) fn run(figures: &mut Figures<'_>, parts: &Parts) -> Outcome {
    let name = "skillrl.tokens of the published memories for each token of their bank";
    let Some(path) = figures.data(FILE) else {
        figures.skip(name, "needs --data DIR with the published memories");
        return Ok(());
    };
    let all = memories::read(&fs::read_to_string(path)?)?;
    let made = memories::bank(&all, &BankOptions::default())?;
    let source = Source {
        name: "skillrl".to_owned(),
        trust: Trust::Untrusted,
    };
    let skills = skillrl::read(&made.json, &source)?;
    // Each skill as it is given: its description with its body.
    let written = skills
        .iter()
        .map(|skill| format!("{}\n{}", skill.description, skill.body));
    let written: Vec<String> = written.collect();
    let raw: Vec<String> = all.iter().map(text).collect();
    let compression = Compression::of_texts(
        parts.model.as_ref(),
        written.iter().map(String::as_str),
        raw.iter().map(String::as_str),
    );
    figures.record("skillrl.published memories", all.len() as f64, Bound::None);
    figures.record(
        "skillrl.skills of their bank",
        skills.len() as f64,
        Bound::None,
    );
    let ratio = compression.ratio().unwrap_or(f64::NAN);
    figures.record(name, ratio, Bound::AtLeast(10.0));
    Ok(())
}

/// A memory as a memory of raw trajectories keeps it: its task, its steps with observations and reasons, and its mistakes.
fn text(memory: &Memory) -> String {
    let steps = memory.steps.iter().map(|step| {
        format!(
            "{}\n{}\n{}\n",
            step.action, step.observation, step.reasoning
        )
    });
    let mistakes = memory
        .mistakes_to_avoid
        .iter()
        .map(|one| format!("{}\n{}\n", one.trigger_condition, one.bad_action));
    let more: String = steps.chain(mistakes).collect();
    format!("{}\n{}\n{more}", memory.task, memory.description)
}
