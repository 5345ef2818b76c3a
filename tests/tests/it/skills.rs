//! The skills that ship with the product: each is a strict SKILL.md, and ARISE's seeds are word for word Table 5's.

use std::{collections::BTreeMap, fs, path::Path};

use journeyman::{
    domain::{Origin, Skill, SkillDraft},
    library::format::{SkillMd, seed_skills},
};
use journeyman_lint::lint;
use journeyman_tests::skills;

fn seeds() -> Vec<Skill> {
    let admitted = |draft: &SkillDraft| {
        let id = format!("arise-{}", draft.title.replace('_', "-"));
        skills::admitted(draft, id, Origin::Seed).expect("a seed is a skill")
    };
    seed_skills()
        .iter()
        .map(|document| admitted(&SkillDraft::from(document)))
        .collect()
}

/// The SKILL.md of each folder of the crate, by name; its sources and its manifest are no skills.
fn in_folders(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(root).expect("the folder of skills") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("a name");
        if !["Cargo.toml", "src"].contains(&name.as_str()) {
            let text = fs::read_to_string(entry.path().join("SKILL.md")).expect("a SKILL.md");
            found.insert(name, text);
        }
    }
    found
}

#[test]
fn every_folder_is_shipped_as_a_strict_skill_md_and_the_seeds_are_the_papers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../skills");
    let all = journeyman_skills::all();
    let shipped: BTreeMap<_, _> = all
        .map(|skill| (skill.name.to_owned(), skill.text.to_owned()))
        .collect();
    assert_eq!(shipped, in_folders(&root));
    for (name, text) in &shipped {
        SkillMd::read_strict(text, Some(name)).expect("a strict SKILL.md");
    }
    let seeds = seeds();
    let names = seeds.iter().map(|seed| seed.name.as_str());
    let shipped_seeds = journeyman_skills::SEEDS.iter().map(|skill| skill.name);
    assert_eq!(shipped_seeds.collect::<Vec<_>>(), names.collect::<Vec<_>>());
    for seed in seeds {
        let expected = SkillMd::from(&seed).write().expect("it is written");
        let found = &shipped[seed.name.as_str()];
        assert_eq!(*found, expected, "{} should hold:\n{expected}", seed.name);
    }
}

#[test]
fn every_shipped_skill_passes_the_linter() {
    for skill in journeyman_skills::all() {
        let report = lint(skill.text.as_bytes(), Some(skill.name), &BTreeMap::new());
        assert_eq!(report.findings, [], "{}", skill.name);
        assert!(report.skill.is_some(), "{}", skill.name);
    }
}
