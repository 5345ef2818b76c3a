//! Frozen evaluation: a library on disk, opened to be read, used by many tasks at once, and the same each time.

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use futures::executor::block_on;
use journeyman::{Seed, domain::Task, recipe, run::report::TaskReport};
use journeyman_disk::{DiskOptions, DiskStore, LibraryReader};
use journeyman_tests::source::bundled_model;
use journeyman_toolworld::stream::{StreamTask, Universe, UniverseSpec};
use quickstart::{Parts, spoken};
use tempfile::tempdir;

fn tasks(tasks: &[StreamTask]) -> Vec<Task> {
    spoken::tasks(tasks, Seed(7)).expect("they are tasks")
}

fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(root)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path());
    let files = entries.filter(|path| path.is_file());
    files
        .map(|path| {
            (
                path.display().to_string(),
                fs::read(&path).expect("it is read"),
            )
        })
        .collect()
}

#[test]
fn many_tasks_evaluate_at_once_on_a_library_that_is_only_read() {
    let folder = tempdir().expect("a folder");
    let parts = Parts::deterministic(&bundled_model(), 8).expect("the bundled model");
    let universe = Universe::make(UniverseSpec::of(3, 1), 7).expect("a universe");
    let stream = universe.stream(8);
    let held_out = tasks(&universe.held_out(&stream, 12));
    let store = DiskStore::open(folder.path(), &DiskOptions::default()).expect("a library");
    block_on(async {
        let store = Arc::new(store);
        let learning = parts
            .open(recipe::standard(), "learn", Seed(7), store, None)
            .await;
        learning
            .expect("it opens")
            .learn(tasks(&stream))
            .await
            .expect("it learns");
    });
    let before = files(folder.path());
    let evaluate = |session: &str| -> Vec<TaskReport> {
        let mut reader = LibraryReader::open(folder.path()).expect("a reader");
        assert!(reader.library().cache().count() > 0, "nothing was learnt");
        let frozen = Arc::new(reader.frozen().expect("a store"));
        block_on(async {
            let reading = parts
                .open(recipe::standard(), session, Seed(7), frozen, None)
                .await;
            let reading = reading.expect("it opens");
            let refused = reading.learn(tasks(&stream)).await;
            assert_eq!(
                refused.map_err(|error| error.kind()),
                Err(journeyman::ErrorKind::Unsupported)
            );
            let report = reading
                .evaluate(held_out.clone())
                .await
                .expect("it evaluates");
            report.tasks
        })
    };
    // Eight at once, in one order or another; both runs at the same time as well.
    let (one, other) = std::thread::scope(|scope| {
        let other = scope.spawn(|| evaluate("test"));
        (evaluate("test"), other.join().expect("it comes to an end"))
    });
    assert_eq!(one.len(), 12);
    assert!(
        one.iter()
            .flat_map(|task| &task.attempts)
            .any(|attempt| !attempt.injected.is_empty())
    );
    let plain = |tasks: &[TaskReport]| {
        let attempts = tasks.iter().flat_map(|task| &task.attempts);
        let told = attempts.map(|attempt| {
            (
                attempt.injected.clone(),
                attempt.score,
                attempt.steps,
                attempt.usage,
            )
        });
        told.collect::<Vec<_>>()
    };
    assert_eq!(plain(&one), plain(&other));
    assert_eq!(files(folder.path()), before);
}
