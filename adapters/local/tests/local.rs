//! Sessions that are opened by the builder, on a scripted model, on the bundled one, and on what cannot be opened.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::{fs, path::Path, sync::Arc};

use async_trait::async_trait;
use futures::executor::block_on;
use journeyman_local::{
    Model, builder,
    journeyman::{
        ErrorKind, ModelId, Result, Seed,
        agent::{FnEnvironment, Reply},
        contract::{
            GenerateRequest, Generation, Judge, JudgeRequest, LanguageModel, ModelCapabilities,
            ScoreRequest, Scorer, TokenScores,
        },
        domain::{Outcome, Skill, Source, Task, ToolDefinition, Verdict},
        policy::Policy,
        recipe,
        run::report::FindingKind,
        testing::{ScriptedModel, ScriptedRoles, ScriptedScorer},
    },
    journeyman_llama_cpp::LlamaConfig,
};
use serde_json::json;

/// A scripted model that writes and scores.
#[derive(Debug)]
struct Both(ScriptedModel, ScriptedScorer);

#[async_trait]
impl LanguageModel for Both {
    fn capabilities(&self) -> &ModelCapabilities {
        self.0.capabilities()
    }

    async fn generate(&self, request: &GenerateRequest) -> Result<Generation> {
        self.0.generate(request).await
    }
}

#[async_trait]
impl Scorer for Both {
    fn model(&self) -> &ModelId {
        self.1.model()
    }

    async fn score(&self, request: &ScoreRequest) -> Result<Vec<TokenScores>> {
        self.1.score(request).await
    }
}

/// A model that always waters, and scores every text alike.
fn scripted() -> Model {
    let model = ScriptedModel::always(r#"{"tool": "water", "arguments": {}}"#);
    let scorer = ScriptedScorer::table([("", -1.0)]);
    Model::new(Arc::new(Both(model, scorer)))
}

fn garden() -> FnEnvironment<()> {
    let tools = [ToolDefinition::new("water", "Waters the plant.", json!({}))];
    let source = Source::trusted("garden");
    FnEnvironment::new(source, tools, |_: &mut (), _| {
        Reply::done("The plant is watered.")
    })
    .unwrap()
}

fn task() -> Task {
    Task::new("t-1", "Water the plant.")
}

#[test]
fn the_model_acts_in_the_environment_whose_outcome_is_the_verdict() {
    block_on(async {
        let session = builder(scripted()).environment(garden()).open().await;
        let session = session.unwrap();
        let report = session.evaluate(vec![task()]).await.unwrap();
        assert_eq!(report.tasks[0].attempts[0].success, Some(true));
        // Nothing is kept, and the session says so.
        let findings = session.findings();
        let of_storage = findings
            .iter()
            .filter(|finding| finding.kind == FindingKind::NoStore)
            .count();
        assert_eq!(of_storage, 1, "{findings:?}");
    });
}

#[test]
fn without_an_environment_the_host_keeps_its_own_loop() {
    block_on(async {
        let session = builder(scripted()).open().await.unwrap();
        assert!(session.evaluate(vec![task()]).await.is_err());
        let attempt = session.begin(task()).await.unwrap();
        attempt.finish(Outcome::success()).await.unwrap();
    });
}

#[test]
fn a_library_outlives_the_session() {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("library");
    let skill = "---\nname: water-plants\ndescription: How to water plants.\n---\nCall water.\n";
    block_on(async {
        let open = || {
            builder(scripted())
                .library(&library)
                .session("garden")
                .open()
        };
        let session = open().await.unwrap();
        let skills = vec![Skill::from_skill_md(skill).unwrap()];
        session.add(skills, "version 1").await.unwrap();
        drop(session);
        assert!(library.join("library.db").is_file());
        let session = open().await.unwrap();
        let library = session.library().await.unwrap();
        assert!(library.get(&"water-plants".into()).is_some());
    });
}

/// A judge that no result pleases.
#[derive(Debug)]
struct Strict;

#[async_trait]
impl Judge for Strict {
    async fn judge(&self, _: &JudgeRequest<'_>) -> Result<Verdict> {
        Ok(Verdict::binary(false))
    }
}

#[test]
fn parts_can_be_replaced_and_changed_last() {
    block_on(async {
        let parts = builder(scripted())
            .shared_environment(Arc::new(garden()))
            .judge(Strict)
            .roles(ScriptedRoles::default())
            .recipe(recipe::arise())
            .seed(Seed(7))
            .on_options(|options| options.read_only())
            .on_components(|mut components| {
                assert!(components.judge.is_some() && components.retriever.is_some());
                assert!(components.clock.is_some());
                assert!(format!("{:?}", components.roles).contains("ScriptedRoles"));
                components.retriever = None;
                components
            })
            .on_components(|components| {
                assert!(components.retriever.is_none(), "in the order of the calls");
                components
            });
        assert!(format!("{parts:?}").contains("garden"));
        let session = parts.open().await.unwrap();
        assert!(session.learn(vec![task()]).await.is_err(), "it only reads");
        let report = session.evaluate(vec![task()]).await.unwrap();
        // The plant is watered, and the world says so: the judge decides.
        assert_eq!(report.tasks[0].attempts[0].success, Some(false));
    });
}

/// Opens a library with a model that is not there.
fn refused(model: impl Into<Model>, library: &Path) -> ErrorKind {
    let opened = builder(model).environment(garden()).library(library).open();
    block_on(opened).unwrap_err().kind()
}

#[test]
fn a_model_that_is_not_there_leaves_no_library_behind() {
    let folder = tempfile::tempdir().unwrap();
    let (model, library) = (folder.path().join("no.gguf"), folder.path().join("library"));
    assert_eq!(refused(model.as_path(), &library), ErrorKind::NotFound);
    assert_eq!(
        refused(LlamaConfig::new(&model), &library),
        ErrorKind::NotFound
    );
    assert_eq!(refused(model, &library), ErrorKind::NotFound);
    assert!(!library.exists());
}

#[test]
fn what_is_cheap_is_refused_before_a_model_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("library.db"), "no library".repeat(1_000)).unwrap();
    let kind = refused("no.gguf", folder.path());
    assert!(
        matches!(kind, ErrorKind::Invalid | ErrorKind::Corrupt),
        "{kind:?}"
    );
}

#[test]
fn a_library_whose_creation_was_interrupted_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("library.db");
    fs::write(&database, "").unwrap();
    let opened = builder(scripted()).library(folder.path()).open();
    drop(block_on(opened).unwrap());
    assert!(fs::metadata(database).unwrap().len() > 0);
}

#[test]
fn a_session_that_only_reads_makes_no_library() {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("library");
    let parts = builder(scripted()).library(&library);
    let opened = parts.on_options(|options| options.read_only()).open();
    let error = block_on(opened).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(!library.exists());
}

#[test]
fn a_policy_that_is_not_registered_is_told_before_a_model_is_loaded() {
    let mut recipe = recipe::standard();
    recipe.select.selector = Policy::new("nobody");
    let opened = builder("no.gguf").recipe(recipe).open();
    let error = block_on(opened).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(!error.to_string().contains("no.gguf"), "{error}");
}

/// A model that panics when it is asked for what it can do.
#[derive(Debug)]
struct Broken;

#[async_trait]
impl LanguageModel for Broken {
    fn capabilities(&self) -> &ModelCapabilities {
        panic!("a scripted panic")
    }

    async fn generate(&self, _: &GenerateRequest) -> Result<Generation> {
        panic!("a scripted panic")
    }
}

#[async_trait]
impl Scorer for Broken {
    fn model(&self) -> &ModelId {
        panic!("a scripted panic")
    }

    async fn score(&self, _: &ScoreRequest) -> Result<Vec<TokenScores>> {
        panic!("a scripted panic")
    }
}

#[test]
fn a_part_that_panics_while_it_is_opened_is_an_error() {
    let opened = builder(Model::new(Arc::new(Broken))).open();
    let error = block_on(opened).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Panicked);
    assert!(error.hint_text().is_some());
}

#[test]
fn the_bundled_model_is_loaded_and_attempts_a_task() {
    let model = Path::new(env!("CARGO_MANIFEST_DIR"));
    let model = model.join("../../tests/lab/apprentice/apprentice.gguf");
    let folder = tempfile::tempdir().unwrap();
    block_on(async {
        let parts = builder(model).environment(garden()).library(folder.path());
        let parts = parts.on_components(|components| {
            assert!(
                components.tokenizer.is_some(),
                "a local model counts tokens"
            );
            components
        });
        let session = parts.open().await.unwrap();
        let report = session.evaluate(vec![task()]).await.unwrap();
        // It was trained for another world: what counts is that its attempt has a verdict.
        assert!(report.tasks[0].attempts[0].success.is_some(), "{report:?}");
    });
}

#[cfg(feature = "schemars")]
mod tools {
    use journeyman_local::{ToolCallExt, journeyman::domain::ToolCall, schemars, tool};

    use super::*;

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Refund {
        /// Such as T-17.
        ticket: String,
        items: Vec<Item>,
        reason: Option<Reason>,
    }

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Item {
        cents: u8,
    }

    #[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Reason {
        Late,
        Broken,
    }

    #[test]
    fn a_schema_stands_in_one_piece_without_names_of_rust() {
        let schema = tool::<Refund>("refund", "Refunds a ticket.").input_schema;
        for absent in ["$schema", "title", "$defs"] {
            assert!(schema.get(absent).is_none(), "{schema}");
        }
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["required"], json!(["ticket", "items"]));
        let item = &schema["properties"]["items"]["items"];
        assert_eq!(item["required"], json!(["cents"]), "{schema}");
        assert!(!schema.to_string().contains("uint"), "{schema}");
        assert_eq!(
            tool::<()>("water", "Waters.").input_schema,
            json!({"type": "object"})
        );
    }

    #[test]
    fn a_type_that_is_no_object_is_refused_by_the_environment() {
        for tool in [
            tool::<u32>("count", "Counts."),
            tool::<Vec<u8>>("count", "Counts."),
        ] {
            let world = FnEnvironment::new(Source::default(), [tool], |_: &mut (), _| "counted");
            let error = world.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid);
            let hint = error.hint_text().unwrap();
            assert!(hint.contains("the fields of a struct"), "{error}");
        }
    }

    #[test]
    fn no_arguments_are_read_into_the_unit() {
        let read = |arguments| ToolCall::new("water", arguments).read_arguments::<()>();
        read(json!({})).unwrap();
        assert!(read(json!({"litres": 1})).is_err());
        let refund = ToolCall::new("refund", json!({})).read_arguments::<Refund>();
        let error = refund.map(|_| ()).unwrap_err();
        assert!(error.message().contains("`ticket` is missing"), "{error}");
    }

    #[test]
    fn arguments_are_read_or_refused_without_their_values() {
        let read = |arguments| ToolCall::new("refund", arguments).read_arguments::<Refund>();
        let refund = read(json!({"ticket": "T-17", "items": [{"cents": 25}], "reason": "late"}));
        let refund = refund.unwrap();
        assert_eq!(
            (refund.ticket.as_str(), refund.items[0].cents),
            ("T-17", 25)
        );
        assert_eq!(refund.reason, Some(Reason::Late));
        let without = read(json!({"ticket": "T-17", "items": []})).unwrap();
        assert_eq!(without.reason, None);
        for arguments in [
            json!({}),
            json!({"ticket": 17, "items": []}),
            json!({"ticket": "secret", "items": [{"cents": 256}]}),
            json!({"ticket": "secret", "items": [], "reason": "secret"}),
        ] {
            let error = read(arguments).map(|_| ()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid);
            let said = error.to_string();
            assert!(
                said.contains("refund") && !said.contains("secret"),
                "{said}"
            );
        }
    }
}
