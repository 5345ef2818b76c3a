//! Skills on trial that are released when the same tasks, attempted with and without them, prove that they help.

use journeyman::testing::Edited as _;
use journeyman::{
    ModelId, SkillId,
    contract::ModelCapabilities,
    domain::{BundleCase, CaseKind, SkillRef, Withhold},
    papers::hisme::MicroPolicy,
    policy::{Ask, MaintenanceProgram, Policies, View},
    recipe::ScheduledProgram,
    stations::proof::ProvenRelease,
};

use super::*;
use crate::traced::traced;

/// An agent that does each task with the skill `good`, none with `bad`, and without a skill every second.
fn agent() -> ScriptedExecutor {
    ScriptedExecutor::acting(move |attempt: &Attempt<'_>, steps: &[Step]| {
        let words: Vec<String> =
            serde_json::from_value(attempt.task.payload.clone()).unwrap_or_default();
        let has = |name: &str| {
            let mut skills = attempt.injection.skills.iter();
            skills.any(|had| had.skill.id.as_str() == name)
        };
        let number = attempt.task.id.as_str().rsplit('-').next();
        let number: u64 = number.and_then(|last| last.parse().ok()).unwrap_or(0);
        let knows = has("good") || (!has("bad") && number.is_multiple_of(2));
        Play::Give(match (knows, words.get(steps.len())) {
            (true, Some(word)) => Some(Action::Message(word.clone())),
            _ => None,
        })
    })
}

pub(super) fn proving(every: u64) -> Recipe {
    let mut recipe = recipe();
    recipe.select.selector = top(1);
    recipe.write.when = WriteWhen::Never;
    recipe.tiers.traces = 200;
    recipe.attempts.group = n32(1);
    recipe.admit.initial_state = State::Trial;
    let mut program = ProvenRelease::default();
    program.neighbours = 4;
    recipe.maintenance.programs = vec![ScheduledProgram::new(n64(every), program)];
    recipe
}

async fn tried(name: &str, recipe: Recipe, count: usize) -> (SkillLibrary, Vec<Event>) {
    let mut parts = components();
    parts.executor = Some(Arc::new(agent()));
    let opened = Journeyman::open(parts, recipe, Options::new("test", Seed(7))).await;
    let journeyman = opened.expect("it opens");
    let skill = sample::skill(name).with_state(State::Trial);
    journeyman.add(vec![skill], "a start").await.expect("added");
    let events = journeyman.events();
    journeyman.learn(tasks(count)).await.expect("it learns");
    let library = journeyman.library().await.expect("read");
    (library.clone(), told(events))
}

/// Whether a skill waits for a reason with these words.
pub(super) fn waits_since(events: &[Event], words: &str) -> bool {
    events.iter().any(|event| match &event.kind {
        EventKind::Waits { reason, .. } => reason.contains(words),
        _ => false,
    })
}

pub(super) fn state(library: &SkillLibrary, name: &str) -> State {
    let entry = library.get(&SkillId::new(name)).expect("there");
    entry.skill.state
}

#[test]
fn a_skill_is_released_when_it_is_proven_to_help_and_not_before() {
    block_on(async {
        // Four pairs in which it wins two: no proof, whatever the mean is.
        let (library, events) = tried("good", proving(4), 4).await;
        assert_eq!(state(&library, "good"), State::Trial);
        let entry = library.get(&SkillId::new("good")).expect("there");
        let version = entry.skill.version;
        assert_eq!(entry.life.pairs(version).count(), 4);
        let waits = events.iter().find_map(|event| match &event.kind {
            EventKind::Waits { reason, .. } => Some(reason.clone()),
            _ => None,
        });
        let waits = waits.expect("it is said");
        assert!(
            waits.contains("+50 points") && waits.contains("no proof yet"),
            "{waits}"
        );

        let (library, _) = tried("good", proving(4), 40).await;
        assert_eq!(state(&library, "good"), State::Active);
        let entry = library.get(&SkillId::new("good")).expect("there");
        // Each task once, and no more than it took.
        let pairs: Vec<_> = entry.life.pairs(version).collect();
        let tasks: std::collections::BTreeSet<_> = pairs.iter().map(|pair| &pair.task).collect();
        assert_eq!(tasks.len(), pairs.len());
        assert!((8..40).contains(&pairs.len()), "{}", pairs.len());
    });
}

#[test]
fn a_skill_that_is_proven_to_harm_is_disabled() {
    block_on(async {
        let (library, _) = tried("bad", proving(4), 40).await;
        assert_eq!(state(&library, "bad"), State::Disabled);
        let entry = library.get(&SkillId::new("bad")).expect("there");
        assert!(entry.life.pairs(entry.skill.version).count() >= 8);
    });
}

#[test]
fn a_refined_version_that_is_proven_to_do_worse_gives_way_to_the_one_that_was_in_use() {
    block_on(async {
        // Its text says which words are right: the first version's does, the second's does not.
        let agent = ScriptedExecutor::acting(|attempt: &Attempt<'_>, steps: &[Step]| {
            let words: Vec<String> =
                serde_json::from_value(attempt.task.payload.clone()).unwrap_or_default();
            let mut skills = attempt.injection.skills.iter();
            let knows = skills.any(|had| had.text.contains("right"));
            Play::Give(match (knows, words.get(steps.len())) {
                (true, Some(word)) => Some(Action::Message(word.clone())),
                _ => None,
            })
        });
        let store = Arc::new(MemoryStore::new());
        let first = sample::skill("say-it").with_body("Say the right words.");
        let second = first
            .clone()
            .with_body("Say other words.")
            .with_version(2)
            .with_state(State::Trial);
        let changes = [
            LibraryChange::Add(Box::new(first)),
            LibraryChange::Revise(Box::new(second)),
        ];
        for (base, change) in (0..).zip(changes) {
            let commit = sample::commit(base, &format!("key {base}"), vec![change]);
            store.commit(&commit).await.expect("committed");
        }
        let mut parts = components();
        parts.store = Some(store);
        parts.executor = Some(Arc::new(agent));
        let opened = Journeyman::open(parts, proving(4), Options::new("test", Seed(7))).await;
        let journeyman = opened.expect("it opens");
        journeyman.learn(tasks(40)).await.expect("it learns");
        let library = journeyman.library().await.expect("read");
        let entry = library.get(&SkillId::new("say-it")).expect("there");
        assert_eq!(entry.skill.state, State::Active);
        assert_eq!(entry.skill.body, "Say the right words.");
        assert_eq!(entry.skill.version.0, 3);
    });
}

#[test]
fn pairs_stop_where_they_conclude_and_where_the_budget_ends() {
    block_on(async {
        // All kept attempts at once: eight at a time are made, until it is clear.
        let (library, _) = tried("good", proving(40), 40).await;
        let entry = library.get(&SkillId::new("good")).expect("there");
        let pairs = entry.life.pairs(entry.skill.version).count();
        assert_eq!(entry.skill.state, State::Active);
        assert!(pairs % 8 == 0 && (8..40).contains(&pairs), "{pairs}");
        // A budget of seven attempts pays for three pairs.
        let mut recipe = proving(40);
        recipe.maintenance.budget.attempts = Some(7);
        let (library, _) = tried("good", recipe, 40).await;
        let entry = library.get(&SkillId::new("good")).expect("there");
        assert_eq!(entry.life.pairs(entry.skill.version).count(), 3);
        assert_eq!(entry.skill.state, State::Trial);
    });
}

#[test]
fn no_more_pairs_are_made_than_the_policy_allows_and_that_is_said() {
    block_on(async {
        let mut recipe = proving(20);
        let mut program = ProvenRelease::default();
        program.compare.most = 12;
        recipe.maintenance.programs = vec![ScheduledProgram::new(n64(20), program)];
        let (library, events) = tried("other", recipe, 60).await;
        let entry = library.get(&SkillId::new("other")).expect("there");
        assert_eq!(entry.skill.state, State::Trial);
        assert_eq!(entry.life.pairs(entry.skill.version).count(), 12);
        assert!(waits_since(&events, "no more pairs are made"));
    });
}

#[test]
fn no_difference_that_matters_is_said_and_ends_the_pairs() {
    block_on(async {
        let mut recipe = proving(20);
        let mut program = ProvenRelease::default();
        program.compare.margin = 0.5;
        recipe.maintenance.programs = vec![ScheduledProgram::new(n64(20), program)];
        // The agent knows nothing of this skill: it goes as without one.
        let (library, events) = tried("other", recipe, 60).await;
        let entry = library.get(&SkillId::new("other")).expect("there");
        assert_eq!(entry.skill.state, State::Trial);
        assert!(entry.life.pairs(entry.skill.version).count() < 60);
        assert!(waits_since(&events, "no difference that matters"));
    });
}

#[test]
fn a_recipe_that_begins_skills_as_active_is_refused_beside_the_program() {
    let mut recipe = proving(4);
    recipe.admit.initial_state = State::Active;
    let error = recipe.resolve(&Policies::new()).expect_err("unproven");
    assert!(error.to_string().contains("admit.initial_state"), "{error}");
}

/// A program that releases whatever is on trial, in both ways, and adds a skill.
#[derive(Debug)]
struct Releases;

#[async_trait]
impl MaintenanceProgram for Releases {
    async fn maintain(&self, _: &mut Ask, view: &View) -> journeyman::Result<Vec<LibraryChange>> {
        let on_trial = view.library().entries();
        let on_trial = on_trial.filter(|entry| entry.skill.state == State::Trial);
        let releases = on_trial.flat_map(|entry| {
            let reason = "it looks good".to_owned();
            [
                LibraryChange::Release {
                    skill: entry.skill.reference(),
                    reason: reason.clone(),
                    from_quarantine: false,
                },
                LibraryChange::SetState {
                    skill: entry.skill.id.clone(),
                    state: State::Active,
                    reason,
                },
            ]
        });
        let mut changes: Vec<LibraryChange> = releases.collect();
        if view.library().get(&SkillId::new("new")).is_none() {
            changes.push(LibraryChange::Add(Box::new(sample::skill("new"))));
        }
        Ok(changes)
    }
}

#[test]
fn where_proof_is_asked_for_no_other_program_releases_a_skill() {
    block_on(async {
        let mut recipe = proving(4);
        let own = ScheduledProgram::new(n64(2), Policy::new("releases"));
        recipe.maintenance.programs.insert(0, own);
        let mut options = Options::new("test", Seed(7));
        options.policies = Policies::new().with_program("releases", |_| Ok(Arc::new(Releases)));
        let mut parts = components();
        parts.executor = Some(Arc::new(agent()));
        let opened = Journeyman::open(parts, recipe, options).await;
        let journeyman = opened.expect("it opens");
        let skill = sample::skill("good").with_state(State::Trial);
        journeyman.add(vec![skill], "a start").await.expect("added");
        journeyman.learn(tasks(4)).await.expect("it learns");
        let library = journeyman.library().await.expect("read");
        assert_eq!(state(&library, "good"), State::Trial);
        assert_eq!(state(&library, "new"), State::Trial);
    });
}

#[test]
fn hismes_own_program_releases_nothing_beside_it() {
    block_on(async {
        let released = |proves: bool| async move {
            let mut recipe = proving(4);
            let micro = ScheduledProgram::new(n64(2), MicroPolicy::paper());
            match proves {
                true => recipe.maintenance.programs.insert(0, micro),
                false => recipe.maintenance.programs = vec![micro],
            }
            // No role cuts test cases here, so that alone it releases by live attempts.
            let (library, _) = tried("good", recipe, 6).await;
            state(&library, "good")
        };
        assert_eq!(released(false).await, State::Active);
        assert_eq!(released(true).await, State::Trial);
    });
}

#[test]
fn where_nothing_can_be_attempted_again_the_ledger_releases() {
    block_on(async {
        let mut recipe = proving(4);
        recipe.select.withhold = Some(Withhold::new(0.5));
        let opened = Journeyman::open(own_loop(), recipe, Options::new("test", Seed(7))).await;
        let journeyman = opened.expect("it opens");
        let skill = sample::skill("good").with_state(State::Trial);
        let reference: SkillRef = skill.reference();
        journeyman.add(vec![skill], "a start").await.expect("added");
        let mut after = None;
        for number in 0..60 {
            let task = sample::task(&format!("task-{number}"), &["one", "two"]);
            let attempt = journeyman.begin(task).await.expect("begun");
            let given = attempt.injection().skills.iter();
            let has = given.clone().any(|had| had.skill == reference);
            attempt
                .finish(sample::outcome(has))
                .await
                .expect("finished");
            let library = journeyman.library().await.expect("read");
            if after.is_none() && state(&library, "good") == State::Active {
                after = Some(number);
            }
        }
        let after = after.expect("it is released");
        assert!((8..40).contains(&after), "{after}");
    });
}

/// An agent by a model.
#[derive(Debug)]
pub(super) struct With(ModelCapabilities, pub(super) ScriptedExecutor);

impl With {
    pub(super) fn model(name: &str) -> Arc<Self> {
        Self::acting(name, agent())
    }

    pub(super) fn acting(name: &str, agent: ScriptedExecutor) -> Arc<Self> {
        let capabilities = ModelCapabilities::new(ModelId::new(name), 4096);
        Arc::new(Self(capabilities, agent))
    }
}

#[async_trait]
impl Executor for With {
    async fn execute(
        &self,
        attempt: Attempt<'_>,
        episode: &mut dyn Episode,
    ) -> journeyman::Result<Trajectory> {
        self.1.execute(attempt, episode).await
    }

    fn capabilities(&self) -> Option<&ModelCapabilities> {
        Some(&self.0)
    }
}

/// A session over a library, with an agent by a model.
async fn session(store: &Arc<MemoryStore>, model: &str, name: &str) -> Journeyman {
    session_by(store, With::model(model), name).await
}

/// The same with an agent that the test looks at.
pub(super) async fn session_by(
    store: &Arc<MemoryStore>,
    agent: Arc<With>,
    name: &str,
) -> Journeyman {
    session_with(store, agent, (name, proving(4))).await
}

/// The same with a recipe of the test's own.
pub(super) async fn session_with(
    store: &Arc<MemoryStore>,
    agent: Arc<With>,
    (name, recipe): (&str, Recipe),
) -> Journeyman {
    let mut parts = components();
    parts.store = Some(Arc::clone(store) as _);
    parts.executor = Some(agent);
    let options = Options::new(name, Seed(7));
    let opened = Journeyman::open(parts, recipe, options).await;
    opened.expect("it opens")
}

/// Adds skills in use.
pub(super) async fn with_skills(journeyman: &Journeyman, names: &[&str]) {
    let skills = names.iter().copied().map(sample::skill).collect();
    journeyman.add(skills, "a start").await.expect("added");
}

/// Which skill was proven with which model, and whether it helps.
fn proofs(events: Events) -> Vec<(String, String, bool)> {
    let events = told(events).into_iter();
    let proofs = events.filter_map(|event| match event.kind {
        EventKind::Proven {
            name, model, helps, ..
        } => Some((name.to_string(), model.to_string(), helps)),
        _ => None,
    });
    proofs.collect()
}

async fn injected(journeyman: &Journeyman) -> usize {
    let report = journeyman.evaluate(tasks(3)).await.expect("evaluated");
    let attempts = report.tasks.iter().flat_map(|task| &task.attempts);
    attempts.map(|attempt| attempt.injected.len()).sum()
}

#[test]
fn a_proof_holds_for_its_model_and_another_one_proves_the_skill_again() {
    block_on(async {
        let store = Arc::new(MemoryStore::new());
        let first = session(&store, "first", "one").await;
        let skill = sample::skill("good").with_state(State::Trial);
        first.add(vec![skill], "a start").await.expect("added");
        assert_eq!(injected(&first).await, 0);
        let events = first.events();
        first.learn(tasks(40)).await.expect("it learns");
        // Once, however often it is looked at.
        let helps = ("good".to_owned(), "first".to_owned(), true);
        assert_eq!(proofs(events), [helps]);
        let proven = |library: &SkillLibrary| -> Vec<String> {
            let entry = library.get(&SkillId::new("good")).expect("there");
            assert_eq!(entry.skill.state, State::Active);
            let models = entry.life.proven_on(entry.skill.version);
            models.map(ToString::to_string).collect()
        };
        assert_eq!(proven(&first.library().await.expect("read")), ["first"]);
        assert_eq!(injected(&first).await, 3);

        let second = session(&store, "second", "two").await;
        assert_eq!(injected(&second).await, 0);
        second.learn(tasks(40)).await.expect("it learns");
        let library = second.library().await.expect("read");
        assert_eq!(proven(&library), ["first", "second"]);
        assert_eq!(injected(&second).await, 3);
        // Each model has pairs of its own.
        let entry = library.get(&SkillId::new("good")).expect("there");
        let pairs: Vec<_> = entry.life.pairs(entry.skill.version).collect();
        let of = |name: &str| {
            let is_it = |model: &ModelId| model.as_str() == name;
            let own = pairs.iter();
            own.filter(|pair| pair.model.as_ref().is_some_and(is_it))
                .count()
        };
        assert!(of("first") >= 8 && of("second") >= 8);
        assert_eq!(of("first") + of("second"), pairs.len());
    });
}

#[test]
fn what_harms_with_one_model_stays_for_the_model_that_it_helps() {
    block_on(async {
        let store = Arc::new(MemoryStore::new());
        let bad = sample::skill("bad");
        let proof = LibraryChange::Prove {
            skill: bad.reference(),
            model: ModelId::new("first"),
            helps: true,
        };
        let changes = vec![LibraryChange::Add(Box::new(bad)), proof];
        let commit = sample::commit(0, "key", changes);
        store.commit(&commit).await.expect("committed");
        let second = session(&store, "second", "two").await;
        let events = second.events();
        second.learn(tasks(40)).await.expect("it learns");
        let harms = ("bad".to_owned(), "second".to_owned(), false);
        assert_eq!(proofs(events), [harms]);
        let library = second.library().await.expect("read");
        let entry = library.get(&SkillId::new("bad")).expect("there");
        let version = entry.skill.version;
        assert_eq!(entry.skill.state, State::Active);
        assert_eq!(
            entry.life.proven(version, &ModelId::new("second")),
            Some(false)
        );
        // It is not offered to this model any more, and to the other one as before.
        let attempts = entry.life.lifetime().injected;
        second
            .learn(tasks(44).split_off(40))
            .await
            .expect("it learns");
        let library = second.library().await.expect("read");
        let entry = library.get(&SkillId::new("bad")).expect("there");
        assert_eq!(entry.life.lifetime().injected, attempts);
        let first = session(&store, "first", "one").await;
        assert_eq!(injected(&first).await, 3);
    });
}

#[test]
fn a_proof_is_in_telemetry() {
    let kept = traced(async || {
        let journeyman = session(&Arc::new(MemoryStore::new()), "first", "one").await;
        let skill = sample::skill("good").with_state(State::Trial);
        let added = journeyman.add(vec![skill], "a start").await;
        added.expect("added");
        journeyman.learn(tasks(40)).await.expect("it learns");
    });
    let proofs = kept.events("journeyman.proof");
    assert_eq!(proofs.len(), 1);
    for (field, value) in [
        ("gen_ai.request.model", "first"),
        ("journeyman.skill.id", "good"),
        ("journeyman.proof.verdict", "helps"),
    ] {
        assert_eq!(proofs[0].field(field), Some(value), "{field}");
    }
}

#[test]
fn while_a_next_version_is_on_trial_evaluations_have_the_one_in_use() {
    block_on(async {
        let store = Arc::new(MemoryStore::new());
        let first = sample::skill("good");
        let second = first
            .clone()
            .with_body("Say it otherwise.")
            .with_version(2)
            .with_state(State::Trial);
        let changes = vec![
            LibraryChange::Add(Box::new(first.clone())),
            LibraryChange::Revise(Box::new(second)),
        ];
        let commit = sample::commit(0, "key", changes);
        store.commit(&commit).await.expect("committed");
        let journeyman = session(&store, "first", "one").await;
        let report = journeyman.evaluate(tasks(1)).await.expect("evaluated");
        let injected = &report.tasks[0].attempts[0].injected;
        assert_eq!(injected[0], first.reference());
        let report = journeyman.learn(tasks(1)).await.expect("it learns");
        let injected = &report.tasks[0].attempts[0].injected;
        assert_eq!(injected[0].version, journeyman::Version(2));
    });
}

/// Whether `good` is released after tasks of its own, where `helper` did others at which `good` would be chosen from then on.
async fn released_beside_a_neighbour(program: ProvenRelease) -> (State, Vec<Event>) {
    released_with(apart(), proving(4), program).await
}

async fn released_with(
    agent: ScriptedExecutor,
    mut recipe: Recipe,
    program: ProvenRelease,
) -> (State, Vec<Event>) {
    let every = recipe.maintenance.programs[0].every.expect("it says");
    recipe.maintenance.programs = vec![ScheduledProgram::new(every, program)];
    let (journeyman, events) = beside_a_neighbour(agent, recipe).await;
    let library = journeyman.library().await.expect("read");
    (state(&library, "good"), told(events))
}

/// An agent that does letters with `helper` alone, and other tasks with `good` alone.
pub(super) fn apart() -> ScriptedExecutor {
    knowing(|is_letter, has| has(if is_letter { "helper" } else { "good" }))
}

/// An agent that is asked before each step whether it knows how: whether the task is a letter, and which skills it has in
/// their first version.
fn knowing(
    knows: impl Fn(bool, &dyn Fn(&str) -> bool) -> bool + Send + Sync + 'static,
) -> ScriptedExecutor {
    ScriptedExecutor::acting(move |attempt: &Attempt<'_>, steps: &[Step]| {
        let words: Vec<String> =
            serde_json::from_value(attempt.task.payload.clone()).unwrap_or_default();
        let has = |name: &str| {
            let mut skills = attempt.injection.skills.iter();
            skills.any(|had| had.skill.to_string() == format!("{name}@1"))
        };
        let is_letter = attempt.task.id.as_str().starts_with("letter");
        Play::Give(match (knows(is_letter, &has), words.get(steps.len())) {
            (true, Some(word)) => Some(Action::Message(word.clone())),
            _ => None,
        })
    })
}

/// `helper`, and `good` on trial, which would be chosen for letters.
fn neighbours() -> [Skill; 2] {
    let helper = sample::skill("helper").with_description("Send a letter.");
    let good = sample::skill("good")
        .with_description("Say one, two, three, and send a letter of two words.")
        .edited(|it| it.trigger = Some("send a letter".into()))
        .with_state(State::Trial);
    [helper, good]
}

fn letter(number: u64) -> Task {
    let mut task = sample::task(&format!("letter-{number}"), &["one", "two"]);
    task.instruction = "send a letter".to_owned();
    task
}

/// A session whose library has `good` on trial with 24 tasks of its own, and `helper` in use, which did four letters at which `good`
/// would be chosen once it is in use; with the events of these 24 tasks.
pub(super) async fn beside_a_neighbour(
    agent: ScriptedExecutor,
    recipe: Recipe,
) -> (Journeyman, Events) {
    let mut parts = components();
    parts.executor = Some(Arc::new(agent));
    let opened = Journeyman::open(parts, recipe, Options::new("test", Seed(7))).await;
    let journeyman = opened.expect("it opens");
    let [helper, good] = neighbours();
    journeyman
        .add(vec![helper], "a start")
        .await
        .expect("added");
    journeyman
        .learn((0..4).map(letter).collect())
        .await
        .expect("it learns");
    journeyman.add(vec![good], "a skill").await.expect("added");
    let events = journeyman.events();
    journeyman.learn(tasks(24)).await.expect("it learns");
    (journeyman, events)
}

#[test]
fn a_version_that_was_held_back_is_looked_at_again_when_its_neighbour_has_changed_or_gone() {
    block_on(async {
        for is_gone in [false, true] {
            let (journeyman, _) = beside_a_neighbour(apart(), proving(4)).await;
            let mut all = tasks(32);
            let (last, next) = (all.split_off(28), all.split_off(24));
            let library = journeyman.library().await.expect("read");
            assert_eq!(state(&library, "good"), State::Trial);
            journeyman.learn(next).await.expect("it learns");
            let library = journeyman.library().await.expect("read");
            assert_eq!(state(&library, "good"), State::Trial);
            match is_gone {
                true => {
                    let helper = SkillId::new("helper");
                    let gone = journeyman.set_state(&helper, State::Disabled, "no use");
                    gone.await.expect("set");
                }
                false => {
                    let changed = sample::skill("helper")
                        .with_description("Send a letter.")
                        .with_body("Do it otherwise.")
                        .with_version(2);
                    let added = journeyman.add(vec![changed], "a change").await;
                    added.expect("added");
                }
            }
            journeyman.learn(last).await.expect("it learns");
            let library = journeyman.library().await.expect("read");
            assert_eq!(state(&library, "good"), State::Active, "gone: {is_gone}");
        }
    });
}

#[test]
fn a_neighbour_that_is_not_offered_to_the_model_any_more_holds_no_version_back() {
    block_on(async {
        let store = Arc::new(MemoryStore::new());
        let model = ModelId::new("first");
        let capabilities = ModelCapabilities::new(model.clone(), 4096);
        let agent = Arc::new(With(capabilities, apart()));
        let journeyman = session_by(&store, agent, "one").await;
        let [helper, good] = neighbours();
        let skill = helper.reference();
        let added = journeyman.add(vec![helper], "a start").await;
        added.expect("added");
        let letters = (0..4).map(letter).collect();
        journeyman.learn(letters).await.expect("it learns");
        let added = journeyman.add(vec![good], "a skill").await;
        added.expect("added");
        let mut first = tasks(32);
        let more = first.split_off(24);
        journeyman.learn(first).await.expect("it learns");
        let library = journeyman.library().await.expect("read");
        assert_eq!(state(&library, "good"), State::Trial);
        let harms = LibraryChange::Prove {
            skill,
            model,
            helps: false,
        };
        let commit = sample::commit(library.revision().0, "harms", vec![harms]);
        store.commit(&commit).await.expect("committed");
        journeyman.learn(more).await.expect("it learns");
        let library = journeyman.library().await.expect("read");
        assert_eq!(state(&library, "helper"), State::Active);
        assert_eq!(state(&library, "good"), State::Active);
    });
}

#[test]
fn a_release_that_breaks_a_neighbour_is_held_back_with_its_task() {
    block_on(async {
        let held = |events: &[Event]| {
            let reasons = events.iter().filter_map(|event| match &event.kind {
                EventKind::Waits { reason, .. } => Some(reason.clone()),
                _ => None,
            });
            let of_neighbour = reasons.filter(|reason| reason.contains("would break"));
            of_neighbour.collect::<Vec<String>>()
        };
        let mut unlooked = ProvenRelease::default();
        unlooked.neighbours = 0;
        let (alone, events) = released_beside_a_neighbour(unlooked).await;
        assert_eq!((alone, held(&events).len()), (State::Active, 0));
        let (beside, events) = released_beside_a_neighbour(ProvenRelease::default()).await;
        assert_eq!(beside, State::Trial);
        let held = held(&events);
        // The task is attempted again once, and the version stays held back.
        assert!(
            held[0].contains("letter-3") && held[0].contains("helper") && held.len() > 1,
            "{held:?}"
        );
    });
}

#[test]
fn a_release_that_breaks_a_task_of_a_neighbours_test_bundle_is_held_back() {
    block_on(async {
        let [helper, good] = neighbours();
        let case = BundleCase::new(
            "a letter",
            CaseKind::Integration,
            letter(0),
            "earlier",
            Seed(1),
        );
        for (dropped, expected) in [(false, State::Trial), (true, State::Active)] {
            let store = Arc::new(MemoryStore::new());
            let changes = vec![
                LibraryChange::Add(Box::new(helper.clone())),
                LibraryChange::PatchBundle {
                    skill: helper.id.clone(),
                    cases: vec![case.clone()],
                    dropped: Vec::new(),
                },
                LibraryChange::PatchBundle {
                    skill: helper.id.clone(),
                    cases: Vec::new(),
                    dropped: if dropped {
                        vec![case.name.clone()]
                    } else {
                        Vec::new()
                    },
                },
                LibraryChange::Add(Box::new(good.clone())),
            ];
            let commit = sample::commit(0, "key", changes);
            store.commit(&commit).await.expect("committed");
            let mut parts = components();
            parts.executor = Some(Arc::new(apart()));
            parts.store = Some(store);
            let options = Options::new("test", Seed(7));
            let opened = Journeyman::open(parts, proving(4), options).await;
            let journeyman = opened.expect("it opens");
            journeyman.learn(tasks(24)).await.expect("it learns");
            let library = journeyman.library().await.expect("read");
            assert_eq!(state(&library, "good"), expected, "dropped: {dropped}");
        }
    });
}

#[test]
fn a_version_that_comes_back_brings_what_was_proven_of_it() {
    block_on(async {
        let store = Arc::new(MemoryStore::new());
        let first = sample::skill("good");
        let proof = |model: &str, helps| LibraryChange::Prove {
            skill: first.reference(),
            model: ModelId::new(model),
            helps,
        };
        let second = first.clone().with_body("Say it otherwise.").with_version(2);
        let changes = vec![
            LibraryChange::Add(Box::new(first.clone())),
            proof("first", true),
            proof("second", false),
            LibraryChange::Revise(Box::new(second)),
        ];
        let commit = sample::commit(0, "key", changes);
        store.commit(&commit).await.expect("committed");
        let journeyman = session(&store, "second", "two").await;
        let back = journeyman.roll_back(&first.id, first.version, "the second is worse");
        back.await.expect("it is back");
        let library = journeyman.library().await.expect("read");
        let entry = library.get(&first.id).expect("there");
        let proven = |model: &str| entry.life.proven(entry.skill.version, &ModelId::new(model));
        assert_eq!(entry.skill.version, journeyman::Version(3));
        assert_eq!(
            (proven("first"), proven("second")),
            (Some(true), Some(false))
        );
        assert_eq!(injected(&journeyman).await, 0);
    });
}

#[test]
fn what_is_not_known_of_neighbours_yet_releases_nothing() {
    block_on(async {
        // A budget for the pairs, and for no more.
        let mut recipe = proving(24);
        recipe.maintenance.budget.attempts = Some(16);
        let (state, events) = released_with(apart(), recipe, ProvenRelease::default()).await;
        assert_eq!(state, State::Trial);
        assert!(waits_since(&events, "is not known yet"));
    });
}

#[test]
fn a_neighbour_is_not_tried_where_the_budget_has_no_room_for_a_second_try() {
    block_on(async {
        let tries = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&tries);
        let agent = knowing(move |is_letter, has| {
            if is_letter && has("good") {
                counted.fetch_add(1, Ordering::SeqCst);
            }
            has(if is_letter { "helper" } else { "good" })
        });
        // A budget for the pairs, and for one try of a letter with either skill.
        let mut recipe = proving(24);
        recipe.maintenance.budget.attempts = Some(18);
        let (state, events) = released_with(agent, recipe, ProvenRelease::default()).await;
        assert_eq!(state, State::Trial);
        assert!(waits_since(&events, "is not known yet"));
        assert_eq!(tries.load(Ordering::SeqCst), 0);
    });
}

#[test]
fn a_neighbour_that_breaks_once_and_not_again_is_no_mark_and_the_version_waits() {
    block_on(async {
        let tries = AtomicUsize::new(0);
        let agent = knowing(move |is_letter, has| match (is_letter, has("good")) {
            // The first letter with it fails, as by chance.
            (true, true) => tries.fetch_add(1, Ordering::SeqCst) > 0,
            (true, false) => has("helper"),
            (false, with) => with,
        });
        // One round, at whose end it does better at its own tasks.
        let (state, events) = released_with(agent, proving(24), ProvenRelease::default()).await;
        assert_eq!(state, State::Trial);
        assert!(waits_since(&events, "not as deterministic as it says"));
        assert!(!waits_since(&events, "would break"));
    });
}
