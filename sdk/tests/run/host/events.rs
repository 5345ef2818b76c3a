//! Events of attempts that run at once, told apart.

use std::collections::BTreeMap;

use journeyman::{
    SkillId,
    domain::{AttemptId, EndReason, SkillRef},
    stations::credit::PerRollout,
};

use super::*;

#[test]
fn events_of_attempts_that_run_at_once_are_told_apart() {
    let mut components = own_loop();
    components.model = Some(Arc::new(ScriptedModel::by(|_, call| {
        Play::Give(format!("same-title: How to say it.\nThis is body {call}."))
    })));
    block_on(async {
        let journeyman = open_as("test", &components, recipe()).await;
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
                let mut versions = entry.versions();
                assert!(versions.any(|one| one == &**skill), "as the library has it");
                names.push(skill.name.to_string());
            }
        }
        let expect = [("test/begin-0", "first"), ("test/begin-1", "second")];
        let expect = expect.map(|(run, task)| (run.to_owned(), task.into()));
        assert_eq!(of_run, BTreeMap::from(expect));
        names.sort();
        // The second was written while the first was not there yet, and is its next version all the same.
        assert_eq!(names, ["same-title"; 2]);
    });
}

#[test]
fn a_selection_names_the_skills_that_it_injects() {
    let mut recipe = recipe();
    recipe.select.selector = top(2);
    let events = block_on(async {
        let journeyman = open_as("test", &components(), recipe).await;
        let events = journeyman.events();
        journeyman.learn(tasks(6)).await.expect("it learns");
        told(events)
    });
    let mut titles: BTreeMap<SkillId, String> = BTreeMap::new();
    let mut named = 0;
    for event in &events {
        match &event.kind {
            EventKind::Admitted { skill, .. } => {
                titles.insert(skill.id.clone(), skill.name.to_string());
            }
            EventKind::Selected {
                selection, names, ..
            } => {
                let injected = match &selection.decision {
                    Decision::Inject { skills, .. } => skills.as_slice(),
                    _ => &[],
                };
                let expect: Vec<&str> = injected
                    .iter()
                    .map(|one| titles[&one.id].as_str())
                    .collect();
                let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
                assert_eq!(names, expect);
                let line = event.to_string();
                assert!(names.iter().all(|name| line.contains(name)), "{line}");
                named += names.len();
            }
            _ => {}
        }
    }
    assert!(named > 0, "no skill was ever injected");
}

#[test]
fn the_line_of_an_attempt_says_why_it_ended() {
    let check = |end: EndReason, why: &str| {
        let mut components = components();
        let ends = end.clone();
        components.executor = Some(Arc::new(ScriptedExecutor::by(move |attempt, _| {
            Play::Give(sample::ended(
                attempt.id.as_str(),
                attempt.task,
                ends.clone(),
            ))
        })));
        components.judge = Some(Arc::new(EnvironmentJudge));
        let events = block_on(async {
            let journeyman = open_as("test", &components, recipe()).await;
            let events = journeyman.events();
            let _ = journeyman.learn(tasks(1)).await;
            told(events)
        });
        let attempted = |event: &&Event| matches!(event.kind, EventKind::Attempted { .. });
        let lines: Vec<String> = (events.iter().filter(attempted))
            .map(ToString::to_string)
            .collect();
        assert!(!lines.is_empty());
        assert!(lines.iter().all(|line| line.contains(why)), "{lines:#?}");
    };
    check(EndReason::GaveUp, "the agent gave up");
    check(EndReason::StepBudget, "the steps were used up");
    check(EndReason::Deadline, "the time was used up");
    check(EndReason::Unreadable, "could not be read as an action");
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
    let check = |change: &dyn Fn(&mut Components)| {
        let mut components = components();
        change(&mut components);
        block_on(async {
            let journeyman = open_as("test", &components, recipe()).await;
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

/// The events of an attempt that say what came of skills in it.
fn said_of<'a>(events: &'a [Event], attempt: &str) -> Vec<&'a Event> {
    let of_it = events.iter().filter(|event| {
        let tells = matches!(
            event.kind,
            EventKind::Credited { .. } | EventKind::Attributed { .. }
        );
        tells && event.attempt.as_ref().map(AttemptId::as_str) == Some(attempt)
    });
    of_it.collect()
}

/// That an event names a skill and an attempt, and is this line.
fn check_said(event: &Event, skill: &SkillRef, by: &str, line: &str) {
    let (named, attempt) = match &event.kind {
        EventKind::Credited { skill, attempt, .. } => (skill, attempt),
        EventKind::Attributed { skill, attempt, .. } => (skill, attempt),
        other => panic!("neither credit nor judgement: {other:?}"),
    };
    assert_eq!((named, attempt.as_str()), (skill, by));
    let said = event.to_string();
    assert!(!said.chars().any(char::is_control), "{said:?}");
    assert_eq!(said, line);
}

#[test]
fn credit_and_judgement_name_the_skill_and_the_attempt_on_one_line() {
    let parts = trial::parts("helpful: it was followed\r\n  to the \u{7}end", false);
    block_on(async {
        let journeyman = open_as("test", &parts, trial::hisme()).await;
        let events = journeyman.events();
        let mut expect = Vec::new();
        let did = [CLEAN, CLEAN, FAILED, CLEAN];
        for (number, (task, did)) in alike(4).into_iter().zip(did).enumerate() {
            let report = attempt(&journeyman, task, did).await;
            let library = journeyman.library().await.expect("a library");
            let given = report.attempts[0].injected.first();
            assert_eq!(given.is_some(), number > 0, "from the second on");
            let entry = given.and_then(|given| library.get(&given.id));
            let reward = if did.success { 2.0 } else { 0.0 };
            expect.extend(entry.map(|entry| (entry.clone(), reward)));
        }
        let events = told(events);
        assert_eq!(expect.len(), 3);
        for (number, (entry, credited)) in (1..).zip(&expect) {
            let by = format!("test/begin-{number}/0/0");
            let skill = entry.skill.reference();
            let said = format!("{by} (alike-{number}): skill {}", entry.skill.name);
            let of_it = said_of(&events, &by);
            let [credit, judgement] = of_it[..] else {
                panic!("one of each: {of_it:?}");
            };
            let EventKind::Credited {
                reward, utility, ..
            } = &credit.kind
            else {
                panic!("credit comes first: {credit:?}");
            };
            assert_eq!((*reward, *utility), (*credited, entry.utility));
            let line = format!(
                "{said} is credited with a reward of {credited:.2}, its utility is {utility:.3}"
            );
            check_said(credit, &skill, &by, &line);
            let line = format!("{said} was helpful: it was followed to the end");
            check_said(judgement, &skill, &by, &line);
        }
        let all = events.iter().filter(|event| event.attempt.is_some());
        let all = all.map(|event| event.kind.to_string());
        let told = all.filter(|line| line.contains("credited") || line.contains("was helpful"));
        assert_eq!(told.count(), 6, "and nothing else of the kind");
    });
}

#[test]
fn each_attempt_of_a_group_that_is_credited_is_named() {
    let mut recipe = recipe();
    recipe.credit.by = PerRollout.into();
    recipe.select.selector = top(1);
    block_on(async {
        let journeyman = open_as("test", &own_loop(), recipe).await;
        let added = journeyman.add(vec![sample::skill("say")], "a start").await;
        added.expect("it adds");
        let events = journeyman.events();
        let three = NonZeroUsize::new(3).expect("three");
        let handles = journeyman.begin_group(alike(1).remove(0), three).await;
        for (number, handle) in handles.expect("it begins").into_iter().enumerate() {
            let finished = handle.finish(Outcome::from(number != 1)).await;
            finished.expect("it finishes");
        }
        let library = journeyman.library().await.expect("a library");
        let entry = library.get(&"say".into()).expect("it is there");
        let events = told(events);
        for (number, reward) in [2.0, 0.0, 2.0].iter().enumerate() {
            let by = format!("test/begin-0/0/{number}");
            let of_it = said_of(&events, &by);
            assert_eq!(of_it.len(), 1, "{of_it:?}");
            let line = format!(
                "{by} (alike-0): skill say is credited with a reward of {reward:.2}, its utility is {:.3}",
                entry.utility
            );
            check_said(of_it[0], &entry.skill.reference(), &by, &line);
        }
    });
}
