//! Checks of the parts by which skills leave their trial.

use crate::{
    contract::Components,
    domain::State,
    library::SkillLibrary,
    recipe::Recipe,
    report::{Finding, FindingKind},
};

/// The findings about the release of skills: what cannot be replayed, and what stays in quarantine.
pub(super) fn release_findings(
    components: &Components,
    recipe: &Recipe,
    library: &SkillLibrary,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let parts = [
        ("agent", components.executor.is_none()),
        ("world", components.environment.is_none()),
        ("judge", components.judge.is_none()),
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
    if let Some(world) = &components.environment
        && !world.capabilities().resettable
    {
        findings.extend(once_findings(recipe, missing.is_empty()));
        findings.extend(quarantine_finding(recipe, library));
        return findings;
    }
    let repeats =
        (components.environment.as_ref()).is_none_or(|world| world.capabilities().deterministic);
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
    findings.extend(quarantine_finding(recipe, library));
    findings
}

/// What a recipe does otherwise in a world that cannot be set up again. `bundles_run`: nothing else keeps bundles from running.
fn once_findings(recipe: &Recipe, bundles_run: bool) -> Vec<Finding> {
    const REASON: &str = "the environment does not declare that a task can be set up again";
    const HINT: &str = "declare `EnvironmentCapabilities::resettable` (`resettable = True` in Python) if a second attempt at a task finds the world as the \
                        first one did";
    let mut findings = Vec::new();
    let group = recipe.attempts.group.get();
    if group > 1 {
        let consequence = format!(
            "each task is attempted once, and not {group} times: attempts are not compared within a group"
        );
        findings.push(
            Finding::new(FindingKind::NothingReplays, consequence, REASON, HINT).about("groups"),
        );
    }
    let maintenance = &recipe.maintenance;
    if let Some(bundles) = maintenance.bundles.filter(|_| bundles_run) {
        let consequence = format!(
            "no test case is played: skills leave their trial by later attempts, with the skill or to the same skill, at {} tasks",
            bundles.tasks
        );
        findings.push(
            Finding::new(FindingKind::NothingReplays, consequence, REASON, HINT).about("bundles"),
        );
    }
    if maintenance.refine.is_some() || maintenance.refactor.is_some() {
        findings.push(
            Finding::new(
                FindingKind::NothingReplays,
                "refined and refactored skills begin on trial, untested; a refined version that does worse in later attempts \
                 than the version before is taken back",
                REASON,
                HINT,
            )
            .about("versions"),
        );
    }
    findings
}

/// The finding that skills are in quarantine and are not tried there.
pub(super) fn quarantine_finding(recipe: &Recipe, library: &SkillLibrary) -> Option<Finding> {
    let held = library.entries();
    let held = held.filter(|entry| entry.skill.state == State::Quarantined);
    let tries = recipe.maintenance.quarantine.is_some();
    match held
        .filter(|entry| !(tries && entry.awaits_evidence()))
        .count()
    {
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
