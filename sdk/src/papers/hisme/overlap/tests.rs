//! The graph against all pairs, and its groups against all subsets.

mod cliques;
mod edges;
mod kept;
mod naive;

use std::collections::BTreeSet;

use super::*;
use crate::{
    domain::{SkillRef, Taint},
    id::{SegmentId, SkillId, Version},
    papers::hisme::{Segment, SegmentArgument, SegmentCall, SegmentKind, ValueSource},
};

/// A turn of a successful attempt, without calls.
fn turn(id: &str, task: &str, fragment: &str) -> Segment {
    Segment {
        id: SegmentId::new(id),
        kind: SegmentKind::Trace {
            attempt: id.into(),
            turn: 0,
        },
        tasks: vec![task.into()],
        fragment: fragment.to_owned(),
        calls: Vec::new(),
        errors: Vec::new(),
        changes: Vec::new(),
        success: Some(true),
        skills: Vec::new(),
        taint: Taint::Clean,
        embedding: None,
    }
}

/// A skill that was distilled from these tasks.
fn skill(id: &str, tasks: &[&str], fragment: &str) -> Segment {
    let skill = SkillId::new(id);
    Segment {
        id: Segment::id_of_skill(&skill),
        kind: SegmentKind::Skill(SkillRef {
            id: skill,
            version: Version(1),
        }),
        tasks: tasks.iter().map(|task| (*task).into()).collect(),
        success: None,
        ..turn(id, "", fragment)
    }
}

/// The version of a segment of a skill.
fn version_of(skill: &Segment) -> SkillRef {
    skill.skill().cloned().unwrap()
}

/// The turn as one of a failed attempt that had this skill.
fn failed_with(skill: &Segment, turn: Segment) -> Segment {
    Segment {
        success: Some(false),
        skills: vec![version_of(skill)],
        ..turn
    }
}

/// An accepted call with arguments of (name, value, source).
fn call(tool: &str, arguments: &[(&str, &str, ValueSource)]) -> SegmentCall {
    let argument = |(name, value, source): &(&str, &str, ValueSource)| SegmentArgument {
        name: (*name).to_owned(),
        value: (*value).to_owned(),
        source: source.clone(),
    };
    SegmentCall {
        tool: tool.to_owned(),
        arguments: arguments.iter().map(argument).collect(),
        refused: false,
    }
}

fn graph(segments: impl IntoIterator<Item = Segment>) -> OverlapGraph {
    let mut graph = OverlapGraph::new(OverlapOptions::default()).unwrap();
    for segment in segments {
        graph.insert(segment).unwrap();
    }
    graph
}

/// The Jaccard index of two sets.
fn jaccard(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    let all = a.union(b).count();
    if all == 0 {
        return 0.0;
    }
    a.intersection(b).count() as f64 / all as f64
}
