//! Loads a model by the command's options, and reads its prompt.

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use journeyman::{
    Error, ErrorKind, Result,
    agent::{AdaptedModel, ChatFormat},
    contract::{Components, LanguageModel, PromptFormat, Scorer, Tokenizer},
    domain::{Message, Prompt, Speaker},
};
use journeyman_llama_cpp::{
    IsolatedConfig, IsolatedLlama, LlamaConfig, LlamaCpp, Template, find_model,
};

use super::arguments::{Given, Load};
use crate::progress::Progress;

/// Maximum bytes of a prompt; a longer one is refused before it is read whole.
const MOST_BYTES: u64 = 32 << 20;

/// A loaded model, in this process or in a worker process.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) language: Arc<dyn LanguageModel>,
    pub(super) scorer: Arc<dyn Scorer>,
    pub(super) tokenizer: Arc<dyn Tokenizer>,
    /// How its scores are asked for.
    pub(super) prompt_format: Arc<dyn PromptFormat>,
    /// The engine, where it is in this process.
    pub(super) engine: Option<Arc<LlamaCpp>>,
    pub(super) time_limit: Duration,
}

/// The file of a model that a file in this folder names.
pub(crate) fn found_in(named: &Path, folder: &Path) -> Result<PathBuf> {
    let progress = Progress::of("looking for the model");
    find_model(named, folder, &mut |line| progress.note(line))
}

/// The file of a model that the command line names.
pub(crate) fn found(named: &Path) -> Result<PathBuf> {
    found_in(named, Path::new(""))
}

/// The chat template of a name on the command line or in a file.
pub(crate) fn template(name: &str) -> Template {
    match name {
        "auto" => Template::Auto,
        "none" => Template::None,
        name => Template::Named(name.to_owned()),
    }
}

impl Model {
    pub(super) fn load(options: &Load) -> Result<Self> {
        let file = found(&options.file)?;
        let _progress = Progress::of("loading the model");
        let time_limit = Duration::from_secs(options.timeout.get().into());
        let mut config = LlamaConfig::new(file);
        if options.exact {
            config = config.exact();
        }
        config.n_ctx = options.ctx;
        config.threads = options.threads;
        config.gpu_layers = options.gpu_layers;
        config.backends.clone_from(&options.backends);
        config.template = template(&options.template);
        let adapter = options.adapter.as_deref().map(adapter_name).transpose()?;
        if let (Some(name), Some(file)) = (&adapter, &options.adapter) {
            config.adapters.insert(name.clone(), file.clone());
        }
        let hinted = |error: Error| {
            match options.template.as_str() {
            "auto" if error.message().contains("chat template") => {
                error.hint("use --template none for a model that is not made for chats, or name a template, such as --template chatml")
            }
            _ => error,
        }
        };
        if options.isolated {
            let loaded = IsolatedLlama::load(isolated(config)?);
            return loaded
                .map_err(hinted)
                .map(|model| Self::of(model, adapter, time_limit));
        }
        let engine = LlamaCpp::load(config).map_err(hinted)?;
        Ok(Self {
            engine: Some(engine.clone()),
            ..Self::of(engine, adapter, time_limit)
        })
    }

    fn of<M>(model: Arc<M>, adapter: Option<String>, time_limit: Duration) -> Self
    where
        M: LanguageModel + Scorer + Tokenizer + 'static,
    {
        let tokenizer = model.clone();
        let (language, scorer) = with_adapter(model, adapter);
        Self {
            language,
            scorer,
            tokenizer,
            prompt_format: Arc::new(ChatFormat::default()),
            engine: None,
            time_limit,
        }
    }

    /// The parts of a session that attempts nothing, in which this model scores.
    pub(super) fn own_loop(&self) -> Components {
        Components::own_loop()
            .with_scorer(self.scorer.clone())
            .with_prompt_format(self.prompt_format.clone())
    }
}

/// A model that writes and scores with the adapter of this name, where one is given.
pub(crate) fn with_adapter<M: LanguageModel + Scorer + 'static>(
    model: Arc<M>,
    adapter: Option<String>,
) -> (Arc<dyn LanguageModel>, Arc<dyn Scorer>) {
    match adapter {
        None => (model.clone(), model),
        Some(name) => {
            let model = Arc::new(AdaptedModel::new(model, name));
            (model.clone(), model)
        }
    }
}

/// The name of an adapter: its file's, without the ending. It is part of the model's id, so that a calibration of this command
/// counts for a run.
pub(crate) fn adapter_name(file: &Path) -> Result<String> {
    let name = file.file_stem().map(|stem| stem.to_string_lossy().into());
    name.ok_or_else(|| {
        Error::invalid("model", "this is not the path of an adapter's file")
            .with("path", file.display())
            .hint("name a LoRA adapter in GGUF; llama.cpp's convert_lora_to_gguf.py makes one of a PEFT adapter")
    })
}

/// The configuration of a worker process, which runs this command.
fn isolated(model: LlamaConfig) -> Result<IsolatedConfig> {
    let mut config = IsolatedConfig::new(model);
    let here = std::env::current_exe().map_err(|error| {
        Error::new(
            ErrorKind::Unavailable,
            "model",
            "the path of this command's program is not known",
        )
        .hint("leave out --isolated")
        .source_from(error)
    })?;
    config.worker = Some(here);
    config.worker_arguments = ["model", "worker"].map(str::to_owned).to_vec();
    Ok(config)
}

/// A user's message, after the system message where there is one.
pub(super) fn prompt(system: Option<&str>, text: &str) -> Prompt {
    let system = system.map(|text| Message::data(Speaker::System, text));
    let messages = system
        .into_iter()
        .chain([Message::data(Speaker::User, text)]);
    Prompt::new(messages.collect())
}

impl Given {
    pub(super) fn text(&self) -> Result<String> {
        match (&self.prompt, &self.prompt_file) {
            (Some(text), _) => Ok(text.clone()),
            (None, Some(path)) => read(path),
            // clap requires one of them.
            (None, None) => Ok(String::new()),
        }
    }
}

fn read(path: &Path) -> Result<String> {
    let refused = |kind, message: String| {
        Error::new(kind, "prompt", message)
            .with("path", path.display())
            .hint("name a text file in UTF-8, or `-` for standard input")
    };
    let unreadable = |error: io::Error| {
        let kind = match error.kind() {
            io::ErrorKind::NotFound => ErrorKind::NotFound,
            io::ErrorKind::IsADirectory => ErrorKind::Invalid,
            _ => ErrorKind::Unavailable,
        };
        refused(
            kind,
            format!("the prompt cannot be read ({})", error.kind()),
        )
        .source_from(error)
    };
    let mut bytes = Vec::new();
    if path.as_os_str() == "-" {
        io::stdin().take(MOST_BYTES + 1).read_to_end(&mut bytes)
    } else {
        fs::File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes))
    }
    .map_err(unreadable)?;
    if bytes.len() as u64 > MOST_BYTES {
        let message = format!("the prompt is longer than {MOST_BYTES} bytes");
        return Err(refused(ErrorKind::Invalid, message));
    }
    String::from_utf8(bytes)
        .map_err(|_| refused(ErrorKind::Invalid, "the prompt is not UTF-8".to_owned()))
}
