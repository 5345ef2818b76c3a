//! Ranks skills by a weighted sum of four scores (HiSME Eq. 20).

use crate::{
    contract::Embedding,
    domain::{Candidate, Scope, Skill, State, TurnQuery, retrieval::RankWeights},
    library::JudgementCounts,
};

/// A skill to be ranked.
#[non_exhaustive]
#[derive(Clone, Copy, Debug)]
pub struct Ranked<'a> {
    /// The skill.
    pub skill: &'a Skill,
    /// The retriever's score. Scores are divided by the greatest one; negative scores count as 0.
    pub sparse: f64,
    /// Embedding of its view ([`view_text`](super::view_text)), where there is one.
    pub embedding: Option<&'a Embedding>,
    /// The judgements of its current version.
    pub judged: JudgementCounts,
}

impl<'a> Ranked<'a> {
    /// A skill with a retriever's score and the judgements of its version.
    pub fn new(skill: &'a Skill, sparse: f64, judged: JudgementCounts) -> Self {
        Self {
            skill,
            sparse,
            embedding: None,
            judged,
        }
    }
}

/// Ranks skills for a query, best first, ties by id. Each of the four parts of the sum is in [0, 1], so with the default
/// weights the score is in [0, 1] too. `embedding` is the query's.
///
/// ```
/// use journeyman::{
///     domain::TurnQuery,
///     library::JudgementCounts,
///     stations::retrieve::{RankWeights, Ranked, rank},
///     testing::sample,
/// };
///
/// let (helps, harms) = (sample::skill("brew"), sample::skill("boil"));
/// let (mut helpful, mut harmful) = (JudgementCounts::default(), JudgementCounts::default());
/// helpful.helpful = 3;
/// harmful.harmful = 3;
/// let with = |skill, judged| Ranked::new(skill, 2.5, judged);
/// let mut query = TurnQuery::default();
/// query.text = "brew coffee".into();
/// let skills = [with(&harms, harmful), with(&helps, helpful)];
/// let ranked = rank(&query, None, &skills, &RankWeights::default());
/// assert_eq!(ranked[0].skill.id, helps.id);
/// ```
pub fn rank(
    query: &TurnQuery,
    embedding: Option<&Embedding>,
    skills: &[Ranked<'_>],
    weights: &RankWeights,
) -> Vec<Candidate> {
    let greatest = skills.iter().map(|one| one.sparse).fold(0.0, f64::max);
    let score = |one: &Ranked<'_>| {
        let sparse = if greatest > 0.0 {
            one.sparse.max(0.0) / greatest
        } else {
            0.0
        };
        let dense = match (embedding, one.embedding) {
            (Some(query), Some(skill)) => query.cosine(skill).max(0.0),
            _ => 0.0,
        };
        weights.sparse * sparse
            + weights.dense * dense
            + weights.tools * fit(query, one.skill)
            + weights.trust * trust(one)
    };
    let mut ranked: Vec<Candidate> = skills
        .iter()
        .map(|one| Candidate {
            skill: one.skill.reference(),
            score: score(one),
        })
        .collect();
    ranked.sort_by(|a, b| {
        let by_score = b.score.total_cmp(&a.score);
        by_score.then_with(|| a.skill.cmp(&b.skill))
    });
    ranked
}

/// The mean of two scores: the share of the skill's tools that are in force, and 1 or 0 for the task's category or another one. A skill or
/// query without tools or category leaves that score out; without both the result is 0.5.
fn fit(query: &TurnQuery, skill: &Skill) -> f64 {
    let needed = &skill.allowed_tools;
    let tools = (!needed.is_empty() && !query.tools.is_empty()).then(|| {
        let there = needed.iter().filter(|tool| query.tools.contains(tool));
        there.count() as f64 / needed.len() as f64
    });
    let domain = match (&skill.scope, &query.category) {
        (Scope::Category(own), Some(asked)) => Some(f64::from(u8::from(own == asked))),
        _ => None,
    };
    match (tools, domain) {
        (Some(tools), Some(domain)) => f64::midpoint(tools, domain),
        (known, other) => known.or(other).unwrap_or(0.5),
    }
}

/// Half for the skill's state (active or not), half for its rate of helpful judgements by Laplace's rule of succession.
fn trust(one: &Ranked<'_>) -> f64 {
    let stands = match one.skill.state {
        State::Active => 0.5,
        _ => 0.0,
    };
    let (helpful, harmful) = (f64::from(one.judged.helpful), f64::from(one.judged.harmful));
    stands + 0.5 * (helpful + 1.0) / (helpful + harmful + 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sample;

    fn query(tools: &[&str]) -> TurnQuery {
        TurnQuery {
            text: "brew coffee".to_owned(),
            tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
            category: None,
        }
    }

    fn skill(name: &str, state: State, tools: &[&str]) -> Skill {
        let mut skill = sample::skill(name);
        skill.state = state;
        skill.allowed_tools = tools.iter().map(|tool| (*tool).to_owned()).collect();
        skill
    }

    /// The order of the skills, by name: each with its score by words and its judgements.
    fn check(query: &TurnQuery, skills: &[(&Skill, f64, (u32, u32))], expect: &[&Skill]) {
        let skills: Vec<Ranked<'_>> = skills
            .iter()
            .map(|(skill, sparse, judged)| Ranked {
                skill,
                sparse: *sparse,
                embedding: None,
                judged: JudgementCounts {
                    helpful: judged.0,
                    harmful: judged.1,
                    ..JudgementCounts::default()
                },
            })
            .collect();
        let ranked = rank(query, None, &skills, &RankWeights::default());
        let found: Vec<_> = ranked.iter().map(|one| &one.skill.id).collect();
        let expect: Vec<_> = expect.iter().map(|skill| &skill.id).collect();
        assert_eq!(found, expect);
        assert!(ranked.iter().all(|one| (0.0..=1.0).contains(&one.score)));
    }

    #[test]
    fn words_then_tools_and_trust_decide() {
        let [a, b] = ["a", "b"].map(|name| skill(name, State::Active, &[]));
        check(
            &query(&[]),
            &[(&a, 1.0, (0, 0)), (&b, 9.0, (0, 0))],
            &[&b, &a],
        );
        check(
            &query(&[]),
            &[(&b, 3.0, (0, 0)), (&a, 3.0, (0, 0))],
            &[&a, &b],
        );
        check(
            &query(&[]),
            &[(&a, 3.0, (0, 3)), (&b, 3.0, (3, 0))],
            &[&b, &a],
        );
        for state in [State::Trial, State::Quarantined] {
            let tried = skill("a", state, &[]);
            check(
                &query(&[]),
                &[(&tried, 3.0, (0, 0)), (&b, 3.0, (0, 0))],
                &[&b, &tried],
            );
        }
        let other = skill("a", State::Active, &["roast"]);
        let fits = skill("b", State::Active, &["brew"]);
        check(
            &query(&["brew"]),
            &[(&other, 3.0, (0, 0)), (&fits, 3.0, (0, 0))],
            &[&fits, &other],
        );
        check(&query(&[]), &[], &[]);
    }

    #[test]
    fn a_skill_of_the_tasks_category_comes_before_one_of_another() {
        let of = |name: &str, category: &str, tools: &[&str]| Skill {
            scope: Scope::Category(category.into()),
            ..skill(name, State::Active, tools)
        };
        let asked = |tools: &[&str]| TurnQuery {
            category: Some("kitchen".into()),
            ..query(tools)
        };
        let (other, own) = (of("a", "garden", &[]), of("b", "kitchen", &[]));
        let general = skill("c", State::Active, &[]);
        let alike = [&other, &own, &general].map(|skill| (skill, 3.0, (0, 0)));
        check(&asked(&[]), &alike, &[&own, &general, &other]);
        // Where the task has none, it says nothing.
        check(&query(&[]), &alike, &[&other, &own, &general]);
        // Tools and category count alike.
        let (tool, neither) = (of("a", "garden", &["brew"]), of("b", "garden", &["dig"]));
        let both = of("c", "kitchen", &["brew"]);
        let alike = [&tool, &neither, &both].map(|skill| (skill, 3.0, (0, 0)));
        check(&asked(&["brew"]), &alike, &[&both, &tool, &neither]);
    }

    #[test]
    fn meaning_counts_where_it_is_known() {
        let [a, b] = ["a", "b"].map(|name| skill(name, State::Active, &[]));
        let embedding = |row: [f32; 2]| Embedding::new(row.to_vec()).unwrap();
        let (same, other) = (embedding([1.0, 0.0]), embedding([0.0, 1.0]));
        let ranked = |skill, embedding| Ranked {
            skill,
            sparse: 1.0,
            embedding: Some(embedding),
            judged: JudgementCounts::default(),
        };
        let skills = [ranked(&a, &other), ranked(&b, &same)];
        let found = rank(&query(&[]), Some(&same), &skills, &RankWeights::default());
        assert_eq!(found[0].skill, b.reference());
    }

    #[test]
    fn weights_are_checked() {
        let zero = RankWeights {
            sparse: 0.0,
            dense: 0.0,
            tools: 0.0,
            trust: 0.0,
        };
        let wrong = |trust| RankWeights { trust, ..zero };
        for weights in [zero, wrong(-1.0), wrong(f64::NAN)] {
            assert!(weights.validate().is_err(), "{weights:?}");
        }
        assert!(wrong(1.0).validate().is_ok());
    }
}
