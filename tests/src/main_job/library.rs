//! Libraries for the figures: a learned one judged against the world's truth, and one that holds nothing relevant.

use std::{collections::BTreeSet, sync::Arc};

use journeyman::{
    Result, Seed,
    agent::MemoryStore,
    contract::SkillStore,
    domain::{Cause, Commit, CommitKey, Committed, LibraryChange, Origin, Revision, Skill},
    library::SkillLibrary,
    recipe,
};
use journeyman_toolworld::stream::{Member, Universe, UniverseSpec};
use quickstart::{Tasks, spoken};

use crate::skills::admitted;

/// How right a learned library is.
pub(super) struct Rightness {
    pub(super) skills: usize,
    /// The share whose body is word for word what a task's contract calls for.
    pub(super) exact: f64,
    /// The share that says the same, the calls before the last in any order.
    pub(super) same: f64,
}

pub(super) fn fully_right(committed: &[Committed], tasks: &Tasks) -> Result<Rightness> {
    let library = SkillLibrary::replay(committed)?;
    let exact = bodies(tasks);
    let skills = library.cache().count();
    let share = |holds: &dyn Fn(&str) -> bool| {
        let right = library.cache().filter(|entry| holds(&entry.skill.body));
        right.count() as f64 / skills.max(1) as f64
    };
    Ok(Rightness {
        skills,
        exact: share(&|body| exact.contains(body.trim())),
        same: share(&|body| about(tasks).any(|member| spoken::says(body, member))),
    })
}

/// The services that the tasks are about.
fn about(tasks: &Tasks) -> impl Iterator<Item = &Member> {
    let tools: BTreeSet<&String> = tasks.tools.values().collect();
    let members = tasks.members.iter();
    members.filter(move |member| tools.contains(&member.service.tool.name.to_string()))
}

/// What these services call for, as bodies of skills.
fn bodies(tasks: &Tasks) -> BTreeSet<String> {
    about(tasks)
        .map(|member| spoken::draft(member).body.trim().to_owned())
        .collect()
}

/// A store with these commits.
pub(crate) async fn store(committed: &[Committed]) -> Result<Arc<MemoryStore>> {
    let store = Arc::new(MemoryStore::new());
    for (base, done) in (0..).zip(committed) {
        store
            .commit(&Commit::new(
                Revision(base),
                done.key.clone(),
                done.cause.clone(),
                done.changes.clone(),
            ))
            .await?;
    }
    Ok(store)
}

/// What a universe's contracts call for, as skills.
pub(crate) fn true_skills(universe: &Universe) -> Result<Vec<Skill>> {
    universe
        .members()
        .iter()
        .enumerate()
        .map(|(index, member)| {
            let id = format!("true-{index:02}");
            admitted(&spoken::draft(member), id, Origin::Seed)
        })
        .collect()
}

/// The true skills of another universe, without those that the tasks' own truth has.
pub(super) fn irrelevant(seed: Seed, tasks: &Tasks) -> Result<Vec<Committed>> {
    let other = Universe::make(UniverseSpec::default(), seed.derive("elsewhere", 0).0)?;
    let known = bodies(tasks);
    let skills = true_skills(&other)?
        .into_iter()
        .filter(|skill| !known.contains(skill.body.trim()))
        .map(|skill| LibraryChange::Add(Box::new(skill)));
    let tiers = LibraryChange::Configure(recipe::standard().tiers);
    Ok(vec![Committed::new(
        Revision(1),
        CommitKey::new("elsewhere"),
        Cause::new("skills of another world"),
        std::iter::once(tiers).chain(skills).collect(),
    )])
}
