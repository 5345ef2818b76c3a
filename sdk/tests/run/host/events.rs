//! Events of attempts that run at once, told apart.

use std::collections::BTreeMap;

use super::*;

#[test]
fn events_of_attempts_that_run_at_once_are_told_apart() {
    let mut backends = own_loop();
    backends.model = Some(Arc::new(ScriptedModel::by(|_, call| {
        Play::Give(format!("same-title: How to say it.\nThis is body {call}."))
    })));
    block_on(async {
        let journeyman = open_as("test", &backends, recipe()).await;
        let events = journeyman.events();
        let tasks = [
            sample::task("first", &["one", "two"]),
            sample::task("second", &["three", "four"]),
        ];
        let finish = async |task: &Task| {
            let mut handle = journeyman.begin(task.clone()).await.expect("it begins");
            for step in sample::trajectory("x", task, &["one"], true).steps {
                handle.record(step);
            }
            // The other begins before this one goes on.
            let mut waited = false;
            futures::future::poll_fn(|context| {
                if std::mem::replace(&mut waited, true) {
                    return std::task::Poll::Ready(());
                }
                context.waker().wake_by_ref();
                std::task::Poll::Pending
            })
            .await;
            let finished = handle.finish(Outcome::success()).await;
            finished.expect("it finishes").expect("a report")
        };
        futures::join!(finish(&tasks[0]), finish(&tasks[1]));
        let library = journeyman.library().await.expect("a library");
        let events = told(events);

        let mut of_run: BTreeMap<String, TaskId> = BTreeMap::new();
        let mut names = Vec::new();
        for event in &events {
            let line = event.to_string();
            assert!(
                !line.contains(['\n', '\r']) && !line.trim().is_empty(),
                "{line}"
            );
            assert!(line.contains(event.run.as_str()), "{line}");
            let of_whole_run = matches!(
                event.kind,
                EventKind::RunStarted { .. } | EventKind::RunFinished { .. }
            );
            assert_eq!(event.task.is_none(), of_whole_run, "{event:?}");
            if let Some(task) = &event.task {
                assert!(line.contains(task.as_str()), "{line}");
                let before = of_run.insert(event.run.to_string(), task.clone());
                assert!(before.is_none_or(|before| before == *task));
            }
            let of_attempt = matches!(
                event.kind,
                EventKind::Attempted { .. } | EventKind::Selected { .. }
            );
            assert_eq!(event.attempt.is_some(), of_attempt, "{event:?}");
            if let Some(attempt) = &event.attempt {
                assert_eq!(attempt.as_str(), format!("{}/0/0", event.run));
            }
            if let EventKind::Admitted { skill, .. } = &event.kind {
                let entry = library.get(&skill.id).expect("it is in the library");
                assert_eq!(entry.skill, **skill, "as the library has it");
                names.push(skill.name.to_string());
            }
        }
        let expect = [("test/begin-0", "first"), ("test/begin-1", "second")];
        let expect = expect.map(|(run, task)| (run.to_owned(), task.into()));
        assert_eq!(of_run, BTreeMap::from(expect));
        names.sort();
        assert_eq!(names, ["same-title", "same-title-2"]);
    });
}

#[test]
fn an_event_is_one_line_whatever_a_part_says() {
    let fault = || {
        Error::new(
            ErrorKind::Unavailable,
            "scripted",
            "out of order\nfor today",
        )
    };
    let check = |change: &dyn Fn(&mut Backends)| {
        let mut backends = backends();
        change(&mut backends);
        block_on(async {
            let journeyman = open_as("test", &backends, recipe()).await;
            let events = journeyman.events();
            let _ = journeyman.learn(tasks(3)).await;
            let lines: Vec<String> = told(events).iter().map(ToString::to_string).collect();
            assert!(lines.iter().any(|line| line.contains("out of order")));
            let broken = lines.iter().find(|line| line.contains('\n'));
            assert_eq!(broken, None);
        });
    };
    check(&|b| b.judge = Some(Arc::new(ScriptedJudge::that(Play::Fail(fault())))));
    check(&|b| b.model = Some(Arc::new(ScriptedModel::that(Play::Fail(fault())))));
    check(&|b| b.scorer = Some(Arc::new(ScriptedScorer::that(Play::Fail(fault())))));
}
