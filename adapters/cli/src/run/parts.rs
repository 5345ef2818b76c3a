//! The host's parts: a model in this process or of a server, the world in another process, a library on disk.

use std::{env, path::Path, sync::Arc};

use journeyman::{
    Result,
    builtin::{ChatDialect, ModelExecutor, ModelExecutorOptions, ObservedExecutor, SystemClock},
    contract::{Backends, Dialect, LanguageModel, Roles, Scorer, Tokenizer},
    role::GeneralRoles,
};
use journeyman_disk::DiskStore;
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp, Template, find_model};
use journeyman_mcp::ExpectationJudge;
use journeyman_openai::{ApiKey, Config, OpenAi, Route};
use journeyman_tantivy::Bm25Retriever;
use journeyman_toolworld::{
    dialect::{ApprenticeDialect, Mode, TOKENS},
    writer::ApprenticeRoles,
};

use super::{
    form::{DialectForm, Form, ModelForm},
    trace::Trace,
    world::World,
};
use crate::{library, model::load::template, progress::Progress, toml_file::Source};

/// A model, with what it can do beside writing.
#[derive(Debug)]
struct Model {
    language: Arc<dyn LanguageModel>,
    scorer: Option<Arc<dyn Scorer>>,
    tokenizer: Option<Arc<dyn Tokenizer>>,
    /// What a server was found to support.
    about: String,
}

/// All parts of a run.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) backends: Backends,
    /// The model's name, and what its server was found to support.
    pub(super) model: String,
    pub(super) world: World,
    pub(super) store: Arc<DiskStore>,
}

impl Parts {
    /// Loads the model, starts the world and opens the library.
    pub(super) async fn open(
        source: &Source<'_>,
        form: &Form,
        folder: &Path,
        library: &Path,
        judge: ExpectationJudge,
        trace: &Arc<Trace>,
    ) -> Result<Self> {
        // The cheapest first: a wrong path or program is told before a model is loaded.
        if !library::is_library(library) {
            library::refuse_unread(library)?;
        }
        let store = Arc::new(DiskStore::open(library, &library::options(true))?);
        let world = World::open(form.world(source, folder)?, judge).await?;
        let model = load(source, form, folder).await?;
        let (dialect, roles): (Arc<dyn Dialect>, Arc<dyn Roles>) =
            match form.model.get_ref().dialect {
                DialectForm::Chat => (
                    Arc::new(ChatDialect::of(model.language.capabilities())),
                    Arc::new(GeneralRoles::shipped()?),
                ),
                DialectForm::Apprentice => (
                    Arc::new(ApprenticeDialect::new(Mode::Row)),
                    Arc::new(ApprenticeRoles),
                ),
            };
        let mut options = ModelExecutorOptions::default();
        if let Some(steps) = form.steps {
            options.max_steps = steps.get();
        }
        let agent = ModelExecutor::new(model.language.clone(), dialect.clone(), options)?;
        let name = model.language.capabilities().model.to_string();
        let trace = trace.clone();
        let traced = ObservedExecutor::new(agent, move |task, _, trajectory| {
            trace.attempt(task, trajectory);
        });
        let mut backends = Backends::new(
            Arc::new(traced),
            world.environment.clone(),
            world.judge.clone(),
        )
        .with_model(model.language)
        .with_dialect(dialect)
        .with_roles(roles)
        .with_retriever(Arc::new(Bm25Retriever::new(Default::default())?))
        .with_store(store.clone())
        .with_journal(store.clone())
        .with_clock(Arc::new(SystemClock::new()));
        backends.scorer = model.scorer;
        backends.tokenizer = model.tokenizer;
        Ok(Self {
            backends,
            model: format!("{name}{}", model.about),
            world,
            store,
        })
    }
}

async fn load(source: &Source<'_>, form: &Form, folder: &Path) -> Result<Model> {
    let model = form.model.get_ref();
    match (&model.gguf, &model.server) {
        (Some(file), None) => {
            let progress = Progress::of("loading the model");
            let file = find_model(file, folder, &mut |line| progress.note(line))?;
            local(model, &file)
        }
        (None, Some(address)) => server(source, form, address).await,
        _ => Err(source.refused(
            form.model.span(),
            "the model is named twice or not at all",
            "set either `gguf`, or `server` and `name`",
        )),
    }
}

fn local(model: &ModelForm, file: &Path) -> Result<Model> {
    let mut config = LlamaConfig::new(file);
    config.n_ctx = model.context;
    config.threads = model.threads;
    if model.exact {
        config = config.exact();
    }
    if let Some(name) = &model.template {
        config.template = template(name);
    }
    if model.dialect == DialectForm::Apprentice {
        // The dialect writes the markers of a turn itself.
        config.template = Template::None;
    }
    let loaded = LlamaCpp::load(config).map_err(|error| {
        match model.template.is_none() && error.message().contains("chat template") {
            true => error.hint("in [model], name the template that the model was made for, such as `template = \"chatml\"`; or, for the bundled model in a world that speaks its language, `dialect = \"apprentice\"`"),
            false => error,
        }
    })?;
    if model.dialect == DialectForm::Apprentice {
        loaded.require_tokens(&TOKENS).map_err(|error| {
            error.hint("only models trained like the bundled one have this dialect; for any other take `dialect = \"chat\"`")
        })?;
    }
    let capabilities = loaded.capabilities();
    let speed = capabilities.speed.map_or_else(String::new, |speed| {
        format!(
            "; when it was loaded it read {:.0} tokens a second and wrote {:.0}",
            speed.reads_per_second(),
            speed.writes_per_second()
        )
    });
    Ok(Model {
        about: format!("\ncontext {} tokens{speed}", capabilities.context),
        language: loaded.clone(),
        scorer: Some(loaded.clone()),
        tokenizer: Some(loaded),
    })
}

async fn server(source: &Source<'_>, form: &Form, address: &str) -> Result<Model> {
    let model = form.model.get_ref();
    let refused = |message: &str, hint: &str| source.refused(form.model.span(), message, hint);
    let Some(name) = &model.name else {
        let hint = "set `name` to the model's name as the server's /models lists it";
        return Err(refused("the server's model is not named", hint));
    };
    let mut config = Config::new(address, name);
    if let Some(variable) = &model.key_variable {
        let key = env::var(variable).map_err(|_| {
            refused(
                "the variable with the server's key is not set",
                "set it, or take `key_variable` out of the file",
            )
            .with("variable", variable)
        })?;
        config.key = Some(ApiKey::new(key)?);
    }
    config.context = model
        .context
        .and_then(|tokens| usize::try_from(tokens).ok()?.try_into().ok());
    if model.dialect == DialectForm::Apprentice {
        config.route = Route::Completions;
    }
    let connected = Arc::new(OpenAi::connect(config).await?);
    let support = connected.support();
    Ok(Model {
        scorer: (support.scoring.is_some()).then(|| connected.clone() as Arc<dyn Scorer>),
        tokenizer: None,
        about: format!("\n{support}"),
        language: connected,
    })
}
