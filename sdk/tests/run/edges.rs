//! What goes wrong at the edges: cancelled hosts, failing journals, other writers, people's decisions.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use futures::future::{Either, select};
use journeyman::testing::Edited as _;
use journeyman::{
    SkillId, Version,
    contract::{
        Executor, GenerateRequest, Generation, Journal, JournalEntry, Judge, JudgeRequest,
        LanguageModel, ModelCapabilities, SkillStoreExt, Tokenizer,
    },
    domain::{Candidate, LibraryChange, Origin, Skill, State, Tier, Trajectory, Trust, Verdict},
    testing::WordTokenizer,
};

use super::*;

/// A journal whose n-th append fails, before or after keeping the entries.
#[derive(Debug)]
struct FaultyJournal {
    inner: MemoryJournal,
    appends: AtomicUsize,
    fails: usize,
    keeps: bool,
}

#[async_trait]
impl Journal for FaultyJournal {
    async fn append(&self, entries: &[JournalEntry]) -> journeyman::Result<()> {
        let fails = self.appends.fetch_add(1, Ordering::SeqCst) == self.fails;
        if !fails || self.keeps {
            self.inner.append(entries).await?;
        }
        match fails {
            true => Err(Error::new(
                ErrorKind::Unavailable,
                "scripted",
                "the disk is full",
            )),
            false => Ok(()),
        }
    }

    async fn read(&self, run: &RunId) -> journeyman::Result<Vec<JournalEntry>> {
        self.inner.read(run).await
    }

    async fn runs(&self) -> journeyman::Result<Vec<RunId>> {
        self.inner.runs().await
    }
}

#[test]
fn a_journal_that_fails_anywhere_costs_nothing() {
    let whole = bytes(&learn(components(), 3).1);
    for keeps in [false, true] {
        for fails in 0..40 {
            let journal = Arc::new(FaultyJournal {
                inner: MemoryJournal::new(),
                appends: AtomicUsize::new(0),
                fails,
                keeps,
            });
            let mut components = components();
            components.journal = Some(journal.clone());
            let library = block_on(async {
                let journeyman = open(components).await;
                let run = RunId::new("test/learn-0");
                if journeyman.learn(tasks(3)).await.is_err()
                    && journeyman.resume(&run).await.is_err()
                {
                    // Not even the beginning was kept: the run has not begun.
                    assert!(fails == 0 && !keeps);
                    return None;
                }
                let entries = journal.read(&run).await.expect("entries");
                let replayed =
                    replay(&entries, &journeyman::policy::Policies::new()).expect("a replay");
                let library = journeyman.library().await.expect("a library");
                assert_eq!(bytes(replayed.library()), bytes(&library));
                Some(library)
            });
            if let Some(library) = library {
                assert_eq!(bytes(&library), whole, "append {fails}, kept {keeps}");
            }
        }
    }
}

/// Parts that take a moment: each call suspends once before it is answered.
#[derive(Debug)]
struct Unhurried<T: ?Sized>(Arc<T>);

/// Suspends the caller once.
async fn suspended() {
    let mut is_ready = false;
    futures::future::poll_fn(|context| {
        if std::mem::replace(&mut is_ready, true) {
            return std::task::Poll::Ready(());
        }
        context.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await
}

#[async_trait]
impl Executor for Unhurried<dyn Executor> {
    async fn execute(
        &self,
        attempt: Attempt<'_>,
        episode: &mut dyn Episode,
    ) -> journeyman::Result<Trajectory> {
        suspended().await;
        self.0.execute(attempt, episode).await
    }
}

#[async_trait]
impl Judge for Unhurried<dyn Judge> {
    async fn judge(&self, request: &JudgeRequest<'_>) -> journeyman::Result<Verdict> {
        suspended().await;
        self.0.judge(request).await
    }
}

#[async_trait]
impl LanguageModel for Unhurried<dyn LanguageModel> {
    fn capabilities(&self) -> &ModelCapabilities {
        self.0.capabilities()
    }

    async fn generate(&self, request: &GenerateRequest) -> journeyman::Result<Generation> {
        suspended().await;
        self.0.generate(request).await
    }
}

/// The number of writes to the journal that learning from so many tasks takes, with one attempt at each.
fn writes(mut components: Components, n: usize) -> usize {
    let mut recipe = recipe();
    recipe.attempts.group = n32(1);
    let journal = Arc::new(FaultyJournal {
        inner: MemoryJournal::new(),
        appends: AtomicUsize::new(0),
        fails: usize::MAX,
        keeps: true,
    });
    components.journal = Some(journal.clone());
    let report = block_on(async {
        let options = Options::new("writes", Seed(7));
        let journeyman = Journeyman::open(components, recipe, options).await?;
        journeyman.learn(tasks(n)).await
    });
    assert_eq!(report.expect("it learns").tasks.len(), n);
    journal.appends.load(Ordering::SeqCst)
}

#[test]
fn what_is_known_at_one_moment_is_one_write() {
    // No part makes the driver wait: an episode is one write, before its commit.
    assert_eq!(writes(components(), 6) - writes(components(), 2), 4);
}

#[test]
fn an_episode_whose_parts_take_time_is_at_most_three_writes() {
    let unhurried = || {
        let mut all = components();
        let executor = all.executor.take();
        all.executor = executor.map(|inner| Arc::new(Unhurried(inner)) as Arc<dyn Executor>);
        let judge = all.judge.take();
        all.judge = judge.map(|inner| Arc::new(Unhurried(inner)) as Arc<dyn Judge>);
        let model = all.model.take();
        all.model = model.map(|inner| Arc::new(Unhurried(inner)) as Arc<dyn LanguageModel>);
        all
    };
    let of_four = writes(unhurried(), 6) - writes(unhurried(), 2);
    // The attempt, the verdict, and the role's answer, where one is asked.
    assert!((4 * 2..=4 * 3).contains(&of_four), "{of_four}");
}

#[test]
fn a_host_whose_journal_fails_settles_later() {
    let journal = Arc::new(FaultyJournal {
        inner: MemoryJournal::new(),
        appends: AtomicUsize::new(0),
        fails: 2,
        keeps: true,
    });
    let mut components = components();
    components.journal = Some(journal);
    block_on(async {
        let journeyman = open(components).await;
        let handle = journeyman
            .begin(tasks(1).remove(0))
            .await
            .expect("it begins");
        let failed = handle.finish(Some(sample::outcome(true))).await;
        assert_eq!(
            failed.expect_err("the journal fails").kind(),
            ErrorKind::Unavailable
        );
        let reports = journeyman.settle().await.expect("it settles");
        assert_eq!(reports.len(), 1);
        assert_eq!(
            journeyman
                .library()
                .await
                .expect("a library")
                .tasks_learned(),
            1
        );
    });
}

#[test]
fn a_run_whose_attempts_are_the_hosts_is_not_made_by_another_agent() {
    let journal = Arc::new(MemoryJournal::new());
    let mut components = components();
    components.journal = Some(journal);
    block_on(async {
        let journeyman = open(components).await;
        let handle = journeyman
            .begin(tasks(1).remove(0))
            .await
            .expect("it begins");
        let resumed = journeyman.resume(&RunId::new("test/begin-0")).await;
        assert_eq!(resumed.expect_err("refused").kind(), ErrorKind::Unsupported);
        let report = handle
            .finish(Some(sample::outcome(true)))
            .await
            .expect("it finishes");
        assert!(report.is_some());
        let resumed = journeyman
            .resume(&RunId::new("test/begin-0"))
            .await
            .expect("it is whole");
        assert_eq!(resumed.tasks.len(), 1);
    });
}

#[test]
fn finishing_can_be_cancelled_and_settled_later() {
    let mut components = components();
    components.judge = Some(Arc::new(HangsOnce(AtomicUsize::new(0))));
    block_on(async {
        let journeyman = open(components).await;
        let handle = journeyman
            .begin(tasks(1).remove(0))
            .await
            .expect("it begins");
        {
            let finishing = std::pin::pin!(handle.finish(None));
            let cancelled = select(finishing, futures::future::ready(())).await;
            assert!(matches!(cancelled, Either::Right(_)), "the judge hangs");
        }
        let reports = journeyman.settle().await.expect("it settles");
        // No judge can tell without an outcome, and there was none.
        assert_eq!(reports[0].attempts[0].success, None);
    });
}

/// Hangs at the first verdict.
#[derive(Debug)]
struct HangsOnce(AtomicUsize);

#[async_trait]
impl journeyman::contract::Judge for HangsOnce {
    async fn judge(
        &self,
        request: &journeyman::contract::JudgeRequest<'_>,
    ) -> journeyman::Result<Verdict> {
        if self.0.fetch_add(1, Ordering::SeqCst) == 0 {
            futures::future::pending::<()>().await;
        }
        EnvironmentJudge.judge(request).await
    }
}

#[test]
fn evaluation_leaves_abandoned_groups_alone() {
    block_on(async {
        let journeyman = open(components()).await;
        let task = tasks(1).remove(0);
        let mut pair = journeyman
            .begin_group(task, NonZeroUsize::new(2).expect("two"))
            .await
            .expect("it begins");
        let last = pair.pop().expect("two");
        let first = pair.pop().expect("two");
        first
            .finish(Some(sample::outcome(true)))
            .await
            .expect("it finishes");
        drop(last);
        journeyman.evaluate(tasks(2)).await.expect("it evaluates");
        assert_eq!(
            journeyman.library().await.expect("a library").revision(),
            Revision(0)
        );
        assert_eq!(journeyman.settle().await.expect("it settles").len(), 1);
    });
}

#[test]
fn a_warm_up_counts_steps_of_a_batch_of_tasks() {
    let mut recipe = recipe();
    recipe.batch = n64(2);
    recipe.attempts.warm_up = 2;
    let report = block_on(async {
        let options = Options::new("steps", Seed(7));
        let journeyman = Journeyman::open(components(), recipe, options).await?;
        journeyman.learn(tasks(6)).await
    });
    let report = report.expect("it learns");
    let selections = report.tasks.iter().map(|task| &task.selections[0].decision);
    let warming = |decision: &Decision| *decision == Decision::Nothing(NothingReason::WarmUp);
    let warming: Vec<bool> = selections.map(warming).collect();
    assert_eq!(warming, [true, true, true, true, false, false]);
}

#[test]
fn a_host_leaves_the_warm_up() {
    let mut recipe = recipe();
    recipe.attempts.warm_up = 2;
    block_on(async {
        let journeyman = Journeyman::open(components(), recipe, Options::new("host", Seed(7)))
            .await
            .expect("it opens");
        let mut decisions = Vec::new();
        for task in tasks(5) {
            let handle = journeyman.begin(task).await.expect("it begins");
            let report = handle
                .finish(Some(sample::outcome(true)))
                .await
                .expect("it finishes");
            let report = report.expect("one attempt is a group");
            decisions.push(report.selections[0].decision.clone());
        }
        let warming = |decision: &Decision| *decision == Decision::Nothing(NothingReason::WarmUp);
        assert!(decisions[..2].iter().all(warming), "{decisions:?}");
        assert!(!decisions[2..].iter().any(warming), "{decisions:?}");
    });
}

/// Learns from tasks with a library that a host has put one skill in.
fn beside(known: Skill, untrusted: bool) -> SkillLibrary {
    let mut components = components();
    if untrusted {
        components.environment = Some(Arc::new(ScriptedEnvironment::words().beginning(
            |task, _| {
                let mut seen = sample::observation(&task.instruction);
                seen.source = sample::source(Trust::Untrusted);
                Play::Give(seen)
            },
        )));
    }
    block_on(async {
        let journeyman = open(components).await;
        journeyman
            .add(vec![known], "the host's")
            .await
            .expect("it adds");
        journeyman.learn(tasks(3)).await.expect("it learns");
        journeyman.library().await.expect("a library")
    })
}

#[test]
fn a_run_overrides_no_person_and_no_cleaner_skill() {
    let known = |origin, state| {
        sample::skill("say-one").with_state(state).with_provenance(
            sample::skill("say-one")
                .provenance
                .edited(|it| it.origin = origin),
        )
    };
    let id = SkillId::new("say-one");
    let version = |library: &SkillLibrary| library.get(&id).expect("it is there").skill.version;

    let library = beside(known(Origin::Summary, State::Active), false);
    assert!(
        version(&library) > Version(1),
        "a run may revise what a run wrote"
    );
    let library = beside(known(Origin::Human, State::Active), false);
    assert_eq!(version(&library), Version(1), "and not what a person wrote");
    let library = beside(known(Origin::Summary, State::Active), true);
    assert_eq!(
        version(&library),
        Version(1),
        "nor by untrusted words what is clean"
    );
    assert_eq!(library.get(&id).expect("it is there").tier, Tier::Cache);
    let library = beside(known(Origin::Summary, State::Disabled), false);
    assert_eq!(version(&library), Version(1));
    assert_eq!(
        library.get(&id).expect("it is there").skill.state,
        State::Disabled
    );
}

#[test]
fn numbers_that_are_none_are_refused_and_the_run_still_replays() {
    let check = |change: &dyn Fn(&mut Components)| {
        let mut components = components();
        change(&mut components);
        let journal = components.journal.clone().expect("a journal");
        // Where all of it is nonsense, the run is an error, and it replays all the same.
        let library = block_on(async {
            let journeyman = open(components).await;
            let _ = journeyman.learn(tasks(3)).await;
            journeyman.library().await.expect("a library")
        });
        let entries = block_on(journal.read(&RunId::from("test/learn-0"))).expect("entries");
        assert_eq!(
            bytes(
                replay(&entries, &journeyman::policy::Policies::new())
                    .expect("a replay")
                    .library()
            ),
            bytes(&library)
        );
    };
    check(&|b| {
        b.scorer = Some(Arc::new(ScriptedScorer::that(Play::Give(
            f64::NEG_INFINITY,
        ))))
    });
    check(&|b| b.retriever = Some(Arc::new(Nonsense)));
}

/// Finds the first skill, with no number as its score; panics when it is refreshed.
#[derive(Debug)]
struct Nonsense;

#[async_trait]
impl journeyman::contract::Retriever for Nonsense {
    async fn watermark(&self) -> journeyman::Result<Revision> {
        Ok(Revision(0))
    }

    async fn refresh(&self, _: &journeyman::domain::IndexUpdate) -> journeyman::Result<()> {
        panic!("a scripted panic");
    }

    async fn search(
        &self,
        query: &journeyman::domain::Query,
    ) -> journeyman::Result<Vec<Candidate>> {
        let among = query.among.iter().flatten().next();
        Ok(among
            .map(|id| {
                Candidate::new(
                    journeyman::domain::SkillRef {
                        id: id.clone(),
                        version: Version(1),
                    },
                    f64::NAN,
                )
            })
            .into_iter()
            .collect())
    }
}

#[test]
fn the_index_takes_in_what_other_writers_committed() {
    let store: Arc<dyn SkillStore> = Arc::new(MemoryStore::new());
    let mut components = components();
    components.store = Some(Arc::clone(&store));
    block_on(async {
        let journeyman = open(components).await;
        let skill = sample::skill("elsewhere").with_body("To say one, say one and then two.");
        let other = sample::commit(0, "elsewhere", vec![LibraryChange::Add(Box::new(skill))]);
        store.commit_rebased(&other, 4).await.expect("it commits");
        let report = journeyman.evaluate(tasks(1)).await.expect("it evaluates");
        let found = &report.tasks[0].selections[0].candidates;
        assert!(
            found.iter().any(|c| c.skill.id.as_str() == "elsewhere"),
            "{found:?}"
        );
    });
}

/// A skill that does not fit into the prompt is left out whole, says so, and is neither given nor credited.
#[test]
fn what_does_not_fit_is_left_out_and_told() {
    let run = |tokens: Option<usize>, tokenizer: Option<Arc<dyn Tokenizer>>| {
        let mut components = components();
        components.tokenizer = tokenizer;
        let journal = components.journal.clone().expect("a journal");
        let mut recipe = recipe();
        recipe.select.skill_tokens = tokens.and_then(NonZeroUsize::new);
        block_on(async {
            let journeyman =
                Journeyman::open(components, recipe, Options::new("test", Seed(7))).await?;
            let report = journeyman.learn(tasks(6)).await?;
            let library = journeyman.library().await?;
            let entries = journal.read(&report.run).await?;
            let replayed = replay(&entries, &journeyman::policy::Policies::new())?;
            assert_eq!(bytes(replayed.library()), bytes(&library));
            let used = library.entries().any(|entry| entry.uses > 0);
            let text = serde_json::to_string(&entries).expect("JSON");
            Ok::<_, Error>((used, text.matches("\"left_out\"").count()))
        })
    };
    let words = || Some(Arc::new(WordTokenizer) as Arc<dyn Tokenizer>);
    assert_eq!(run(None, None).expect("no bound"), (true, 0));
    assert_eq!(run(Some(1_000), words()).expect("room"), (true, 0));
    let (used, left_out) = run(Some(3), words()).expect("no room");
    assert!(!used && left_out > 0, "{left_out}");
    let refused = run(Some(3), None).expect_err("nothing counts");
    assert_eq!(refused.kind(), ErrorKind::Invalid);
    assert!(
        refused.to_string().contains("Components::tokenizer"),
        "{refused}"
    );
}
