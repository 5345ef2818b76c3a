//! SCRIBE's router against the world's own cut, and against clusters that came later (appendix B).

use journeyman::{
    Result,
    domain::{AssessedSubgoal, Assessment, Trace},
    library::{KnownSubgoal, SkillLibrary},
    papers::scribe::{AssessedPair, RouterAccuracy, Share, annotations},
};
use quickstart::spoken;
use serde::{Deserialize, Serialize};

/// How a cut agrees with the world's own: the shares of its spans and skills that the world's cut has, and of the world's spans that
/// were found.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Cut {
    pub(super) spans: f64,
    pub(super) found: f64,
    pub(super) skills: f64,
    /// Attempts that were cut.
    pub(super) attempts: usize,
}

/// Compares assessments with the cut of each attempt by the contract that its agent could not see.
pub(super) fn against_the_world(predicted: &[Assessment], attempts: &[Trace]) -> Result<Cut> {
    let mut pairs = Vec::new();
    for one in predicted {
        let of_it = |attempt: &&Trace| attempt.trajectory.attempt == one.attempt;
        let Some(attempt) = attempts.iter().find(of_it) else {
            continue;
        };
        let bare = AssessedSubgoal::new;
        let subgoals: Vec<_> = spoken::true_cut(attempt)?.into();
        let truth = one
            .clone()
            .with_subgoals(subgoals.into_iter().map(bare).collect());
        pairs.push((one, truth));
    }
    let pairs = pairs
        .iter()
        .map(|(predicted, annotated)| AssessedPair::new(predicted, annotated));
    let accuracy = RouterAccuracy::of(&pairs.collect::<Vec<_>>())?;
    Ok(Cut {
        spans: rate(accuracy.spans),
        found: rate(accuracy.found),
        skills: rate(accuracy.skills),
        attempts: accuracy.attempts,
    })
}

fn rate(share: Share) -> f64 {
    share.rate().unwrap_or(f64::NAN)
}

/// How a second pass over the attempts agrees with the library's cut (spans and skills), and how subgoals were routed when they were
/// assessed, before they belonged to a cluster (prototypes). The fourth number is the agreement of the second pass in prototypes: it
/// routes subgoals that are members of the clusters already.
pub(super) fn router(again: &[Assessment], library: &SkillLibrary) -> Result<[f64; 4]> {
    let known: Vec<&KnownSubgoal> = library.subgoals().collect();
    let attempts = known.chunk_by(|one, next| one.at.attempt == next.at.attempt);
    let first: Vec<Assessment> = attempts.filter_map(as_assessed).collect();
    let (again, first) = (accuracy(again, library)?, accuracy(&first, library)?);
    Ok([
        rate(again.spans),
        rate(again.skills),
        rate(first.prototypes),
        rate(again.prototypes),
    ])
}

/// An attempt's assessment as it was made, if any of its subgoals was routed.
fn as_assessed(subgoals: &[&KnownSubgoal]) -> Option<Assessment> {
    let first = subgoals.first()?;
    let is_routed = |one: &&KnownSubgoal| one.assessed.route.is_some();
    subgoals.iter().any(is_routed).then(|| {
        let mut assessment = Assessment::new(first.at.attempt.clone(), first.task.clone())
            .with_success(first.success)
            .with_subgoals(subgoals.iter().map(|one| one.assessed.clone()).collect());
        assessment.category = first.category.clone();
        assessment
    })
}

fn accuracy(predicted: &[Assessment], library: &SkillLibrary) -> Result<RouterAccuracy> {
    let annotated = annotations(library);
    let pairs = predicted.iter().filter_map(|predicted| {
        let of_it = |one: &&Assessment| one.attempt == predicted.attempt;
        let annotated = annotated.iter().find(of_it)?;
        Some(AssessedPair::new(predicted, annotated))
    });
    RouterAccuracy::of(&pairs.collect::<Vec<_>>())
}
