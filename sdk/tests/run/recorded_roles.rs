//! Generations of roles that a session records (SkillOS, row K7).

use journeyman::{
    contract::Journal,
    domain::{LibraryChange, Role, Skill},
    policy::RoleGeneration,
    run::RunEntry,
    text::Redactor,
};
use serde_json::json;

use super::*;

const SECRET: &str = "ghp_a1B2c3D4e5F6g7H8a1B2c3D4e5F6g7H8abcd";

/// The agent says what its task asks for.
fn parts(curator: ScriptedModel) -> Components {
    let mut components = components();
    components.scorer = None;
    components.executor = Some(Arc::new(ScriptedExecutor::acting(|attempt, steps| {
        let due = attempt.task.payload.get(steps.len());
        let due = due.and_then(|word| word.as_str());
        Play::Give(due.map(|word| Action::Message(word.to_owned())))
    })));
    components.model = Some(Arc::new(curator));
    components.roles = Some(Arc::new(ScriptedRoles::only([Role::Curate])));
    components
}

fn insert(name: &str) -> String {
    let arguments = json!({"name": name, "description": "How to say it.", "body": "Say it."});
    json!({"tool": "insert_skill", "arguments": arguments}).to_string()
}

async fn opened(components: Components, record_roles: bool) -> Journeyman {
    let mut options = Options::new("test", Seed(7));
    options.record_roles = record_roles;
    let opened = Journeyman::open(components, recipe::skillos(), options).await;
    opened.expect("it opens")
}

/// The roles' generations in a run's journal.
async fn recorded(journal: &dyn Journal, run: &RunId) -> Vec<RoleGeneration> {
    let entries = journal.read(run).await.expect("entries");
    let answers = entries.iter().filter_map(|entry| {
        let RunEntry::Answered { answer, .. } = RunEntry::from_entry(entry).expect("an entry")
        else {
            return None;
        };
        match *answer {
            Answer::Played(Ok(Some(played))) => Some(played.generations),
            Answer::Played(Err(failed)) => Some(failed.generations),
            _ => None,
        }
    });
    answers.flatten().collect()
}

/// The first answer cannot be read and is repaired; the second task's cannot be read at all; the third's holds a secret.
fn stumbling() -> ScriptedModel {
    ScriptedModel::by(|_, call| {
        Play::Give(match call {
            0 => "prose".to_owned(),
            1 => insert("first"),
            2 | 3 => "prose again".to_owned(),
            4 => insert(SECRET),
            _ => insert("last"),
        })
    })
}

#[test]
fn a_journal_has_what_roles_wrote_token_by_token_where_the_host_asks_for_it() {
    block_on(async {
        let run = async |record| {
            let components = parts(stumbling());
            let journal = components.journal.clone().expect("a journal");
            let journeyman = opened(components, record).await;
            let report = journeyman.learn(tasks(4)).await.expect("it learns");
            let entries = journal.read(&report.run).await.expect("entries");
            let text = serde_json::to_string(&entries).expect("JSON");
            assert!(!text.contains(SECRET));
            (recorded(journal.as_ref(), &report.run).await, report)
        };
        let (none, unrecorded) = run(false).await;
        assert_eq!(none, []);
        let (all, report) = run(true).await;
        assert_eq!(report, unrecorded, "recording changes nothing else");
        // Two answers to the first task, two to the second, none with a secret, one to the last.
        assert_eq!(all.len(), 5);
        // A word of the scripted model is a token.
        let words = |text: &str| text.split_whitespace().count();
        let due = [
            "prose",
            &insert("first"),
            "prose again",
            "prose again",
            &insert("last"),
        ];
        let written: Vec<usize> = all.iter().map(|one| one.record.ids.len()).collect();
        assert_eq!(written, due.map(words));
        assert_ne!(words(&insert("last")), 1);
        assert!(all.iter().all(|one| one.role == Role::Curate));
        for RoleGeneration { record, .. } in &all {
            assert!(!record.prompt_ids.is_empty());
            assert_eq!(record.ids.len(), record.logprobs.len());
            assert_eq!(record.mask, vec![true; record.ids.len()]);
        }
    });
}

#[test]
fn a_replay_of_a_run_with_recorded_roles_gives_the_same_library() {
    block_on(async {
        let components = parts(stumbling());
        let journal = components.journal.clone().expect("a journal");
        let journeyman = opened(components, true).await;
        let report = journeyman.learn(tasks(4)).await.expect("it learns");
        let entries = journal.read(&report.run).await.expect("entries");
        assert!(!recorded(journal.as_ref(), &report.run).await.is_empty());
        let replayed = replay(&entries, &journeyman::policy::Policies::new()).expect("a replay");
        let library = journeyman.library().await.expect("a library");
        assert!(library.entries().count() > 0);
        assert_eq!(bytes(replayed.library()), bytes(&library));
    });
}

/// How many generations a run over one task records, with a redactor of the host's.
async fn recorded_with(redactor: Redactor, curator: ScriptedModel, known: &[Skill]) -> usize {
    let mut components = parts(curator);
    let journal = components.journal.clone().expect("a journal");
    if !known.is_empty() {
        // Another writer's, who did not know the secret.
        let store = Arc::new(MemoryStore::new());
        let add = known
            .iter()
            .cloned()
            .map(|skill| LibraryChange::Add(Box::new(skill)));
        let commit = sample::commit(0, "before", add.collect());
        store.commit(&commit).await.expect("it commits");
        components.store = Some(store);
    }
    let mut options = Options::new("test", Seed(7));
    options.record_roles = true;
    options.redactor = redactor;
    let opened = Journeyman::open(components, recipe::skillos(), options).await;
    let journeyman = opened.expect("it opens");
    let report = journeyman.learn(tasks(1)).await.expect("it learns");
    recorded(journal.as_ref(), &report.run).await.len()
}

#[test]
fn a_secret_of_the_prompt_or_of_the_parsed_answer_takes_the_records_with_it() {
    block_on(async {
        // The form is anchored, so that it fits the parsed text alone.
        let pin = Redactor::default()
            .with_form("pin", "^[0-9]{16}$")
            .expect("a form");
        let arguments = json!({"name": "pin", "description": "A pin.", "body": "1234567812345678"});
        let call = json!({"tool": "insert_skill", "arguments": arguments}).to_string();
        let found = recorded_with(pin.clone(), ScriptedModel::always(call), &[]).await;
        assert_eq!(found, 0, "the answer's body is a pin");
        let found = recorded_with(pin, ScriptedModel::always(insert("pin")), &[]).await;
        assert_eq!(found, 1);

        // The scripted prompt of a curator has the ids of the skills that were found.
        let door = || Redactor::new(["the-blue-door".to_owned()]).expect("long enough");
        let plain = || ScriptedModel::always(insert("new"));
        let known = [sample::skill("the-blue-door")];
        assert_eq!(recorded_with(door(), plain(), &known).await, 0);
        let known = [sample::skill("the-red-door")];
        assert_eq!(recorded_with(door(), plain(), &known).await, 1);
    });
}
