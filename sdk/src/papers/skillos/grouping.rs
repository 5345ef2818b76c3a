//! Groups of tasks with similar tags (SkillOS, preprocessing; row K3).

use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZeroUsize,
};

use serde::{Deserialize, Serialize};

use crate::{
    domain::Task,
    error::{Error, Result},
};

/// Puts tasks whose tags are similar into groups. The paper groups tasks by the skills that they need, so that what a curator
/// writes after the early tasks of a group is tested by the later ones; it publishes neither its algorithm nor its numbers. Ours:
///
/// The first task without a group begins one. Of the other tasks without a group, those at least as similar to *every* task of
/// the group as [`least_similarity`](Self::least_similarity) join it, the most similar to its first task first, of equally
/// similar ones the earlier, until the group is full. The similarity of two tasks is the Jaccard index of their tags: the number
/// of tags that both have divided by the number of those that either has; upper and lower case, and spaces at either end, do not
/// count. Within a group, and from group to group, tasks keep their order.
///
/// A task that is like no other makes a group of its own, and so does one without tags. Such a group has no later task that could
/// tell what a curator's changes were worth ([`CompositeTerms::success`](crate::papers::skillos::CompositeTerms::success)).
///
/// ```
/// use journeyman::{domain::Task, papers::skillos::Grouping};
///
/// let task = |id: &str, tags: &[&str]| Task::new(id, id).with_tags(tags.iter().copied());
/// let tasks = vec![
///     task("clean-mug", &["clean", "sink"]),
///     task("heat-egg", &["heat", "microwave"]),
///     task("clean-plate", &["sink", "Clean"]),
///     task("no-tags", &[]),
/// ];
/// let groups = Grouping::default().groups(tasks)?;
/// let ids: Vec<Vec<&str>> = groups
///     .iter()
///     .map(|group| group.iter().map(|task| task.id.as_str()).collect())
///     .collect();
/// assert_eq!(ids, [vec!["clean-mug", "clean-plate"], vec!["heat-egg"], vec!["no-tags"]]);
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grouping {
    /// Greatest number of tasks of a group. Ours: 8.
    pub size: NonZeroUsize,
    /// Least similarity of two tasks of a group, in (0, 1]. Ours: 0.5.
    pub least_similarity: f64,
}

impl Default for Grouping {
    fn default() -> Self {
        Self {
            size: const { NonZeroUsize::new(8).expect("not 0") },
            least_similarity: 0.5,
        }
    }
}

/// A task's tags as numbers, ascending.
type Tags = Vec<usize>;

impl Grouping {
    /// The groups, each with at least one task; every task is in exactly one.
    ///
    /// # Errors
    /// `Invalid` where the least similarity is not in (0, 1].
    pub fn groups(&self, tasks: Vec<Task>) -> Result<Vec<Vec<Task>>> {
        if !(self.least_similarity > 0.0 && self.least_similarity <= 1.0) {
            let rule = "the least similarity must be in (0, 1]";
            return Err(Error::invalid("Grouping::groups", rule)
                .with("least_similarity", self.least_similarity)
                .hint("1 groups equal tags alone; 0.5 is the default"));
        }
        let tags = numbered(&tasks);
        let mut with_tag: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (place, tags) in tags.iter().enumerate() {
            for tag in tags {
                with_tag.entry(*tag).or_default().push(place);
            }
        }
        let mut tasks: Vec<Option<Task>> = tasks.into_iter().map(Some).collect();
        let mut groups = Vec::new();
        for first in 0..tasks.len() {
            if tasks.get(first).is_none_or(Option::is_none) {
                continue;
            }
            let members = self.members(first, &tags, &with_tag, |place| {
                tasks.get(place).is_some_and(Option::is_some)
            });
            let members = members.into_iter();
            groups.push(
                members
                    .filter_map(|place| tasks.get_mut(place)?.take())
                    .collect(),
            );
        }
        Ok(groups)
    }

    /// The places of a group's tasks, ascending.
    fn members(
        &self,
        first: usize,
        tags: &[Tags],
        with_tag: &BTreeMap<usize, Vec<usize>>,
        is_free: impl Fn(usize) -> bool,
    ) -> Vec<usize> {
        let similarity = |one: usize, other: usize| match (tags.get(one), tags.get(other)) {
            (Some(one), Some(other)) => jaccard(one, other),
            _ => 0.0,
        };
        // Only a task that shares a tag is similar.
        let own = tags.get(first).into_iter().flatten();
        let near = own.filter_map(|tag| with_tag.get(tag)).flatten();
        let near: BTreeSet<usize> = near.copied().filter(|place| *place > first).collect();
        let near = near.into_iter().filter(|place| is_free(*place));
        let mut near: Vec<(usize, f64)> = near.map(|at| (at, similarity(first, at))).collect();
        near.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut members = vec![first];
        for (place, _) in near {
            if members.len() == self.size.get() {
                break;
            }
            let fits = |member: &usize| similarity(*member, place) >= self.least_similarity;
            if members.iter().all(fits) {
                members.push(place);
            }
        }
        members.sort_unstable();
        members
    }
}

/// The tags of each task as numbers, in the order in which they first occur.
fn numbered(tasks: &[Task]) -> Vec<Tags> {
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    let mut of_task = |task: &Task| {
        let mut tags = BTreeSet::new();
        let texts = task.tags.iter().map(|tag| tag.trim().to_lowercase());
        for tag in texts.filter(|tag| !tag.is_empty()) {
            let next = numbers.len();
            tags.insert(*numbers.entry(tag).or_insert(next));
        }
        tags.into_iter().collect()
    };
    tasks.iter().map(&mut of_task).collect()
}

/// The Jaccard index of two ascending lists; 0 for two empty ones.
fn jaccard(one: &Tags, other: &Tags) -> f64 {
    let shared = one
        .iter()
        .filter(|tag| other.binary_search(tag).is_ok())
        .count();
    let all = one.len() + other.len() - shared;
    match all {
        0 => 0.0,
        all => shared as f64 / all as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Seed;

    fn task(id: usize, tags: &[&str]) -> Task {
        Task::new(format!("t-{id}"), "a task").with_tags(tags.iter().copied())
    }

    fn check(grouping: Grouping, tags: &[&[&str]], expect: &[&[usize]]) {
        let tasks: Vec<Task> = (0..).zip(tags).map(|(id, tags)| task(id, tags)).collect();
        let groups = grouping.groups(tasks.clone()).unwrap();
        let expect: Vec<Vec<Task>> = expect
            .iter()
            .map(|group| group.iter().map(|place| tasks[*place].clone()).collect())
            .collect();
        assert_eq!(groups, expect);
    }

    fn with(size: usize, least_similarity: f64) -> Grouping {
        Grouping {
            size: NonZeroUsize::new(size).unwrap(),
            least_similarity,
        }
    }

    #[test]
    fn similar_tasks_share_a_group_and_keep_their_order() {
        check(with(8, 0.5), &[], &[]);
        check(with(8, 0.5), &[&[]], &[&[0]]);
        check(with(8, 0.5), &[&[], &[]], &[&[0], &[1]]);
        check(with(8, 0.5), &[&[" "], &[""]], &[&[0], &[1]]);
        check(with(8, 0.5), &[&["a"], &["b"], &["a"]], &[&[0, 2], &[1]]);
        // A tag that is named twice counts once; case and outer spaces do not count.
        check(with(8, 1.0), &[&["a", "A "], &["a"]], &[&[0, 1]]);
        // 1/3, then 1/2.
        check(with(8, 0.5), &[&["a", "b"], &["b", "c"]], &[&[0], &[1]]);
        check(with(8, 0.5), &[&["a", "b"], &["b"]], &[&[0, 1]]);
        // Both are like the first and not like each other.
        check(
            with(8, 0.5),
            &[&["a", "b"], &["a"], &["b"]],
            &[&[0, 1], &[2]],
        );
        // The group is full: the more similar one joins, though it comes later.
        check(
            with(2, 0.3),
            &[&["a", "b"], &["a"], &["b", "a"]],
            &[&[0, 2], &[1]],
        );
        check(with(1, 0.5), &[&["a"], &["a"]], &[&[0], &[1]]);
    }

    #[test]
    fn every_task_is_in_one_group_and_all_of_a_group_are_similar() {
        let words = ["a", "b", "c", "d", "e"];
        for round in 0..40 {
            let seed = Seed(5).derive("tags", round);
            let tagged = |id: usize| {
                let seed = seed.derive("task", id as u64);
                let tags =
                    (0..4).filter_map(|n| words.get(seed.derive("tag", n).index(8)?).copied());
                task(id, &tags.collect::<Vec<_>>())
            };
            let tasks: Vec<Task> = (0..60).map(tagged).collect();
            let grouping = with(5, 0.5);
            let groups = grouping.groups(tasks.clone()).unwrap();
            assert_eq!(grouping.groups(tasks.clone()).unwrap(), groups);
            let mut all: Vec<Task> = groups.iter().flatten().cloned().collect();
            let place = |task: &Task| tasks.iter().position(|one| one.id == task.id);
            all.sort_by_key(place);
            assert_eq!(all, tasks);
            for group in &groups {
                assert!((1..=5).contains(&group.len()));
                let tags = numbered(group);
                for (at, one) in tags.iter().enumerate() {
                    assert!(
                        tags[at + 1..]
                            .iter()
                            .all(|other| jaccard(one, other) >= 0.5)
                    );
                }
            }
        }
    }

    #[test]
    fn a_similarity_out_of_range_is_refused() {
        for wrong in [0.0, -0.1, 1.1, f64::NAN, f64::INFINITY] {
            let error = with(8, wrong).groups(vec![task(0, &["a"])]).unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Invalid, "{wrong}");
        }
    }
}
