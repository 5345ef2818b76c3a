//! The parts of a session, put together.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

use futures::channel::oneshot;
use journeyman::{
    Error, ErrorKind, Result, Seed,
    contract::{Components, Environment, Judge, Roles},
    recipe::{self, Recipe},
    run::{Journeyman, Options},
};
use journeyman_disk::{DiskOptions, DiskStore};
use journeyman_tantivy::{Bm25Retriever, Config};

use crate::model::Model;

const OPEN: &str = "Builder::open";
/// The session's name where the host gives none.
const SESSION: &str = "local";
/// The seed where the host gives none.
const SEED: Seed = Seed(1);

type Change = Box<dyn FnOnce(Components) -> Components + Send>;

/// Begins a session with a model: the path of a GGUF file, a [`LlamaConfig`](journeyman_llama_cpp::LlamaConfig), a loaded
/// [`LlamaCpp`](journeyman_llama_cpp::LlamaCpp), or another adapter's ([`Model::new`]).
///
/// Nothing is loaded before [`Builder::open`].
pub fn builder(model: impl Into<Model>) -> Builder {
    Builder {
        model: model.into(),
        environment: None,
        judge: None,
        roles: None,
        library: None,
        recipe: recipe::standard(),
        options: Options::new(SESSION, SEED),
        changes: Vec::new(),
    }
}

/// The parts of a session, before they are opened. [`builder()`] makes one.
///
/// | part | where the host says nothing |
/// | --- | --- |
/// | agent, scorer, prompt format, roles' model | the model, in its own chat template |
/// | environment | none: the host keeps its own loop ([`Journeyman::begin`]) |
/// | judge | the environment's outcome; in a loop of the host's own, what it finishes an attempt with |
/// | roles | the shipped prompts ([`GeneralRoles::shipped`](journeyman::agent::role::GeneralRoles::shipped)) |
/// | library, journal | in memory: they end with the process |
/// | retriever | BM25, in memory, filled from the library when the session needs it |
/// | clock | the system's |
/// | recipe | [`recipe::standard`] |
/// | session's name, seed | `local`, 1 |
///
/// ```
/// use journeyman_local::{builder, journeyman::{ErrorKind, Seed, recipe}};
///
/// # futures::executor::block_on(async {
/// let mut recipe = recipe::standard();
/// recipe.attempts.temperature = -1.0;
/// let parts = builder("model.gguf").library("library").session("shop").seed(Seed(7));
/// // The recipe is checked first: the model is not looked for, and no folder is made.
/// let error = parts.recipe(recipe).open().await.unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Invalid);
/// # });
/// ```
pub struct Builder {
    model: Model,
    environment: Option<Arc<dyn Environment>>,
    judge: Option<Arc<dyn Judge>>,
    roles: Option<Arc<dyn Roles>>,
    library: Option<PathBuf>,
    recipe: Recipe,
    options: Options,
    changes: Vec<Change>,
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("model", &self.model)
            .field("environment", &self.environment)
            .field("judge", &self.judge)
            .field("roles", &self.roles)
            .field("library", &self.library)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl Builder {
    /// The agent's world, in which the model then acts.
    #[must_use]
    pub fn environment(self, environment: impl Environment + 'static) -> Self {
        self.shared_environment(Arc::new(environment))
    }

    /// The same for an environment that the host goes on using, such as one that it closes at the end.
    #[must_use]
    pub fn shared_environment(mut self, environment: Arc<dyn Environment>) -> Self {
        self.environment = Some(environment);
        self
    }

    /// The judgement of results.
    #[must_use]
    pub fn judge(mut self, judge: impl Judge + 'static) -> Self {
        self.judge = Some(Arc::new(judge));
        self
    }

    /// The prompts and parsers of the roles that write, repair and judge skills.
    #[must_use]
    pub fn roles(mut self, roles: impl Roles + 'static) -> Self {
        self.roles = Some(Arc::new(roles));
        self
    }

    /// The folder of the library and of the journal. It is made where there is none, except by a session that only reads. Several
    /// processes can share it: give each program on one library its own [`session`](Self::session).
    #[must_use]
    pub fn library(mut self, folder: impl Into<PathBuf>) -> Self {
        self.library = Some(folder.into());
        self
    }

    /// The recipe.
    #[must_use]
    pub fn recipe(mut self, recipe: Recipe) -> Self {
        self.recipe = recipe;
        self
    }

    /// The session's name ([`Options::session`]): keep one over restarts. Give each program on one library its own: two that write
    /// under one name at the same time conflict.
    #[must_use]
    pub fn session(mut self, name: impl Into<String>) -> Self {
        self.options.session = name.into();
        self
    }

    /// The seed from which all chance is derived.
    #[must_use]
    pub fn seed(mut self, seed: Seed) -> Self {
        self.options.seed = seed;
        self
    }

    /// Changes the other options: `|options| options.read_only()`.
    #[must_use]
    pub fn on_options(mut self, change: impl FnOnce(Options) -> Options) -> Self {
        self.options = change(self.options);
        self
    }

    /// Changes any part, after all others are in place: `|components| components.with_embedder(embedder)`. Changes are made in the
    /// order of the calls.
    #[must_use]
    pub fn on_components(
        mut self,
        change: impl FnOnce(Components) -> Components + Send + 'static,
    ) -> Self {
        self.changes.push(Box::new(change));
        self
    }

    /// Loads the model, opens the library and begins the session. What blocks runs on a thread of its own. Where the future is dropped,
    /// that thread goes on to its end, and its result is discarded.
    ///
    /// A new library is made last: a model that cannot be loaded leaves no folder behind. A session that only reads makes none. The
    /// library removes secrets by the redactor of the session ([`Options::redactor`]).
    ///
    /// # Errors
    /// Those of [`LlamaCpp::load`](journeyman_llama_cpp::LlamaCpp::load), of [`DiskStore::open`] and of [`Journeyman::open`]. Before anything
    /// is loaded: `Invalid` for a recipe with a value out of range, `NotFound` for one that names a policy that is not registered,
    /// and for a session that only reads where there is no library. `Unavailable` where the system starts no thread; `Panicked` where
    /// a part panics while it is opened.
    pub async fn open(self) -> Result<Journeyman> {
        self.recipe.validate()?;
        self.recipe.resolve(&self.options.policies)?;
        let disk = disk_options(&self.options);
        let Self {
            model,
            environment,
            judge,
            roles,
            library,
            recipe,
            options,
            changes,
        } = self;
        let mut components = on_thread(move || opened(model, environment, library, &disk)).await?;
        components.judge = judge.or(components.judge);
        components.roles = roles.or(components.roles);
        let components = changes
            .into_iter()
            .fold(components, |components, change| change(components));
        Journeyman::open(components, recipe, options).await
    }
}

/// The model in its places, the index, and the library, if it is on the disk.
fn opened(
    model: Model,
    environment: Option<Arc<dyn Environment>>,
    library: Option<PathBuf>,
    disk: &DiskOptions,
) -> Result<Components> {
    // A library that is damaged is told before a model is loaded, which may take minutes.
    let known = match &library {
        Some(folder) => existing(folder, disk)?,
        None => None,
    };
    let components = model
        .components(environment)?
        // In memory: an index beside the library would keep a copy of texts that the library erases.
        .with_retriever(Arc::new(Bm25Retriever::new(Config::default())?));
    let store = match (known, library) {
        (None, None) => return Ok(components),
        (Some(store), _) => store,
        (None, Some(folder)) => DiskStore::open(folder, disk)?,
    };
    let store = Arc::new(store);
    Ok(components.with_store(store.clone()).with_journal(store))
}

/// How a session with these options opens its library.
fn disk_options(options: &Options) -> DiskOptions {
    let mut disk = DiskOptions::default();
    disk.redactor = options.redactor.clone();
    disk.create = !options.read_only;
    disk
}

/// The library of a folder; `None` where there is none and one is to be made. One whose creation was interrupted is an empty file,
/// which is opened as a new library.
fn existing(folder: &Path, disk: &DiskOptions) -> Result<Option<DiskStore>> {
    let is_there = folder.join("library.db").is_file();
    match is_there || !disk.create {
        true => DiskStore::open(folder, disk).map(Some),
        false => Ok(None),
    }
}

/// Runs blocking work on a thread and awaits it: the host's runtime may have one thread alone.
async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let (sender, receiver) = oneshot::channel();
    let thread = thread::Builder::new().name("journeyman open".to_owned());
    let spawned = thread.spawn(move || {
        // Sending fails where the caller has given up; the result is then discarded.
        let _ = sender.send(work());
    });
    spawned.map_err(|source| {
        Error::new(ErrorKind::Unavailable, OPEN, "no thread could be had")
            .temporary()
            .hint("try again when the system has fewer threads, or raise its limit")
            .source_from(source)
    })?;
    receiver.await.map_err(|_| {
        Error::new(ErrorKind::Panicked, OPEN, "a part panicked while it was opened")
            .hint("the panic's message is on standard error; open the parts one by one to see which it was")
    })?
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use journeyman::text::Redactor;

    use super::*;

    #[test]
    fn the_library_has_the_redactor_of_the_session() {
        let mut options = Options::new(SESSION, SEED);
        options.redactor = Redactor::new(["the-blue-door".to_owned()]).unwrap();
        let disk = disk_options(&options);
        assert!(!disk.redactor.redact("the-blue-door").contains("blue"));
        assert!(disk.create && !disk_options(&options.read_only()).create);
    }
}
