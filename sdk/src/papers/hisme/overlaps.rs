//! The overlap graph of the library's kept attempts and offered skills, updated as they come and go (HiSME appendix C; row H2).

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    error::Result,
    id::SegmentId,
    papers::hisme::{OverlapGraph, OverlapOptions, Segment, SegmentKind},
};

/// The graph as of the last use, shared by its clones. The graph follows from the library, so it is not part of a saved run: each
/// use first updates it to its own library, so that no run sees another's segments. The runs of one session share one graph, since
/// each continues from the library of the one before.
#[derive(Clone, Default)]
pub(crate) struct Overlaps(Arc<Mutex<Option<OverlapGraph>>>);

impl fmt::Debug for Overlaps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Overlaps").finish_non_exhaustive()
    }
}

impl Overlaps {
    /// Updates the graph to these segments, those of traces the oldest first, and reads it. A segment that is in the graph already
    /// is only compared. A graph with other options is built anew.
    ///
    /// # Errors
    /// `Invalid` if embeddings cannot be compared; the errors of `read`.
    pub(crate) fn of<T>(
        &self,
        options: OverlapOptions,
        segments: Vec<Segment>,
        read: impl FnOnce(&OverlapGraph) -> Result<T>,
    ) -> Result<T> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // After an error no half-updated graph is kept.
        let mut graph = match kept.take().filter(|graph| *graph.options() == options) {
            Some(graph) => graph,
            None => OverlapGraph::new(options)?,
        };
        update(&mut graph, segments)?;
        let value = read(&graph)?;
        *kept = Some(graph);
        Ok(value)
    }
}

fn update(graph: &mut OverlapGraph, mut segments: Vec<Segment>) -> Result<()> {
    let is_trace = |segment: &Segment| matches!(segment.kind, SegmentKind::Trace { .. });
    let traces = segments.iter().filter(|segment| is_trace(segment)).count();
    let mut over = traces.saturating_sub(graph.options().traces);
    segments.retain(|segment| {
        let drop = over > 0 && is_trace(segment);
        over -= usize::from(drop);
        !drop
    });
    let wanted: BTreeMap<&SegmentId, &Segment> = (segments.iter())
        .map(|segment| (&segment.id, segment))
        .collect();
    let gone = graph.segments().map(|segment| &segment.id);
    let gone: Vec<SegmentId> = gone
        .filter(|id| !wanted.contains_key(id))
        .cloned()
        .collect();
    for id in &gone {
        graph.remove(id);
    }
    for segment in segments {
        if graph.get(&segment.id) != Some(&segment) {
            graph.insert(segment)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{
        domain::{Skill, Trace},
        id::{SkillId, TaskId},
        papers::hisme::{Fingerprint, project},
        testing::sample,
    };

    const WORDS: [&str; 5] = ["one", "two", "three", "four", "five"];

    fn words(n: usize) -> [&'static str; 3] {
        [WORDS[n % 5], WORDS[(n + 1) % 5], WORDS[n * n % 5]]
    }

    /// A skill with the words of an attempt: each third one was distilled from tasks, the others from none.
    fn skill(n: usize) -> Skill {
        let mut skill = sample::skill(&words(n).join(" "));
        skill.id = SkillId::new(format!("skill {n:02}"));
        if n.is_multiple_of(3) {
            skill.provenance.tasks = vec![TaskId::new(format!("t{n}")), TaskId::new("t")];
        }
        skill
    }

    fn segments(attempts: std::ops::Range<usize>) -> Vec<Segment> {
        let trace = |n: usize| -> Trace {
            let task = sample::task(&format!("t{n}"), &words(n));
            sample::trace(&format!("a{n}"), &task, &words(n), !n.is_multiple_of(3))
        };
        let skills = attempts
            .clone()
            .map(|n| Segment::of_skill(&skill(n / 2 * 2)));
        let skills: BTreeMap<SegmentId, Segment> =
            skills.map(|skill| (skill.id.clone(), skill)).collect();
        let traces = attempts.map(trace);
        let projected = traces.flat_map(|t| project(&t.task, &t.trajectory, t.verdict.as_ref()));
        projected.chain(skills.into_values()).collect()
    }

    #[test]
    fn an_updated_graph_equals_one_that_is_built_anew() {
        let kept = Overlaps::default();
        let mut handed = BTreeSet::new();
        let cliques_of = |overlaps: &Overlaps, from: usize, handed: &BTreeSet<Fingerprint>| {
            let read = |graph: &OverlapGraph| {
                let cliques = graph.cliques(&Default::default(), handed)?;
                let text = format!("{:?} {cliques:?}", graph.edges());
                Ok((text, cliques))
            };
            let options = OverlapOptions::default();
            overlaps
                .of(options, segments(from..from + 8), read)
                .unwrap()
        };
        // Attempts and skills come, and the oldest go; groups that were found are handled, and at last forgotten.
        let mut groups = 0;
        for from in 0..24 {
            let (anew, cliques) = cliques_of(&Overlaps::default(), from, &handed);
            assert!(anew.contains("overlap"), "there is something to compare");
            assert_eq!(cliques_of(&kept, from, &handed).0, anew);
            assert_eq!(cliques_of(&kept.clone(), from, &handed).0, anew);
            groups += cliques.len();
            handed.extend(cliques.into_iter().map(|clique| clique.fingerprint));
            if from % 8 == 7 {
                handed.clear();
            }
        }
        assert!(groups >= 8, "{groups}");
        assert_eq!(
            cliques_of(&Overlaps::default(), 3, &handed),
            cliques_of(&kept, 3, &handed)
        );
    }
}
