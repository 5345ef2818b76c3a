//! Skills on trial where no world can be played again: live attempts release them.

use journeyman::{
    Version,
    domain::SkillRef,
    library::{LiveEvidence, PassReason},
    papers::hisme::MicroPolicy,
    recipe::Maintenance,
    stations::reward::UsedWhen,
};

use super::*;

/// Roles that extract a skill from each attempt and judge what it did; with a world or without.
pub(super) fn parts(attribute: &'static str, with_world: bool) -> Components {
    let model = ScriptedModel::by(move |request, _| {
        let text = request.prompt.text();
        let field = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.unwrap_or_default().to_owned()
        };
        let words = field("task: ")
            .replace("say ", "")
            .replace(" and then ", " ");
        Play::Give(match field("role: ").as_str() {
            "extract" if field("candidate: ") == "0" => {
                format!("skill {words}: How to say {words}.\nsay: {words}")
            }
            "attribute" => attribute.to_owned(),
            "bundle" => "integration 0 the whole of it".to_owned(),
            "evolve" => "Leave out what nobody asked for.".to_owned(),
            _ => "none: there is nothing to write".to_owned(),
        })
    });
    let mut parts = if with_world { components() } else { own_loop() };
    parts.scorer = None;
    parts.model = Some(Arc::new(model));
    parts
}

pub(super) fn hisme() -> Recipe {
    let mut recipe = recipe::hisme_robust();
    recipe.batch = n64(3);
    for program in ["micro", "macro"] {
        recipe.maintenance.every(program, n64(3));
    }
    recipe
}

/// What becomes of the skill that the first of some attempts at like tasks brings, and whether its release was told.
fn check(recipe: Recipe, parts: Components, did: &[Did], expect: State) {
    let micro = recipe.maintenance.get::<MicroPolicy>();
    let bundles = micro.is_some_and(|micro| micro.bundles.is_some());
    block_on(async {
        let journeyman = open_as("test", &parts, recipe).await;
        let events = journeyman.events();
        let tasks = alike(did.len());
        for (number, (task, did)) in tasks.into_iter().zip(did).enumerate() {
            let report = attempt(&journeyman, task, *did).await;
            let given = !report.attempts[0].injected.is_empty();
            assert_eq!(given, number > 0, "what is on trial is offered: {number}");
        }
        let library = journeyman.library().await.expect("a library");
        let skills: Vec<State> = library.entries().map(|entry| entry.skill.state).collect();
        assert_eq!(skills, [expect]);
        let events = told(events);
        let waits = events.iter().any(|event| {
            matches!(&event.kind, EventKind::Waits { state: State::Trial, reason, .. }
                if reason.contains("live attempts at 2 tasks") && reason.contains("bundle") == bundles)
        });
        assert!(
            waits,
            "it waits first, and for a bundle where there are any"
        );
        let released = events.iter().any(|event| {
            matches!(&event.kind, EventKind::StateChanged { state: State::Active, reason, .. }
                if reason.contains("live attempts"))
        });
        assert_eq!(released, expect == State::Active);
    });
}

/// HiSME without bundles, with nothing else left of its maintenance or with all of it.
fn without_bundles(all: bool) -> Recipe {
    let mut recipe = hisme();
    match all {
        true => recipe
            .maintenance
            .edit(|micro: &mut MicroPolicy| micro.bundles = None),
        false => recipe.maintenance = Maintenance::default(),
    }
    recipe
}

#[test]
fn live_attempts_at_two_tasks_release_a_skill_that_nothing_can_replay() {
    let helpful = || parts("helpful: it was followed", false);
    let neutral = || parts("neutral: it was not followed", false);
    for recipe in [hisme(), without_bundles(false)] {
        check(recipe.clone(), helpful(), &[CLEAN; 6], State::Active);
        check(recipe.clone(), helpful(), &[CLEAN; 2], State::Trial);
        // Those that fail speak against it.
        let failing = [CLEAN, FAILED, FAILED, FAILED, FAILED, FAILED];
        check(recipe.clone(), neutral(), &failing, State::Trial);
        // Done, but not with it.
        let unused = Did {
            used: SkillUse::NotFollowed,
            ..CLEAN
        };
        check(recipe.clone(), neutral(), &[unused; 6], State::Trial);
        // The host says nothing of their use: the role's judgement settles it, and where it cannot, they release nothing.
        let silent = Did {
            used: SkillUse::Unknown,
            ..CLEAN
        };
        let uncertain = parts("uncertain: it cannot be told", false);
        check(recipe.clone(), helpful(), &[silent; 6], State::Active);
        check(recipe.clone(), neutral(), &[silent; 6], State::Trial);
        check(recipe, uncertain, &[silent; 6], State::Trial);
    }
}

#[test]
fn a_recipe_says_whether_attempts_of_unknown_use_release_a_skill() {
    let silent = Did {
        used: SkillUse::Unknown,
        ..CLEAN
    };
    let unused = Did {
        used: SkillUse::NotFollowed,
        ..CLEAN
    };
    let uncertain = || parts("uncertain: it cannot be told", false);
    let with = |skill_use, did: Did, expect| {
        let mut recipe = without_bundles(false);
        recipe.reward.skill_use = skill_use;
        check(recipe, uncertain(), &[did; 6], expect);
    };
    with(UsedWhen::Followed, silent, State::Trial);
    with(UsedWhen::FollowedOrUnknown, silent, State::Active);
    with(UsedWhen::FollowedOrUnknown, unused, State::Trial);
    with(UsedWhen::Injected, unused, State::Active);
}

#[test]
fn an_abstracted_trace_is_released_by_live_attempts_too() {
    let mut parts = own_loop();
    parts.model = Some(Arc::new(ScriptedModel::always("garbage")));
    let mut standard = recipe::standard();
    standard.select.selector = top(1);
    let did = [REFUSED, CLEAN, CLEAN, CLEAN];
    check(standard.clone(), parts.clone(), &did, State::Active);
    let mut again = own_loop();
    again.model = parts.model;
    check(
        standard,
        again,
        &[REFUSED, FAILED, FAILED, FAILED],
        State::Trial,
    );
}

#[test]
fn without_bundles_live_attempts_release_whatever_else_is_maintained() {
    let parts = |attribute| parts(attribute, false);
    let neutral = || parts("neutral: it cannot be told");
    let unused = Did {
        used: SkillUse::NotFollowed,
        ..CLEAN
    };
    for all in [false, true] {
        let recipe = || without_bundles(all);
        check(recipe(), neutral(), &[CLEAN; 6], State::Active);
        check(recipe(), neutral(), &[unused; 6], State::Trial);
        check(recipe(), neutral(), &[CLEAN, CLEAN], State::Trial);
        let refused = [CLEAN, REFUSED, REFUSED, REFUSED, REFUSED, REFUSED];
        check(recipe(), neutral(), &refused, State::Trial);
        // At two tasks it went well, and at as many it did not.
        let failing = [CLEAN, CLEAN, FAILED, FAILED, CLEAN, FAILED];
        check(recipe(), neutral(), &failing, State::Trial);
    }
    // More judgements call it harmful than helpful.
    let harmful = parts("harmful: it was refused");
    check(without_bundles(false), harmful, &[CLEAN; 6], State::Trial);

    let mut on_trial = recipe::standard();
    on_trial.admit.initial_state = State::Trial;
    on_trial.select.selector = top(1);
    // The commit behind the second task at which it went well releases it.
    let brings = [REFUSED, CLEAN, CLEAN, CLEAN];
    check(on_trial.clone(), own_loop(), &brings, State::Active);
    check(on_trial, own_loop(), &brings[..2], State::Trial);
}

/// What a release of a version does to a skill in version 2 and in a state.
fn check_release(state: State, version: u64, expect: Option<PassReason>) {
    let id = || journeyman::SkillId::new("say");
    let skill = |version, state| {
        Box::new(
            sample::skill("say")
                .with_id(id())
                .with_version(version)
                .with_state(state),
        )
    };
    let changes = vec![
        LibraryChange::Add(skill(1, State::Trial)),
        LibraryChange::Revise(skill(2, state)),
    ];
    let before = [sample::committed(1, changes)];
    let mut library = SkillLibrary::replay(&before).expect("it folds");
    let release = LibraryChange::Release {
        skill: SkillRef {
            id: id(),
            version: Version(version),
        },
        reason: "a test".to_owned(),
        from_quarantine: false,
    };
    let applied = library.apply(&sample::committed(2, vec![release]));
    let applied = applied.expect("it is folded");
    let passed: Vec<_> = applied.passed_over.iter().map(|one| one.reason).collect();
    let place = format!("version {version} of a skill that is {state}");
    assert_eq!(passed, Vec::from_iter(expect), "{place}");
    let after = library.get(&id()).expect("it is there").skill.state;
    let released = if expect.is_none() {
        State::Active
    } else {
        state
    };
    assert_eq!(after, released, "{place}");
}

#[test]
fn a_release_of_another_version_or_of_what_is_not_on_trial_is_passed_over() {
    check_release(State::Trial, 2, None);
    for other in [1, 3] {
        check_release(State::Trial, other, Some(PassReason::OtherVersion));
        check_release(State::Disabled, other, Some(PassReason::OtherVersion));
    }
    use State::*;
    for state in [Draft, Quarantined, Active, Disabled, Archived] {
        check_release(state, 2, Some(PassReason::NotOnTrial));
    }
}

/// Brings a skill out of its trial, puts it back, and looks at what releases it again.
fn check_again(recipe: Recipe, parts: Components) {
    block_on(async {
        let journeyman = open_as("test", &parts, recipe).await;
        let mut number = 0;
        // Each attempt is at a task of its own, which is one for the skill or has nothing to do with it.
        let mut attempts = async |did: &[Did], words: [&str; 2]| {
            for did in did {
                let mut task = sample::task(&format!("task-{number}"), &words);
                task.instruction = format!("{} {}", words[0], words[1]);
                number += 1;
                attempt(&journeyman, task, *did).await;
            }
            let library = journeyman.library().await.expect("a library");
            let mut entries = library.entries();
            let entry = entries.next().expect("a skill").clone();
            assert!(entries.next().is_none());
            entry
        };
        let (like, others) = (["one", "two"], ["seven", "nine"]);
        let before = attempts(&[CLEAN; 6], like).await;
        assert_eq!(before.skill.state, State::Active);
        let version = before.skill.version;
        let set = journeyman.set_state(&before.skill.id, State::Trial, "look again");
        set.await.expect("it is there");
        let again = attempts(&[], like).await;
        assert_eq!(again.skill.state, State::Trial);
        assert_eq!(
            again.life.live(version, SkillUse::is_followed),
            LiveEvidence::default()
        );
        let lifetime = again.life.lifetime();
        assert_eq!(lifetime, before.life.lifetime(), "those stay");
        let none = attempts(&[FAILED; 6], others).await;
        assert_eq!(none.life.lifetime(), lifetime, "it was not even found");
        assert_eq!(none.skill.state, State::Trial, "nothing new was seen");
        let live = attempts(&[CLEAN; 6], like).await;
        assert_eq!(live.skill.state, State::Active);
    });
}

#[test]
fn a_skill_that_is_put_on_trial_again_is_not_released_by_what_was_seen_before() {
    for recipe in [hisme(), without_bundles(false), without_bundles(true)] {
        check_again(recipe, parts("neutral: it cannot be told", false));
    }
    for recipe in [hisme(), without_bundles(false)] {
        check_again(recipe, parts("helpful: it was followed", false));
    }
}

#[test]
fn judgements_of_an_earlier_trial_release_no_skill_that_is_put_on_trial_again() {
    let helpful = parts("helpful: it was followed", false);
    check_again(without_bundles(true), helpful);
}
