//! Skills in quarantine that a recipe tries: who is offered them, what releases them, and what ends the trial.

use journeyman::{
    Version,
    agent::FrozenStore,
    domain::Taint,
    library::{Entry, SetBy},
    stations::maintain::QuarantinePolicy,
};

use super::*;

/// A skill that was written from what an untrusted source said.
fn tainted() -> Skill {
    let mut skill = sample::skill("one");
    skill.provenance.origin = Origin::Summary;
    skill.taint = Taint::Tainted;
    skill
}

/// The standard recipe, which writes nothing here and tries skills in quarantine until so many tasks went well.
fn recipe(tasks: Option<u32>) -> Recipe {
    let mut recipe = recipe::standard();
    recipe.write.when = WriteWhen::Never;
    recipe.select.selector = top(1);
    recipe.maintenance.quarantine = tasks.map(|tasks| QuarantinePolicy::new(n32(tasks)));
    recipe
}

/// The parts of a host's own loop over a library with this skill.
async fn parts_with(skill: Skill) -> Components {
    let mut parts = own_loop();
    parts.scorer = None;
    let store = MemoryStore::new();
    let add = vec![LibraryChange::Add(Box::new(skill))];
    let start = sample::commit(0, "start", add);
    store.commit(&start).await.expect("it is taken");
    parts.store = Some(Arc::new(store));
    parts
}

/// What becomes of the tainted skill after these attempts at different tasks, how many of them had it, and the events.
fn tried(recipe: Recipe, parts: Option<Components>, did: &[Did]) -> (Entry, usize, Vec<Event>) {
    block_on(async {
        let mut with = parts_with(tainted()).await;
        if let Some(parts) = parts {
            with.model = parts.model;
        }
        let journeyman = open_as("test", &with, recipe).await;
        let events = journeyman.events();
        let mut given = 0;
        for (task, did) in alike(did.len()).into_iter().zip(did) {
            let report = attempt(&journeyman, task, *did).await;
            given += report.attempts[0].injected.len();
        }
        let library = journeyman.library().await.expect("a library");
        let entry = library.get(&tainted().id).expect("it is there").clone();
        (entry, given, told(events))
    })
}

/// The reasons for which the skill's state was set.
fn reasons(events: &[Event]) -> Vec<&str> {
    let reasons = events.iter().filter_map(|event| match &event.kind {
        EventKind::StateChanged { reason, .. } => Some(reason.as_str()),
        _ => None,
    });
    reasons.collect()
}

#[test]
fn it_is_offered_where_the_recipe_says_so_and_in_learning_alone() {
    for tasks in [None, Some(3)] {
        block_on(async {
            let parts = parts_with(tainted()).await;
            let journeyman = open_as("test", &parts, recipe(tasks)).await;
            let held = journeyman.findings();
            let held = held.iter().any(|one| one.kind == FindingKind::Quarantined);
            assert_eq!(held, tasks.is_none());
            let events = journeyman.events();
            let handle = journeyman.begin(alike(1).remove(0)).await;
            let handle = handle.expect("it begins");
            let marks = handle.injection().skills.iter();
            let marks: Vec<bool> = marks.map(|skill| skill.quarantined).collect();
            let expect: &[bool] = if tasks.is_some() { &[true] } else { &[] };
            assert_eq!(marks, expect);
            let report = handle.finish(Outcome::success()).await;
            let report = report.expect("it finishes").expect("a group of one");
            let marked = &report.selections[0].quarantined;
            assert_eq!(marked, &report.attempts[0].injected);
            assert_eq!(marked.len(), expect.len());
            let said = told(events)
                .iter()
                .any(|event| event.to_string().contains("tried in quarantine: one@1"));
            assert_eq!(said, tasks.is_some());

            // Who evaluates, or only reads, is given nothing.
            let store = parts.store.clone().expect("a store");
            let mut frozen = parts.clone();
            let snapshot = store.load().await.expect("it is read");
            frozen.store = Some(Arc::new(FrozenStore::new(snapshot)));
            let reader = open_as("reader", &frozen, recipe(tasks)).await;
            let handle = reader.begin(alike(1).remove(0)).await.expect("it begins");
            assert!(handle.injection().is_empty());
            let mut all = components();
            all.store = Some(store);
            all.scorer = None;
            let evaluates = open_as("evaluates", &all, recipe(tasks)).await;
            let report = evaluates.evaluate(alike(1)).await.expect("it evaluates");
            assert!(report.attempts().all(|one| one.injected.is_empty()));
        });
    }
}

#[test]
fn attempts_at_enough_tasks_release_it_and_it_stays_tainted() {
    let states = |tasks, did: &[Did]| tried(recipe(Some(tasks)), None, did);
    // The commit behind the third task at which it went well releases it.
    let (entry, given, events) = states(3, &[CLEAN; 3]);
    assert_eq!((entry.skill.state, given), (State::Quarantined, 3));
    assert!(entry.awaits_evidence() && reasons(&events).is_empty());
    let (entry, given, events) = states(3, &[CLEAN; 5]);
    assert_eq!((entry.skill.state, given), (State::Active, 5));
    assert_eq!(entry.skill.taint, Taint::Tainted);
    assert_eq!(
        reasons(&events),
        ["live attempts at 3 tasks went well with it; it was in quarantine, since it is tainted"]
    );
    // As many as the policy says, and more than for a skill on trial where it says nothing.
    assert_eq!(states(2, &[CLEAN; 3]).0.skill.state, State::Active);
    assert_eq!(QuarantinePolicy::default().tasks, n32(3));
    // Refused actions and attempts that failed do not count.
    assert_eq!(states(2, &[REFUSED; 5]).0.skill.state, State::Quarantined);
    let mixed = [CLEAN, FAILED, CLEAN, CLEAN, CLEAN];
    assert_eq!(states(3, &mixed).0.skill.state, State::Active);
    // Where nobody asks for it, it waits as ever.
    let (entry, given, _) = tried(recipe(None), None, &[CLEAN; 5]);
    assert_eq!((entry.skill.state, given), (State::Quarantined, 0));
}

#[test]
fn tasks_are_counted_and_not_attempts() {
    block_on(async {
        let parts = parts_with(tainted()).await;
        let journeyman = open_as("test", &parts, recipe(Some(2))).await;
        for _ in 0..5 {
            attempt(&journeyman, alike(1).remove(0), CLEAN).await;
        }
        let library = journeyman.library().await.expect("a library");
        let entry = library.get(&tainted().id).expect("it is there");
        assert_eq!(entry.skill.state, State::Quarantined);
    });
}

#[test]
fn the_first_harm_ends_the_trial_of_that_version() {
    let check = |recipe: Recipe, parts: Option<Components>, did: &[Did], expect: &str| {
        let (entry, given, events) = tried(recipe, parts, did);
        let state = (entry.skill.state, entry.awaits_evidence());
        assert_eq!(state, (State::Quarantined, false), "{did:?}");
        let set = entry.state_set().map(|set| &set.by);
        assert!(matches!(set, Some(SetBy::Run(_))), "{set:?}");
        assert_eq!(
            reasons(&events),
            [format!("its trial in quarantine ends: {expect}")]
        );
        given
    };
    let failed = [FAILED, CLEAN, CLEAN, CLEAN, CLEAN];
    let why = "with it 1 attempts failed and 0 succeeded";
    assert_eq!(check(recipe(Some(3)), None, &failed, why), 1);
    // What nobody says of its use counts against it.
    let silent = Did {
        used: SkillUse::Unknown,
        ..FAILED
    };
    assert_eq!(check(recipe(Some(3)), None, &[silent; 3], why), 1);
    let late = [CLEAN, FAILED, FAILED, CLEAN, CLEAN];
    let why = "with it 2 attempts failed and 1 succeeded";
    assert_eq!(check(recipe(Some(3)), None, &late, why), 3);
    // A role calls it harmful, although the attempt succeeded.
    let mut judged = recipe(Some(3));
    judged.credit.attribute = recipe::hisme_robust().credit.attribute;
    let harmful = trial::parts("harmful: it was refused", false);
    let why = "an attempt with it was judged harmful";
    assert_eq!(check(judged, Some(harmful), &[CLEAN; 4], why), 1);

    // An attempt that left it aside says nothing of it.
    let unused = Did {
        used: SkillUse::NotFollowed,
        ..FAILED
    };
    let (entry, given, _) = tried(recipe(Some(3)), None, &[unused; 3]);
    assert!(entry.awaits_evidence());
    assert_eq!(given, 3);
}

#[test]
fn one_whose_trial_ended_is_said_to_wait_and_its_next_version_is_tried() {
    block_on(async {
        let parts = parts_with(tainted()).await;
        let journeyman = open_as("test", &parts, recipe(Some(3))).await;
        let held = || {
            let findings = journeyman.findings().into_iter();
            findings
                .filter(|one| one.kind == FindingKind::Quarantined)
                .count()
        };
        assert_eq!(held(), 0);
        attempt(&journeyman, alike(1).remove(0), FAILED).await;
        assert_eq!(held(), 1);
        let mut next = tainted().with_version(2);
        next.body.push_str(" And go on.");
        let store = parts.store.clone().expect("a store");
        let base = journeyman.library().await.expect("a library").revision();
        let change = vec![LibraryChange::Revise(Box::new(next))];
        let commit = sample::commit(base.0, "next", change);
        store.commit(&commit).await.expect("it is taken");
        let report = attempt(&journeyman, alike(2).remove(1), CLEAN).await;
        assert_eq!(report.attempts[0].injected[0].version, Version(2));
        assert_eq!(held(), 0);
    });
}

#[test]
fn what_a_person_says_stands() {
    for (state, given) in [
        (State::Active, 1),
        (State::Trial, 1),
        (State::Quarantined, 0),
        (State::Disabled, 0),
    ] {
        block_on(async {
            let parts = parts_with(tainted()).await;
            let journeyman = open_as("test", &parts, recipe(Some(1))).await;
            let handle = journeyman.begin(alike(1).remove(0)).await;
            let handle = handle.expect("it begins");
            assert_eq!(handle.injection().skills.len(), 1);
            // While the attempt is made that would end its trial.
            let id = tainted().id;
            let set = journeyman.set_state(&id, state, "looked at").await;
            set.expect("it is there");
            handle
                .finish(Outcome::failure())
                .await
                .expect("it finishes");
            let library = journeyman.library().await.expect("a library");
            let entry = library.get(&id).expect("it is there");
            assert_eq!(entry.skill.state, state);
            let report = attempt(&journeyman, alike(2).remove(1), CLEAN).await;
            assert_eq!(report.attempts[0].injected.len(), given, "{state}");
            assert!(report.selections[0].quarantined.is_empty());
        });
    }
}

#[test]
fn what_comes_of_it_is_tainted_and_in_quarantine_too() {
    block_on(async {
        let parts = parts_with(tainted()).await;
        let journeyman = open_as("test", &parts, recipe(Some(1))).await;
        for task in alike(3) {
            attempt(&journeyman, task, CLEAN).await;
        }
        let library = journeyman.library().await.expect("a library");
        let of = tainted().reference();
        let entry = library.get(&of.id).expect("it is there");
        assert_eq!(entry.skill.state, State::Active);
        let mut child = sample::skill("child");
        child.provenance.origin = Origin::Refactored;
        child.parents = vec![of.clone()];
        let mut next = tainted().with_version(2);
        next.taint = Taint::Clean;
        let changes = vec![
            LibraryChange::Add(Box::new(child)),
            LibraryChange::Revise(Box::new(next)),
        ];
        let mut library = library;
        let revision = library.revision().next().0;
        let applied = library.apply(&sample::committed(revision, changes));
        applied.expect("it is taken");
        for id in ["child".into(), of.id] {
            let skill = &library.get(&id).expect("it is there").skill;
            let held = (skill.taint, skill.state);
            assert_eq!(held, (Taint::Tainted, State::Quarantined), "{id}");
        }
    });
}

#[test]
fn what_is_written_from_an_attempt_with_it_is_tainted() {
    for (tasks, expect) in [
        (None, (Taint::Clean, State::Active)),
        (Some(3), (Taint::Tainted, State::Quarantined)),
    ] {
        block_on(async {
            let parts = parts_with(tainted()).await;
            let mut recipe = recipe(tasks);
            recipe.write.when = WriteWhen::Always;
            let journeyman = open_as("test", &parts, recipe).await;
            let report = attempt(&journeyman, alike(1).remove(0), CLEAN).await;
            assert_eq!(admitted(&report), 1);
            let library = journeyman.library().await.expect("a library");
            let mut new = library.entries().map(|entry| &entry.skill);
            let new = new.find(|skill| skill.id != tainted().id);
            let new = new.expect("a skill was written");
            assert_eq!((new.taint, new.state), expect);
        });
    }
}

/// The parts of a run in a world of which nobody vouches.
fn untrusted() -> Components {
    let world = ScriptedEnvironment::words().beginning(|task, _| {
        let mut seen = sample::observation(&task.instruction);
        seen.source = Source::untrusted("the web");
        Play::Give(seen)
    });
    components().with_environment(Arc::new(world))
}

/// A recipe by which a run in that world writes skills, tries them and releases them.
pub(super) fn trying() -> Recipe {
    let mut recipe = super::super::recipe();
    recipe.attempts.group = n32(2);
    recipe.maintenance.quarantine = Some(QuarantinePolicy::new(n32(2)));
    recipe
}

#[test]
fn a_run_that_tries_them_replays_to_the_same_bytes() {
    block_on(async {
        let parts = untrusted();
        let journal = parts.journal.clone().expect("a journal");
        let journeyman = open_as("test", &parts, trying()).await;
        let report = journeyman.learn(tasks(15)).await.expect("it learns");
        let library = journeyman.library().await.expect("a library");
        let entries = journal.read(&report.run).await.expect("entries");
        let machine = replay(&entries, &journeyman::policy::Policies::new()).expect("a replay");
        assert_eq!(bytes(machine.library()), bytes(&library));
        let marked = report.tasks.iter().flat_map(|task| &task.selections);
        assert!(marked.clone().any(|one| !one.quarantined.is_empty()));
        let mut states = library.entries().map(|entry| entry.skill.state);
        assert!(
            states.any(|state| state == State::Active),
            "one is released"
        );
        // The same run without the trials leaves no word of them.
        let mut without = trying();
        without.maintenance.quarantine = None;
        let parts = untrusted();
        let journal = parts.journal.clone().expect("a journal");
        let journeyman = open_as("test", &parts, without).await;
        let report = journeyman.learn(tasks(15)).await.expect("it learns");
        let entries = journal.read(&report.run).await.expect("entries");
        let mut kept = entries.iter().map(|entry| entry.event.to_string());
        let fields = ["\"quarantine\":", "\"quarantined\":"];
        assert!(!kept.any(|entry| fields.iter().any(|field| entry.contains(field))));
        let library = journeyman.library().await.expect("a library");
        let mut skills = library.entries();
        assert!(skills.all(|entry| entry.skill.state == State::Quarantined));
    });
}

#[test]
fn a_run_that_tries_them_and_was_stopped_anywhere_ends_as_if_it_had_not_been() {
    resuming::check(untrusted, &trying(), 6);
}

#[test]
fn an_injection_of_before_is_read() {
    let skill = sample::injection(&[sample::skill("one")]);
    let json = serde_json::to_value(&skill).expect("it is JSON");
    assert!(json["skills"][0].get("quarantined").is_none());
    let read: Injection = serde_json::from_value(json).expect("it is read");
    assert_eq!(read, skill);
    let mut held = tainted();
    held.state = State::Quarantined;
    let json = serde_json::to_value(sample::injection(&[held])).expect("it is JSON");
    assert_eq!(json["skills"][0]["quarantined"], json!(true));
}
