//! Outcomes and verdicts, abandoned attempts, stores that fail, sessions that only read.

use journeyman::{
    agent::FrozenStore,
    contract::Snapshot,
    domain::{Cause, CommitKey, EndReason, Role, RoleRule, Transition},
};

use super::*;

#[test]
fn an_outcome_is_the_verdict_and_no_judge_is_asked() {
    let judge = Arc::new(ScriptedJudge::that(Play::Give(Verdict::binary(true))));
    let components = own_loop().with_judge(Arc::clone(&judge) as _);
    block_on(async {
        let journeyman = open_as("test", &components, recipe()).await;
        let finish = async |outcome: Option<Outcome>| {
            let handle = journeyman.begin(alike(1).remove(0)).await;
            let finished = handle.expect("it begins").finish(outcome).await;
            let report = finished.expect("it finishes").expect("a group of one");
            report.attempts[0].clone()
        };
        let partly = Outcome::scored(false, 0.25).with_part("first_attempt", 0.5);
        let told = finish(Some(partly.clone())).await;
        assert_eq!(told.success, Some(false), "the judge would say otherwise");
        assert_eq!((told.score, &told.parts), (0.25, &partly.parts));
        assert!(told.error.is_none());
        assert_eq!(judge.calls(), 0);
        let told = finish(None).await;
        assert_eq!(told.success, Some(true));
        assert_eq!(judge.calls(), 1);
    });
}

#[test]
fn a_judge_that_panics_does_not_harm_an_attempt_with_an_outcome() {
    let panics = ScriptedJudge::by(|_, _| -> Play<Verdict> { panic!("nobody asked") });
    let components = own_loop().with_judge(Arc::new(panics));
    block_on(async {
        let journeyman = open_as("test", &components, recipe()).await;
        let report = attempt(&journeyman, alike(1).remove(0), CLEAN).await;
        assert_eq!(report.attempts[0].success, Some(true));
        assert_eq!(admitted(&report), 1);
        let handle = journeyman
            .begin(alike(1).remove(0))
            .await
            .expect("it begins");
        let report = handle.finish(None).await.expect("it finishes");
        let error = report.expect("a report").attempts[0].error.clone();
        assert_eq!(error.map(|error| error.kind()), Some(ErrorKind::Panicked));
    });
}

#[test]
fn without_outcome_and_judge_an_attempt_teaches_nothing_and_says_why() {
    block_on(async {
        let journeyman = open_as("test", &own_loop(), recipe()).await;
        let handle = journeyman.begin(alike(1).remove(0)).await;
        let finished = handle.expect("it begins").finish(None).await;
        let report = finished.expect("it finishes").expect("a group of one");
        let attempt = &report.attempts[0];
        assert_eq!((attempt.success, attempt.reward), (None, None));
        let error = attempt.error.as_ref().expect("an error");
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.hint_text().is_some(), "{error}");
        let library = journeyman.library().await.expect("a library");
        assert_eq!((report.written.len(), library.entries().count()), (0, 0));
    });
}

#[test]
fn an_outcome_that_is_none_is_refused_and_counts_as_abandoned() {
    let check = |outcome: Outcome| {
        block_on(async {
            let journeyman = open_as("test", &own_loop(), recipe()).await;
            let handle = journeyman.begin(alike(1).remove(0)).await;
            let refused = handle.expect("it begins").finish(outcome.clone()).await;
            let error = refused.expect_err("it is no outcome");
            assert_eq!(error.kind(), ErrorKind::Invalid, "{outcome:?}");
            assert!(error.hint_text().is_some());
            let settled = journeyman.settle().await.expect("it settles");
            let abandoned = settled[0].attempts[0].error.as_ref().expect("an error");
            assert_eq!(abandoned.kind(), ErrorKind::Cancelled);
            let library = journeyman.library().await.expect("a library");
            assert_eq!(library.revision(), Revision(0));
            let report = attempt(&journeyman, alike(1).remove(0), CLEAN).await;
            assert_eq!(admitted(&report), 1, "later attempts are learned from");
        });
    };
    for score in [f64::NAN, f64::INFINITY, -0.1, 1.1] {
        check(Outcome::scored(true, score));
    }
    check(Outcome::success().with_part("part", f64::NAN));
}

#[test]
fn a_world_whose_outcome_is_no_number_teaches_nothing_and_is_named() {
    let check = |score: f64, part: f64| {
        let outcome = Outcome::scored(true, score).with_part("speed", part);
        let world = ScriptedEnvironment::by(move |_, _, _| {
            let seen = sample::observation("that was all");
            Play::Give(Transition::end(seen, outcome.clone()))
        });
        let mut parts = components();
        parts.environment = Some(Arc::new(world));
        parts.judge = Some(Arc::new(EnvironmentJudge));
        block_on(async {
            let journeyman = open_as("test", &parts, recipe()).await;
            let report = journeyman.learn(tasks(2)).await.expect("it learns");
            // The scripted agent gives up without a step in each task's first attempt: that is judged.
            let acted = report
                .attempts()
                .filter(|one| one.end != Some(EndReason::GaveUp));
            let errors: Vec<String> = acted
                .map(|one| one.error.as_ref().expect("not judged").to_string())
                .collect();
            assert_eq!(errors.len(), 6);
            assert!(
                errors.iter().all(|error| error.contains("finite")),
                "{errors:#?}"
            );
            let library = journeyman.library().await.expect("a library");
            assert_eq!(library.entries().count(), 0, "nothing is written");
        });
    };
    check(f64::NAN, 0.0);
    check(f64::INFINITY, 0.0);
    check(1.0, f64::NAN);
    check(1.5, 0.0);
}

#[test]
fn a_thousand_abandoned_attempts_commit_nothing_and_hinder_no_other() {
    block_on(async {
        let journeyman = open_as("test", &own_loop(), recipe()).await;
        for _ in 0..1_000 {
            drop(
                journeyman
                    .begin(alike(1).remove(0))
                    .await
                    .expect("it begins"),
            );
        }
        let library = journeyman.library().await.expect("a library");
        assert_eq!(library.revision(), Revision(0));
        let report = attempt(&journeyman, alike(1).remove(0), CLEAN).await;
        assert_eq!(admitted(&report), 1);
        journeyman.settle().await.expect("it settles");
        assert_eq!(journeyman.settle().await.expect("nothing is left"), []);
        let library = journeyman.library().await.expect("a library");
        assert_eq!(
            (library.revision(), library.tasks_learned()),
            (Revision(1), 1)
        );
    });
}

#[test]
fn groups_that_wait_for_a_store_do_not_make_each_later_attempt_dearer() {
    let full = Error::new(
        ErrorKind::Unavailable,
        "SkillStore::commit",
        "the disk is full",
    );
    let store = Arc::new(Refusing::new(None, full.temporary()));
    let components = own_loop().with_store(Arc::clone(&store) as _);
    let tried = || store.tried();
    block_on(async {
        let journeyman = open_as("test", &components, recipe()).await;
        for number in 0..200 {
            let before = tried();
            let task = sample::task(&format!("task-{number}"), &["one", "two"]);
            let handle = journeyman
                .begin(task)
                .await
                .expect("it begins all the same");
            assert!(
                tried() - before <= 1,
                "attempt {number}: {}",
                tried() - before
            );
            let refused = handle.finish(Outcome::success()).await;
            assert_eq!(refused.expect_err("full").kind(), ErrorKind::Unavailable);
            assert!(
                tried() - before <= 2,
                "attempt {number}: {}",
                tried() - before
            );
        }
        store.recovers();
        let reports = journeyman.settle().await.expect("it settles");
        assert_eq!(reports.len(), 200, "nothing was lost");
        let library = journeyman.library().await.expect("a library");
        assert_eq!(library.tasks_learned(), 200);
    });
}

/// What was committed of a library with two skills for the tasks of [`alike`], one of them on trial.
async fn two_skills() -> Snapshot {
    let skill = |name: &str, state| {
        LibraryChange::Add(Box::new(
            sample::skill(name)
                .with_body("To say one and then two, say one.")
                .with_state(state),
        ))
    };
    let changes = vec![
        skill("say-in-use", State::Active),
        skill("say-on-trial", State::Trial),
    ];
    let store = MemoryStore::new();
    let commit = sample::commit(0, "two", changes);
    store.commit(&commit).await.expect("it commits");
    store.load().await.expect("it loads")
}

#[test]
fn a_session_that_only_reads_gives_skills_and_changes_nothing() {
    let check = |frozen: bool| {
        block_on(async {
            let snapshot = two_skills().await;
            let store: Arc<dyn SkillStore> = match frozen {
                true => Arc::new(FrozenStore::new(snapshot)),
                false => {
                    let store = MemoryStore::from_committed(snapshot.committed);
                    Arc::new(store.expect("a store"))
                }
            };
            let options = Options::new("test", Seed(7));
            let options = if frozen { options } else { options.read_only() };
            let parts = components().with_store(Arc::clone(&store));
            let mut recipe = recipe();
            recipe.select.selector = top(5);
            let journeyman = Journeyman::open(parts, recipe, options).await;
            let journeyman = journeyman.expect("it opens");
            let kinds: Vec<FindingKind> = journeyman.findings().iter().map(|f| f.kind).collect();
            assert!(kinds.contains(&FindingKind::ReadOnly), "{kinds:?}");

            let report = attempt(&journeyman, alike(1).remove(0), REFUSED).await;
            let given = &report.attempts[0].injected;
            assert_eq!(given.len(), 1, "what is on trial is not offered: {given:?}");
            assert_eq!(given[0].id.as_str(), "say-in-use");
            assert_eq!(report.attempts[0].success, Some(true));
            assert_eq!(report.written, []);
            let three = NonZeroUsize::new(3).expect("three");
            let handles = journeyman.begin_group(alike(1).remove(0), three).await;
            let handles = handles.expect("it begins");
            assert_eq!(handles.len(), 3);
            for handle in handles {
                let report = handle
                    .finish(Outcome::success())
                    .await
                    .expect("it finishes");
                assert_eq!(report.expect("a report").attempts.len(), 1);
            }
            drop(
                journeyman
                    .begin(alike(1).remove(0))
                    .await
                    .expect("it begins"),
            );
            journeyman.evaluate(tasks(2)).await.expect("it evaluates");

            let refused = |error: Error| {
                assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
                assert!(error.hint_text().is_some(), "{error}");
            };
            refused(journeyman.learn(tasks(1)).await.expect_err("read-only"));
            let added = journeyman.add(vec![sample::skill("new")], "no").await;
            refused(added.expect_err("read-only"));
            let skill = "say-on-trial".into();
            let set = journeyman.set_state(&skill, State::Active, "no").await;
            refused(set.expect_err("read-only"));
            let rules = vec![RoleRule::new("Be short.").unwrap()];
            let set = journeyman.set_rules(Role::Extract, rules, "no").await;
            refused(set.expect_err("read-only"));
            journeyman
                .settle()
                .await
                .expect("there is nothing to settle");
            let kept = store.load().await.expect("it loads");
            assert_eq!(kept.revision, Revision(1));
        });
    };
    check(true);
    check(false);
}

/// Learns with all parts, then attempts everything with one that never works.
fn check_nothing_done(break_it: impl Fn(&mut Components), said: &str) {
    let components = components();
    block_on(async {
        let journeyman = open_as("good", &components, recipe()).await;
        journeyman.learn(tasks(3)).await.expect("it learns");
        let texts = |library: &SkillLibrary| -> Vec<String> {
            let skills = library.entries().map(|entry| &entry.skill);
            skills
                .map(|skill| format!("{} {}", skill.id, skill.content_sha256()))
                .collect()
        };
        let before = texts(&journeyman.library().await.expect("a library"));
        assert_eq!(before.len(), 3);
        let mut broken = components.clone();
        break_it(&mut broken);
        let journeyman = open_as("broken", &broken, recipe()).await;
        let learnt = journeyman.learn(tasks(3)).await.expect_err("nothing done");
        let evaluated = journeyman
            .evaluate(tasks(3))
            .await
            .expect_err("nothing done");
        for (error, count) in [(learnt, 12), (evaluated, 3)] {
            let text = error.to_string();
            assert!(
                text.contains(&format!("none of {count} attempts")),
                "{text}"
            );
            assert!(text.contains(said), "{text}");
            assert!(error.hint_text().is_some(), "{text}");
        }
        let after = texts(&journeyman.library().await.expect("a library"));
        assert_eq!(after, before, "what was learned is kept");
    });
}

#[test]
fn a_run_in_which_nothing_could_be_done_says_why_and_keeps_what_was_learned() {
    let fault = || Error::new(ErrorKind::Unavailable, "scripted", "out of order");
    check_nothing_done(
        |b| {
            let world = ScriptedEnvironment::words();
            let world = world.beginning(|_, _| panic!("the desk is closed"));
            b.environment = Some(Arc::new(world));
        },
        "the desk is closed",
    );
    check_nothing_done(
        |b| b.judge = Some(Arc::new(ScriptedJudge::that(Play::Fail(fault())))),
        "out of order",
    );
    check_nothing_done(
        |b| b.executor = Some(Arc::new(ScriptedExecutor::that(Play::Fail(fault())))),
        "out of order",
    );
}

/// A commit as a person makes one by hand.
pub(super) fn by_hand(base: Revision, key: &str, changes: Vec<LibraryChange>) -> Commit {
    Commit::new(base, CommitKey::new(key), Cause::new("by hand"), changes)
}
