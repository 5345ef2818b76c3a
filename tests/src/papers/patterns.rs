//! The patterns of prototypes beside what the world demands.

use std::collections::{BTreeMap, BTreeSet};

use journeyman::{PrototypeId, library::SkillLibrary};
use journeyman_toolworld::tool::SkillText;

/// For each prototype of a tool that tasks are about, whether its pattern is what the world demands.
pub(super) fn true_patterns(
    library: &SkillLibrary,
    truths: &[SkillText],
) -> BTreeMap<PrototypeId, bool> {
    let prototypes = library.prototypes().iter().filter_map(|prototype| {
        let of_it = |truth: &&SkillText| truth.title.to_string() == prototype.rubric.title;
        let truth = truths.iter().find(of_it)?;
        let pattern = SkillText::parse(&prototype.rubric.pattern);
        let right = pattern.is_some_and(|pattern| pattern.says_the_same(truth));
        Some((prototype.id.clone(), right))
    });
    prototypes.collect()
}

/// Of the prototypes of tools that tasks are about, how many have the true pattern: those with members of one task alone, and those
/// with members of several.
pub(super) fn right(library: &SkillLibrary, truths: &[SkillText]) -> [(usize, usize); 2] {
    let tasks: BTreeMap<_, _> = library
        .subgoals()
        .map(|known| (&known.at, &known.task))
        .collect();
    let true_patterns = true_patterns(library, truths);
    let mut counts = [(0, 0); 2];
    for prototype in library.prototypes() {
        let Some(right) = true_patterns.get(&prototype.id) else {
            continue;
        };
        let members = prototype.members.iter().filter_map(|at| tasks.get(at));
        let several = members.collect::<BTreeSet<_>>().len() > 1;
        let count = &mut counts[usize::from(several)];
        *count = (count.0 + usize::from(*right), count.1 + 1);
    }
    counts
}
