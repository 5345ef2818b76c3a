//! Which prototype a cluster goes on being: ids persist over refreshes (SCRIBE 3.2).

use std::collections::{BTreeMap, BTreeSet};

use crate::id::PrototypeId;

/// The prototype that each cluster continues; `None` for a new one. `before` has the prototype of each subgoal before the
/// refresh, by the subgoal's index. A cluster continues a prototype if more than half of the prototype's subgoals are in the
/// cluster, or more than half of the cluster's subgoals with a prototype had this one. Of several pairs, those with more subgoals
/// in common come first; each prototype is continued once.
pub(super) fn continued(
    clusters: &[&[usize]],
    before: &BTreeMap<usize, &PrototypeId>,
) -> Vec<Option<PrototypeId>> {
    let mut sizes: BTreeMap<&PrototypeId, usize> = BTreeMap::new();
    before
        .values()
        .for_each(|id| *sizes.entry(id).or_default() += 1);
    let mut pairs = Vec::new();
    for (place, members) in clusters.iter().enumerate() {
        let mut shared: BTreeMap<&PrototypeId, usize> = BTreeMap::new();
        for id in members.iter().filter_map(|member| before.get(member)) {
            *shared.entry(id).or_default() += 1;
        }
        let known: usize = shared.values().sum();
        for (id, common) in shared {
            let most_of_prototype = 2 * common > sizes.get(id).copied().unwrap_or(0);
            if most_of_prototype || 2 * common > known {
                pairs.push((common, id, place));
            }
        }
    }
    pairs.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)).then(a.2.cmp(&b.2)));
    let mut ids = vec![None; clusters.len()];
    let mut taken = BTreeSet::new();
    for (_, id, place) in pairs {
        if let Some(free @ None) = ids.get_mut(place)
            && taken.insert(id)
        {
            *free = Some(id.clone());
        }
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: &[&str], clusters: &[&[usize]], expect: &[Option<&str>]) {
        let ids: Vec<PrototypeId> = before.iter().map(|id| PrototypeId::new(*id)).collect();
        let before = (0..).zip(&ids).filter(|(_, id)| !id.as_str().is_empty());
        let found = continued(clusters, &before.collect());
        let found: Vec<_> = found
            .iter()
            .map(|id| id.as_ref().map(PrototypeId::as_str))
            .collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn a_cluster_continues_the_prototype_of_most_of_its_subgoals() {
        // The same clusters, in another order.
        check(
            &["a", "a", "b", "b"],
            &[&[2, 3], &[0, 1]],
            &[Some("b"), Some("a")],
        );
        // A prototype that is split: the greater part continues it.
        check(
            &["a", "a", "a", "a", "a"],
            &[&[0, 1], &[2, 3, 4]],
            &[None, Some("a")],
        );
        // Two that become one: the greater one goes on.
        check(
            &["a", "a", "a", "b", "b"],
            &[&[0, 1, 2, 3, 4]],
            &[Some("a")],
        );
        // New subgoals join, and others are a cluster of their own.
        check(
            &["a", "a", "", "", ""],
            &[&[0, 1, 2], &[3, 4]],
            &[Some("a"), None],
        );
        // Nothing was known.
        check(&["", ""], &[&[0, 1]], &[None]);
        // A prototype that is scattered over clusters in which others are more is gone.
        check(
            &["a", "b", "b", "a", "c", "c"],
            &[&[0, 1, 2], &[3, 4, 5]],
            &[Some("b"), Some("c")],
        );
    }
}
