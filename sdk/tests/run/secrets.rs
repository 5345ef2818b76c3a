//! Secrets (S10): the agent and its world work with them, and nothing else ever sees them.

use std::sync::Mutex;

use async_trait::async_trait;
use journeyman::testing::Edited as _;
use journeyman::{
    Result,
    contract::{Journal, JournalEntry},
    domain::{GenerationRecord, LibraryChange, Role, StepResult, Transition, Trust, UnreadTurn},
    policy::{Ask, MaintenanceProgram, Policies, Policy, View},
    run::AttemptHandle,
    text::Redactor,
};

use super::*;

const IN_TASK: &str = "the-blue-door";
const IN_WORLD: &str = "AKIAIOSFODNN7EXAMPLQ";
const IN_ANSWER: &str = "ghp_a1B2c3D4e5F6g7H8a1B2c3D4e5F6g7H8abcd";
const IN_SKILL: &str = "hunter22hunter";
const IN_VERDICT: &str = "sk_live_a1B2c3D4e5F6g7H8a1B2c3";
const IN_ERROR: &str = "glpat-a1B2c3D4e5F6g7H8a1B2";
const SECRETS: [&str; 6] = [IN_TASK, IN_WORLD, IN_ANSWER, IN_SKILL, IN_VERDICT, IN_ERROR];

fn check(what: &str, text: &str) {
    for secret in SECRETS {
        assert!(!text.contains(secret), "{what} holds {secret}: {text}");
    }
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("JSON")
}

fn secret_task(id: &str) -> Task {
    let mut task = sample::task(id, &[IN_TASK, "two"]);
    task.tags = vec![format!("for {IN_TASK}")];
    task
}

/// What the model was asked, and parts in each of which a secret is planted.
fn planted() -> (Components, Arc<Mutex<Vec<String>>>) {
    let prompts = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&prompts);
    let mut components = components();
    components.environment = Some(Arc::new(ScriptedEnvironment::words().beginning(
        |task, _| {
            let text = format!("{} with {IN_WORLD}", task.instruction);
            Play::Give(sample::observation(&text))
        },
    )));
    // Says the words of the task, and fails in the middle where it was not given the real ones.
    components.executor = Some(Arc::new(ScriptedExecutor::acting(|attempt, steps| {
        let words: Vec<String> =
            serde_json::from_value(attempt.task.payload.clone()).unwrap_or_default();
        assert!(attempt.task.instruction.contains(&words[0]));
        Play::Give(words.get(steps.len()).cloned().map(Action::Message))
    })));
    components.judge = Some(Arc::new(ScriptedJudge::by(|request, _| {
        check("what is judged", &json(request.trajectory));
        check("what is judged", &json(request.task));
        let done = request
            .trajectory
            .outcome
            .as_ref()
            .is_some_and(|o| o.success);
        let verdict = Verdict::binary(done);
        Play::Give(verdict.with_evidence(format!("it said {IN_VERDICT}")))
    })));
    components.model = Some(Arc::new(ScriptedModel::by(move |request, call| {
        seen.lock().expect("whole").push(request.prompt.text());
        Play::Give(match call % 2 {
            0 => format!("no skill but {IN_ANSWER}"),
            _ => format!("open: How to open with {IN_ANSWER}.\npassword: {IN_SKILL}"),
        })
    })));
    (components, prompts)
}

async fn open_with_secrets(components: Components) -> Journeyman {
    let mut options = Options::new("test", Seed(7));
    options.redactor = Redactor::new([IN_TASK.to_owned()]).expect("long enough");
    Journeyman::open(components, recipe(), options)
        .await
        .expect("it opens")
}

/// Nothing that is kept or told of a run holds a secret, and its replay gives the same.
async fn check_kept(journeyman: &Journeyman, components: &Components, run: &RunId) {
    let journal = components.journal.clone().expect("a journal");
    let entries = journal.read(run).await.expect("entries");
    check("the journal", &json(&entries));
    assert!(json(&entries).contains("[redacted: named secret]"));
    let store = components.store.clone().expect("a store");
    let committed = store.load().await.expect("a snapshot").committed;
    check("the store", &json(&committed));
    let library = journeyman.library().await.expect("a library");
    check("the library", &bytes(&library));
    let replayed = replay(&entries, &journeyman::policy::Policies::new()).expect("a replay");
    assert_eq!(bytes(replayed.library()), bytes(&library));
}

#[test]
fn nothing_that_is_kept_or_asked_holds_a_secret() {
    block_on(async {
        let (components, prompts) = planted();
        let journeyman = open_with_secrets(components.clone()).await;
        let events = journeyman.events();
        let report = journeyman
            .learn(vec![
                secret_task("task-0"),
                sample::task("task-1", &["one"]),
            ])
            .await
            .expect("it learns");
        assert!(
            report.tasks[0]
                .attempts
                .iter()
                .all(|a| a.success == Some(true))
        );
        assert!(report.tasks[0].written.iter().any(|w| w.admitted.is_some()));
        check("the report", &json(&report));
        check_kept(&journeyman, &components, &report.run).await;
        let asked = prompts.lock().expect("whole").join("\n");
        assert!(asked.contains("Not like this"), "a repair was asked for");
        check("a prompt", &asked);
        let library = journeyman.library().await.expect("a library");
        assert!(bytes(&library).contains("password: [redacted: secret]"));
        drop(journeyman);
        let told: Vec<Event> = events.collect().await;
        check("an event", &json(&told));
    });
}

async fn act(mut handle: AttemptHandle) -> Option<journeyman::run::report::TaskReport> {
    check("a handle", &format!("{handle:?}"));
    let word = handle.task().payload[0]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    assert_eq!(word, IN_TASK, "the agent has the real task");
    let mut step = sample::trajectory("x", handle.task(), &[&word], true).steps[0].clone();
    step.result = StepResult::new(
        format!("it opened, and {IN_WORLD} fell out"),
        sample::source(Trust::Trusted),
    );
    handle.record(step);
    let outcome = sample::outcome(true).with_part(format!("said {IN_WORLD}"), 1.0);
    handle.finish(Some(outcome)).await.expect("it finishes")
}

#[test]
fn a_hosts_own_loop_has_the_real_task_and_hands_in_none_of_it() {
    block_on(async {
        let (components, prompts) = planted();
        let journeyman = open_with_secrets(components.clone()).await;
        let two = NonZeroUsize::new(2).expect("two");
        let handles = journeyman.begin_group(secret_task("task-0"), two).await;
        let mut report = None;
        for handle in handles.expect("a group") {
            report = act(handle).await;
        }
        let report = report.expect("the last gives the report");
        assert!(report.attempts.iter().all(|a| a.success == Some(true)));
        check("the report", &json(&report));
        check("the front", &format!("{journeyman:?}"));
        check_kept(&journeyman, &components, &RunId::new("test/begin-0")).await;
        check("a prompt", &prompts.lock().expect("whole").join("\n"));
    });
}

#[test]
fn an_error_is_told_without_its_secret() {
    let failing = || {
        Error::new(ErrorKind::Unavailable, "scripted", format!("no {IN_ERROR}"))
            .with("token", IN_ERROR)
            .hint(format!("use another than {IN_ERROR}"))
            .source_from(std::io::Error::other(IN_ERROR))
    };
    block_on(async {
        let mut components = components();
        components.executor = Some(Arc::new(ScriptedExecutor::by(
            move |attempt, call| match call % 2 {
                0 => Play::Fail(failing()),
                _ => Play::Give(sample::ended(
                    attempt.id.as_str(),
                    attempt.task,
                    journeyman::domain::EndReason::Failed(failing()),
                )),
            },
        )));
        let journeyman = open(components.clone()).await;
        let error = journeyman
            .learn(tasks(1))
            .await
            .expect_err("nothing is done");
        check("the error", &format!("{error} {error:?}"));
        let journal = components.journal.expect("a journal");
        let run = RunId::new("test/learn-0");
        let entries = journal.read(&run).await.expect("entries");
        check("the journal", &json(&entries));
        assert!(json(&entries).contains("use another than [redacted: access token]"));
    });
}

/// After a restart the journal has the redacted task alone: its attempts fail by name, and the run goes on.
#[test]
fn a_resumed_run_says_that_a_secret_is_gone() {
    block_on(async {
        let (components, _) = planted();
        let journal = components.journal.clone().expect("a journal");
        let journeyman = open_with_secrets(components.clone()).await;
        let tasks = vec![secret_task("task-0"), sample::task("task-1", &["one"])];
        let run = journeyman.learn(tasks).await.expect("it learns").run;
        let begun: Vec<JournalEntry> = journal.read(&run).await.expect("entries");
        let (mut components, _) = planted();
        let journal = MemoryJournal::new();
        journal.append(&begun[..1]).await.expect("it is kept");
        components.journal = Some(Arc::new(journal));
        let report = open_with_secrets(components).await.resume(&run).await;
        let report = report.expect("it goes on");
        let first = report.tasks[0].attempts[0].error.clone().expect("an error");
        assert_eq!(
            first.to_string(),
            "Unsupported at Performer::perform { task: task-0 }: the task held a secret, and only its redacted form was \
             kept; hint: hand the task over again in a new run"
        );
        assert_eq!(report.tasks[1].attempts[0].success, Some(true));
    });
}

/// Tokens say what the text says, and cannot be redacted.
#[test]
fn tokens_of_a_secret_go_and_others_stay() {
    let record = || GenerationRecord::new("scripted", vec![1], vec![2], vec![-1.0]);
    for (secret, in_last_turn, kept) in [
        (true, false, false),
        (false, true, false),
        (false, false, true),
    ] {
        block_on(async {
            let mut components = components();
            components.executor = Some(Arc::new(ScriptedExecutor::by(move |attempt, _| {
                let mut said =
                    sample::trajectory(attempt.id.as_str(), attempt.task, &["a", "b"], true);
                said.steps
                    .iter_mut()
                    .for_each(|step| step.generations = vec![record()]);
                // The second step's text alone is not what tells: its prompt holds the first's.
                said.steps[0].transcript = if secret { IN_WORLD } else { "a" }.to_owned();
                let last = if in_last_turn { IN_WORLD } else { "c" };
                said.unread = Some(Box::new(
                    UnreadTurn::new(sample::observation(last), "?")
                        .edited(|it| it.generations = vec![record()]),
                ));
                Play::Give(said)
            })));
            let journeyman = open(components.clone()).await;
            let run = journeyman.learn(tasks(1)).await.expect("it learns").run;
            let journal = components.journal.expect("a journal");
            let entries = json(&journal.read(&run).await.expect("entries"));
            assert_eq!(entries.contains("prompt_ids"), kept);
        });
    }
}

#[test]
fn skills_that_a_host_brings_are_redacted_and_names_are_refused() {
    block_on(async {
        let journeyman = open_with_secrets(components()).await;
        let mut skill = sample::skill("open");
        skill.body = format!("Say {IN_TASK}.");
        skill.metadata = [(IN_WORLD.to_owned(), IN_ANSWER.to_owned())].into();
        let reason = format!("for {IN_VERDICT}");
        journeyman.add(vec![skill], &reason).await.expect("added");
        let library = journeyman.library().await.expect("a library");
        check("the library", &bytes(&library));
        assert!(bytes(&library).contains("Say [redacted: named secret]."));

        let refused = |error: Error, expect: &str| {
            assert_eq!(error.kind(), ErrorKind::Invalid);
            assert_eq!(error.message(), expect);
            check("an error", &format!("{error:?}"));
        };
        let task = Task::new(IN_TASK, "open");
        let error = journeyman.learn(vec![task]).await.expect_err("refused");
        refused(error, "a task's id holds a secret");
        let mut skill = sample::skill("open");
        skill.id = journeyman::SkillId::from(IN_TASK);
        let report = journeyman.add(vec![skill], "").await.expect("answered");
        let expect = AddFate::Refused("a skill's id holds a secret".to_owned());
        assert_eq!(report.skills[0].fate, expect);
        let options = Options::new(IN_WORLD, Seed(7));
        let opened = Journeyman::open(components(), recipe(), options).await;
        refused(
            opened.expect_err("refused"),
            "the session's name holds a secret",
        );
    });
}

/// What a world says in passing is redacted, and the agent still sees it.
#[test]
fn the_agent_sees_what_the_world_says() {
    block_on(async {
        let mut components = components();
        components.environment = Some(Arc::new(ScriptedEnvironment::by(|_, _, actions| {
            let knows = actions.last() == Some(&Action::Message(IN_WORLD.to_owned()));
            let seen = sample::observation(&format!("the key is {IN_WORLD}"));
            Play::Give(match actions.len() {
                2 => Transition::end(seen, sample::outcome(knows)),
                _ => Transition::next(seen),
            })
        })));
        components.executor = Some(Arc::new(ScriptedExecutor::acting(|_, steps| {
            let key = steps
                .last()
                .and_then(|step| step.result.text.rsplit(' ').next());
            Play::Give(Some(Action::Message(key.unwrap_or("what?").to_owned())))
        })));
        let journeyman = open(components.clone()).await;
        let report = journeyman.learn(tasks(1)).await.expect("it learns");
        assert!(
            report.tasks[0]
                .attempts
                .iter()
                .all(|a| a.success == Some(true))
        );
        let journal = components.journal.expect("a journal");
        let entries = json(&journal.read(&report.run).await.expect("entries"));
        check("the journal", &entries);
        assert!(entries.contains("the key is [redacted: access key]"));
    });
}

/// Asks a role of its sample task, and keeps what it answers.
#[derive(Debug)]
struct Hears {
    role: Role,
    heard: Arc<Mutex<Vec<RoleAnswer>>>,
}

#[async_trait]
impl MaintenanceProgram for Hears {
    async fn maintain(&self, ask: &mut Ask, _: &View) -> Result<Vec<LibraryChange>> {
        for reply in ask.roles(vec![sample::role_task(self.role)]).await {
            let played = reply.reply?.expect("there is a model");
            self.heard.lock().expect("whole").push(played.answer);
        }
        Ok(Vec::new())
    }
}

/// What a role answers in a run in which the model writes this, and the run's journal.
fn heard(role: Role, answer: &str) -> (RoleAnswer, String) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&heard);
    let policies = Policies::new().with_program("hears", move |_| {
        let heard = Arc::clone(&kept);
        Ok(Arc::new(Hears { role, heard }))
    });
    let mut recipe = recipe().with_program(n64(1), Policy::new("hears"));
    recipe.write.when = WriteWhen::Never;
    let mut components = components();
    components.model = Some(Arc::new(ScriptedModel::always(answer)));
    let entries = block_on(async {
        let options = Options::new("test", Seed(7)).with_policies(policies);
        let journeyman = Journeyman::open(components.clone(), recipe, options).await?;
        let run = journeyman.learn(tasks(1)).await?.run;
        let journal = components.journal.expect("a journal");
        Ok::<_, Error>(json(&journal.read(&run).await?))
    });
    let mut heard = heard.lock().expect("whole").clone();
    assert_eq!(heard.len(), 1, "{role}");
    (heard.remove(0), entries.expect("it learns"))
}

#[test]
fn a_secret_in_any_text_of_a_roles_answer_is_redacted() {
    let answers = [
        (Role::Segment, "say SECRET | knowing SECRET | 0 1"),
        (
            Role::DistilPrototype,
            "title: SECRET\nuse: SECRET\npattern: SECRET\nobjective: SECRET\ncheck: SECRET\ntrap 1: SECRET",
        ),
        (Role::Score, "2 since it said SECRET"),
        (
            Role::Curate,
            r#"{"tool": "insert SECRET", "arguments": {"SECRET": 1, "body": "say SECRET", "more": [{"x": "SECRET"}]}}"#,
        ),
        (Role::Tag, "SECRET\nwords"),
        (Role::Lesson, "0 | SECRET | SECRET | SECRET"),
        (Role::DistilBank, "SECRET | SECRET | SECRET"),
        (Role::Review, "2 since it says SECRET"),
    ];
    for (role, answer) in answers {
        let (answered, journal) = heard(role, &answer.replace("SECRET", IN_ANSWER));
        let texts = answer.matches("SECRET").count();
        let answered = json(&answered);
        check("an answer", &answered);
        assert_eq!(answered.matches("[redacted: ").count(), texts, "{answered}");
        check("the journal", &journal);
        assert!(journal.contains("[redacted: access token]"), "{role}");
        // What is no secret stays as it is, the numbers beside it too.
        let (plain, _) = heard(role, &answer.replace("SECRET", "nothing"));
        let plain = json(&plain);
        assert_eq!(plain.matches("nothing").count(), texts, "{plain}");
        let marked = answered.replace("[redacted: access token]", "nothing");
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
        assert_eq!(value(&marked), value(&plain));
    }
    let (routed, _) = heard(Role::Route, "1 0.5");
    let expect = RoleAnswer::Routed {
        prototype: Some(1),
        confidence: 0.5,
    };
    assert_eq!(routed, expect);
}
