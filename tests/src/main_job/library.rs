//! Libraries for the figures: a learned one judged against the world's truth, and one that holds nothing relevant.

use std::{collections::BTreeSet, sync::Arc};

use journeyman::{
    CommitKey, Result, Revision, Seed, SkillId, Version,
    admit::{Admittance, to_skill},
    builtin::MemoryStore,
    contract::SkillStore,
    domain::{Cause, Commit, Committed, LibraryChange, Origin, Provenance, Skill, Taint},
    library::SkillLibrary,
    recipe,
};
use journeyman_toolworld::{
    skill_form,
    stream::{Universe, UniverseSpec},
};
use quickstart::Tasks;

/// How right a learned library is.
pub(super) struct Rightness {
    pub(super) skills: usize,
    /// The share whose body is word for word what a task's contract calls for.
    pub(super) share: f64,
}

pub(super) fn fully_right(committed: &[Committed], tasks: &Tasks) -> Result<Rightness> {
    let library = SkillLibrary::replay(committed)?;
    let truth: BTreeSet<&str> = tasks.truth.values().map(|body| body.trim()).collect();
    let skills = library.cache().count();
    let right = library
        .cache()
        .filter(|entry| truth.contains(entry.skill.body.trim()))
        .count();
    Ok(Rightness {
        skills,
        share: right as f64 / skills.max(1) as f64,
    })
}

/// A store with these commits.
pub(crate) async fn store(committed: &[Committed]) -> Result<Arc<MemoryStore>> {
    let store = Arc::new(MemoryStore::new());
    for (base, done) in (0..).zip(committed) {
        store
            .commit(&Commit {
                base: Revision(base),
                key: done.key.clone(),
                cause: done.cause.clone(),
                changes: done.changes.clone(),
            })
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
            let admittance = Admittance {
                id: SkillId::new(format!("true-{index:02}")),
                version: Version(1),
                provenance: Provenance {
                    origin: Origin::Seed,
                    runs: Vec::new(),
                    tasks: Vec::new(),
                },
                taint: Taint::Clean,
                parents: Vec::new(),
            };
            to_skill(&skill_form::to_draft(&member.skill()), admittance)
        })
        .collect()
}

/// The true skills of another universe, without those that the tasks' own truth has.
pub(super) fn irrelevant(seed: Seed, tasks: &Tasks) -> Result<Vec<Committed>> {
    let other = Universe::make(UniverseSpec::default(), seed.derive("elsewhere", 0).0)?;
    let known: BTreeSet<&str> = tasks.truth.values().map(String::as_str).collect();
    let skills = true_skills(&other)?
        .into_iter()
        .filter(|skill| !known.contains(skill.body.as_str()))
        .map(|skill| LibraryChange::Add(Box::new(skill)));
    let tiers = LibraryChange::Configure(recipe::standard().tiers);
    Ok(vec![Committed {
        revision: Revision(1),
        key: CommitKey::new("elsewhere"),
        cause: Cause {
            run: None,
            task: None,
            reason: "skills of another world".to_owned(),
        },
        changes: std::iter::once(tiers).chain(skills).collect(),
    }])
}
