//! The linter on generated and on known packages: nothing hostile gets by, and nothing ordinary is refused.
#![allow(clippy::expect_used, clippy::unwrap_used, missing_docs)]

use std::collections::{BTreeMap, BTreeSet};

use journeyman::{
    Seed,
    testing::{Hostile, RefusedBy, hostile, hostile_families, known_attacks, ordinary},
};
use journeyman_lint::{Report, Rule, Severity, lint};

fn look_at(package: &Hostile) -> Report {
    lint(&package.text, Some(&package.folder_name), &package.files)
}

fn check(package: &Hostile, seed: Option<Seed>) -> Report {
    let report = look_at(package);
    let refused = !report.is_acceptable();
    assert_eq!(
        refused,
        package.refused_by == RefusedBy::Lint,
        "{} (seed {seed:?}): {:#?}\n{}",
        package.what,
        report.findings,
        String::from_utf8_lossy(&package.text[..package.text.len().min(3000)])
    );
    assert_eq!(report.skill.is_some(), !refused);
    report
}

#[test]
fn every_hostile_package_of_the_generator_is_refused() {
    let mut met: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..1_000 {
        let package = hostile(Seed(seed));
        check(&package, Some(Seed(seed)));
        *met.entry(package.what).or_default() += 1;
    }
    assert!(met.len() >= 20);
    let families: BTreeSet<&str> = hostile_families().map(|(what, _)| what).collect();
    assert_eq!(met.keys().copied().collect::<BTreeSet<_>>(), families);
}

#[test]
fn every_known_attack_is_refused() {
    let attacks = known_attacks();
    let names: BTreeSet<&str> = attacks.iter().map(|attack| attack.what).collect();
    assert_eq!(names.len(), attacks.len());
    attacks.iter().for_each(|attack| drop(check(attack, None)));
}

/// What only quarantine holds is told to the person who may release it, where it is of a known form.
#[test]
fn known_persuasion_is_told_as_a_warning() {
    let told = known_attacks()
        .iter()
        .filter(|attack| attack.refused_by == RefusedBy::Quarantine)
        .map(look_at)
        .filter(|report| {
            let mut rules = report.findings.iter().map(|finding| finding.rule);
            rules.any(|rule| matches!(rule, Rule::PromptFrame | Rule::Suspicious))
        })
        .count();
    // All but the picture's address, which is an ordinary link.
    assert_eq!(told, 5);
}

#[test]
fn no_ordinary_skill_is_refused() {
    let mut distinct = BTreeSet::new();
    let mut warned = BTreeMap::new();
    for seed in 0..1_000 {
        let skill = ordinary(Seed(seed));
        let report = lint(&skill.text, Some(&skill.folder_name), &skill.files);
        let text = String::from_utf8(skill.text).unwrap();
        assert!(
            report.is_acceptable(),
            "{seed}: {:#?}\n{text}",
            report.findings
        );
        assert!(report.is_strict(), "{seed}: {:#?}\n{text}", report.findings);
        for finding in &report.findings {
            assert_eq!(finding.severity, Severity::Warning);
            *warned.entry(finding.rule).or_insert(0) += 1;
        }
        distinct.insert(text);
    }
    assert_eq!(distinct.len(), 1_000);
    assert_eq!(
        warned,
        BTreeMap::new(),
        "a warning on ordinary text is one too many"
    );
}

/// Bytes put in, taken out and cut anywhere: a report, never a panic, and never a skill beside an error.
#[test]
fn noise_gets_a_report() {
    for round in 0..1_500_u64 {
        let seed = Seed(round).derive("noise", 0);
        let (mut text, files) = match round % 2 {
            0 => (ordinary(seed).text, ordinary(seed).files),
            _ => (hostile(seed).text, BTreeMap::new()),
        };
        text.truncate(20_000);
        for cut in 0..(1 + round % 5) {
            let seed = seed.derive("cut", cut);
            let at = seed.index(text.len()).unwrap_or(0);
            match seed.derive("how", 0).index(3) {
                Some(0) => text.truncate(at),
                Some(1) => text.insert(at, (seed.0 >> 32) as u8),
                _ => text[at..]
                    .first_mut()
                    .into_iter()
                    .for_each(|byte| *byte = seed.0 as u8),
            }
        }
        let report = lint(&text, Some("folder"), &files);
        assert_eq!(report.skill.is_some(), report.is_acceptable());
    }
}
