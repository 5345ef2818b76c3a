//! When attempts one by one bring a skill, and what stands in for one that a role could not write.

use journeyman::{agent::role::GeneralRoles, stations::propose::Recovered};

use super::*;

/// How many skills each of some attempts brings; each attempt by a new start of the session, or all by one.
fn check(did: &[(Task, Did)], expect: &[usize]) {
    for restarts in [false, true] {
        let components = own_loop();
        let brought = block_on(async {
            let first = open_as("test", &components, recipe::standard()).await;
            let mut brought = Vec::new();
            for (task, did) in did {
                let report = match restarts {
                    true => {
                        let again = open_as("test", &components, recipe::standard()).await;
                        attempt(&again, task.clone(), *did).await
                    }
                    false => attempt(&first, task.clone(), *did).await,
                };
                assert_eq!(admitted(&report), report.written.len());
                brought.push(report.written.len());
            }
            brought
        });
        assert_eq!(brought, expect, "restarts: {restarts}");
    }
}

fn at_like_tasks(did: &[Did]) -> Vec<(Task, Did)> {
    alike(did.len())
        .into_iter()
        .zip(did.iter().copied())
        .collect()
}

#[test]
fn a_single_attempt_writes_where_there_was_something_to_learn() {
    // Done only after a refusal.
    check(&at_like_tasks(&[REFUSED]), &[1]);
    // Done at once, with nothing before it.
    check(&at_like_tasks(&[CLEAN]), &[0]);
    check(&at_like_tasks(&[CLEAN, CLEAN, CLEAN]), &[0, 0, 0]);
    // Done at once, after like tasks were not.
    check(&at_like_tasks(&[FAILED, CLEAN]), &[0, 1]);
    check(&at_like_tasks(&[FAILED, FAILED, CLEAN]), &[0, 0, 1]);
    // From failures alone there is nothing to write.
    check(&at_like_tasks(&[FAILED, FAILED]), &[0, 0]);
}

#[test]
fn failures_at_other_tasks_do_not_count() {
    let other = sample::task("other", &["seven", "nine"]);
    let like = alike(1).remove(0);
    check(&[(other.clone(), FAILED), (like.clone(), CLEAN)], &[0, 0]);
    // The host's own grouping decides where it gives one.
    let named = |task: Task, category: &str| task.with_category(category);
    check(
        &[
            (named(other.clone(), "words"), FAILED),
            (named(like.clone(), "words"), CLEAN),
        ],
        &[0, 1],
    );
    check(
        &[
            (named(alike(2).remove(1), "words"), FAILED),
            (named(like, "numbers"), CLEAN),
        ],
        &[0, 0],
    );
}

#[test]
fn what_a_skill_brought_about_is_not_written_again() {
    let components = own_loop();
    block_on(async {
        let journeyman = open_as("test", &components, recipe::standard()).await;
        let mut reports = Vec::new();
        for (task, did) in at_like_tasks(&[REFUSED, FAILED, FAILED, CLEAN]) {
            reports.push(attempt(&journeyman, task, did).await);
        }
        let brought: Vec<usize> = reports.iter().map(|report| report.written.len()).collect();
        assert_eq!(brought, [1, 0, 0, 0]);
        assert_eq!(reports[3].attempts[0].injected.len(), 1);
    });
}

/// Events and the substitute skill when a role's answers cannot be read.
fn fallen_back(events: &[Event]) -> Skill {
    let place = |which: fn(&EventKind) -> bool| events.iter().position(|one| which(&one.kind));
    let fell = place(|kind| {
        matches!(kind, EventKind::FellBack { role, reason, .. }
            if *role == journeyman::domain::Role::Summarize && !reason.trim().is_empty())
    });
    let entered = place(|kind| matches!(kind, EventKind::Admitted { .. }));
    let (fell, entered) = (
        fell.expect("it fell back"),
        entered.expect("a skill entered"),
    );
    assert!(fell < entered);
    let EventKind::Admitted { skill, revised } = &events[entered].kind else {
        panic!("it is the skill");
    };
    assert!(!revised);
    assert_eq!(skill.provenance.origin, Origin::TraceAbstract);
    assert_eq!(skill.state, State::Trial);
    let EventKind::Waits {
        skill: waiting,
        name,
        state,
        reason,
    } = &events[entered + 1].kind
    else {
        panic!("what it waits for follows: {:?}", events[entered + 1].kind);
    };
    assert_eq!((waiting, name), (&skill.reference(), &skill.name));
    assert_eq!(*state, State::Trial);
    assert!(!reason.is_empty());
    (**skill).clone()
}

#[test]
fn where_no_answer_can_be_read_the_abstracted_trace_is_on_trial_and_all_is_told() {
    let mut components = components();
    components.model = Some(Arc::new(ScriptedModel::always("garbage")));
    block_on(async {
        let journeyman = open_as("test", &components, recipe()).await;
        let events = journeyman.events();
        let report = journeyman.learn(tasks(3)).await.expect("it learns");
        let skill = fallen_back(&told(events));
        let library = journeyman.library().await.expect("a library");
        let kept = library.get(&skill.id).expect("it is in the library");
        assert_eq!(kept.skill.provenance.origin, Origin::TraceAbstract);
        assert!(report.written().any(|one| one.fallback));
    });
}

#[test]
fn the_abstracted_trace_of_the_shipped_roles_holds_no_value_and_no_word_of_the_task() {
    let mut components = own_loop();
    let prose = "I would say that one should simply be careful with everything.";
    components.model = Some(Arc::new(ScriptedModel::always(prose)));
    components.roles = Some(Arc::new(GeneralRoles::shipped().expect("they are shipped")));
    let task = Task::new("t-1", "Settle invoice D-4711 quickly for Ada Lovelace");
    block_on(async {
        let journeyman = open_as("test", &components, recipe::standard()).await;
        let events = journeyman.events();
        let report = attempt(&journeyman, task, REFUSED).await;
        assert_eq!(admitted(&report), 1);
        let skill = fallen_back(&told(events));
        let texts = format!(
            "{} {:?} {} {:?} {} {:?}",
            skill.name,
            skill.original_name,
            skill.description,
            skill.trigger,
            skill.body,
            skill.metadata
        )
        .to_lowercase();
        for word in [
            "settle", "invoice", "4711", "quickly", "ada", "lovelace", "careful",
        ] {
            assert!(!texts.contains(word), "{word} in {texts}");
        }
        assert!(texts.contains("verify_customer"), "{texts}");
        assert!(!texts.contains("close_ticket"), "it was refused: {texts}");
    });
}

#[test]
fn the_notes_of_attempts_keep_no_word_of_their_tasks() {
    let task = |number: usize| {
        let words = "Settle the invoice quickly for Ada Lovelace of Ockham";
        Task::new(format!("t-{number}"), words)
    };
    let components = own_loop();
    block_on(async {
        let journeyman = open_as("test", &components, recipe::standard()).await;
        for (number, did) in [FAILED, REFUSED, CLEAN].into_iter().enumerate() {
            attempt(&journeyman, task(number), did).await;
        }
        let store = components.store.clone().expect("a store");
        let committed = store.load().await.expect("it loads").committed;
        let changes = committed.iter().flat_map(|one| &one.changes);
        let notes = changes.filter(|change| matches!(change, LibraryChange::Note(_)));
        let notes: Vec<String> = notes
            .map(|note| serde_json::to_string(note).expect("JSON").to_lowercase())
            .collect();
        assert_eq!(notes.len(), 3, "one an attempt");
        for note in notes {
            for word in ["ada", "lovelace", "ockham", "settle", "invoice", "quickly"] {
                assert!(!note.contains(word), "{word} in {note}");
            }
        }
        let library = journeyman.library().await.expect("a library");
        assert!(
            library.notes().all(|note| note.words.len() > 3),
            "likeness is still told"
        );
    });
}

/// Why no skill was due, by the events of one task after another.
fn why_not_due(did: &[Did]) -> Vec<Option<String>> {
    block_on(async {
        let journeyman = open_as("test", &own_loop(), recipe::standard()).await;
        let events = journeyman.events();
        let mut steps = Vec::new();
        for (task, did) in at_like_tasks(did) {
            attempt(&journeyman, task.clone(), did).await;
            steps.push(task.id);
        }
        let events = told(events);
        let of = |task: &journeyman::TaskId| {
            events.iter().find_map(|event| match &event.kind {
                EventKind::NotDue { reason, .. } if event.task.as_ref() == Some(task) => {
                    Some(reason.clone())
                }
                _ => None,
            })
        };
        steps.iter().map(of).collect()
    })
}

#[test]
fn where_no_skill_is_due_an_event_says_why() {
    let why = why_not_due(&[REFUSED]);
    assert_eq!(why, [None]);
    let why = why_not_due(&[FAILED, CLEAN]);
    assert!(
        why[0]
            .as_ref()
            .is_some_and(|why| why.contains("no attempt was done")),
        "{why:?}"
    );
    assert_eq!(why[1], None, "it failed before");
    // Three clean ones and one after a refusal come to 0.75, which is not below it.
    let why = why_not_due(&[CLEAN, CLEAN, CLEAN, REFUSED]);
    for why in &why {
        let why = why.as_ref().expect("none is due");
        assert!(why.contains("and the recipe writes below 0.75"), "{why}");
    }
    assert!(
        why[3]
            .as_ref()
            .is_some_and(|why| why.contains("0.75, where")),
        "{why:?}"
    );
}

#[test]
fn an_event_says_whether_there_was_anything_to_learn() {
    let flawless = |score: f64| {
        let mut parts = components();
        parts.judge = Some(Arc::new(ScriptedJudge::that(Play::Give(
            Verdict::scored(true, score).expect("it is in [0, 1]"),
        ))));
        block_on(async {
            let journeyman = open_as("test", &parts, recipe::standard()).await;
            let events = journeyman.events();
            journeyman.learn(tasks(1)).await.expect("it learns");
            told(events).into_iter().find_map(|event| match event.kind {
                EventKind::NotDue { flawless, .. } => Some(flawless),
                _ => None,
            })
        })
    };
    assert_eq!(flawless(1.0), Some(true));
    assert_eq!(flawless(0.9), Some(false));
}

#[test]
fn a_group_that_does_well_says_its_mean_score() {
    let mut parts = components();
    parts.judge = Some(Arc::new(ScriptedJudge::that(Play::Give(
        Verdict::scored(true, 0.9).expect("it is in [0, 1]"),
    ))));
    block_on(async {
        let journeyman = open_as("test", &parts, recipe::standard()).await;
        let events = journeyman.events();
        journeyman.learn(tasks(1)).await.expect("it learns");
        let why = told(events).into_iter().find_map(|event| match event.kind {
            EventKind::NotDue { reason, .. } => Some(reason),
            _ => None,
        });
        let why = why.expect("none is due");
        assert!(why.contains("its 4 attempts is 0.90"), "{why}");
    });
}

#[test]
fn a_recovered_refusal_counts_alike_in_both_ways_in() {
    // Done at the first word or after a wrong one, as often as the other.
    let agent = Arc::new(ScriptedExecutor::acting(|attempt, steps| {
        let due: Vec<String> =
            serde_json::from_value(attempt.task.payload.clone()).unwrap_or_default();
        let refused = steps.iter().filter(|step| step.result.is_error).count();
        let stumbles = attempt.id.as_str().ends_with(['0', '1']) && steps.is_empty();
        let word = match stumbles {
            true => Some("hm".to_owned()),
            false => due.get(steps.len() - refused).cloned(),
        };
        Play::Give(word.map(Action::Message))
    }));
    let written = |recovered: Recovered| {
        let mut parts = components();
        parts.executor = Some(agent.clone());
        let mut recipe = recipe::standard();
        recipe.write.recovered = recovered;
        block_on(async {
            let journeyman = open_as("test", &parts, recipe.clone()).await;
            let report = journeyman.learn(tasks(1)).await.expect("it learns");
            let attempts: Vec<Option<bool>> = report.attempts().map(|one| one.success).collect();
            assert_eq!(attempts, [Some(true); 4]);
            let learned = report.written().count();
            let journeyman = open_as("test", &own_loop(), recipe).await;
            for (task, did) in at_like_tasks(&[CLEAN, CLEAN, REFUSED, REFUSED]) {
                attempt(&journeyman, task, did).await;
            }
            let library = journeyman.library().await.expect("a library");
            (learned, library.entries().count())
        })
    };
    let (learned, begun) = written(Recovered::AsFailed);
    assert_eq!((learned, begun > 0), (1, true));
    assert_eq!(written(Recovered::AsJudged), (0, 0));
}
