//! The registry of a host's own policies, by the names that recipes use.

use std::{collections::BTreeMap, fmt, sync::Arc};

use serde_json::Value;

use super::own::{
    AdmitRule, CreditRule, MaintenanceProgram, OwnPolicy, RewardRule, SelectProgram, WriteProgram,
};
use crate::error::{Error, ErrorKind, Result};

type Make<T> = Arc<dyn Fn(&Value) -> Result<Arc<T>> + Send + Sync>;

/// A registry of a host's own policies, by name. `Journeyman::open` refuses a recipe that names a policy that is not
/// registered.
///
/// ```
/// use std::sync::Arc;
/// use journeyman::{
///     Error, Result,
///     domain::{Skill, Verdict},
///     library::SkillLibrary,
///     policy::{AdmitRule, OwnPolicy, Policies, RewardRule},
///     recipe,
///     report::AttemptReport,
/// };
/// use serde_json::json;
///
/// /// Rewards success, minus a price for each step.
/// #[derive(Debug)]
/// struct Priced(f64);
///
/// impl RewardRule for Priced {
///     fn reward(&self, attempt: &AttemptReport, verdict: &Verdict) -> Result<f64> {
///         let done = f64::from(u8::from(verdict.success() == Some(true)));
///         Ok(done - self.0 * f64::from(attempt.steps))
///     }
/// }
///
/// /// Admits only short skills.
/// #[derive(Debug)]
/// struct Short;
///
/// impl AdmitRule for Short {
///     fn admit(&self, _: &SkillLibrary, skill: &Skill) -> Result<()> {
///         match skill.body.len() <= 2_000 {
///             true => Ok(()),
///             false => Err(Error::invalid("shop", "the skill is too long for our prompts")),
///         }
///     }
/// }
///
/// let policies = Policies::new()
///     .with_reward("priced", |parameters| Ok(Arc::new(Priced(parameters["step"].as_f64().unwrap_or(0.0)))))
///     .with_admission("short", |_| Ok(Arc::new(Short)));
/// let mut recipe = recipe::standard();
/// recipe.reward.own = Some(OwnPolicy::new("priced").with_parameters(json!({ "step": 0.01 })));
/// recipe.admit.own = Some(OwnPolicy::new("short"));
/// recipe.resolve(&policies)?;
/// assert!(recipe.resolve(&Policies::new()).is_err());
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Policies {
    selectors: BTreeMap<String, Make<dyn SelectProgram>>,
    programs: BTreeMap<String, Make<dyn MaintenanceProgram>>,
    writers: BTreeMap<String, Make<dyn WriteProgram>>,
    rewards: BTreeMap<String, Make<dyn RewardRule>>,
    credits: BTreeMap<String, Make<dyn CreditRule>>,
    admissions: BTreeMap<String, Make<dyn AdmitRule>>,
}

impl Policies {
    /// An empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers a selector; `make` builds it from the recipe's parameters.
    #[must_use]
    pub fn with_selector(
        mut self,
        name: impl Into<String>,
        make: impl Fn(&Value) -> Result<Arc<dyn SelectProgram>> + Send + Sync + 'static,
    ) -> Self {
        self.selectors.insert(name.into(), Arc::new(make));
        self
    }

    /// Registers a maintenance program; `make` builds it from the recipe's parameters.
    #[must_use]
    pub fn with_program(
        mut self,
        name: impl Into<String>,
        make: impl Fn(&Value) -> Result<Arc<dyn MaintenanceProgram>> + Send + Sync + 'static,
    ) -> Self {
        self.programs.insert(name.into(), Arc::new(make));
        self
    }

    /// Registers a writer; `make` builds it from the recipe's parameters.
    #[must_use]
    pub fn with_writer(
        mut self,
        name: impl Into<String>,
        make: impl Fn(&Value) -> Result<Arc<dyn WriteProgram>> + Send + Sync + 'static,
    ) -> Self {
        self.writers.insert(name.into(), Arc::new(make));
        self
    }

    /// Registers a reward rule; `make` builds it from the recipe's parameters.
    #[must_use]
    pub fn with_reward(
        mut self,
        name: impl Into<String>,
        make: impl Fn(&Value) -> Result<Arc<dyn RewardRule>> + Send + Sync + 'static,
    ) -> Self {
        self.rewards.insert(name.into(), Arc::new(make));
        self
    }

    /// Registers a credit rule; `make` builds it from the recipe's parameters.
    #[must_use]
    pub fn with_credit(
        mut self,
        name: impl Into<String>,
        make: impl Fn(&Value) -> Result<Arc<dyn CreditRule>> + Send + Sync + 'static,
    ) -> Self {
        self.credits.insert(name.into(), Arc::new(make));
        self
    }

    /// Registers an admission rule; `make` builds it from the recipe's parameters.
    #[must_use]
    pub fn with_admission(
        mut self,
        name: impl Into<String>,
        make: impl Fn(&Value) -> Result<Arc<dyn AdmitRule>> + Send + Sync + 'static,
    ) -> Self {
        self.admissions.insert(name.into(), Arc::new(make));
        self
    }

    /// Builds the selector that a recipe names.
    ///
    /// # Errors
    /// `NotFound`, with the registered names, for an unregistered name; the error of the registered `make` function.
    pub fn selector(&self, own: &OwnPolicy) -> Result<Arc<dyn SelectProgram>> {
        make(&self.selectors, "selector", own)
    }

    /// Builds the maintenance program that a recipe names.
    ///
    /// # Errors
    /// As [`selector`](Self::selector).
    pub fn program(&self, own: &OwnPolicy) -> Result<Arc<dyn MaintenanceProgram>> {
        make(&self.programs, "maintenance program", own)
    }

    /// Builds the writer that a recipe names.
    ///
    /// # Errors
    /// As [`selector`](Self::selector).
    pub fn writer(&self, own: &OwnPolicy) -> Result<Arc<dyn WriteProgram>> {
        make(&self.writers, "writer", own)
    }

    /// Builds the reward rule that a recipe names.
    ///
    /// # Errors
    /// As [`selector`](Self::selector).
    pub fn reward(&self, own: &OwnPolicy) -> Result<Arc<dyn RewardRule>> {
        make(&self.rewards, "reward rule", own)
    }

    /// Builds the credit rule that a recipe names.
    ///
    /// # Errors
    /// As [`selector`](Self::selector).
    pub fn credit(&self, own: &OwnPolicy) -> Result<Arc<dyn CreditRule>> {
        make(&self.credits, "credit rule", own)
    }

    /// Builds the admission rule that a recipe names.
    ///
    /// # Errors
    /// As [`selector`](Self::selector).
    pub fn admission(&self, own: &OwnPolicy) -> Result<Arc<dyn AdmitRule>> {
        make(&self.admissions, "admission rule", own)
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
            format!("the recipe names a {what} that is not registered; {names}"),
        )
        .with("name", &own.name)
        .hint("register it in `Options::policies`"));
    };
    make(&own.parameters)
}

/// Shows the registered names.
impl fmt::Debug for Policies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policies")
            .field("selectors", &self.selectors.keys())
            .field("programs", &self.programs.keys())
            .field("writers", &self.writers.keys())
            .field("rewards", &self.rewards.keys())
            .field("credits", &self.credits.keys())
            .field("admissions", &self.admissions.keys())
            .finish()
    }
}

/// Two registries are equal if they have the same names: the functions behind them cannot be compared.
impl PartialEq for Policies {
    fn eq(&self, other: &Self) -> bool {
        self.selectors.keys().eq(other.selectors.keys())
            && self.programs.keys().eq(other.programs.keys())
            && self.writers.keys().eq(other.writers.keys())
            && self.rewards.keys().eq(other.rewards.keys())
            && self.credits.keys().eq(other.credits.keys())
            && self.admissions.keys().eq(other.admissions.keys())
    }
}

impl Eq for Policies {}
