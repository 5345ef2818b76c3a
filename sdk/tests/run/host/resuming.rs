//! Runs that were stopped in the middle, and sessions that start again.

use std::{
    future::{Future, poll_fn},
    task::Poll,
};

use super::*;

/// Polls until the work is done or its journal is cut, and drops it then.
async fn until_cut<T>(work: impl Future<Output = T>, cut: &AtomicBool) -> Option<T> {
    let mut work = std::pin::pin!(work);
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending if cut.load(Ordering::SeqCst) => Poll::Ready(None),
        Poll::Pending => Poll::Pending,
    })
    .await
}

/// Stops a run after each number of journal entries, resumes it by a new runtime with an empty index, and compares the library
/// and the report with those of a run that nothing stopped.
fn check(parts: fn() -> Backends, recipe: &Recipe, n: usize) {
    let run = RunId::new("test/learn-0");
    let (whole, report, entries) = block_on(async {
        let backends = parts();
        let journal = backends.journal.clone().expect("a journal");
        let journeyman = open_as("test", &backends, recipe.clone()).await;
        let report = journeyman.learn(tasks(n)).await.expect("it learns");
        let library = journeyman.library().await.expect("a library");
        let entries = journal.read(&run).await.expect("entries").len();
        (bytes(&library), report, entries)
    });
    assert!(entries > 20, "there is much to be stopped in: {entries}");
    for hangs in [false, true] {
        for k in 0..entries {
            let place = format!("stopped after {k} of {entries} entries, dropped: {hangs}");
            block_on(async {
                let mut backends = parts();
                let kept = backends.journal.clone().expect("a journal");
                let cut = CutJournal::after(k, Arc::clone(&kept), hangs);
                backends.journal = Some(Arc::clone(&cut) as _);
                let journeyman = open_as("test", &backends, recipe.clone()).await;
                let stopped = until_cut(journeyman.learn(tasks(n)), &cut.cut).await;
                match stopped {
                    None => assert!(hangs, "{place}"),
                    Some(stopped) => {
                        let error = stopped.expect_err(&place);
                        assert_eq!(error.kind(), ErrorKind::Unavailable, "{place}");
                    }
                }
                drop(journeyman);
                // The index of the process that was stopped is gone, and so is the next's, which is stopped too.
                for again in [Some(5), None] {
                    backends.retriever = Some(Arc::new(ScriptedRetriever::new()));
                    backends.journal = Some(match again {
                        Some(more) => CutJournal::after(more, Arc::clone(&kept), hangs) as _,
                        None => Arc::clone(&kept),
                    });
                    let journeyman = open_as("test", &backends, recipe.clone()).await;
                    let cut = AtomicBool::new(hangs && again.is_some());
                    let resumed = until_cut(journeyman.resume(&run), &cut).await;
                    if again.is_some() {
                        continue;
                    }
                    let resumed = resumed.expect("nothing stops it");
                    if k == 0 {
                        let error = resumed.expect_err(&place);
                        assert_eq!(error.kind(), ErrorKind::NotFound, "{place}");
                        break;
                    }
                    let resumed = resumed.unwrap_or_else(|error| panic!("{place}: {error}"));
                    assert_eq!(resumed.tasks, report.tasks, "{place}");
                    let library = journeyman.library().await.expect("a library");
                    assert_eq!(bytes(&library), whole, "{place}");
                }
            });
        }
    }
}

#[test]
fn a_run_that_was_stopped_anywhere_ends_as_if_it_had_not_been() {
    check(backends, &recipe(), 4);
}

#[test]
fn a_run_of_arise_that_was_stopped_anywhere_ends_as_if_it_had_not_been() {
    let mut arise = recipe::arise();
    arise.warm_up = 0;
    arise.group = 2;
    arise.schedule.gain = Some(2);
    check(backends, &arise, 5);
}

#[test]
fn a_run_of_hisme_that_was_stopped_anywhere_ends_as_if_it_had_not_been() {
    check(
        || trial::parts("harmful: it was refused", true),
        &trial::hisme(),
        6,
    );
}

#[test]
fn a_later_start_goes_on_counting_every_kind_of_run() {
    let check = |with_journal: bool, expect: [&str; 4]| {
        let mut backends = backends();
        if !with_journal {
            backends.journal = None;
        }
        block_on(async {
            let first = open_as("same", &backends, recipe()).await;
            first.learn(tasks(2)).await.expect("it learns");
            first.evaluate(tasks(2)).await.expect("it evaluates");
            attempt(&first, alike(1).remove(0), CLEAN).await;
            let added = first.add(vec![sample::skill("first")], "a start").await;
            added.expect("it adds");
            drop(first);
            let second = open_as("same", &backends, recipe()).await;
            let events = second.events();
            let learnt = second.learn(tasks(2)).await.expect("it learns");
            let evaluated = second.evaluate(tasks(2)).await.expect("it evaluates");
            attempt(&second, alike(1).remove(0), CLEAN).await;
            let added = second.add(vec![sample::skill("second")], "more").await;
            added.expect("it adds");
            let begun = told(events).pop().expect("the attempt was told").run;
            let library = second.library().await.expect("a library");
            let skill = library.get(&"second".into()).expect("it was added");
            let added = skill.skill.provenance.runs[0].clone();
            let runs = [learnt.run, evaluated.run, begun, added];
            assert_eq!(runs.each_ref().map(RunId::as_str), expect);
            // A name that begins alike is another session's.
            let other = open_as("sam", &backends, recipe()).await;
            let learnt = other.learn(tasks(1)).await.expect("it learns");
            assert_eq!(learnt.run.as_str(), "sam/learn-0");
        });
    };
    check(
        true,
        [
            "same/learn-1",
            "same/evaluate-1",
            "same/begin-1",
            "same/add-1",
        ],
    );
    // An evaluation leaves nothing in the store, so nothing of it can be overwritten.
    check(
        false,
        [
            "same/learn-1",
            "same/evaluate-0",
            "same/begin-1",
            "same/add-1",
        ],
    );
}

/// Parts whose session `same` has a finished run and one that was stopped.
async fn stopped() -> Backends {
    let backends = backends();
    let first = open_as("same", &backends, recipe()).await;
    first.learn(tasks(2)).await.expect("it learns");
    let journal = backends.journal.clone().expect("a journal");
    let mut cut = backends.clone();
    cut.journal = Some(CutJournal::after(12, journal, false));
    let second = open_as("same", &cut, recipe()).await;
    second.learn(tasks(3)).await.expect_err("it is stopped");
    backends
}

fn unfinished(journeyman: &Journeyman) -> Vec<Finding> {
    let findings = journeyman.findings().into_iter();
    findings
        .filter(|finding| finding.kind == FindingKind::UnfinishedRun)
        .collect()
}

#[test]
fn a_run_that_was_stopped_is_found_and_listed_until_it_was_resumed() {
    block_on(async {
        let backends = stopped().await;
        let run = RunId::new("same/learn-1");
        let journeyman = open_as("same", &backends, recipe()).await;
        let found = unfinished(&journeyman);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].about.as_deref(), Some(run.as_str()));
        assert!(found[0].to_string().contains(run.as_str()), "{}", found[0]);
        let listed = journeyman.unfinished_runs().await.expect("a journal");
        assert_eq!(listed, std::slice::from_ref(&run));
        journeyman.resume(&run).await.expect("it resumes");
        let listed = journeyman.unfinished_runs().await.expect("a journal");
        assert_eq!(listed, []);
        let later = open_as("same", &backends, recipe()).await;
        assert_eq!(unfinished(&later), []);
        let next = later.learn(tasks(1)).await.expect("it learns");
        assert_eq!(next.run.as_str(), "same/learn-2");
    });
}

#[test]
fn a_run_that_was_resumed_is_not_said_to_be_unfinished_any_more() {
    block_on(async {
        let journeyman = open_as("same", &stopped().await, recipe()).await;
        let run = RunId::new("same/learn-1");
        let report = journeyman.resume(&run).await.expect("it resumes");
        assert_eq!(unfinished(&journeyman), []);
        let said = report.to_string();
        assert!(!said.contains("are not attempted"), "{said}");
    });
}

#[test]
fn without_a_journal_unfinished_runs_cannot_be_listed() {
    let mut backends = backends();
    backends.journal = None;
    block_on(async {
        let journeyman = open_as("same", &backends, recipe()).await;
        let error = journeyman.unfinished_runs().await.expect_err("no journal");
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.hint_text().is_some());
    });
}
