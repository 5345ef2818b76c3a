//! The search for groups as it was when it looked at every segment and every edge each time: what the kept search has to
//! agree with.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    domain::SkillRef,
    id::{SegmentId, TaskId},
    papers::hisme::{
        Segment, SegmentKind,
        overlap::{
            Clique, CliqueOptions, Fingerprint, Overlap, OverlapGraph,
            features::Named,
            graph::Node,
            index::Slot,
            purity::{Shared, Traits},
        },
    },
};

/// How many neighbours of the same tasks a segment forms groups with: the attempts at its own task are often its heaviest.
const PER_TASK: usize = 2;

/// A search for groups.
struct Search<'a> {
    graph: &'a OverlapGraph,
    edges: BTreeMap<(Slot, Slot), Overlap>,
    options: &'a CliqueOptions,
    handed: &'a BTreeSet<Fingerprint>,
    /// All digests of those.
    known: BTreeSet<&'a String>,
    members: BTreeMap<Slot, Member<'a>>,
}

/// A segment as the search sees it.
struct Member<'a> {
    node: &'a Node,
    traits: Traits,
    is_trace: bool,
}

/// A group that may grow.
struct Group<'a> {
    slots: Vec<Slot>,
    weights: f64,
    shared: Shared<'a>,
}

impl<'a> Search<'a> {
    /// Over all segments.
    fn new(
        graph: &'a OverlapGraph,
        options: &'a CliqueOptions,
        handed: &'a BTreeSet<Fingerprint>,
    ) -> Self {
        let nodes = graph.places().values();
        let nodes = nodes.filter_map(|slot| Some((*slot, graph.node(*slot)?)));
        let member = |(slot, node): (Slot, &'a Node)| {
            let member = Member {
                traits: Traits::of(node),
                is_trace: matches!(node.segment.kind, SegmentKind::Trace { .. }),
                node,
            };
            (slot, member)
        };
        let mut members: BTreeMap<Slot, Member<'a>> = nodes.map(member).collect();
        name_tools(&mut members);
        let slot = |id: &SegmentId| graph.places()[id];
        let mut edges = BTreeMap::new();
        for edge in graph.edges() {
            let (from, to) = (slot(edge.from), slot(edge.to));
            edges.insert((from, to), edge.overlap);
            edges.insert((to, from), edge.overlap);
        }
        Self {
            graph,
            edges,
            options,
            handed,
            known: handed.iter().flat_map(|group| &group.0).collect(),
            members,
        }
    }

    /// The best group that this segment forms with its heaviest neighbours.
    fn best_of(&self, seed: Slot) -> Option<Clique> {
        let member = self.members.get(&seed)?;
        let heaviest = self.heaviest(&member.node.segment.id);
        let group = Group {
            slots: vec![seed],
            weights: 0.0,
            shared: Shared::of(&member.traits, self.options),
        };
        let mut best = None;
        self.grow(&group, &heaviest, &mut best);
        best
    }

    /// The neighbours that a segment forms groups with.
    fn heaviest(&self, id: &SegmentId) -> Vec<Slot> {
        let mut of_tasks: BTreeMap<&[TaskId], usize> = BTreeMap::new();
        let mut heaviest = Vec::new();
        for (id, _) in self.graph.neighbours(id) {
            if heaviest.len() == self.options.neighbours {
                break;
            }
            let member = self.graph.places().get(id);
            let member = member.and_then(|slot| Some((*slot, self.members.get(slot)?)));
            let Some((slot, member)) = member else {
                continue;
            };
            let taken = of_tasks.entry(&member.node.segment.tasks).or_default();
            if *taken < PER_TASK {
                *taken += 1;
                heaviest.push(slot);
            }
        }
        heaviest
    }

    fn grow<'s>(&'s self, group: &Group<'s>, rest: &[Slot], best: &mut Option<Clique>) {
        for (at, slot) in rest.iter().enumerate() {
            let Some(grown) = self.grown(group, *slot) else {
                continue;
            };
            if grown.slots.len() >= self.options.smallest {
                self.weigh(&grown, best);
            }
            if grown.slots.len() < self.options.largest {
                self.grow(&grown, &rest[at + 1..], best);
            }
        }
    }

    /// The group with one more, where that is still a clique and can have a reason.
    fn grown<'s>(&'s self, group: &Group<'s>, slot: Slot) -> Option<Group<'s>> {
        let member = self.members.get(&slot)?;
        let mut overlaps = Vec::with_capacity(group.slots.len());
        for other in &group.slots {
            let is_trace = self.members.get(other)?.is_trace;
            overlaps.push((*self.edges.get(&(slot, *other))?, is_trace));
        }
        let shared = group.shared.with(&member.traits, &overlaps);
        let weights: f64 = overlaps.iter().map(|(overlap, _)| overlap.weight).sum();
        let mut slots = group.slots.clone();
        slots.push(slot);
        shared.may_be_pure().then_some(Group {
            slots,
            weights: group.weights + weights,
            shared,
        })
    }

    /// Takes the group for the best where it may be handed out and is better.
    fn weigh(&self, group: &Group<'_>, best: &mut Option<Clique>) {
        if !group.shared.is_pure() {
            return;
        }
        let counts = |segment: &&Segment| {
            segment.is_true_instance() || matches!(segment.kind, SegmentKind::Skill(_))
        };
        let counted = self
            .members(group)
            .map(|member| &member.node.segment)
            .filter(counts);
        let tasks: BTreeSet<&TaskId> = counted.flat_map(|segment| &segment.tasks).collect();
        let covers = |member: &Member<'_>| {
            let made_from = &member.node.segment.tasks;
            !member.is_trace && tasks.iter().all(|task| made_from.contains(task))
        };
        let is_covered = self.options.skip_covered && self.members(group).any(covers);
        let spans_tasks = tasks.len() >= 2 && !is_covered;
        if !spans_tasks && self.revised(group).is_none() {
            return;
        }
        let size = group.slots.len() as f64;
        let mean = group.weights / (size * (size - 1.0) / 2.0);
        let score = mean * (size + tasks.len() as f64).log2();
        let ids = self.members(group).map(|one| &one.node.segment.id);
        let mut segments: Vec<&SegmentId> = ids.collect();
        segments.sort_unstable();
        let is_better = best.as_ref().is_none_or(|best| {
            let order = best.score.total_cmp(&score);
            order
                .then_with(|| segments.iter().copied().cmp(&best.segments))
                .is_lt()
        });
        if is_better && self.is_fresh(group) {
            *best = Some(self.clique(group, segments, tasks, score));
        }
    }

    /// The skill of a group of one skill and failed turns that had it, where such groups are asked for.
    fn revised(&self, group: &Group<'_>) -> Option<SkillRef> {
        let (mut skills, mut turns) = (Vec::new(), Vec::new());
        for member in self.members(group) {
            match &member.node.segment.kind {
                SegmentKind::Skill(skill) => skills.push(skill.clone()),
                SegmentKind::Trace { .. } => turns.push(&member.node.segment),
            }
        }
        let skill = skills.pop().filter(|_| skills.is_empty())?;
        let failed = |turn: &&Segment| turn.success == Some(false) && turn.skills.contains(&skill);
        let is_revision = self.options.revisions && turns.iter().all(failed);
        is_revision.then_some(skill)
    }

    fn members(&self, group: &Group<'_>) -> impl Iterator<Item = &Member<'a>> {
        let slots = group.slots.iter();
        slots.filter_map(|slot| self.members.get(slot))
    }

    fn fingerprint(&self, group: &Group<'_>) -> Fingerprint {
        let digests = self.members(group).map(|member| member.node.digest.clone());
        Fingerprint(digests.collect())
    }

    fn is_fresh(&self, group: &Group<'_>) -> bool {
        let new = self.members(group);
        let new = new.filter(|member| !self.known.contains(&member.node.digest));
        let enough = new.count() as f64 >= self.options.fresh * group.slots.len() as f64;
        enough && !self.handed.contains(&self.fingerprint(group))
    }

    fn clique(
        &self,
        group: &Group<'_>,
        segments: Vec<&SegmentId>,
        tasks: BTreeSet<&TaskId>,
        score: f64,
    ) -> Clique {
        let taints = self.members(group).map(|member| member.node.segment.taint);
        let is_true =
            |id: &&&SegmentId| (self.graph.get(id)).is_some_and(Segment::is_true_instance);
        let true_instances = segments.iter().filter(is_true);
        Clique {
            true_instances: true_instances.map(|id| (*id).clone()).collect(),
            segments: segments.into_iter().cloned().collect(),
            tasks: tasks.into_iter().cloned().collect(),
            revises: self.revised(group),
            purity: group.shared.purity(),
            score,
            taint: taints.max().unwrap_or_default(),
            fingerprint: self.fingerprint(group),
        }
    }
}

/// A skill calls the tools of traces that its text names.
fn name_tools(members: &mut BTreeMap<Slot, Member<'_>>) {
    let called = members.values().flat_map(|member| &member.traits.tools);
    let called: BTreeSet<String> = called.cloned().collect();
    let named: Vec<Named> = called.iter().map(|tool| Named::new(tool)).collect();
    for member in members.values_mut().filter(|member| !member.is_trace) {
        let features = &member.node.features;
        let mentioned = named.iter().filter(|tool| features.mention(tool));
        member.traits.name_tools(mentioned.map(Named::name));
    }
}

/// As [`OverlapGraph::cliques`].
pub(super) fn cliques(
    graph: &OverlapGraph,
    options: &CliqueOptions,
    handed: &BTreeSet<Fingerprint>,
) -> Vec<Clique> {
    let search = Search::new(graph, options, handed);
    let slots = graph.places().values();
    let mut found: Vec<Clique> = slots.filter_map(|slot| search.best_of(*slot)).collect();
    found.sort_by(|a, b| (b.score.total_cmp(&a.score)).then_with(|| a.segments.cmp(&b.segments)));
    let mut taken: BTreeSet<SegmentId> = BTreeSet::new();
    let mut cliques = Vec::new();
    for clique in found {
        if cliques.len() == options.groups {
            break;
        }
        if clique.segments.iter().all(|id| !taken.contains(id)) {
            taken.extend(clique.segments.iter().cloned());
            cliques.push(clique);
        }
    }
    cliques
}
