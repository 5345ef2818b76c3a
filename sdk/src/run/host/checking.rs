//! Checks of a host's parts and library against its recipe, with a finding for each function that is disabled.

use super::asked_roles::asked_roles;
use crate::{
    contract::Backends,
    domain::{Role, State},
    library::SkillLibrary,
    propose::{WriteWhen, Writer},
    recipe::Recipe,
    report::{EventKind, Finding, FindingKind},
    select::Selector,
};

/// The inputs of [`check`].
pub(crate) struct Checked<'a> {
    pub(crate) backends: &'a Backends,
    pub(crate) recipe: &'a Recipe,
    pub(crate) library: &'a SkillLibrary,
    /// Whether the host gave no store, and the library is in memory.
    pub(crate) in_memory: bool,
    pub(crate) read_only: bool,
}

/// The findings about a configuration, the most important first.
pub(crate) fn check(checked: &Checked<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(injection_findings(checked));
    if checked.read_only {
        findings.push(Finding::new(
            FindingKind::ReadOnly,
            "nothing is learned, and the library does not change",
            "the session is read-only, or its store is frozen",
            "to learn, open a writable store without `Options::read_only`",
        ));
    } else {
        findings.extend(writing_findings(checked));
        findings.extend(release_findings(checked));
    }
    findings.extend(attempt_findings(checked));
    findings.extend(storage_findings(checked));
    findings
}

fn injection_findings(checked: &Checked<'_>) -> Vec<Finding> {
    let Checked {
        backends,
        recipe,
        library,
        ..
    } = checked;
    let never = |reason: &str, hint: &str| {
        Finding::new(
            FindingKind::NeverInjects,
            "no skill is ever injected",
            reason,
            hint,
        )
    };
    let mut findings = Vec::new();
    if recipe.select.selector == Selector::Nothing {
        findings.push(never(
            "the recipe's selector is `Selector::Nothing`",
            "choose another selector",
        ));
    } else if recipe.select.selector.score().is_some() {
        let missing = match (&backends.scorer, &backends.dialect) {
            (None, None) => Some("no scorer and no dialect"),
            (None, Some(_)) => Some("no scorer"),
            (Some(_), None) => Some("no dialect"),
            (Some(_), Some(_)) => None,
        };
        findings.extend(missing.map(|missing| {
            let mut finding = never(
                &format!("the recipe's gate decides by log-probabilities, and the host gave {missing}"),
                "set `Backends::scorer` and `Backends::dialect`, or choose `Selector::Top`, which needs no scores",
            );
            if exempts_general(&recipe.select.selector) {
                finding.consequence = "only general skills are injected".to_owned();
            }
            finding
        }));
    }
    if !checked.read_only {
        findings.extend(warm_up_finding(recipe, library));
    }
    findings.extend(other_model_finding(backends, recipe));
    if backends.embedder.is_none() {
        findings.extend(embedder_findings(recipe));
    }
    findings
}

/// What a recipe that would use embeddings does without an embedder.
fn embedder_findings(recipe: &Recipe) -> Vec<Finding> {
    let rank = recipe.select.rank.as_ref();
    let found = [
        (
            matches!(recipe.select.selector, Selector::Bank(_)),
            "the skills of a category are compared by the retriever's scores, and the threshold is a share of the best one",
            "the recipe selects from a bank by embeddings, and the host gave no embedder",
            "set `Backends::embedder`",
        ),
        (
            recipe.assess.is_some(),
            "subgoals are routed and clustered by hashed n-grams of their words",
            "the recipe assesses subgoals by embeddings, and the host gave no embedder",
            "set `Backends::embedder`; without it, subgoals that are worded otherwise count as different",
        ),
        (
            rank.is_some_and(|rank| rank.dense > 0.0),
            "candidates are ranked without embeddings",
            "the recipe gives embeddings a weight, and the host gave no embedder",
            "set `Backends::embedder`; without it, the other terms of the ranking decide",
        ),
    ];
    let found = found.into_iter().filter(|(holds, ..)| *holds);
    found
        .map(|(_, consequence, cause, remedy)| {
            Finding::new(FindingKind::NoEmbedder, consequence, cause, remedy)
        })
        .collect()
}

/// Whether general skills pass a bank's gate untested.
fn exempts_general(selector: &Selector) -> bool {
    match selector {
        Selector::Bank(bank) => bank.gate.as_ref().is_some_and(|gate| gate.exempt_general),
        _ => false,
    }
}

fn writing_findings(checked: &Checked<'_>) -> Vec<Finding> {
    let Checked {
        backends, recipe, ..
    } = checked;
    let mut findings = Vec::new();
    let missing = match (&backends.model, &backends.roles) {
        (None, None) => Some("no model and no roles"),
        (None, Some(_)) => Some("no model for its roles"),
        (Some(_), None) => Some("no roles for its model"),
        (Some(_), Some(_)) => None,
    };
    let hint = "set `Backends::model` and `Backends::roles`, such as `GeneralRoles::shipped()`";
    // The host's own maintenance program may write skills without the recipe's writer.
    let consequence = match recipe.programs.is_empty() {
        true => "no skill is ever written",
        false => {
            "no skill is written from a task's attempts; only the recipe's own programs may write any"
        }
    };
    let never = |reason: String, hint: &str| {
        Finding::new(FindingKind::NeverWrites, consequence, reason, hint)
    };
    match missing {
        // The bank's skills are written in maintenance.
        None if recipe.write.when == WriteWhen::Never && recipe.maintenance.bank.is_some() => {}
        _ if recipe.write.when == WriteWhen::Never => findings.push(never(
            "the recipe says `WriteWhen::Never`".to_owned(),
            "choose another rule in `WritePolicy::when` of the recipe",
        )),
        // The host's own writer may not need a model.
        Some(_) if matches!(recipe.write.by, Writer::Own(_)) => {}
        Some(missing) => findings.push(never(format!("the host gave {missing}"), hint)),
        None => {}
    }
    if let (None, Some(roles)) = (missing, &backends.roles) {
        let (writer, beside) = asked_roles(recipe);
        let hint = "give `Roles` that play it, or switch off the policy of the recipe that asks it";
        let unplayed = writer.filter(|writer| !roles.plays(*writer));
        if let Some(writer) = unplayed.filter(|_| recipe.write.when != WriteWhen::Never) {
            let reason = format!("the host's roles do not play the recipe's writer, {writer}");
            findings.push(never(reason, hint));
        }
        let unplayed: Vec<String> = beside
            .into_iter()
            .filter(|role| !roles.plays(*role))
            .map(|role| role.to_string())
            .collect();
        if !unplayed.is_empty() {
            findings.push(Finding::new(
                FindingKind::NoRoles,
                "some policies of the recipe that ask roles have no effect",
                format!("the host's roles do not play {}", unplayed.join(", ")),
                hint,
            ));
        }
    }
    // Without bundles nothing else of the recipe changes.
    let (_, beside) = asked_roles(recipe);
    let asks = beside.iter().any(|role| *role != Role::Bundle);
    if let Some(missing) = missing.filter(|_| asks) {
        findings.push(Finding::new(
            FindingKind::NoRoles,
            "the effects of skills are not judged, and no skill is refined or refactored",
            format!("the host gave {missing}"),
            hint,
        ));
    }
    findings
}

fn release_findings(checked: &Checked<'_>) -> Vec<Finding> {
    let Checked {
        backends,
        recipe,
        library,
        ..
    } = checked;
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

/// A finding if the gate's thresholds were fitted for another model than the scorer's.
fn other_model_finding(backends: &Backends, recipe: &Recipe) -> Option<Finding> {
    let policy = recipe.select.selector.gate()?;
    let scorer = backends.scorer.as_ref()?;
    let fault = policy.validate_for(scorer.model()).err()?;
    Some(Finding::new(
        FindingKind::OtherModel,
        "the gate's thresholds are not valid for the scorer's model",
        fault.message(),
        "fit them for this model, or choose them by hand and leave `GatePolicy::fitted_for` empty",
    ))
}

/// The findings that depend on the library. They are computed when a session opens, and again whenever a host asks for the
/// findings.
pub(crate) fn library_findings(
    recipe: &Recipe,
    library: &SkillLibrary,
    read_only: bool,
) -> impl Iterator<Item = Finding> {
    let held = quarantine_finding(library);
    let all = warm_up_finding(recipe, library).into_iter().chain(held);
    all.filter(move |_| !read_only)
}

/// Whether a finding depends on the library, as those of [`library_findings`].
pub(crate) fn depends_on_library(finding: &Finding) -> bool {
    finding.kind == FindingKind::Quarantined || finding.about.as_deref() == Some(WARM_UP)
}

/// The subject of the finding about a warm-up.
const WARM_UP: &str = "warm-up";

fn warm_up_finding(recipe: &Recipe, library: &SkillLibrary) -> Option<Finding> {
    let warm_up = recipe.schedule.tasks(recipe.attempts.warm_up);
    let left = warm_up.saturating_sub(library.tasks_learned());
    let finding = Finding::new(
        FindingKind::NeverInjects,
        format!("in learning, no skill is injected until {left} more tasks were learned from"),
        format!("the recipe has a warm-up of {warm_up} tasks (ARISE 3.2)"),
        "set `AttemptPolicy::warm_up` of the recipe to 0 to inject from the first task on",
    );
    (left > 0).then(|| finding.about(WARM_UP))
}

fn quarantine_finding(library: &SkillLibrary) -> Option<Finding> {
    let held = library.entries();
    let held = held.filter(|entry| entry.skill.state == State::Quarantined);
    match held.count() {
        0 => None,
        1 => Some(quarantined("one skill of the library is")),
        count => Some(quarantined(format!("{count} skills of the library are"))),
    }
}

/// The finding that follows from an event, if any.
pub(crate) fn event_finding(event: &EventKind) -> Option<Finding> {
    let failed = |consequence: String, reason: &str| {
        let hint = "correct the policy if it is your own; otherwise report a bug of Journeyman";
        let about = consequence.clone();
        Finding::new(FindingKind::PolicyFailed, consequence, reason, hint).about(about)
    };
    match event {
        EventKind::Waits {
            name,
            state: State::Quarantined,
            ..
        } => Some(quarantined(format!("the skill {name} is"))),
        EventKind::CaseFailed { reason, .. } => Some(
            Finding::new(
                FindingKind::NothingReplays,
                "some test cases could not be played or judged, and do not help to release skills",
                reason,
                "remove the cause; if the environment cannot set up a task twice, omit `Backends::environment`: live attempts \
                 decide then",
            )
            .about("cases"),
        ),
        EventKind::TaskFailed { reason } => Some(failed(
            "a task's policy failed, and nothing is learned from the task".to_owned(),
            reason,
        )),
        EventKind::MaintenanceFailed { part, reason } => {
            let what = format!("the {part} part of maintenance failed, and changes nothing");
            Some(failed(what, reason))
        }
        _ => None,
    }
}

/// The finding that skills stay in quarantine.
fn quarantined(what: impl std::fmt::Display) -> Finding {
    Finding::new(
        FindingKind::Quarantined,
        format!("{what} in quarantine, and never offered to the agent"),
        "written from observations of an untrusted source, or imported; no run releases such a skill",
        "release a skill with `Journeyman::set_state`, and mark the sources that you trust as `Trust::Trusted`",
    )
}

fn attempt_findings(checked: &Checked<'_>) -> Vec<Finding> {
    let backends = checked.backends;
    let mut findings = Vec::new();
    if backends.executor.is_none() || backends.environment.is_none() {
        findings.push(Finding::new(
            FindingKind::NoAgent,
            "`learn` and `evaluate` can make no attempt",
            "the host gave no agent or no world",
            "keep your own loop with `begin` and `finish`, or set `Backends::executor` and `Backends::environment`",
        ));
    }
    if backends.judge.is_none() {
        findings.push(Finding::new(
            FindingKind::NoJudge,
            "an attempt that is finished without an outcome teaches nothing",
            "the host gave no judge",
            "pass the outcome to `AttemptHandle::finish`, or set `Backends::judge`",
        ));
    }
    findings
}

fn storage_findings(checked: &Checked<'_>) -> Vec<Finding> {
    let backends = checked.backends;
    let mut findings = Vec::new();
    if backends.clock.is_none() {
        findings.push(Finding::new(
            FindingKind::NoClock,
            "no time limit is enforced: a part that hangs stops the run",
            "the host gave no clock",
            "set `Backends::clock`, such as `SystemClock`",
        ));
    }
    if checked.in_memory {
        findings.push(Finding::new(
            FindingKind::NoStore,
            "the library is lost when this process ends",
            "the host gave no store",
            "set `Backends::store`, such as the `DiskStore` of journeyman-disk",
        ));
    }
    if backends.journal.is_none() {
        findings.push(Finding::new(
            FindingKind::NoJournal,
            "a run that is interrupted cannot be resumed",
            "the host gave no journal",
            "set `Backends::journal`, such as the `DiskStore` of journeyman-disk",
        ));
    }
    findings
}
