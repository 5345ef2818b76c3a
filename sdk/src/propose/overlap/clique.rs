//! The groups that go to the refactorer (HiSME appendix C, algorithm 3).

use std::{collections::BTreeSet, fmt};

use serde::{Deserialize, Serialize};

use super::{OverlapGraph, Purity, heaviest, search::Search};
use crate::{
    domain::Taint,
    error::{Error, Result},
    id::{SegmentId, SkillId, TaskId},
    propose::Segment,
};

/// Which groups are looked for, and how many are given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CliqueOptions {
    /// The fewest segments of a group (C_min), from 2 on. Ours: 2, since two tasks are evidence enough for the paper.
    pub smallest: usize,
    /// The most segments of a group (C_max), at most 6. Ours: 4, so that all of them fit into the prompt of a small model.
    pub largest: usize,
    /// The most groups that are given. Ours: 3.
    pub groups: usize,
    /// How many of its heaviest neighbours a segment forms groups with, from 1 to 16. Ours: 12.
    pub neighbours: usize,
    /// Which share of each turn's tools all must call, in [0, 1]. Ours: 0.5.
    pub shared_tools: f64,
    /// The least overlap of errors (the `e` of the weight) of any two turns, in [0, 1]. Ours: 0.6.
    pub shared_errors: f64,
    /// The least overlap of any two by embedding or n-grams, in [0, 1]. Ours: 0.6.
    pub aligned: f64,
    /// Which share of a group must not have been handed out before, in [0, 1]. Ours: 0.5.
    pub fresh: f64,
}

impl Default for CliqueOptions {
    fn default() -> Self {
        Self {
            smallest: 2,
            largest: 4,
            groups: 3,
            neighbours: 12,
            shared_tools: 0.5,
            shared_errors: 0.6,
            aligned: 0.6,
            fresh: 0.5,
        }
    }
}

impl CliqueOptions {
    /// Checks the ranges that the fields document.
    ///
    /// # Errors
    /// `Invalid`, naming the field, its value and its range.
    pub fn validate(&self) -> Result<()> {
        let (smallest, largest) = (self.smallest, self.largest);
        check(smallest >= 2, "smallest", smallest, "at least 2")?;
        let sound = (smallest..=6).contains(&largest);
        check(sound, "largest", largest, "from `smallest` to 6")?;
        let sound = (1..=heaviest::MOST).contains(&self.neighbours);
        check(sound, "neighbours", self.neighbours, "from 1 to 16")?;
        let shares = [
            ("shared_tools", self.shared_tools),
            ("shared_errors", self.shared_errors),
            ("aligned", self.aligned),
            ("fresh", self.fresh),
        ];
        for (field, value) in shares {
            check((0.0..=1.0).contains(&value), field, value, "in [0, 1]")?;
        }
        Ok(())
    }
}

fn check(holds: bool, field: &str, value: impl fmt::Display, range: &str) -> Result<()> {
    if holds {
        return Ok(());
    }
    Err(Error::invalid(
        "CliqueOptions::validate",
        format!("{field} must be {range}, and is {value}"),
    ))
}

/// What a group said when it was handed out: a digest of each of its segments. A segment that says something else since
/// has another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(pub(super) BTreeSet<String>);

/// Segments that overlap all with each other, and belong together for a reason that is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clique {
    /// By id.
    pub segments: Vec<SegmentId>,
    /// The skill that a skill-revision group is about.
    pub revises: Option<SkillId>,
    /// The distinct tasks of the true instances and of the skills, by id.
    pub tasks: Vec<TaskId>,
    /// Those that show something that worked; what a refactorer makes must be supported by all of them.
    pub true_instances: Vec<SegmentId>,
    /// Why they belong together; at least one reason.
    pub purity: Vec<Purity>,
    /// The mean weight of the edges times the binary logarithm of the number of segments and tasks: each further one
    /// counts, and less each time.
    pub score: f64,
    /// Whether untrusted text may be in one of them (J7).
    pub taint: Taint,
    /// For the set of those that were handed out.
    pub fingerprint: Fingerprint,
}

impl OverlapGraph {
    /// The best groups that were not handed out yet, the best first, ties by ids; no two of them have a segment in common.
    ///
    /// A group is a strict clique: every two of its segments have an edge. It has from `smallest` to `largest` segments and
    /// a [reason](Purity), and comes from at least two distinct tasks. Tasks count where they were done: a *true instance*
    /// is a turn of an attempt that succeeded. Turns of others may be in a group, since they show what goes wrong, but add no
    /// task; a skill adds the tasks that it was distilled from, and where one was distilled from all of a group's tasks there
    /// is no group: what they share is that skill. Of a group at least the share `fresh` is in none of those
    /// that were `handed` out, and its [`Fingerprint`] is not among them: a group comes again when it changed.
    ///
    /// *What is bounded.* Each segment forms groups with its heaviest `neighbours` alone, of the same tasks with two, and
    /// proposes the best of them. With the defaults that is at most 298 groups a segment. So in a dense graph a clique is not seen where none of its
    /// segments has all the others among those neighbours, and of many groups of one segment the second-best waits
    /// for a later call.
    ///
    /// # Errors
    /// `Invalid` where the options break a range.
    pub fn cliques(
        &self,
        options: &CliqueOptions,
        handed: &BTreeSet<Fingerprint>,
    ) -> Result<Vec<Clique>> {
        let search = Search::new(self, options, handed, None)?;
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

    /// The best skill-revision group of a skill that is in the graph: a strict clique with a reason that holds the skill,
    /// whichever tasks it is from and however they ended. `None` where there is none that was not handed out.
    ///
    /// # Errors
    /// `Invalid` where the options break a range.
    pub fn revision_group(
        &self,
        skill: &SkillId,
        options: &CliqueOptions,
        handed: &BTreeSet<Fingerprint>,
    ) -> Result<Option<Clique>> {
        let search = Search::new(self, options, handed, Some(skill))?;
        let slot = self.places().get(&Segment::id_of_skill(skill));
        Ok(slot.and_then(|slot| search.best_of(*slot)))
    }

    /// Takes those out of a set of groups that can come no more, since none of their segments is in the graph and says the
    /// same: so the set is bounded as the graph is.
    pub fn forget_gone(&self, handed: &mut BTreeSet<Fingerprint>) {
        let nodes = self.places().values().filter_map(|slot| self.node(*slot));
        let digests: BTreeSet<&String> = nodes.map(|node| &node.digest).collect();
        handed.retain(|group| group.0.iter().any(|digest| digests.contains(digest)));
    }
}
