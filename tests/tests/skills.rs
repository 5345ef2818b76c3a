//! The skills that ship with the product: each is a strict SKILL.md, and ARISE's seeds are word for word Table 5's.
#![allow(clippy::expect_used)]

use std::{fs, path::Path};

use journeyman::{
    SkillId, Version,
    admit::{Admittance, to_skill},
    domain::{Origin, Provenance, Skill, SkillDraft, Taint},
    format::{SkillMd, seed_skills},
};

fn seeds() -> Vec<Skill> {
    let admitted = |draft: &SkillDraft| {
        let admittance = Admittance {
            id: SkillId::new(format!("arise-{}", draft.title.replace('_', "-"))),
            version: Version(1),
            provenance: Provenance {
                origin: Origin::Seed,
                runs: Vec::new(),
                tasks: Vec::new(),
            },
            taint: Taint::Clean,
            parents: Vec::new(),
        };
        to_skill(draft, admittance).expect("a seed is a skill")
    };
    seed_skills()
        .iter()
        .map(|document| admitted(&SkillDraft::from(document)))
        .collect()
}

#[test]
fn every_shipped_skill_is_a_strict_skill_md_and_the_seeds_are_the_papers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../skills");
    let mut shipped = 0;
    for entry in fs::read_dir(&folder).expect("the folder of skills") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("a name");
        let text = fs::read_to_string(entry.path().join("SKILL.md")).expect("a SKILL.md");
        SkillMd::read_strict(&text, Some(&name)).expect("a strict SKILL.md");
        shipped += 1;
    }
    let seeds = seeds();
    assert!(shipped >= seeds.len());
    for seed in seeds {
        let expected = SkillMd::from(&seed).write().expect("it is written");
        let path = folder.join(seed.name.as_str()).join("SKILL.md");
        let found = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(
            found,
            expected,
            "{} should hold:\n{expected}",
            path.display()
        );
    }
}
