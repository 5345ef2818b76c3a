//! Changes that a host makes to the library itself: adding skills, setting states of skills and rules of roles.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde::{Deserialize, Serialize};

use crate::{
    contract::SkillStore,
    domain::{
        Cause, Commit, Committed, LibraryChange, Origin, Role, RoleRule, Skill, SkillName,
        SkillRef, State,
    },
    error::{Error, ErrorKind, Result},
    id::{CommitKey, Revision, RunId, SkillId, Version},
    library::{Applied, Entry, FoundRun, RunFilter, SkillLibrary, format::SkillMd},
    run::host::journeyman::Journeyman,
};

/// The kind in the ids of runs that add skills.
const ADD: &str = "add";

impl Journeyman {
    /// Adds the host's skills to the library, redacted, and reports the result for each skill. Adding the same skills again
    /// changes nothing.
    ///
    /// Skills are identified by id. A skill that a host added before is upgraded by a later version, and keeps its present
    /// state. A skill that a person edited or a run changed in the meantime is not replaced. No skill is evicted to make
    /// room: skills that the tiers cannot hold are left out.
    ///
    /// # Errors
    /// `Unsupported` for a read-only library; the store's error.
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
            revision = self.commit_changes(run, all, reason).await?;
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
    /// `NotFound` for a skill that the library does not have; `Unsupported` for a read-only library; the store's error.
    pub async fn set_state(&self, skill: &SkillId, state: State, reason: &str) -> Result<Revision> {
        self.writable("Journeyman::set_state")?;
        if self.library().await?.get(skill).is_none() {
            return Err(Error::new(
                ErrorKind::NotFound,
                "Journeyman::set_state",
                "the library has no such skill",
            )
            .with("skill", skill)
            .hint("`Journeyman::library` lists the skills with their ids"));
        }
        let change = |reason| LibraryChange::SetState {
            skill: skill.clone(),
            state,
            reason,
        };
        self.commit_one("state", change, reason).await
    }

    /// Replaces the rules of a role, for example by rules that another run learned (HiSME 4.5). Runs change them further
    /// unless `papers::hisme::MacroPolicy::evolve` is switched off. A rule that redaction makes longer
    /// than [`RoleRule::MAX`] is cut to it.
    ///
    /// # Errors
    /// `Invalid` for more than [`RoleRule::MOST`] rules; `Unsupported` for a read-only
    /// library; the store's error.
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
        self.commit_changes(run, changes, reason).await
    }

    /// Commits a change that says why.
    pub(super) async fn commit_one(
        &self,
        kind: &str,
        change: impl FnOnce(String) -> LibraryChange,
        reason: &str,
    ) -> Result<Revision> {
        let mut text = reason.to_owned();
        self.session.redacting().text(&mut text);
        let run = self.session.next_run(kind);
        self.commit_changes(run, vec![change(text)], reason).await
    }

    pub(crate) async fn commit_changes(
        &self,
        run: RunId,
        changes: Vec<LibraryChange>,
        reason: &str,
    ) -> Result<Revision> {
        // A committed change that the library refuses would make every later load of the library fail.
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
                at: None,
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

/// The changes to commit for the skills that a host adds, and the result for each skill so far.
struct Plan<'a> {
    library: &'a SkillLibrary,
    tiers: crate::domain::TierPolicy,
    /// Number of further skills that the tiers can hold.
    room: usize,
    seen: BTreeSet<SkillId>,
    changes: Vec<LibraryChange>,
    /// The committed version of each skill, which the library has to hold afterwards.
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
        // The run in the provenance marks the version as added by a host, and lets the host undo the addition by retiring
        // the run.
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
                        "the library has deleted version {}, which had a low utility and was never used; restore it with \
                         `Journeyman::restore`, or add a later version",
                        before.skill.version
                    ));
                }
                LibraryChange::Add(Box::new(skill))
            }
        };
        // A skill that cannot be written as SKILL.md could not be written to a folder or an export either.
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

/// Whether a version was added by a host: its provenance has a run of the kind [`ADD`].
fn is_added(skill: &Skill) -> bool {
    let mut runs = skill.provenance.runs.iter();
    runs.any(|run| run.kind() == Some(ADD))
}

/// The version number under which a host added this content. A rollback gives a copy a new version, and keeps this number.
fn shipped_as(skill: &Skill) -> u64 {
    let written = skill.metadata.get(SkillMd::SHIPPED);
    let number = written.and_then(|number| number.parse().ok());
    number.unwrap_or(skill.version.0)
}

/// Describes how the current version came about, if it is not the one that was added last.
fn changed_since(current: &Skill) -> String {
    let how = match current.provenance.origin {
        _ if is_added(current) => "it was rolled back",
        Origin::Human => "a person edited it",
        _ => "a run has changed it since",
    };
    format!("{how} (version {})", current.version)
}

/// The added skill as the next version of a known skill; otherwise the result that says why it is not committed.
fn upgrade(entry: &Entry, mut skill: Skill) -> std::result::Result<Skill, AddFate> {
    let added = entry.versions().filter(|one| is_added(one));
    let Some(shipped) = added.max_by_key(|one| shipped_as(one)) else {
        return Err(AddFate::Refused(
            "the library has a skill of this id that was not added by a host".to_owned(),
        ));
    };
    let (version, current) = (entry.skill.version, &entry.skill);
    if has_same_content(shipped, &skill) {
        return Err(match has_same_content(current, &skill) {
            true => AddFate::Unchanged,
            false => AddFate::Kept(changed_since(current)),
        });
    }
    if !is_added(current) {
        return Err(AddFate::Kept(changed_since(current)));
    }
    if skill.version.0 <= shipped_as(shipped) {
        return Err(AddFate::Refused(format!(
            "the content differs from that of version {}, which was added before; give the skill a later version",
            shipped_as(shipped)
        )));
    }
    skill.version = skill.version.max(version.next());
    skill.parents = vec![current.reference()];
    // A skill that was taken out of use stays out of use.
    skill.state = current.state;
    Ok(skill)
}

/// Whether two versions have the same content, apart from name, version and state.
fn has_same_content(known: &Skill, new: &Skill) -> bool {
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

/// Corrects a planned result by the library after the commit.
fn confirm(one: &mut AddedSkill, planned: Option<&Skill>, library: &SkillLibrary) {
    let entry = library.get(&one.skill.id);
    if let Some(entry) = entry {
        one.name = entry.skill.name.clone();
    }
    let is_there = entry.zip(planned).is_some_and(|(entry, planned)| {
        let mut versions = entry.versions();
        versions.any(|one| has_same_content(one, planned))
    });
    match &one.fate {
        AddFate::Added | AddFate::Revised if is_there => {}
        AddFate::Added if entry.is_none() => {
            one.fate = AddFate::OutOfRoom(
                "the tiers deleted it at once: the other skills have a higher utility than a new skill"
                    .to_owned(),
            );
        }
        AddFate::Added | AddFate::Revised => {
            one.fate = AddFate::Refused("another writer changed the skill first".to_owned());
        }
        _ => {}
    }
}

/// The result for one skill that a host adds.
///
/// ```
/// use journeyman::{prelude::*, run::AddFate, testing::sample};
///
/// # futures::executor::block_on(async {
/// let options = Options::new("desk", Seed(7));
/// let session = Journeyman::open(Components::own_loop(), recipe::standard(), options).await?;
/// let skill = sample::skill("close-ticket");
/// let twice = session.add(vec![skill.clone(), skill], "version 1").await?;
/// assert_eq!(twice.skills[0].fate, AddFate::Added);
/// assert!(matches!(twice.skills[1].fate, AddFate::Refused(_)));
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AddFate {
    /// The skill is new in the library.
    Added,
    /// The skill is the next version of a skill that a host added before.
    Revised,
    /// The library already has this skill with the same content; nothing was committed for it.
    Unchanged,
    /// The library keeps its own version, for the reason given: a person edited the skill, or a run changed it, after it was
    /// added.
    Kept(String),
    /// The skill was refused, for the reason given.
    Refused(String),
    /// The tiers have no room for the skill; the text gives the limits.
    OutOfRoom(String),
}

/// One skill of an [`AddReport`].
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedSkill {
    /// The skill's id and version, as the host gave them.
    pub skill: SkillRef,
    /// The skill's name in the library; the host's name if the library does not have the skill.
    pub name: SkillName,
    /// The result.
    pub fate: AddFate,
}

/// The results of [`Journeyman::add`](crate::run::Journeyman::add), in the order of the skills.
///
/// ```
/// use journeyman::{prelude::*, run::AddFate, testing::sample};
///
/// # futures::executor::block_on(async {
/// let options = Options::new("desk", Seed(7));
/// let session = Journeyman::open(Components::own_loop(), recipe::standard(), options).await?;
/// let skills = || vec![sample::skill("close-ticket"), sample::skill("open-ticket")];
/// assert_eq!(session.add(skills(), "version 1").await?.changed(), 2);
/// // At the next start of the program nothing changes.
/// let again = session.add(skills(), "version 1").await?;
/// assert_eq!(again.count(|fate| *fate == AddFate::Unchanged), 2);
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddReport {
    /// The library's revision after the call.
    pub revision: Revision,
    /// One result for each skill.
    pub skills: Vec<AddedSkill>,
}

impl AddReport {
    /// Number of skills that were added or revised.
    pub fn changed(&self) -> usize {
        self.count(|fate| matches!(fate, AddFate::Added | AddFate::Revised))
    }

    /// Number of skills with a matching result.
    pub fn count(&self, which: impl Fn(&AddFate) -> bool) -> usize {
        self.skills.iter().filter(|one| which(&one.fate)).count()
    }
}

/// One line for each skill.
impl fmt::Display for AddReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for AddedSkill { skill, name, fate } in &self.skills {
            let (fate, reason) = match fate {
                AddFate::Added => ("added", None),
                AddFate::Revised => ("revised", None),
                AddFate::Unchanged => ("unchanged", None),
                AddFate::Kept(reason) => ("library version kept", Some(reason)),
                AddFate::Refused(reason) => ("refused", Some(reason)),
                AddFate::OutOfRoom(reason) => ("out of room", Some(reason)),
            };
            write!(f, "{name} (version {}): {fate}", skill.version)?;
            reason.map_or(Ok(()), |reason| write!(f, ": {reason}"))?;
            writeln!(f)?;
        }
        Ok(())
    }
}

// Taking back what runs did, and what became of single skills.

/// What taking runs back does, or did.
///
/// ```
/// use journeyman::{library::RunFilter, prelude::*, stations::select::First, testing::sample};
///
/// # futures::executor::block_on(async {
/// let mut recipe = recipe::standard();
/// recipe.select.selector = First.into();
/// let options = Options::new("desk", Seed(7));
/// let session = Journeyman::open(Components::own_loop(), recipe, options).await?;
/// session.add(vec![sample::skill("close-ticket")], "version 1").await?;
/// let attempt = session.begin(Task::new("t-1", "Close ticket 17.")).await?;
/// attempt.finish(Outcome::success()).await?;
///
/// let planned = session.would_retire(&RunFilter::of_session("desk")).await?;
/// assert_eq!((planned.runs.len(), planned.runs[0].credits), (1, 1));
/// assert_eq!(planned.revision, None, "nothing is done yet");
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retirement {
    /// The runs, the latest first.
    pub runs: Vec<FoundRun>,
    /// The effect on the library.
    pub applied: Applied,
    /// The revision of the commit; `None` where nothing was done yet.
    pub revision: Option<Revision>,
}

impl Retirement {
    /// What taking back the runs of a filter would do to a store's library. Nothing is changed.
    ///
    /// # Errors
    /// `Invalid` for a filter in which nothing is set; `NotFound` where no run with a commit is one of them; the store's error.
    pub async fn plan(store: &dyn SkillStore, filter: &RunFilter, reason: &str) -> Result<Self> {
        if *filter == RunFilter::default() {
            return Err(Error::invalid(
                "Retirement::plan",
                "the filter takes every run of the library",
            )
            .hint("say which runs: by run, session, task, skill or time"));
        }
        let committed = store.load().await?.committed;
        let runs = filter.runs(&committed);
        if runs.is_empty() {
            return Err(nothing_found(filter, &committed));
        }
        let mut planned = Self {
            runs,
            applied: Applied::default(),
            revision: None,
        };
        let mut fork = SkillLibrary::replay(&committed)?.fork();
        let cause = crate::domain::Cause {
            run: None,
            task: None,
            reason: reason.to_owned(),
            at: None,
        };
        let changes = Self::changes_of(&planned.runs, reason);
        planned.applied = fork.apply(&cause, changes)?;
        Ok(planned)
    }

    /// The changes that take runs back, to be committed together.
    pub fn changes_of(runs: &[FoundRun], reason: &str) -> Vec<LibraryChange> {
        let runs = runs.iter();
        runs.map(|found| LibraryChange::RetireRun {
            run: found.run.clone(),
            reason: reason.to_owned(),
        })
        .collect()
    }
}

/// Why there is nothing to take back.
fn nothing_found(filter: &RunFilter, committed: &[Committed]) -> Error {
    let asked = [
        ("run", filter.run.as_ref().map(ToString::to_string)),
        ("session", filter.session.clone()),
        ("task", filter.task.as_ref().map(ToString::to_string)),
        ("skill", filter.skill.as_ref().map(ToString::to_string)),
    ];
    let error = Error::not_found(
        "Retirement::plan",
        "no run that is not taken back yet has made such a commit",
    )
    .hint("`journeyman skill log` shows the runs that made commits, with their tasks and times; so does `Committed::cause`");
    let asked = asked
        .into_iter()
        .filter_map(|(what, value)| Some((what, value?)));
    let error = asked.fold(error, |error, (what, value)| error.with(what, value));
    let undated = |one: &&Committed| one.cause.run.is_some() && one.cause.at.is_none();
    match committed.iter().filter(undated).count() {
        undated if filter.since.is_some() && undated > 0 => {
            error.with("commits_without_a_time", undated)
        }
        _ => error,
    }
}

impl Journeyman {
    /// What [`retire`](Self::retire) would do. Nothing is changed.
    ///
    /// # Errors
    /// `NotFound` where no run with a commit is one of them; the store's error.
    pub async fn would_retire(&self, filter: &RunFilter) -> Result<Retirement> {
        Retirement::plan(self.session.performer.store()?.as_ref(), filter, "").await
    }

    /// Takes back what runs did, in one commit: skills that they wrote are out of use, and return when they are written again
    /// from other evidence; skills whose state they set have the state of before; what they credited and judged does not count.
    /// [`SkillLibrary`] has the rules.
    ///
    /// A run that is in progress can be taken back too; what it commits afterwards stays.
    ///
    /// ```
    /// use journeyman::{
    ///     ErrorKind, Seed,
    ///     contract::Components,
    ///     library::RunFilter,
    ///     recipe,
    ///     run::{Journeyman, Options},
    ///     stations::select::Top,
    /// };
    ///
    /// # futures::executor::block_on(async {
    /// let mut recipe = recipe::standard();
    /// recipe.select.selector = Top::new(std::num::NonZeroUsize::MIN).into();
    /// let options = Options::new("desk", Seed(7));
    /// let journeyman = Journeyman::open(Components::own_loop(), recipe, options).await?;
    /// let filter = RunFilter::of_session("desk");
    /// // Nothing was learned yet.
    /// let error = journeyman.retire(&filter, "a bad day").await.unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::NotFound);
    /// # Ok::<_, journeyman::Error>(())
    /// # })?;
    /// # Ok::<(), journeyman::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Invalid` for a filter in which nothing is set; `NotFound` where no run with a commit is one of them; `Unsupported` for a
    /// read-only library; the store's error.
    pub async fn retire(&self, filter: &RunFilter, reason: &str) -> Result<Retirement> {
        self.writable("Journeyman::retire")?;
        let mut text = reason.to_owned();
        self.session.redacting().text(&mut text);
        let mut planned = self.would_retire(filter).await?;
        let run = self.session.next_run("retire");
        let revision = self
            .commit_changes(run, Retirement::changes_of(&planned.runs, &text), reason)
            .await?;
        // Another writer may have come between.
        let mut committed = self.session.performer.store()?.load().await?.committed;
        committed.truncate(committed.partition_point(|one| one.revision <= revision));
        if let Some(own) = committed.pop() {
            planned.applied = SkillLibrary::replay(&committed)?.apply(&own)?;
        }
        planned.revision = Some(revision);
        Ok(planned)
    }

    /// Makes an earlier version of a skill the current one, as a new version with the skill's present state; one of untrusted text, of a skill that has none, is quarantined. A version that is the current
    /// one stays, without a commit.
    ///
    /// ```
    /// use journeyman::{
    ///     ErrorKind, Seed, Version,
    ///     contract::Components,
    ///     recipe,
    ///     run::{Journeyman, Options},
    ///     testing::sample,
    /// };
    ///
    /// # futures::executor::block_on(async {
    /// let options = Options::new("desk", Seed(7));
    /// let journeyman = Journeyman::open(Components::own_loop(), recipe::standard(), options).await?;
    /// let skill = sample::skill("open-jar");
    /// let better = skill.clone().with_version(2).with_body("Warm the lid.");
    /// journeyman.add(vec![skill.clone()], "ours").await?;
    /// journeyman.add(vec![better], "a better one").await?;
    /// journeyman.roll_back(&skill.id, Version(1), "it was no better").await?;
    /// let library = journeyman.library().await?;
    /// let current = &library.get(&skill.id).expect("still there").skill;
    /// assert_eq!((current.version, &current.body), (Version(3), &skill.body));
    /// let error = journeyman.roll_back(&skill.id, Version(9), "no such").await.unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::NotFound);
    /// # Ok::<_, journeyman::Error>(())
    /// # })?;
    /// # Ok::<(), journeyman::Error>(())
    /// ```
    ///
    /// # Errors
    /// `NotFound` for a skill or a version that the library does not have; `Unsupported` for a read-only library; the store's error.
    pub async fn roll_back(&self, skill: &SkillId, to: Version, reason: &str) -> Result<Revision> {
        const NAME: &str = "Journeyman::roll_back";
        self.writable(NAME)?;
        let library = self.library().await?;
        let entry = library.get(skill).ok_or_else(|| {
            not_found(NAME, "the library has no such skill", skill)
                .hint("`Journeyman::library` lists the skills with their ids; `Journeyman::restore` brings back a deleted one")
        })?;
        if !entry.versions().any(|version| version.version == to) {
            let known: Vec<String> = entry
                .versions()
                .map(|one| one.version.to_string())
                .collect();
            let error = not_found(NAME, "the skill has no such version", skill);
            return Err(error.with("version", to).with("versions", known.join(", ")));
        }
        if entry.skill.version == to {
            return Ok(library.revision());
        }
        let change = |reason| LibraryChange::RollBack {
            skill: skill.clone(),
            to,
            reason,
        };
        self.commit_one("roll-back", change, reason).await
    }

    /// Brings back a skill that the tiers deleted, as it was. What a curator deleted is archived: [`set_state`](Self::set_state) brings it back.
    ///
    /// # Errors
    /// `NotFound` for a skill that is not deleted; `Unsupported` for a read-only library; the store's error.
    pub async fn restore(&self, skill: &SkillId, reason: &str) -> Result<Revision> {
        const NAME: &str = "Journeyman::restore";
        self.writable(NAME)?;
        let library = self.library().await?;
        if !library.deleted().any(|entry| entry.skill.id == *skill) {
            return Err(
                not_found(NAME, "the library has deleted no such skill", skill)
                    .hint("`SkillLibrary::deleted` lists those that can be restored"),
            );
        }
        let change = |reason| LibraryChange::Restore {
            skill: skill.clone(),
            reason,
        };
        self.commit_one("restore", change, reason).await
    }
}

fn not_found(operation: &'static str, message: &str, skill: &SkillId) -> Error {
    Error::not_found(operation, message).with("skill", skill)
}
