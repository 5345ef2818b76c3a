//! Both ways in learn, over a library on disk and a restart.

use std::{path::Path, sync::Arc};

use host::{desk::Desk, hand_over, judge::Supervisor, model::Scripted, own_loop, tasks::task};
use journeyman::{
    prelude::*,
    recipe::Recipe,
    run::report::{Finding, FindingKind},
};

#[tokio::test]
async fn handed_over_tasks_are_learned_from() {
    let folder = tempfile::tempdir().unwrap();
    let (tasks, held_out) = ((0..12).map(task).collect(), (100..120).map(task).collect());
    let model = Arc::new(Scripted::default());
    let (world, judge) = (Arc::new(Desk), Arc::new(Supervisor));
    let learned =
        hand_over::learn_and_compare(model, world, judge, folder.path(), tasks, held_out).await;
    let (before, after) = learned.unwrap();
    assert!(before.success_rate() < after.success_rate());
    assert_eq!(after.success_rate(), Some(1.0));
    assert!(after.attempts().all(|attempt| attempt.injected.len() == 1));
    // Its scorer is a script, to which nobody fits a threshold.
    let guessed = |one: &Finding| one.kind == FindingKind::Uncalibrated;
    assert!(after.findings.iter().all(guessed), "{:?}", after.findings);
    // The host's own judge decides: what was refused on the way costs something.
    let scores = |report: &RunReport| {
        let scores = report.attempts().map(|one| one.score);
        scores.collect::<Vec<_>>()
    };
    assert!(
        scores(&before)
            .iter()
            .any(|score| *score > 0.0 && *score < 1.0)
    );
    assert!(scores(&after).iter().all(|score| *score == 1.0));
}

#[test]
fn the_program_runs_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_host"))
        .arg(folder.path())
        .output()
        .unwrap();
    let (said, errors) = (
        String::from_utf8(run.stdout).unwrap(),
        String::from_utf8(run.stderr).unwrap(),
    );
    assert!(run.status.success(), "{errors}");
    for expect in [
        "== Hand over the tasks",
        "== Keep your own loop",
        "first start: began with 0 skills",
        "after a restart: began with",
    ] {
        assert!(said.contains(expect), "{expect} is not in:\n{said}");
    }
    assert!(
        !said.contains("after a restart: began with 0 skills"),
        "{said}"
    );
}

/// Attempts tasks in the own loop; how many were done at once, and how many with a skill.
async fn attempt(library: &Path, recipe: Recipe, tasks: std::ops::Range<usize>) -> (usize, usize) {
    let options = Options::new("own", Seed(3));
    let journeyman = own_loop::open(library, recipe, options).await.unwrap();
    let (mut at_once, mut skilled) = (0, 0);
    for n in tasks {
        let done = own_loop::one_task(&journeyman, &Scripted::default(), task(n)).await;
        let (done, with_skill) = done.unwrap();
        at_once += usize::from(done);
        skilled += usize::from(with_skill);
    }
    (at_once, skilled)
}

#[tokio::test]
async fn the_own_loop_learns_and_a_restart_keeps_what_it_learned() {
    let folder = tempfile::tempdir().unwrap();
    let (_, skilled) = attempt(folder.path(), recipe::standard(), 0..20).await;
    assert!(skilled > 10, "{skilled} of 20 tasks had a skill");
    // The same session again: what was learned is used from the first task on.
    let (at_once, skilled) = attempt(folder.path(), recipe::standard(), 20..40).await;
    assert!(
        skilled >= 18 && at_once >= 16,
        "{at_once} at once, {skilled} with a skill"
    );
}

#[tokio::test]
async fn hisme_releases_skills_in_the_own_loop() {
    let folder = tempfile::tempdir().unwrap();
    attempt(folder.path(), recipe::hisme_robust(), 0..60).await;
    let journeyman = own_loop::open(
        folder.path(),
        recipe::hisme_robust(),
        Options::new("own", Seed(3)),
    );
    let library = journeyman.await.unwrap().library().await.unwrap();
    let mut states = library.entries().map(|entry| entry.skill.state);
    assert!(
        states.any(|state| state == State::Active),
        "some skill left its trial"
    );
}
