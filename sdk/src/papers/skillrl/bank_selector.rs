//! Selection from a bank of general and category skills (SkillRL 3.2, Eq. 4; row R3), with its options.

use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZeroUsize,
};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{
    domain::{
        Candidate, Decision, FittedThreshold, NothingReason, Query, Scope, Selection, Skill,
        SkillRef, TurnQuery,
        gate_policy::{GatePolicy, SelectorGate},
        retrieval::Candidates,
    },
    error::{Error, Result},
    id::SkillId,
    library::Entry,
    policy::{Ask, Context, PolicyOptions, SelectProgram, View, view::Selected},
    run::report::EventKind,
    stations::{
        retrieve::view_text,
        select::gate::{Gated, gated, in_force, meaningful, unscored},
    },
};

/// How skills are chosen from a bank: general skills ([`Scope::General`](crate::domain::Scope)) always, and of the skills of the
/// task's category those that are similar enough to the task, at most [`limit`](Self::limit) (SkillRL Eq. 4; row R3). A task of a
/// category that the bank does not know gets the general skills alone.
///
/// The similarity is the cosine of the embeddings of the query and of the skill's view
/// ([`view_text`](crate::stations::retrieve::view_text)), in [-1, 1]. Without an embedder, or where it fails, it is the retriever's score
/// divided by the greatest score among the category's skills, in [0, 1]: the best skill that the retriever finds then always has
/// similarity 1, so the threshold only compares skills with each other. A skill that the retriever does not find is left out.
/// Without a retriever too, nothing is compared, and each skill of the category has similarity 1.
///
/// It is the selector `bank`. General skills stand first in the prompt, by id; then the category's, the most similar first. A token budget
/// ([`SelectPolicy::skill_tokens`](crate::stations::select::SelectPolicy::skill_tokens)) therefore leaves out the least similar first.
///
/// ```
/// use journeyman::{recipe, papers::skillrl::{BankGate, BankSelector}, stations::select::GatePolicy};
///
/// let mut recipe = recipe::skillrl();
/// let mut gate = BankGate::new(GatePolicy::default());
/// gate.policy.epsilon = 0.0;
/// gate.exempt_general = true;
/// let mut bank = BankSelector::default();
/// bank.threshold = 0.3;
/// bank.gate = Some(gate);
/// recipe.select.selector = bank.into();
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BankSelector {
    /// Greatest number of skills of the category (K). The paper: 6.
    pub limit: NonZeroUsize,
    /// The similarity that a skill of the category has to exceed (the delta of Eq. 4), in [-1, 1]. The paper publishes no value.
    /// Here 0: with an embedder, a skill that has nothing in common with the task stays out. A host fits it to its embedder.
    pub threshold: f64,
    /// The skills that a task without a category chooses from.
    pub without_category: WithoutCategory,
    /// A gate that the chosen skills have to pass. The paper: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<BankGate>,
}

/// The skills that a task without a category chooses from, beside the general ones.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WithoutCategory {
    /// None: Eq. 4 chooses from the skills of the task's category, and there is none.
    #[default]
    GeneralAlone,
    /// Those of all categories. Ours, for hosts that do not group their tasks.
    AllCategories,
}

/// A gate behind a bank's choice. Ours: the paper has none.
///
/// Each skill is tested by itself: it stays if its probability among the tested skills reaches [`GatePolicy::relative`] and its
/// score exceeds [`GatePolicy::absolute`]. In the absolute test 'nothing' competes with each skill, so it is the one to use for
/// more than one skill. The gate needs a scorer and a prompt format.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BankGate {
    /// The tests. [`GatePolicy::epsilon`] is 0: a bank's choice has no exploration.
    pub policy: GatePolicy,
    /// Whether general skills need not pass: the paper always includes them. Without a value they have to.
    #[serde(default)]
    pub exempt_general: bool,
}

impl BankGate {
    /// These tests, which general skills have to pass as well.
    pub fn new(policy: GatePolicy) -> Self {
        Self {
            policy,
            exempt_general: false,
        }
    }
}

impl Default for BankSelector {
    /// Six skills of the category, no gate.
    fn default() -> Self {
        Self {
            limit: const { NonZeroUsize::new(6).expect("not 0") },
            threshold: 0.0,
            without_category: WithoutCategory::default(),
            gate: None,
        }
    }
}

impl PolicyOptions for BankSelector {
    const NAME: &'static str = "bank";

    fn validate(&self) -> Result<()> {
        let invalid = |field: &'static str, rule: &str| {
            Err(Error::invalid("BankSelector::validate", rule).with("field", field))
        };
        if !(-1.0..=1.0).contains(&self.threshold) {
            return invalid("threshold", "the threshold must be in [-1, 1]");
        }
        let Some(gate) = &self.gate else {
            return Ok(());
        };
        if gate.policy.epsilon != 0.0 {
            return invalid(
                "gate.policy.epsilon",
                "a gate behind a bank does not explore: set epsilon to 0",
            );
        }
        gate.policy.in_range()
    }
}

// Selection from a bank of general and category skills (SkillRL 3.2, Eq. 4; row R3).

#[async_trait]
impl SelectProgram for BankSelector {
    async fn select(&self, ask: &mut Ask, view: &View, query: &TurnQuery) -> Result<Selected> {
        let (looked_at, selection) = select(ask, &view.context(), self, query).await;
        Ok(Selected::new(looked_at, vec![selection]))
    }

    fn gate(&self) -> Option<SelectorGate<'_>> {
        let gate = self.gate.as_ref()?;
        let mut of = SelectorGate::of(&gate.policy);
        of.own_candidates = Some(self.limit);
        of.exempts_general = gate.exempt_general;
        Some(of)
    }

    fn needs_embeddings(&self) -> bool {
        true
    }

    fn uses_ranking(&self) -> bool {
        false
    }
}

/// Selects the general skills, and the skills of the task's category that are similar to the query (Eq. 4). Returns all skills
/// that were looked at, too.
async fn select(
    ask: &mut Ask,
    context: &Context<'_>,
    bank: &BankSelector,
    query: &TurnQuery,
) -> (Vec<Candidate>, Selection) {
    let general = context.offered().map(|entry| &entry.skill);
    let general: Vec<&Skill> = general.filter(|one| one.scope == Scope::General).collect();
    let of_category: Vec<&Entry> = context
        .offered()
        .filter(|entry| is_of_category(bank, query, &entry.skill.scope))
        .collect();

    let found_by = context.retrieval.candidates;
    let similar = similar(ask, found_by, query, &of_category).await;
    let (similar, failed) = match similar {
        Ok(similar) => (similar, None),
        Err(error) => (Vec::new(), Some(error)),
    };
    if !of_category.is_empty() && failed.is_none() {
        ask.tell(EventKind::Retrieved {
            candidates: similar.clone(),
        });
    }
    let alone = match (&failed, &query.category) {
        (Some(error), _) => Some(format!(
            "the skills of the category could not be compared: {error}"
        )),
        (None, Some(category)) if of_category.is_empty() => {
            Some(format!("no skill of the category {category} is offered"))
        }
        _ => None,
    };
    if let Some(reason) = alone {
        ask.tell(EventKind::GeneralAlone { reason });
    }
    let above = similar.iter().filter(|one| one.score > bank.threshold);
    let retrieved: Vec<&Candidate> = above.take(bank.limit.get()).collect();

    let candidates = candidates(&general, &similar);
    let chosen: Vec<SkillRef> = (general.iter().map(|skill| skill.reference()))
        .chain(retrieved.iter().map(|one| one.skill.clone()))
        .collect();
    let selection = match (chosen.is_empty(), failed) {
        (true, Some(error)) => {
            Selection::nothing(NothingReason::RetrieverUnavailable(error.to_string()))
        }
        (true, None) => Selection::nothing(NothingReason::NoCandidates),
        (false, failed) => {
            let failed = failed.map(|error| NothingReason::RetrieverUnavailable(error.to_string()));
            let passed = passed(ask, context, bank, (query, chosen)).await;
            Selection {
                failed: passed.failed.clone().or(failed),
                ..passed
            }
        }
    };
    (candidates, selection)
}

/// Whether a skill of this scope may be chosen as one of the task's category.
fn is_of_category(bank: &BankSelector, query: &TurnQuery, scope: &Scope) -> bool {
    match (scope, &query.category) {
        (Scope::Category(of_skill), Some(of_task)) => of_skill == of_task,
        (Scope::Category(_), None) => bank.without_category == WithoutCategory::AllCategories,
        _ => false,
    }
}

/// The skills with their similarity to the query, the most similar first, of equal ones the smaller id first.
///
/// # Errors
/// The retriever's error where it has to be asked.
async fn similar(
    ask: &mut Ask,
    found_by: Candidates,
    query: &TurnQuery,
    skills: &[&Entry],
) -> Result<Vec<Candidate>> {
    if skills.is_empty() {
        return Ok(Vec::new());
    }
    let found = match found_by {
        Candidates::Cache => None,
        Candidates::Search { limit } => Some(search(ask, query, skills, limit.get()).await?),
    };
    let ids: BTreeSet<&SkillId> = found.iter().flatten().map(|one| &one.skill.id).collect();
    let is_found = |entry: &&&Entry| ids.contains(&entry.skill.id);
    let compared: Vec<&&Entry> = match &found {
        None => skills.iter().collect(),
        Some(_) => skills.iter().filter(is_found).collect(),
    };
    let views = compared.iter().map(|entry| view_text(&entry.skill));
    let texts: Vec<String> = std::iter::once(query.text.clone()).chain(views).collect();
    let embeddings = match compared.is_empty() {
        true => None,
        false => ask.embed(texts).await,
    };
    let mut similar: Vec<Candidate> = match embeddings.as_deref() {
        Some([of_query, of_skills @ ..]) if of_skills.len() == compared.len() => {
            let pairs = compared.iter().zip(of_skills);
            let pairs = pairs.map(|(entry, embedding)| Candidate {
                skill: entry.skill.reference(),
                score: of_query.cosine(embedding),
            });
            pairs.collect()
        }
        _ => {
            let found = match found {
                Some(found) => found,
                None => search(ask, query, skills, skills.len()).await?,
            };
            shares_of_best(found)
        }
    };
    similar.sort_by(|a, b| {
        let by_score = b.score.total_cmp(&a.score);
        by_score.then_with(|| a.skill.cmp(&b.skill))
    });
    Ok(similar)
}

/// The retriever's candidates among these skills, in the library's versions, each once.
async fn search(
    ask: &mut Ask,
    query: &TurnQuery,
    skills: &[&Entry],
    limit: usize,
) -> Result<Vec<Candidate>> {
    let ids = skills.iter().map(|entry| entry.skill.id.clone());
    let found = ask.retrieve(Query {
        text: query.text.clone(),
        limit,
        among: Some(ids.collect()),
    });
    let by_id: BTreeMap<&SkillId, &Entry> = skills
        .iter()
        .map(|entry| (&entry.skill.id, *entry))
        .collect();
    let mut known = BTreeSet::new();
    let current = |one: Candidate| {
        let skill = by_id.get(&one.skill.id)?.skill.reference();
        let is_new = known.insert(skill.clone());
        is_new.then_some(Candidate { skill, ..one })
    };
    Ok(found.await?.into_iter().filter_map(current).collect())
}

/// Each score as a share of the greatest one; negative scores count as 0. Where none is positive, as without a retriever, the
/// skills were not compared, and each counts as the best.
fn shares_of_best(found: Vec<Candidate>) -> Vec<Candidate> {
    let best = found.iter().map(|one| one.score).fold(0.0, f64::max);
    let share = |one: Candidate| Candidate {
        score: match best > 0.0 {
            true => one.score.max(0.0) / best,
            false => 1.0,
        },
        ..one
    };
    found.into_iter().map(share).collect()
}

/// The general skills and the compared ones, as candidates.
fn candidates(general: &[&Skill], similar: &[Candidate]) -> Vec<Candidate> {
    let general = general.iter().map(|skill| Candidate {
        skill: skill.reference(),
        score: 0.0,
    });
    general.chain(similar.iter().cloned()).collect()
}

/// The test of each skill by itself, by the gate that is in force.
///
/// # Errors
/// The reason why nothing may be injected: the skills were not scored.
async fn test_each(
    ask: &mut Ask,
    (policy, fitted): (&GatePolicy, Option<&FittedThreshold>),
    (query, skills): (&TurnQuery, Vec<Skill>),
) -> Result<Gated, NothingReason> {
    let scores = ask.score_for_gate(query.text.clone(), skills, policy).await;
    let gated = scores.and_then(|scores| gated(policy, &meaningful(scores, policy, fitted)));
    gated.map_err(|error| unscored(&error))
}

/// The chosen skills that pass the bank's gate, if it has one.
async fn passed(
    ask: &mut Ask,
    context: &Context<'_>,
    bank: &BankSelector,
    (query, chosen): (&TurnQuery, Vec<SkillRef>),
) -> Selection {
    let inject = |skills| Decision::Inject {
        skills,
        explored: false,
    };
    let (Some(gate), Some(decides)) = (&bank.gate, bank.gate()) else {
        return Selection::unscored(inject(chosen));
    };
    let skill = |one: &SkillRef| context.library.get(&one.id).map(|entry| &entry.skill);
    let is_exempt = |one: &SkillRef| {
        gate.exempt_general && skill(one).is_some_and(|skill| skill.scope == Scope::General)
    };
    let tested = chosen.iter().filter(|one| !is_exempt(one));
    let tested: Vec<Skill> = tested.filter_map(skill).cloned().collect();
    let mut result = Ok(Gated::default());
    let (mut score, mut by) = (gate.policy.score, None);
    if !tested.is_empty() {
        let general = tested.iter().filter(|skill| skill.scope == Scope::General);
        let on = context.retrieval.decided_on(&decides, general.count());
        result = match in_force(ask, &gate.policy, on).await {
            Ok((policy, fitted)) => {
                (score, by) = (policy.score, fitted);
                test_each(ask, (&policy, by.as_ref()), (query, tested)).await
            }
            Err(reason) => Err(reason),
        };
    }
    let (
        Gated {
            scored,
            passing,
            refusal,
        },
        failed,
    ) = match result {
        Ok(gated) => (gated, None),
        Err(reason) => (Gated::default(), Some(reason)),
    };
    let passing: BTreeSet<SkillRef> = passing.into_iter().collect();
    let stays = |one: &SkillRef| is_exempt(one) || passing.contains(one);
    let skills: Vec<SkillRef> = chosen.into_iter().filter(stays).collect();
    // Missing or invalid scores cost the injection, not the task (F13).
    let (decision, failed) = match (skills.is_empty(), failed, refusal) {
        (false, failed, _) => (inject(skills), failed),
        (true, Some(failed), _) => (Decision::Nothing(failed), None),
        (true, None, Some(reason)) => (Decision::Nothing(reason), None),
        (true, None, None) => (Decision::Nothing(NothingReason::NotKnown), None),
    };
    if let Some(failed) = &failed {
        tracing::warn!(%failed, "skills could not be scored: the general ones stand alone");
    }
    Selection {
        decision,
        score: Some(score),
        fitted: by,
        candidates: scored,
        failed,
        held_back: Vec::new(),
        quarantined: Vec::new(),
        withheld: None,
    }
}
