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
    /// Which skills have a word.
    by_word: BTreeMap<String, BTreeSet<SkillId>>,
}

impl Index {
    fn put(&mut self, skill: &Skill) {
        self.remove(&skill.id);
        let words = words_of_skill(skill);
        for word in &words {
            let skills = self.by_word.entry(word.clone()).or_default();
            skills.insert(skill.id.clone());
        }
        let known = (skill.reference(), words);
        self.skills.insert(skill.id.clone(), known);
    }

    fn remove(&mut self, id: &SkillId) {
        let known = self.skills.remove(id);
        for word in known.iter().flat_map(|(_, words)| words) {
            if let Some(skills) = self.by_word.get_mut(word) {
                skills.remove(id);
            }
        }
    }
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
                (index.skills, index.by_word) = Default::default();
            }
            for skill in &update.changed {
                index.put(skill);
            }
            for id in &update.gone {
                index.remove(id);
            }
            index.mark = index.mark.after(update);
        }
        Ok(())
    }

    async fn search(&self, query: &Query) -> Result<Vec<Candidate>> {
        let index = self.lock();
        let wanted = words_of(&query.text);
        let having = wanted.iter().filter_map(|word| index.by_word.get(word));
        let mut shared: BTreeMap<&SkillId, usize> = BTreeMap::new();
        for id in having.flatten() {
            *shared.entry(id).or_default() += 1;
        }
        if let Some(among) = &query.among {
            let asked = among.iter().filter(|id| shared.contains_key(id));
            let asked: BTreeSet<&SkillId> = asked.collect();
            shared.retain(|id, _| asked.contains(id));
        }
        let candidate = |(id, shared): (&SkillId, usize)| {
            let (skill, _) = index.skills.get(id)?;
            Some(Candidate {
                skill: skill.clone(),
                score: shared as f64,
            })
        };
        let mut found: Vec<Candidate> = shared.into_iter().filter_map(candidate).collect();
        // Stable, and the map is in the order of ids.
        found.sort_by(|a, b| b.score.total_cmp(&a.score));
        found.truncate(query.limit);
        Ok(found)
    }
}
