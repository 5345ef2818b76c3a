//! The policies that a recipe names, built.

use std::sync::Arc;

use async_trait::async_trait;

use super::{
    Ask, View,
    group::{GroupAttempt, JudgedAttempt, SkillCredit, WriteGroup, Written},
    named::ScheduledProgram,
    selected::Selected,
    traits::{AdmitRule, CreditRule, MaintenanceProgram, RewardRule, SelectProgram, WriteProgram},
};
use crate::{
    domain::TurnQuery,
    error::{Error, ErrorKind, Result},
};

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
    pub(crate) reward: Arc<dyn RewardRule>,
    pub(crate) credit: Arc<dyn CreditRule>,
    /// All are asked, in this order.
    pub(crate) admission: Vec<Arc<dyn AdmitRule>>,
    /// The maintenance programs, ours and the host's, in the order in which they run.
    pub(crate) programs: Vec<(ScheduledProgram, Arc<dyn MaintenanceProgram>)>,
}

impl Default for ResolvedPolicies {
    /// Policies that refuse all: those of a run that was read and is not resolved yet.
    fn default() -> Self {
        Self {
            selector: Arc::new(Unresolved),
            writer: Arc::new(Unresolved),
            reward: Arc::new(Unresolved),
            credit: Arc::new(Unresolved),
            admission: Vec::new(),
            programs: Vec::new(),
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
    Err(Error::new(
        ErrorKind::Internal,
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
