//! Serialization and equality of the graph, by its options and segments.

use serde::{Deserialize, Serialize, Serializer, ser::SerializeStruct};

use crate::{
    error::Result,
    papers::hisme::{
        Segment,
        overlap::{OverlapGraph, OverlapOptions},
    },
};

impl OverlapGraph {
    /// Traces from the oldest to the newest, then skills by id.
    fn in_order(&self) -> Vec<&Segment> {
        let skills = self.by_id.values().copied();
        let skills = skills.filter(|slot| self.node(*slot).is_some_and(|node| node.age.is_none()));
        let slots = self.by_age.values().copied().chain(skills);
        let nodes = slots.filter_map(|slot| self.node(slot));
        nodes.map(|node| &node.segment).collect()
    }
}

impl PartialEq for OverlapGraph {
    /// Graphs are equal where their options, their segments and the order of their traces by age are equal.
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
