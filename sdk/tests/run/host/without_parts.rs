//! How far a run goes without each of a host's parts.

use super::{findings::complete, *};

/// Learns from tasks in both ways with a part missing, and gives what was written and what went wrong.
async fn without(take: fn(&mut Components)) -> (usize, Vec<String>) {
    let mut parts = complete();
    take(&mut parts);
    let journeyman = open_as("test", &parts, recipe()).await;
    let learned = journeyman.learn(tasks(2)).await;
    let mut errors: Vec<String> = learned.err().iter().map(ToString::to_string).collect();
    for task in alike(2) {
        let mut handle = journeyman.begin(task).await.expect("it begins");
        handle.record(Step::new(
            Action::call("look", json!({})),
            StepResult::new("seen", desk()),
        ));
        let finished = handle.finish(Outcome::success()).await;
        errors.extend(finished.err().iter().map(ToString::to_string));
    }
    let library = journeyman.library().await.expect("a library");
    (library.entries().count(), errors)
}

#[test]
fn a_run_goes_as_far_as_it_can_without_each_part() {
    let check = |take: fn(&mut Components), writes: bool, expect: &[&str]| {
        let (written, errors) = block_on(without(take));
        assert_eq!(written > 0, writes, "{errors:?}");
        assert_eq!(errors.len(), expect.len(), "{errors:?}");
        for (error, part) in errors.iter().zip(expect) {
            assert!(error.contains(part), "{error} does not say {part}");
        }
    };
    check(|b| b.executor = None, true, &["executor"]);
    check(|b| b.environment = None, true, &["environment"]);
    check(|b| b.judge = None, true, &["judge"]);
    check(|b| b.retriever = None, true, &[]);
    check(|b| b.scorer = None, true, &[]);
    check(|b| b.prompt_format = None, true, &[]);
    check(|b| b.model = None, false, &[]);
    check(|b| b.roles = None, false, &[]);
    check(|b| b.embedder = None, true, &[]);
    check(|b| b.tokenizer = None, true, &[]);
    check(|b| b.store = None, true, &[]);
    check(|b| b.journal = None, true, &[]);
    check(|b| b.clock = None, true, &[]);
}
