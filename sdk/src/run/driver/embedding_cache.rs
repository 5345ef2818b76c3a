//! A cache of embeddings.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{contract::Embedding, id::sha256_hex};

/// Minimum number of texts in a generation before it is rotated.
const MIN_GENERATION: usize = 8_192;

/// Embeddings by the hashes of their texts. The same skills are ranked for every task, and the same attempts are compared in
/// every maintenance. Caching is sound because the contract of `Embedder` requires equal embeddings for equal texts.
#[derive(Debug, Default)]
pub(crate) struct EmbeddingCache(Mutex<Generations>);

/// The current generation of entries and the one before it; older entries are dropped. A generation has room for all texts
/// of the largest request, so that repeated requests for a large library hit the cache.
#[derive(Debug, Default)]
struct Generations {
    current: HashMap<String, Embedding>,
    before: HashMap<String, Embedding>,
    largest: usize,
}

impl Generations {
    /// Returns an entry, and moves it into the current generation.
    fn get(&mut self, key: &str) -> Option<Embedding> {
        if let Some((key, embedding)) = self.before.remove_entry(key) {
            self.current.insert(key, embedding);
        }
        self.current.get(key).cloned()
    }

    /// Starts a new generation if the current one is full. Called after a request, so that none of its own texts is dropped.
    fn rotate(&mut self) {
        if self.current.len() > self.largest.max(MIN_GENERATION) {
            self.before = std::mem::take(&mut self.current);
        }
    }
}

impl EmbeddingCache {
    fn lock(&self) -> MutexGuard<'_, Generations> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get(&self, texts: &[String]) -> Vec<Option<Embedding>> {
        let mut known = self.lock();
        known.largest = known.largest.max(texts.len());
        let keys = texts.iter().map(sha256_hex);
        keys.map(|key| known.get(&key)).collect()
    }

    pub(crate) fn insert(&self, texts: &[&str], embeddings: &[Embedding]) {
        let mut known = self.lock();
        for (text, embedding) in texts.iter().zip(embeddings) {
            known.current.insert(sha256_hex(text), embedding.clone());
        }
        known.rotate();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_larger_than_a_generation_is_cached_whole() {
        let texts = |of: &str, count: usize| -> Vec<String> {
            (0..count).map(|at| format!("{of} {at}")).collect()
        };
        let cache = EmbeddingCache::default();
        let ask = |texts: &[String]| {
            let known = cache.get(texts);
            let missing = texts.iter().zip(known).filter(|(_, known)| known.is_none());
            let missing: Vec<&str> = missing.map(|(text, _)| text.as_str()).collect();
            let one = Embedding::new(vec![1.0]).unwrap();
            cache.insert(&missing, &vec![one; missing.len()]);
            missing.len()
        };
        let many = texts("many", MIN_GENERATION + 1_000);
        assert_eq!(ask(&many), many.len());
        for round in 0..4 {
            assert_eq!(ask(&texts(&format!("few {round}"), 50)), 50);
            assert_eq!(ask(&many), 0, "round {round}");
        }
        // Texts that are not requested any more are dropped.
        for round in 0..3 {
            ask(&texts(&format!("others {round}"), MIN_GENERATION + 1_000));
        }
        assert_eq!(ask(&many), many.len());
    }
}
