//! The graph.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, Serializer, ser::SerializeStruct};

use super::{
    Overlap, OverlapOptions,
    features::{Feature, Features, Sizes},
    index::{Dense, Index, Slot},
};
use crate::{
    error::{Error, Result},
    id::SegmentId,
    propose::{Segment, SegmentKind},
};

/// Segments and how they overlap (HiSME appendix C, Eq. 21; [the numbers](OverlapOptions)).
///
/// It holds the segments of traces, at most [`OverlapOptions::traces`] of them, and whatever skills the caller puts in:
/// the active and pending ones (algorithm 3). The edges are a function of the segments that are in it and of nothing else.
/// It is saved as its options and segments; the edges are found again when it is read.
///
/// What it costs: a segment that comes is compared with those that share a rare n-gram with it, and its embedding with
/// all others. Memory is in proportion to segments and edges, and segments that are all alike have edges in proportion
/// to their square.
///
/// ```
/// use journeyman::{
///     domain::Verdict,
///     propose::{OverlapGraph, OverlapOptions, project},
///     testing::sample,
/// };
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
    options: OverlapOptions,
    nodes: Vec<Option<Node>>,
    free: Vec<Slot>,
    by_id: BTreeMap<SegmentId, Slot>,
    /// The segments of traces, the oldest first.
    by_age: BTreeMap<u64, Slot>,
    arrivals: u64,
    index: Index,
    dense: Dense,
    /// How many segments came since the index was built, and how many there were then.
    since_built: (usize, usize),
}

/// The fewest changes after which the index is built again.
const LEAST_CHANGES: usize = 64;

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) segment: Segment,
    pub(super) features: Features,
    pub(super) edges: BTreeMap<Slot, Overlap>,
    pub(super) digest: String,
    prefix: Vec<(Feature, Sizes)>,
    /// Of a trace's segment.
    age: Option<u64>,
}

/// Two segments that overlap, the one with the smaller id first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge<'a> {
    /// The one.
    pub from: &'a SegmentId,
    /// The other.
    pub to: &'a SegmentId,
    /// How much.
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
            since_built: (0, 0),
        })
    }

    /// Takes in a segment. One of the same id is replaced and keeps its age; a new one of a trace drives out the oldest where
    /// there is no room, and that one is given back.
    ///
    /// # Errors
    /// `Invalid` where the embedding is not of length 1, or has another number of components than those in the graph. The
    /// graph is as before then.
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

    /// Takes a segment out, and its edges with it.
    pub fn remove(&mut self, id: &SegmentId) -> Option<Segment> {
        self.take_out(id).map(|node| node.segment)
    }

    /// The options.
    pub fn options(&self) -> &OverlapOptions {
        &self.options
    }

    /// A segment.
    pub fn get(&self, id: &SegmentId) -> Option<&Segment> {
        let slot = self.by_id.get(id)?;
        self.node(*slot).map(|node| &node.segment)
    }

    /// All segments, by id.
    pub fn segments(&self) -> impl Iterator<Item = &Segment> {
        let nodes = self.by_id.values().filter_map(|slot| self.node(*slot));
        nodes.map(|node| &node.segment)
    }

    /// What a segment overlaps with, the heaviest first, ties by id; nothing for one that is not there.
    pub fn neighbours(&self, id: &SegmentId) -> Vec<(&SegmentId, Overlap)> {
        let node = self.by_id.get(id).and_then(|slot| self.node(*slot));
        node.map_or_else(Vec::new, |node| self.heaviest_first(node))
    }

    /// All edges, by ids.
    pub fn edges(&self) -> Vec<Edge<'_>> {
        let mut edges = Vec::new();
        for (from, slot) in &self.by_id {
            let Some(node) = self.node(*slot) else {
                continue;
            };
            let overlaps = self.heaviest_first(node).into_iter();
            let later = overlaps.filter(|(to, _)| *to > from);
            edges.extend(later.map(|(to, overlap)| Edge { from, to, overlap }));
        }
        edges.sort_by_key(|edge| (edge.from, edge.to));
        edges
    }

    fn heaviest_first(&self, node: &Node) -> Vec<(&SegmentId, Overlap)> {
        let edges = node.edges.iter().filter_map(|(slot, overlap)| {
            let other = self.node(*slot)?;
            Some((&other.segment.id, *overlap))
        });
        let mut edges: Vec<_> = edges.collect();
        edges.sort_by(|a, b| (b.1.weight.total_cmp(&a.1.weight)).then_with(|| a.0.cmp(b.0)));
        edges
    }

    pub(super) fn node(&self, slot: Slot) -> Option<&Node> {
        self.nodes.get(slot as usize)?.as_ref()
    }

    /// The places of the segments, by id.
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
        let given = embedding.0.len();
        match self.dense.dimensions() {
            Some(wanted) if wanted != given => invalid(format!(
                "the embedding has {given} components, and those of the graph have {wanted}"
            )),
            _ => Ok(()),
        }
    }

    fn put_in(&mut self, segment: Segment, age: Option<u64>) {
        let (since, then) = self.since_built;
        self.since_built.0 += 1;
        if since >= then.max(LEAST_CHANGES) {
            self.build_index();
        }
        let features = Features::of(&segment);
        let need = self.need(&segment);
        let mut node = Node {
            prefix: self.index.prefix(&features, &self.options, need),
            digest: segment.digest(),
            segment,
            features,
            edges: BTreeMap::new(),
            age,
        };
        node.edges = self.edges_of(&node);
        let slot = self.free.pop().unwrap_or(self.nodes.len() as Slot);
        for (other, overlap) in &node.edges {
            if let Some(other) = self.nodes[*other as usize].as_mut() {
                other.edges.insert(slot, *overlap);
            }
        }
        self.index.add(slot, &node.features, &node.prefix);
        if let Some(embedding) = &node.segment.embedding {
            self.dense.add(slot, &embedding.0);
        }
        self.by_id.insert(node.segment.id.clone(), slot);
        if let Some(age) = age {
            self.by_age.insert(age, slot);
        }
        if slot as usize == self.nodes.len() {
            self.nodes.push(None);
        }
        self.nodes[slot as usize] = Some(node);
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
            if let Some(other) = self.nodes[*other as usize].as_mut() {
                other.edges.remove(&slot);
            }
        }
        self.index.remove(slot, &node.features, &node.prefix);
        if node.segment.embedding.is_some() {
            self.dense.remove(slot);
        }
        self.free.push(slot);
        Some(node)
    }

    /// What words must bring to an edge that the pass over the embeddings does not find.
    fn need(&self, segment: &Segment) -> f64 {
        let options = &self.options;
        match segment.embedding {
            Some(_) => options.threshold - options.embedding * options.neighbour,
            None => options.threshold,
        }
    }

    fn edges_of(&mut self, new: &Node) -> BTreeMap<Slot, Overlap> {
        let (need, options) = (self.need(&new.segment), &self.options);
        let index = &mut self.index;
        let by_words = index.candidates(&new.features, &new.prefix, options, need);
        let mut edges = BTreeMap::new();
        for slot in by_words {
            let Some(node) = self.node(slot) else {
                continue;
            };
            let cosine = match (&new.segment.embedding, &node.segment.embedding) {
                (Some(a), Some(b)) => a.cosine(b),
                _ => 0.0,
            };
            edges.extend(self.overlap(new, node, cosine).map(|edge| (slot, edge)));
        }
        if let Some(embedding) = &new.segment.embedding {
            for (slot, cosine) in self.dense.near(&embedding.0, self.options.neighbour) {
                let overlap = self.node(slot).map(|node| self.overlap(new, node, cosine));
                edges.extend(overlap.flatten().map(|edge| (slot, edge)));
            }
        }
        edges
    }

    /// The edge of two segments, where they have one.
    fn overlap(&self, a: &Node, b: &Node, cosine: f64) -> Option<Overlap> {
        let options = &self.options;
        let (a, b) = (&a.features, &b.features);
        let most = |a: f64, b: f64| options.weigh(a, cosine, b).weight;
        if most(a.ngrams.at_most(&b.ngrams), a.errors.at_most(&b.errors)) < options.threshold {
            return None;
        }
        let ngram = a.ngrams.jaccard(&b.ngrams);
        let overlap = options.weigh(ngram, cosine, a.errors.jaccard(&b.errors));
        (overlap.weight >= options.threshold).then_some(overlap)
    }

    fn build_index(&mut self) {
        let nodes = self.nodes.iter().flatten();
        let mut index = Index::for_segments(nodes.map(|node| &node.features));
        for slot in self.by_id.values().copied() {
            let Some(node) = self.nodes[slot as usize].as_ref() else {
                continue;
            };
            let need = self.need(&node.segment);
            let prefix = index.prefix(&node.features, &self.options, need);
            index.add(slot, &node.features, &prefix);
            if let Some(node) = self.nodes[slot as usize].as_mut() {
                node.prefix = prefix;
            }
        }
        self.index = index;
        self.since_built = (0, self.by_id.len());
    }

    /// Traces from the oldest on, then skills by id.
    fn in_order(&self) -> Vec<&Segment> {
        let skills = self.by_id.values().copied();
        let skills = skills.filter(|slot| self.node(*slot).is_some_and(|node| node.age.is_none()));
        let slots = self.by_age.values().copied().chain(skills);
        let nodes = slots.filter_map(|slot| self.node(slot));
        nodes.map(|node| &node.segment).collect()
    }
}

impl PartialEq for OverlapGraph {
    /// Equal options and segments, and traces of the same order of age.
    fn eq(&self, other: &Self) -> bool {
        self.options == other.options && self.in_order() == other.in_order()
    }
}

impl Serialize for OverlapGraph {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut saved = serializer.serialize_struct("OverlapGraph", 2)?;
        saved.serialize_field("options", &self.options)?;
        saved.serialize_field("segments", &self.in_order())?;
        saved.end()
    }
}

impl<'de> Deserialize<'de> for OverlapGraph {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Saved {
            options: OverlapOptions,
            segments: Vec<Segment>,
        }
        let saved = Saved::deserialize(deserializer)?;
        let mut graph = Self::new(saved.options).map_err(serde::de::Error::custom)?;
        for segment in saved.segments {
            graph.insert(segment).map_err(serde::de::Error::custom)?;
        }
        Ok(graph)
    }
}
