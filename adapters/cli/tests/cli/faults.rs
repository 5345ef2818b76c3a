//! `journeyman run` where the world or the model ends in the middle of the learning, and what a run says at its end.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

use serde_json::{Value, json};

use crate::{
    model_server::ModelServer,
    running::{LEARNED, services},
    support::{Place, Ran, documented},
};

fn children(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/children")
        .join(file)
}

/// The names of the skills that were learned before the first fault, by what the command said.
fn learned_before_the_fault(said: &str) -> BTreeSet<String> {
    let (before, _) = said.split_once("; fault: ").unwrap();
    let lines = before
        .lines()
        .filter_map(|line| line.strip_prefix("    learned "));
    lines
        .map(|line| line.split(':').next().unwrap().to_owned())
        .collect()
}

fn in_the_library(place: &Place) -> BTreeSet<String> {
    let listed = place.json(&["skill", "list"]).done().json();
    let skills = listed["skills"].as_array().unwrap().iter();
    skills
        .map(|skill| skill["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_world_that_ends_once_is_started_again_and_what_was_learned_stays() {
    let place = Place::empty();
    let died = place.path("died");
    let (child, died_at) = (children("dying_services.py"), died.display());
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/services");
    let tasks = fs::read_to_string(examples.join("tasks.jsonl")).unwrap();
    let last = tasks.lines().nth(LEARNED[2]).unwrap();
    let last: Value = serde_json::from_str(last).unwrap();
    services(&place, |text| {
        let arguments = text
            .lines()
            .find(|line| line.starts_with("arguments"))
            .unwrap();
        let dying = format!("arguments = [{child:?}, {}, \"{died_at}\"]", last["id"]);
        let path = format!("PYTHONPATH = \"{}:", examples.display());
        text.replace(arguments, &dying)
            .replace("PYTHONPATH = \"", &path)
            .replace("\"learned\"", "\"library\"")
    });
    let file = place.path("run.toml").display().to_string();
    let ran = place.json(&["run", &file, "--seed", "3"]).done();
    assert!(died.exists(), "the world did not end: {}", ran.err);
    assert!(ran.err.contains("[3/3]"), "{}", ran.err);
    let told = ran.json();
    documented("`run`", &told);
    // The attempts of one group share the process.
    let faults = told["learning"]["faults"].as_u64().unwrap();
    assert!((1..=4).contains(&faults), "{told}");
    assert_eq!(told["learning"]["attempts"], 12, "{told}");
    for when in ["before", "after"] {
        let found = (&told[when]["judged"], &told[when]["faults"]);
        assert_eq!(found, (&3.into(), &0.into()), "{told}");
    }
    let before = learned_before_the_fault(&ran.err);
    assert!(!before.is_empty(), "{}", ran.err);
    let kept = in_the_library(&place);
    assert!(before.is_subset(&kept), "{before:?} and {kept:?}");
}

/// Answers as the desk's agent and its roles would, until a chat names ticket `last`.
fn desk(last: &'static str) -> impl FnMut(&Value) -> Option<String> + Send + 'static {
    let refused = AtomicUsize::new(0);
    move |messages: &Value| {
        let is_last = messages.to_string().contains(&format!("ticket {last} "));
        (!is_last).then(|| said(messages, &refused))
    }
}

/// What the writer says behind the attempts at the first three tickets: a name, an insight and a step.
const LESSONS: [(&str, &str, &str); 3] = [
    (
        "close_after_verify",
        "The desk closes no ticket before verify_customer was called",
        "Call verify_customer first",
    ),
    (
        "read_refusals",
        "A refusal of this desk names the tool that is missing",
        "Read which tool the refusal names, and call it",
    ),
    (
        "never_give_up_early",
        "Attempts that end behind one refusal leave their work undone",
        "Go on after a refusal until the world says that all is done",
    ),
];

/// The agent closes the ticket. Once it is refused, it verifies the customer in every other attempt, and gives up in the rest;
/// the writer says what helps in a skill for the ticket.
fn said(messages: &Value, refused: &AtomicUsize) -> String {
    let text = messages.to_string();
    if text.contains("You distil reusable skills") {
        let (_, ticket) = text.split_once("Close ticket T-").unwrap();
        let (name, insight, step) = LESSONS[usize::from(ticket.as_bytes()[0] - b'0')];
        return json!({
            "skill_name": name, "problem_type": "Support", "key_insight": insight,
            "method": [step, "Then call close_ticket"], "check": null, "confidence": 0.9,
        })
        .to_string();
    }
    let said = messages
        .as_array()
        .into_iter()
        .flatten()
        .filter(|message| message["role"] == "assistant");
    let tool = match said.count() {
        1 if refused.fetch_add(1, Ordering::SeqCst) % 2 == 1 => {
            return r#"{"done": true}"#.to_owned();
        }
        1 => "verify_customer",
        _ => "close_ticket",
    };
    json!({"tool": tool, "arguments": {}}).to_string()
}

#[test]
fn a_model_server_that_stops_ends_no_learning_run_and_what_was_learned_stays() {
    let place = Place::empty();
    let server = ModelServer::start(desk("T-3"));
    let file = run_file(&place, &server.url, 8);

    // The last measurement has no model at all.
    let ran = place.run(&["run", &file]);
    println!("{}", ran.err);
    let (_, learning) = ran.err.split_once("\nlearning\n").unwrap();
    let (learning, _) = learning
        .split_once("measuring held-out tasks again")
        .unwrap();
    // The server stops at the fourth task; the last three have a fault each, and the learning goes on to its end.
    assert!(learning.contains("[6/6]"), "{learning}");
    assert_eq!(learning.matches("; fault: ").count(), 3, "{learning}");
    what_was_learned_stays(&place, &ran, &server.url);
}

/// The file of a run at the desk, with this model server and so many tasks, two of them held out.
fn run_file(place: &Place, url: &str, tasks: usize) -> String {
    let python = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../process/python")
        .canonicalize()
        .unwrap();
    let file = format!(
        "name = \"desk\"\ntasks = \"tasks.jsonl\"\nheld_out = 2\nsteps = 6\n\n[model]\nserver = \"{url}\"\n\
         name = \"played\"\ncontext = 4096\n\n[world]\nprogram = \"python3\"\narguments = [{:?}]\n\
         environment = {{ PYTHONPATH = {python:?} }}\ntrusted = true\n",
        children("desk.py"),
    );
    fs::write(place.path("run.toml"), file).unwrap();
    let task =
        |n| json!({"id": format!("t{n}"), "instruction": format!("Close ticket T-{n} for Ada.")});
    let tasks: Vec<String> = (0..tasks).map(|n| task(n).to_string()).collect();
    fs::write(place.path("tasks.jsonl"), tasks.join("\n")).unwrap();
    place.path("run.toml").display().to_string()
}

#[test]
fn a_run_says_at_its_end_what_was_found_since_it_began() {
    let place = Place::empty();
    let server = ModelServer::start(|messages| {
        let turns = messages.as_array().into_iter().flatten();
        let said = turns.filter(|message| message["role"] == "assistant");
        let tool = ["verify_customer", "close_ticket"][said.count().min(1)];
        Some(json!({"tool": tool, "arguments": {}}).to_string())
    });
    let file = run_file(&place, &server.url, 14);
    let ran = place.json(&["run", &file]).done();
    let told = ran.json();
    documented("`run`", &told);
    let remarks = told["remarks"].as_array().unwrap().iter();
    let notes: Vec<&str> = remarks
        .filter_map(|remark| remark.as_str()?.strip_prefix("Note: ")?.strip_suffix('.'))
        .collect();
    let none_needed = "no skill was written from the latest 12 tasks, and none was needed";
    let is_it = |note: &&&str| note.starts_with(none_needed);
    let note = notes.iter().find(is_it);
    assert!(note.is_some_and(|note| note.contains("is_error")), "{told}");
    for note in notes {
        assert!(!note.contains("::"), "{note}");
        // What was said at the opening is not said again.
        assert!(!ran.err.contains(note), "{note}: {}", ran.err);
    }
}

/// The skills of the tasks before the server stopped are offered from the library, and the command says so before its error.
fn what_was_learned_stays(place: &Place, ran: &Ran, url: &str) {
    let before = learned_before_the_fault(&ran.err);
    assert_eq!(before.len(), 3, "{}", ran.err);
    let library = place.library();
    let offered = library
        .entries()
        .filter(|one| one.skill.state.is_offered())
        .map(|one| one.skill.name.to_string());
    assert_eq!(offered.collect::<BTreeSet<_>>(), before, "{}", ran.err);

    assert_eq!((ran.code, ran.out.as_str()), (5, ""), "{}", ran.err);
    let (_, told) = ran
        .err
        .split_once("measuring held-out tasks again\n")
        .unwrap();
    let (kept, error) = told.split_once("\nerror: ").unwrap();
    assert!(
        kept.contains("12 of 24 attempts ended with a fault"),
        "{kept}"
    );
    assert!(
        kept.contains("What was learned is kept. The library has 3 skills (3 active): "),
        "{kept}"
    );
    assert!(
        error.starts_with("none of 2 attempts could be made and judged"),
        "{error}"
    );
    assert!(
        error.contains(url) && error.contains("\n  hint: "),
        "{error}"
    );
}
