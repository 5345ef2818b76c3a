//! Adapters and models for the jobs of a run: the agent, the gate and the roles, by real inference.

use std::{num::NonZeroU32, sync::Arc};

use futures::executor::block_on;
use journeyman::{
    Error, ErrorKind, Seed,
    agent::{AdaptedModel, MemoryJournal, MemoryStore, ModelExecutor, ModelExecutorOptions},
    contract::{Components, Journal, LanguageModel, Scorer},
    domain::{Role, Verdict},
    policy::Answer,
    recipe::{self, Recipe},
    run::{Journeyman, Options, RunEntry},
    stations::propose::{Extract, WriteWhen},
    testing::{Play, ScriptedEnvironment, ScriptedFormat, ScriptedJudge, ScriptedRoles, sample},
};
use journeyman_llama_cpp::LlamaCpp;

use crate::support::{Lora, TestFile, Tiny, isolated_config, load};

/// What a run's journal has of each job, as JSON.
#[derive(Clone, Debug, PartialEq)]
struct Did {
    agent: String,
    gate: String,
    roles: String,
}

/// Who does each job.
struct Jobs {
    agent: Arc<dyn LanguageModel>,
    gate: Arc<dyn Scorer>,
    roles: Arc<dyn LanguageModel>,
}

impl Jobs {
    fn of(model: &Arc<LlamaCpp>) -> Self {
        Self {
            agent: model.clone(),
            gate: model.clone(),
            roles: model.clone(),
        }
    }
}

/// A skill for each task, whatever the attempt was.
fn recipe() -> Recipe {
    let mut recipe = recipe::standard();
    recipe.write.when = WriteWhen::Always;
    let mut extract = Extract::new(NonZeroU32::MIN);
    extract.failures = true;
    recipe.write.by = extract.into();
    recipe
}

/// Learns from one task, with a skill in the library that the gate has to decide about.
fn did(jobs: Jobs) -> Result<Did, Error> {
    let mut options = ModelExecutorOptions::default();
    options.max_steps = 2;
    options.record = true;
    let agent = ModelExecutor::new(jobs.agent, Arc::new(ScriptedFormat), options)?;
    let judge = ScriptedJudge::that(Play::Give(Verdict::binary(true)));
    let journal = Arc::new(MemoryJournal::new());
    let world = Arc::new(ScriptedEnvironment::words());
    let backends = Components::new(Arc::new(agent), world, Arc::new(judge))
        .with_scorer(jobs.gate)
        .with_prompt_format(Arc::new(ScriptedFormat))
        .with_model_for(Role::WRITERS, jobs.roles)
        .with_roles(Arc::new(ScriptedRoles::default()))
        .with_store(Arc::new(MemoryStore::new()))
        .with_journal(journal.clone());
    let mut options = Options::new("jobs", Seed(7));
    options.record_roles = true;
    block_on(async {
        let session = Journeyman::open(backends, recipe(), options).await?;
        session.add(vec![sample::skill("brew")], "a start").await?;
        let report = session
            .learn(vec![sample::task("greet", &["good"])])
            .await?;
        let mut did = [Vec::new(), Vec::new(), Vec::new()];
        for entry in journal.read(&report.run).await? {
            let RunEntry::Answered { answer, .. } = RunEntry::from_entry(&entry)? else {
                continue;
            };
            let job = match &*answer {
                Answer::Attempted(_) => 0,
                Answer::Scored(_) => 1,
                Answer::Played(_) => 2,
                _ => continue,
            };
            did[job].push(serde_json::to_string(&answer).unwrap());
        }
        // The attempts of a group are made at once and end in any order.
        let [agent, gate, roles] = did.map(|mut answers| {
            answers.sort_unstable();
            answers.join("\n")
        });
        assert!(!agent.is_empty() && !gate.is_empty() && !roles.is_empty());
        Ok(Did { agent, gate, roles })
    })
}

fn lora(seed: u64) -> TestFile {
    let lora = Lora {
        seed,
        ..Lora::default()
    };
    TestFile::new("lora.gguf", &lora.bytes())
}

#[test]
fn an_adapter_changes_the_job_that_it_is_for_and_no_other() {
    let file = Tiny::default().file();
    let bare = load(&file, |config| config.deterministic = true);
    let plain = did(Jobs::of(&bare)).unwrap();
    let lora = lora(3);
    let model = load(&file, |config| {
        config.deterministic = true;
        config.adapters.insert("one".to_owned(), lora.0.clone());
    });
    let one = || Arc::new(AdaptedModel::new(model.clone(), "one"));
    // Loaded and not used, an adapter changes no byte.
    assert_eq!(did(Jobs::of(&model)).unwrap(), plain);

    let acting = did(Jobs {
        agent: one(),
        ..Jobs::of(&model)
    });
    let acting = acting.unwrap();
    assert_ne!(acting.agent, plain.agent);
    assert_eq!(acting.gate, plain.gate);
    assert!(acting.agent.contains(r#""adapter":"one""#));
    assert!(plain.agent.contains(r#""adapter":null"#));

    let deciding = did(Jobs {
        gate: one(),
        ..Jobs::of(&model)
    });
    assert_ne!(deciding.unwrap().gate, plain.gate);

    let writing = did(Jobs {
        roles: one(),
        ..Jobs::of(&model)
    });
    let writing = writing.unwrap();
    assert_ne!(writing.roles, plain.roles);
    assert!(writing.roles.contains(r#""adapter":"one""#));
    assert_eq!((&writing.agent, &writing.gate), (&plain.agent, &plain.gate));
}

#[test]
fn two_models_do_two_jobs() {
    let (small, large) = (
        Tiny::default().file(),
        Tiny {
            seed: 9,
            ..Tiny::default()
        }
        .file(),
    );
    let [small, large] =
        [small, large].map(|file| load(&file, |config| config.deterministic = true));
    let (one, other) = (small.model().to_string(), large.model().to_string());
    assert_ne!(one, other);
    let plain = did(Jobs::of(&small)).unwrap();
    let both = did(Jobs {
        roles: large.clone(),
        ..Jobs::of(&small)
    });
    let both = both.unwrap();
    assert_eq!((&both.agent, &both.gate), (&plain.agent, &plain.gate));
    assert_ne!(both.roles, plain.roles);
    assert!(both.agent.contains(&one) && !both.agent.contains(&other));
    assert!(both.roles.contains(&other) && !both.roles.contains(&one));
    // The small model's own agent beside the large model's gate.
    let deciding = did(Jobs {
        gate: large,
        ..Jobs::of(&small)
    });
    assert_ne!(deciding.unwrap().gate, plain.gate);
}

#[test]
fn an_adapter_that_is_not_loaded_is_named_with_those_that_are() {
    let lora = lora(3);
    let model = Tiny::default().load_with(|config| {
        config.adapters.insert("one".to_owned(), lora.0.clone());
    });
    let gone = did(Jobs {
        agent: Arc::new(AdaptedModel::new(model.clone(), "gone")),
        ..Jobs::of(&model)
    });
    let gone = gone.unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::NotFound);
    assert!(gone.to_string().contains("`gone`"), "{gone}");
}

#[test]
fn a_file_loaded_under_the_name_of_another_has_other_weights() {
    let (one, two) = (lora(3), lora(5));
    let base = Tiny::default().file();
    let model = load(&base, |_| ());
    let (isolated, _file) = Tiny::default().isolate_with(|_| ());
    let alone = model.model().clone();
    assert_eq!(model.weights(None), alone);
    let mut seen = vec![alone];
    for file in [&one, &two] {
        block_on(model.load_adapter("own", &file.0)).unwrap();
        block_on(isolated.load_adapter("own", &file.0)).unwrap();
        let weights = model.weights(Some("own"));
        assert_eq!(isolated.weights(Some("own")), weights);
        assert!(weights.as_str().contains("+own@"), "{weights}");
        assert!(!seen.contains(&weights));
        seen.push(weights);
    }
    // What was refused has changed nothing.
    let wide = Lora {
        width: 16,
        ..Lora::default()
    };
    let wide = TestFile::new("wide.gguf", &wide.bytes());
    for refused in [
        block_on(model.load_adapter("own", &wide.0)),
        block_on(isolated.load_adapter("own", &wide.0)),
    ] {
        let refused = refused.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Unsupported);
        assert!(refused.hint_text().is_some());
    }
    assert_eq!(model.weights(Some("own")), seen[2]);
    assert_eq!(isolated.weights(Some("own")), seen[2]);
    // An adapter that comes with the model is known from the start.
    let mut config = isolated_config(&base.0);
    config
        .model
        .adapters
        .insert("own".to_owned(), two.0.clone());
    let again = journeyman_llama_cpp::IsolatedLlama::load(config).unwrap();
    assert_eq!(again.weights(Some("own")), seen[2]);
}
