//! The refresh of the prototypes (SCRIBE 3.1, 3.2): the assessed subgoals are clustered again, a cluster keeps the id of the
//! prototype that it continues, and each new one is distilled.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    contract::{RoleAnswer, RoleTask, SubgoalInAttempt},
    domain::{LibraryChange, Prototype, Role, Rubric, SubgoalRef, Taint, Trace},
    error::Result,
    id::{AttemptId, PrototypeId, Seed, sha256_hex},
    library::{KnownSubgoal, SkillLibrary},
    papers::scribe::{
        AssessPolicy,
        asking::roles,
        assessing::{self, embed},
        center::Cluster,
        cluster::clusters,
    },
    policy::{Ask, View},
    run::report::EventKind,
};

/// The name of the maintenance program that refreshes the prototypes.
pub(super) const PROTOTYPES: &str = "prototypes";

/// Refreshes the prototypes, and judges the anchors again. A cluster of one subgoal becomes no prototype.
///
/// # Errors
/// `Internal` where the clustering fails.
pub(crate) async fn refresh(
    ask: &mut Ask,
    view: &View,
    policy: &AssessPolicy,
) -> Result<Vec<LibraryChange>> {
    let library = view.library();
    let subgoals: Vec<&KnownSubgoal> = library.subgoals().collect();
    let texts = subgoals.iter().map(|known| known.assessed.subgoal.text());
    let embeddings = embed(ask, texts.collect()).await;
    let found = clusters(&embeddings, &policy.cluster, view.seed())?;
    let (found, alone): (Vec<Cluster>, Vec<Cluster>) = found
        .into_iter()
        .partition(|cluster| cluster.members.len() > 1);
    let alone = alone.len();

    let prototypes = distilled(ask, library, policy, view.seed(), &subgoals, &found).await;
    let before = library.prototypes();
    let persist = |one: &&Prototype| before.iter().any(|old| old.id == one.id);
    ask.tell(EventKind::PrototypesRefreshed {
        subgoals: subgoals.len(),
        prototypes: prototypes.len(),
        persisting: prototypes.iter().filter(persist).count(),
        before: before.len(),
        alone,
        left_out: found.len() - prototypes.len(),
    });
    let mut changes = Vec::new();
    if let Some(anchors) = policy.anchors {
        let chosen = assessing::anchors(library, &prototypes, anchors);
        changes = assessing::check(ask, library, chosen, anchors).await;
    }
    changes.insert(0, LibraryChange::SetPrototypes(prototypes));
    Ok(changes)
}

/// A prototype for each cluster. One that continues keeps its id; it keeps its rubric too, until it has grown enough
/// ([`ClusterPolicy::growth`](crate::papers::scribe::ClusterPolicy::growth)). A cluster whose rubric cannot be distilled becomes none.
async fn distilled(
    ask: &mut Ask,
    library: &SkillLibrary,
    policy: &AssessPolicy,
    seed: Seed,
    subgoals: &[&KnownSubgoal],
    found: &[Cluster],
) -> Vec<Prototype> {
    let ids = continued(
        &found
            .iter()
            .map(|cluster| cluster.members.as_slice())
            .collect::<Vec<_>>(),
        &prototypes_of(library, subgoals),
    );
    let old: Vec<Option<&Prototype>> = ids
        .iter()
        .map(|id| {
            let mut before = library.prototypes().iter();
            before.find(|one| Some(&one.id) == id.as_ref())
        })
        .collect();
    let traces: BTreeMap<&AttemptId, &Trace> = library
        .traces()
        .map(|trace| (&trace.trajectory.attempt, trace))
        .collect();
    let shown: Vec<Vec<SubgoalInAttempt>> = found
        .iter()
        .map(|cluster| shown(cluster, subgoals, &traces, policy.cluster.shown.get()))
        .collect();
    let is_due = |place: usize| {
        let growth = policy.cluster.growth.get();
        let stale = |old: &Prototype| {
            growth == 1
                || found[place].members.len() >= growth.saturating_mul(old.distilled_from.max(1))
        };
        !shown[place].is_empty() && old[place].is_none_or(stale)
    };
    let due: Vec<usize> = (0..found.len()).filter(|place| is_due(*place)).collect();
    let mut rubrics = rubrics(ask, &due, &shown).await;

    let mut prototypes = Vec::new();
    for (place, cluster) in found.iter().enumerate() {
        let new = rubrics.remove(&place);
        let count = cluster.members.len();
        let (rubric, distilled_from, taint) = match (new, old[place]) {
            (Some(rubric), _) => (rubric, count, taint(&shown[place])),
            (None, Some(old)) => (old.rubric.clone(), old.distilled_from, old.taint),
            (None, None) => continue,
        };
        let members = members(cluster, subgoals);
        let new_id = || new_id(seed, &members);
        let prototype = Prototype {
            id: ids[place].clone().unwrap_or_else(new_id),
            rubric,
            dense: cluster.dense,
            distilled_from,
            exemplars: exemplars(cluster, subgoals),
            members,
            taint,
        };
        if prototype.validate().is_ok() {
            prototypes.push(prototype);
        }
    }
    prototypes
}

/// The rubrics that a role distils for the clusters at these places; those that cannot be read or have no checklist are left
/// out.
async fn rubrics(
    ask: &mut Ask,
    due: &[usize],
    shown: &[Vec<SubgoalInAttempt>],
) -> BTreeMap<usize, Rubric> {
    let tasks = due.iter().filter_map(|place| {
        let members = shown.get(*place)?.clone();
        Some(RoleTask::DistilPrototype { members })
    });
    let answers = roles(ask, tasks.collect()).await;
    let mut rubrics = BTreeMap::new();
    for (place, answer) in due.iter().zip(answers) {
        match answer {
            // Nothing can be judged by it, and an older rubric would be lost.
            Some(RoleAnswer::Rubric(rubric)) if rubric.checklist.is_empty() => {
                ask.tell(EventKind::RoleFailed {
                    role: Role::DistilPrototype,
                    reason: "the rubric has no checklist".to_owned(),
                });
            }
            Some(RoleAnswer::Rubric(rubric)) => drop(rubrics.insert(*place, *rubric)),
            _ => {}
        }
    }
    rubrics
}

/// The prototype of each subgoal that was a member of a cluster before the refresh, by its index. Where a subgoal was only routed
/// does not count: a new kind of subgoal is routed to whatever is nearest.
fn prototypes_of<'a>(
    library: &'a SkillLibrary,
    subgoals: &[&'a KnownSubgoal],
) -> BTreeMap<usize, &'a PrototypeId> {
    let of_clusters: BTreeMap<&SubgoalRef, &PrototypeId> = library
        .prototypes()
        .iter()
        .flat_map(|one| one.members.iter().map(move |member| (member, &one.id)))
        .collect();
    let known = (0..).zip(subgoals);
    known
        .filter_map(|(place, known)| Some((place, *of_clusters.get(&known.at)?)))
        .collect()
}

/// The members nearest to the center whose attempts are still kept: one of each task first, since what several tasks share is
/// asked for. Where some attempts have no untrusted text, the others are left out: the rubric judges all.
fn shown(
    cluster: &Cluster,
    subgoals: &[&KnownSubgoal],
    traces: &BTreeMap<&AttemptId, &Trace>,
    most: usize,
) -> Vec<SubgoalInAttempt> {
    let known = cluster
        .members
        .iter()
        .filter_map(|place| subgoals.get(*place));
    let known: Vec<&KnownSubgoal> = known
        .copied()
        .filter(|known| traces.contains_key(&known.at.attempt))
        .collect();
    let is_clean = |known: &KnownSubgoal| {
        let trace = traces.get(&known.at.attempt);
        trace.is_some_and(|trace| trace.taint() == Taint::Clean)
    };
    let some_clean = known.iter().any(|known| is_clean(known));
    let known = known
        .into_iter()
        .filter(|known| !some_clean || is_clean(known));
    let mut tasks = BTreeSet::new();
    let (mut firsts, others): (Vec<&KnownSubgoal>, Vec<&KnownSubgoal>) =
        known.partition(|known| tasks.insert(&known.task));
    firsts.extend(others);
    let kept = firsts.into_iter().take(most).filter_map(|known| {
        Some(SubgoalInAttempt {
            attempt: Trace::clone(traces.get(&known.at.attempt)?),
            subgoal: known.assessed.subgoal.clone(),
        })
    });
    kept.collect()
}

fn taint(shown: &[SubgoalInAttempt]) -> Taint {
    let of = |one: &SubgoalInAttempt| one.attempt.taint();
    shown.iter().map(of).max().unwrap_or_default()
}

fn members(cluster: &Cluster, subgoals: &[&KnownSubgoal]) -> Vec<SubgoalRef> {
    let known = cluster
        .members
        .iter()
        .filter_map(|place| subgoals.get(*place));
    known.map(|known| known.at.clone()).collect()
}

/// Different texts of the members nearest to the center.
fn exemplars(cluster: &Cluster, subgoals: &[&KnownSubgoal]) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for place in &cluster.members {
        let text = subgoals
            .get(*place)
            .map(|known| known.assessed.subgoal.text());
        texts.extend(text.filter(|text| !texts.contains(text)));
        if texts.len() == Prototype::EXEMPLARS {
            break;
        }
    }
    texts
}

/// An id that no other prototype has: it depends on the step and on the cluster.
fn new_id(seed: Seed, members: &[SubgoalRef]) -> PrototypeId {
    let first = members.iter().min().map(ToString::to_string);
    let hash = sha256_hex(format!("{}\0{}", seed.0, first.unwrap_or_default()));
    PrototypeId::new(format!("prototype-{}", hash.get(..12).unwrap_or(&hash)))
}

// Which prototype a cluster goes on being: ids persist over refreshes (SCRIBE 3.2).

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
mod persistence_tests {
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
