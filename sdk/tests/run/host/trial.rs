//! Skills on trial where no world can be played again: live attempts release them.

use journeyman::recipe::Maintenance;

use super::*;

/// Roles that extract a skill from each attempt and judge what it did; with a world or without.
pub(super) fn parts(attribute: &'static str, with_world: bool) -> Backends {
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
    let mut parts = if with_world { backends() } else { own_loop() };
    parts.scorer = None;
    parts.model = Some(Arc::new(model));
    parts
}

pub(super) fn hisme() -> Recipe {
    let mut recipe = recipe::hisme();
    recipe.schedule.batch = 3;
    recipe.schedule.micro = 3;
    recipe.schedule.r#macro = 3;
    recipe
}

/// What becomes of the skill that the first of some attempts at like tasks brings, and whether its release was told.
fn check(recipe: Recipe, parts: Backends, did: &[Did], expect: State) {
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
                if reason.contains("live attempts at 2 tasks"))
        });
        assert!(waits, "it waits first");
        let released = events.iter().any(|event| {
            matches!(&event.kind, EventKind::StateChanged { state: State::Active, reason, .. }
                if reason.contains("live attempts"))
        });
        assert_eq!(released, expect == State::Active);
    });
}

#[test]
fn live_attempts_at_two_tasks_release_a_skill_that_nothing_can_replay() {
    let helpful = || parts("helpful: it was followed", false);
    let neutral = || parts("neutral: it was not followed", false);
    let mut without = hisme();
    without.maintenance = Maintenance::default();
    for recipe in [hisme(), without] {
        check(recipe.clone(), helpful(), &[CLEAN; 6], State::Active);
        check(recipe.clone(), helpful(), &[CLEAN; 2], State::Trial);
        // Those that fail speak against it.
        let failing = [CLEAN, FAILED, FAILED, FAILED, FAILED, FAILED];
        check(recipe.clone(), neutral(), &failing, State::Trial);
        // Done, but not with it.
        let unused = Did {
            used: false,
            ..CLEAN
        };
        check(recipe, neutral(), &[unused; 6], State::Trial);
    }
}

#[test]
fn an_abstracted_trace_is_released_by_live_attempts_too() {
    let mut parts = own_loop();
    parts.model = Some(Arc::new(ScriptedModel::always("garbage")));
    let mut standard = recipe::standard();
    standard.selector = Selector::Top { limit: 1 };
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
