//! The host's parts: a model in this process or of a server, the world in another process, a library on disk.

use std::{
    collections::BTreeMap,
    env,
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
};

use journeyman::{
    Error, ErrorKind, Result,
    agent::{
        AdaptedModel, ChatFormat, ModelExecutor, ModelExecutorOptions, ObservedExecutor,
        SystemClock, role::GeneralRoles,
    },
    contract::{Components, LanguageModel, Scorer, Tokenizer},
};
use journeyman_disk::DiskStore;
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp};
use journeyman_openai::{ApiKey, Config, OpenAi};
use toml::Spanned;

use super::{
    alone::alone,
    form::{Form, RUN},
    model_form::{JobModel, ModelForm},
    trace::Trace,
};
use crate::{
    jobs::Job,
    library,
    model::{
        layers::Layers,
        load::{adapter_name, found_in, template},
    },
    progress::Progress,
    stemming::retriever,
    toml_file::Source,
    world::{TaskJudge, World, WorldConfig},
};

/// A model, with what it can do beside writing.
#[derive(Clone, Debug)]
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
    pub(super) components: Components,
    /// The model's name, and what its server was found to support.
    pub(super) model: String,
    pub(super) world: World,
    pub(super) store: Arc<DiskStore>,
    /// The run's name in the library.
    pub(super) held: File,
}

impl Parts {
    /// Loads the model, starts the world and opens the library.
    pub(super) async fn open(
        (source, form): (&Source<'_>, &Form),
        name: &str,
        (folder, library): (&Path, &Path),
        judge: impl Into<TaskJudge>,
        trace: &Arc<Trace>,
    ) -> Result<Self> {
        // The cheapest first: a wrong path or program is told before a model is loaded.
        // A new library is made last, so that a wrong path of a model leaves none.
        let there = match library::is_library(library) {
            true => Some(DiskStore::open(library, &library::options(false))?),
            false => library::refuse_unread(library).map(|()| None)?,
        };
        let held = there.as_ref().map(|_| alone(library, name)).transpose()?;
        let jobs = form.jobs(source)?;
        let world = open_world(form.world(source, folder)?, judge.into()).await?;
        let (model, others) = load_all(source, &form.model, &jobs, folder).await?;
        let store = match there {
            Some(store) => store,
            None => DiskStore::open(library, &library::options(true))?,
        };
        let held = held.map_or_else(|| alone(library, name), Ok)?;
        let store = Arc::new(store);
        let prompt_format = Arc::new(prompt_format(form.model.get_ref(), &*model.language));
        let mut options = ModelExecutorOptions::default();
        if let Some(steps) = form.steps {
            options.max_steps = steps.get();
        }
        let agent = ModelExecutor::new(model.language.clone(), prompt_format.clone(), options)?;
        let mut about = model.line();
        let trace = trace.clone();
        let traced = ObservedExecutor::new(agent, move |task, _, trajectory| {
            trace.attempt(task, trajectory);
        });
        let mut components = Components::new(
            Arc::new(traced),
            world.environment.clone(),
            world.judge.clone(),
        )
        .with_model(model.language)
        .with_prompt_format(prompt_format)
        .with_roles(Arc::new(GeneralRoles::shipped()?))
        .with_retriever(Arc::new(retriever(form.stems)?))
        .with_store(store.clone())
        .with_journal(store.clone())
        .with_clock(Arc::new(SystemClock::new()));
        components.scorer = model.scorer;
        components.tokenizer = model.tokenizer;
        for (job, model) in jobs.into_iter().zip(others) {
            about.push_str(&format!("\n{}: {}", job.name, model.line()));
            match job.job {
                // The form has refused it.
                Job::Agent => {}
                Job::Gate => components.scorer = model.scorer,
                Job::Roles(roles) => components = components.with_model_for(roles, model.language),
            }
        }
        Ok(Self {
            components,
            model: about,
            world,
            store,
            held,
        })
    }
}

/// Starts the world, and looks for what is wrong with it.
async fn open_world(config: WorldConfig, judge: TaskJudge) -> Result<World> {
    let progress = Progress::of("starting the world");
    let world = World::open(RUN, config, judge).await?;
    progress.step("checking the world's tools");
    world.check(RUN).await?;
    Ok(world)
}

/// What the agent says to the model, and how it reads its answers.
fn prompt_format(form: &ModelForm, model: &dyn LanguageModel) -> ChatFormat {
    let mut prompt_format = ChatFormat::of(model.capabilities());
    if let Some(most) = form.answer_tokens {
        prompt_format.max_tokens = most.get() as usize;
    }
    prompt_format
}

impl Model {
    fn line(&self) -> String {
        format!("{}{}", self.language.capabilities().model, self.about)
    }

    /// The same model with an adapter.
    fn with_adapter(&self, name: &str) -> Self {
        let scorer = self.scorer.as_ref();
        let scorer = scorer.map(|scorer| AdaptedModel::new(scorer.clone(), name));
        Self {
            language: Arc::new(AdaptedModel::new(self.language.clone(), name)),
            scorer: scorer.map(|scorer| Arc::new(scorer) as _),
            ..self.clone()
        }
    }
}

/// The adapters of a local model, by the names that they are loaded under, or those of a server's model.
type Adapters = BTreeMap<String, PathBuf>;

/// The model of `[model]`, and those of the jobs. A model that several of them use is loaded once, with all of their adapters.
async fn load_all(
    source: &Source<'_>,
    model: &Spanned<ModelForm>,
    jobs: &[JobModel],
    folder: &Path,
) -> Result<(Model, Vec<Model>)> {
    let forms: Vec<&Spanned<ModelForm>> = jobs.iter().map(|job| &job.model).collect();
    let mut loaded: Vec<(ModelForm, Model)> = Vec::new();
    let mut models = Vec::new();
    for form in std::iter::once(model).chain(forms.iter().copied()) {
        let key = form.get_ref().without_adapter();
        let known = loaded.iter().find(|(known, _)| *known == key);
        let base = match known {
            Some((_, base)) => base.clone(),
            None => {
                let alike = std::iter::once(model).chain(forms.iter().copied());
                let alike = alike.filter(|other| other.get_ref().without_adapter() == key);
                let adapters = adapters(source, alike, folder)?;
                let base = load(source, form, folder, adapters).await?;
                loaded.push((key, base.clone()));
                base
            }
        };
        models.push(match &form.get_ref().adapter {
            None => base,
            Some(adapter) => base.with_adapter(&named(form.get_ref(), adapter)?),
        });
    }
    let jobs = models.split_off(1);
    models.pop().map(|model| (model, jobs)).ok_or_else(|| {
        Error::new(ErrorKind::Internal, RUN, "no model was loaded")
            .hint("this is a fault of the command: please report it")
    })
}

/// The name of an adapter: a file's stem, or the name that a server has for it.
fn named(model: &ModelForm, adapter: &str) -> Result<String> {
    match model.server {
        None => adapter_name(Path::new(adapter)),
        Some(_) => Ok(adapter.to_owned()),
    }
}

/// The adapters that one model is used with.
fn adapters<'a>(
    source: &Source<'_>,
    forms: impl Iterator<Item = &'a Spanned<ModelForm>>,
    folder: &Path,
) -> Result<Adapters> {
    let mut adapters = Adapters::new();
    for form in forms {
        let Some(adapter) = &form.get_ref().adapter else {
            continue;
        };
        let name = named(form.get_ref(), adapter)?;
        let path = folder.join(adapter);
        if adapters
            .insert(name, path.clone())
            .is_some_and(|other| other != path)
        {
            return Err(source.refused(
                form.span(),
                "two adapters of one model have files of the same name",
                "rename one of the files: an adapter has its file's name, without the ending",
            ));
        }
    }
    Ok(adapters)
}

async fn load(
    source: &Source<'_>,
    form: &Spanned<ModelForm>,
    folder: &Path,
    adapters: Adapters,
) -> Result<Model> {
    let model = form.get_ref();
    match (&model.gguf, &model.server) {
        (Some(file), None) => {
            let file = found_in(file, folder)?;
            let _progress = Progress::of("loading the model");
            local(model, config_of(model, (&file, folder), adapters))
        }
        (None, Some(address)) => server(source, form, address, &adapters).await,
        _ => Err(source.refused(
            form.span(),
            "the model is named twice or not at all",
            "set either `gguf`, or `server` and `name`",
        )),
    }
}

/// How a file is loaded. The folder of backends is named as seen from the run's file, which lies in `folder`.
fn config_of(model: &ModelForm, (file, folder): (&Path, &Path), adapters: Adapters) -> LlamaConfig {
    let mut config = LlamaConfig::new(file);
    config.adapters = adapters;
    config.n_ctx = model.context;
    config.threads = model.threads;
    config.backends = model.backends.as_ref().map(|named| folder.join(named));
    if let Some(Layers(layers)) = model.gpu_layers {
        config.gpu_layers = layers;
    }
    if model.exact {
        config = config.exact();
    }
    if let Some(name) = &model.template {
        config.template = template(name);
    }
    config
}

fn local(model: &ModelForm, config: LlamaConfig) -> Result<Model> {
    let loaded = LlamaCpp::load(config).map_err(|error| {
        match model.template.is_none() && error.message().contains("chat template") {
            true => error.hint("in [model], name the template that the model was made for, such as `template = \"chatml\"`; a model that was made for none is no chat model: take an instruct model"),
            false => error,
        }
    })?;
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

async fn server(
    source: &Source<'_>,
    form: &Spanned<ModelForm>,
    address: &str,
    adapters: &Adapters,
) -> Result<Model> {
    let model = form.get_ref();
    let refused = |message: &str, hint: &str| source.refused(form.span(), message, hint);
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
    let progress = Progress::of("asking the model's server");
    let connected = Arc::new(OpenAi::connect(config).await?);
    drop(progress);
    for name in adapters.keys() {
        connected.require_adapter(name)?;
    }
    let support = connected.support();
    Ok(Model {
        scorer: (support.scoring.is_some()).then(|| connected.clone() as Arc<dyn Scorer>),
        tokenizer: None,
        about: format!("\n{support}"),
        language: connected,
    })
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        io::{Read, Write},
        net::TcpListener,
        thread,
    };

    use futures::executor::block_on;
    use journeyman_llama_cpp::GpuLayers;
    use journeyman_mcp::ExpectationJudge;
    use tempfile::TempDir;

    use super::*;
    use crate::progress::tests::says;

    /// A part of a run's file with this model and this world.
    fn of_file<T>(
        model: &str,
        world: &str,
        part: impl FnOnce(&Source<'_>, &Form, &Path) -> T,
    ) -> T {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("run.toml");
        let head = "name = \"shop\"\ntasks = \"tasks.jsonl\"\nheld_out = 2";
        let text = format!("{head}\n\n[model]\n{model}\n\n[world]\n{world}\n");
        fs::write(&path, text).unwrap();
        let source = Source::read(RUN, &path).unwrap();
        let form = Form::read(&source).unwrap();
        part(&source, &form, folder.path())
    }

    #[test]
    fn a_file_is_loaded_with_the_layers_and_the_backends_that_are_named() {
        let config = |lines: &str| {
            let model = format!("gguf = \"m.gguf\"\n{lines}");
            of_file(&model, "program = \"none\"", |_, form, folder| {
                let places = (Path::new("m.gguf"), folder);
                let config = config_of(form.model.get_ref(), places, Adapters::new());
                let backends = config.backends;
                let backends = backends.map(|path| path.strip_prefix(folder).unwrap().to_owned());
                (config.gpu_layers, backends)
            })
        };
        assert_eq!(config(""), (GpuLayers::Fit, None));
        assert_eq!(
            config("gpu_layers = 20\nbackends = \"ggml\""),
            (GpuLayers::Count(20), Some(PathBuf::from("ggml")))
        );
    }

    #[test]
    fn a_server_that_answers_late_is_not_waited_for_in_silence() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        // It answers once a line has said what goes on.
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            assert!(stream.read(&mut [0; 4_096]).unwrap() > 0);
            let said = says("asking the model's server");
            let answer =
                "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            stream.write_all(answer.as_bytes()).unwrap();
            said
        });
        let model = format!("server = \"http://{address}/v1\"\nname = \"m\"");
        let loaded = of_file(&model, "program = \"none\"", |source, form, folder| {
            block_on(load_all(source, &form.model, &[], folder))
        });
        assert!(server.join().unwrap(), "no line came");
        assert!(loaded.is_err());
    }

    #[test]
    fn a_world_that_starts_late_is_not_waited_for_in_silence() {
        // A process that says nothing, and ends once a line has said what goes on: no other test of this process starts a world.
        let world =
            "program = \"sh\"\narguments = [\"-c\", \"until [ -e said ]; do sleep 0.01; done\"]";
        let (opened, said) = of_file("gguf = \"m.gguf\"", world, |source, form, folder| {
            let config = form.world(source, folder).unwrap();
            let ends = folder.join("said");
            let waits = thread::spawn(move || {
                let said = says("starting the world");
                fs::write(ends, "").unwrap();
                said
            });
            let opened = block_on(open_world(config, ExpectationJudge::default().into()));
            (opened, waits.join().unwrap())
        });
        assert!(opened.is_err());
        assert!(said, "no line came");
    }
}
