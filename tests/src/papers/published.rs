//! The bank that SkillRL's published memories give.

use std::{error::Error, fs};

use journeyman::{
    domain::{Source, Trust},
    papers::skillrl::Compression,
};
use journeyman_interchange::{
    memories::{self, BankOptions, Memory, MemoryBank},
    skillrl,
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
    let (made, ratio) = compressed(parts, &all, &BankOptions::default())?;
    figures.record("skillrl.published memories", all.len() as f64, Bound::None);
    let mut count = |name: &str, count: usize| figures.record(name, count as f64, Bound::None);
    count("skillrl.skills of their bank", made.groups.len());
    count(
        "skillrl.patterns and mistakes of theirs that their bank leaves out",
        made.left_out,
    );
    // A bank that leaves groups out is smaller for that reason alone.
    let mut whole = BankOptions::default();
    whole.most = None;
    let (all_groups, whole) = compressed(parts, &all, &whole)?;
    count(
        "skillrl.skills of their bank that leaves nothing out",
        all_groups.groups.len(),
    );
    figures.record(name, ratio, Bound::AtLeast(10.0));
    figures.record(
        &format!("{name} that leaves nothing out"),
        whole,
        Bound::None,
    );
    Ok(())
}

/// The bank of the memories, and the tokens of the memories for each token of it.
fn compressed(
    parts: &Parts,
    all: &[Memory],
    options: &BankOptions,
) -> Result<(MemoryBank, f64), Box<dyn Error + Send + Sync>> {
    let made = memories::bank(all, options)?;
    let source = Source::new("skillrl", Trust::Untrusted);
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
    Ok((made, compression.ratio().unwrap_or(f64::NAN)))
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
