//! The registry of policies, ours and a host's own, by the names that recipes use.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use async_trait::async_trait;
use serde_json::Value;

use crate::{
    domain::TurnQuery,
    error::{Error, ErrorKind, Result},
    policy::{
        Ask, View,
        named::{Policy, ScheduledProgram},
        standing::Standing,
        traits::{
            AdmitRule, AssessProgram, CreditRule, GroupAttempt, JudgedAttempt, MaintenanceProgram,
            RewardRule, SelectProgram, SkillCredit, WriteGroup, WriteProgram, Written,
        },
        view::Selected,
    },
};

type Make<T> = Arc<dyn Fn(&Value) -> Result<Arc<T>> + Send + Sync>;

/// A registry of policies, by name: a host registers its own, and a session adds ours. `Journeyman::open` refuses a recipe that
/// names a policy that is not registered, and a registry that has two policies of one kind and name.
///
/// ```
/// use std::sync::Arc;
/// use journeyman::{
///     Error, Result,
///     domain::Skill,
///     library::SkillLibrary,
///     policy::{AdmitRule, Policies, Policy, RewardRule, JudgedAttempt},
///     recipe,
/// };
/// use serde_json::json;
///
/// /// Rewards success, minus a price for each step.
/// #[derive(Debug)]
/// struct Priced(f64);
///
/// impl RewardRule for Priced {
///     fn reward(&self, attempt: &JudgedAttempt<'_>) -> Result<Option<f64>> {
///         let done = f64::from(u8::from(attempt.verdict.success() == Some(true)));
///         Ok(Some(done - self.0 * f64::from(attempt.report.steps)))
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
///     .with_reward("priced", |options| Ok(Arc::new(Priced(options["step"].as_f64().unwrap_or(0.0)))))
///     .with_admission("short", |_| Ok(Arc::new(Short)));
/// let mut recipe = recipe::standard();
/// recipe.reward.by = Policy::new("priced").with_options(json!({ "step": 0.01 }));
/// recipe.admit.rules = vec![Policy::new("short")];
/// recipe.resolve(&policies)?;
/// assert!(recipe.resolve(&Policies::new()).is_err());
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Policies {
    selectors: BTreeMap<String, Make<dyn SelectProgram>>,
    programs: BTreeMap<String, Make<dyn MaintenanceProgram>>,
    writers: BTreeMap<String, Make<dyn WriteProgram>>,
    assessors: BTreeMap<String, Make<dyn AssessProgram>>,
    rewards: BTreeMap<String, Make<dyn RewardRule>>,
    credits: BTreeMap<String, Make<dyn CreditRule>>,
    admissions: BTreeMap<String, Make<dyn AdmitRule>>,
    /// Names that were registered a second time, each with what it names.
    twice: BTreeSet<(&'static str, String)>,
    /// Whether a policy may take the place of one of its name.
    replaces: bool,
    /// Whether it has our policies.
    has_ours: bool,
}

const SELECTOR: &str = "selector";
pub(crate) const PROGRAM: &str = "maintenance program";
const WRITER: &str = "writer";
pub(crate) const ASSESSOR: &str = "assessor";
const REWARD: &str = "reward rule";
const CREDIT: &str = "credit rule";
const ADMISSION: &str = "admission rule";

impl Policies {
    /// An empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// The registry with our policies beside those of the host.
    ///
    /// # Errors
    /// `Invalid` where two policies of one kind have the same name.
    pub(crate) fn joined_with(&self, ours: impl FnOnce() -> Self) -> Result<Self> {
        let mut all = self.clone();
        if !all.has_ours {
            // Ours take nobody's place.
            all.replaces = false;
            let Self {
                selectors,
                programs,
                writers,
                assessors,
                rewards,
                credits,
                admissions,
                ..
            } = ours();
            all.insert_all(SELECTOR, selectors, |all| &mut all.selectors);
            all.insert_all(PROGRAM, programs, |all| &mut all.programs);
            all.insert_all(WRITER, writers, |all| &mut all.writers);
            all.insert_all(ASSESSOR, assessors, |all| &mut all.assessors);
            all.insert_all(REWARD, rewards, |all| &mut all.rewards);
            all.insert_all(CREDIT, credits, |all| &mut all.credits);
            all.insert_all(ADMISSION, admissions, |all| &mut all.admissions);
            all.has_ours = true;
        }
        match all.twice.first() {
            None => Ok(all),
            Some((what, name)) => Err(Error::invalid(
                "Policies",
                format!("two policies are registered as the {what} of this name"),
            )
            .with("name", name)
            .hint("give yours another name in `Options::policies`")),
        }
    }

    /// The registry, in which a policy takes the place of one of its name.
    #[cfg(feature = "conformance")]
    pub(crate) fn replacing(mut self) -> Self {
        self.replaces = true;
        self
    }

    fn insert<T: ?Sized>(
        &mut self,
        what: &'static str,
        name: String,
        make: Make<T>,
        of: impl Fn(&mut Self) -> &mut BTreeMap<String, Make<T>>,
    ) {
        if of(self).insert(name.clone(), make).is_some() && !self.replaces {
            self.twice.insert((what, name));
        }
    }

    fn insert_all<T: ?Sized>(
        &mut self,
        what: &'static str,
        these: BTreeMap<String, Make<T>>,
        of: impl Fn(&mut Self) -> &mut BTreeMap<String, Make<T>>,
    ) {
        for (name, make) in these {
            self.insert(what, name, make, &of);
        }
    }

    /// Registers a selector; `make` builds it from the recipe's options.
    #[must_use]
    pub fn with_selector(
        mut self,
        name: impl Into<String>,
        make: impl Fn(&Value) -> Result<Arc<dyn SelectProgram>> + Send + Sync + 'static,
    ) -> Self {
        self.insert(SELECTOR, name.into(), Arc::new(make), |all| {
            &mut all.selectors
        });
        self
    }

    /// Registers a maintenance program; `make` builds it from the recipe's options.
    #[must_use]
    pub fn with_program(
        mut self,
        name: impl Into<String>,
        make: impl Fn(&Value) -> Result<Arc<dyn MaintenanceProgram>> + Send + Sync + 'static,
    ) -> Self {
        self.insert(PROGRAM, name.into(), Arc::new(make), |all| {
            &mut all.programs
        });
        self
    }

    /// Registers a writer; `make` builds it from the recipe's options.
    #[must_use]
    pub fn with_writer(
        mut self,
        name: impl Into<String>,
        make: impl Fn(&Value) -> Result<Arc<dyn WriteProgram>> + Send + Sync + 'static,
    ) -> Self {
        self.insert(WRITER, name.into(), Arc::new(make), |all| &mut all.writers);
        self
    }

    /// Registers an assessor; `make` builds it from the recipe's options.
    #[must_use]
    pub fn with_assessor(
        mut self,
        name: impl Into<String>,
        make: impl Fn(&Value) -> Result<Arc<dyn AssessProgram>> + Send + Sync + 'static,
    ) -> Self {
        self.insert(ASSESSOR, name.into(), Arc::new(make), |all| {
            &mut all.assessors
        });
        self
    }

    /// Registers a reward rule; `make` builds it from the recipe's options.
    #[must_use]
    pub fn with_reward(
        mut self,
        name: impl Into<String>,
        make: impl Fn(&Value) -> Result<Arc<dyn RewardRule>> + Send + Sync + 'static,
    ) -> Self {
        self.insert(REWARD, name.into(), Arc::new(make), |all| &mut all.rewards);
        self
    }

    /// Registers a credit rule; `make` builds it from the recipe's options.
    #[must_use]
    pub fn with_credit(
        mut self,
        name: impl Into<String>,
        make: impl Fn(&Value) -> Result<Arc<dyn CreditRule>> + Send + Sync + 'static,
    ) -> Self {
        self.insert(CREDIT, name.into(), Arc::new(make), |all| &mut all.credits);
        self
    }

    /// Registers an admission rule; `make` builds it from the recipe's options.
    #[must_use]
    pub fn with_admission(
        mut self,
        name: impl Into<String>,
        make: impl Fn(&Value) -> Result<Arc<dyn AdmitRule>> + Send + Sync + 'static,
    ) -> Self {
        self.insert(ADMISSION, name.into(), Arc::new(make), |all| {
            &mut all.admissions
        });
        self
    }

    /// Builds the selector that a recipe names.
    ///
    /// # Errors
    /// `NotFound`, with the registered names, for an unregistered name; the error of the registered `make` function, `Panicked`
    /// where that panics.
    pub fn selector(&self, policy: &Policy) -> Result<Arc<dyn SelectProgram>> {
        let made = make(&self.selectors, SELECTOR, policy)?;
        contained(SELECTOR, policy, || {
            let by_itself = (made.never_selects(), made.needs_embeddings());
            (made.gate().is_some(), made.uses_ranking(), by_itself)
        })?;
        Ok(made)
    }

    /// Builds the maintenance program that a recipe names.
    ///
    /// # Errors
    /// As [`selector`](Self::selector).
    pub fn program(&self, policy: &Policy) -> Result<Arc<dyn MaintenanceProgram>> {
        let made = make(&self.programs, PROGRAM, policy)?;
        contained(PROGRAM, policy, || {
            let does = (made.records(), made.writes());
            (does, made.roles().len(), made.reason().len())
        })?;
        Ok(made)
    }

    /// Builds the writer that a recipe names.
    ///
    /// # Errors
    /// As [`selector`](Self::selector).
    pub fn writer(&self, policy: &Policy) -> Result<Arc<dyn WriteProgram>> {
        let made = make(&self.writers, WRITER, policy)?;
        contained(WRITER, policy, || {
            let sources = (made.takes_failures(), made.takes_undecided());
            (made.roles().len(), sources, made.most_attempts())
        })?;
        Ok(made)
    }

    /// Builds the assessor that a recipe names.
    ///
    /// # Errors
    /// As [`selector`](Self::selector).
    pub fn assessor(&self, policy: &Policy) -> Result<Arc<dyn AssessProgram>> {
        let made = make(&self.assessors, ASSESSOR, policy)?;
        contained(ASSESSOR, policy, || {
            (made.roles().len(), made.needs_embeddings())
        })?;
        Ok(made)
    }

    /// Builds the reward rule that a recipe names.
    ///
    /// # Errors
    /// As [`selector`](Self::selector).
    pub fn reward(&self, policy: &Policy) -> Result<Arc<dyn RewardRule>> {
        let made = make(&self.rewards, REWARD, policy)?;
        contained(REWARD, policy, || made.needs_assessment())?;
        Ok(made)
    }

    /// Builds the credit rule that a recipe names.
    ///
    /// # Errors
    /// As [`selector`](Self::selector).
    pub fn credit(&self, policy: &Policy) -> Result<Arc<dyn CreditRule>> {
        make(&self.credits, CREDIT, policy)
    }

    /// Builds the admission rule that a recipe names.
    ///
    /// # Errors
    /// As [`selector`](Self::selector).
    pub fn admission(&self, policy: &Policy) -> Result<Arc<dyn AdmitRule>> {
        make(&self.admissions, ADMISSION, policy)
    }
}

fn make<T: ?Sized>(
    known: &BTreeMap<String, Make<T>>,
    what: &str,
    policy: &Policy,
) -> Result<Arc<T>> {
    policy.usable()?;
    let Some(make) = known.get(&policy.name) else {
        let names: Vec<&str> = known.keys().map(String::as_str).collect();
        let names = match names.is_empty() {
            true => "none is registered".to_owned(),
            false => format!("registered are: {}", names.join(", ")),
        };
        return Err(Error::not_found(
            "Policies",
            format!("the recipe names a {what} that is not registered; {names}"),
        )
        .with("name", &policy.name)
        .hint(
            "register it in `Options::policies`; those of a paper are there with its feature of `journeyman`, or with `papers`",
        ));
    };
    contained(what, policy, || make(&policy.options))?
}

/// Calls a function of a policy outside of a program. What a policy says of itself is asked once when it is built, so that a panic
/// there refuses the recipe.
///
/// # Errors
/// `Panicked`, with the panic's message.
pub(crate) fn contained<T>(what: &str, policy: &Policy, call: impl FnOnce() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied());
        let text = text.unwrap_or("without a message");
        let message = format!("the {what} panicked: {text}");
        Error::new(ErrorKind::Panicked, "Policies", message).with("name", &policy.name)
    })
}

/// Shows the registered names.
impl fmt::Debug for Policies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policies")
            .field("selectors", &self.selectors.keys())
            .field("programs", &self.programs.keys())
            .field("writers", &self.writers.keys())
            .field("assessors", &self.assessors.keys())
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
            && self.assessors.keys().eq(other.assessors.keys())
            && self.rewards.keys().eq(other.rewards.keys())
            && self.credits.keys().eq(other.credits.keys())
            && self.admissions.keys().eq(other.admissions.keys())
    }
}

impl Eq for Policies {}

/// The policies that a recipe names, ours and the host's, built from their options
/// ([`Recipe::resolve`](crate::recipe::Recipe::resolve)).
///
/// ```
/// use journeyman::{
///     policy::{Policies, Policy},
///     recipe,
/// };
///
/// let mut recipe = recipe::standard();
/// recipe.resolve(&Policies::new())?;
/// recipe.select.selector = Policy::new("mine");
/// let refused = recipe.resolve(&Policies::new()).expect_err("nobody registered it");
/// assert!(refused.to_string().contains("mine"));
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ResolvedPolicies {
    pub(crate) selector: Arc<dyn SelectProgram>,
    pub(crate) writer: Arc<dyn WriteProgram>,
    /// The assessor, where the recipe names one.
    pub(crate) assessor: Option<Arc<dyn AssessProgram>>,
    pub(crate) reward: Arc<dyn RewardRule>,
    pub(crate) credit: Arc<dyn CreditRule>,
    /// All are asked, in this order.
    pub(crate) admission: Vec<Arc<dyn AdmitRule>>,
    /// The maintenance programs, ours and the host's, in the order in which they run.
    pub(crate) programs: Vec<(ScheduledProgram, Arc<dyn MaintenanceProgram>)>,
    /// What policies read of the recipe beside their own options.
    pub(crate) standing: Arc<Standing>,
}

impl Default for ResolvedPolicies {
    /// Policies that refuse all: those of a run that was read and is not resolved yet.
    fn default() -> Self {
        Self {
            selector: Arc::new(Unresolved),
            writer: Arc::new(Unresolved),
            assessor: None,
            reward: Arc::new(Unresolved),
            credit: Arc::new(Unresolved),
            admission: Vec::new(),
            programs: Vec::new(),
            standing: Arc::default(),
        }
    }
}

/// Two are equal if they schedule the same programs: a recipe names the rest, and what is behind a name cannot be compared.
impl PartialEq for ResolvedPolicies {
    fn eq(&self, other: &Self) -> bool {
        let (own, others) = (self.programs.iter(), other.programs.iter());
        own.map(|(one, _)| one).eq(others.map(|(one, _)| one))
    }
}

/// The policies of a run that is not resolved.
#[derive(Debug)]
struct Unresolved;

fn unresolved<T>() -> Result<T> {
    Err(Error::internal(
        "ResolvedPolicies",
        "the policies of the run are not resolved",
    ))
}

#[async_trait]
impl SelectProgram for Unresolved {
    async fn select(&self, _: &mut Ask, _: &View, _: &TurnQuery) -> Result<Selected> {
        unresolved()
    }
}

#[async_trait]
impl WriteProgram for Unresolved {
    async fn write(&self, _: &mut Ask, _: &View, _: &WriteGroup<'_>) -> Result<Written> {
        unresolved()
    }
}

impl RewardRule for Unresolved {
    fn reward(&self, _: &JudgedAttempt<'_>) -> Result<Option<f64>> {
        unresolved()
    }
}

impl CreditRule for Unresolved {
    fn credits(&self, _: &[GroupAttempt]) -> Result<Vec<SkillCredit>> {
        unresolved()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn none<T: ?Sized>(_: &Value) -> Result<Arc<T>> {
        Err(Error::invalid("test", "it is never made"))
    }

    #[test]
    fn two_policies_of_one_kind_and_name_are_refused_and_of_two_kinds_are_not() {
        let one = || {
            Policies::new()
                .with_selector("mine", none)
                .with_program("mine", none)
                .with_writer("mine", none)
                .with_assessor("mine", none)
                .with_reward("mine", none)
                .with_credit("mine", none)
                .with_admission("mine", none)
        };
        assert!(one().joined_with(Policies::new).is_ok());
        for (twice, what) in [
            (one().with_selector("mine", none), SELECTOR),
            (one().with_program("mine", none), PROGRAM),
            (one().with_writer("mine", none), WRITER),
            (one().with_assessor("mine", none), ASSESSOR),
            (one().with_reward("mine", none), REWARD),
            (one().with_credit("mine", none), CREDIT),
            (one().with_admission("mine", none), ADMISSION),
        ] {
            let error = twice.joined_with(Policies::new).expect_err("refused");
            let text = error.to_string();
            assert!(text.contains(what) && text.contains("mine"), "{text}");
        }
    }

    #[test]
    fn a_make_that_panics_is_an_error_of_every_kind_of_policy() {
        fn panics<T: ?Sized>(options: &Value) -> Result<Arc<T>> {
            panic!("it cannot be made of {options}")
        }
        let all = Policies::new()
            .with_selector("mine", panics)
            .with_program("mine", panics)
            .with_writer("mine", panics)
            .with_assessor("mine", panics)
            .with_reward("mine", panics)
            .with_credit("mine", panics)
            .with_admission("mine", panics);
        let mine = Policy::new("mine").with_options(7);
        for (made, what) in [
            (all.selector(&mine).map(drop), SELECTOR),
            (all.program(&mine).map(drop), PROGRAM),
            (all.writer(&mine).map(drop), WRITER),
            (all.assessor(&mine).map(drop), ASSESSOR),
            (all.reward(&mine).map(drop), REWARD),
            (all.credit(&mine).map(drop), CREDIT),
            (all.admission(&mine).map(drop), ADMISSION),
        ] {
            let error = made.expect_err("it panicked");
            assert_eq!(error.kind(), ErrorKind::Panicked);
            let text = error.to_string();
            let told = text.contains(what) && text.contains("made of 7") && text.contains("mine");
            assert!(told, "{text}");
        }
    }

    #[test]
    fn ours_are_added_once_and_take_nobody_s_place() {
        let ours = || {
            Policies::new()
                .with_selector("gate", none)
                .with_program("micro", none)
        };
        let all = Policies::new().joined_with(ours).unwrap();
        assert_eq!(all.joined_with(ours).unwrap(), all);
        assert_eq!(all, ours());
        let other_kind = Policies::new().with_program("gate", none);
        assert!(other_kind.joined_with(ours).is_ok());
        for (host, name) in [
            (Policies::new().with_selector("gate", none), "gate"),
            (Policies::new().with_program("micro", none), "micro"),
        ] {
            let error = host.joined_with(ours).expect_err("refused");
            assert!(error.to_string().contains(name), "{error}");
        }
    }
}
