//! Computes edges. Edges between two skills of no task are computed on request, since two such skills make no group without
//! a third segment, and there may be very many of them.

use std::collections::BTreeMap;

use crate::papers::hisme::{
    Segment,
    overlap::{
        Overlap, OverlapGraph,
        graph::Node,
        heaviest::{Heaviest, Near},
        index::{Met, Slot},
    },
};

impl OverlapGraph {
    /// The least weight that words must bring to an edge that the pass over embeddings does not find.
    pub(super) fn need(&self, segment: &Segment) -> f64 {
        let options = &self.options;
        match segment.embedding {
            Some(_) => options.threshold - options.embedding * options.neighbour,
            None => options.threshold,
        }
    }

    /// All edges of a segment that is not in the graph yet, except those between two taskless segments.
    pub(super) fn edges_of(&self, new: &Node, met: &mut Met) -> BTreeMap<Slot, Overlap> {
        let mut edges: BTreeMap<Slot, Overlap> = self.edges_to_indexed(new, met).collect();
        if !new.is_taskless {
            edges.extend(self.edges_to_taskless(new));
        }
        edges
    }

    /// All edges of a segment.
    pub(super) fn all_edges(&self, slot: Slot) -> BTreeMap<Slot, Overlap> {
        let Some(node) = self.node(slot) else {
            return BTreeMap::new();
        };
        let mut edges = node.edges.clone();
        if node.is_taskless {
            let others = self.edges_to_taskless(node);
            edges.extend(others.filter(|(other, _)| *other != slot));
        }
        edges
    }

    /// The edge of two segments, if they have one.
    pub(super) fn edge(&self, one: Slot, other: Slot) -> Option<Overlap> {
        let (a, b) = (self.node(one)?, self.node(other)?);
        match a.is_taskless && b.is_taskless {
            true => self.overlap(a, b, cosine(a, b)),
            false => a.edges.get(&other).copied(),
        }
    }

    /// The heaviest of some edges.
    pub(super) fn heaviest_of(&self, edges: &BTreeMap<Slot, Overlap>) -> Heaviest {
        let mut heaviest = Heaviest::default();
        for (slot, overlap) in edges {
            let (slot, weight) = (*slot, overlap.weight);
            heaviest.offer(Near { slot, weight }, |slot| self.segment(slot));
        }
        heaviest
    }

    /// The `most` heaviest neighbors of a segment.
    pub(super) fn heaviest(&self, slot: Slot, most: usize) -> Vec<Slot> {
        let Some(node) = self.node(slot) else {
            return Vec::new();
        };
        let mut heaviest = node.heaviest.clone();
        if node.is_taskless {
            for near in self.nearest(slot, node) {
                heaviest.offer(near, |slot| self.segment(slot));
            }
        }
        heaviest.slots().take(most).collect()
    }

    /// The heaviest edges to other taskless segments. A kept result is brought up to date with the segments inserted since;
    /// where one of its segments is gone, all are compared again.
    fn nearest(&self, slot: Slot, node: &Node) -> Vec<Near> {
        node.nearest.brought_up_to_date(|known| {
            let is_there =
                |(slot, came): (Slot, u64)| (self.node(slot)).is_some_and(|node| node.came == came);
            let known = known.filter(|(_, from)| from.iter().copied().all(is_there));
            let (mut heaviest, since) = known.map_or_else(Default::default, |(known, _)| known);
            for (_, other) in self.taskless.range(since + 1..) {
                if *other != slot {
                    self.compare(&mut heaviest, node, *other);
                }
            }
            let came = |slot: Slot| Some((slot, self.node(slot)?.came));
            let from = heaviest.slots().filter_map(came).collect();
            ((heaviest, self.came), from)
        })
    }

    /// Offers a segment to the heaviest. A segment that is too light by its upper bound is not compared exactly.
    fn compare(&self, heaviest: &mut Heaviest, node: &Node, slot: Slot) {
        let Some(other) = self.node(slot) else {
            return;
        };
        let cosine = cosine(node, other);
        let weight = self.at_most(node, other, cosine);
        let near = Near { slot, weight };
        if weight < self.options.threshold || !heaviest.would_take(near, |slot| self.segment(slot))
        {
            return;
        }
        if let Some(overlap) = self.overlap(node, other, cosine) {
            let weight = overlap.weight;
            heaviest.offer(Near { slot, weight }, |slot| self.segment(slot));
        }
    }

    fn edges_to_indexed(&self, new: &Node, met: &mut Met) -> impl Iterator<Item = (Slot, Overlap)> {
        let met = self.meets(new, met).into_iter();
        met.filter_map(|(slot, cosine)| {
            let node = self.node(slot)?;
            Some((slot, self.overlap(new, node, cosine)?))
        })
    }

    /// Compares with each in turn; sizes and bitmaps exclude most of them.
    fn edges_to_taskless(&self, node: &Node) -> impl Iterator<Item = (Slot, Overlap)> {
        self.taskless.values().filter_map(|slot| {
            let other = self.node(*slot)?;
            Some((*slot, self.overlap(node, other, cosine(node, other))?))
        })
    }

    /// The segments with a task that may have an edge to this one, each once, with the cosine.
    fn meets(&self, new: &Node, met: &mut Met) -> Vec<(Slot, f64)> {
        let (need, options) = (self.need(&new.segment), &self.options);
        let by_words = (self.index).candidates(&new.features, &new.prefix, options, need, met);
        let by_words = by_words.into_iter();
        let with_cosine = |slot| Some((slot, cosine(new, self.node(slot)?)));
        let mut all: Vec<(Slot, f64)> = by_words.filter_map(with_cosine).collect();
        if let Some(embedding) = &new.segment.embedding {
            all.extend(self.dense.near(embedding.components(), options.neighbour));
            all.sort_unstable_by_key(|(slot, _)| *slot);
            all.dedup_by_key(|(slot, _)| *slot);
        }
        all
    }

    fn at_most(&self, a: &Node, b: &Node, cosine: f64) -> f64 {
        let (a, b) = (&a.features, &b.features);
        let (ngrams, errors) = (a.ngrams.at_most(&b.ngrams), a.errors.at_most(&b.errors));
        self.options.weigh(ngrams, cosine, errors).weight
    }

    /// The edge of two segments with this cosine, if they have one.
    fn overlap(&self, a: &Node, b: &Node, cosine: f64) -> Option<Overlap> {
        if self.at_most(a, b, cosine) < self.options.threshold {
            return None;
        }
        let (a, b) = (&a.features, &b.features);
        let (ngram, error) = (a.ngrams.jaccard(&b.ngrams), a.errors.jaccard(&b.errors));
        let overlap = self.options.weigh(ngram, cosine, error);
        (overlap.weight >= self.options.threshold).then_some(overlap)
    }
}

fn cosine(a: &Node, b: &Node) -> f64 {
    match (&a.segment.embedding, &b.segment.embedding) {
        (Some(a), Some(b)) => a.cosine(b),
        _ => 0.0,
    }
}
