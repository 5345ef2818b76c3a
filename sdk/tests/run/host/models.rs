//! A model for each job, and a model with an adapter in any place.

use futures::FutureExt;
use journeyman::{
    agent::{AdaptedModel, ModelExecutor, ModelExecutorOptions},
    contract::{GenerateRequest, LanguageModel, Scorer},
    policy::RoleGeneration,
};

use super::*;

/// A model that must not be asked.
fn idle() -> Arc<ScriptedModel> {
    Arc::new(ScriptedModel::answers::<&str>([]).with_id("idle"))
}

/// The writers have a model of their own.
pub(super) fn of_two_models() -> Components {
    let components = components().with_model(idle());
    components.with_model_for(Role::WRITERS, Arc::new(writer_model().with_id("writer")))
}

#[test]
fn each_role_is_asked_of_its_own_model() {
    let (one, library) = learn(components(), 6);
    let other = idle();
    let parts = of_two_models().with_model(other.clone());
    let (two, by_two) = learn(parts, 6);
    assert_eq!(other.calls(), 0);
    assert_eq!(bytes(&by_two), bytes(&library));
    assert_eq!(two.tasks, one.tasks);

    // The other way round the idle model is asked, and nothing is written.
    let asked = idle();
    let parts = components().with_model_for([Role::Summarize], asked.clone());
    let (report, nothing) = learn(parts, 1);
    assert!(asked.calls() > 0);
    assert_eq!((report.tasks.len(), nothing.cache().count()), (1, 0));
}

#[test]
fn a_role_has_the_context_of_its_own_model() {
    let short = || Arc::new(writer_model().with_context(4));
    let failed = |components: Components| {
        let journal = components.journal.clone().expect("a journal");
        let (report, library) = learn(components, 1);
        let (_, happened) = block_on(journaled(journal.as_ref(), &report.run));
        let failed = role_failures(&happened, Role::Summarize);
        let failed: Vec<String> = failed.into_iter().map(str::to_owned).collect();
        (failed, library.cache().count())
    };
    let wide = components().with_model(short());
    let wide = wide.with_model_for([Role::Summarize], Arc::new(writer_model()));
    assert_eq!(failed(wide), (Vec::new(), 1));
    let (reasons, skills) = failed(components().with_model_for([Role::Summarize], short()));
    assert_eq!(skills, 0);
    assert!(
        reasons.iter().any(|reason| reason.contains("context of 4")),
        "{reasons:?}"
    );
}

/// The text of a model that waits for nothing.
fn written(model: &ScriptedModel, request: &GenerateRequest) -> String {
    let written = model.generate(request).now_or_never();
    written.expect("it is there").expect("a text").text
}

/// Answers as the writer does where a request is for the adapter `writer`, and else with a text that no role can read.
fn with_writer() -> Arc<ScriptedModel> {
    let writer = Arc::new(writer_model());
    let by = move |request: &GenerateRequest, _| {
        let mut alone = request.clone();
        alone.adapter = None;
        match request.adapter.as_deref() {
            Some("writer") => Play::Give(written(&writer, &alone)),
            _ => Play::Give("none: I only act".to_owned()),
        }
    };
    Arc::new(
        ScriptedModel::by(by)
            .with_id("base")
            .with_adapters(["writer"]),
    )
}

#[test]
fn an_adapter_writes_what_the_model_alone_does_not() {
    let model = with_writer();
    let (_, alone) = learn(components().with_model(model.clone()), 6);
    assert_eq!(alone.cache().count(), 0);
    let writer = Arc::new(AdaptedModel::new(model, "writer"));
    let (_, library) = learn(components().with_model(writer), 6);
    let (_, expected) = learn(components(), 6);
    assert_eq!(bytes(&library), bytes(&expected));
}

#[test]
fn records_of_roles_have_the_model_and_the_adapter_that_wrote_them() {
    let model = with_writer();
    let adapted = Arc::new(AdaptedModel::new(model.clone(), "writer"));
    let components = components()
        .with_model(model)
        .with_model_for(Role::WRITERS, adapted);
    let journal = components.journal.clone().expect("a journal");
    let mut options = Options::new("test", Seed(7));
    options.record_roles = true;
    let records: Vec<RoleGeneration> = block_on(async {
        let journeyman = Journeyman::open(components, recipe(), options)
            .await
            .expect("it opens");
        let report = journeyman.learn(tasks(2)).await.expect("it learns");
        let entries = journal.read(&report.run).await.expect("entries");
        let answers = entries.iter().filter_map(|entry| {
            match RunEntry::from_entry(entry).expect("an entry of a run") {
                RunEntry::Answered { answer, .. } => match *answer {
                    Answer::Played(Ok(Some(played))) => Some(played.generations),
                    _ => None,
                },
                _ => None,
            }
        });
        answers.flatten().collect()
    });
    assert!(!records.is_empty());
    for one in records {
        assert_eq!(one.role, Role::Summarize);
        assert_eq!(one.record.model.as_str(), "base");
        assert_eq!(one.record.adapter.as_deref(), Some("writer"));
    }
}

#[test]
fn the_gate_decides_by_the_adapter_that_scores() {
    // By the model alone a skill is as likely behind a task as behind none.
    let scorer = ScriptedScorer::by(|_, _| Play::Give(-2.0)).with_adapter("gate", |prompt, _| {
        let has_task = prompt.text().contains("say");
        Play::Give(if has_task { -0.5 } else { -2.0 })
    });
    let scorer: Arc<dyn Scorer> = Arc::new(scorer);
    let given = |scorer: Arc<dyn Scorer>| {
        let (report, library) = learn(components().with_scorer(scorer), 9);
        let last = report.tasks.last().expect("a task");
        (last.selections[0].skill().is_some(), bytes(&library))
    };
    assert!(!given(Arc::clone(&scorer)).0);
    let (with_gate, library) = given(Arc::new(AdaptedModel::new(scorer, "gate")));
    assert!(with_gate);
    assert_eq!(library, bytes(&learn(components(), 9).1));
}

/// An agent that knows its words with the adapter `agent` alone.
fn knowing(adapter: &str) -> Arc<dyn Executor> {
    let model = ScriptedModel::by(|request, _| {
        let knows = request.adapter.as_deref() == Some("agent");
        let word = if request.prompt.messages.len() > 1 {
            "two"
        } else {
            "one"
        };
        Play::Give(if knows { word } else { "nothing" }.to_owned())
    });
    let model: Arc<dyn LanguageModel> = Arc::new(model.with_adapters(["agent"]));
    let model = match adapter {
        "" => model,
        name => Arc::new(AdaptedModel::new(model, name)) as _,
    };
    let mut options = ModelExecutorOptions::default();
    options.record = true;
    Arc::new(ModelExecutor::new(model, Arc::new(ScriptedFormat), options).expect("an agent"))
}

#[test]
fn the_agent_acts_with_its_adapter() {
    let agent = knowing("agent");
    let capabilities = agent.capabilities().expect("a model acts");
    assert_eq!(capabilities.model.as_str(), "scripted+agent");
    let done = |adapter: &str| {
        let components = components().with_executor(knowing(adapter));
        let journal = components.journal.clone().expect("a journal");
        let report = block_on(async { open(components).await.evaluate(tasks(1)).await })?;
        let entries = block_on(journal.read(&report.run))?;
        let text = serde_json::to_string(&entries).expect("JSON");
        let is_recorded = text.contains(r#""adapter":"agent""#);
        Ok::<_, Error>((report.tasks[0].attempts[0].success, is_recorded))
    };
    assert_eq!(done("").expect("it evaluates"), (Some(false), false));
    assert_eq!(done("agent").expect("it evaluates"), (Some(true), true));
    let unknown = done("gone").expect_err("there is no such adapter");
    assert_eq!(unknown.kind(), ErrorKind::NotFound);
    assert!(unknown.to_string().contains("`gone`"), "{unknown}");
}

#[test]
fn an_unknown_adapter_is_told_and_nothing_learned_is_lost() {
    let store: Arc<dyn SkillStore> = Arc::new(MemoryStore::new());
    let learns = |session: &str, name: &str| {
        let model = Arc::new(AdaptedModel::new(with_writer(), name));
        let components = components()
            .with_store(Arc::clone(&store))
            .with_model(model);
        let journal = components.journal.clone().expect("a journal");
        block_on(async {
            let journeyman = open_as(session, &components, recipe()).await;
            let report = journeyman.learn(tasks(3)).await.expect("it learns");
            let (_, happened) = journaled(journal.as_ref(), &report.run).await;
            let failed = role_failures(&happened, Role::Summarize);
            let failed: Vec<String> = failed.into_iter().map(str::to_owned).collect();
            let library = journeyman.library().await.expect("a library");
            (library.cache().count(), failed)
        })
    };
    let (skills, failed) = learns("first", "writer");
    assert!(skills > 0 && failed.is_empty());
    let (kept, failed) = learns("second", "gone");
    assert_eq!(kept, skills);
    assert!(!failed.is_empty());
    assert!(
        failed.iter().all(|reason| reason.contains("`gone`")),
        "{failed:?}"
    );
    let (kept, failed) = learns("third", "writer");
    assert!(kept >= skills && failed.is_empty());
}

#[test]
fn a_role_without_a_model_is_found() {
    let found = |roles: &[Role]| {
        let mut components = findings::complete();
        components.model = None;
        let model = Arc::new(writer_model());
        let components = components.with_model_for(roles.iter().copied(), model);
        let mut recipe = recipe::hisme();
        findings::calibrated(&mut recipe);
        let journeyman = block_on(open_as("test", &components, recipe));
        let findings = journeyman.findings().into_iter();
        let of_roles = findings.filter(|one| one.reason.starts_with("the host gave no model for"));
        of_roles
            .map(|one| (one.kind, one.reason))
            .collect::<Vec<_>>()
    };
    assert_eq!(found(&Role::ALL), []);
    let judged = found(&Role::WRITERS);
    let reason = "the host gave no model for attribute".to_owned();
    assert_eq!(judged, [(FindingKind::NoRoles, reason)]);
    let kinds = found(&Role::JUDGE).into_iter().map(|(kind, _)| kind);
    assert_eq!(
        kinds.collect::<Vec<_>>(),
        [FindingKind::NeverWrites, FindingKind::NoRoles]
    );
}
