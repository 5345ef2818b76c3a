//! The options of selection: candidates, ranking, selector, frequency, token budget.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::{
    domain::{
        DecidedOn, Withhold,
        gate_policy::GatePolicy,
        retrieval::{Candidates, RankWeights, Retrieval, SelectPer},
    },
    error::{Error, Result},
    policy::{Policy, PolicyOptions, SelectProgram},
    stations::select::baselines::{First, Nothing, Random, Top},
};

/// How skills are found for a query and chosen. Each recipe has one, which a host changes.
///
/// ```
/// use std::num::NonZeroUsize;
///
/// use journeyman::{
///     recipe,
///     stations::retrieve::RankWeights,
///     stations::select::{Candidates, SelectPer, Top},
/// };
///
/// let mut recipe = recipe::standard();
/// recipe.select.candidates = Candidates::Search { limit: NonZeroUsize::new(20).unwrap() };
/// recipe.select.rank = Some(RankWeights::default());
/// recipe.select.selector = Top::new(NonZeroUsize::MIN).into();
/// recipe.select.per = SelectPer::Turn;
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelectPolicy {
    /// Which skills are candidates.
    pub candidates: Candidates,
    /// Weights by which the retriever's candidates are ranked again: meaning, tools and trust beside words (HiSME Eq. 20).
    /// `None` keeps the retriever's ranking.
    #[serde(default)]
    pub rank: Option<RankWeights>,
    /// Chooses the skills that are injected, if any: one of ours, or one that the host registered
    /// ([`SelectProgram`]).
    pub selector: Policy,
    /// How often skills are selected.
    pub per: SelectPer,
    /// Token budget for the texts of all injected skills of a prompt, by the host's tokenizer; a skill that does
    /// not fit whole is left out. `None` sets no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill_tokens: Option<NonZeroUsize>,
    /// The share of tasks in learning that go without what was chosen for them, by chance, so that
    /// [`Journeyman::lift`](crate::run::Journeyman::lift) can say what each skill brings. `None`, the default of every recipe,
    /// withholds nothing and costs nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withhold: Option<Withhold>,
}

impl SelectPolicy {
    /// How candidates are found and ranked, and how often skills are selected.
    pub(crate) fn retrieval(&self) -> Retrieval {
        Retrieval {
            candidates: self.candidates,
            rank: self.rank,
            per: self.per,
        }
    }

    /// Checks every number, and that the selector is one of ours that goes with the ranking, or has another name.
    ///
    /// # Errors
    /// `Invalid`, naming the field.
    pub fn validate(&self) -> Result<()> {
        if let Some(weights) = &self.rank {
            weights.validate()?;
        }
        if let Some(withhold) = &self.withhold {
            withhold.validate()?;
        }
        // A host's own is checked where it is built.
        self.check_ours::<GatePolicy>()?;
        self.check_ours::<First>()?;
        self.check_ours::<Top>()?;
        self.check_ours::<Random>()?;
        self.check_ours::<Nothing>()
    }

    fn check_ours<S: PolicyOptions + SelectProgram>(&self) -> Result<()> {
        self.selector.check::<S>()?;
        match self.selector.read::<S>()? {
            Some(selector) => self.check(&selector),
            None => Ok(()),
        }
    }

    /// Checks that a selector goes with the way in which candidates are found.
    ///
    /// # Errors
    /// `Invalid`, naming the field.
    pub(crate) fn check(&self, selector: &dyn SelectProgram) -> Result<()> {
        let gate = selector.gate().filter(|gate| gate.policy.found.is_some());
        let on = gate.map(|gate| self.retrieval().decided_on(&gate, 0));
        if on.is_some_and(|on| !matches!(on, DecidedOn::First { .. })) {
            let message =
                "the gate's threshold counts the score of a search, and the recipe decides by more";
            return Err(Error::invalid("SelectPolicy::validate", message)
                .hint("leave out `rank`, the bank, the cache and the relative test, or fit the threshold to one score alone (`journeyman model calibrate --score`)"));
        }
        if self.rank.is_some() && !selector.uses_ranking() {
            return Err(Error::invalid(
                "SelectPolicy::validate",
                "the selector compares skills by itself, and has no ranking by weights",
            )
            .with("field", "rank")
            .with("selector", &self.selector.name)
            .hint("set `SelectPolicy::rank` to `None`"));
        }
        Ok(())
    }
}
