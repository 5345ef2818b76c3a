//! Checks of a host's parts and library against its recipe, with a finding for each function that is disabled.

use crate::{
    contract::{Components, Roles},
    domain::{DecidedOn, Role, ScoreKind, State},
    error::{Error, Result},
    library::{SkillLibrary, StandingWith},
    policy::{ResolvedPolicies, SelectProgram},
    run::{
        driver::fit_threshold::quick_enough,
        host::{asked_roles::asked_roles, lengths},
        report::{EventKind, Finding, FindingKind},
    },
    stations::{
        propose::WriteWhen,
        recipe::Recipe,
        select::{SelectorGate, check_fitted_for},
    },
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
    findings.extend(selection_findings(components, recipe, policies));
    findings.extend(proven_elsewhere_finding(components, policies, library));
    findings.extend(lengths::known(components, library));
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
        findings.extend(release_findings(checked));
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
    // A maintenance program may write skills without the recipe's writer; one that asks roles needs a model too.
    let mut programs = checked.policies.programs.iter();
    let by_programs = programs
        .any(|(_, program)| program.writes() && (missing.is_none() || program.roles().is_empty()));
    let consequence = match by_programs {
        false => "no skill is ever written",
        true => {
            "no skill is written from a task's attempts; only the recipe's own programs may write any"
        }
    };
    let never = |reason: String, hint: &str| {
        Finding::new(FindingKind::NeverWrites, consequence, reason, hint)
    };
    match missing {
        // The recipe has its skills written in maintenance.
        _ if recipe.write.when == WriteWhen::Never && by_programs => {}
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
    (components, recipe, policies): (&Components, &Recipe, &ResolvedPolicies),
    library: &SkillLibrary,
    read_only: bool,
) -> impl Iterator<Item = Finding> {
    let elsewhere = proven_elsewhere_finding(components, policies, library);
    let held = quarantine_finding(recipe, library);
    let learns = warm_up_finding(recipe, library).into_iter().chain(held);
    elsewhere
        .into_iter()
        .chain(lengths::known(components, library))
        .chain(learns.filter(move |_| !read_only))
}

/// Whether a finding depends on the library, as those of [`library_findings`].
pub(crate) fn depends_on_library(finding: &Finding) -> bool {
    let kinds = [
        FindingKind::Quarantined,
        FindingKind::ProvenElsewhere,
        FindingKind::TakesLonger,
    ];
    kinds.contains(&finding.kind) || finding.about.as_deref() == Some(WARM_UP)
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
        EventKind::ScoresDrifted { decisions, .. } => Some(Finding::new(
            FindingKind::ScoresDrifted,
            "what the calibration says of the gate's threshold is not known to hold any more",
            format!("the scores have drifted since the fit, as {decisions} decisions show"),
            "calibrate again (`journeyman library calibrate` or `journeyman model calibrate`), and leave the calibration out until then (`calibration` in a run's file)",
        )),
        EventKind::AssessFailed { reason, .. } => Some(failed(
            "the recipe's assessor failed, and an attempt has no assessment".to_owned(),
            reason,
        )),
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

// Checks of the parts by which skills leave their trial.

/// The findings about the release of skills: what cannot be replayed, and what stays in quarantine.
pub(super) fn release_findings(checked: &Checked<'_>) -> Vec<Finding> {
    let Checked {
        components,
        recipe,
        policies,
        library,
        ..
    } = checked;
    let cases = policies.standing.cases();
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
    if let Some(tasks) = cases.filter(|_| !missing.is_empty()) {
        findings.push(Finding::new(
            FindingKind::NothingReplays,
            "no test bundle of a skill runs",
            format!("the host gave no {}", missing.join(" and no ")),
            format!("skills leave their trial by live attempts at {tasks} tasks instead"),
        ));
    }
    if let Some(world) = &components.environment
        && !world.capabilities().resettable
    {
        findings.extend(once_findings((recipe, policies), missing.is_empty()));
        findings.extend(quarantine_finding(recipe, library));
        return findings;
    }
    let repeats =
        (components.environment.as_ref()).is_none_or(|world| world.capabilities().deterministic);
    if cases.is_some() && missing.is_empty() && !repeats {
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
fn once_findings(
    (recipe, policies): (&Recipe, &ResolvedPolicies),
    bundles_run: bool,
) -> Vec<Finding> {
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
    if let Some(tasks) = policies.standing.cases().filter(|_| bundles_run) {
        let consequence = format!(
            "no test case is played: skills leave their trial by later attempts, with the skill or to the same skill, at {tasks} tasks"
        );
        findings.push(
            Finding::new(FindingKind::NothingReplays, consequence, REASON, HINT).about("bundles"),
        );
    }
    let programs = policies.programs.iter();
    let mut roles = programs.flat_map(|(_, program)| program.roles());
    if roles.any(|role| matches!(role, Role::Refine | Role::Refactor)) {
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

// Checks of the parts by which skills are selected.

/// The findings about selection: what is never injected, or chosen by less than the recipe says.
pub(super) fn selection_findings(
    components: &Components,
    recipe: &Recipe,
    policies: &ResolvedPolicies,
) -> Vec<Finding> {
    let selector = policies.selector.as_ref();
    let gate = selector.gate();
    let never = |reason: &str, hint: &str| {
        Finding::new(
            FindingKind::NeverInjects,
            "no skill is ever injected",
            reason,
            hint,
        )
    };
    let mut findings = Vec::new();
    if selector.never_selects() {
        findings.push(never(
            &format!("the recipe's selector is `{}`", recipe.select.selector.name),
            "choose another selector",
        ));
    } else if let Some(gate) = &gate {
        let missing = match (&components.scorer, &components.prompt_format) {
            (None, None) => Some("no scorer and no prompt format"),
            (None, Some(_)) => Some("no scorer"),
            (Some(_), None) => Some("no prompt format"),
            (Some(_), Some(_)) => None,
        };
        let missing = missing.map(|missing| {
            never(
                &format!("the recipe's gate decides by log-probabilities, and the host gave {missing}"),
                "set `Components::scorer` and `Components::prompt_format`, or choose the selector `top`, which needs no scores",
            )
        });
        let cannot_ask = cannot_ask(components, gate).map(|error| {
            let hint = error
                .hint_text()
                .unwrap_or("choose another score for the gate");
            never(error.message(), hint)
        });
        findings.extend(missing.or(cannot_ask).map(|mut finding| {
            if gate.exempts_general {
                finding.consequence = "only general skills are injected".to_owned();
            }
            finding
        }));
    }
    if let Some(gate) = &gate {
        findings.extend(other_model_finding(components, gate));
        findings.extend(uncalibrated_finding(components, recipe, gate));
    }
    if components.embedder.is_none() {
        findings.extend(embedder_findings(recipe, policies));
    }
    findings
}

/// The finding that skills in use are proven on other models than the one that acts, where the recipe offers skills by proof.
fn proven_elsewhere_finding(
    components: &Components,
    policies: &ResolvedPolicies,
    library: &SkillLibrary,
) -> Option<Finding> {
    let model = components.acting_model();
    let model = model.filter(|_| policies.standing.by_proof())?;
    let in_use = library.entries();
    let in_use = in_use.filter(|entry| entry.skill.state == State::Active);
    let to_prove = in_use.filter(|entry| {
        let standing = entry.life.standing_with(entry.skill.version, Some(model));
        standing == StandingWith::ToProve
    });
    let what = match to_prove.count() {
        0 => return None,
        1 => "one skill of the library is".to_owned(),
        count => format!("{count} skills of the library are"),
    };
    Some(Finding::new(
        FindingKind::ProvenElsewhere,
        format!("{what} offered in learning alone, and not in evaluation"),
        format!("proven to help other models, and not yet the one that acts, {model}"),
        "compare them with this model by `Journeyman::certify` in a session that may write; learning with the program `proven` does so too, \
         at tasks at which they were chosen",
    ))
}

/// What a recipe that would use embeddings does without an embedder.
fn embedder_findings(recipe: &Recipe, policies: &ResolvedPolicies) -> Vec<Finding> {
    let assessor = policies.assessor.as_ref();
    let rank = recipe.select.rank.as_ref();
    let found = [
        (
            policies.selector.needs_embeddings(),
            "skills are compared by the retriever's scores, and a threshold of similarity is a share of the best one",
            "the recipe's selector compares skills by embeddings, and the host gave no embedder",
            "set `Components::embedder`",
        ),
        (
            assessor.is_some_and(|assessor| assessor.needs_embeddings()),
            "attempts are assessed without an embedder: texts are compared by their words",
            "the recipe's assessor compares texts by embeddings, and the host gave no embedder",
            "set `Components::embedder`; without it, subgoals that are worded otherwise count as different",
        ),
        (
            rank.is_some_and(|rank| rank.dense > 0.0),
            "candidates are ranked without embeddings",
            "the recipe gives embeddings a weight, and the host gave no embedder",
            "set `Components::embedder`; without it, the other terms of the ranking decide",
        ),
    ];
    let found = found.into_iter().filter(|(holds, ..)| *holds);
    found
        .map(|(_, consequence, cause, remedy)| {
            Finding::new(FindingKind::NoEmbedder, consequence, cause, remedy)
        })
        .collect()
}

/// The reason why the prompt format cannot ask whether a skill fits, if the gate decides by that.
fn cannot_ask(components: &Components, gate: &SelectorGate<'_>) -> Option<Error> {
    let prompt_format = components.prompt_format.as_ref()?;
    let asks = gate.policy.score == ScoreKind::Fits;
    asks.then(|| prompt_format.fit_question("", "").err())
        .flatten()
}

/// A finding if the gate's threshold was fitted for another model, adapter or prompt format than those that score.
fn other_model_finding(components: &Components, gate: &SelectorGate<'_>) -> Option<Finding> {
    let fitted = gate.policy.fitted_for.as_ref()?;
    let fault = check_fitted_for(fitted, components).err()?;
    let consequence = match gate.exempts_general {
        true => "the gate injects nothing: only general skills are injected",
        false => "the gate injects nothing",
    };
    Some(Finding::new(
        FindingKind::OtherModel,
        consequence,
        fault.message(),
        fault.hint_text().unwrap_or_default(),
    ))
}

/// A finding if nobody fitted the gate's absolute threshold to the model that scores. A relative threshold compares candidates
/// with each other, and needs no fit.
fn uncalibrated_finding(
    components: &Components,
    recipe: &Recipe,
    gate: &SelectorGate<'_>,
) -> Option<Finding> {
    let policy = gate.policy;
    let (scorer, threshold) = (components.scorer.as_ref()?, policy.absolute?);
    if scorer.is_trained_to_score() || policy.fitted_for.is_some() {
        return None;
    }
    if policy.to_fit().is_some() {
        // The session fits it before its first decision.
        let on = decided_on(components, recipe, gate);
        let too_slow = quick_enough(scorer.as_ref(), on, recipe.limits.fit).err()?;
        let finding = Finding::new(
            FindingKind::Uncalibrated,
            "the gate injects nothing",
            too_slow.message(),
            too_slow.hint_text().unwrap_or_default(),
        );
        return Some(finding.about(FIT));
    }
    let kind = policy.score.name();
    Some({
        Finding::new(
            FindingKind::Uncalibrated,
            format!(
                "the gate may inject too much or too little: its threshold, {threshold} nats of {kind}, is a guess"
            ),
            format!("it was not fitted to the model {}", scorer.weights(None)),
            "fit it with `journeyman model calibrate` and give it to `Recipe::calibrate` (`calibration` in a run's file), or set \
             `GatePolicy::fitted_for` where you know that it fits",
        )
    })
}

/// Checks that a threshold that counts a search's score has such a search.
///
/// # Errors
/// `Unsupported` where it has not: the gate would decide about whatever comes first.
pub(super) fn searched(components: &Components, selector: &dyn SelectProgram) -> Result<()> {
    let gate = selector.gate();
    if gate.is_none_or(|gate| gate.policy.found.is_none()) || has_comparable_scores(components) {
        return Ok(());
    }
    let message = "the gate's threshold counts the score of a search, and this session has none whose scores compare from task to task";
    Err(Error::unsupported("Journeyman::open", message)
        .hint("give the session the search that it was calibrated with (`Components::retriever`), or calibrate with `--score`"))
}

fn has_comparable_scores(components: &Components) -> bool {
    let search = components.retriever.as_ref();
    search.is_some_and(|search| search.has_comparable_scores())
}

/// Which skill decisions are about, at the least.
fn decided_on(components: &Components, recipe: &Recipe, gate: &SelectorGate<'_>) -> DecidedOn {
    match recipe.select.retrieval().decided_on(gate, 0) {
        DecidedOn::First { among } if !has_comparable_scores(components) => {
            DecidedOn::BestOf(among)
        }
        on => on,
    }
}

/// The subject of the findings about a threshold that the session cannot fit.
pub(super) const FIT: &str = "the fit of the gate";

/// The subject of the finding about a warm-up.
pub(super) const WARM_UP: &str = "warm-up";

/// The finding that a warm-up is not over yet.
pub(super) fn warm_up_finding(recipe: &Recipe, library: &SkillLibrary) -> Option<Finding> {
    let warm_up = recipe.warm_up_tasks();
    let left = warm_up.saturating_sub(library.tasks_learned());
    let finding = Finding::new(
        FindingKind::NeverInjects,
        format!("in learning, no skill is injected until {left} more tasks were learned from"),
        format!("the recipe has a warm-up of {warm_up} tasks"),
        "set `AttemptPolicy::warm_up` of the recipe to 0 to inject from the first task on",
    );
    (left > 0).then(|| finding.about(WARM_UP))
}
