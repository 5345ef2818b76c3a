//! `docs/reference/output.md` shows what each command prints. The commands are run here, so that a change of their texts is seen in
//! review.
//!
//! With `JOURNEYMAN_WRITE=1` the samples are written anew:
//!
//!     JOURNEYMAN_WRITE=1 cargo test -p journeyman-cli --test cli output_page

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::Command,
    sync::atomic::{AtomicUsize, Ordering},
};

use futures::executor::block_on;
use journeyman::testing::Edited as _;
use journeyman::{
    Category, ModelId, RunId, TaskId, Version,
    contract::{SkillFiles, SkillStore},
    domain::{AssignedSkill, Assignment, AttemptId, FilePath, LibraryChange, Origin, Skill},
    testing::sample,
};
use journeyman_disk::{DiskOptions, DiskStore};
use serde_json::{Value, json};

use crate::{
    model_server::ModelServer,
    support::{Place, RUN, Ran, add, ran},
};

/// The line of the page below which everything is written by the test.
const MARK: &str =
    "<!-- The samples below are written by adapters/cli/tests/cli/output_page.rs -->\n";

/// What stands in the place of a text that differs from machine to machine or from time to time.
const MASK: &str = "…";

/// What of a command's output is shown.
#[derive(Clone, Copy, PartialEq)]
enum Shown {
    /// Standard error, and then standard output.
    All,
    /// Standard output alone: progress is on standard error, in an order that a machine's load may change.
    Answer,
}

/// Commands of one kind, which are run one after another.
struct Section {
    head: &'static str,
    says: &'static str,
    lines: &'static [&'static str],
    shown: Shown,
}

const fn section(
    head: &'static str,
    says: &'static str,
    lines: &'static [&'static str],
) -> Section {
    Section {
        head,
        says,
        lines,
        shown: Shown::All,
    }
}

const fn answer(head: &'static str, says: &'static str, lines: &'static [&'static str]) -> Section {
    Section {
        shown: Shown::Answer,
        ..section(head, says, lines)
    }
}

static SKILL: [Section; 13] = [
    section(
        "skill list",
        "UTILITY is the moving average of a skill's rewards, which begins at 0, and USES the number of attempts with it. TIER is `cache` for \
         skills that agents are offered, `reservoir` for those that the cache has no room for, and `aside` for all others.",
        &[
            "skill list --library library",
            "skill list --state archived --library library",
        ],
    ),
    section(
        "skill search",
        "The words of the query find skills, and each word has its share of the score.",
        &["skill search \"refund the order of a customer\" --library library"],
    ),
    section(
        "skill show",
        "First what the library knows of the skill, then its SKILL.md.",
        &["skill show refund-order --library library"],
    ),
    section(
        "skill diff",
        "Lines that were taken out begin with `-`, and lines that came with `+`.",
        &["skill diff close-ticket 1 2 --library library"],
    ),
    section(
        "skill log",
        "One block for each commit, the latest first.",
        &["skill log --limit 2 --library library"],
    ),
    section(
        "skill validate",
        "Each finding has its place, the name of the rule and what to do.",
        &["skill validate theirs"],
    ),
    section(
        "skill import",
        "What comes from elsewhere starts in quarantine, and no agent gets it before a person has read and released it.",
        &["skill import theirs/book-table --source \"a friend\" --library library"],
    ),
    section(
        "skill release",
        "A skill that is released is in use from then on.",
        &["skill release book-table --reason \"I have read it\" --library library"],
    ),
    section(
        "skill quarantine",
        "With `--dry-run` nothing is changed; `skill rollback` and `skill import` have it too.",
        &["skill quarantine refund-order --dry-run --library library"],
    ),
    section(
        "skill rollback",
        "An earlier version comes back as a new one.",
        &[
            "skill rollback book-table 1 --library library",
            "skill rollback close-ticket 1 --dry-run --library library",
        ],
    ),
    section(
        "skill export",
        "Nothing is replaced: the path has to be a new one.",
        &["skill export book-table --format skill-folder --output exported --library library"],
    ),
    section(
        "skill retire",
        "What a run did is shown first; `--yes` undoes it.",
        &["skill retire --run run-1 --library library"],
    ),
    answer(
        "skill evals",
        "The same evals with the skill in the prompt and without any skill.",
        &["skill evals close-ticket --run desk.toml --library library"],
    ),
];

static LIBRARY: [Section; 9] = [
    section(
        "library create",
        "A new folder.",
        &["library create --library new"],
    ),
    section(
        "library check",
        "Nothing is changed. The exit code is 0 where nothing is wrong.",
        &["library check --library library"],
    ),
    section(
        "library stats",
        "What the library holds; sizes are in bytes.",
        &["library stats --library library"],
    ),
    section(
        "library lift",
        "The picture shows the range of the difference in points, with `o` at the estimate and `|` at 0.",
        &["library lift --library library"],
    ),
    section(
        "library copy",
        "One file that `library restore` reads.",
        &["library copy --archive copy.journeyman --library library"],
    ),
    section(
        "library restore",
        "The library with its history, in a new folder.",
        &["library restore copy.journeyman --library restored"],
    ),
    section(
        "library merge",
        "The skills that the other library offers come in as an import does, in quarantine; a name that is taken gets a number.",
        &["library merge restored --library library"],
    ),
    section(
        "library repair",
        "The folder is copied aside first.",
        &["library repair --library restored"],
    ),
    answer(
        "library certify",
        "Each skill against doing without it, at tasks of kept attempts.",
        &["library certify desk.toml"],
    ),
];

static OTHERS: [Section; 4] = [
    answer(
        "run",
        "A run learns from its tasks, and measures held-out tasks before and after. Its progress is on standard error.",
        &["run desk.toml"],
    ),
    answer(
        "run --compare",
        "Two arms of one file on the same held-out tasks.",
        &["run arms.toml --compare"],
    ),
    section(
        "model info",
        "What the header of a GGUF file says.",
        &["model info apprentice.gguf"],
    ),
    section(
        "model fetch",
        "Without a name: the public models that the command knows.",
        &["model fetch"],
    ),
];

static ERRORS: [Section; 1] = [section(
    "errors",
    "An error says what is wrong, where, and behind `hint` what to do next. With `--json` it is a document on standard output.",
    &[
        "skill show refund --library library",
        "skill show refund --json --library library",
        "skill list --library nowhere",
        "skill list --bogus",
        "run mistyped.toml",
        "run nowhere.toml",
    ],
)];

/// Commands without a sample, and why they have none.
const LEFT_OUT: [(&str, &str); 10] = [
    (
        "skill why",
        "its scores differ in their last digits from machine to machine",
    ),
    (
        "library calibrate",
        "it needs a model that gives log-probabilities, and some dozens of kept attempts",
    ),
    ("model devices", "it lists the devices of the machine"),
    (
        "model score",
        "its scores differ in their last digits from machine to machine",
    ),
    (
        "model generate",
        "a model's text differs from machine to machine",
    ),
    ("model bench", "it measures the machine"),
    (
        "model calibrate",
        "its threshold differs from machine to machine",
    ),
    (
        "experiment",
        "it takes minutes, and its figures hold for one machine and build",
    ),
    (
        "serve mcp",
        "it prints nothing but the number of skills that it serves",
    ),
    ("completions", "it prints a script for a shell"),
];

/// The folder of the commands, with all that they name.
fn shop() -> Place {
    let place = Place::empty();
    library(&place);
    for (name, text) in [
        (
            "theirs/book-table",
            "---\nname: book-table\ndescription: Books a table. Use when a guest asks for one.\n---\n\nAsk for the time before you book.\n",
        ),
        (
            "theirs/move-booking",
            "---\nname: Move-Booking\ndescription: Moves a booking. Use when a guest is late.\ncolor: red\n---\n\nThe password: hunter22x.\n",
        ),
    ] {
        place.skill_folder(name, text);
    }
    let model = here().join("../../tests/lab/apprentice/apprentice.gguf");
    fs::copy(model, place.path("apprentice.gguf")).unwrap();
    desk(&place);
    place
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn skill(name: &str, description: &str, body: &str) -> Skill {
    let mut skill = sample::skill(name);
    skill.description = description.to_owned();
    skill.body = body.to_owned();
    skill
}

/// The library `library`: a person's skill in two versions, the second with evals, and one that a run wrote, earned credit for, and that
/// chance left out of every other task.
fn library(place: &Place) {
    let store = DiskStore::open(place.root(), &DiskOptions::default()).unwrap();
    let eval = |n: u32| json!({"id": n, "prompt": format!("Close ticket T-{} for Ada.", 20 + n)});
    let evals: Vec<Value> = (1..=4).map(eval).collect();
    let evals = json!({"skill_name": "close-ticket", "evals": evals}).to_string();
    let evals = block_on(store.put(evals.as_bytes())).unwrap();
    let close = skill(
        "close-ticket",
        "Closes a support ticket. Use for tickets of the desk.",
        "Call close_ticket, and tell the customer.",
    );
    let mut later = close.clone();
    later.version = Version(2);
    later.body =
        "1. Call verify_customer first.\n2. Then call close_ticket, and tell the customer."
            .to_owned();
    let path = FilePath::new("evals/evals.json").unwrap();
    later.files.insert(path, evals);
    let mut refund = skill(
        "refund-order",
        "Refunds an order that was paid. Use when a customer wants money back.",
        "1. Look the order up.\n2. Void the payment.\n3. Only then refund it.",
    );
    refund.provenance.origin = Origin::Summary;
    refund.provenance.runs = vec![RunId::new(RUN)];
    let credit = LibraryChange::Credit {
        skill: refund.reference(),
        attempt: AttemptId::new("attempt-1"),
        reward: 1.0,
        uses: 1,
    };
    let assigned = (0..120).map(|number| assigned(&refund, number)).collect();
    let changes = [
        ("the first skills", vec![add(close), add(refund.clone())]),
        (
            "the desk has a new rule",
            vec![LibraryChange::Revise(Box::new(later))],
        ),
        ("an order was refunded", vec![credit]),
        ("tasks with the skill and without it", assigned),
    ];
    for (base, (reason, changes)) in (0..).zip(changes) {
        let mut commit = sample::commit(base, &format!("key {base}"), changes);
        commit.cause.run = (base == 2).then(|| RunId::new(RUN));
        commit.cause.reason = reason.to_owned();
        block_on(store.commit(&commit)).unwrap();
    }
}

/// A task that chance gave the skill or not. With it nine of ten are done, without it three.
fn assigned(skill: &Skill, number: usize) -> LibraryChange {
    let given = number.is_multiple_of(2);
    let done = number / 2 % 10 < if given { 9 } else { 3 };
    let attempt = AttemptId::new(format!("run-2/{number}/0"));
    let task = TaskId::new(format!("task-{number}"));
    let done = f64::from(u8::from(done));
    let assignment = Assignment::new(attempt, task, 0.5).edited(|it| {
        it.category = Some(Category::new("orders"));
        it.model = Some(ModelId::new("a-model"));
        it.without = !given;
        it.by_skill = true;
        it.skills = vec![AssignedSkill::new(skill.reference(), given)];
        it.success = done;
        it.score = done;
        it.steps = if given { 4.0 } else { 6.0 };
        it.tokens = 500.0;
    });
    LibraryChange::Assign(Box::new(assignment))
}

/// Files of runs at a desk that closes a ticket only after its customer was verified, with a model that the test plays.
pub(crate) fn desk(place: &Place) {
    let refused = AtomicUsize::new(0);
    let server = ModelServer::start(move |messages| Some(said(messages, &refused)));
    let at = |path: &str| here().join(path).canonicalize().unwrap();
    let file = format!(
        "name = \"desk\"\nlibrary = \"desk\"\ntasks = \"tasks.jsonl\"\nheld_out = 8\nsteps = 6\n\
         set = {{ \"select.selector\" = {{ name = \"top\", options = {{ limit = 1 }} }}, \"tiers.traces\" = 100 }}\n\n\
         [model]\nserver = \"{}\"\nname = \"played\"\ncontext = 8192\n\n\
         [world]\nprogram = \"python3\"\narguments = [{:?}]\nenvironment = {{ PYTHONPATH = {:?} }}\ntrusted = true\n",
        server.url,
        at("tests/children/desk.py"),
        at("../process/python"),
    );
    let arms = "\n[arms.plain]\nlibrary = \"nothing\"\n\n[arms.skilled]\nlibrary = \"desk\"\n";
    let mistyped = file.replace("steps = 6", "steps = \"six\"");
    for (name, text) in [
        ("desk.toml", file.clone()),
        ("arms.toml", file + arms),
        ("mistyped.toml", mistyped),
    ] {
        fs::write(place.path(name), text).unwrap();
    }
    let task =
        |n| json!({"id": format!("t{n}"), "instruction": format!("Close ticket T-{n} for Ada.")});
    let tasks: Vec<String> = (0..12).map(|n| task(n).to_string()).collect();
    fs::write(place.path("tasks.jsonl"), tasks.join("\n")).unwrap();
}

/// Tickets below this one are learned from.
const HELD_OUT: u32 = 4;

/// With a skill in its prompt the agent verifies the customer first. Without one it closes the ticket; once it is refused, it verifies the
/// customer of every other ticket, and gives up at the rest. The writer says what helps.
fn said(messages: &Value, refused: &AtomicUsize) -> String {
    let text = messages.to_string();
    if text.contains("You distil reusable skills") {
        return json!({
            "skill_name": "verify_before_closing", "problem_type": "Support",
            "key_insight": "The desk closes a ticket only after its customer was verified",
            "method": ["Call verify_customer first", "Then call close_ticket"],
            "check": null, "confidence": 0.9,
        })
        .to_string();
    }
    let turns = messages.as_array().into_iter().flatten();
    let turns = turns.filter(|message| message["role"] == "assistant");
    let knows = text.contains("Call verify_customer first");
    let tool = match (knows, turns.count()) {
        (true, 0) => "verify_customer",
        (false, 1) if gives_up(&text, refused) => return r#"{"done": true}"#.to_owned(),
        (false, 1) => "verify_customer",
        _ => "close_ticket",
    };
    json!({"tool": tool, "arguments": {}}).to_string()
}

/// At tickets to learn from it gives up every other time, so that a group of attempts has both ends; at others by their number alone, since
/// they may be attempted in any order.
fn gives_up(text: &str, refused: &AtomicUsize) -> bool {
    let ticket = text.split("Close ticket T-").nth(1).unwrap_or_default();
    let digits: String = ticket.chars().take_while(char::is_ascii_digit).collect();
    let number: u32 = digits.parse().unwrap_or_default();
    match number < HELD_OUT {
        true => refused.fetch_add(1, Ordering::SeqCst) % 2 == 1,
        false => number % 2 == 1,
    }
}

/// The arguments of a command line; quotes hold those with spaces together.
pub(crate) fn words(line: &str) -> Vec<String> {
    let parts = line.split('"').enumerate();
    let words = parts.flat_map(|(at, part)| match at % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    });
    words.collect()
}

fn run(place: &Place, line: &str) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_journeyman"));
    command
        .current_dir(place.folder.path())
        // No model of this machine's user is found.
        .env("XDG_CACHE_HOME", place.path("cache"))
        .args(words(line));
    ran(&command.output().unwrap())
}

fn sample_of(place: &Place, section: &Section) -> String {
    let mut page = format!("## {}\n\n{}\n\n", section.head, section.says);
    for line in section.lines {
        let ran = run(place, line);
        assert!(
            section.shown == Shown::All || ran.code == 0,
            "{line}: {}{}",
            ran.out,
            ran.err
        );
        let before = match section.shown {
            Shown::All => ran.err.as_str(),
            Shown::Answer => "",
        };
        // A slow machine says what it waits for.
        let before = before.lines().filter(|line| !line.starts_with("  ... "));
        let before: String = before.map(|line| format!("{line}\n")).collect();
        let text = masked(&format!("{before}{}", ran.out), place);
        page.push_str(&format!("```console\n$ journeyman {line}\n{text}```\n\n"));
        if ran.code != 0 {
            page.push_str(&format!("The exit code is {}.\n\n", ran.code));
        }
    }
    page
}

/// A text without what differs from machine to machine, or from time to time.
fn masked(text: &str, place: &Place) -> String {
    let folder = place.folder.path();
    let whole = folder.canonicalize().unwrap();
    let mut text = text.to_owned();
    for path in [whole.as_path(), folder] {
        text = text.replace(&path.display().to_string(), MASK);
    }
    let lines = text.split_inclusive('\n').map(|line| {
        // The file's size is the database's own affair.
        if line.starts_with("database bytes ") {
            let name = line
                .trim_end()
                .trim_end_matches(|c: char| c.is_ascii_digit());
            return format!("{name}{MASK}\n");
        }
        let words = line.split_inclusive(|c: char| c.is_whitespace() || ",()".contains(c));
        words.map(masked_word).collect()
    });
    lines.collect()
}

fn masked_word(word: &str) -> String {
    let text = word.trim_end_matches(|c: char| !c.is_alphanumeric());
    let behind = &word[text.len()..];
    let is_hex = |text: &str| text.chars().all(|c| c.is_ascii_hexdigit());
    let is_hash = text.len() == 64 && is_hex(text);
    let is_time = text.len() == 20 && text.starts_with("20") && text.ends_with('Z');
    if is_hash || is_time {
        return format!("{MASK}{behind}");
    }
    match text.rsplit_once('@') {
        Some((name, digest)) if digest.len() == 12 && is_hex(digest) => {
            format!("{name}@{MASK}{behind}")
        }
        _ => word.to_owned(),
    }
}

#[test]
fn what_differs_is_masked() {
    let place = Place::empty();
    let folder = place.folder.path().display();
    let hash = "0a".repeat(32);
    let text = format!(
        "{folder}/a, sha256 {hash}\nat 2026-11-26T08:00:00Z (m@0123456789ab)\ndatabase bytes  4096\n"
    );
    let expect = "…/a, sha256 …\nat … (m@…)\ndatabase bytes  …\n";
    assert_eq!(masked(&text, &place), expect);
    assert_eq!(masked("brew@2 of 64\n", &place), "brew@2 of 64\n");
    assert_eq!(
        words("skill search \"a b\" --all"),
        ["skill", "search", "a b", "--all"]
    );
}

#[test]
fn the_page_of_outputs_shows_what_the_commands_print() {
    let place = shop();
    let samples_of =
        |all: &[Section]| -> String { all.iter().map(|one| sample_of(&place, one)).collect() };
    // The run comes first: what it learned is certified.
    let others = samples_of(&OTHERS);
    let (skill, library) = (samples_of(&SKILL), samples_of(&LIBRARY));
    let errors = samples_of(&ERRORS);
    let left_out = LEFT_OUT.map(|(command, why)| format!("- `{command}`: {why}.\n"));
    let made = format!(
        "\n{skill}{library}{others}{errors}## Without a sample\n\n{}",
        left_out.concat()
    );
    let path = here().join("../../docs/reference/output.md");
    let page = fs::read_to_string(&path).unwrap();
    let (head, samples) = page.split_once(MARK).unwrap();
    if std::env::var_os("JOURNEYMAN_WRITE").is_some() {
        fs::write(&path, format!("{head}{MARK}{made}")).unwrap();
        return;
    }
    let mut lines = made.lines().zip(samples.lines());
    let differs = lines.find(|(one, other)| one != other);
    assert!(
        made == samples,
        "docs/reference/output.md shows other outputs than the commands print, first {differs:?}. If the change is meant, write the page \
         anew: JOURNEYMAN_WRITE=1 cargo test -p journeyman-cli --test cli output_page\n{made}"
    );
}

/// The names of the commands below a command, by its help.
fn below(place: &Place, group: &str) -> Vec<String> {
    let help = run(place, &format!("{group} -h"));
    let Some((_, listed)) = help.out.split_once("Commands:\n") else {
        return Vec::new();
    };
    let lines = listed
        .lines()
        .take_while(|line| !line.starts_with("Options:"));
    let named = lines.filter_map(|line| line.strip_prefix("  "));
    let named = named.filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()));
    let named = named.filter_map(|line| line.split_whitespace().next());
    let named = named.filter(|name| *name != "help");
    named.map(str::to_owned).collect()
}

#[test]
fn each_command_has_a_sample_or_a_reason() {
    let place = Place::empty();
    let sections = SKILL.iter().chain(&LIBRARY).chain(&OTHERS);
    let shown: BTreeSet<&str> = sections.map(|section| section.head).collect();
    let left_out = BTreeSet::from(LEFT_OUT.map(|(command, _)| command));
    let groups = below(&place, "");
    assert!(groups.len() >= 6, "{groups:?}");
    let commands = groups.into_iter().flat_map(|group| {
        let commands = below(&place, &group);
        match commands.is_empty() {
            true => vec![group],
            false => commands
                .iter()
                .map(|name| format!("{group} {name}"))
                .collect(),
        }
    });
    let commands: BTreeSet<String> = commands.collect();
    let told = |command: &str| shown.contains(command) || left_out.contains(command);
    let missing: Vec<&String> = commands.iter().filter(|name| !told(name)).collect();
    assert!(
        missing.is_empty(),
        "neither a sample nor a reason: {missing:?}"
    );
    let heads = shown.union(&left_out);
    let stale: Vec<&&str> = heads
        .filter(|head| !commands.contains(command_of(head)))
        .collect();
    assert!(stale.is_empty(), "no such command: {stale:?}");
    let both: Vec<&&str> = shown.intersection(&left_out).collect();
    assert!(both.is_empty(), "a sample, and a reason for none: {both:?}");
}

/// The command of a head, which may name an option of it.
fn command_of(head: &str) -> &str {
    head.split_once(" --").map_or(head, |(command, _)| command)
}

/// What the page has below a head, up to the next head.
fn below_head<'a>(page: &'a str, head: &str) -> &'a str {
    let found = page.split_once(&format!("\n## {head}\n"));
    found.map_or("", |(_, rest)| rest.split("\n## ").next().unwrap_or(rest))
}

/// Whether one of the lines calls the command of a head, with the option that the head may name.
fn calls(lines: &[&str], head: &str) -> bool {
    let called = |line: &str| {
        let line = words(line);
        head.split(' ')
            .all(|word| line.iter().any(|one| one == word))
    };
    lines.iter().any(|line| called(line))
}

/// Runs no command, so it says at once that a sample is missing.
#[test]
fn the_page_has_the_samples_of_each_head() {
    if std::env::var_os("JOURNEYMAN_WRITE").is_some() {
        return;
    }
    let page = fs::read_to_string(here().join("../../docs/reference/output.md")).unwrap();
    let commands = SKILL.iter().chain(&LIBRARY).chain(&OTHERS);
    let uncalled: Vec<&str> = commands
        .clone()
        .filter(|section| !calls(section.lines, section.head))
        .map(|section| section.head)
        .collect();
    assert!(uncalled.is_empty(), "no line calls {uncalled:?}");
    for section in commands.chain(&ERRORS) {
        let part = below_head(&page, section.head);
        for line in section.lines {
            let call = format!("$ journeyman {line}");
            assert!(
                part.lines().any(|shown| shown == call),
                "docs/reference/output.md has no output of `{line}` below `{}`; write it anew, as its head says",
                section.head
            );
        }
    }
}

#[test]
fn a_head_without_a_sample_is_found() {
    let page =
        "Text.\n\n## skill list\n\n```console\n$ journeyman skill list\n```\n\n## run\n\nText.\n";
    assert!(below_head(page, "skill list").contains("$ journeyman skill list\n"));
    assert!(!below_head(page, "run").contains("$ journeyman"));
    assert_eq!(below_head(page, "model info"), "");
    assert_eq!(command_of("run --compare"), "run");
    assert_eq!(command_of("skill why"), "skill why");
    assert!(calls(&["run arms.toml --compare"], "run --compare"));
    assert!(!calls(&["run desk.toml", "--compare"], "run --compare"));
}
