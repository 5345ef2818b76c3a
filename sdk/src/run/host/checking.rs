//! Checks of a host's parts and library against its recipe, with a finding for each function that is disabled.

use super::{
    asked_roles::asked_roles,
    checking_release::{quarantine_finding, quarantined, release_findings},
    checking_selection::{WARM_UP, selection_findings, warm_up_finding},
};
use crate::{
    contract::{Components, Roles},
    domain::{Role, State},
    library::SkillLibrary,
    policy::ResolvedPolicies,
    propose::WriteWhen,
    recipe::Recipe,
    report::{EventKind, Finding, FindingKind},
};

/// The inputs of [`check`].
pub(crate) struct Checked<'a> {
    pub(crate) components: &'a Components,
    pub(crate) recipe: &'a Recipe,
    /// The policies that the recipe names.
    pub(crate) policies: &'a ResolvedPolicies,
    pub(crate) library: &'a SkillLibrary,
    /// Whether the host gave no store, and the library is in memory.
    pub(crate) in_memory: bool,
    pub(crate) read_only: bool,
}

/// The findings about a configuration, the most important first.
pub(crate) fn check(checked: &Checked<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let Checked {
        components,
        recipe,
        policies,
        library,
        read_only,
        ..
    } = checked;
    let selector = policies.selector.as_ref();
    findings.extend(selection_findings(components, recipe, selector));
    if !read_only {
        findings.extend(warm_up_finding(recipe, library));
    }
    if *read_only {
        findings.push(Finding::new(
            FindingKind::ReadOnly,
            "nothing is learned, and the library does not change",
            "the session is read-only, or its store is frozen",
            "to learn, open a writable store without `Options::read_only`",
        ));
    } else {
        findings.extend(writing_findings(checked));
        findings.extend(release_findings(components, recipe, library));
    }
    findings.extend(attempt_findings(checked));
    findings.extend(storage_findings(checked));
    findings
}

const UNPLAYED: &str =
    "give `Roles` that play it, or switch off the policy of the recipe that asks it";
const NO_MODEL: &str = "set `Components::model` for the roles that have no model of their own";

fn writing_findings(checked: &Checked<'_>) -> Vec<Finding> {
    let Checked {
        components, recipe, ..
    } = checked;
    let mut findings = Vec::new();
    let missing = match (components.models().next(), &components.roles) {
        (None, None) => Some("no model and no roles"),
        (None, Some(_)) => Some("no model for its roles"),
        (Some(_), None) => Some("no roles for its model"),
        (Some(_), Some(_)) => None,
    };
    let hint = "set `Components::model` and `Components::roles`, such as `GeneralRoles::shipped()`";
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
        // A writer that asks no role needs no model.
        Some(_) if checked.policies.writer.roles().is_empty() => {}
        Some(missing) => findings.push(never(format!("the host gave {missing}"), hint)),
        None => {}
    }
    if let (None, Some(roles)) = (missing, &components.roles) {
        findings.extend(unplayed_findings(checked, roles.as_ref(), never));
    }
    // Without bundles nothing else of the recipe changes.
    let (_, beside) = asked_roles(recipe, checked.policies);
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

/// The findings about roles that are asked and cannot answer, where some can: nobody plays them, or no model is there for them.
fn unplayed_findings(
    checked: &Checked<'_>,
    roles: &dyn Roles,
    never: impl Fn(String, &str) -> Finding,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (components, recipe) = (checked.components, checked.recipe);
    let (writer, beside) = asked_roles(recipe, checked.policies);
    let plays = |role: &Role| roles.plays(*role);
    let lacks_model = |role: &Role| plays(role) && components.model_for(*role).is_none();
    let mut writer = writer.iter();
    let writer = writer.find(|role| !plays(role) || lacks_model(role));
    if let Some(writer) = writer.filter(|_| recipe.write.when != WriteWhen::Never) {
        let (what, hint) = match plays(writer) {
            false => ("the host's roles do not play", UNPLAYED),
            true => ("the host gave no model for", NO_MODEL),
        };
        let reason = format!("{what} the recipe's writer, {writer}");
        findings.push(never(reason, hint));
    }
    let of_no_effect = |roles: Vec<&str>, reason: &str, hint| {
        let some = !roles.is_empty();
        some.then(|| {
            Finding::new(
                FindingKind::NoRoles,
                "some policies of the recipe that ask roles have no effect",
                format!("{reason} {}", roles.join(", ")),
                hint,
            )
        })
    };
    let names = |which: &dyn Fn(&Role) -> bool| {
        let which = beside.iter().filter(|role| which(role));
        which.map(|role| role.name()).collect::<Vec<_>>()
    };
    let unplayed = names(&|role| !plays(role));
    findings.extend(of_no_effect(
        unplayed,
        "the host's roles do not play",
        UNPLAYED,
    ));
    let lacking = names(&lacks_model);
    findings.extend(of_no_effect(
        lacking,
        "the host gave no model for",
        NO_MODEL,
    ));
    findings
}

/// The findings that depend on the library. They are computed when a session opens, and again whenever a host asks for the
/// findings.
pub(crate) fn library_findings(
    recipe: &Recipe,
    library: &SkillLibrary,
    read_only: bool,
) -> impl Iterator<Item = Finding> {
    let held = quarantine_finding(recipe, library);
    let all = warm_up_finding(recipe, library).into_iter().chain(held);
    all.filter(move |_| !read_only)
}

/// Whether a finding depends on the library, as those of [`library_findings`].
pub(crate) fn depends_on_library(finding: &Finding) -> bool {
    finding.kind == FindingKind::Quarantined || finding.about.as_deref() == Some(WARM_UP)
}

/// The finding that follows from an event, if any.
pub(crate) fn event_finding(recipe: &Recipe, event: &EventKind) -> Option<Finding> {
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
        } if recipe.maintenance.quarantine.is_none() => {
            Some(quarantined(format!("the skill {name} is")))
        }
        EventKind::CaseFailed { reason, .. } => Some(
            Finding::new(
                FindingKind::NothingReplays,
                "some test cases could not be played or judged, and do not help to release skills",
                reason,
                "remove the cause; if the environment cannot set up a task twice, do not declare \
                 `EnvironmentCapabilities::resettable`: live attempts decide then",
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

fn attempt_findings(checked: &Checked<'_>) -> Vec<Finding> {
    let components = checked.components;
    let mut findings = Vec::new();
    // A host with neither keeps its own loop, and says by itself how attempts went.
    if components.executor.is_none() && components.environment.is_none() {
        return findings;
    }
    if components.executor.is_none() || components.environment.is_none() {
        findings.push(Finding::new(
            FindingKind::NoAgent,
            "`learn` and `evaluate` can make no attempt",
            "the host gave no agent or no world",
            "keep your own loop with `begin` and `finish`, or set `Components::executor` and `Components::environment`",
        ));
    }
    if components.judge.is_none() {
        findings.push(Finding::new(
            FindingKind::NoJudge,
            "an attempt that is finished without an outcome teaches nothing",
            "the host gave no judge",
            "pass the outcome to `AttemptHandle::finish`, or set `Components::judge`",
        ));
    }
    findings
}

fn storage_findings(checked: &Checked<'_>) -> Vec<Finding> {
    let components = checked.components;
    let mut findings = Vec::new();
    if components.clock.is_none() {
        findings.push(Finding::new(
            FindingKind::NoClock,
            "no time limit is enforced: a part that hangs stops the run",
            "the host gave no clock",
            "set `Components::clock`, such as `SystemClock`",
        ));
    }
    if checked.in_memory {
        findings.push(Finding::new(
            FindingKind::NoStore,
            "the library is lost when this process ends",
            "the host gave no store",
            "set `Components::store`, such as the `DiskStore` of journeyman-disk",
        ));
    }
    if components.journal.is_none() {
        findings.push(Finding::new(
            FindingKind::NoJournal,
            "a run that is interrupted cannot be resumed",
            "the host gave no journal",
            "set `Components::journal`, such as the `DiskStore` of journeyman-disk",
        ));
    }
    findings
}
