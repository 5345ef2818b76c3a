//! SCRIBE: why routes differ from clusters that came later, and where cuts differ from the world's own.

use std::collections::BTreeMap;

use futures::executor::block_on;
use journeyman::{
    Result,
    contract::SkillStore,
    domain::{Committed, PrototypeId, SubgoalRef, Trace},
    library::{KnownSubgoal, SkillLibrary},
};
use quickstart::spoken;
use serde::{Deserialize, Serialize};

use super::{
    STEPS, key, scribe,
    world::{Host, MANY_HIDDEN, World},
};
use crate::figures::{Bound, Figures, Outcome, recalling};

/// Worlds of a seed.
const WORLDS: u64 = 5;

/// The kinds of routes that are counted: where the router sent a subgoal, compared with the prototype that the subgoal belongs to
/// at the end.
const ROUTES: [&str; 5] = [
    "to the same prototype",
    "to another or none, since that prototype was not there yet",
    "to none, since none was near enough",
    "to another prototype of the same tool",
    "to a prototype of another tool",
];

/// The prototypes in force, with their titles: the tools that they are about.
type Titles = BTreeMap<PrototypeId, String>;

/// Counts of one world.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Counts {
    routes: [usize; ROUTES.len()],
    /// Subgoals that belong to no prototype at the end: nothing to compare their routes with.
    alone: usize,
    /// Spans that match, and all: of attempts without a refused call, and of those with one.
    spans: [(usize, usize); 2],
    /// Other spans: several of the world's joined exactly, others across an end of the world's, and parts of one of the world's.
    wrong: [usize; 3],
}

/// Measures and records.
pub(super) fn run(figures: &mut Figures<'_>) -> Outcome {
    let parts = figures.parts(STEPS)?;
    let mut all = Counts::default();
    for number in 0..WORLDS {
        let seed = figures.options().seed;
        let key = key(&parts, &format!("routes and cuts, world {number}"));
        let one: Counts = figures.once(&key, || {
            let world = World::of(MANY_HIDDEN, seed, number)?;
            let parts = recalling(&parts)?;
            Ok(counts(&Host::new(&parts, world.seed), &world)?)
        })?;
        all.add(&one);
    }
    let compared: usize = all.routes.iter().sum();
    let mut record = |name: &str, value: f64| {
        figures.record(&format!("scribe-reasons.{name}"), value, Bound::None);
    };
    record("routes compared", compared as f64);
    record(
        "subgoals that belong to no prototype at the end",
        all.alone as f64,
    );
    for (what, count) in ROUTES.iter().zip(all.routes) {
        record(&format!("routes {what}"), share(count, compared));
    }
    for (which, (same, of)) in ["without", "with"].into_iter().zip(all.spans) {
        let of_these = format!("attempts {which} a refused call");
        record(&format!("spans of {of_these}"), of as f64);
        record(&format!("spans of {of_these} that match"), share(same, of));
    }
    let [joined, across, within] = all.wrong;
    record(
        "other spans that join several of the world's",
        joined as f64,
    );
    record("other spans across an end of the world's", across as f64);
    record("other spans within one of the world's", within as f64);
    Ok(())
}

fn share(count: usize, of: usize) -> f64 {
    count as f64 / of as f64
}

impl Counts {
    fn add(&mut self, other: &Self) {
        let sums = self.routes.iter_mut().zip(other.routes);
        sums.for_each(|(sum, count)| *sum += count);
        self.alone += other.alone;
        for (sum, (same, of)) in self.spans.iter_mut().zip(other.spans) {
            *sum = (sum.0 + same, sum.1 + of);
        }
        let sums = self.wrong.iter_mut().zip(other.wrong);
        sums.for_each(|(sum, count)| *sum += count);
    }
}

fn counts(host: &Host<'_>, world: &World) -> Result<Counts> {
    let (store, _) = scribe::learn(host, world)?;
    let committed = block_on(store.load())?.committed;
    let library = SkillLibrary::replay(&committed)?;
    let known: Vec<&KnownSubgoal> = library.subgoals().collect();
    let mut counts = Counts::default();
    counts.route(&library, &known, &committed)?;
    let traces: BTreeMap<_, &Trace> = library
        .traces()
        .map(|trace| (&trace.trajectory.attempt, trace))
        .collect();
    for subgoals in known.chunk_by(|one, next| one.at.attempt == next.at.attempt) {
        let whole = subgoals.first().filter(|first| first.at.place == 0);
        if let Some(trace) = whole.and_then(|first| traces.get(&first.at.attempt)) {
            counts.cut(subgoals, trace)?;
        }
    }
    Ok(counts)
}

impl Counts {
    fn cut(&mut self, subgoals: &[&KnownSubgoal], trace: &Trace) -> Result<()> {
        let world: Vec<_> = spoken::true_cut(trace)?.into();
        let world: Vec<(usize, usize)> = world.iter().map(|one| (one.first, one.last)).collect();
        let refused = trace
            .trajectory
            .steps
            .iter()
            .any(|step| step.result.is_error);
        for known in subgoals {
            let (first, last) = (known.assessed.subgoal.first, known.assessed.subgoal.last);
            let same = world.contains(&(first, last));
            let [without, with] = &mut self.spans;
            let of_these = if refused { with } else { without };
            *of_these = (of_these.0 + usize::from(same), of_these.1 + 1);
            if !same {
                let is_end = |at: usize| world.iter().any(|(_, end)| *end == at);
                let is_across = (first..last).any(is_end);
                let is_joined =
                    is_across && is_end(last) && world.iter().any(|(begin, _)| *begin == first);
                let [joined, across, within] = &mut self.wrong;
                *(match (is_joined, is_across) {
                    (true, _) => joined,
                    (false, true) => across,
                    (false, false) => within,
                }) += 1;
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
