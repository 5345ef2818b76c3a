//! `skill search`: the skills that retrieval finds for a query, and why.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use journeyman::{
    Result, SkillId,
    contract::Retriever,
    domain::{Candidate, Query},
};
use serde_json::json;

use crate::{
    arguments::Search,
    library::read,
    output::{Answer, table, word},
    stemming::retriever,
};

pub(crate) async fn search(root: &Path, search: &Search) -> Result<Answer> {
    let opened = read(root).await?;
    let retriever = retriever(search.stems)?;
    opened.library.refresh(&retriever).await?;
    let offered = opened.library.entries();
    let offered: Vec<SkillId> = offered
        .filter(|entry| search.all || entry.skill.state.is_offered())
        .map(|entry| entry.skill.id.clone())
        .collect();
    let find = async |text: &str, limit, among: Vec<SkillId>| {
        let query = Query::new(text.to_owned(), limit).with_among(among);
        retriever.search(&query).await
    };
    let found = find(&search.query, search.limit, offered).await?;
    let ids: Vec<SkillId> = found.iter().map(|one| one.skill.id.clone()).collect();
    // BM25 sums over the query's words, so a query of one word gives that word's share. Two words with a part in common both
    // have its share.
    let mut shares: BTreeMap<SkillId, Vec<(String, f64)>> = BTreeMap::new();
    for text in words(&search.query) {
        for Candidate { skill, score, .. } in find(&text, ids.len(), ids.clone()).await? {
            let of_skill = shares.entry(skill.id).or_default();
            of_skill.push((text.clone(), score));
        }
    }
    let (mut rows, mut skills) = (Vec::new(), Vec::new());
    for Candidate { skill, score, .. } in &found {
        let Some(entry) = opened.library.get(&skill.id) else {
            continue;
        };
        let mut why = shares.remove(&skill.id).unwrap_or_default();
        why.sort_by(|one, other| other.1.total_cmp(&one.1));
        let said: Vec<String> = why
            .iter()
            .map(|(text, share)| format!("{text} {share:.2}"))
            .collect();
        rows.push(vec![
            entry.skill.name.to_string(),
            word(&entry.skill.state),
            format!("{score:.2}"),
            said.join(", "),
        ]);
        let shares = why
            .iter()
            .map(|(text, share)| json!({"word": text, "score": share}));
        skills.push(json!({
            "id": skill.id,
            "name": entry.skill.name,
            "version": skill.version,
            "state": entry.skill.state,
            "description": entry.skill.description,
            "score": score,
            "by": "bm25",
            "words": shares.collect::<Vec<_>>(),
        }));
    }
    Ok(Answer {
        json: json!({"revision": opened.library.revision(), "skills": skills}),
        text: shown(&rows),
        ..Answer::default()
    })
}

/// The rows as a table, with what its score is.
fn shown(rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return "No skill has a word of the query. `skill list` lists all; --all searches also those that are not offered.\n".to_owned();
    }
    let table = table(&["NAME", "STATE", "BM25", "SHARES OF THE WORDS"], rows);
    format!(
        "{table}BM25: how well the query's words find the skill; more is better, and only scores of one query compare.\n"
    )
}

/// The query's different words, in order and as they are written: names of code stay whole, since the retriever splits them
/// itself where the case changes. One that it splits further, such as a Chinese phrase, has one share.
fn words(query: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let is_between =
        |c: char| c.is_whitespace() || (c.is_ascii_punctuation() && !is_within_names(c));
    query
        .split(is_between)
        .map(|word| word.trim_matches(is_within_names))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .filter(|word| seen.insert(word.clone()))
        .collect()
}

fn is_within_names(c: char) -> bool {
    matches!(c, '-' | '_' | '.')
}
