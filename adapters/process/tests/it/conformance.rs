//! The rules of `Environment` and `Executor`, through Python children.

use std::sync::Arc;

use futures::executor::block_on;
use journeyman::{
    Result, Seed,
    contract::Environment,
    domain::{Action, ObservationKind, Task},
    testing::{
        ScriptedEnvironment,
        conformance::{self, Report, environment::EnvironmentFixture, executor::ExecutorFixture},
        sample,
    },
};
use journeyman_process::{ProcessEnvironment, ProcessExecutor};
use serde_json::json;

use crate::support;

fn whole(report: Result<Report>) {
    let report = report.unwrap();
    assert_eq!(report.skipped().count(), 0, "{report}");
}

/// The number that the desk drew, as its first observation tells.
async fn drawn(desk: &ProcessEnvironment, task: &Task, seed: Seed) -> i64 {
    let episode = desk.reset(task, seed).await.unwrap();
    let text = episode.observation().text.clone();
    episode.close().await.unwrap();
    let digits = text.rsplit(' ').next().unwrap().trim_end_matches('.');
    digits.parse().unwrap()
}

fn guesses(number: i64) -> Vec<Action> {
    let guess = |n: i64| Action::call("guess", json!({ "n": n }));
    vec![
        guess(number - 1),
        Action::Message("well".to_owned()),
        guess(number + 1),
        guess(number),
    ]
}

/// Over the pipe a word stays what it is to the agent.
#[test]
fn a_user_an_event_and_a_result_are_told_apart() {
    block_on(async {
        let desk = ProcessEnvironment::start(support::child("desk.py", &[]))
            .await
            .unwrap();
        let task = Task::new("a", "Guess.");
        let mut episode = desk.reset(&task, Seed(7)).await.unwrap();
        assert_eq!(episode.observation().kind, ObservationKind::Result);
        for (said, kind) in [
            ("well", ObservationKind::User),
            ("alarm", ObservationKind::Event),
            ("page", ObservationKind::Result),
        ] {
            let transition = episode.step(&Action::Message(said.to_owned())).await;
            assert_eq!(transition.unwrap().observation.kind, kind, "{said}");
        }
        episode.close().await.unwrap();
    });
}

#[test]
fn environment() {
    block_on(async {
        let desk = ProcessEnvironment::start(support::child("desk.py", &[]))
            .await
            .unwrap();
        let (task, other) = (Task::new("a", "Guess."), Task::new("b", "Guess."));
        let number = drawn(&desk, &task, Seed(7)).await;
        let another = drawn(&desk, &other, Seed(u64::MAX)).await;
        assert_ne!(number, another);
        let fixture = EnvironmentFixture::new(task, Seed(7), guesses(number))
            .with_other((other, Seed(u64::MAX), guesses(another)))
            .with_refused(Action::call("open", json!({})))
            .with_unknown(Task::new("c", "Guess.").with_payload("unknown"));
        whole(
            conformance::environment::check(&desk, &fixture)
                .await
                .into_result(),
        );
    });
}

#[test]
fn environment_in_gymnasiums_style() {
    let walk = |to: &str| Action::call("walk", json!({ "to": to }));
    let say = |word: &str| Action::Message(word.to_owned());
    // Seed 7 puts the door to the right.
    let ways: [(&[&str], Vec<Action>, Action); 2] = [
        (
            &[],
            vec![say("right"), say("left"), say("right"), say("right")],
            Action::EndTurn,
        ),
        (&["tools"], vec![walk("right"), walk("right")], walk("up")),
    ];
    for (arguments, actions, refused) in ways {
        block_on(async {
            let config = support::child("gym.py", arguments);
            let corridor = ProcessEnvironment::start(config).await.unwrap();
            assert_eq!(corridor.name(), "corridor");
            let fixture =
                EnvironmentFixture::new(Task::new("a", "Walk to the door."), Seed(7), actions)
                    .with_refused(refused);
            let report = conformance::environment::check(&corridor, &fixture).await;
            let report = report.into_result().unwrap();
            // It can set up any task.
            assert_eq!(report.skipped().count(), 1, "{report}");
        });
    }
}

#[test]
fn executor() {
    block_on(async {
        let config = support::child("speller.py", &[]);
        let speller = ProcessExecutor::start(config).await.unwrap();
        assert_eq!(speller.name(), "speller");
        let fixture = ExecutorFixture::new(
            Arc::new(ScriptedEnvironment::words()),
            Task::new("greet", "good day to you").with_payload(vec!["good", "day", "to", "you"]),
            Seed(7),
        )
        .with_injection(sample::injection(&[
            sample::skill("brew"),
            sample::skill("pour"),
        ]))
        .with_prefix(vec![Action::Message("good".to_owned())]);
        whole(
            conformance::executor::check(&speller, &fixture)
                .await
                .into_result(),
        );
    });
}
