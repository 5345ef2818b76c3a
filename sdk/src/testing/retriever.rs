//! A retriever that counts shared words.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;

use crate::{
    contract::Retriever,
    domain::{Candidate, IndexMark, IndexUpdate, Query, Skill, SkillRef},
    error::Result,
    id::{Revision, SkillId},
};

/// A [`Retriever`] that counts the words that query and skill share.
#[derive(Debug, Default)]
pub struct ScriptedRetriever {
    index: Mutex<Index>,
}

#[derive(Debug, Default)]
struct Index {
    mark: IndexMark,
    skills: BTreeMap<SkillId, (SkillRef, BTreeSet<String>)>,
}

impl ScriptedRetriever {
    /// A retriever that knows no skill yet.
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The words of a text in lower case, each once.
pub(super) fn words_of(text: &str) -> BTreeSet<String> {
    (text.split(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

fn words_of_skill(skill: &Skill) -> BTreeSet<String> {
    let text = [
        skill.name.as_str(),
        &skill.description,
        skill.trigger.as_deref().unwrap_or_default(),
        &skill.body,
    ]
    .join(" ");
    words_of(&text)
}

#[async_trait]
impl Retriever for ScriptedRetriever {
    async fn watermark(&self) -> Result<Revision> {
        Ok(self.lock().mark.watermark())
    }

    async fn refresh(&self, update: &IndexUpdate) -> Result<()> {
        let mut index = self.lock();
        if index.mark.takes(update)? {
            if update.since == Revision(0) {
                index.skills.clear();
            }
            for skill in &update.changed {
                let known = (skill.reference(), words_of_skill(skill));
                index.skills.insert(skill.id.clone(), known);
            }
            for id in &update.gone {
                index.skills.remove(id);
            }
            index.mark = index.mark.after(update);
        }
        Ok(())
    }

    async fn search(&self, query: &Query) -> Result<Vec<Candidate>> {
        let index = self.lock();
        let wanted = words_of(&query.text);
        let among = query.among.as_ref();
        let among: Option<BTreeSet<&SkillId>> = among.map(|among| among.iter().collect());
        let is_asked = |id: &SkillId| among.as_ref().is_none_or(|among| among.contains(id));
        let mut found: Vec<Candidate> = (index.skills.values())
            .filter(|(skill, _)| is_asked(&skill.id))
            .map(|(skill, words)| {
                (
                    skill,
                    wanted.iter().filter(|one| words.contains(*one)).count(),
                )
            })
            .filter(|(_, shared)| *shared > 0)
            .map(|(skill, shared)| Candidate {
                skill: skill.clone(),
                score: shared as f64,
            })
            .collect();
        // Stable, and the map is in the order of ids.
        found.sort_by(|a, b| b.score.total_cmp(&a.score));
        found.truncate(query.limit);
        Ok(found)
    }
}
