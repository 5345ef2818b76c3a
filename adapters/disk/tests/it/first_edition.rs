//! A library that a program of the first edition wrote is opened, read and learned with; a run of it that was not finished says
//! what to do. `tests/fixtures/first-edition` has the files, and says how they were made.

use std::{
    collections::BTreeMap,
    fs,
    num::NonZeroU32,
    path::{Path, PathBuf},
    sync::Arc,
};

use futures::executor::block_on;
use journeyman::{
    Error, ErrorKind, RunId, Seed,
    agent::EnvironmentJudge,
    contract::{Attempt, Components, GenerateRequest, Journal, SkillStore},
    domain::{Action, Role, Step},
    library::{Entry, SkillLibrary},
    recipe::{self, Recipe},
    run::{Journeyman, Options, recorded_attempts},
    stations::{propose::WriteWhen, select::First},
    testing::{
        Play, ScriptedEnvironment, ScriptedExecutor, ScriptedFormat, ScriptedModel,
        ScriptedRetriever, ScriptedRoles, sample,
    },
};
use journeyman_disk::{DiskOptions, DiskStore, LibraryReader, check};
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

use crate::repair::bytes_below;

/// The skills by name, with their states and versions.
const SKILLS: [(&str, &str, &[u64]); 6] = [
    ("close-ticket", "active", &[1, 2]),
    ("greet-customer", "active", &[1, 2]),
    ("old-note", "archived", &[1]),
    ("open-ticket", "disabled", &[1]),
    ("say-green", "disabled", &[1]),
    ("say-one", "active", &[1, 2]),
];

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/first-edition")
}

/// What the old program said of the library.
fn told(file: &str) -> Value {
    let text = fs::read_to_string(fixture().join(file)).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn copy_below(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy_below(&from, &to);
        } else {
            fs::copy(&from, &to).unwrap();
        }
    }
}

/// A copy of the library in a folder of its own.
fn copied() -> (TempDir, PathBuf) {
    let folder = tempdir().unwrap();
    let root = folder.path().join("library");
    copy_below(&fixture().join("library"), &root);
    (folder, root)
}

fn open(root: &Path) -> Arc<DiskStore> {
    Arc::new(DiskStore::open(root, &DiskOptions::default()).unwrap())
}

fn fold(store: &DiskStore) -> SkillLibrary {
    SkillLibrary::replay(&block_on(store.load()).unwrap().committed).unwrap()
}

/// Every commit, journal entry and skill file with its hash, as the database of a closed library has them.
fn records(root: &Path) -> Vec<String> {
    let database = Connection::open(root.join("library.db")).unwrap();
    let queries = [
        "SELECT revision || ' ' || key || ' ' || hash || ' ' || body FROM commits",
        "SELECT run || ' ' || sequence || ' ' || hash || ' ' || body FROM journal",
        "SELECT sha256 || ' ' || hex(bytes) FROM files",
    ];
    let mut all = Vec::new();
    for query in queries {
        let mut statement = database.prepare(query).unwrap();
        let rows = statement
            .query_map([], |row| row.get::<_, String>(0))
            .unwrap();
        all.extend(rows.map(Result::unwrap));
    }
    all.sort();
    all
}

/// The files of all skills' folders.
fn skill_files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = bytes_below(&root.join("skills"));
    files.extend(bytes_below(&root.join("held")));
    files
}

fn named<'a>(library: &'a SkillLibrary, name: &str) -> Option<&'a Entry> {
    let mut entries = library.entries();
    entries.find(|entry| entry.skill.name.as_str() == name)
}

/// The skills in the form in which the old program told of them.
fn in_old_form(library: &SkillLibrary) -> BTreeMap<&str, Value> {
    let told = |entry: &Entry| {
        let versions: Vec<u64> = entry.versions().map(|one| one.version.0).collect();
        json!({
            "state": entry.skill.state,
            "tier": entry.tier,
            "versions": versions,
            "utility": entry.utility,
            "uses": entry.uses,
            "credits": entry.credits,
            "evidence": entry.evidence.len(),
        })
    };
    let entries = library.entries();
    entries
        .map(|entry| (entry.skill.name.as_str(), told(entry)))
        .collect()
}

/// Adds the places at which a value is not what it was. What has no value may be absent, and there may be more.
fn compare(before: &Value, now: &Value, place: &str, lost: &mut Vec<String>) {
    match (before, now) {
        (Value::Object(before), Value::Object(now)) => {
            for (key, before) in before {
                let place = format!("{place}/{key}");
                match now.get(key) {
                    Some(now) => compare(before, now, &place, lost),
                    None if before.is_null() => {}
                    None => lost.push(place),
                }
            }
        }
        (Value::Array(before), Value::Array(now)) if before.len() == now.len() => {
            for (at, (before, now)) in before.iter().zip(now).enumerate() {
                compare(before, now, &format!("{place}/{at}"), lost);
            }
        }
        _ if before == now => {}
        _ => lost.push(format!("{place}: {before} is {now}")),
    }
}

/// An agent that knows the next word in the first attempt of a group, and in every attempt with a skill.
fn next_word(attempt: &Attempt<'_>, steps: &[Step]) -> Play<Option<Action>> {
    let is_first = attempt.id.as_str().ends_with("/0");
    let knows = is_first || !attempt.injection.skills.is_empty();
    let word = attempt.task.payload[steps.len()].as_str();
    let word = word.filter(|_| knows).map(str::to_owned);
    Play::Give(word.map(Action::Message))
}

/// A skill that is named after the first word of the task, with a number in it that no other has.
fn write_a_skill(request: &GenerateRequest, call: usize) -> Play<String> {
    let text = request.prompt.text();
    let words = text.split("task: say ").nth(1);
    let word = words.and_then(|words| words.split(' ').next()).unwrap();
    Play::Give(format!(
        "say-{word}: How to say {word} first.\nSay {word}, then the next word. This is note 7{call}."
    ))
}

fn recipe() -> Recipe {
    let mut recipe = recipe::standard();
    recipe.select.selector = First.into();
    recipe.attempts.group = NonZeroU32::new(2).unwrap();
    recipe.write.when = WriteWhen::Always;
    recipe.tiers.traces = 2;
    recipe
}

/// The session that wrote the library, with the parts of today.
async fn session(store: &Arc<DiskStore>) -> Journeyman {
    let mut components = Components::new(
        Arc::new(ScriptedExecutor::acting(next_word)),
        Arc::new(ScriptedEnvironment::words()),
        Arc::new(EnvironmentJudge),
    );
    components.store = Some(store.clone());
    components.journal = Some(store.clone());
    components.retriever = Some(Arc::new(ScriptedRetriever::new()));
    components.prompt_format = Some(Arc::new(ScriptedFormat));
    components.model = Some(Arc::new(ScriptedModel::by(write_a_skill)));
    components.roles = Some(Arc::new(ScriptedRoles::default()));
    let options = Options::new("first", Seed(7));
    let opened = Journeyman::open(components, recipe(), options).await;
    opened.unwrap()
}

#[test]
fn a_library_of_the_first_edition_has_its_skills_with_their_states_and_counts() {
    let expected = told("expected.json");
    let (_folder, root) = copied();
    let report = check(&root).unwrap();
    let sound = report.faults.is_empty() && report.folder_faults.is_empty();
    assert!(sound && report.pending.is_empty(), "{report:?}");
    let runs = expected["runs"].as_object().unwrap();
    let entries: u64 = runs.values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!((report.entries, report.files), (entries, 1));

    let reader = LibraryReader::open(&root).unwrap();
    let library = reader.library();
    let skills = in_old_form(library);
    assert_eq!(skills.len(), SKILLS.len());
    for (name, state, versions) in SKILLS {
        assert_eq!(skills[name]["state"], state, "{name}");
        assert_eq!(skills[name]["versions"], json!(versions), "{name}");
    }
    assert_eq!(json!(skills), expected["skills"]);
    assert_eq!(json!(library.revision()), expected["revision"]);
    assert_eq!(json!(library.rules(Role::Extract)), expected["rules"]);
    assert_eq!(json!(library.traces().count()), expected["attempts"]);
}

#[test]
fn nothing_that_the_first_edition_learned_is_missing_in_todays_fold() {
    let (_folder, root) = copied();
    let reader = LibraryReader::open(&root).unwrap();
    let now: Value = serde_json::from_str(&reader.library().to_json().unwrap()).unwrap();
    let mut before = told("library.json");
    // The version of the form may be a later one.
    before.as_object_mut().unwrap().remove("schema");
    let mut lost = Vec::new();
    compare(&before, &now, "", &mut lost);
    assert!(lost.is_empty(), "{lost:#?}");

    // The comparison finds what is missing.
    before["entries"]["close-ticket"]["more"] = json!(1);
    compare(&before, &now, "", &mut lost);
    assert_eq!(lost, ["/entries/close-ticket/more"]);
}

#[test]
fn learning_goes_on_in_a_library_of_the_first_edition() {
    let (_folder, root) = copied();
    let (old_records, old_files) = (records(&root), skill_files(&root));
    let store = open(&root);
    let synced = block_on(store.sync_folders()).unwrap();
    assert!(synced.taken_in.is_empty() && synced.faults.is_empty());
    assert_eq!((synced.written, synced.removed), (0, 0));
    let scores = block_on(store.kept_scores()).unwrap();
    assert_eq!(json!(scores), told("expected.json")["scores"]);

    let before = fold(&store);
    let known = named(&before, "say-one").unwrap();
    block_on(async {
        let journeyman = session(&store).await;
        let known_words = sample::task("u-0", &["one", "two"]);
        let new_words = sample::task("u-1", &["red", "blue"]);
        let report = journeyman.learn(vec![known_words, new_words]).await;
        let report = report.unwrap();
        assert_eq!(report.run.as_str(), "first/learn-2");
        assert!(report.attempts().all(|one| one.success == Some(true)));
        let given = &report.tasks[0].attempts[0].injected;
        assert_eq!(*given, [known.skill.reference()]);
    });

    let after = fold(&store);
    assert!(named(&after, "say-red").is_some());
    assert!(named(&after, "say-one").unwrap().uses > known.uses);
    for old in before.entries() {
        let entry = after.get(&old.skill.id).unwrap();
        let name = old.skill.name.as_str();
        for version in old.versions() {
            assert!(entry.versions().any(|one| one == version), "{name}");
        }
        assert!(entry.evidence.starts_with(&old.evidence), "{name}");
    }
    let synced = block_on(store.sync_folders()).unwrap();
    assert!(synced.taken_in.is_empty() && synced.faults.is_empty());
    drop(store);
    let new_records = records(&root);
    let is_kept = |record: &String| new_records.binary_search(record).is_ok();
    assert!(old_records.iter().all(is_kept));
    let new_files = skill_files(&root);
    let of_others = |path: &Path| !path.ends_with("say-one/SKILL.md");
    for (path, bytes) in old_files.iter().filter(|(path, _)| of_others(path)) {
        assert_eq!(new_files.get(path), Some(bytes), "{}", path.display());
    }
}

/// An error that says how to go on, and that the library is not lost.
fn says_what_to_do(error: &Error) {
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    let hint = error.hint_text().unwrap_or_default();
    for part in [
        "finish the run with the version that began it, or begin it anew",
        "the library is no part of the journal and opens as before",
    ] {
        assert!(hint.contains(part), "{error}");
    }
}

#[test]
fn a_run_of_the_first_edition_is_refused_with_what_to_do_and_nothing_is_lost() {
    let expected = told("expected.json");
    let (_folder, root) = copied();
    let (old_records, old_files) = (records(&root), skill_files(&root));
    let store = open(&root);
    let before = fold(&store);
    block_on(async {
        let journeyman = session(&store).await;
        assert!(journeyman.unfinished_runs().await.unwrap().is_empty());
        for (run, entries) in expected["runs"].as_object().unwrap() {
            let run = RunId::new(run.as_str());
            let kept = store.read(&run).await.unwrap();
            assert_eq!(json!(kept.len()), *entries, "{run}");
            says_what_to_do(&journeyman.resume(&run).await.unwrap_err());
            says_what_to_do(&recorded_attempts(&kept).unwrap_err());
        }
    });
    // What the stopped run had learned before is in the library.
    let unfinished = RunId::new(expected["unfinished"].as_str().unwrap());
    let ticket = named(&before, "close-ticket").unwrap();
    let mut credited = ticket.evidence.iter().map(|one| one.run.as_ref());
    assert!(credited.any(|run| run == Some(&unfinished)));
    assert_eq!(fold(&store), before);
    drop(store);
    assert_eq!(records(&root), old_records);
    assert_eq!(skill_files(&root), old_files);
}
