//! The search for cliques.

use std::{cell::OnceCell, collections::BTreeSet};

use crate::{
    domain::SkillRef,
    error::Result,
    id::{SegmentId, TaskId},
    papers::hisme::{
        Segment, SegmentKind,
        overlap::{
            CliqueOptions, OverlapGraph,
            clique::{Clique, Fingerprint},
            features::Named,
            graph::Node,
            index::Slot,
            purity::{Shared, Traits},
        },
    },
};

impl OverlapGraph {
    /// The best groups that were not handed out yet, best first, ties by ids; no two of them share a segment.
    ///
    /// A group is a strict clique: every two of its segments have an edge. It has from `smallest` to `largest` segments and
    /// a [reason](crate::papers::hisme::overlap::Purity), and comes from at least two distinct tasks. A task counts where it succeeded: a *true
    /// instance* is a turn of a successful attempt. Turns of other attempts may be in a group, since they show failures, but
    /// add no task. A skill adds the tasks that it was distilled from; with `skip_covered` a group is dropped
    /// if one skill was distilled from all of its tasks, since that skill is what its tasks share. With `revisions` a
    /// skill-revision group, one skill and its failed turns, may come from one task or none. At least the share `fresh` of a group is in none
    /// of the groups that were `handed` out, and its [`Fingerprint`] is not among theirs: a group returns when it has changed.
    ///
    /// *Bounds.* Each segment forms groups only with its heaviest `neighbours`, at most two of them of the same tasks, and
    /// proposes the best group. With the defaults that is at most 298 groups for each segment. So in a dense graph a clique
    /// is missed where none of its segments has all the others among those neighbours, and the second-best group of a segment
    /// waits for a later call.
    ///
    /// # Errors
    /// `Invalid` where the options break a range.
    pub fn cliques(
        &self,
        options: &CliqueOptions,
        handed: &BTreeSet<Fingerprint>,
    ) -> Result<Vec<Clique>> {
        let search = Search::new(self, options, handed)?;
        let slots = self.places().values();
        let mut found: Vec<Clique> = slots.filter_map(|slot| search.best_of(*slot)).collect();
        found.sort_by(|a, b| {
            (b.score.total_cmp(&a.score)).then_with(|| a.segments.cmp(&b.segments))
        });
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
        Ok(cliques)
    }

    /// Removes from a set of handed-out groups those of which no segment is still in the graph with the same content. So the
    /// set is bounded as the graph is.
    pub fn forget_gone(&self, handed: &mut BTreeSet<Fingerprint>) {
        let nodes = self.places().values().filter_map(|slot| self.node(*slot));
        let digests: BTreeSet<&String> = nodes.map(|node| &node.digest).collect();
        handed.retain(|group| group.0.iter().any(|digest| digests.contains(digest)));
    }
}

/// A search for groups.
pub(super) struct Search<'a> {
    graph: &'a OverlapGraph,
    options: &'a CliqueOptions,
    handed: &'a BTreeSet<Fingerprint>,
    /// All digests of those groups.
    known: BTreeSet<&'a String>,
    /// The tools that segments call, with the n-grams that name them.
    tools: Vec<Named>,
    /// By slot, filled on first use, since most segments form no groups.
    members: Vec<OnceCell<Member<'a>>>,
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
    /// A search over all segments.
    pub(super) fn new(
        graph: &'a OverlapGraph,
        options: &'a CliqueOptions,
        handed: &'a BTreeSet<Fingerprint>,
    ) -> Result<Self> {
        options.validate()?;
        let nodes = graph.places().values().filter_map(|slot| graph.node(*slot));
        let called = nodes.flat_map(|node| &node.segment.calls);
        let called: BTreeSet<&str> = called.map(|call| call.tool.as_str()).collect();
        let last = graph.places().values().max();
        Ok(Self {
            graph,
            options,
            handed,
            known: handed.iter().flat_map(|group| &group.0).collect(),
            tools: called.into_iter().map(Named::new).collect(),
            members: (0..=last.copied().unwrap_or(0))
                .map(|_| OnceCell::new())
                .collect(),
        })
    }

    /// The best group that this segment forms with its heaviest neighbours.
    pub(super) fn best_of(&self, seed: Slot) -> Option<Clique> {
        let node = self.graph.node(seed)?;
        if !self.may_have_two_tasks(node) && !self.may_revise(node) {
            return None;
        }
        let member = self.member(seed)?;
        let heaviest = self.graph.heaviest(seed, self.options.neighbours);
        let group = Group {
            slots: vec![seed],
            weights: 0.0,
            shared: Shared::of(&member.traits, self.options),
        };
        let mut best = None;
        self.grow(&group, &heaviest, &mut best);
        best
    }

    /// Whether a segment and its possible group members come from two tasks; a skill of no task adds none.
    fn may_have_two_tasks(&self, node: &Node) -> bool {
        let near = node.heaviest.slots();
        let near = near.filter_map(|slot| self.graph.node(slot));
        let mut tasks = std::iter::once(node)
            .chain(near)
            .filter(|node| counts(&node.segment))
            .flat_map(|node| &node.segment.tasks);
        let first = tasks.next();
        first.is_some() && tasks.any(|task| Some(task) != first)
    }

    /// Whether a segment and one of its possible group members are a skill and a failed turn that had it.
    fn may_revise(&self, node: &Node) -> bool {
        let is_pair = |one: &Segment, other: &Segment| {
            let skill = one.skill();
            skill.is_some_and(|skill| other.is_failure_with(skill))
        };
        let near = node.heaviest.slots();
        let mut near = near.filter_map(|slot| self.graph.segment(slot));
        let own = &node.segment;
        self.options.revisions && near.any(|other| is_pair(own, other) || is_pair(other, own))
    }

    fn member(&self, slot: Slot) -> Option<&Member<'a>> {
        let node = self.graph.node(slot)?;
        let cell = self.members.get(slot as usize)?;
        Some(cell.get_or_init(|| {
            let mut traits = Traits::of(node);
            let is_trace = matches!(node.segment.kind, SegmentKind::Trace { .. });
            if !is_trace {
                // A skill counts as calling the tools that its text names.
                let named = self.tools.iter();
                let named = named.filter(|tool| node.features.mention(tool));
                traits.name_tools(named.map(Named::name));
            }
            Member {
                node,
                traits,
                is_trace,
            }
        }))
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

    /// The group with one more segment, where it is still a clique and can have a reason.
    fn grown<'s>(&'s self, group: &Group<'s>, slot: Slot) -> Option<Group<'s>> {
        let member = self.member(slot)?;
        let mut overlaps = Vec::with_capacity(group.slots.len());
        for other in &group.slots {
            let is_trace = self.member(*other)?.is_trace;
            overlaps.push((self.graph.edge(slot, *other)?, is_trace));
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

    /// Makes the group the best one where it is better and may be handed out.
    fn weigh(&self, group: &Group<'_>, best: &mut Option<Clique>) {
        if !group.shared.is_pure() {
            return;
        }
        let counted = self
            .members(group)
            .map(|member| &member.node.segment)
            .filter(|segment| counts(segment));
        let tasks: BTreeSet<&TaskId> = counted.flat_map(|segment| &segment.tasks).collect();
        let covers = |member: &Member<'_>| {
            let made_from = &member.node.segment.tasks;
            !member.is_trace && tasks.iter().all(|task| made_from.contains(task))
        };
        let is_covered = || self.options.skip_covered && self.members(group).any(covers);
        if self.revised(group).is_none() && (tasks.len() < 2 || is_covered()) {
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

    /// The skill of a skill-revision group: its only skill, which all of its turns had and failed with.
    fn revised(&self, group: &Group<'_>) -> Option<&'a SkillRef> {
        if !self.options.revisions {
            return None;
        }
        let segments = || self.members(group).map(|member| &member.node.segment);
        let skill = segments().find_map(Segment::skill)?;
        let mut others = segments().filter(|segment| segment.skill() != Some(skill));
        let is_revision = others.all(|segment| segment.is_failure_with(skill));
        is_revision.then_some(skill)
    }

    fn members(&self, group: &Group<'_>) -> impl Iterator<Item = &Member<'a>> {
        let slots = group.slots.iter();
        slots.filter_map(|slot| self.member(*slot))
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
            revises: self.revised(group).cloned(),
            purity: group.shared.purity(),
            score,
            taint: taints.max().unwrap_or_default(),
            fingerprint: self.fingerprint(group),
        }
    }
}

/// Whether the tasks of a segment count: those of true instances and of skills do.
fn counts(segment: &Segment) -> bool {
    segment.is_true_instance() || matches!(segment.kind, SegmentKind::Skill(_))
}
