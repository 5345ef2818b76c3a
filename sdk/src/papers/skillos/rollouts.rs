//! Rollouts of a group of tasks: each runs the group in sequence with a library of its own (SkillOS, training regime; row K3).

use std::{
    collections::BTreeMap,
    fmt,
    num::{NonZeroU32, NonZeroU64, NonZeroUsize},
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use futures::{StreamExt, stream};

use crate::{
    agent::ForkStore,
    contract::{Components, Journal, JournalEntry, Retriever, SkillStore},
    domain::Task,
    error::{Error, Result},
    id::{Revision, RunId},
    library::{Conflict, Fork},
    papers::skillos::{CompositeTerms, CompositeWeights, repository_tokens, review::ReviewReport},
    policy::{Answer, RoleGeneration},
    run::{
        RunEntry, Station,
        host::{journeyman::Journeyman, locking::lock, session::Options},
        report::{Finding, FindingKind, RunReport},
    },
    stations::select::Candidates,
};

/// Makes an empty index for one rollout.
type NewRetriever = dyn Fn() -> Result<Arc<dyn Retriever>> + Send + Sync;

/// How the rollouts of a group are made.
#[non_exhaustive]
#[derive(Clone)]
pub struct Rollouts {
    /// Number of rollouts. The paper: 8.
    pub count: NonZeroU32,
    /// Greatest number of rollouts that are under way at the same time. Default: all of them. Each calls the host's parts at most
    /// [`Options::in_flight`] times at once. Time limits count from a call, its place in a model's queue included: where hundreds ask
    /// one local model, raise those of the recipe ([`Limits`](crate::recipe::Limits)), the agent and the roles, or have fewer at once.
    pub at_once: NonZeroUsize,
    /// The weights of the reward.
    pub weights: CompositeWeights,
    /// Whether each rollout keeps the generations of its roles: what
    /// `rollouts::of_curator` of the crate `journeyman-interchange` needs. Default: no.
    pub record: bool,
    /// Whether the role `review` judges what each rollout's curator wrote, for [`CompositeTerms::quality`]. Default: no.
    pub review: bool,
    retriever: Option<Arc<NewRetriever>>,
}

impl fmt::Debug for Rollouts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rollouts")
            .field("count", &self.count)
            .field("at_once", &self.at_once)
            .field("weights", &self.weights)
            .field("record", &self.record)
            .field("review", &self.review)
            .field("retriever", &self.retriever.is_some())
            .finish()
    }
}

impl Default for Rollouts {
    /// The paper's eight rollouts, all at once.
    fn default() -> Self {
        Self::new(const { NonZeroU32::new(8).expect("not 0") })
    }
}

impl Rollouts {
    /// So many rollouts, all at once, without an index.
    pub fn new(count: NonZeroU32) -> Self {
        Self {
            count,
            at_once: NonZeroUsize::try_from(count).unwrap_or(NonZeroUsize::MIN),
            weights: CompositeWeights::default(),
            record: false,
            review: false,
            retriever: None,
        }
    }

    /// Lets each rollout keep the generations of its roles.
    #[must_use]
    pub fn recorded(mut self) -> Self {
        self.record = true;
        self
    }

    /// Lets the role `review` judge what each rollout's curator wrote, so that the reward has its term of content quality
    /// ([`GroupRollout::review`]). The model that plays the session's roles is the judge.
    #[must_use]
    pub fn reviewed(mut self) -> Self {
        self.review = true;
        self
    }

    /// Gives each rollout an index of its own. An index holds one library's skills, so rollouts cannot share one.
    #[must_use]
    pub fn with_retriever(
        mut self,
        retriever: impl Fn() -> Result<Arc<dyn Retriever>> + Send + Sync + 'static,
    ) -> Self {
        self.retriever = Some(Arc::new(retriever));
        self
    }
}

/// A rollout of a group.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct GroupRollout {
    /// The id that all rollouts of one call share.
    pub group: RunId,
    /// Its number among the rollouts, from 0.
    pub number: u32,
    /// The report of its run, with a report for each task.
    pub report: RunReport,
    /// The library after it, with its changes.
    pub fork: Fork,
    /// The terms of the reward. With [`Rollouts::reviewed`] the quality is that of [`review`](Self::review). A host that judges
    /// the content of the skills itself sets [`CompositeTerms::quality`], and computes the reward again.
    pub terms: CompositeTerms,
    /// The reward by the weights of [`Rollouts::weights`]; `None` where no later task was judged.
    pub reward: Option<f64>,
    /// The reviews of the skills that its curator inserted or updated and that are still in the library in that version, neither
    /// disabled nor archived; empty where the curator left no such skill. `None` without [`Rollouts::reviewed`]. The tokens of the
    /// reviews are in here, and not in the report. Where there were skills and none could be judged, the report has a finding
    /// ([`FindingKind::NotReviewed`]).
    pub review: Option<ReviewReport>,
    /// What the roles wrote about its tasks, in order; empty without [`Rollouts::record`].
    pub generations: Vec<TaskGeneration>,
}

/// A generation of a role that was asked about a task.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct TaskGeneration {
    /// The task's place in the group, from 0.
    pub task: u32,
    /// The generation.
    pub generation: RoleGeneration,
}

/// Keeps what roles write, of a rollout's journal, and nothing else: the rest would be a copy of the library for each rollout.
#[derive(Debug, Default)]
struct RoleRecords(Mutex<Vec<TaskGeneration>>);

#[async_trait]
impl Journal for RoleRecords {
    async fn append(&self, entries: &[JournalEntry]) -> Result<()> {
        let answers = entries
            .iter()
            .filter(|entry| entry.event.get("answered").is_some());
        for entry in answers {
            let RunEntry::Answered { id, answer, .. } = RunEntry::from_entry(entry)? else {
                continue;
            };
            let generations = match *answer {
                Answer::Played(Ok(Some(played))) => played.generations,
                Answer::Played(Err(failed)) => failed.generations,
                _ => continue,
            };
            let task = u32::try_from(id.step).unwrap_or(u32::MAX);
            let of_task = generations
                .into_iter()
                .filter(|_| id.station == Station::Role);
            lock(&self.0).extend(of_task.map(|generation| TaskGeneration { task, generation }));
        }
        Ok(())
    }

    async fn read(&self, _run: &RunId) -> Result<Vec<JournalEntry>> {
        Ok(Vec::new())
    }

    async fn runs(&self) -> Result<Vec<RunId>> {
        Ok(Vec::new())
    }
}

/// What became of a fork that was merged.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MergeReport {
    /// The library's revision after it.
    pub revision: Revision,
    /// Number of changes that were committed.
    pub committed: usize,
    /// The changes that were left out, because the library changed since about the same skill.
    pub conflicts: Vec<Conflict>,
}

impl Journeyman {
    /// Runs a group of tasks in sequence, in several rollouts at once. Each rollout has its own fork of the library, its own seed and
    /// its own session; the library itself does not change. The library's skills are shared by all of them, so hundreds of
    /// rollouts need little memory. [`merge`](Self::merge) brings one back.
    ///
    /// Tasks run one after the other, whatever [`Recipe::batch`](crate::recipe::Recipe::batch) says. Rollouts write nothing to
    /// the session's journal, and send no events to this session. The result has the order of the rollouts; one that fails is its
    /// error. A rollout fails where none of its attempts could be made and judged.
    ///
    /// A group of one task has no reward, since it has no later task: a finding of this session and of each rollout's report says
    /// so, and with the session's findings the journal of its next run.
    ///
    /// ```
    /// use std::{num::NonZeroU32, sync::Arc};
    ///
    /// use journeyman::{
    ///     Seed,
    ///     agent::EnvironmentJudge,
    ///     contract::Components,
    ///     domain::{Action, Role},
    ///     papers::skillos::Rollouts,
    ///     recipe,
    ///     run::{Journeyman, Options},
    ///     testing::{
    ///         Play, ScriptedEnvironment, ScriptedExecutor, ScriptedModel, ScriptedRetriever,
    ///         ScriptedRoles, sample,
    ///     },
    /// };
    ///
    /// # futures::executor::block_on(async {
    /// // The agent says what its task asks for; the curator inserts a skill whenever it is asked.
    /// let agent = ScriptedExecutor::acting(|attempt, steps| {
    ///     let due = attempt.task.payload.get(steps.len()).and_then(|word| word.as_str());
    ///     Play::Give(due.map(|word| Action::Message(word.to_owned())))
    /// });
    /// let insert = r#"{"tool": "insert_skill", "arguments": {"name": "hi", "description": "Say hi.", "body": "Say it."}}"#;
    /// let world = Arc::new(ScriptedEnvironment::words());
    /// let components = Components::new(Arc::new(agent), world, Arc::new(EnvironmentJudge))
    ///     .with_model(Arc::new(ScriptedModel::always(insert)))
    ///     .with_roles(Arc::new(ScriptedRoles::only([Role::Curate])));
    /// let journeyman = Journeyman::open(components, recipe::skillos(), Options::new("group", Seed(7))).await?;
    ///
    /// let group = vec![sample::task("one", &["hi"]), sample::task("two", &["hi"])];
    /// let rollouts = Rollouts::new(NonZeroU32::new(3).expect("not 0"))
    ///     .with_retriever(|| Ok(Arc::new(ScriptedRetriever::new())));
    /// let rollouts = journeyman.roll_out(group, &rollouts).await?;
    /// assert_eq!(rollouts.len(), 3);
    /// for rollout in rollouts {
    ///     let rollout = rollout?;
    ///     // The second task was done, and one of two inserts was valid: the name was taken.
    ///     assert_eq!((rollout.terms.success, rollout.terms.validity), (Some(1.0), Some(0.5)));
    ///     assert_eq!(rollout.reward, Some(1.0 + 1.0 * 0.5));
    ///     assert_eq!(rollout.fork.library().entries().count(), 1);
    /// }
    /// assert_eq!(journeyman.library().await?.entries().count(), 0);
    /// # Ok::<_, journeyman::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// `Invalid` for a group without tasks, and where the host gave a retriever and the recipe searches, but
    /// [`Rollouts::with_retriever`] gives none; `Unsupported` for several rollouts in an environment that cannot set up a task
    /// again, and for [`Rollouts::reviewed`] where no model plays the role `review`; the store's error.
    pub async fn roll_out(
        &self,
        group: Vec<Task>,
        rollouts: &Rollouts,
    ) -> Result<Vec<Result<GroupRollout>>> {
        let session = &self.session;
        if group.len() == 1 {
            session.performer.observed.note(group_of_one());
        }
        if group.is_empty() {
            let error = Error::invalid("Journeyman::roll_out", "the group has no tasks");
            return Err(error.hint("hand over at least one task"));
        }
        if rollouts.count.get() > 1 {
            session.performer.attempts_again("Journeyman::roll_out")?;
        }
        if rollouts.review {
            self.reviews("Journeyman::roll_out")?;
        }
        let searches = matches!(session.recipe.select.candidates, Candidates::Search { .. });
        if searches && session.components.retriever.is_some() && rollouts.retriever.is_none() {
            let message = "the rollouts cannot share the session's index";
            return Err(Error::invalid("Journeyman::roll_out", message)
                .hint("give `Rollouts::with_retriever`, or choose `Candidates::Cache`"));
        }
        let store = session.performer.store()?;
        let base = ForkStore::new(store.load().await?)?.with_scores_of(Arc::clone(store));
        let run = session.next_run("rollouts");
        let (base, run, group) = (&base, &run, &group);
        let each = (0..rollouts.count.get()).map(|number| async move {
            self.one(base, (run, number), group.clone(), rollouts).await
        });
        let each = stream::iter(each).buffered(rollouts.at_once.get());
        Ok(each.collect().await)
    }

    async fn one(
        &self,
        base: &ForkStore,
        (run, number): (&RunId, u32),
        group: Vec<Task>,
        rollouts: &Rollouts,
    ) -> Result<GroupRollout> {
        let session = &self.session;
        let store = Arc::new(base.another());
        let retriever = rollouts.retriever.as_ref().map(|new| new()).transpose()?;
        let records = rollouts.record.then(|| Arc::new(RoleRecords::default()));
        let components = Components {
            store: Some(Arc::clone(&store) as Arc<dyn SkillStore>),
            journal: records.clone().map(|one| one as Arc<dyn Journal>),
            retriever,
            ..(*session.components).clone()
        };
        let mut recipe = session.recipe.clone();
        recipe.batch = NonZeroU64::MIN;
        let options = Options {
            session: format!("{run}/{number}"),
            read_only: false,
            record_roles: rollouts.record,
            ..session.options.clone()
        };
        let library = base.base().clone();
        let rollout = Self::on(library, components, (recipe, options), BTreeMap::new())?;
        if group.len() == 1 {
            rollout.session.performer.observed.note(group_of_one());
        }
        let mut report = rollout.learn(group).await?;
        let fork = store.fork()?;
        let tokenizer = session.components.tokenizer.as_deref();
        let tokens = tokenizer.map(|tokenizer| repository_tokens(fork.library(), tokenizer));
        let mut terms = CompositeTerms::of(&report, tokens.transpose()?);
        let review = match rollouts.review {
            true => Some(rollout.review_curated(&mut report, fork.library()).await?),
            false => None,
        };
        terms.quality = review.as_ref().and_then(ReviewReport::quality);
        let generations = records.map(|records| std::mem::take(&mut *lock(&records.0)));
        Ok(GroupRollout {
            group: run.clone(),
            number,
            reward: rollouts.weights.reward(&terms)?,
            report,
            fork,
            terms,
            review,
            generations: generations.unwrap_or_default(),
        })
    }

    /// Commits the changes of a rollout's fork to the library, as one commit in the name of the rollout's run: retiring that run
    /// takes all of it back. Changes about a skill that was changed since the rollouts began are left out
    /// ([`Fork::rebase`]). A skill whose name is taken by now gets another.
    ///
    /// # Errors
    /// `Unsupported` for a read-only library; `Conflict` where the same rollout was merged before; the store's error.
    pub async fn merge(&self, rollout: &GroupRollout, reason: &str) -> Result<MergeReport> {
        self.writable("Journeyman::merge")?;
        let library = self.library().await?;
        let rebased = rollout.fork.rebase(&library);
        let committed = rebased.changes.len();
        let revision = match committed {
            0 => library.revision(),
            _ => {
                let run = rollout.report.run.clone();
                self.commit_changes(run, rebased.changes, reason).await?
            }
        };
        Ok(MergeReport {
            revision,
            committed,
            conflicts: rebased.conflicts,
        })
    }
}

fn group_of_one() -> Finding {
    Finding::new(
        FindingKind::GroupOfOne,
        "the rollouts of a group have no reward",
        "the reward is the success of a group's later tasks, and the group has one task",
        "group more tasks together, by `Grouping` or by hand",
    )
}
