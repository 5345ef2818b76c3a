//! Groups of attempts that wait to be settled: cancelled in the middle, or refused by a store or a journal.

use journeyman::testing::Edited as _;
use journeyman::{
    domain::CommitKey,
    run::{AttemptGroup, AttemptHandle, GroupStatus},
};

use super::{outcomes::by_hand, *};

/// Leaves so many groups ready, of which each has an attempt that was done and one that was abandoned.
async fn ready(journeyman: &Journeyman, n: usize) {
    let two = NonZeroUsize::new(2).expect("two");
    let mut groups = Vec::new();
    for task in tasks(n) {
        let group = journeyman.begin_group(task, two).await;
        groups.push(group.expect("it begins"));
    }
    for mut group in groups {
        let abandoned = group.pop().expect("two");
        let mut done = group.pop().expect("two");
        let words: Vec<String> =
            serde_json::from_value(done.task().payload.clone()).expect("words");
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        for step in sample::trajectory("x", done.task(), &words, true).steps {
            done.record(step);
        }
        let finished = done.finish(Outcome::success()).await.expect("it finishes");
        assert!(finished.is_none(), "one is still open");
        drop(abandoned);
    }
}

/// Ids of the tasks that have a `TaskFinished` event, sorted.
fn finished(events: &[Event]) -> Vec<String> {
    let tasks = events.iter().filter_map(|event| match &event.kind {
        EventKind::TaskFinished { report } => Some(report.task.to_string()),
        _ => None,
    });
    let mut tasks: Vec<String> = tasks.collect();
    tasks.sort();
    tasks
}

fn sorted(reports: &[TaskReport]) -> Vec<String> {
    let tasks = reports.iter().map(|report| report.task.to_string());
    let mut tasks: Vec<String> = tasks.collect();
    tasks.sort();
    tasks
}

/// Settles three groups over a store whose commits go wrong so; the work is dropped where it hangs. Gives what was told of
/// the second try, the library, and how often the model was asked.
fn check_dropped(faults: &[(usize, StoreFault)], by_begin: bool) -> (Vec<String>, String, usize) {
    let store = Arc::new(FaultyStore::new(
        Arc::new(MemoryStore::new()),
        faults.to_vec(),
    ));
    let model = Arc::new(writer_model());
    let mut parts = own_loop().with_store(Arc::clone(&store) as _);
    parts.model = Some(Arc::clone(&model) as _);
    block_on(async {
        let journeyman = open_as("test", &parts, recipe()).await;
        let events = journeyman.events();
        ready(&journeyman, 3).await;
        if let Some((place, _)) = faults.first() {
            let hangs = || store.commits() > *place;
            let dropped = match by_begin {
                true => until(journeyman.begin(alike(1).remove(0)), hangs)
                    .await
                    .is_none(),
                false => until(journeyman.settle(), hangs).await.is_none(),
            };
            assert!(dropped, "the store hangs");
        }
        let reports = journeyman.settle().await.expect("it settles");
        assert!(reports.iter().all(|report| admitted(report) == 1));
        let again = journeyman.settle().await.expect("none is left");
        assert_eq!(again, []);
        assert_eq!(finished(&told(events)), ["task-0", "task-1", "task-2"]);
        let library = journeyman.library().await.expect("a library");
        assert_eq!(
            (library.tasks_learned(), library.revision()),
            (3, Revision(3))
        );
        (sorted(&reports), bytes(&library), model.calls())
    })
}

#[test]
fn settling_that_is_dropped_in_the_middle_loses_and_doubles_nothing() {
    let (all, whole, asked) = check_dropped(&[], false);
    assert_eq!(all, ["task-0", "task-1", "task-2"]);
    for by_begin in [false, true] {
        for group in 0..3 {
            // All began on one revision: each but the first is tried once in vain.
            let faults = [(2 * group, StoreFault::Hangs)];
            let (left, library, calls) = check_dropped(&faults, by_begin);
            assert_eq!(left, all[group..], "those that were not through");
            assert_eq!(library, whole, "group {group}");
            assert_eq!(calls, asked, "what a role said is kept: {group}");
        }
    }
}

/// What became of one group, at the store's commits that go wrong so.
fn check_status(error: Option<Error>, by_finish: &str, by_settle: &str) {
    let run = RunId::new("test/begin-1");
    let store: Arc<Refusing> = match error {
        Some(error) => Arc::new(Refusing::new(Some(run), error)),
        None => {
            let store = Refusing::new(Some(run), Error::new(ErrorKind::Unavailable, "-", "-"));
            store.recovers();
            Arc::new(store)
        }
    };
    let parts = own_loop().with_store(store.clone() as _);
    block_on(async {
        let journeyman = open_as("test", &parts, recipe()).await;
        let mut attempts = Vec::new();
        for task in tasks(3) {
            attempts.push(journeyman.begin(task).await.expect("it begins"));
        }
        let groups: Vec<AttemptGroup> = attempts.iter().map(AttemptHandle::group).collect();
        let name = |group: &AttemptGroup| match group.status() {
            GroupStatus::Failed(error) => format!("Failed: {:?}", error.kind()),
            other => format!("{other:?}"),
        };
        let names = || groups.iter().map(name).collect::<Vec<_>>();
        assert_eq!(names(), ["Open", "Open", "Open"]);
        for attempt in attempts {
            let _ = attempt.finish(Outcome::success()).await;
        }
        assert_eq!(names(), ["Completed", by_finish, "Completed"]);
        store.recovers();
        let _ = journeyman.settle().await;
        assert_eq!(names(), ["Completed", by_settle, "Completed"]);
    });
}

#[test]
fn a_group_says_what_became_of_it() {
    let error = |kind| Some(Error::new(kind, "SkillStore::commit", "scripted"));
    check_status(None, "Completed", "Completed");
    check_status(error(ErrorKind::Unavailable), "Waiting", "Completed");
    let refused = "Failed: Invalid";
    check_status(error(ErrorKind::Invalid), refused, refused);
}

#[test]
fn a_group_is_open_until_its_last_attempt_and_then_waits_where_that_was_abandoned() {
    block_on(async {
        let journeyman = open_as("test", &own_loop(), recipe()).await;
        let two = NonZeroUsize::new(2).expect("two");
        let task = tasks(1).remove(0);
        let mut attempts = journeyman.begin_group(task, two).await.expect("it begins");
        let (last, first) = (attempts.remove(1), attempts.remove(0));
        let group = first.group();
        first.finish(Outcome::success()).await.expect("it finishes");
        assert!(matches!(group.status(), GroupStatus::Open));
        drop(last);
        assert!(matches!(group.status(), GroupStatus::Waiting));
        assert_eq!(journeyman.settle().await.expect("it settles").len(), 1);
        assert!(matches!(group.status(), GroupStatus::Completed));
    });
}

/// Three groups of which the store refuses the second with this error until it is well again.
fn check_refused(error: &Error, given_up: bool) {
    let run = RunId::new("test/begin-1");
    let store = Arc::new(Refusing::new(Some(run.clone()), error.clone()));
    let parts = own_loop().with_store(Arc::clone(&store) as _);
    block_on(async {
        let journeyman = open_as("test", &parts, recipe()).await;
        let events = journeyman.events();
        ready(&journeyman, 3).await;
        let failed = journeyman.settle().await.expect_err("one is refused");
        assert_eq!(failed.kind(), error.kind());
        assert_eq!(finished(&told(events)), ["task-0", "task-2"], "{error}");
        // It stays so while the store does.
        let again = journeyman.settle().await;
        match given_up {
            true => assert_eq!(again.expect("none is left"), []),
            false => assert_eq!(again.expect_err("it waits").kind(), error.kind()),
        }
        store.recovers();
        let reports = journeyman.settle().await.expect("the store is well");
        let left: &[&str] = if given_up { &[] } else { &["task-1"] };
        assert_eq!(sorted(&reports), left, "{error}");
        let open = journeyman.unfinished_runs().await.expect("a journal");
        if given_up {
            // Whoever wants it finds it in the journal.
            assert_eq!(open, std::slice::from_ref(&run));
            let report = journeyman.resume(&run).await.expect("it goes on");
            assert_eq!(sorted(&report.tasks), ["task-1"]);
        } else {
            assert_eq!(open, []);
        }
        let library = journeyman.library().await.expect("a library");
        assert_eq!((library.tasks_learned(), library.entries().count()), (3, 3));
    });
}

#[test]
fn a_group_stays_ready_where_its_error_can_pass_and_is_given_up_where_it_cannot() {
    use ErrorKind::*;
    let error = |kind| Error::new(kind, "SkillStore::commit", "scripted");
    for kind in [Unsupported, Invalid] {
        check_refused(&error(kind), true);
    }
    for kind in [Unsupported, Invalid, Unavailable, RateLimited, Timeout] {
        check_refused(&error(kind).temporary(), false);
    }
    // Overtaken each time: another time it may be first.
    check_refused(&error(Conflict), false);
    // A full disk may have room again, whoever forgot to say so.
    check_refused(&error(Unavailable), false);
}

/// Three groups of which somebody else has used the id of the second, as `taken` says; it cannot be settled any more.
fn check_taken(taken: impl AsyncFn(&Components, &RunId)) {
    let parts = own_loop();
    let run = RunId::new("test/begin-1");
    block_on(async {
        let journeyman = open_as("test", &parts, recipe()).await;
        let events = journeyman.events();
        ready(&journeyman, 3).await;
        taken(&parts, &run).await;
        let failed = journeyman.settle().await.expect_err("it is taken");
        assert_eq!(failed.kind(), ErrorKind::Conflict, "{failed}");
        assert_eq!(finished(&told(events)), ["task-0", "task-2"]);
        assert_eq!(journeyman.settle().await.expect("none is left"), []);
        let report = attempt(&journeyman, alike(1).remove(0), CLEAN).await;
        assert_eq!(report.attempts[0].success, Some(true), "others go on");
        let journal = parts.journal.clone().expect("a journal");
        assert!(!journal.read(&run).await.expect("entries").is_empty());
    });
}

#[test]
fn a_group_whose_id_somebody_else_used_is_given_up() {
    check_taken(async |parts, run| {
        let store = parts.store.clone().expect("a store");
        let key = CommitKey::new(format!("{run}/0"));
        let commit = by_hand(Revision(0), key.as_str(), vec![LibraryChange::Maintain]);
        store.commit(&commit).await.expect("it commits");
    });
    check_taken(async |parts, run| {
        let journal = parts.journal.clone().expect("a journal");
        let entries = journal.read(run).await.expect("entries");
        let entry = entries
            .last()
            .expect("it began")
            .clone()
            .edited(|it| it.sequence = entries.len() as u64);
        journal.append(&[entry]).await.expect("it is kept");
    });
}
