//! Runs that were stopped in the middle, and sessions that start again.

use journeyman::run::{AttemptHandle, Effect};

use super::*;

/// Stops a run after each number of journal entries, resumes it by a new runtime with an empty index, and compares the library
/// and the report with those of a run that nothing stopped.
pub(super) fn check(parts: fn() -> Components, recipe: &Recipe, n: usize) {
    let run = RunId::new("test/learn-0");
    let (whole, report, entries) = block_on(async {
        let components = parts();
        let journal = components.journal.clone().expect("a journal");
        let journeyman = open_as("test", &components, recipe.clone()).await;
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
                let mut components = parts();
                let kept = components.journal.clone().expect("a journal");
                let cut = CutJournal::after(k, Arc::clone(&kept), hangs);
                components.journal = Some(Arc::clone(&cut) as _);
                let journeyman = open_as("test", &components, recipe.clone()).await;
                let stopped = until(journeyman.learn(tasks(n)), || {
                    cut.cut.load(Ordering::SeqCst)
                })
                .await;
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
                    components.retriever = Some(Arc::new(ScriptedRetriever::new()));
                    components.journal = Some(match again {
                        Some(more) => CutJournal::after(more, Arc::clone(&kept), hangs) as _,
                        None => Arc::clone(&kept),
                    });
                    let journeyman = open_as("test", &components, recipe.clone()).await;
                    let dropped = || hangs && again.is_some();
                    let resumed = until(journeyman.resume(&run), dropped).await;
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
    check(components, &recipe(), 4);
}

#[test]
fn a_run_of_two_models_that_was_stopped_anywhere_ends_as_if_it_had_not_been() {
    check(models::of_two_models, &recipe(), 4);
}

#[test]
fn a_run_of_arise_that_was_stopped_anywhere_ends_as_if_it_had_not_been() {
    let mut arise = recipe::arise();
    arise.batch = n64(2);
    arise.attempts.warm_up = 0;
    arise.attempts.group = n32(2);
    arise.maintenance.every("gains", n64(4));
    check(components, &arise, 5);
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
        let mut components = components();
        if !with_journal {
            components.journal = None;
        }
        block_on(async {
            let first = open_as("same", &components, recipe()).await;
            first.learn(tasks(2)).await.expect("it learns");
            first.evaluate(tasks(2)).await.expect("it evaluates");
            attempt(&first, alike(1).remove(0), CLEAN).await;
            let added = first.add(vec![sample::skill("first")], "a start").await;
            added.expect("it adds");
            drop(first);
            let second = open_as("same", &components, recipe()).await;
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
            let other = open_as("sam", &components, recipe()).await;
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
pub(super) async fn stopped() -> Components {
    let components = components();
    let first = open_as("same", &components, recipe()).await;
    first.learn(tasks(2)).await.expect("it learns");
    let journal = components.journal.clone().expect("a journal");
    let mut cut = components.clone();
    cut.journal = Some(CutJournal::after(12, journal, false));
    let second = open_as("same", &cut, recipe()).await;
    second.learn(tasks(3)).await.expect_err("it is stopped");
    components
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
        let components = stopped().await;
        let run = RunId::new("same/learn-1");
        let journeyman = open_as("same", &components, recipe()).await;
        let found = unfinished(&journeyman);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].about.as_deref(), Some(run.as_str()));
        assert!(found[0].to_string().contains(run.as_str()), "{}", found[0]);
        let listed = journeyman.unfinished_runs().await.expect("a journal");
        assert_eq!(listed, std::slice::from_ref(&run));
        journeyman.resume(&run).await.expect("it resumes");
        let listed = journeyman.unfinished_runs().await.expect("a journal");
        assert_eq!(listed, []);
        let later = open_as("same", &components, recipe()).await;
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
    let mut components = components();
    components.journal = None;
    block_on(async {
        let journeyman = open_as("same", &components, recipe()).await;
        let error = journeyman.unfinished_runs().await.expect_err("no journal");
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.hint_text().is_some());
    });
}

/// An entry that no version of a run writes.
async fn damage(journal: &dyn Journal, run: &str) {
    let entry = JournalEntry::new(RunId::new(run), 0, json!("nothing of ours"));
    journal.append(&[entry]).await.expect("it is kept");
}

/// Parts with runs of every kind: finished, stopped, begun by the host and not finished, and damaged.
async fn of_every_kind() -> (Components, AttemptHandle) {
    let parts = stopped().await;
    let journal = parts.journal.clone().expect("a journal");
    let same = open_as("same", &parts, recipe()).await;
    attempt(&same, alike(1).remove(0), CLEAN).await;
    same.evaluate(tasks(1)).await.expect("it evaluates");
    let begun = same.begin(alike(1).remove(0)).await.expect("it begins");
    drop(same.begin(alike(1).remove(0)).await.expect("it begins"));

    let mut cut = parts.clone();
    cut.journal = Some(CutJournal::after(6, Arc::clone(&journal), false));
    let evaluates = open_as("evaluates", &cut, recipe()).await;
    evaluates.evaluate(tasks(3)).await.expect_err("it is cut");
    // The attempt is in, and what follows is not.
    let whole = components();
    let own = open_as("own", &whole, recipe()).await;
    attempt(&own, alike(1).remove(0), CLEAN).await;
    let entries = whole.journal.as_ref().expect("a journal");
    let run = RunId::new("own/begin-0");
    let entries = entries.read(&run).await.expect("entries").len();
    cut.journal = Some(CutJournal::after(entries - 1, Arc::clone(&journal), false));
    let own = open_as("own", &cut, recipe()).await;
    let handle = own.begin(alike(1).remove(0)).await.expect("it begins");
    let finished = handle.finish(Outcome::success()).await;
    finished.expect_err("it is cut");
    damage(&*journal, "damaged/learn-0").await;
    (parts, begun)
}

#[test]
fn runs_that_can_be_gone_on_with_are_listed_and_no_others() {
    block_on(async {
        let (parts, begun) = of_every_kind().await;
        let journeyman = open_as("same", &parts, recipe()).await;
        let listed = async || {
            let runs = journeyman.unfinished_runs().await.expect("a journal");
            runs.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let mut left = vec!["evaluates/evaluate-0", "own/begin-0", "same/learn-1"];
        while let Some(run) = left.first() {
            assert_eq!(listed().await, left);
            assert_eq!(unfinished(&journeyman).len(), 1, "before {run}");
            let resumed = journeyman.resume(&RunId::new(*run)).await;
            resumed.unwrap_or_else(|error| panic!("{run}: {error}"));
            left.remove(0);
        }
        assert_eq!(listed().await, left);
        assert_eq!(unfinished(&journeyman), []);
        for run in ["same/begin-1", "same/begin-2"] {
            let error = journeyman.resume(&RunId::new(run)).await;
            let error = error.expect_err("only the host can make the attempt");
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{run}");
        }
        drop(begun);
    });
}

/// Makes a group of attempts of the host's own with an outcome that no judge would give; the report where all could be kept.
async fn own_attempts(journeyman: &Journeyman, n: usize) -> journeyman::Result<TaskReport> {
    let task = alike(1).remove(0);
    let group = NonZeroUsize::new(n).expect("some");
    let handles = journeyman.begin_group(task.clone(), group).await?;
    let mut report = None;
    for (number, mut handle) in handles.into_iter().enumerate() {
        for step in sample::trajectory("x", &task, &["one", "two"], true).steps {
            handle.record(step);
        }
        let outcome = Outcome::scored(number == 0, 0.75).with_part("speed", 0.5);
        report = handle.finish(outcome).await?;
    }
    Ok(report.expect("the last was finished"))
}

/// Cuts the journal of a host's own attempts after each number of entries, and resumes in another process.
fn check_own(parts: fn() -> Components, n: usize) {
    let run = RunId::new("test/begin-0");
    let (whole, report, entries) = block_on(async {
        let parts = parts();
        let journeyman = open_as("test", &parts, recipe()).await;
        let report = own_attempts(&journeyman, n).await.expect("it finishes");
        let library = journeyman.library().await.expect("a library");
        let journal = parts.journal.expect("a journal");
        let entries = journal.read(&run).await.expect("entries").len();
        (bytes(&library), report, entries)
    });
    assert_eq!(admitted(&report), 1);
    let mut between = 0;
    for k in 0..entries {
        let place = format!("{n} attempts, {k} of {entries} entries");
        block_on(async {
            let mut parts = parts();
            let kept = parts.journal.clone().expect("a journal");
            parts.journal = Some(CutJournal::after(k, Arc::clone(&kept), false));
            let journeyman = open_as("test", &parts, recipe()).await;
            own_attempts(&journeyman, n).await.expect_err(&place);
            drop(journeyman);
            parts.journal = Some(Arc::clone(&kept));
            parts.retriever = Some(Arc::new(ScriptedRetriever::new()));
            let entries = kept.read(&run).await.expect("entries");
            let effects = replay(&entries, &journeyman::policy::Policies::new())
                .map(|machine| machine.effects());
            let effects = effects.unwrap_or_default();
            let is_open =
                |which: fn(&Effect) -> bool| effects.iter().any(|(_, effect)| which(effect));
            let journeyman = open_as("test", &parts, recipe()).await;
            let resumed = journeyman.resume(&run).await;
            if k == 0 || is_open(|effect| matches!(effect, Effect::Attempt(_))) {
                let expect = if k == 0 {
                    ErrorKind::NotFound
                } else {
                    ErrorKind::Unsupported
                };
                assert_eq!(resumed.expect_err(&place).kind(), expect, "{place}");
                return;
            }
            between += usize::from(is_open(|effect| matches!(effect, Effect::Judge { .. })));
            let resumed = resumed.unwrap_or_else(|error| panic!("{place}: {error}"));
            assert_eq!(resumed.tasks, std::slice::from_ref(&report), "{place}");
            let library = journeyman.library().await.expect("a library");
            assert_eq!(bytes(&library), whole, "{place}");
            let again = replay(
                &kept.read(&run).await.expect("entries"),
                &journeyman::policy::Policies::new(),
            );
            let again = again.expect("it replays");
            assert!(again.is_finished(), "{place}");
            assert_eq!(bytes(again.library()), whole, "{place}");
        });
    }
    assert_eq!(between, 1, "once the last verdict alone was lost");
}

#[test]
fn an_attempt_whose_verdict_the_journal_lost_has_the_hosts_outcome() {
    for n in [1, 2] {
        check_own(own_loop, n);
        check_own(
            || {
                let nobody = ScriptedJudge::by(|_, _| -> Play<Verdict> { panic!("nobody asks") });
                own_loop().with_judge(Arc::new(nobody))
            },
            n,
        );
    }
}
