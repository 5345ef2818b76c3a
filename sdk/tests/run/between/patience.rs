//! What cannot be done for now comes again, three times at most; a skill waits behind those that were not missed.

use std::collections::BTreeMap;

use async_trait::async_trait;
use journeyman::{
    Error, ErrorKind,
    contract::{GenerateRequest, Generation, LanguageModel, ModelCapabilities},
};

use super::*;

/// What was given up, each as often as that was told.
fn given_up(events: &[Event]) -> Vec<String> {
    let told = events.iter().filter_map(|event| match &event.kind {
        EventKind::Refused { reason, .. } => {
            let (what, rest) = reason.split_once(" could not be done in ")?;
            assert_eq!(
                rest,
                "3 maintenances, and is not tried again until there is more evidence"
            );
            Some(what.to_owned())
        }
        _ => None,
    });
    told.collect()
}

fn learn(
    components: &Components,
    session: &str,
    recipe: Recipe,
    tasks: Vec<Task>,
) -> (SkillLibrary, Vec<Event>) {
    block_on(async {
        let options = Options::new(session, Seed(7));
        let journeyman = Journeyman::open(components.clone(), recipe, options).await;
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

/// How often each was asked for.
type Asked = Arc<Mutex<BTreeMap<String, usize>>>;

/// A model that is out of order in one role alone, whose prompts are counted.
#[derive(Debug)]
struct Without {
    role: &'static str,
    others: Arc<dyn LanguageModel>,
    asked: Asked,
}

#[async_trait]
impl LanguageModel for Without {
    fn capabilities(&self) -> &ModelCapabilities {
        self.others.capabilities()
    }

    async fn generate(&self, request: &GenerateRequest) -> Result<Generation> {
        let prompt = request.prompt.text();
        if !prompt.starts_with(&format!("role: {}\n", self.role)) {
            return self.others.generate(request).await;
        }
        *self.asked.lock().unwrap().entry(prompt).or_default() += 1;
        Err(out_of_order())
    }
}

fn without(components: &mut Components, role: &'static str) -> Asked {
    let asked = Asked::default();
    let others = components.model.take().expect("a model");
    components.model = Some(Arc::new(Without {
        role,
        others,
        asked: Arc::clone(&asked),
    }));
    asked
}

/// A library of skills that are judged harmful and were not mended yet, and what asks for one of them to be mended at a time.
fn harmful() -> (Components, Recipe) {
    let (components, _) = parts(Script {
        attribute: "harmful: it was refused",
        ..Script::default()
    });
    let mut recipe = hisme();
    recipe.select.selector = top(2);
    recipe.maintenance = Maintenance::default();
    let (library, _) = learn(&components, "first", recipe.clone(), tasks(6));
    assert!(library.entries().count() > 1, "there are several to mend");
    recipe.write.when = WriteWhen::Never;
    let mut refine = RefinePolicy::default();
    refine.most = n32(1);
    let mut policy = MicroPolicy::default();
    policy.refine = Some(refine);
    recipe.maintenance = micro_alone(policy);
    (components, recipe)
}

#[test]
fn a_role_that_is_never_there_is_asked_three_times_for_the_same() {
    let (mut components, mut recipe) = harmful();
    // Nothing is injected, so nothing new is known of any skill.
    recipe.select.selector = Nothing.into();
    let asked = without(&mut components, "refine");
    let (_, events) = learn(&components, "then", recipe, tasks(30));
    let asked = asked.lock().unwrap();
    assert!(asked.len() > 1, "each has its turn");
    assert!(asked.values().all(|times| *times == 3), "{asked:?}");
    let mut told = given_up(&events);
    told.sort();
    told.dedup();
    assert_eq!(told.len(), asked.len(), "{told:?}");
}

#[test]
fn what_was_missed_waits_behind_what_was_not_though_there_is_more_evidence() {
    let (mut components, recipe) = harmful();
    let asked = without(&mut components, "refine");
    // Each attempt harms, and is new evidence.
    learn(&components, "then", recipe, tasks(9));
    let asked = asked.lock().unwrap();
    let skill = |prompt: &str| {
        let line = prompt.lines().find(|line| line.starts_with("skill: "));
        line.expect("the skill is named").to_owned()
    };
    let mut skills: Vec<String> = asked.keys().map(|prompt| skill(prompt)).collect();
    skills.sort();
    skills.dedup();
    assert!(skills.len() > 1, "{asked:?}");
}

#[test]
fn a_group_that_can_never_be_gone_through_is_given_up() {
    let (mut components, _) = parts(Script::default());
    let asked = without(&mut components, "refactor");
    let mut recipe = hisme();
    recipe.write.when = WriteWhen::Never;
    recipe.select.selector = Nothing.into();
    let same = |number| sample::task(&format!("task-{number}"), &["one", "two"]);
    let (_, events) = learn(
        &components,
        "first",
        recipe.clone(),
        (0..3).map(same).collect(),
    );
    assert!(given_up(&events).is_empty());
    assert_eq!(asked.lock().unwrap().len(), 1);
    // These make other groups.
    let word = |number: u32| format!("word-{number}");
    let other = |number: u32| sample::task(&word(number), &[&word(number), &word(number + 100)]);
    let (_, events) = learn(&components, "then", recipe, (3..18).map(other).collect());
    let asked = asked.lock().unwrap();
    assert!(asked.values().all(|times| *times <= 3), "{asked:?}");
    let ours = asked
        .iter()
        .filter(|(prompt, _)| prompt.contains("say one"));
    assert_eq!(ours.map(|(_, times)| *times).collect::<Vec<_>>(), [3]);
    let told = given_up(&events);
    let ours = |what: &&String| {
        what.starts_with("refactoring 3 attempts") && what.contains("first/learn-0/2/0")
    };
    assert_eq!(told.iter().filter(ours).count(), 1, "{told:?}");
}

#[test]
fn a_bundle_that_can_never_be_played_is_given_up() {
    let (mut components, _) = parts(Script::default());
    let played = Asked::default();
    let counted = Arc::clone(&played);
    components.judge = Some(Arc::new(ScriptedJudge::by(move |request, _| {
        // A case's attempt has no task's number.
        if request.trajectory.attempt.as_str().contains("/m") {
            let skill = request.trajectory.injection.skills.iter();
            let case = (
                &request.task.id,
                skill.map(|one| &one.skill).collect::<Vec<_>>(),
            );
            *counted
                .lock()
                .unwrap()
                .entry(format!("{case:?}"))
                .or_default() += 1;
            return Play::Fail(out_of_order());
        }
        let outcome = request.trajectory.outcome.as_ref();
        Play::Give(Verdict::binary(
            outcome.is_some_and(|outcome| outcome.success),
        ))
    })));
    let mut recipe = hisme();
    recipe.select.selector = Nothing.into();
    across(&mut recipe, |parts| parts.refactor = None);
    let (library, _) = learn(&components, "first", recipe.clone(), tasks(3));
    assert!(library.entries().count() > 0);
    recipe.write.when = WriteWhen::Never;
    let (library, events) = learn(&components, "then", recipe.clone(), tasks(30));
    let told = given_up(&events);
    assert_eq!(told.len(), library.entries().count(), "{told:?}");
    let mut entries = library.entries();
    assert!(entries.all(|entry| entry.skill.state == State::Trial));
    let times = played.lock().unwrap().clone();
    assert!(times.values().all(|times| *times == 3), "{times:?}");
    // Nothing of them is played after that.
    let (_, events) = learn(&components, "last", recipe, tasks(9));
    assert!(given_up(&events).is_empty());
    assert_eq!(*played.lock().unwrap(), times);
}
