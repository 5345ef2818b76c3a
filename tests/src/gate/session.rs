//! What a session does that nobody calibrated: the threshold that it fits, and its decisions.

use std::sync::Arc;

use futures::executor::block_on;
use journeyman::{
    Seed,
    agent::ChatFormat,
    contract::Components,
    domain::{FittedThreshold, ScoreKind},
    recipe,
    run::{Journeyman, Options, ThresholdBy},
};
use journeyman_disk::{DiskOptions, DiskStore};
use journeyman_tantivy::Bm25Retriever;

use super::{
    Failure,
    data::Set,
    matrix::{CANDIDATES, Matrix},
    scoring::Scoring,
    table::Best,
};
use crate::figures::{Bound, Figures};

/// The gate of a session that nobody calibrated.
pub(super) enum DefaultGate {
    /// It was fitted to the model: the search chooses, and its score counts beside the model's.
    Fitted(FittedThreshold),
    /// The recipe's threshold on PMI holds for the model, which was trained to have skills like these scored: the model chooses.
    Recipe(f64),
}

impl DefaultGate {
    pub(super) fn score(&self) -> ScoreKind {
        match self {
            Self::Fitted(fitted) => fitted.score,
            Self::Recipe(_) => ScoreKind::Pmi,
        }
    }

    pub(super) fn threshold(&self) -> f64 {
        match self {
            Self::Fitted(fitted) => fitted.threshold,
            Self::Recipe(threshold) => *threshold,
        }
    }

    /// What a session decides about: the value of a right one, minus infinity where a wrong one is first; and that of the first wrong
    /// one where the right ones are left out. `pmi` is of the tokens that a session scores, `card` of the first 32.
    pub(super) fn decided(
        &self,
        set: &Set,
        (found, card, pmi): (&Matrix, &Matrix, &Matrix),
        tasks: &[usize],
    ) -> Vec<Best> {
        match self {
            Self::Fitted(fitted) => found_first(set, (found, card), fitted, tasks),
            Self::Recipe(_) => best_found(set, (found, pmi), tasks),
        }
    }
}

/// Why the fitted gate injects a wrong skill where the right ones are left out: how many of those it injects have a search that counts
/// its most, and by how many nats each exceeds the threshold.
pub(super) fn record_misled(
    figures: &mut Figures<'_>,
    gate: &DefaultGate,
    set: &Set,
    (found, card): (&Matrix, &Matrix),
    tasks: &[usize],
) {
    let DefaultGate::Fitted(FittedThreshold {
        threshold,
        found: Some(weight),
        ..
    }) = gate
    else {
        return;
    };
    let mut exceeding = Vec::new();
    for &task in tasks {
        let wrong = (0..set.skills.len()).filter(|&at| !set.is_right(task, at));
        let first = wrong
            .rev()
            .max_by(|&one, &other| found[task][one].total_cmp(&found[task][other]));
        let Some(first) = first.filter(|&at| found[task][at] > 0.0) else {
            continue;
        };
        let counts = weight.counts(found[task][first], &set.tasks[task].instruction);
        let by = counts + card[task][first] - threshold;
        if by > 0.0 {
            let task = &set.tasks[task].id;
            let skill = &set.skills[first].name;
            figures.progress(format_args!(
                "{task} without its skills gets {skill}: the search counts {counts:.1}, the model {:.1}",
                by + threshold - counts
            ));
            exceeding.push((by, counts >= weight.most));
        }
    }
    let at_most = exceeding.iter().filter(|(_, at_most)| *at_most).count();
    let by = exceeding.iter().map(|(by, _)| *by).fold(0.0, f64::max);
    for (what, value) in [
        ("what the search counts at most, nats", weight.most),
        ("wrong skills injected", exceeding.len() as f64),
        (
            "of these with a search that counts its most",
            at_most as f64,
        ),
        ("the greatest of these above the threshold, nats", by),
    ] {
        figures.record(&format!("the default: {what}"), value, Bound::None);
    }
}

/// The gate that a session has for a library of these skills.
pub(super) fn default_gate(
    figures: &mut Figures<'_>,
    set: &Set,
    scoring: &Scoring<'_>,
) -> Result<DefaultGate, Failure> {
    figures.progress(format_args!("fitting the threshold without labels"));
    // Kept between seeds.
    let folder = figures
        .options()
        .out
        .join("gate-library")
        .join(&set.digest()[..16]);
    let mut options = DiskOptions::default();
    options.folders = false;
    let components = Components::own_loop()
        .with_store(Arc::new(DiskStore::open(folder, &options)?))
        .with_retriever(Arc::new(Bm25Retriever::new(Default::default())?))
        .with_scorer(scoring.model.clone())
        .with_prompt_format(Arc::new(ChatFormat::default()));
    let gate = block_on(async {
        let options = Options::new("gate", Seed(1));
        let journeyman = Journeyman::open(components, recipe::standard(), options).await?;
        journeyman
            .add(set.skills.clone(), "skills of others")
            .await?;
        journeyman.gate().await
    })?;
    let gate = gate.ok_or("the recipe has no gate")?;
    let gate = match (gate.by, gate.threshold) {
        (ThresholdBy::Fitted(fitted), _) => DefaultGate::Fitted(fitted),
        (ThresholdBy::Recipe, Some(threshold)) => DefaultGate::Recipe(threshold),
        (by, _) => return Err(format!("the gate has no threshold: {by:?}").into()),
    };
    let mut say = |what: &str, value: f64| {
        figures.record(&format!("the default: {what}"), value, Bound::None);
    };
    say("its threshold, nats", gate.threshold());
    if let DefaultGate::Fitted(FittedThreshold {
        found: Some(found), ..
    }) = &gate
    {
        say("nats for a unit of the search's score", found.nats);
        say(
            "the power of the number of words by which that is divided",
            found.words_power,
        );
    }
    Ok(gate)
}

/// The skill with the greatest PMI of those that the search finds, as many as a decision has.
fn best_found(set: &Set, (found, pmi): (&Matrix, &Matrix), tasks: &[usize]) -> Vec<Best> {
    let of = |&task: &usize| {
        let first = |without_right: bool| {
            let all = (0..set.skills.len())
                .filter(|&at| !(without_right && set.is_right(task, at)) && found[task][at] > 0.0);
            let mut all: Vec<usize> = all.collect();
            all.sort_by(|&one, &other| found[task][other].total_cmp(&found[task][one]));
            let all = all.into_iter().take(CANDIDATES);
            all.max_by(|&one, &other| pmi[task][one].total_cmp(&pmi[task][other]))
        };
        let value = |at: Option<usize>| at.map_or(f64::NEG_INFINITY, |at| pmi[task][at]);
        Best {
            right: value(first(false).filter(|&at| set.is_right(task, at))),
            wrong: value(first(true)),
        }
    };
    tasks.iter().map(of).collect()
}

/// The skill that the search finds first, by what its score and the model's count together.
fn found_first(
    set: &Set,
    (found, card): (&Matrix, &Matrix),
    fitted: &FittedThreshold,
    tasks: &[usize],
) -> Vec<Best> {
    let of = |&task: &usize| {
        let first = |without_right: bool| {
            let all =
                (0..set.skills.len()).filter(|&at| !(without_right && set.is_right(task, at)));
            // Of equal ones the first, as the retriever has it.
            all.rev()
                .max_by(|&one, &other| found[task][one].total_cmp(&found[task][other]))
        };
        let value = |skill: Option<usize>| {
            let Some(skill) = skill.filter(|&skill| found[task][skill] > 0.0) else {
                return f64::NEG_INFINITY;
            };
            let found = found[task][skill];
            let weight = fitted
                .found
                .map(|weight| weight.counts(found, &set.tasks[task].instruction));
            card[task][skill] + weight.unwrap_or_default()
        };
        let with = first(false);
        Best {
            right: match with.is_some_and(|skill| set.is_right(task, skill)) {
                true => value(with),
                false => f64::NEG_INFINITY,
            },
            wrong: value(first(true)),
        }
    };
    tasks.iter().map(of).collect()
}
