//! What cannot be done for now comes again, three times at most, so that it does not take the place of what can be done.

use journeyman::{Error, ErrorKind};

use super::*;

const GIVEN_UP: &str = "could not be done in 3 maintenances";

/// How often each thing was given up, by what is told of it.
fn given_up(events: &[Event]) -> Vec<String> {
    let told = events.iter().filter_map(|event| match event {
        Event::Refused { reason, .. } => {
            reason.strip_suffix(", and is not tried again until there is more evidence")
        }
        _ => None,
    });
    let mut told: Vec<String> = told
        .filter(|reason| reason.contains(GIVEN_UP))
        .map(str::to_owned)
        .collect();
    told.sort();
    told
}

fn learn(
    backends: &Backends,
    session: &str,
    recipe: Recipe,
    tasks: Vec<Task>,
) -> (SkillLibrary, Vec<Event>) {
    block_on(async {
        let options = Options::new(session, Seed(7));
        let journeyman = Journeyman::open(backends.clone(), recipe, options).await;
        let journeyman = journeyman.expect("it opens");
        let events = journeyman.events();
        journeyman.learn(tasks).await.expect("it learns");
        let library = journeyman.library().await.expect("a library");
        drop(journeyman);
        (library, events.collect().await)
    })
}

fn out_of_order() -> Error {
    Error::new(ErrorKind::Unavailable, "scripted", "out of order").temporary()
}

/// A library of skills that are judged harmful and not mended yet, and what asks for nothing but their mending.
fn harmful() -> (Backends, Recipe) {
    let (backends, _) = parts(Script {
        attribute: "harmful: it was refused",
        ..Script::default()
    });
    let mut recipe = hisme();
    recipe.selector = Selector::Top { limit: 2 };
    recipe.maintenance = recipe::Maintenance::default();
    let (library, _) = learn(&backends, "first", recipe.clone(), tasks(6));
    assert!(library.entries().count() > 1, "there are several to mend");
    recipe.selector = Selector::Nothing;
    recipe.write = WriteWhen::Never;
    recipe.maintenance.refine = hisme()
        .maintenance
        .refine
        .map(|policy| recipe::RefinePolicy { most: 1, ..policy });
    (backends, recipe)
}

#[test]
fn a_role_that_is_never_there_does_not_starve_the_others() {
    let (mut backends, recipe) = harmful();
    let asked = Arc::new(Mutex::new(Vec::<String>::new()));
    let kept = Arc::clone(&asked);
    backends.model = Some(Arc::new(ScriptedModel::by(move |request, _| {
        kept.lock().unwrap().push(request.prompt.text());
        Play::Fail(out_of_order())
    })));
    let (_, events) = learn(&backends, "then", recipe, tasks(30));
    let told = given_up(&events);
    let mut each = told.clone();
    each.dedup();
    assert!(each.len() > 1, "each has its turn: {told:?}");
    assert_eq!(told, each, "and is given up once");
    let asked = asked.lock().unwrap();
    let mut prompts: Vec<&String> = asked.iter().collect();
    prompts.sort();
    prompts.dedup();
    assert_eq!(prompts.len(), each.len(), "the same evidence for each");
}

#[test]
fn a_bundle_that_can_never_be_played_is_given_up() {
    let (mut backends, _) = parts(Script::default());
    let played = Arc::new(Mutex::new(Vec::<String>::new()));
    let kept = Arc::clone(&played);
    backends.judge = Arc::new(ScriptedJudge::by(move |request, _| {
        let attempt = request.trajectory.attempt.as_str();
        // A case's attempt has no task's number.
        if attempt.contains("/m") {
            kept.lock().unwrap().push(attempt.to_owned());
            return Play::Fail(out_of_order());
        }
        let outcome = request.trajectory.outcome.as_ref();
        Play::Give(Verdict::binary(
            outcome.is_some_and(|outcome| outcome.success),
        ))
    }));
    let mut recipe = hisme();
    recipe.selector = Selector::Nothing;
    recipe.maintenance.refactor = None;
    let (library, _) = learn(&backends, "first", recipe.clone(), tasks(3));
    assert!(library.entries().count() > 0);
    recipe.write = WriteWhen::Never;
    let (library, events) = learn(&backends, "then", recipe.clone(), tasks(30));
    let told = given_up(&events);
    assert_eq!(told.len(), library.entries().count(), "{told:?}");
    assert!(
        library
            .entries()
            .all(|entry| entry.skill.state == State::Trial)
    );
    // Nothing of them is played after that.
    played.lock().unwrap().clear();
    let (_, events) = learn(&backends, "last", recipe, tasks(9));
    assert!(given_up(&events).is_empty() && played.lock().unwrap().is_empty());
}
