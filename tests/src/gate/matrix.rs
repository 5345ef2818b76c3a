//! The scores of every skill for every task.

use std::collections::BTreeSet;

use futures::executor::block_on;
use journeyman::{
    contract::Retriever,
    domain::{Query, Skill},
};
use journeyman_tantivy::Bm25Retriever;

use super::data::Set;
use crate::skills::whole;

/// Candidates of a decision, as in `recipe::standard`.
pub(super) const CANDIDATES: usize = 10;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Values by task, then by skill.
pub(super) type Matrix = Vec<Vec<f64>>;

/// What a search by words gives, over whole skills; 0 for what it does not find.
pub(super) fn by_words(set: &Set) -> Result<Matrix, Failure> {
    let retriever = Bm25Retriever::new(Default::default())?;
    block_on(retriever.refresh(&whole(set.skills.clone())))?;
    let mut rows = Vec::new();
    for task in &set.tasks {
        let query = Query::new(task.instruction.clone(), set.skills.len());
        let found = block_on(retriever.search(&query))?;
        let score = |skill: &Skill| {
            let mut found = found.iter();
            let found = found.find(|one| one.skill.id == skill.id);
            found.map_or(0.0, |one| one.score)
        };
        rows.push(set.skills.iter().map(score).collect());
    }
    Ok(rows)
}

/// How far each score of a search stands above the median of all skills, by the root of the number of different words: what a search
/// finds of words that do not belong together grows with this root.
pub(super) fn standing_out(found: &Matrix, set: &Set) -> Matrix {
    let rows = found.iter().zip(&set.tasks);
    rows.map(|(row, task)| {
        let mut sorted = row.clone();
        sorted.sort_by(f64::total_cmp);
        let median = sorted.get(sorted.len() / 2).copied().unwrap_or_default();
        let root = words(&task.instruction).sqrt();
        row.iter().map(|score| (score - median) / root).collect()
    })
    .collect()
}

/// The number of different words of a text.
pub(super) fn words(text: &str) -> f64 {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words: BTreeSet<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.len().max(1) as f64
}

/// Of each task the skills that a decision is among: those that the search finds first, and those that it finds first where the right
/// ones are left out.
pub(super) fn candidates(found: &Matrix, set: &Set) -> Vec<Vec<usize>> {
    let of = |(task, row): (usize, &Vec<f64>)| {
        let best = |with_right: bool| {
            let all = (0..set.skills.len()).filter(|&at| with_right || !set.is_right(task, at));
            let mut all: Vec<usize> = all.collect();
            all.sort_by(|&one, &other| row[other].total_cmp(&row[one]));
            all.truncate(CANDIDATES);
            all
        };
        let mut all = best(true);
        let without = best(false);
        all.extend(
            without
                .into_iter()
                .filter(|at| !all.contains(at))
                .collect::<Vec<_>>(),
        );
        all
    };
    found.iter().enumerate().map(of).collect()
}

/// The values of a decision's candidates alone.
pub(super) fn among(values: &Matrix, candidates: &[Vec<usize>]) -> Matrix {
    let of = |(row, candidates): (&Vec<f64>, &Vec<usize>)| {
        let value = |(at, value): (usize, &f64)| match candidates.contains(&at) {
            true => *value,
            false => f64::NEG_INFINITY,
        };
        row.iter().enumerate().map(value).collect()
    };
    values.iter().zip(candidates).map(of).collect()
}
