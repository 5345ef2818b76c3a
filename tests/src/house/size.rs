//! How much of the SDK there is to read and to pass through, with the bounds that were set before the rebuilding of the rooms.

use std::collections::BTreeSet;

use super::{counted::PASSED, engine_words::papers_in_engine, is_test_file, production_lines};
use crate::{
    figures::{
        Bound, Figures, Outcome,
        stats::{mean, median},
    },
    source::{Sources, blank_tests, mask, names, public_api},
};

/// The folder of the SDK's sources.
const SDK: &str = "sdk/src/";

/// The types of `sdk/src` that a skill's text passes from a role's answer to a prompt: those that hold one skill's instructions,
/// or one skill of another of these types beside facts for one step. Questions, answers and changes that carry such a type,
/// and lists of them are left out. A new one is added here by hand; `docs/results/house.md` has the reason why each stays.
const SHAPES: [&str; 23] = [
    // A role's answer.
    "CurateCall",
    "GivenCall",
    "AriseDocument",
    "SkillDraft",
    "BankDraft",
    // On the way into the library.
    "Teaching",
    "DraftedSkill",
    "Compared",
    "Placing",
    "Placement",
    "Refined",
    "NextVersion",
    "GroupTrial",
    "Trial",
    "Skill",
    // In the library and its files.
    "Entry",
    "SkillMd",
    "Examined",
    // On the way into a prompt.
    "Ranked",
    "ChosenSkill",
    "InjectedSkill",
    "Due",
    "Experience",
];

pub(super) fn run(figures: &mut Figures<'_>) -> Outcome {
    // The old bound of this count stands beside it, in `counted`.
    figures.record(
        "files that a task passes: the bound of the rooms",
        PASSED.len() as f64,
        Bound::AtMost(28.0),
    );
    let sources = Sources::list()?;
    let files = sources.rust(SDK)?;
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.strip_prefix(SDK).unwrap_or(path), text.as_str()))
        .collect();
    let production = files.iter().filter(|(path, _)| !is_test_file(path));
    let production: Vec<(&str, &str)> = production.copied().collect();

    shapes(figures, &production);
    root(figures, &files)?;
    lengths(figures, &production);
    let named = papers_in_engine(&production)?;
    for place in &named {
        figures.progress(format_args!("a paper's name: {place}"));
    }
    figures.record(
        "papers' names in the engine",
        named.len() as f64,
        Bound::AtMost(0.0),
    );
    Ok(())
}

fn shapes(figures: &mut Figures<'_>, production: &[(&str, &str)]) {
    let defined: BTreeSet<String> = production
        .iter()
        .flat_map(|(_, text)| {
            let (code, _) = blank_tests(&mask(text));
            names(&code, &["struct", "enum"])
        })
        .map(|(_, name)| name)
        .collect();
    let found = SHAPES.iter().filter(|shape| defined.contains(**shape));
    figures.record(
        "shapes of a skill",
        found.count() as f64,
        Bound::AtMost(7.0),
    );
    let listed = SHAPES.len() as f64;
    figures.record("shapes of a skill, listed", listed, Bound::None);
}

/// The names that `use journeyman::X` can take, with every feature.
fn root(figures: &mut Figures<'_>, files: &[(&str, &str)]) -> Outcome {
    let lines = public_api("journeyman", files.iter().copied())?;
    let lines = lines.iter().filter_map(|line| line.split_once(' '));
    let at_root: Vec<(&str, &str)> = lines
        .filter(|(path, _)| path.matches("::").count() == 1)
        .collect();
    let modules: BTreeSet<&str> = at_root
        .iter()
        .filter(|(_, what)| what.split(' ').next() == Some("mod"))
        .map(|(path, _)| *path)
        .collect();
    let names: BTreeSet<&str> = at_root.iter().map(|(path, _)| *path).collect();
    figures.record(
        "public modules at the crate's root",
        modules.len() as f64,
        Bound::AtMost(12.0),
    );
    figures.record(
        "names at the crate's root",
        names.len() as f64,
        Bound::AtMost(25.0),
    );
    Ok(())
}

/// The lengths of the production files, tests apart.
fn lengths(figures: &mut Figures<'_>, production: &[(&str, &str)]) {
    let lengths = production.iter();
    let mut lengths: Vec<f64> = lengths
        .map(|(_, text)| production_lines(text) as f64)
        .collect();
    figures.record("production files", lengths.len() as f64, Bound::None);
    figures.record("lines of a file, mean", mean(&lengths), Bound::None);
    figures.record("lines of a file, median", median(&mut lengths), Bound::None);
}
