//! What a host brings: skills, states of skills, and rules for roles.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    add_report::{AddFate, AddReport, AddedSkill},
    journeyman::Journeyman,
};
use crate::{
    domain::{Cause, Commit, LibraryChange, Origin, Role, RoleRule, Skill, State},
    error::{Error, Result},
    format::SkillMd,
    id::{CommitKey, Revision, RunId, SkillId},
    library::{Entry, SkillLibrary},
};

/// The kind of run that brings skills.
const ADD: &str = "add";

impl Journeyman {
    /// Puts skills that the host brings into the library, without the secrets in them, and says skill by skill what became
    /// of it. Adding the same skills again changes nothing.
    ///
    /// A skill is known by its id. One that was added before is upgraded by a later version, in the state that it has now;
    /// what a person edited or a run changed since stays as it is. The library makes room for nothing: what its tiers
    /// cannot hold is left out.
    ///
    /// # Errors
    /// `Unsupported` for a library that is read-only; what the store gives.
    pub async fn add(&self, skills: Vec<Skill>, reason: &str) -> Result<AddReport> {
        self.writable("Journeyman::add")?;
        let run = self.session.next_run(ADD);
        let library = self.library().await?;
        let mut planned = Plan::new(&library, self.session.recipe.tiers.clone());
        for skill in skills {
            let (reference, name) = (skill.reference(), skill.name.clone());
            let fate = match self.session.redacting().skill(skill) {
                Ok(skill) => planned.take(skill, &run),
                Err(error) => AddFate::Refused(error.message().to_owned()),
            };
            planned.skills.push(AddedSkill {
                skill: reference,
                name,
                fate,
            });
        }
        let Plan {
            changes,
            mut skills,
            tiers,
            planned,
            ..
        } = planned;
        let mut revision = library.revision();
        if !changes.is_empty() {
            let mut all = vec![LibraryChange::Configure(tiers)];
            all.extend(changes);
            all.push(LibraryChange::Maintain);
            revision = self.bring(run, all, reason).await?;
        }
        let library = self.library().await?;
        skills
            .iter_mut()
            .for_each(|one| confirm(one, planned.get(&one.skill.id), &library));
        Ok(AddReport { revision, skills })
    }

    /// Moves a skill to another state: releases it from quarantine or trial ([`State::Active`]), or takes it out of use
    /// ([`State::Disabled`], [`State::Archived`]).
    ///
    /// # Errors
    /// `NotFound` for a skill that the library does not have; `Unsupported` for a library that is read-only; what the store
    /// gives.
    pub async fn set_state(&self, skill: &SkillId, state: State, reason: &str) -> Result<Revision> {
        self.writable("Journeyman::set_state")?;
        if self.library().await?.get(skill).is_none() {
            return Err(Error::new(
                crate::error::ErrorKind::NotFound,
                "Journeyman::set_state",
                "the library has no such skill",
            )
            .with("skill", skill)
            .hint("`Journeyman::library` lists the skills with their ids"));
        }
        let mut text = reason.to_owned();
        self.session.redacting().text(&mut text);
        let changes = vec![LibraryChange::SetState {
            skill: skill.clone(),
            state,
            reason: text,
        }];
        let run = self.session.next_run("state");
        self.bring(run, changes, reason).await
    }

    /// Gives a role rules to keep to from here on, such as those that another run learnt (HiSME 4.5): with
    /// [`Maintenance::evolve`](crate::maintain::Maintenance::evolve) switched off they stay as they are.
    ///
    /// # Errors
    /// `Invalid` for more than [`RoleRule::MOST`] rules or one that is too long; `Unsupported` for a library that is
    /// read-only; what the store gives.
    pub async fn set_rules(
        &self,
        role: Role,
        mut rules: Vec<RoleRule>,
        reason: &str,
    ) -> Result<Revision> {
        self.writable("Journeyman::set_rules")?;
        let redacting = self.session.redacting();
        rules.iter_mut().for_each(|rule| redacting.rule(rule));
        let changes = vec![LibraryChange::SetRules { role, rules }];
        let run = self.session.next_run("rules");
        self.bring(run, changes, reason).await
    }

    async fn bring(
        &self,
        run: RunId,
        changes: Vec<LibraryChange>,
        reason: &str,
    ) -> Result<Revision> {
        // What the fold would refuse must not be committed: it would refuse it from then on.
        changes.iter().try_for_each(LibraryChange::validate)?;
        let inner = &self.session;
        let mut reason = reason.to_owned();
        inner.redacting().text(&mut reason);
        let commit = Commit {
            base: self.library().await?.revision(),
            key: CommitKey::new(run.as_str()),
            cause: Cause {
                run: Some(run),
                task: None,
                reason,
            },
            changes,
        };
        let done = inner.performer.commit(&commit).await?;
        Ok(done
            .committed
            .last()
            .map_or(commit.base, |last| last.revision))
    }
}

/// What is to be committed of the skills that were handed over.
struct Plan<'a> {
    library: &'a SkillLibrary,
    tiers: crate::domain::TierPolicy,
    /// How many more skills the tiers can hold.
    room: usize,
    seen: BTreeSet<SkillId>,
    changes: Vec<LibraryChange>,
    /// What the library has to have of each skill that is committed.
    planned: BTreeMap<SkillId, Skill>,
    skills: Vec<AddedSkill>,
}

impl<'a> Plan<'a> {
    fn new(library: &'a SkillLibrary, tiers: crate::domain::TierPolicy) -> Self {
        let held = library.cache().count() + library.reservoir().count();
        let most = tiers.cache.saturating_add(tiers.reservoir);
        Self {
            library,
            tiers,
            room: most.saturating_sub(held),
            seen: BTreeSet::new(),
            changes: Vec::new(),
            planned: BTreeMap::new(),
            skills: Vec::new(),
        }
    }

    fn take(&mut self, mut skill: Skill, run: &RunId) -> AddFate {
        if !self.seen.insert(skill.id.clone()) {
            return AddFate::Refused("another skill of this call has the same id".to_owned());
        }
        // By this run it is known later that a version was added, and retiring the run takes it back.
        skill.provenance.runs.push(run.clone());
        let version = skill.version.to_string();
        skill.metadata.insert(SkillMd::SHIPPED.to_owned(), version);
        let change = match self.library.get(&skill.id) {
            Some(entry) => match upgrade(entry, skill) {
                Ok(skill) => LibraryChange::Revise(Box::new(skill)),
                Err(fate) => return fate,
            },
            None => {
                let mut deleted = self.library.deleted();
                let deleted = deleted.find(|entry| entry.skill.id == skill.id);
                if let Some(before) = deleted.filter(|one| skill.version <= one.skill.version) {
                    return AddFate::Refused(format!(
                        "the library deleted version {}, which was low and never used; bring it back with \
                         `LibraryChange::Restore`, or add a later version",
                        before.skill.version
                    ));
                }
                LibraryChange::Add(Box::new(skill))
            }
        };
        // What no SKILL.md can hold, no folder and no export could hold either.
        let written = change.skill().map(|skill| SkillMd::from(skill).write());
        let sound = change.validate().and(written.transpose());
        if let Err(error) = sound {
            return AddFate::Refused(error.message().to_owned());
        }
        let (fate, enters) = match &change {
            LibraryChange::Add(skill) => (AddFate::Added, skill.state.is_offered()),
            _ => (AddFate::Revised, false),
        };
        if enters && self.room == 0 {
            return AddFate::OutOfRoom(format!(
                "the tiers hold {} and {} skills; raise `TierPolicy::cache` or `TierPolicy::reservoir` in `Recipe::tiers`",
                self.tiers.cache, self.tiers.reservoir
            ));
        }
        self.room -= usize::from(enters);
        let planned = change
            .skill()
            .map(|skill| (skill.id.clone(), skill.clone()));
        self.planned.extend(planned);
        self.changes.push(change);
        fate
    }
}

/// Whether a version was added by a host: a run of that kind is in its provenance.
fn is_added(skill: &Skill) -> bool {
    let mut runs = skill.provenance.runs.iter();
    runs.any(|run| {
        let last = run.as_str().rsplit('/').next();
        last.is_some_and(|last| last.starts_with("add-"))
    })
}

/// The version in which a host added it, which a copy that was rolled back to keeps.
fn shipped_as(skill: &Skill) -> u64 {
    let written = skill.metadata.get(SkillMd::SHIPPED);
    let number = written.and_then(|number| number.parse().ok());
    number.unwrap_or(skill.version.0)
}

/// How the current version came about that is not the one that was added last.
fn changed_since(current: &Skill) -> String {
    let how = match current.provenance.origin {
        _ if is_added(current) => "it was rolled back",
        Origin::Human => "a person edited it",
        _ => "a run has changed it since",
    };
    format!("{how} (version {})", current.version)
}

/// The next version of a known skill; else what becomes of it.
fn upgrade(entry: &Entry, mut skill: Skill) -> std::result::Result<Skill, AddFate> {
    let added = entry.versions().filter(|one| is_added(one));
    let Some(shipped) = added.max_by_key(|one| shipped_as(one)) else {
        return Err(AddFate::Refused(
            "the library has a skill of this id that was not added by a host".to_owned(),
        ));
    };
    let (version, current) = (entry.skill.version, &entry.skill);
    if says_all_the_same(shipped, &skill) {
        return Err(match says_all_the_same(current, &skill) {
            true => AddFate::Unchanged,
            false => AddFate::Kept(changed_since(current)),
        });
    }
    if !is_added(current) {
        return Err(AddFate::Kept(changed_since(current)));
    }
    if skill.version.0 <= shipped_as(shipped) {
        return Err(AddFate::Refused(format!(
            "its content is another than that of version {}, which was added before; give it a later version",
            shipped_as(shipped)
        )));
    }
    skill.version = skill.version.max(version.next());
    skill.parents = vec![current.reference()];
    // Who took it out of use keeps it out of use.
    skill.state = current.state;
    Ok(skill)
}

/// Whether two versions have the same content, whatever the library calls them.
fn says_all_the_same(known: &Skill, new: &Skill) -> bool {
    let fields = |skill: &Skill| {
        let fields = skill.metadata.iter();
        let own = fields.filter(|(key, _)| *key != SkillMd::SHIPPED);
        own.map(|(key, value)| (key.clone(), value.clone()))
            .collect::<Vec<_>>()
    };
    known.description == new.description
        && known.body == new.body
        && known.trigger == new.trigger
        && known.kind == new.kind
        && known.scope == new.scope
        && known.allowed_tools == new.allowed_tools
        && fields(known) == fields(new)
        && known.files == new.files
        && known.license == new.license
        && known.compatibility == new.compatibility
}

/// Holds what was planned against the library as it is now.
fn confirm(one: &mut AddedSkill, planned: Option<&Skill>, library: &SkillLibrary) {
    let entry = library.get(&one.skill.id);
    if let Some(entry) = entry {
        one.name = entry.skill.name.clone();
    }
    let is_there = entry.zip(planned).is_some_and(|(entry, planned)| {
        let mut versions = entry.versions();
        versions.any(|one| says_all_the_same(one, planned))
    });
    match &one.fate {
        AddFate::Added | AddFate::Revised if is_there => {}
        AddFate::Added if entry.is_none() => {
            one.fate = AddFate::OutOfRoom(
                "the tiers deleted it at once: it is new, and the skills that are there have a higher utility"
                    .to_owned(),
            );
        }
        AddFate::Added | AddFate::Revised => {
            one.fate = AddFate::Refused("another writer changed it first".to_owned());
        }
        _ => {}
    }
}
