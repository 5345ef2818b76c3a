//! The published SkillRL banks: read, written and equal.

use std::fs;

use journeyman::{
    domain::{LibraryChange, Skill, Source, Trust},
    library::SkillLibrary,
    testing::sample,
};
use journeyman_interchange::skillrl;
use serde_json::Value;

use crate::figures::{Bound, Figures, Outcome};

const BANKS: [&str; 2] = ["alfworld", "webshop"];

pub(super) fn run(figures: &mut Figures<'_>) -> Outcome {
    for bank in BANKS {
        let name = format!("bank {bank} comes back equal");
        let file = format!("skillrl/{bank}.claude_style_skills.json");
        let path = figures.data(&file).or_else(|| {
            let name = file.trim_start_matches("skillrl/");
            figures.data(name)
        });
        let Some(path) = path else {
            figures.skip(&name, "needs --data DIR with the published banks");
            continue;
        };
        let text = fs::read_to_string(path)?;
        let (skills, equal) = through(&text)?;
        figures.record(
            &format!("bank {bank} skills"),
            skills as f64,
            Bound::AtLeast(50.0),
        );
        figures.record(&name, f64::from(equal), Bound::AtLeast(1.0));
    }
    Ok(())
}

/// Reads a bank, sends it through a library and writes it. Gives the number of skills and whether it is equal.
fn through(text: &str) -> Result<(usize, bool), Box<dyn std::error::Error + Send + Sync>> {
    let source = Source::new("skillrl", Trust::Untrusted);
    let read = skillrl::read(text, &source)?;
    let changes = read
        .into_iter()
        .map(|skill| LibraryChange::Add(Box::new(skill)));
    let library = SkillLibrary::replay(&[sample::committed(1, changes.collect())])?;
    let skills: Vec<Skill> = library.entries().map(|entry| entry.skill.clone()).collect();
    let written: Value = serde_json::from_str(&skillrl::write(&skills)?)?;
    let whole: Value = serde_json::from_str(text)?;
    Ok((skills.len(), written == whole))
}
