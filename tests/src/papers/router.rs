//! SCRIBE's router against clusters that came later (appendix B).

use journeyman::{
    Result,
    assess::{AssessedPair, RouterAccuracy, Share, annotations},
    domain::Assessment,
    library::{KnownSubgoal, SkillLibrary},
};

/// How a second pass over the attempts agrees with the library's cut (spans and skills), and how subgoals were routed when they were
/// assessed, before they belonged to a cluster (prototypes). The fourth number is the agreement of the second pass in prototypes: it
/// routes subgoals that are members of the clusters already.
pub(super) fn router(again: &[Assessment], library: &SkillLibrary) -> Result<[f64; 4]> {
    let known: Vec<&KnownSubgoal> = library.subgoals().collect();
    let attempts = known.chunk_by(|one, next| one.at.attempt == next.at.attempt);
    let first: Vec<Assessment> = attempts.filter_map(as_assessed).collect();
    let (again, first) = (accuracy(again, library)?, accuracy(&first, library)?);
    let rate = |share: Share| share.rate().unwrap_or(f64::NAN);
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
    subgoals.iter().any(is_routed).then(|| Assessment {
        attempt: first.at.attempt.clone(),
        task: first.task.clone(),
        category: first.category.clone(),
        success: first.success,
        repaired: false,
        subgoals: subgoals.iter().map(|one| one.assessed.clone()).collect(),
    })
}

fn accuracy(predicted: &[Assessment], library: &SkillLibrary) -> Result<RouterAccuracy> {
    let annotated = annotations(library);
    let pairs = predicted.iter().filter_map(|predicted| {
        let of_it = |one: &&Assessment| one.attempt == predicted.attempt;
        let annotated = annotated.iter().find(of_it)?;
        Some(AssessedPair {
            predicted,
            annotated,
        })
    });
    RouterAccuracy::of(&pairs.collect::<Vec<_>>())
}
