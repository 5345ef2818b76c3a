//! The machine by itself: orders of answers, saving, what it refuses.

use journeyman::testing::Edited as _;

use super::*;

/// Performs every effect of a machine with pure scripted answers, in an order that a seed shuffles.
fn perform(machine: &mut RunMachine, store: &MemoryStore, shuffle: Seed, mut stop_after: usize) {
    let mut round = 0;
    while !machine.is_finished() && stop_after > 0 {
        let effects = machine.effects();
        assert!(!effects.is_empty(), "an unfinished run needs something");
        let pick = shuffle
            .derive("pick", round)
            .index(effects.len())
            .unwrap_or(0);
        let (id, effect) = effects.into_iter().nth(pick).expect("in range");
        machine
            .answer(id.clone(), answer(&id, effect, store))
            .expect("it fits");
        round += 1;
        stop_after -= 1;
    }
}

fn answer(id: &EffectId, effect: Effect, store: &MemoryStore) -> Answer {
    match effect {
        Effect::Retrieve(query) => Answer::Retrieved(Ok(query
            .among
            .unwrap_or_default()
            .into_iter()
            .map(|id| {
                journeyman::domain::Candidate::new(
                    journeyman::domain::SkillRef {
                        id,
                        version: journeyman::Version(1),
                    },
                    1.0,
                )
            })
            .collect())),
        Effect::Threshold { .. } => Answer::Fitted(Ok(None)),
        Effect::Score { skills, .. } => Answer::Scored(Ok(skills
            .iter()
            .map(|skill| {
                SkillScores::new(skill.reference()).edited(|it| {
                    it.conditional = Some(Total {
                        sum: -1.0,
                        tokens: 3,
                    });
                    it.unconditional = Some(Total {
                        sum: -9.0,
                        tokens: 3,
                    });
                })
            })
            .collect())),
        Effect::Attempt(effect) => {
            let success = effect.seed.0.is_multiple_of(3) || !effect.skills.is_empty();
            let said = sample::trajectory(effect.attempt.as_str(), &effect.task, &["one"], success);
            Answer::Attempted(Ok(Box::new(said)))
        }
        Effect::Judge { trajectory, .. } => Answer::Judged(Ok(Verdict::binary(
            trajectory.outcome.is_some_and(|outcome| outcome.success),
        ))),
        Effect::Role { ask, .. } => {
            let task = &ask.attempts()[0].task;
            let draft = journeyman::domain::SkillDraft::new(
                format!("skill for {}", task.instruction),
                "What it does.",
                format!("Body of {id}."),
            );
            Answer::Played(Ok(Some(Played::of(RoleAnswer::Draft(Box::new(draft))))))
        }
        Effect::Commit(commit) => {
            let done = block_on(store.commit(&commit)).expect("it commits");
            Answer::Committed(CommitDone::new(vec![done]))
        }
        other => panic!("an unknown need: {other:?}"),
    }
}

fn plan(mode: Mode) -> RunPlan {
    let mut recipe = recipe();
    recipe.select.per = SelectPer::Rollout;
    RunPlan::new(RunId::new("run"), Seed(11), recipe, tasks(8)).edited(|it| {
        it.mode = mode;
        it.replays = true;
        it.width = n64(4);
    })
}

fn finished(shuffle: Seed) -> (String, Vec<Event>) {
    let mut machine = RunMachine::new(plan(Mode::Train)).expect("a machine");
    perform(&mut machine, &MemoryStore::new(), shuffle, usize::MAX);
    (bytes(machine.library()), machine.take_events())
}

#[test]
fn the_order_of_answers_does_not_matter() {
    let (library, events) = finished(Seed(0));
    for seed in 1..20 {
        let (other, others) = finished(Seed(seed));
        assert_eq!(other, library, "seed {seed}");
        assert_eq!(others, events, "seed {seed}");
    }
}

#[test]
fn events_of_a_parallel_evaluation_do_not_depend_on_order() {
    let run = |seed| {
        let mut machine = RunMachine::new(plan(Mode::Evaluate)).expect("a machine");
        perform(&mut machine, &MemoryStore::new(), Seed(seed), usize::MAX);
        machine.take_events()
    };
    let events = run(0);
    assert!((1..20).all(|seed| run(seed) == events));
}

#[test]
fn a_run_resumes_between_any_two_answers() {
    let (library, _) = finished(Seed(3));
    for steps in 1..60 {
        let store = MemoryStore::new();
        let mut machine = RunMachine::new(plan(Mode::Train)).expect("a machine");
        perform(&mut machine, &store, Seed(5), steps);
        let json = machine.save().expect("it saves");
        let mut resumed =
            RunMachine::resume(&json, &journeyman::policy::Policies::new()).expect("it resumes");
        assert_eq!(resumed, machine);
        perform(&mut resumed, &store, Seed(6), usize::MAX);
        assert_eq!(
            bytes(resumed.library()),
            library,
            "saved after {steps} answers"
        );
    }
}

#[test]
fn a_run_that_resumes_between_any_two_answers_tells_the_same_verdicts_on_lifts() {
    let told = |resumes: bool| {
        let store = MemoryStore::new();
        let skill = Box::new(sample::skill("saying"));
        let add = journeyman::domain::LibraryChange::Add(skill);
        let added = block_on(store.commit(&sample::commit(0, "a start", vec![add])));
        let mut library = SkillLibrary::new();
        library
            .apply(&added.expect("it commits"))
            .expect("it applies");
        let mut recipe = recipe();
        recipe.select.selector = top(1);
        recipe.select.withhold = Some(journeyman::domain::Withhold::new(0.5));
        recipe.write.when = WriteWhen::Never;
        recipe.attempts.group = n32(1);
        let planned = plan(Mode::Train).edited(|it| {
            it.recipe = recipe;
            it.tasks = tasks(40);
            it.library = library;
        });
        let mut machine = RunMachine::new(planned).expect("a machine");
        while !machine.is_finished() {
            if resumes {
                let json = machine.save().expect("it saves");
                machine = RunMachine::resume(&json, &journeyman::policy::Policies::new())
                    .expect("it resumes");
            }
            perform(&mut machine, &store, Seed(0), 1);
        }
        let events = machine.take_events().into_iter();
        let changed = events.filter_map(|event| match event.kind {
            EventKind::LiftChanged { lift } => Some(*lift),
            _ => None,
        });
        (machine.report().lifts, changed.collect::<Vec<_>>())
    };
    let (lifts, changed) = told(false);
    assert_eq!(changed, lifts);
    // The library, and the one skill in it.
    assert!(lifts.len() >= 2, "{lifts:?}");
    assert_eq!(told(true), (lifts, changed));
}

#[test]
fn a_saved_run_of_another_schema_or_of_garbage_is_refused() {
    let check = |json: &str, kind: ErrorKind| {
        assert_eq!(
            RunMachine::resume(json, &journeyman::policy::Policies::new())
                .expect_err("refused")
                .kind(),
            kind,
            "{json}"
        );
    };
    check("", ErrorKind::Corrupt);
    check(
        &format!("{{\"schema\": {}}}", RunMachine::SCHEMA),
        ErrorKind::Corrupt,
    );
    check("{\"schema\": 99}", ErrorKind::Unsupported);
}

#[test]
fn a_run_of_another_version_is_refused_with_what_to_do_and_what_stays_usable() {
    let policies = journeyman::policy::Policies::new();
    let error = RunMachine::resume("{\"schema\": 99}", &policies).expect_err("refused");
    let reads = RunMachine::SCHEMA;
    assert_eq!(
        error.to_string(),
        format!(
            "Unsupported at RunMachine::resume {{ reads: {reads} }}: schema 99 is not the one this version reads; \
             hint: finish the run with the version that began it, or begin it anew; the library is no part of the \
             journal and opens as before, with all that this run changed in it"
        )
    );
}

#[test]
fn an_answer_that_nothing_waits_for_changes_nothing() {
    let mut machine = RunMachine::new(plan(Mode::Train)).expect("a machine");
    let before = machine.save().expect("it saves");
    let (id, _) = machine.effects().into_iter().next().expect("an effect");
    let wrong = machine.answer(id, Answer::Played(Ok(None)));
    assert_eq!(wrong.expect_err("refused").kind(), ErrorKind::Invalid);
    assert_eq!(machine.save().expect("it saves"), before);
}

#[test]
fn an_answer_that_comes_twice_changes_nothing() {
    let store = MemoryStore::new();
    let mut machine = RunMachine::new(plan(Mode::Train)).expect("a machine");
    for _ in 0..40 {
        let (id, effect) = machine.effects().into_iter().next().expect("an effect");
        let given = answer(&id, effect, &store);
        machine.answer(id.clone(), given.clone()).expect("it fits");
        let before = machine.save().expect("it saves");
        if !matches!(given, Answer::Committed(_)) {
            machine
                .answer(id.clone(), given)
                .expect("it is passed over");
        }
        assert_eq!(machine.save().expect("it saves"), before, "{id}");
    }
}

#[test]
fn bad_plans_are_refused() {
    let check = |plan: RunPlan, words: &str| {
        let error = RunMachine::new(plan).expect_err("refused");
        assert!(error.to_string().contains(words), "{error}");
    };
    let none = plan(Mode::Train).edited(|it| it.tasks = Vec::new());
    check(none, "the task stream is empty");
    let mut twice = plan(Mode::Train);
    twice.tasks[1].id = TaskId::new("task-0");
    check(twice, "two tasks have the same id");
    let mut cold = plan(Mode::Train);
    cold.recipe.attempts.temperature = -1.0;
    check(cold, "the temperature must be finite and not negative");
}
