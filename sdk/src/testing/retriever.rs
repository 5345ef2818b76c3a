//! A retriever that counts shared words.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
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
    /// The skills, each with the numbers of its words, ascending.
    skills: BTreeMap<SkillId, (SkillRef, Vec<u32>)>,
    /// The number of each word that a skill ever had.
    words: HashMap<String, u32>,
}

impl Index {
    fn put(&mut self, skill: &Skill) {
        let mut numbers = Vec::new();
        for word in words_of_skill(skill) {
            let next = self.words.len() as u32;
            numbers.push(*self.words.entry(word).or_insert(next));
        }
        numbers.sort_unstable();
        let known = (skill.reference(), numbers);
        self.skills.insert(skill.id.clone(), known);
    }
}

impl ScriptedRetriever {
    /// An empty retriever.
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
                index.put(skill);
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
        let wanted = words_of(&query.text).into_iter();
        let wanted = wanted.filter_map(|word| index.words.get(&word).copied());
        let wanted: Vec<u32> = wanted.collect();
        let mut asked: Option<Vec<&SkillId>> = query.among.as_ref().map(|ids| ids.iter().collect());
        if let Some(asked) = &mut asked {
            asked.sort_unstable();
        }
        let mut asked = asked.map(|asked| asked.into_iter().peekable());
        // Both are in the order of ids.
        let mut is_asked = |id: &SkillId| {
            asked.as_mut().is_none_or(|asked| {
                while asked.next_if(|next| *next < id).is_some() {}
                asked.peek() == Some(&id)
            })
        };
        let mut found: Vec<Candidate> = (index.skills.values())
            .filter(|(skill, _)| is_asked(&skill.id))
            .map(|(skill, words)| {
                let has = |word: &&u32| words.binary_search(word).is_ok();
                (skill, wanted.iter().filter(has).count())
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

    fn has_comparable_scores(&self) -> bool {
        true
    }
}
