//! The curator (SkillOS): what it is asked, how its calls change the library, what is refused.

mod held;
mod refused;
mod replayed;

use std::sync::Mutex;

use journeyman::{
    SkillId,
    domain::{Origin, Role, Skill, SkillName, State, ToolCall},
    library::Entry,
    policy::Policies,
    run::report::{
        CallCounts, CallKind, CallOutcome, CallRefusal, CurationReport, FindingKind, NoAnswer,
    },
};
use serde_json::{Value, json};

use super::*;

/// Calls as the scripted roles read them: one a line.
fn calls(calls: &[(&str, Value)]) -> String {
    let line = |(tool, arguments): &(&str, Value)| {
        let call = ToolCall::new(*tool, arguments.clone());
        serde_json::to_string(&call).expect("JSON")
    };
    match calls {
        [] => "none".to_owned(),
        calls => calls.iter().map(line).collect::<Vec<_>>().join("\n"),
    }
}

fn insert(name: &str, body: &str) -> (&'static str, Value) {
    let description = format!("How to say {name}.");
    let arguments = json!({"name": name, "description": description, "body": body});
    ("insert_skill", arguments)
}

fn update(skill: &str, body: &str) -> (&'static str, Value) {
    ("update_skill", json!({"skill": skill, "body": body}))
}

fn delete(skill: &str) -> (&'static str, Value) {
    (
        "delete_skill",
        json!({"skill": skill, "reason": "it is no use"}),
    )
}

/// Tasks of one word each. The agent fails those that are called hard.
fn words(words: &[&str]) -> Vec<Task> {
    let task = |word: &&str| sample::task(word, &[word]);
    words.iter().map(task).collect()
}

type Prompts = Arc<Mutex<Vec<String>>>;

/// Parts whose curator gives these answers, by the word of the task; for another task it leaves the library as it is.
fn parts(answers: &[(&str, String)]) -> (Components, Prompts) {
    let prompts = Prompts::default();
    let kept = Arc::clone(&prompts);
    let answers: Vec<(String, String)> = answers
        .iter()
        .map(|(word, answer)| (format!("task: say {word}\n"), answer.clone()))
        .collect();
    let model = ScriptedModel::by(move |request, _| {
        let prompt = request.prompt.text();
        let answer = answers.iter().find(|(task, _)| prompt.contains(task));
        kept.lock().unwrap().push(prompt);
        Play::Give(answer.map_or("none".to_owned(), |(_, answer)| answer.clone()))
    });
    let agent = ScriptedExecutor::acting(|attempt: &Attempt<'_>, steps: &[Step]| {
        let words: Vec<String> =
            serde_json::from_value(attempt.task.payload.clone()).unwrap_or_default();
        let word = words
            .get(steps.len())
            .filter(|word| !word.starts_with("hard"));
        Play::Give(word.cloned().map(Action::Message))
    });
    let mut components = components();
    components.executor = Some(Arc::new(agent));
    components.model = Some(Arc::new(model));
    components.roles = Some(Arc::new(ScriptedRoles::only([Role::Curate])));
    (components, prompts)
}

/// What a run with these parts did.
struct Curated {
    report: RunReport,
    library: SkillLibrary,
    events: Vec<Event>,
}

impl Curated {
    fn curation(&self, task: usize) -> &CurationReport {
        let curation = self.report.tasks[task].curation.as_ref();
        curation.expect("a curator was asked")
    }

    fn outcomes(&self, task: usize) -> Vec<&CallOutcome> {
        let calls = self.curation(task).calls.iter();
        calls.map(|call| &call.outcome).collect()
    }

    fn refusals(&self, task: usize) -> Vec<Option<CallRefusal>> {
        let refusal = |outcome: &CallOutcome| match outcome {
            CallOutcome::Refused(refusal) => Some(refusal.clone()),
            _ => None,
        };
        self.outcomes(task).into_iter().map(refusal).collect()
    }

    fn entry(&self, name: &str) -> &Entry {
        let name = SkillName::new(name).expect("a name");
        self.library.by_name(&name).expect("it is there")
    }

    fn told(&self) -> Vec<CallRefusal> {
        let told = self.events.iter().filter_map(|event| match &event.kind {
            EventKind::CallRefused { refusal, .. } => Some(refusal.clone()),
            _ => None,
        });
        told.collect()
    }
}

/// Learns from these tasks, in a library that starts with these skills.
fn curate_with(
    components: Components,
    recipe: Recipe,
    policies: Policies,
    (shipped, tasks): (Vec<Skill>, Vec<Task>),
) -> Curated {
    let options = Options::new("test", Seed(7)).with_policies(policies);
    block_on(async {
        let opened = Journeyman::open(components, recipe, options).await;
        let journeyman = opened.expect("it opens");
        if !shipped.is_empty() {
            journeyman.add(shipped, "a start").await.expect("added");
        }
        let events = journeyman.events();
        let report = journeyman.learn(tasks).await.expect("it learns");
        let library = journeyman.library().await.expect("a library");
        drop(journeyman);
        Curated {
            report,
            library,
            events: events.collect().await,
        }
    })
}

fn curate(shipped: &[&str], answers: &[(&str, String)]) -> Curated {
    let (components, _) = parts(answers);
    let shipped = shipped.iter().map(|name| sample::skill(name)).collect();
    let tasks: Vec<&str> = answers.iter().map(|(word, _)| *word).collect();
    curate_with(
        components,
        recipe::skillos(),
        Policies::new(),
        (shipped, words(&tasks)),
    )
}

#[test]
fn a_curator_inserts_updates_and_deletes_and_the_report_counts_its_calls() {
    let run = curate(
        &["old"],
        &[
            ("one", calls(&[insert("one", "Say one.")])),
            (
                "two",
                calls(&[update("one", "Say one, loudly."), insert("two", "Say two.")]),
            ),
            ("three", calls(&[delete("old")])),
            ("four", calls(&[])),
        ],
    );
    let counts: Vec<CallCounts> = (0..4).map(|task| run.curation(task).counts()).collect();
    let counted = |insert, update, delete| {
        let mut counts = CallCounts::default();
        counts.insert = insert;
        counts.update = update;
        counts.delete = delete;
        counts.valid = insert + update + delete;
        counts
    };
    assert_eq!(
        counts,
        [
            counted(1, 0, 0),
            counted(1, 1, 0),
            counted(0, 0, 1),
            counted(0, 0, 0)
        ]
    );
    assert!(counts.iter().all(|counts| counts.validity() == 1.0));

    let one = run.entry("one");
    assert_eq!((one.skill.version.0, one.skill.state), (2, State::Active));
    assert_eq!(one.skill.body, "Say one, loudly.");
    assert_eq!(one.skill.description, "How to say one.");
    assert_eq!(one.skill.parents, [one.history[0].reference()]);
    assert_eq!(one.history[0].body, "Say one.");
    for version in one.versions() {
        assert_eq!(version.provenance.origin, Origin::Curated);
        assert_eq!(
            version.provenance.runs,
            std::slice::from_ref(&run.report.run)
        );
    }
    assert_eq!(one.skill.provenance.tasks, [TaskId::new("two")]);
    // Nothing is lost: what was deleted is out of use.
    let old = run.entry("old");
    assert_eq!(old.skill.state, State::Archived);
    assert_eq!(old.skill.body, sample::skill("old").body);

    let written: Vec<_> = run.report.written().collect();
    let made: Vec<(&str, bool)> = written
        .iter()
        .map(|one| (one.title.as_deref().unwrap_or_default(), one.revised))
        .collect();
    assert_eq!(made, [("one", false), ("one", true), ("two", false)]);
    let put_away = run.events.iter().find_map(|event| match &event.kind {
        EventKind::StateChanged { name, reason, .. } => Some((name.as_str(), reason.as_str())),
        _ => None,
    });
    assert_eq!(put_away, Some(("old", "it is no use")));
    assert!(run.told().is_empty());
}

#[test]
fn each_call_sees_what_the_calls_before_it_did() {
    let run = curate(
        &["old"],
        &[(
            "one",
            calls(&[
                insert("one", "Say one."),
                insert("one", "Say one again."),
                update("one", "Say it twice."),
                delete("old"),
                update("old", "too late"),
                delete("one"),
                insert("three", "Say three."),
                delete("one"),
            ]),
        )],
    );
    use CallRefusal::{NameTaken, NotOffered};
    let expect = [
        None,
        Some(NameTaken),
        None,
        None,
        Some(NotOffered),
        None,
        None,
        Some(NotOffered),
    ];
    assert_eq!(run.refusals(0), expect);
    let counts = run.curation(0).counts();
    assert_eq!(
        (counts.all(), counts.valid, counts.validity()),
        (8, 5, 0.625)
    );
    assert_eq!(run.entry("one").skill.version.0, 2);
    assert_eq!(run.entry("one").skill.state, State::Archived);
    assert_eq!(run.told(), [NameTaken, NotOffered, NotOffered]);
    // One commit has all of it.
    assert_eq!(run.library.tasks_learned(), 1);
}

#[test]
fn it_is_asked_once_a_task_with_the_verdict_and_the_retrieved_skills_also_after_failures() {
    let (mut components, prompts) = parts(&[]);
    components.judge = Some(Arc::new(ScriptedJudge::by(|request, _| {
        let outcome = request.trajectory.outcome.as_ref();
        Play::Give(match request.task.id.as_str() {
            "odd" => Verdict::undecided(),
            _ => Verdict::binary(outcome.is_some_and(|outcome| outcome.success)),
        })
    })));
    let mut recipe = recipe::skillos();
    recipe.attempts.group = n32(3);
    let skills = ["easy", "easy-two", "easy-three"]
        .map(sample::skill)
        .to_vec();
    let tasks = words(&["easy", "hard", "odd"]);
    let run = curate_with(components, recipe, Policies::new(), (skills, tasks));
    let prompts = prompts.lock().unwrap();
    let lines = |prompt: &String| -> Vec<String> {
        let kept = ["outcome: ", "correct: ", "skill: "];
        let lines = prompt.lines();
        let lines = lines.filter(|line| kept.iter().any(|kept| line.starts_with(kept)));
        lines.map(str::to_owned).collect()
    };
    let asked: Vec<Vec<String>> = prompts.iter().map(lines).collect();
    let told = [
        ["outcome: done", "correct: Some(true)"],
        ["outcome: failed", "correct: Some(false)"],
        ["outcome: untold", "correct: None"],
    ];
    assert_eq!(
        asked.len(),
        told.len(),
        "once a task, whatever the number of attempts"
    );
    for (asked, told) in asked.iter().zip(told) {
        assert_eq!(asked[..2], told);
        // At most two skills, the best of those that were retrieved.
        assert_eq!(asked[2..], ["skill: easy", "skill: easy-three"]);
    }
    assert_eq!(run.report.tasks.len(), 3);
    assert!(run.report.tasks.iter().all(|task| task.attempts.len() == 3));
    assert!((0..3).all(|task| run.curation(task).calls.is_empty()));
    assert!((0..3).all(|task| run.curation(task).context_tokens > 0));
}

#[test]
fn a_curator_is_told_the_agents_own_word_where_a_judge_gives_it() {
    let (mut components, prompts) = parts(&[]);
    let says = |request: &journeyman::contract::GenerateRequest, _| {
        let done = match request.prompt.text().contains("hard") {
            true => "unsure",
            false => "no",
        };
        Play::Give(format!(
            "{{\"reason\": \"So it seems.\", \"done\": \"{done}\"}}"
        ))
    };
    let judge = journeyman::agent::role::ModelJudge::new(Arc::new(ScriptedModel::by(says)));
    components.judge = Some(Arc::new(judge.beside(Arc::new(EnvironmentJudge))));
    let run = curate_with(
        components,
        recipe::skillos(),
        Policies::new(),
        (Vec::new(), words(&["easy", "hard"])),
    );
    let prompts = prompts.lock().unwrap();
    let told: Vec<&str> = prompts
        .iter()
        .flat_map(|prompt| prompt.lines())
        .filter(|line| line.starts_with("correct: "))
        .collect();
    // Of the second the agent is not sure, so the verdict holds.
    assert_eq!(told, ["correct: Some(false)", "correct: Some(false)"]);
    let done: Vec<_> = run
        .report
        .tasks
        .iter()
        .map(|task| task.attempts[0].success)
        .collect();
    assert_eq!(done, [Some(true), Some(false)]);
}

#[test]
fn a_selector_without_candidates_shows_the_curator_what_was_injected() {
    let (components, prompts) = parts(&[]);
    let mut recipe = recipe::skillos();
    recipe.select.selector = journeyman::policy::Policy::new("last");
    #[derive(Debug)]
    struct Last;
    #[async_trait::async_trait]
    impl journeyman::policy::SelectProgram for Last {
        async fn select(
            &self,
            _: &mut journeyman::policy::Ask,
            view: &journeyman::policy::View,
            _: &journeyman::domain::TurnQuery,
        ) -> journeyman::Result<Selected> {
            let last = view.offered().last().map(|entry| entry.skill.reference());
            let last = journeyman::domain::Selection::unscored(Decision::Inject {
                skills: last.into_iter().collect(),
                explored: false,
            });
            Ok(last.into())
        }
    }
    let policies = Policies::new().with_selector("last", |_| Ok(Arc::new(Last)));
    let skills = ["a", "b", "c"].map(sample::skill).to_vec();
    curate_with(components, recipe, policies, (skills, words(&["one"])));
    let prompts = prompts.lock().unwrap();
    let shown: Vec<&str> = prompts[0]
        .lines()
        .filter(|line| line.starts_with("skill: "))
        .collect();
    assert_eq!(shown, ["skill: c"]);
}

#[test]
fn a_host_in_its_own_loop_has_a_curator_too() {
    let (mut components, _) = parts(&[("one", calls(&[insert("one", "Say one.")]))]);
    components.executor = None;
    block_on(async {
        let options = Options::new("test", Seed(7));
        let journeyman = Journeyman::open(components, recipe::skillos(), options).await;
        let journeyman = journeyman.expect("it opens");
        let task = sample::task("one", &["one"]);
        let handle = journeyman.begin(task).await.expect("it begins");
        let report = handle.finish(Some(sample::outcome(true))).await;
        let report = report.expect("it finishes").expect("a report");
        assert_eq!(report.curation.expect("it was asked").counts().valid, 1);
        assert_eq!(
            journeyman
                .library()
                .await
                .expect("a library")
                .cache()
                .count(),
            1
        );
        // An evaluation asks no curator.
        let evaluated = journeyman.begin(sample::task("two", &["two"])).await;
        drop(evaluated);
    });
}

#[test]
fn the_same_library_and_curator_run_under_another_executor_and_nothing_names_one() {
    /// An agent that says its name with every step.
    #[derive(Debug)]
    struct Named(&'static str, ScriptedExecutor);
    #[async_trait::async_trait]
    impl Executor for Named {
        async fn execute(
            &self,
            attempt: Attempt<'_>,
            episode: &mut dyn Episode,
        ) -> journeyman::Result<Trajectory> {
            let mut trajectory = self.1.execute(attempt, episode).await?;
            for step in &mut trajectory.steps {
                step.actor = self.0.to_owned();
                step.transcript = format!("{} says {:?}", self.0, step.action);
            }
            Ok(trajectory)
        }
    }
    let store: Arc<dyn SkillStore> = Arc::new(MemoryStore::new());
    let learn = |name: &'static str, words_of: &[&str], answers: &[(&str, String)]| {
        let (mut components, _) = parts(answers);
        components.store = Some(Arc::clone(&store));
        let agent = ScriptedExecutor::acting(|attempt: &Attempt<'_>, steps: &[Step]| {
            let due: Vec<String> =
                serde_json::from_value(attempt.task.payload.clone()).unwrap_or_default();
            Play::Give(due.get(steps.len()).cloned().map(Action::Message))
        });
        components.executor = Some(Arc::new(Named(name, agent)));
        let run = (Vec::new(), words(words_of));
        curate_with(components, recipe::skillos(), Policies::new(), run)
    };
    let first = learn(
        "executor-alpha",
        &["one"],
        &[("one", calls(&[insert("one", "Say one.")]))],
    );
    assert!(!first.library.to_json().unwrap().contains("executor-alpha"));
    let second = learn(
        "executor-beta",
        &["one", "two"],
        &[("two", calls(&[update("one", "Say one, then two.")]))],
    );
    let json = second.library.to_json().unwrap();
    assert!(
        !json.contains("executor-alpha") && !json.contains("executor-beta"),
        "{json}"
    );
    // What the one learned is injected for the other, and its curator goes on from there.
    assert_eq!(second.report.tasks[0].attempts[0].injected.len(), 1);
    let one = second.entry("one");
    assert_eq!(one.skill.version.0, 2);
    assert!(
        one.versions()
            .all(|version| version.provenance.origin == Origin::Curated)
    );
    let runs: Vec<&RunId> = one
        .versions()
        .flat_map(|one| &one.provenance.runs)
        .collect();
    assert_eq!(runs, [&first.report.run, &second.report.run]);
}
