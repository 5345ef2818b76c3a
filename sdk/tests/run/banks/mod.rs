//! A bank of general and category skills: chosen from, distilled and grown (SkillRL).

mod growing;
mod handed_over;
mod refused;
mod selecting;

use std::sync::Mutex;

use journeyman::{
    domain::{Origin, Role, Scope, Skill, State, Trust},
    papers::skillrl::{BankPolicy, BankSelector, Failure},
    policy::Policies,
    run::Performer,
};

use super::*;

/// The tag of a task that the agent fails without a skill.
const FAILS: &str = "fails";
/// The tag of a task that the agent does after a refused word.
const RECOVERS: &str = "recovers";

/// A task of a category; by its tag the agent does it at once, after a refusal, or not at all.
fn task(id: &str, category: &str, tag: &str) -> Task {
    let task = sample::task(id, &[id]).with_category(category);
    task.with_tags([tag])
}

/// An agent that says the right word, if the task's tag and its skills let it.
fn agent() -> ScriptedExecutor {
    ScriptedExecutor::acting(|attempt: &Attempt<'_>, steps: &[Step]| {
        let word = attempt.task.payload[0].as_str().unwrap_or_default();
        let has = |tag: &str| attempt.task.tags.iter().any(|one| one == tag);
        let mut skills = attempt.injection.skills.iter();
        let knows = skills.any(|skill| skill.text.contains("say it at once"));
        Play::Give(match (steps.len(), knows) {
            (0, false) if has(FAILS) || has(RECOVERS) => Some(Action::Message("hm".to_owned())),
            (1, false) if has(FAILS) => None,
            _ => Some(Action::Message(word.to_owned())),
        })
    })
}

/// What the roles' model says, by role and prompt.
type Says = fn(role: &str, prompt: &str) -> Play<String>;

/// The value of the first line of a prompt that begins with a name.
fn field<'a>(prompt: &'a str, name: &str) -> &'a str {
    let mut lines = prompt.lines();
    lines
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
        .unwrap_or_default()
}

/// A pattern, a lesson, and a skill of each scope.
fn says(role: &str, prompt: &str) -> Play<String> {
    let word = field(prompt, "task").trim_start_matches("say ").to_owned();
    Play::Give(match role {
        "extract" => format!("pattern {word}: How {word} is said.\nOpen with {word}."),
        "lesson" => format!("0 | said hm | said {word} | Never hesitate before {word}."),
        "distil-bank" => match field(prompt, "category") {
            "" => "Speak Up | When a word is due. | Say it loud.".to_owned(),
            category => format!(
                "{category} first | When {category} is asked for. | In {category}, say it at once."
            ),
        },
        other => panic!("no such role: {other}"),
    })
}

type Prompts = Arc<Mutex<Vec<String>>>;

fn parts(says: Says, roles: &[Role]) -> (Components, Prompts) {
    let prompts = Prompts::default();
    let kept = Arc::clone(&prompts);
    let model = ScriptedModel::by(move |request, _| {
        let text = request.prompt.text();
        kept.lock().unwrap().push(text.clone());
        says(field(&text, "role"), &text)
    });
    let mut components = components();
    components.executor = Some(Arc::new(agent()));
    components.scorer = None;
    components.model = Some(Arc::new(model));
    components.roles = Some(Arc::new(ScriptedRoles::only(roles.iter().copied())));
    (components, prompts)
}

const ALL: [Role; 3] = [Role::Extract, Role::Lesson, Role::DistilBank];

/// SkillRL with rounds of so many tasks, one attempt each.
fn skillrl(round: u64) -> Recipe {
    let mut recipe = recipe::skillrl();
    recipe.attempts.group = n32(1);
    recipe.batch = n64(1);
    recipe.tiers.traces = 20;
    bank(&mut recipe, |bank| bank.round = n64(round));
    recipe
}

/// Changes the options of a recipe's bank.
fn bank(recipe: &mut Recipe, change: impl FnOnce(&mut BankPolicy)) {
    recipe.maintenance.edit(change);
}

fn learn_from(
    components: &Components,
    recipe: Recipe,
    tasks: Vec<Task>,
) -> (SkillLibrary, Vec<Event>) {
    block_on(async {
        let options = Options::new("test", Seed(7));
        let journeyman = Journeyman::open(components.clone(), recipe, options).await;
        let journeyman = journeyman.expect("it opens");
        let events = journeyman.events();
        journeyman.learn(tasks).await.expect("it learns");
        let library = journeyman.library().await.expect("a library");
        drop(journeyman);
        (library, events.collect::<Vec<_>>().await)
    })
}

/// How often a role was asked.
fn asked(prompts: &Prompts, role: &str) -> usize {
    of_role(prompts, role).len()
}

/// The prompts of a role.
fn of_role(prompts: &Prompts, role: &str) -> Vec<String> {
    let prompts = prompts.lock().unwrap();
    let of_role = prompts.iter().filter(|text| field(text, "role") == role);
    of_role.cloned().collect()
}

/// The skills as `scope/name@version`, sorted.
fn skills(library: &SkillLibrary) -> Vec<String> {
    let line = |skill: &Skill| {
        let scope = match &skill.scope {
            Scope::Category(category) => category.as_str(),
            _ => "",
        };
        format!("{scope}/{}@{}", skill.name, skill.version)
    };
    let mut all: Vec<String> = library.entries().map(|entry| line(&entry.skill)).collect();
    all.sort();
    all
}

/// The reasons of refusals.
fn refusals(events: &[Event]) -> Vec<String> {
    let refused = events.iter().filter_map(|event| match &event.kind {
        EventKind::Refused { reason } => Some(reason.clone()),
        EventKind::RoleFailed { role, reason } => Some(format!("{role}: {reason}")),
        _ => None,
    });
    refused.collect()
}
