//! Newcomers on trial, what releases them, what takes them out of use and brings them back.

use super::*;

#[test]
fn what_is_extracted_is_on_trial_until_attempts_at_two_tasks_speak_for_it() {
    let states = |recipe, script, n| {
        let (_, library, ..) = learn_with(recipe, script, n);
        let mut states: Vec<State> = library.entries().map(|entry| entry.skill.state).collect();
        states.dedup();
        let mut origins = library.entries().map(|entry| entry.skill.provenance.origin);
        assert!(origins.all(|origin| origin == Origin::Extracted));
        states
    };
    let mut without = hisme();
    without.maintenance = recipe::Maintenance::default();
    assert_eq!(states(without, Script::default(), 6), [State::Trial]);
    // Three tasks, three skills: each has passed the case of its own attempt alone.
    let mut hisme = hisme();
    hisme.selector = Selector::Top { limit: 1 };
    assert_eq!(states(hisme.clone(), Script::default(), 3), [State::Trial]);
    assert_eq!(states(hisme.clone(), Script::default(), 6), [State::Active]);
    let mut to_the_letter = hisme.clone();
    to_the_letter.maintenance.bundles = Some(recipe::BundlePolicy {
        tasks: 1,
        ..recipe::BundlePolicy::default()
    });
    assert_eq!(states(to_the_letter, Script::default(), 3), [State::Active]);
    // A skill that says the wrong words costs as many refusals as none.
    let wrong = || Script {
        extract: |words| format!("skill {words}: How to say {words}.\nsay: no {words}"),
        attribute: "neutral: it was not followed",
        ..Script::default()
    };
    assert_eq!(states(hisme, wrong(), 6), [State::Trial]);
}

#[test]
fn what_is_on_trial_is_offered_in_training_alone() {
    let (backends, _) = parts(Script::default());
    let mut recipe = hisme();
    recipe.maintenance = recipe::Maintenance::default();
    block_on(async {
        let journeyman = Journeyman::open(backends, recipe, Options::new("test", Seed(7))).await;
        let journeyman = journeyman.expect("it opens");
        journeyman.learn(tasks(3)).await.expect("it learns");
        let library = journeyman.library().await.expect("a library");
        let mut states = library.entries().map(|entry| entry.skill.state);
        assert!(states.all(|state| state == State::Trial));
        let injected = |report: &RunReport| {
            let attempts = report.tasks.iter().flat_map(|task| &task.attempts);
            attempts
                .map(|attempt| attempt.injected.len())
                .sum::<usize>()
        };
        let report = journeyman.evaluate(tasks(3)).await.expect("it evaluates");
        assert_eq!(injected(&report), 0);
        let report = journeyman
            .learn(tasks(6).split_off(3))
            .await
            .expect("it learns");
        assert!(injected(&report) > 0);
    });
}

#[test]
fn a_judge_that_fails_in_a_case_says_nothing_of_the_skill() {
    let states = |error: Error, failures: usize| {
        let (mut backends, _) = parts(Script::default());
        let failed = std::sync::atomic::AtomicUsize::new(0);
        backends.judge = Arc::new(ScriptedJudge::by(move |request, _| {
            let trajectory = request.trajectory;
            // A case's attempt has no task's number.
            let is_case = trajectory.attempt.as_str().contains("/m");
            let before = failed.load(std::sync::atomic::Ordering::Relaxed);
            if is_case && before < failures {
                failed.store(before + 1, std::sync::atomic::Ordering::Relaxed);
                return Play::Fail(error.clone());
            }
            let outcome = trajectory.outcome.as_ref();
            Play::Give(Verdict::binary(
                outcome.is_some_and(|outcome| outcome.success),
            ))
        }));
        let mut recipe = hisme();
        recipe.selector = Selector::Top { limit: 1 };
        block_on(async {
            let options = Options::new("test", Seed(7));
            let journeyman = Journeyman::open(backends, recipe, options)
                .await
                .expect("it opens");
            journeyman.learn(tasks(9)).await.expect("it learns");
            let library = journeyman.library().await.expect("a library");
            let entries = library.entries().map(|entry| entry.skill.state);
            entries.collect::<Vec<_>>()
        })
    };
    let error = || Error::new(ErrorKind::Unavailable, "scripted", "out of order");
    // What may go well another time is played again.
    assert_eq!(states(error().temporary(), 4), [State::Active; 3]);
    // What can never be judged neither releases a skill nor takes it out of use.
    assert_eq!(states(error(), usize::MAX), [State::Trial; 3]);
}

#[test]
fn what_was_done_alike_without_a_skill_speaks_for_it() {
    let states = |selector| {
        let mut recipe = hisme();
        recipe.selector = selector;
        recipe.attribute = false;
        let (_, library, ..) = learn_with(recipe, Script::default(), 6);
        let states = library.entries().map(|entry| entry.skill.state);
        states.collect::<Vec<_>>()
    };
    // The second task of each kind comes to the same skill, which it was not given.
    assert_eq!(states(Selector::Nothing), [State::Active; 3]);
}

#[test]
fn what_a_run_disabled_comes_back_when_other_tasks_come_to_it() {
    let disabled = || {
        let mut recipe = hisme();
        recipe.maintenance = recipe::Maintenance {
            bundles: Some(recipe::BundlePolicy::default()),
            filter: Some(FilterPolicy {
                harmful: 1,
                helpful: 1,
                ..FilterPolicy::default()
            }),
            ..recipe::Maintenance::default()
        };
        recipe
    };
    let (backends, _) = parts(Script {
        attribute: "harmful: it was refused",
        ..Script::default()
    });
    let learn = |session: &str, recipe: Recipe, tasks: Vec<Task>| {
        let options = Options::new(session, Seed(7));
        block_on(async {
            let journeyman = Journeyman::open(backends.clone(), recipe, options).await;
            let journeyman = journeyman.expect("it opens");
            journeyman.learn(tasks).await.expect("it learns");
            let library = journeyman.library().await.expect("a library");
            let skills = library.entries().map(|entry| entry.skill.clone());
            (journeyman, skills.collect::<Vec<_>>())
        })
    };
    let (journeyman, skills) = learn("harm", disabled(), tasks(6));
    assert_eq!(skills.len(), 3);
    assert!(skills.iter().all(|skill| skill.state == State::Disabled));
    // The host takes one of them out of use itself.
    let mine = skills[0].id.clone();
    let library = block_on(journeyman.library()).expect("a library");
    let by_hand = Commit {
        base: library.revision(),
        key: CommitKey::new("by hand"),
        cause: Cause {
            run: None,
            task: None,
            reason: "by hand".to_owned(),
        },
        changes: vec![LibraryChange::SetState {
            skill: mine.clone(),
            state: State::Disabled,
            reason: "by hand".to_owned(),
        }],
    };
    let store = backends.store.clone().expect("a store");
    block_on(store.commit(&by_hand)).expect("it is committed");
    let (_, skills) = learn("again", disabled(), tasks(9).split_off(6));
    let by_hand = |skill: &&Skill| skill.id == mine;
    let of_host: Vec<_> = skills.iter().filter(by_hand).collect();
    assert_eq!(
        (of_host[0].version.0, of_host[0].state),
        (1, State::Disabled)
    );
    let others = skills.iter().filter(|skill| !by_hand(skill));
    let others: Vec<_> = others.map(|skill| (skill.version.0, skill.state)).collect();
    // The attempts at both tasks speak for it, and its counts begin anew.
    assert_eq!(others, [(2, State::Active); 2]);
}

#[test]
fn harmful_skills_are_disabled_unless_helpful_ones_protect_them() {
    let mut filtering = hisme();
    filtering.maintenance.refine = None;
    filtering.maintenance.filter = Some(FilterPolicy {
        harmful: 1,
        helpful: 1,
        ..FilterPolicy::default()
    });
    let harmful = || Script {
        attribute: "harmful: it was refused",
        ..Script::default()
    };
    let disabled = |recipe| {
        let (_, library, ..) = learn_with(recipe, harmful(), 6);
        let mut entries = library.entries();
        entries.any(|entry| entry.skill.state == State::Disabled)
    };
    assert!(disabled(filtering.clone()));
    filtering.maintenance.filter = None;
    assert!(!disabled(filtering));
}
