//! Scores of texts that do not depend on the task: known from before, or from the store.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{
    contract::{KeptScores, SkillStore, TokenScores},
    id::{ModelId, sha256_hex},
};

/// Scores by the digest of what they depend on ([`key`]).
#[derive(Debug, Default)]
pub(crate) struct KnownScores(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    by_key: HashMap<String, KeptScores>,
    /// Whether those of the store are among them.
    loaded: bool,
    /// Those that the store does not have yet.
    new: Vec<KeptScores>,
}

/// The key of a text's scores behind a prompt.
pub(super) fn key(
    weights: &ModelId,
    (prompt, text): (&str, &str),
    (most_tokens, repeatable): (usize, bool),
) -> String {
    let all = [
        weights.as_str(),
        prompt,
        text,
        &most_tokens.to_string(),
        &repeatable.to_string(),
    ];
    // Each part by its own digest, so that no two keys run into each other.
    sha256_hex(all.map(sha256_hex).concat())
}

impl KnownScores {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes up those of the store, once.
    pub(super) async fn load(&self, store: Option<&dyn SkillStore>) {
        let Some(store) = store.filter(|_| !self.lock().loaded) else {
            return;
        };
        let kept = match store.kept_scores().await {
            Ok(kept) => kept,
            Err(error) => {
                tracing::warn!(%error, "kept scores cannot be read, and are computed again");
                Vec::new()
            }
        };
        let mut known = self.lock();
        known.loaded = true;
        for one in kept.into_iter().filter(KeptScores::is_sound) {
            known.by_key.insert(one.key.clone(), one);
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<KeptScores> {
        self.lock().by_key.get(key).cloned()
    }

    pub(super) fn insert(&self, key: String, scores: &TokenScores) -> KeptScores {
        let kept = KeptScores::of(key, scores);
        let mut known = self.lock();
        known.by_key.insert(kept.key.clone(), kept.clone());
        known.new.push(kept.clone());
        kept
    }

    /// Gives the new ones to the store. Without them a later session is slower, and nothing else.
    pub(super) async fn keep(&self, store: Option<&dyn SkillStore>) {
        let new = std::mem::take(&mut self.lock().new);
        let Some(store) = store.filter(|_| !new.is_empty()) else {
            return;
        };
        if let Err(error) = store.keep_scores(&new).await {
            tracing::warn!(%error, "scores cannot be kept, and a later session computes them again");
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;

    use super::*;
    use crate::agent::MemoryStore;

    fn scores(logprob: f64) -> TokenScores {
        TokenScores {
            ids: vec![1],
            logprobs: vec![logprob],
            truncated: false,
        }
    }

    #[test]
    fn a_later_session_knows_what_was_kept_and_nothing_unsound() {
        let store = MemoryStore::new();
        let of = |weights: &str, repeatable| {
            key(
                &ModelId::new(weights),
                ("SKILL:", "text"),
                (128, repeatable),
            )
        };
        let first = KnownScores::default();
        first.insert(of("a", false), &scores(-1.0));
        first.insert(of("a", true), &scores(f64::NAN));
        block_on(first.keep(Some(&store)));
        block_on(first.keep(Some(&store)));

        let later = KnownScores::default();
        assert_eq!(later.get(&of("a", false)), None);
        block_on(later.load(Some(&store)));
        let known = |weights, repeatable| {
            later
                .get(&of(weights, repeatable))
                .map(|one| one.total().sum)
        };
        assert_eq!(known("a", false), Some(-1.0));
        assert_eq!(known("a", true), None);
        assert_eq!(known("a+adapter", false), None);
    }
}
