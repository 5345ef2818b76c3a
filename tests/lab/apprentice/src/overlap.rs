//! Selection by words alone: what the gate is measured against.

use std::collections::{HashMap, HashSet};

use journeyman_toolworld::tool::SkillText;

/// The number of words that query and skill share.
pub(crate) fn words(query: &str, skills: &[SkillText]) -> Vec<f64> {
    let query: HashSet<String> = split(query).into_iter().collect();
    let shared = |skill: &SkillText| {
        let skill: HashSet<String> = words_of(skill).into_iter().collect();
        skill.intersection(&query).count() as f64
    };
    skills.iter().map(shared).collect()
}

/// Okapi BM25 with k1 1.2 and b 0.75 over the candidates.
pub(crate) fn bm25(query: &str, skills: &[SkillText]) -> Vec<f64> {
    let documents: Vec<Vec<String>> = skills.iter().map(words_of).collect();
    let count = documents.len() as f64;
    let average = documents.iter().map(Vec::len).sum::<usize>() as f64 / count.max(1.0);
    let mut holding: HashMap<&str, f64> = HashMap::new();
    for document in &documents {
        for word in document.iter().map(String::as_str).collect::<HashSet<_>>() {
            *holding.entry(word).or_default() += 1.0;
        }
    }
    let score = |document: &Vec<String>| {
        let terms = split(query);
        terms
            .iter()
            .map(|term| {
                let times = document.iter().filter(|word| *word == term).count() as f64;
                let with = holding.get(term.as_str()).copied().unwrap_or_default();
                let rarity = ((count - with + 0.5) / (with + 0.5) + 1.0).ln();
                let length = 0.25 + 0.75 * document.len() as f64 / average;
                rarity * times * 2.2 / (times + 1.2 * length)
            })
            .sum()
    };
    documents.iter().map(score).collect()
}

/// The words of a skill's title and calls.
fn words_of(skill: &SkillText) -> Vec<String> {
    split(&format!("{} {}", skill.title, skill.steps.join(" ")))
}

fn split(text: &str) -> Vec<String> {
    text.split(|sign: char| !sign.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}
