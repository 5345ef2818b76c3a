//! Test cases of the attempts for which a skill is refined.

use crate::{
    domain::{BundleCase, CaseKind, Trace},
    library::SkillLibrary,
    stations::maintain::cases::whole_attempt,
};

/// The case of a failed attempt for which a skill is refined. It allows no refusal.
pub(super) fn trigger(library: &SkillLibrary, trace: &Trace) -> BundleCase {
    let mut case = whole_attempt(library, trace, CaseKind::Integration);
    case.refusals = 0;
    case
}
