//! The overlap graph: insertion, removal and lookup of segments.

use std::collections::BTreeMap;

use crate::{
    error::{Error, Result},
    id::SegmentId,
    papers::hisme::{
        Segment, SegmentKind,
        overlap::{
            Overlap, OverlapOptions,
            features::{Feature, Features, Sizes},
            heaviest::{Heaviest, Near, Nearest},
            index::{Dense, Index, Met, Slot},
        },
    },
};

/// Segments and their overlaps (HiSME appendix C, Eq. 21; weights in [`OverlapOptions`]).
///
/// The graph has the segments of traces, at most [`OverlapOptions::traces`] of them, and the skills that the caller
/// inserts: the active and pending ones (algorithm 3). The edges depend only on the segments in the graph. The graph is
/// serialized as its options and segments; reading it computes the edges again.
///
/// Cost: a new segment is compared with the segments that share a rare n-gram with it, and its embedding with all others.
/// Memory is proportional to segments and edges; segments that are all alike have edges proportional to the square of their
/// number.
///
/// ```
/// use journeyman::{domain::Verdict, papers::hisme::{OverlapGraph, OverlapOptions, project}, testing::sample};
///
/// let mut graph = OverlapGraph::new(OverlapOptions::default())?;
/// for id in ["monday", "tuesday"] {
///     let task = sample::task(id, &["unseal", "brew"]);
///     let trajectory = sample::trajectory(&format!("run/{id}"), &task, &["unseal", "brew"], true);
///     for segment in project(&task, &trajectory, Some(&Verdict::binary(true))) {
///         graph.insert(segment)?;
///     }
/// }
/// assert_eq!(graph.edges()[0].overlap.ngram, 1.0);
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct OverlapGraph {
    pub(super) options: OverlapOptions,
    nodes: Vec<Option<Node>>,
    free: Vec<Slot>,
    pub(super) by_id: BTreeMap<SegmentId, Slot>,
    /// The segments of traces, oldest first.
    pub(super) by_age: BTreeMap<u64, Slot>,
    arrivals: u64,
    /// The index of the segments that have a task.
    pub(super) index: Index,
    pub(super) dense: Dense,
    /// The skills of no task, in order of insertion.
    pub(super) taskless: BTreeMap<u64, Slot>,
    /// The number of components of each embedding, and the number of embeddings.
    dimensions: (usize, usize),
    /// The number of insertions so far.
    pub(super) came: u64,
    met: Met,
    /// The number of insertions since the index was built, and the number of segments at that time.
    since_built: (usize, usize),
}

/// The least number of changes after which the index is built again.
const LEAST_CHANGES: usize = 64;

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) segment: Segment,
    pub(super) features: Features,
    /// All edges except those between two taskless segments.
    pub(super) edges: BTreeMap<Slot, Overlap>,
    /// The heaviest of these edges.
    pub(super) heaviest: Heaviest,
    /// The heaviest edges to other taskless segments, computed on request.
    pub(super) nearest: Nearest,
    pub(super) digest: String,
    /// The n-grams by which the segment is looked up, and indexed if it has a task.
    pub(super) prefix: Vec<(Feature, Sizes)>,
    /// Whether the segment is a skill of no task. Two of them make no group without a third segment.
    pub(super) is_taskless: bool,
    /// The number of its insertion, from 1.
    pub(super) came: u64,
    /// The age of a trace's segment; `None` for a skill. A smaller number is older.
    pub(super) age: Option<u64>,
}

/// Two segments that overlap; `from` has the smaller id.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge<'a> {
    /// The segment with the smaller id.
    pub from: &'a SegmentId,
    /// The segment with the greater id.
    pub to: &'a SegmentId,
    /// The overlap.
    pub overlap: Overlap,
}

impl OverlapGraph {
    /// An empty graph.
    ///
    /// # Errors
    /// `Invalid` where the options break a range.
    pub fn new(options: OverlapOptions) -> Result<Self> {
        options.validate()?;
        Ok(Self {
            options,
            nodes: Vec::new(),
            free: Vec::new(),
            by_id: BTreeMap::new(),
            by_age: BTreeMap::new(),
            arrivals: 0,
            index: Index::default(),
            dense: Dense::default(),
            taskless: BTreeMap::new(),
            dimensions: (0, 0),
            came: 0,
            met: Met::default(),
            since_built: (0, 0),
        })
    }

    /// Inserts a segment. A segment of the same id is replaced and keeps its age. A new segment of a trace removes the oldest
    /// one where the graph is full, and that one is returned.
    ///
    /// # Errors
    /// `Invalid` where the embedding is not of length 1, or has another number of components than those in the graph. The
    /// graph is then unchanged.
    pub fn insert(&mut self, segment: Segment) -> Result<Option<Segment>> {
        self.check_embedding(&segment)?;
        let replaced = self.take_out(&segment.id);
        let mut driven_out = None;
        let mut age = None;
        if matches!(segment.kind, SegmentKind::Trace { .. }) {
            if self.by_age.len() >= self.options.traces {
                let oldest = self.by_age.values().next().copied();
                driven_out = oldest.and_then(|slot| self.vacate(slot));
            }
            age = replaced.and_then(|node| node.age).or(Some(self.arrivals));
            self.arrivals += 1;
        }
        self.put_in(segment, age);
        Ok(driven_out.map(|node| node.segment))
    }

    /// Removes a segment and its edges.
    pub fn remove(&mut self, id: &SegmentId) -> Option<Segment> {
        self.take_out(id).map(|node| node.segment)
    }

    /// The options.
    pub fn options(&self) -> &OverlapOptions {
        &self.options
    }

    /// A segment.
    pub fn get(&self, id: &SegmentId) -> Option<&Segment> {
        self.segment(*self.by_id.get(id)?)
    }

    /// All segments, by id.
    pub fn segments(&self) -> impl Iterator<Item = &Segment> {
        let slots = self.by_id.values();
        slots.filter_map(|slot| self.segment(*slot))
    }

    /// The neighbors of a segment, heaviest first, ties by id; empty for an unknown id.
    pub fn neighbours(&self, id: &SegmentId) -> Vec<(&SegmentId, Overlap)> {
        let slot = self.by_id.get(id);
        slot.map_or_else(Vec::new, |slot| self.heaviest_first(*slot))
    }

    /// All edges, ordered by ids.
    pub fn edges(&self) -> Vec<Edge<'_>> {
        let mut edges = Vec::new();
        for (from, slot) in &self.by_id {
            let overlaps = self.heaviest_first(*slot).into_iter();
            let later = overlaps.filter(|(to, _)| *to > from);
            edges.extend(later.map(|(to, overlap)| Edge { from, to, overlap }));
        }
        edges.sort_by_key(|edge| (edge.from, edge.to));
        edges
    }

    fn heaviest_first(&self, slot: Slot) -> Vec<(&SegmentId, Overlap)> {
        let edges = self.all_edges(slot).into_iter();
        let edges = edges.filter_map(|(slot, overlap)| {
            let other = self.node(slot)?;
            Some((&other.segment.id, overlap))
        });
        let mut edges: Vec<_> = edges.collect();
        edges.sort_by(|a, b| (b.1.weight.total_cmp(&a.1.weight)).then_with(|| a.0.cmp(b.0)));
        edges
    }

    pub(super) fn node(&self, slot: Slot) -> Option<&Node> {
        self.nodes.get(slot as usize)?.as_ref()
    }

    pub(super) fn segment(&self, slot: Slot) -> Option<&Segment> {
        self.node(slot).map(|node| &node.segment)
    }

    /// The slots of the segments, by id.
    pub(super) fn places(&self) -> &BTreeMap<SegmentId, Slot> {
        &self.by_id
    }

    fn check_embedding(&self, segment: &Segment) -> Result<()> {
        let Some(embedding) = &segment.embedding else {
            return Ok(());
        };
        let invalid = |message: String| {
            Err(Error::invalid("OverlapGraph::insert", message)
                .with("segment", &segment.id)
                .hint("embed all segments with one embedder that passes its conformance suite"))
        };
        let length = embedding.cosine(embedding).sqrt();
        let is_unit = (length - 1.0).abs() <= 1e-3;
        if !is_unit {
            return invalid("the embedding is not of length 1".to_owned());
        }
        let given = embedding.components().len();
        match self.dimensions {
            (wanted, 1..) if wanted != given => invalid(format!(
                "the embedding has {given} components, and those of the graph have {wanted}"
            )),
            _ => Ok(()),
        }
    }

    fn put_in(&mut self, segment: Segment, age: Option<u64>) {
        let is_skill = matches!(segment.kind, SegmentKind::Skill(_));
        let is_taskless = is_skill && segment.tasks.is_empty();
        let (since, then) = self.since_built;
        self.since_built.0 += usize::from(!is_taskless);
        if !is_taskless && since >= then.max(LEAST_CHANGES) {
            self.build_index();
        }
        self.came += 1;
        let features = Features::of(&segment);
        let need = self.need(&segment);
        let mut node = Node {
            prefix: match is_taskless {
                true => features.unordered(),
                false => self.index.prefix(&features, &self.options, need),
            },
            digest: segment.digest(),
            is_taskless,
            segment,
            features,
            edges: BTreeMap::new(),
            heaviest: Heaviest::default(),
            nearest: Nearest::default(),
            came: self.came,
            age,
        };
        let mut met = std::mem::take(&mut self.met);
        node.edges = self.edges_of(&node, &mut met);
        self.met = met;
        node.heaviest = self.heaviest_of(&node.edges);
        let slot = self.free.pop().unwrap_or(self.nodes.len() as Slot);
        self.list(slot, &node);
        self.by_id.insert(node.segment.id.clone(), slot);
        if let Some(age) = age {
            self.by_age.insert(age, slot);
        }
        if slot as usize == self.nodes.len() {
            self.nodes.push(None);
        }
        let edges = node.edges.clone();
        self.nodes[slot as usize] = Some(node);
        for (other, overlap) in edges {
            self.tie(other, slot, overlap);
        }
    }

    /// Adds to a segment its edge to a new one.
    fn tie(&mut self, to: Slot, new: Slot, overlap: Overlap) {
        let Some(node) = self.nodes[to as usize].as_mut() else {
            return;
        };
        node.edges.insert(new, overlap);
        let mut heaviest = std::mem::take(&mut node.heaviest);
        let weight = overlap.weight;
        heaviest.offer(Near { slot: new, weight }, |slot| self.segment(slot));
        if let Some(node) = self.nodes[to as usize].as_mut() {
            node.heaviest = heaviest;
        }
    }

    /// Adds a segment to the index, or to the list of skills of no task.
    fn list(&mut self, slot: Slot, node: &Node) {
        if let Some(embedding) = &node.segment.embedding {
            self.dimensions = (embedding.components().len(), self.dimensions.1 + 1);
        }
        if node.is_taskless {
            self.taskless.insert(node.came, slot);
            return;
        }
        self.index.add(slot, &node.features, &node.prefix);
        if let Some(embedding) = &node.segment.embedding {
            self.dense.add(slot, embedding.components());
        }
    }

    fn unlist(&mut self, slot: Slot, node: &Node) {
        self.dimensions.1 -= usize::from(node.segment.embedding.is_some());
        if self.taskless.remove(&node.came).is_some() {
            return;
        }
        self.index.remove(slot, &node.features, &node.prefix);
        if node.segment.embedding.is_some() {
            self.dense.remove(slot);
        }
    }

    fn take_out(&mut self, id: &SegmentId) -> Option<Node> {
        let slot = *self.by_id.get(id)?;
        self.vacate(slot)
    }

    fn vacate(&mut self, slot: Slot) -> Option<Node> {
        let node = self.nodes.get_mut(slot as usize)?.take()?;
        self.by_id.remove(&node.segment.id);
        if let Some(age) = node.age {
            self.by_age.remove(&age);
        }
        for other in node.edges.keys() {
            let Some(other_node) = self.nodes[*other as usize].as_mut() else {
                continue;
            };
            other_node.edges.remove(&slot);
            if other_node.heaviest.holds(slot) {
                let edges = std::mem::take(&mut other_node.edges);
                let heaviest = self.heaviest_of(&edges);
                if let Some(other_node) = self.nodes[*other as usize].as_mut() {
                    (other_node.edges, other_node.heaviest) = (edges, heaviest);
                }
            }
        }
        self.unlist(slot, &node);
        self.free.push(slot);
        Some(node)
    }

    /// The number of kept edges, each counted at both ends.
    #[cfg(test)]
    pub(super) fn kept_edges(&self) -> usize {
        let nodes = self.nodes.iter().flatten();
        nodes.map(|node| node.edges.len()).sum()
    }

    fn build_index(&mut self) {
        let nodes = self.nodes.iter().flatten().filter(|node| !node.is_taskless);
        let mut index = Index::for_segments(nodes.map(|node| &node.features));
        let mut indexed = 0;
        for slot in self.by_id.values().copied() {
            let node = self.nodes[slot as usize].as_ref();
            let Some(node) = node.filter(|node| !node.is_taskless) else {
                continue;
            };
            let need = self.need(&node.segment);
            let prefix = index.prefix(&node.features, &self.options, need);
            index.add(slot, &node.features, &prefix);
            indexed += 1;
            if let Some(node) = self.nodes[slot as usize].as_mut() {
                node.prefix = prefix;
            }
        }
        self.index = index;
        self.since_built = (0, indexed);
    }
}
