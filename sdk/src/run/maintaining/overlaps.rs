//! The overlap graph of what the library keeps, kept up to date as attempts arrive (H2).

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    error::Result,
    id::SegmentId,
    propose::{OverlapGraph, OverlapOptions, Segment, SegmentKind},
};

/// The graph as it was when it was last asked. It follows from the library, so it is no part of a saved run: a copy builds its
/// own. The runs of one host share theirs, since each goes on from the library of the one before.
#[derive(Default)]
pub(in super::super) struct Overlaps(Arc<Mutex<Option<OverlapGraph>>>);

impl Clone for Overlaps {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for Overlaps {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Overlaps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Overlaps").finish_non_exhaustive()
    }
}

impl Overlaps {
    /// The same graph for another run. Whoever asks brings it to what the own library has, so no run sees another's.
    pub(in super::super) fn share(&self) -> Self {
        Self(Arc::clone(&self.0))
    }

    /// Brings the graph to these segments, of traces the oldest first, and reads it: what is in it already costs no more
    /// than a look.
    ///
    /// # Errors
    /// `Invalid` where embeddings cannot be compared; what `read` gives.
    pub(super) fn of<T>(
        &self,
        segments: Vec<Segment>,
        read: impl FnOnce(&OverlapGraph) -> Result<T>,
    ) -> Result<T> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // What fails half way leaves nothing behind.
        let mut graph = match kept.take() {
            Some(graph) => graph,
            None => OverlapGraph::new(OverlapOptions::default())?,
        };
        bring(&mut graph, segments)?;
        let value = read(&graph)?;
        *kept = Some(graph);
        Ok(value)
    }
}

fn bring(graph: &mut OverlapGraph, mut segments: Vec<Segment>) -> Result<()> {
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
    use super::*;
    use crate::{domain::Trace, propose::project, testing::sample};

    fn segments(attempts: std::ops::Range<usize>) -> Vec<Segment> {
        let words = ["one", "two", "three", "four", "five"];
        let trace = |n: usize| -> Trace {
            let said = [words[n % 5], words[(n + 1) % 5], words[n * n % 5]];
            let task = sample::task(&format!("t{n}"), &said);
            sample::trace(&format!("a{n}"), &task, &said, !n.is_multiple_of(3))
        };
        let traces = attempts.map(trace);
        let projected = traces.flat_map(|t| project(&t.task, &t.trajectory, t.verdict.as_ref()));
        let skill = Segment::of_skill(&sample::skill("one two three"));
        projected.chain([skill]).collect()
    }

    #[test]
    fn what_is_kept_up_to_date_is_as_what_is_built_anew() {
        let kept = Overlaps::default();
        let told = |overlaps: &Overlaps, attempts: std::ops::Range<usize>| {
            let read = |graph: &OverlapGraph| {
                let cliques = graph.cliques(&Default::default(), &Default::default())?;
                Ok(format!("{:?} {cliques:?}", graph.edges()))
            };
            overlaps.of(segments(attempts), read).unwrap()
        };
        // Attempts come, and the oldest go.
        for from in 0..12 {
            let attempts = from..from + 8;
            let anew = told(&Overlaps::default(), attempts.clone());
            assert!(anew.contains("overlap"), "there is something to compare");
            assert_eq!(told(&kept, attempts), anew);
        }
        assert_eq!(told(&kept.clone(), 3..9), told(&kept, 3..9));
    }
}
