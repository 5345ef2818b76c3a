//! What is written where a model's answers are of no use, and by roles that know nothing of a host's field.

use std::sync::Mutex;

use journeyman::{
    agent::role::{GeneralRoles, RoleOptions},
    library::format::{AriseSchema, ProblemTypes},
    stations::propose::Summarize,
};

use super::*;

/// The parts of a host with the shipped roles, whose model always says the same.
fn shop(answer: &str, arise: AriseSchema) -> (Components, Arc<Mutex<Vec<String>>>) {
    let roles = GeneralRoles::shipped().expect("they are shipped");
    let mut options = RoleOptions::default();
    options.arise = arise;
    let roles = roles.with_options(options);
    let prompts = Arc::new(Mutex::new(Vec::new()));
    let (kept, answer) = (Arc::clone(&prompts), answer.to_owned());
    let model = ScriptedModel::by(move |request, _| {
        kept.lock().unwrap().push(request.prompt.text());
        Play::Give(answer.clone())
    });
    let mut parts = own_loop().with_roles(Arc::new(roles));
    parts.model = Some(Arc::new(model));
    (parts, prompts)
}

fn general() -> AriseSchema {
    AriseSchema::new(ProblemTypes::general())
}

/// Makes an attempt that is refused at first and done then by these tools.
async fn done_by(journeyman: &Journeyman, task: Task, tools: &[&str]) -> TaskReport {
    let mut handle = journeyman.begin(task).await.expect("it begins");
    let call = |tool: &str| Action::call(tool, json!({"order": "O-17"}));
    let why = StepResult::refused("identify the customer first", desk());
    handle.record(Step::new(call("refund"), why));
    for tool in tools {
        handle.record(Step::new(call(tool), StepResult::new("done", desk())));
    }
    let finished = handle.finish(Outcome::success()).await;
    finished.expect("it finishes").expect("a group of one")
}

const ASKS: &[&str] = &["find_customer", "refund"];
const LOOKS: &[&str] = &["find_order", "find_customer", "refund"];

/// How many skills the library has after each of some attempts, at tasks that are alike or not.
fn check_piles(tools: &[&[&str]], expect: &[usize]) {
    let (parts, _) = shop("garbage", general());
    let words = ["Refund", "Water", "Translate", "Deliver"];
    for are_alike in [true, false] {
        let store = Arc::new(MemoryStore::new());
        let parts = parts.clone().with_store(store);
        let parts = parts.with_journal(Arc::new(MemoryJournal::new()));
        block_on(async {
            let journeyman = open_as("test", &parts, recipe::standard()).await;
            let mut counts = Vec::new();
            for (number, tools) in tools.iter().enumerate() {
                let word = words[if are_alike { 0 } else { number % words.len() }];
                let task = Task::new(format!("t-{number}"), format!("{word} whatever it is"));
                let report = done_by(&journeyman, task, tools).await;
                assert_eq!(report.written.len(), 1, "a skill is due: {number}");
                let library = journeyman.library().await.expect("a library");
                let mut skills = library.entries().map(|entry| &entry.skill);
                assert!(skills.all(|skill| skill.provenance.origin == Origin::TraceAbstract));
                counts.push(library.entries().count());
            }
            assert_eq!(counts, expect, "alike: {are_alike}");
            let library = journeyman.library().await.expect("a library");
            assert_eq!(library.deleted().count(), 0);
        });
    }
}

#[test]
fn abstracted_traces_of_the_same_actions_do_not_pile_up() {
    check_piles(&[ASKS; 12], &[1; 12]);
    // Another sequence of tools is another lesson, and is there once too.
    check_piles(
        &[ASKS, ASKS, LOOKS, LOOKS, ASKS, LOOKS, ASKS],
        &[1, 1, 2, 2, 2, 2, 2],
    );
    let turned: &[&str] = &["refund", "find_customer"];
    check_piles(&[ASKS, turned, ASKS, turned], &[1, 2, 2, 2]);
}

#[test]
fn from_words_alone_a_trace_is_abstracted_where_the_recipe_keeps_the_reasoning() {
    let (shop, _) = shop("garbage", general());
    for (keeps_reasoning, state) in [
        (false, State::Trial),
        (true, State::Trial),
        (true, State::Active),
    ] {
        let mut parts = components();
        (parts.model, parts.roles) = (shop.model.clone(), shop.roles.clone());
        let mut recipe = recipe();
        let mut summarize = Summarize::default();
        summarize.keeps_reasoning = keeps_reasoning;
        recipe.write.by = summarize.into();
        recipe.admit.fallback_state = state;
        block_on(async {
            let journeyman = open_as("test", &parts, recipe).await;
            let report = journeyman.learn(tasks(9)).await.expect("it learns");
            assert!(report.written().count() > 3, "{report}");
            let fallbacks = report.written().filter(|one| one.fallback).count();
            assert_eq!(fallbacks > 0, keeps_reasoning, "{report}");
            let library = journeyman.library().await.expect("a library");
            let mut states = library.entries().map(|entry| entry.skill.state);
            assert_eq!(library.entries().count() > 0, keeps_reasoning);
            match state {
                // What was released since is active.
                State::Trial => assert!(!keeps_reasoning || states.any(|one| one == state)),
                _ => assert!(states.all(|one| one == state)),
            }
        });
    }
}

/// The skill that an attempt in a shop brings, all that stands in it in small letters, what the model was asked, and the events.
fn written(answer: &str, arise: AriseSchema) -> (Skill, String, String, Vec<Event>) {
    let (parts, prompts) = shop(answer, arise);
    block_on(async {
        let journeyman = open_as("test", &parts, recipe::standard()).await;
        let events = journeyman.events();
        let task = Task::new("t-1", "Give the money for order O-17 back");
        let report = done_by(&journeyman, task, ASKS).await;
        assert_eq!(admitted(&report), 1, "{report:?}");
        let library = journeyman.library().await.expect("a library");
        let mut entries = library.entries();
        let skill = entries.next().expect("a skill").skill.clone();
        assert!(entries.next().is_none());
        let text = serde_json::to_string(&skill).expect("JSON").to_lowercase();
        let prompts = prompts.lock().unwrap().join("\n").to_lowercase();
        (skill, text, prompts, told(events))
    })
}

/// Words of mathematics, of which a shop has no use.
const MATHEMATICS: [&str; 9] = [
    "substitute",
    "algebra",
    "geometry",
    "combinatorics",
    "number_theory",
    "number theory",
    "calculus",
    "equation",
    "mathematic",
];

fn check_no_mathematics(answer: &str, arise: AriseSchema, expect: Origin) {
    let (skill, text, prompts, _) = written(answer, arise);
    assert_eq!(skill.provenance.origin, expect, "{answer}");
    for word in MATHEMATICS {
        assert!(!text.contains(word), "{word} for {answer}: {text}");
        assert!(!prompts.contains(word), "{word} in {prompts}");
    }
}

const GOOD: &str = r#"{"skill_name": "identify_first", "problem_type": "billing", "key_insight": "Who is known may be paid", "method": ["Find the customer", "Refund"], "check": null}"#;

/// The same answer with another `check`, or with none.
fn with_check(check: &str) -> String {
    GOOD.replace(", \"check\": null", check)
}

#[test]
fn a_host_that_tells_no_types_apart_gets_no_mathematics() {
    for check in [
        "",
        ", \"check\": null",
        ", \"check\": \"\"",
        ", \"check\": \" \\n\"",
    ] {
        let answer = with_check(check);
        check_no_mathematics(&answer, general(), Origin::Summary);
        let untyped = answer.replace("\"problem_type\": \"billing\", ", "");
        check_no_mathematics(&untyped, general(), Origin::Summary);
        let said = written(&answer, general()).1;
        assert!(said.contains("check it against the task"), "{said}");
    }
    for garbage in ["garbage", "", "{\"skill_name\": 1}"] {
        check_no_mathematics(garbage, general(), Origin::TraceAbstract);
    }
    // What the model itself says of the check stays.
    let said = written(&with_check(", \"check\": \"The money is back\""), general()).1;
    assert!(said.contains("the money is back"), "{said}");
}

#[test]
fn nor_does_one_that_wants_no_checks() {
    let mut none = general();
    none.limits.check = 0;
    check_no_mathematics(&with_check(""), none.clone(), Origin::Summary);
    check_no_mathematics("garbage", none, Origin::TraceAbstract);
}

#[test]
fn types_of_mathematics_in_a_shop_are_told_and_let_nothing_of_another_type_in() {
    let arise = AriseSchema::new(ProblemTypes::arise());
    let names = arise.problem_types.names().join(", ");
    let (skill, text, _, events) = written(GOOD, arise);
    let told = events.iter().find_map(|event| match &event.kind {
        EventKind::FellBack { reason, .. } => Some(reason.clone()),
        _ => None,
    });
    let told = told.expect("it is told that no answer could be read");
    let said = format!("problem_type is none of: {names}");
    assert_eq!(told.matches(&said).count(), 2, "the repair too: {told}");
    assert_eq!(skill.provenance.origin, Origin::TraceAbstract);
    assert_eq!(skill.state, State::Trial);
    let types: Vec<&str> = skill.metadata.values().map(String::as_str).collect();
    assert_eq!(types, [ProblemTypes::GENERAL]);
    for word in [
        "billing",
        "identify_first",
        "who is known",
        "algebra",
        "geometry",
    ] {
        assert!(!text.contains(word), "{word} in {text}");
    }
}

#[test]
fn the_same_draft_enters_once_beside_a_persons_skill() {
    let mut parts = components();
    parts.model = Some(Arc::new(ScriptedModel::always(
        "same-title: How to say it.\nThis is the body.",
    )));
    block_on(async {
        let store = parts.store.clone().expect("a store");
        let mut skill = sample::skill("same-title");
        skill.provenance.origin = Origin::Human;
        let change = journeyman::domain::LibraryChange::Add(Box::new(skill));
        let commit = sample::commit(0, "by hand", vec![change]);
        store.commit(&commit).await.expect("it commits");
        let journeyman = open_as("test", &parts, recipe()).await;
        journeyman.learn(tasks(4)).await.expect("it learns");
        let library = journeyman.library().await.expect("a library");
        let names: Vec<String> = library
            .entries()
            .map(|entry| entry.skill.name.to_string())
            .collect();
        assert_eq!(names.len(), 2, "{names:?}");
    });
}

#[test]
fn answers_that_cannot_be_read_are_counted_by_role() {
    let (parts, prompts) = shop("garbage", general());
    let report = block_on(async {
        let journeyman = open_as("test", &parts, recipe::standard()).await;
        let task = Task::new("t-0", "Refund whatever it is");
        done_by(&journeyman, task, ASKS).await
    });
    let asked: u64 = report.roles.iter().map(|(_, calls)| calls.asked).sum();
    assert_eq!(
        2 * asked,
        prompts.lock().unwrap().len() as u64,
        "each with its repair"
    );
    let writer = report.roles.get(journeyman::domain::Role::Summarize);
    assert_eq!(
        (writer.asked, writer.unreadable, writer.repaired),
        (1, 1, 0)
    );
    assert_eq!(writer.unreadable_share(), Some(1.0));
    assert!(report.written[0].fallback);
}
