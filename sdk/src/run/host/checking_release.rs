//! Checks of the parts by which skills leave their trial.

use crate::{
    contract::Backends,
    domain::State,
    library::SkillLibrary,
    recipe::Recipe,
    report::{Finding, FindingKind},
};

/// The findings about the release of skills: what cannot be replayed, and what stays in quarantine.
pub(super) fn release_findings(
    backends: &Backends,
    recipe: &Recipe,
    library: &SkillLibrary,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let parts = [
        ("agent", backends.executor.is_none()),
        ("world", backends.environment.is_none()),
        ("judge", backends.judge.is_none()),
    ];
    let missing: Vec<&str> = parts
        .iter()
        .filter(|(_, missing)| *missing)
        .map(|(part, _)| *part)
        .collect();
    if let Some(bundles) = recipe.maintenance.bundles.filter(|_| !missing.is_empty()) {
        findings.push(Finding::new(
            FindingKind::NothingReplays,
            "no test bundle of a skill runs",
            format!("the host gave no {}", missing.join(" and no ")),
            format!(
                "skills leave their trial by live attempts at {} tasks instead",
                bundles.tasks
            ),
        ));
    }
    let repeats =
        (backends.environment.as_ref()).is_none_or(|world| world.capabilities().deterministic);
    if recipe.maintenance.bundles.is_some() && missing.is_empty() && !repeats {
        findings.push(
            Finding::new(
                FindingKind::NothingReplays,
                "no test case that begins in the middle of an attempt runs",
                "the environment does not declare that it is deterministic",
                "declare it in `Environment::capabilities` if it is; cases of whole attempts are played in any case",
            )
            .about("fragments"),
        );
    }
    findings.extend(quarantine_finding(library));
    findings
}

/// The finding that skills are in quarantine.
pub(super) fn quarantine_finding(library: &SkillLibrary) -> Option<Finding> {
    let held = library.entries();
    let held = held.filter(|entry| entry.skill.state == State::Quarantined);
    match held.count() {
        0 => None,
        1 => Some(quarantined("one skill of the library is")),
        count => Some(quarantined(format!("{count} skills of the library are"))),
    }
}

/// The finding that skills stay in quarantine.
pub(super) fn quarantined(what: impl std::fmt::Display) -> Finding {
    Finding::new(
        FindingKind::Quarantined,
        format!("{what} in quarantine, and never offered to the agent"),
        "written from observations of an untrusted source, or imported; no run releases such a skill",
        "release a skill with `Journeyman::set_state`, and mark the sources that you trust as `Trust::Trusted`",
    )
}
