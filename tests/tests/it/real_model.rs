//! A public model, SmolLM2-135M-Instruct, through all that a user's model is used for. It is fetched at the first run.

use std::{
    path::PathBuf,
    sync::{Arc, LazyLock},
    time::Duration,
};

use apprentice::{Arena, Roles};
use futures::executor::block_on;
use journeyman::{
    Result, Seed,
    agent::{MemoryJournal, MemoryStore},
    contract::{GenerateRequest, Journal, LanguageModel, ScoreRequest, Scorer, SkillStore},
    domain::{
        Cause, Commit, CommitKey, Decision, LibraryChange, Message, NothingReason, Origin, Prompt,
        Revision, Role, Selection, Speaker,
    },
    recipe,
};
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp, PublicModel};
use journeyman_tests::skills::admitted;
use quickstart::{Choice, Parts, Split, Tasks, spoken, standard};
use serde_json::{Value, json};

/// Its file.
static MODEL: LazyLock<PathBuf> = LazyLock::new(|| {
    let model = PublicModel::named("smollm2").expect("its name is known");
    model.fetch(&mut |_| ()).expect("it is fetched")
});

fn load() -> Arc<LlamaCpp> {
    let mut config = LlamaConfig::new(&*MODEL);
    config.n_ctx = Some(4096);
    LlamaCpp::load(config).expect("it loads")
}

fn asked(text: &str, max_tokens: usize) -> GenerateRequest {
    let prompt = Prompt::new(vec![Message::data(Speaker::User, text)]);
    let mut request = GenerateRequest::greedy(prompt, max_tokens);
    request.time_limit = Duration::from_secs(300);
    request
}

#[test]
fn it_chats_scores_and_obeys_a_schema() {
    let model = load();
    let capital = asked("What is the capital of France?", 24);
    let answer = block_on(model.generate(&capital)).expect("it answers");
    // The tokens that node-llama-cpp 3.22.1 gives the model, and the words with which it begins. How it goes on depends on the
    // processor: with AMX, `la Cité` comes in place of `la Marseillaise`.
    assert_eq!(answer.prompt_tokens, 37);
    assert!(answer.text.starts_with("L'Étoile, la "), "{}", answer.text);

    let request = ScoreRequest::new(
        capital.prompt.clone(),
        vec!["Paris".to_owned(), "Lamp".to_owned()],
    )
    .with_max_continuation_tokens(16)
    .with_time_limit(Duration::from_secs(300));
    let scores = block_on(model.score(&request)).expect("it scores");
    assert!(scores[0].sum() > scores[1].sum(), "{scores:?}");

    assert!(model.capabilities().json_schema);
    let mut held = asked("Which tool brews tea?", 64);
    held.json_schema = Some(json!({
        "type": "object",
        "properties": { "tool": { "enum": ["kettle", "oven"] } },
        "required": ["tool"],
        "additionalProperties": false,
    }));
    let answer = block_on(model.generate(&held)).expect("it answers");
    let value: Value = serde_json::from_str(&answer.text).expect("JSON");
    assert!(["kettle", "oven"].contains(&value["tool"].as_str().expect("a text")));
}

#[test]
fn every_role_is_asked_once_without_an_error() {
    let model = load();
    let arena = Arena::new(model.clone(), model).expect("an arena");
    // So small a model writes on to the end that it is given.
    let arena = arena.with_answers_of(96);
    let roles = Roles::measure(&arena, 7, 1).expect("it answers");
    assert_eq!(roles.by_role.len(), Role::ALL.len());
    // Whether so small a model answers rightly, or to the end of its answer, is no part of it.
    let asked = roles.by_role.values().map(|figures| figures.right.count());
    assert!(asked.into_iter().all(|count| count == 1));
}

/// A store with the skill that the first task's service calls for, so that the gate has one to decide on.
async fn with_a_skill(tasks: &Tasks) -> Result<Arc<MemoryStore>> {
    let tool = &tasks.tools[&tasks.stream[0].id];
    let mut members = tasks.members.iter();
    let member = members.find(|member| member.service.tool.name.to_string() == *tool);
    let draft = spoken::draft(member.expect("its service"));
    let skill = admitted(&draft, "known", Origin::Seed)?;
    let store = Arc::new(MemoryStore::new());
    let commit = Commit::new(
        Revision(0),
        CommitKey::new("known"),
        Cause::new("a skill to decide on"),
        vec![
            LibraryChange::Configure(recipe::standard().tiers),
            LibraryChange::Add(Box::new(skill)),
        ],
    );
    store.commit(&commit).await?;
    Ok(store)
}

/// The tool calls of all trajectories in a journal's event.
fn calls(event: &Value) -> usize {
    match event {
        Value::Object(fields) => {
            let call = fields.get("action").and_then(|action| action.get("call"));
            let here = call.and_then(Value::as_array).map_or(0, Vec::len);
            here + fields.values().map(calls).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(calls).sum(),
        _ => 0,
    }
}

async fn calls_in(journal: &MemoryJournal) -> Result<usize> {
    let mut count = 0;
    for run in journal.runs().await? {
        let entries = journal.read(&run).await?;
        count += entries
            .iter()
            .map(|entry| calls(&entry.event))
            .sum::<usize>();
    }
    Ok(count)
}

/// Whether the model's scores decided.
fn is_by_score(selection: &Selection) -> bool {
    matches!(
        selection.decision,
        Decision::Inject {
            explored: false,
            ..
        } | Decision::Nothing(NothingReason::BelowAbsolute { .. })
    )
}

#[test]
fn a_learning_run_calls_tools_and_its_gate_decides_by_score() {
    let parts = Parts::load(&MODEL, 4).expect("it loads");
    let split = Split {
        stream: 2,
        held_out: 2,
    };
    let tasks = Tasks::of(Seed(3), split).expect("tasks");
    let mut recipe = standard(Choice::Pmi, true);
    recipe.attempts.group = std::num::NonZeroU32::new(2).expect("two");
    let journal = Arc::new(MemoryJournal::new());
    let (learned, after, called) = block_on(async {
        let store = with_a_skill(&tasks).await?;
        let kept: Arc<dyn Journal> = journal.clone();
        let journeyman = parts
            .open(recipe, "real", Seed(3), store, Some(kept))
            .await?;
        let learned = journeyman.learn(tasks.stream).await?;
        let after = journeyman.evaluate(tasks.held_out).await?;
        Result::<_>::Ok((learned, after, calls_in(&journal).await?))
    })
    .expect("it runs");
    assert!(called > 0, "no trajectory has a tool call");
    for task in learned.tasks.iter().chain(&after.tasks) {
        for attempt in &task.attempts {
            assert!(attempt.error.is_none(), "{:?}", attempt.error);
            assert!(attempt.steps > 0, "an attempt without a step: {attempt:?}");
        }
        for selection in &task.selections {
            assert!(selection.fault().is_none(), "{selection:?}");
        }
    }
    let selections = || {
        let tasks = learned.tasks.iter().chain(&after.tasks);
        tasks.flat_map(|task| &task.selections)
    };
    assert!(
        selections().any(is_by_score),
        "{:?}",
        selections().collect::<Vec<_>>()
    );
    let made = learned.tasks.iter().map(|task| task.attempts.len());
    assert_eq!(made.sum::<usize>(), 4);
}
