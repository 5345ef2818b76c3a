//! Sessions that only read, by their options or by their store.

use journeyman::agent::FrozenStore;

use super::{resuming::stopped, *};

/// A session that only reads the library of these parts, by its options or over a frozen copy, and the store that counts the
/// commits it tries.
async fn reading(
    session: &str,
    parts: &Components,
    frozen: bool,
) -> (Journeyman, Arc<FaultyStore>) {
    let store = parts.store.clone().expect("a store");
    let inner: Arc<dyn SkillStore> = match frozen {
        true => Arc::new(FrozenStore::new(store.load().await.expect("it loads"))),
        false => store,
    };
    let counted = Arc::new(FaultyStore::new(inner, []));
    let options = Options::new(session, Seed(7));
    let options = if frozen { options } else { options.read_only() };
    let parts = parts.clone().with_store(Arc::clone(&counted) as _);
    let opened = Journeyman::open(parts, recipe(), options).await;
    (opened.expect("it opens"), counted)
}

fn is_read_only(journeyman: &Journeyman) -> bool {
    let mut findings = journeyman.findings().into_iter();
    findings.any(|finding| finding.kind == FindingKind::ReadOnly)
}

fn check_refused(error: &Error, operation: &str) {
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert_eq!(error.operation(), operation, "{error}");
    assert!(error.hint_text().is_some(), "{error}");
}

#[test]
fn a_learning_run_is_not_gone_on_with_by_a_session_that_only_reads() {
    let check = |frozen: bool| {
        block_on(async {
            let agent = Arc::new(agent());
            let mut parts = stopped().await;
            parts.executor = Some(Arc::clone(&agent) as _);
            let journal = parts.journal.clone().expect("a journal");
            let store = parts.store.clone().expect("a store");
            let (done, open) = (RunId::new("same/learn-0"), RunId::new("same/learn-1"));
            let entries = journal.read(&open).await.expect("entries").len();
            let before = store.load().await.expect("it loads");

            let (journeyman, counted) = reading("same", &parts, frozen).await;
            let refused = journeyman.resume(&open).await.expect_err("read-only");
            check_refused(&refused, "Journeyman::resume");
            let report = journeyman.resume(&done).await.expect("it is finished");
            assert_eq!((counted.commits(), agent.calls()), (0, 0));
            assert_eq!(store.load().await.expect("it loads"), before);
            let after = journal.read(&open).await.expect("entries").len();
            assert_eq!(after, entries, "nothing is written down either");

            let writing = open_as("same", &parts, recipe()).await;
            let told = writing.resume(&done).await.expect("it is finished");
            assert_eq!((report.tasks.len(), &report.tasks), (2, &told.tasks));
            let report = writing.resume(&open).await.expect("it goes on");
            assert_eq!(report.tasks.len(), 3);
        });
    };
    check(false);
    check(true);
}

/// Attempts of every kind in a session that only reads: done, dropped, in groups, and an evaluation.
async fn read_much(journeyman: &Journeyman) {
    let task = || alike(1).remove(0);
    let two = NonZeroUsize::new(2).expect("two");
    for _ in 0..3 {
        drop(journeyman.begin(task()).await.expect("it begins"));
        attempt(journeyman, task(), REFUSED).await;
        let mut pair = journeyman
            .begin_group(task(), two)
            .await
            .expect("it begins");
        drop(pair.pop());
        let finished = pair.pop().expect("two").finish(Outcome::success()).await;
        assert!(finished.expect("it finishes").is_some(), "each by itself");
    }
    journeyman.evaluate(tasks(2)).await.expect("it evaluates");
}

/// A learning session's library, and the ids of its runs.
async fn learnt(parts: &Components) -> (String, Vec<RunId>) {
    let journeyman = open_as("same", parts, recipe()).await;
    journeyman.learn(tasks(2)).await.expect("it learns");
    journeyman.evaluate(tasks(2)).await.expect("it evaluates");
    attempt(&journeyman, alike(1).remove(0), CLEAN).await;
    let library = journeyman.library().await.expect("a library");
    let journal = parts.journal.as_ref().expect("a journal");
    (bytes(&library), journal.runs().await.expect("runs"))
}

#[test]
fn a_session_that_only_reads_keeps_nothing_and_takes_no_id_from_one_that_learns() {
    let check = |frozen: bool| {
        block_on(async {
            let parts = components();
            let journal = parts.journal.clone().expect("a journal");
            let (journeyman, counted) = reading("same", &parts, frozen).await;
            read_much(&journeyman).await;
            assert_eq!(journal.runs().await.expect("runs"), []);
            assert_eq!(counted.commits(), 0, "no commit is tried");
            let alone = learnt(&components()).await;
            let ids: Vec<&str> = alone.1.iter().map(RunId::as_str).collect();
            assert_eq!(ids, ["same/begin-0", "same/evaluate-0", "same/learn-0"]);
            assert_eq!(learnt(&parts).await, alone);
            // Nor does it write down what comes now.
            read_much(&journeyman).await;
            assert_eq!(journal.runs().await.expect("runs"), alone.1);
        });
    };
    check(false);
    check(true);
}

#[test]
fn what_is_dropped_in_a_session_that_only_reads_is_through_with_the_next_begin() {
    let check = |frozen: bool| {
        block_on(async {
            // A journal on a disk that nothing can be written to.
            let journal = CutJournal::after(0, Arc::new(MemoryJournal::new()), false);
            let parts = components().with_journal(Arc::clone(&journal) as _);
            let (journeyman, counted) = reading("same", &parts, frozen).await;
            let two = NonZeroUsize::new(2).expect("two");
            let begin = async || {
                let pair = journeyman.begin_group(alike(1).remove(0), two).await;
                pair.expect("it begins")
            };
            for _ in 0..5 {
                // One that was done, which would be learned from, and one that was dropped.
                let done = begin().await.remove(0).finish(Outcome::success()).await;
                assert_eq!(done.expect("it finishes").expect("by itself").written, []);
            }
            let last = begin().await;
            assert_eq!(journeyman.settle().await.expect("none waits"), []);
            drop(last);
            let settled = journeyman.settle().await.expect("it settles");
            assert_eq!(settled.len(), 2);
            for report in settled {
                let error = report.attempts[0].error.as_ref().expect("an error");
                assert_eq!(error.kind(), ErrorKind::Cancelled);
            }
            assert_eq!(journeyman.settle().await.expect("none waits"), []);
            assert_eq!(counted.commits(), 0, "no commit is tried");
            assert!(!journal.cut.load(Ordering::SeqCst), "nothing is written");
        });
    };
    check(false);
    check(true);
}

#[test]
fn a_store_around_a_frozen_one_is_read_only_too() {
    block_on(async {
        let parts = components();
        let (journeyman, counted) = reading("test", &parts, true).await;
        assert!(counted.is_read_only());
        assert!(is_read_only(&journeyman));
        let refused = journeyman.learn(tasks(1)).await.expect_err("read-only");
        check_refused(&refused, "Journeyman::learn");
        let twice = Arc::new(FaultyStore::new(counted.clone() as _, []));
        let around = parts.clone().with_store(twice as _);
        assert!(is_read_only(&open_as("test", &around, recipe()).await));
        assert_eq!(counted.commits(), 0);

        let store = parts.store.clone().expect("a store");
        let around = parts.with_store(Arc::new(FaultyStore::new(store, [])) as _);
        assert!(!is_read_only(&open_as("test", &around, recipe()).await));
    });
}
