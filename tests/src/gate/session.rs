//! What a session does that nobody calibrated: the threshold that it fits, and its decisions.

use std::sync::Arc;

use futures::executor::block_on;
use journeyman::{
    Seed,
    builtin::ChatDialect,
    contract::Backends,
    domain::FittedThreshold,
    recipe,
    run::{Journeyman, Options, ThresholdBy},
};
use journeyman_disk::{DiskOptions, DiskStore};
use journeyman_tantivy::Bm25Retriever;

use super::{Failure, data::Set, matrix::Matrix, scoring::Scoring, table::Best};
use crate::figures::{Bound, Figures};

/// The threshold that a session fits to the model for a library of these skills.
pub(super) fn fitted(
    figures: &mut Figures<'_>,
    set: &Set,
    scoring: &Scoring<'_>,
) -> Result<FittedThreshold, Failure> {
    figures.progress(format_args!("fitting the threshold without labels"));
    // Kept between seeds.
    let folder = figures
        .options()
        .out
        .join("gate-library")
        .join(&set.digest()[..16]);
    let mut options = DiskOptions::default();
    options.folders = false;
    let backends = Backends {
        store: Some(Arc::new(DiskStore::open(folder, &options)?)),
        retriever: Some(Arc::new(Bm25Retriever::new(Default::default())?)),
        ..Backends::own_loop()
            .with_scorer(scoring.model.clone())
            .with_dialect(Arc::new(ChatDialect::default()))
    };
    let gate = block_on(async {
        let options = Options::new("gate", Seed(1));
        let journeyman = Journeyman::open(backends, recipe::standard(), options).await?;
        journeyman
            .add(set.skills.clone(), "skills of others")
            .await?;
        journeyman.gate().await
    })?;
    match gate.map(|gate| gate.by) {
        Some(ThresholdBy::Fitted(fitted)) => {
            figures.record(
                "the default: its threshold, nats",
                fitted.threshold,
                Bound::None,
            );
            if let Some(found) = fitted.found {
                let mut say = |what: &str, value: f64| {
                    figures.record(&format!("the default: {what}"), value, Bound::None);
                };
                say("nats for a unit of the search's score", found.nats);
                say(
                    "the power of the number of words by which that is divided",
                    found.words_power,
                );
            }
            Ok(fitted)
        }
        by => Err(format!("the threshold was not fitted: {by:?}").into()),
    }
}

/// What a session decides about: the skill that the search finds first, by what its score and the model's count together. The value of a
/// right one, minus infinity where a wrong one is first; and that of the first wrong one where the right ones are left out.
pub(super) fn decided(
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
