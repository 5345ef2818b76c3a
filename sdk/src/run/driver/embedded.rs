//! Embeddings that were computed before.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{contract::Embedding, id::sha256_hex};

/// How many texts at least are remembered before the oldest are forgotten.
const LEAST_EMBEDDED: usize = 8_192;

/// Embeddings by the hashes of their texts: the same skills are ranked for every task, and the same attempts compared in
/// every round. The contract has it that a text's embedding is always the same.
#[derive(Debug, Default)]
pub(crate) struct Embedded(Mutex<Generations>);

/// What was asked for lately, and what was asked for before that. A generation has room for all texts of the largest
/// question, so that a library that is asked for again and again is not embedded again and again.
#[derive(Debug, Default)]
struct Generations {
    current: HashMap<String, Embedding>,
    before: HashMap<String, Embedding>,
    largest: usize,
}

impl Generations {
    /// An embedding that is asked for is of the current generation from there on.
    fn get(&mut self, key: &str) -> Option<Embedding> {
        if let Some((key, embedding)) = self.before.remove_entry(key) {
            self.current.insert(key, embedding);
        }
        self.current.get(key).cloned()
    }

    /// Behind a question, so that none of its own texts is forgotten.
    fn forget(&mut self) {
        if self.current.len() > self.largest.max(LEAST_EMBEDDED) {
            self.before = std::mem::take(&mut self.current);
        }
    }
}

impl Embedded {
    fn lock(&self) -> MutexGuard<'_, Generations> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn of(&self, texts: &[String]) -> Vec<Option<Embedding>> {
        let mut known = self.lock();
        known.largest = known.largest.max(texts.len());
        let keys = texts.iter().map(sha256_hex);
        keys.map(|key| known.get(&key)).collect()
    }

    pub(crate) fn keep(&self, texts: &[&str], embeddings: &[Embedding]) {
        let mut known = self.lock();
        for (text, embedding) in texts.iter().zip(embeddings) {
            known.current.insert(sha256_hex(text), embedding.clone());
        }
        known.forget();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_larger_than_the_room_is_remembered_whole() {
        let texts = |of: &str, count: usize| -> Vec<String> {
            (0..count).map(|at| format!("{of} {at}")).collect()
        };
        let embedded = Embedded::default();
        let ask = |texts: &[String]| {
            let known = embedded.of(texts);
            let missing = texts.iter().zip(known).filter(|(_, known)| known.is_none());
            let missing: Vec<&str> = missing.map(|(text, _)| text.as_str()).collect();
            let one = Embedding::new(vec![1.0]).unwrap();
            embedded.keep(&missing, &vec![one; missing.len()]);
            missing.len()
        };
        let many = texts("many", LEAST_EMBEDDED + 1_000);
        assert_eq!(ask(&many), many.len());
        for round in 0..4 {
            assert_eq!(ask(&texts(&format!("few {round}"), 50)), 50);
            assert_eq!(ask(&many), 0, "round {round}");
        }
        // What nobody asks for any more is forgotten.
        for round in 0..3 {
            ask(&texts(&format!("others {round}"), LEAST_EMBEDDED + 1_000));
        }
        assert_eq!(ask(&many), many.len());
    }
}
