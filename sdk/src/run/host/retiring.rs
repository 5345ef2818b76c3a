//! Taking back what runs did.

use super::journeyman::Journeyman;
use crate::{
    contract::SkillStore,
    domain::{Committed, LibraryChange},
    error::{Error, ErrorKind, Result},
    id::Revision,
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
    ///     contract::Backends,
    ///     library::RunFilter,
    ///     recipe,
    ///     run::{Journeyman, Options},
    ///     select::Selector,
    /// };
    ///
    /// # futures::executor::block_on(async {
    /// let mut recipe = recipe::standard();
    /// recipe.select.selector = Selector::Top { limit: std::num::NonZeroUsize::MIN };
    /// let options = Options::new("desk", Seed(7));
    /// let journeyman = Journeyman::open(Backends::own_loop(), recipe, options).await?;
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
}
