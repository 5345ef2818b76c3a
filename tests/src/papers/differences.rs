//! Counts of why SCRIBE's routes differ from clusters that came later, and where cuts differ from the world's own.

use std::collections::BTreeMap;

use journeyman::{
    Result,
    domain::{Committed, PrototypeId, Subgoal, SubgoalRef, Trace},
    library::{KnownSubgoal, SkillLibrary},
};
use quickstart::spoken;
use serde::{Deserialize, Serialize};

use crate::figures::{Bound, Figures};

/// The kinds of routes that are counted: where the router sent a subgoal, compared with the prototype that the subgoal belongs to
/// at the end.
const ROUTES: [&str; 5] = [
    "to the same prototype",
    "to another or none, since that prototype was not there yet",
    "to none, since none was near enough",
    "to another prototype of the same tool",
    "to a prototype of another tool",
];

/// The attempts whose spans are counted apart.
const ATTEMPTS: [&str; 2] = ["without", "with"];

/// The prototypes in force, with their titles: the tools that they are about.
type Titles = BTreeMap<PrototypeId, String>;

/// Counts of one world.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Counts {
    routes: [usize; ROUTES.len()],
    /// Subgoals that belong to no prototype at the end: nothing to compare their routes with.
    alone: usize,
    /// Spans that match, and all: of [`ATTEMPTS`] a refused call.
    spans: [(usize, usize); 2],
    /// Other spans: several of the world's joined exactly, others across an end of the world's, and parts of one of the world's.
    wrong: [usize; 3],
    /// Of the parts those beside a subgoal of the same skill: joined with it they would be more of the world's.
    beside: usize,
}

impl Counts {
    /// The counts of a library: of all routes that it has, and of the cuts of its attempts.
    pub(super) fn of(committed: &[Committed]) -> Result<Self> {
        let library = SkillLibrary::replay(committed)?;
        let known: Vec<&KnownSubgoal> = library.subgoals().collect();
        let mut counts = Self::of_routes(&library, committed)?;
        let traces: BTreeMap<_, &Trace> = library
            .traces()
            .map(|trace| (&trace.trajectory.attempt, trace))
            .collect();
        for subgoals in known.chunk_by(|one, next| one.at.attempt == next.at.attempt) {
            let whole = subgoals.first().filter(|first| first.at.place == 0);
            if let Some(trace) = whole.and_then(|first| traces.get(&first.at.attempt)) {
                let cut = subgoals.iter().map(|known| &known.assessed.subgoal);
                counts.cut(&cut.collect::<Vec<_>>(), trace)?;
            }
        }
        Ok(counts)
    }

    /// The counts of a library's routes alone.
    pub(super) fn of_routes(library: &SkillLibrary, committed: &[Committed]) -> Result<Self> {
        let known: Vec<&KnownSubgoal> = library.subgoals().collect();
        let mut counts = Self::default();
        counts.route(library, &known, committed)?;
        Ok(counts)
    }

    /// Adds the counts of another world.
    pub(super) fn add(&mut self, other: &Self) {
        let sums = self.routes.iter_mut().zip(other.routes);
        sums.for_each(|(sum, count)| *sum += count);
        self.alone += other.alone;
        for (sum, (same, of)) in self.spans.iter_mut().zip(other.spans) {
            *sum = (sum.0 + same, sum.1 + of);
        }
        let sums = self.wrong.iter_mut().zip(other.wrong);
        sums.for_each(|(sum, count)| *sum += count);
        self.beside += other.beside;
    }

    /// Records the counts, each name behind `of` and a dot.
    pub(super) fn record(&self, figures: &mut Figures<'_>, of: &str) {
        let compared: usize = self.routes.iter().sum();
        let [same, early, ..] = self.routes;
        let [joined, across, within] = self.wrong;
        let mut count = |name: &str, count: usize| {
            figures.record(&format!("{of}.{name}"), count as f64, Bound::None);
        };
        count("routes compared", compared);
        count(
            "subgoals that belong to no prototype at the end",
            self.alone,
        );
        count("other spans that join several of the world's", joined);
        count("other spans across an end of the world's", across);
        count("other spans within one of the world's", within);
        count("of these, spans beside one of the same skill", self.beside);
        for (which, (_, all)) in ATTEMPTS.iter().zip(self.spans) {
            count(&format!("spans of attempts {which} a refused call"), all);
        }
        let mut share = |name: &str, (count, all): (usize, usize)| {
            let name = format!("{of}.{name}");
            match all {
                0 => figures.skip(&name, "there are none"),
                all => figures.record(&name, count as f64 / all as f64, Bound::None),
            }
        };
        for (what, count) in ROUTES.iter().zip(self.routes) {
            share(&format!("routes {what}"), (count, compared));
        }
        share(
            "routes whose prototype was there, to it",
            (same, compared - early),
        );
        for (which, spans) in ATTEMPTS.iter().zip(self.spans) {
            let name = format!("spans of attempts {which} a refused call that match");
            share(&name, spans);
        }
    }

    /// Counts the spans of an attempt's subgoals, in order, beside the world's own.
    pub(super) fn cut(&mut self, subgoals: &[&Subgoal], trace: &Trace) -> Result<()> {
        let world: Vec<_> = spoken::true_cut(trace)?.into();
        let world: Vec<(usize, usize)> = world.iter().map(|one| (one.first, one.last)).collect();
        let mut steps = trace.trajectory.steps.iter();
        let refused = steps.any(|step| step.result.is_error);
        for (place, one) in subgoals.iter().enumerate() {
            let (first, last) = (one.first, one.last);
            let same = world.contains(&(first, last));
            let [without, with] = &mut self.spans;
            let of_these = if refused { with } else { without };
            *of_these = (of_these.0 + usize::from(same), of_these.1 + 1);
            if same {
                continue;
            }
            let is_end = |at: usize| world.iter().any(|(_, end)| *end == at);
            let is_across = (first..last).any(is_end);
            let is_joined =
                is_across && is_end(last) && world.iter().any(|(begin, _)| *begin == first);
            let [joined, across, within] = &mut self.wrong;
            match (is_joined, is_across) {
                (true, _) => *joined += 1,
                (false, true) => *across += 1,
                (false, false) => {
                    *within += 1;
                    let sides = [place.checked_sub(1), Some(place + 1)];
                    let mut sides = sides
                        .into_iter()
                        .flatten()
                        .filter_map(|at| subgoals.get(at));
                    self.beside += usize::from(sides.any(|other| other.skill == one.skill));
                }
            }
        }
        Ok(())
    }

    /// Counts the routes of all subgoals that were assessed when there were prototypes.
    fn route(
        &mut self,
        library: &SkillLibrary,
        known: &[&KnownSubgoal],
        committed: &[Committed],
    ) -> Result<()> {
        let then = prototypes_then(committed)?;
        let now = titles(library);
        let prototypes = library.prototypes().iter();
        let members: BTreeMap<&SubgoalRef, &PrototypeId> = prototypes
            .flat_map(|one| one.members.iter().map(move |member| (member, &one.id)))
            .collect();
        for known in known {
            let Some(there) = then.get(&known.at).filter(|there| !there.is_empty()) else {
                continue;
            };
            let Some(later) = members.get(&known.at) else {
                self.alone += 1;
                continue;
            };
            let kind = match known.assessed.route.as_ref().map(|route| &route.prototype) {
                Some(routed) if routed == *later => 0,
                _ if !there.contains_key(*later) => 1,
                None => 2,
                Some(routed) if there.get(routed) == now.get(*later) => 3,
                Some(_) => 4,
            };
            if let Some(count) = self.routes.get_mut(kind) {
                *count += 1;
            }
        }
        Ok(())
    }
}

fn titles(library: &SkillLibrary) -> Titles {
    let prototypes = library.prototypes().iter();
    prototypes
        .map(|one| (one.id.clone(), one.rubric.title.clone()))
        .collect()
}

/// For each subgoal the prototypes that were in force when it was assessed.
fn prototypes_then(committed: &[Committed]) -> Result<BTreeMap<SubgoalRef, Titles>> {
    let mut library = SkillLibrary::new();
    let mut then = BTreeMap::new();
    for commit in committed {
        let before = titles(&library);
        library.apply(commit)?;
        for known in library.subgoals() {
            then.entry(known.at.clone())
                .or_insert_with(|| before.clone());
        }
    }
    Ok(then)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_two_worlds_are_summed() {
        let mut one = Counts {
            routes: [1, 2, 0, 0, 3],
            alone: 1,
            spans: [(1, 2), (3, 4)],
            wrong: [1, 0, 1],
            beside: 1,
        };
        let other = one;
        one.add(&other);
        assert_eq!((one.routes, one.alone, one.beside), ([2, 4, 0, 0, 6], 2, 2));
        assert_eq!((one.spans, one.wrong), ([(2, 4), (6, 8)], [2, 0, 2]));
    }
}
