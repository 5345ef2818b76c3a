//! A curator behind HiSME's release gate: its update of a skill in use is a draft until that has passed its cases (H6).

use journeyman::{domain::LibraryChange, papers::hisme::MicroPolicy};

use super::*;

/// SkillOS with HiSME's release gate; skills are tested after every second task.
fn gated() -> Recipe {
    let hisme = recipe::hisme();
    let micro = hisme.maintenance.get::<MicroPolicy>().expect("its options");
    let mut gate = MicroPolicy::default();
    gate.bundles = micro.bundles;
    let mut recipe = recipe::skillos().with_program(n64(2), gate);
    recipe.admit.initial_state = State::Trial;
    recipe.tiers.traces = hisme.tiers.traces;
    recipe
}

/// Parts whose agent begins with a wrong word where a skill tells it to hesitate.
fn hesitating(answers: &[(&str, String)]) -> Components {
    let (mut components, _) = parts(answers);
    let agent = ScriptedExecutor::acting(|attempt: &Attempt<'_>, steps: &[Step]| {
        let words: Vec<String> =
            serde_json::from_value(attempt.task.payload.clone()).unwrap_or_default();
        let mut skills = attempt.injection.skills.iter();
        let hesitates = skills.any(|skill| skill.text.contains("hesitate"));
        let said = match (hesitates, steps.len()) {
            (true, 0) => Some("hm".to_owned()),
            (true, steps) => words.get(steps - 1).cloned(),
            (false, steps) => words.get(steps).cloned(),
        };
        Play::Give(said.map(Action::Message))
    });
    components.executor = Some(Arc::new(agent));
    components
}

/// The library after each part of the stream, and the events of all.
fn in_parts(
    recipe: Recipe,
    answers: &[(&str, String)],
    stream: &[&[&str]],
) -> (Vec<SkillLibrary>, Vec<EventKind>) {
    block_on(async {
        let options = Options::new("test", Seed(7));
        let journeyman = Journeyman::open(hesitating(answers), recipe, options).await;
        let journeyman = journeyman.expect("it opens");
        let events = journeyman.events();
        let mut libraries = Vec::new();
        for part in stream {
            journeyman.learn(words(part)).await.expect("it learns");
            libraries.push(journeyman.library().await.expect("a library"));
        }
        drop(journeyman);
        let events = events.map(|event| event.kind).collect().await;
        (libraries, events)
    })
}

/// The skill with its version and state, and its draft's state.
fn states(library: &SkillLibrary) -> (u64, State, Option<State>) {
    let one = SkillName::new("one").expect("a name");
    let one = &library.by_name(&one).expect("it is there").skill;
    let draft = library.get(&SkillId::new(format!("{}-draft", one.id)));
    let draft = draft.map(|draft| draft.skill.state);
    (one.version.0, one.state, draft)
}

#[test]
fn an_update_is_a_draft_and_the_version_before_stays_in_use_until_it_has_passed() {
    let (libraries, events) = in_parts(
        gated(),
        &[
            ("one", calls(&[insert("one", "Say it.")])),
            ("three", calls(&[update("one", "First hesitate.")])),
            ("five", calls(&[update("one", "Say it, loudly.")])),
        ],
        &[
            &["one"],
            &["two"],
            &["three"],
            &["four"],
            &["five"],
            &["six"],
        ],
    );
    use State::{Active, Archived, Draft, Trial};
    let seen: Vec<_> = libraries.iter().map(states).collect();
    let expect = [
        (1, Trial, None),
        (1, Active, None),
        // Not tested yet.
        (1, Active, Some(Draft)),
        // It failed, and stays a draft.
        (1, Active, Some(Draft)),
        (1, Active, Some(Draft)),
        (2, Active, Some(Archived)),
    ];
    assert_eq!(seen, expect);
    let refused = |event: &EventKind| matches!(event, EventKind::Refused { reason } if reason.starts_with("one: not released: the case"));
    assert_eq!(
        events.iter().filter(|event| refused(event)).count(),
        1,
        "it is tested once: {events:#?}"
    );
    let waits = |event: &EventKind| matches!(event, EventKind::Waits { state: Draft, .. });
    assert_eq!(events.iter().filter(|event| waits(event)).count(), 2);
    let one = SkillName::new("one").unwrap();
    let one = libraries[5].by_name(&one).expect("it is there");
    assert_eq!(one.skill.body, "Say it, loudly.");
    assert_eq!(one.skill.parents, [one.history[0].reference()]);
    assert_eq!(one.skill.provenance.tasks, [TaskId::new("five")]);
    // Nothing is lost.
    let draft = SkillId::new(format!("{}-draft", one.skill.id));
    let draft = libraries[5].get(&draft).expect("it is kept");
    let bodies: Vec<&str> = draft.versions().map(|one| one.body.as_str()).collect();
    assert_eq!(bodies, ["First hesitate.", "Say it, loudly."]);
}

#[test]
fn an_update_of_a_skill_on_trial_takes_its_place_and_so_does_one_without_a_gate() {
    let answers = [
        ("one", calls(&[insert("one", "Say it.")])),
        ("two", calls(&[update("one", "Say it, loudly.")])),
    ];
    let check = |recipe: Recipe, state| {
        let (libraries, _) = in_parts(recipe, &answers, &[&["one"], &["two"]]);
        assert_eq!(states(&libraries[1]), (2, state, None));
    };
    let mut later = gated();
    later.maintenance.every("micro", n64(5));
    check(later, State::Trial);
    check(recipe::skillos(), State::Active);
}

#[test]
fn a_draft_gives_way_to_a_change_of_its_skill() {
    let answers = [
        ("one", calls(&[insert("one", "Say it.")])),
        ("three", calls(&[update("one", "Say it, loudly.")])),
    ];
    block_on(async {
        let options = Options::new("test", Seed(7));
        let store = Arc::new(MemoryStore::new());
        let components = hesitating(&answers).with_store(store.clone());
        let journeyman = Journeyman::open(components, gated(), options).await;
        let journeyman = journeyman.expect("it opens");
        let events = journeyman.events();
        let learned = journeyman.learn(words(&["one", "two", "three"])).await;
        learned.expect("it learns");
        let library = journeyman.library().await.expect("a library");
        let one = SkillName::new("one").unwrap();
        let mut theirs = library.by_name(&one).expect("it is there").skill.clone();
        theirs.body = "Say it as we do.".to_owned();
        theirs.version = theirs.version.next();
        theirs.parents = Vec::new();
        let id = theirs.id.clone();
        let edit = LibraryChange::Revise(Box::new(theirs));
        let edit = sample::commit(library.revision().0, "theirs", vec![edit]);
        store.commit(&edit).await.expect("it commits");
        journeyman.learn(words(&["four"])).await.expect("it learns");
        let library = journeyman.library().await.expect("a library");
        assert_eq!(library.get(&id).unwrap().skill.body, "Say it as we do.");
        let draft = library.get(&SkillId::new(format!("{id}-draft"))).unwrap();
        assert_eq!(draft.skill.state, State::Draft);
        drop(journeyman);
        let events: Vec<Event> = events.collect().await;
        let told = events.iter().any(|event| {
            matches!(&event.kind, EventKind::Refused { reason } if reason.contains("has changed since"))
        });
        assert!(told, "{events:#?}");
    });
}
