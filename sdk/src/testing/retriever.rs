//! A retriever that counts shared words.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;

use crate::{
    contract::Retriever,
    domain::{Candidate, IndexMark, IndexUpdate, Query, Skill},
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
    skills: BTreeMap<SkillId, Skill>,
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

fn shared(skill: &Skill, query: &BTreeSet<String>) -> usize {
    let text = [
        skill.name.as_str(),
        &skill.description,
        skill.trigger.as_deref().unwrap_or_default(),
        &skill.body,
    ]
    .join(" ");
    words_of(&text).intersection(query).count()
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
                index.skills.insert(skill.id.clone(), skill.clone());
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
        let mut found: Vec<Candidate> = (index.skills.values())
            .filter(|skill| {
                query
                    .among
                    .as_ref()
                    .is_none_or(|among| among.contains(&skill.id))
            })
            .map(|skill| (skill, shared(skill, &wanted)))
            .filter(|(_, shared)| *shared > 0)
            .map(|(skill, shared)| Candidate {
                skill: skill.reference(),
                score: shared as f64,
            })
            .collect();
        // Stable, and the map is in the order of ids.
        found.sort_by(|a, b| b.score.total_cmp(&a.score));
        found.truncate(query.limit);
        Ok(found)
    }
}
