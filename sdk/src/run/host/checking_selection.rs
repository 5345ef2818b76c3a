//! Checks of the parts by which skills are selected.

use crate::{
    contract::Components,
    domain::DecidedOn,
    domain::ScoreKind,
    error::{Error, Result},
    library::SkillLibrary,
    policy::SelectProgram,
    recipe::Recipe,
    report::{Finding, FindingKind},
    run::driver::fitting::quick_enough,
    select::{SelectorGate, prompt_format_digest},
};

/// The findings about selection: what is never injected, or chosen by less than the recipe says.
pub(super) fn selection_findings(
    components: &Components,
    recipe: &Recipe,
    selector: &dyn SelectProgram,
) -> Vec<Finding> {
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
        findings.extend(embedder_findings(recipe, selector));
    }
    findings
}

/// What a recipe that would use embeddings does without an embedder.
fn embedder_findings(recipe: &Recipe, selector: &dyn SelectProgram) -> Vec<Finding> {
    let rank = recipe.select.rank.as_ref();
    let found = [
        (
            selector.needs_embeddings(),
            "skills are compared by the retriever's scores, and a threshold of similarity is a share of the best one",
            "the recipe's selector compares skills by embeddings, and the host gave no embedder",
            "set `Components::embedder`",
        ),
        (
            recipe.assess.is_some(),
            "subgoals are routed and clustered by hashed n-grams of their words",
            "the recipe assesses subgoals by embeddings, and the host gave no embedder",
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

/// A finding if the gate's thresholds were fitted for another model than the scorer's.
fn other_model_finding(components: &Components, gate: &SelectorGate<'_>) -> Option<Finding> {
    let policy = gate.policy;
    let scorer = components.scorer.as_ref()?;
    let other_prompt_format = || {
        let (prompt_format, fitted) = (
            components.prompt_format.as_ref()?,
            policy.fitted_for.as_ref()?,
        );
        let other = fitted.prompt_format.as_ref()? != &prompt_format_digest(prompt_format.as_ref());
        let message = "the threshold was fitted for another prompt format";
        other.then(|| Error::invalid("GatePolicy::validate", message))
    };
    let fault = policy.validate_for(&scorer.weights(None)).err();
    let fault = fault.or_else(other_prompt_format)?;
    Some(Finding::new(
        FindingKind::OtherModel,
        "the gate's thresholds are not valid for the scorer's model",
        fault.message(),
        "fit them for this model with `journeyman model calibrate`, or choose them by hand and leave `GatePolicy::fitted_for` empty",
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
        return Some(Finding::new(
            FindingKind::Uncalibrated,
            "the gate injects nothing",
            too_slow.message(),
            too_slow.hint_text().unwrap_or_default(),
        ));
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

/// The subject of the finding about a warm-up.
pub(super) const WARM_UP: &str = "warm-up";

/// The finding that a warm-up is not over yet.
pub(super) fn warm_up_finding(recipe: &Recipe, library: &SkillLibrary) -> Option<Finding> {
    let warm_up = recipe.schedule.tasks(recipe.attempts.warm_up);
    let left = warm_up.saturating_sub(library.tasks_learned());
    let finding = Finding::new(
        FindingKind::NeverInjects,
        format!("in learning, no skill is injected until {left} more tasks were learned from"),
        format!("the recipe has a warm-up of {warm_up} tasks"),
        "set `AttemptPolicy::warm_up` of the recipe to 0 to inject from the first task on",
    );
    (left > 0).then(|| finding.about(WARM_UP))
}
