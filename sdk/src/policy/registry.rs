//! Policies of a host's own: what they implement, and how a recipe names them.

use std::{collections::BTreeMap, fmt, sync::Arc};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Ask, View};
use crate::{
    domain::{LibraryChange, Selection, TurnQuery},
    error::{Error, ErrorKind, Result},
};

/// Chooses the skills for a query: a selector of a host's own
/// ([`Selector::Own`](crate::select::Selector::Own)).
///
/// # Behaviour
/// - *repeats*: the same view, query and answers give the same questions and the same choice. A resumed run runs the policy again
///   over the answers that it had, and refuses it with the place where it asks something else. Randomness is derived from
///   [`View::seed`].
/// - *offered*: it chooses only skills of [`View::offered`]; another choice is refused, and nothing is injected.
/// - *errors*: after an error nothing is injected and the task goes on; at a later turn the skills of the turn before stay. A
///   panic, and asking without end, fail the whole task.
/// - *once*: it chooses once for all attempts at a task, or once for each turn
///   ([`SelectPer::Turn`](crate::select::SelectPer::Turn)).
#[async_trait]
pub trait SelectProgram: fmt::Debug + Send + Sync {
    /// Chooses.
    ///
    /// # Errors
    /// What it says is told in the selection's reason.
    async fn select(&self, ask: &mut Ask, view: &View, query: &TurnQuery) -> Result<Selection>;
}

/// Looks after the library between tasks: a maintenance program of a host's own
/// ([`Recipe::programs`](crate::recipe::Recipe::programs)).
///
/// # Behaviour
/// - *repeats*: the same view and answers give the same questions and the same changes.
/// - *whole*: all its changes are one commit, made when it returns; without changes there is no commit. It may add, revise, merge,
///   restore, roll back and release skills, set their states, add to their bundles, and set rules.
/// - *errors*: after an error, a panic, or a change that breaks a rule, nothing of the program is committed, the run goes on,
///   and an event has the reason ([`EventKind::MaintenanceFailed`](crate::report::EventKind::MaintenanceFailed)).
#[async_trait]
pub trait MaintenanceProgram: fmt::Debug + Send + Sync {
    /// Decides on changes.
    ///
    /// # Errors
    /// Why it cannot.
    async fn maintain(&self, ask: &mut Ask, view: &View) -> Result<Vec<LibraryChange>>;
}

/// A policy of a host's own, as a recipe names it. A journal holds the recipe, so a run that is resumed has the same policy
/// with the same parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OwnPolicy {
    /// The name under which the host registered it.
    pub name: String,
    /// What it is made with. It is kept in the journal as it is: no secrets.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub parameters: Value,
}

impl OwnPolicy {
    /// A policy without parameters.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            parameters: Value::Null,
        }
    }

    /// With these parameters.
    #[must_use]
    pub fn with_parameters(mut self, parameters: Value) -> Self {
        self.parameters = parameters;
        self
    }
}

type Make<T> = Arc<dyn Fn(&Value) -> Result<Arc<T>> + Send + Sync>;

/// The policies of a host's own, by name. A recipe that names one that is not among them is refused when the session opens.
#[derive(Clone, Default)]
pub struct Policies {
    selectors: BTreeMap<String, Make<dyn SelectProgram>>,
    programs: BTreeMap<String, Make<dyn MaintenanceProgram>>,
}

impl Policies {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// With a selector, made from the parameters that the recipe gives.
    #[must_use]
    pub fn with_selector(
        mut self,
        name: impl Into<String>,
        make: impl Fn(&Value) -> Result<Arc<dyn SelectProgram>> + Send + Sync + 'static,
    ) -> Self {
        self.selectors.insert(name.into(), Arc::new(make));
        self
    }

    /// With a maintenance program, made from the parameters that the recipe gives.
    #[must_use]
    pub fn with_program(
        mut self,
        name: impl Into<String>,
        make: impl Fn(&Value) -> Result<Arc<dyn MaintenanceProgram>> + Send + Sync + 'static,
    ) -> Self {
        self.programs.insert(name.into(), Arc::new(make));
        self
    }

    /// The selector that a recipe names.
    ///
    /// # Errors
    /// `NotFound`, listing those that are known; what its making gives.
    pub fn selector(&self, own: &OwnPolicy) -> Result<Arc<dyn SelectProgram>> {
        make(&self.selectors, "selector", own)
    }

    /// The maintenance program that a recipe names.
    ///
    /// # Errors
    /// `NotFound`, listing those that are known; what its making gives.
    pub fn program(&self, own: &OwnPolicy) -> Result<Arc<dyn MaintenanceProgram>> {
        make(&self.programs, "maintenance program", own)
    }
}

fn make<T: ?Sized>(
    known: &BTreeMap<String, Make<T>>,
    what: &str,
    own: &OwnPolicy,
) -> Result<Arc<T>> {
    let Some(make) = known.get(&own.name) else {
        let names: Vec<&str> = known.keys().map(String::as_str).collect();
        let names = match names.is_empty() {
            true => "none is registered".to_owned(),
            false => format!("registered are: {}", names.join(", ")),
        };
        return Err(Error::new(
            ErrorKind::NotFound,
            "Policies",
            format!("the recipe names a {what} that nobody registered; {names}"),
        )
        .with("name", &own.name)
        .hint("register it in `Options::policies`"));
    };
    make(&own.parameters)
}

/// By the names that are registered.
impl fmt::Debug for Policies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policies")
            .field("selectors", &self.selectors.keys())
            .field("programs", &self.programs.keys())
            .finish()
    }
}

/// By the names that are registered.
impl PartialEq for Policies {
    fn eq(&self, other: &Self) -> bool {
        self.selectors.keys().eq(other.selectors.keys())
            && self.programs.keys().eq(other.programs.keys())
    }
}

impl Eq for Policies {}
