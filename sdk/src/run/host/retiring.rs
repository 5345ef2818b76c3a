//! Taking back what runs did, and what became of single skills.

use super::journeyman::Journeyman;
use crate::{
    contract::SkillStore,
    domain::{Committed, LibraryChange},
    error::{Error, ErrorKind, Result},
    id::{Revision, SkillId, Version},
    library::{Applied, FoundRun, RunFilter, SkillLibrary},
};

/// What taking runs back does, or did.
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
    let error = Error::new(
        ErrorKind::NotFound,
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
    ///     select::Top,
    /// };
    ///
    /// # futures::executor::block_on(async {
    /// let mut recipe = recipe::standard();
    /// recipe.select.selector = Top { limit: std::num::NonZeroUsize::MIN }.into();
    /// let options = Options::new("desk", Seed(7));
    /// let journeyman = Journeyman::open(Components::own_loop(), recipe, options).await?;
    /// let filter = RunFilter { session: Some("desk".to_owned()), ..RunFilter::default() };
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
    /// let better = journeyman::domain::Skill { version: Version(2), body: "Warm the lid.".to_owned(), ..skill.clone() };
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
    Error::new(ErrorKind::NotFound, operation, message).with("skill", skill)
}
