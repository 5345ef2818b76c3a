//! Hybrid retrieval: the conformance suite, and a dense side that fails.
#![allow(clippy::unwrap_used, missing_docs)]

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use async_trait::async_trait;
use futures::executor::block_on;
use journeyman::testing::Edited as _;
use journeyman::{
    Error, ErrorKind, Result,
    agent::{HybridRetriever, VectorRetriever},
    contract::{Embedder, Embedding, EmbeddingSpace, Retriever},
    domain::{Candidate, IndexUpdate, Query, Revision},
    stations::retrieve::Fusion,
    testing::{ScriptedRetriever, WordEmbedder, conformance, sample},
};

/// An embedder that can be switched off.
#[derive(Debug)]
struct Switched {
    inner: WordEmbedder,
    off: AtomicBool,
}

#[async_trait]
impl Embedder for Switched {
    fn space(&self) -> &EmbeddingSpace {
        self.inner.space()
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>> {
        if self.off.load(Ordering::SeqCst) {
            return Err(Error::new(
                ErrorKind::Unavailable,
                "Embedder::embed",
                "switched off",
            ));
        }
        self.inner.embed(texts).await
    }
}

struct Both {
    embedder: Arc<Switched>,
    lexical: Arc<ScriptedRetriever>,
    hybrid: HybridRetriever,
}

fn both(fusion: Fusion) -> Both {
    let embedder = Arc::new(Switched {
        inner: WordEmbedder::new(4096),
        off: AtomicBool::new(false),
    });
    let dense = Arc::new(VectorRetriever::new(
        Arc::clone(&embedder) as Arc<dyn Embedder>
    ));
    let lexical = Arc::new(ScriptedRetriever::new());
    let words = Arc::clone(&lexical) as Arc<dyn Retriever>;
    let hybrid = HybridRetriever::new(words, dense, fusion).unwrap();
    Both {
        embedder,
        lexical,
        hybrid,
    }
}

fn update(since: u64, revision: u64, changed: &[&str], gone: &[&str]) -> IndexUpdate {
    IndexUpdate::new(Revision(since), Revision(revision)).edited(|it| {
        it.changed = changed.iter().map(|name| sample::skill(name)).collect();
        it.gone = gone.iter().map(|name| sample::skill(name).id).collect();
    })
}

fn search(retriever: &dyn Retriever, text: &str) -> Vec<Candidate> {
    let query = Query::new(text.to_owned(), 10);
    block_on(retriever.search(&query)).unwrap()
}

fn ids(found: &[Candidate]) -> Vec<String> {
    found.iter().map(|one| one.skill.id.to_string()).collect()
}

#[test]
fn the_suite_passes_with_both_fusions() {
    for fusion in [Fusion::default(), Fusion::ReciprocalRank { k: 60.0 }] {
        let report = block_on(conformance::retriever::check(async || {
            Ok(Arc::new(both(fusion).hybrid) as Arc<dyn Retriever>)
        }));
        assert_eq!(report.skipped().count(), 0, "{report}");
        report.into_result().unwrap();
    }
}

#[test]
fn without_an_embedder_the_lexical_side_answers_alone_and_that_is_told() {
    let all = both(Fusion::default());
    block_on(all.hybrid.refresh(&update(0, 1, &["brew", "boil"], &[]))).unwrap();
    let joined = search(&all.hybrid, "brew");
    assert_eq!(all.hybrid.dense_failures().count, 0);
    all.embedder.off.store(true, Ordering::SeqCst);
    let alone = search(&all.hybrid, "brew");
    assert_eq!(ids(&alone), ids(&search(&*all.lexical, "brew")));
    assert!(!alone.is_empty());
    // On the scale of both together, of which the half is missing.
    assert!(alone[0].score < joined[0].score, "{alone:?} {joined:?}");
    let failures = all.hybrid.dense_failures();
    assert_eq!(failures.count, 1);
    assert_eq!(failures.latest.unwrap().kind(), ErrorKind::Unavailable);
    all.embedder.off.store(false, Ordering::SeqCst);
    assert_eq!(search(&all.hybrid, "brew"), joined);
    let failures = all.hybrid.dense_failures();
    assert_eq!((failures.count, failures.latest.is_none()), (1, true));
}

#[test]
fn an_update_that_the_dense_side_missed_is_given_again() {
    let all = both(Fusion::ReciprocalRank { k: 60.0 });
    block_on(all.hybrid.refresh(&update(0, 1, &["brew", "boil"], &[]))).unwrap();
    all.embedder.off.store(true, Ordering::SeqCst);
    let late = update(1, 2, &["grind"], &["brew"]);
    block_on(all.hybrid.refresh(&late)).unwrap();
    assert_eq!(block_on(all.lexical.watermark()).unwrap(), Revision(2));
    assert_eq!(block_on(all.hybrid.watermark()).unwrap(), Revision(1));
    // The dense side answers again, and it still has what went.
    all.embedder.off.store(false, Ordering::SeqCst);
    for (text, expect) in [("brew", false), ("grind", true)] {
        let found = ids(&search(&all.hybrid, text));
        let id = sample::skill(text).id.to_string();
        assert_eq!(found.contains(&id), expect, "{found:?}");
    }
    block_on(all.hybrid.refresh(&late)).unwrap();
    assert_eq!(block_on(all.hybrid.watermark()).unwrap(), Revision(2));
    let found = search(&all.hybrid, "grind");
    assert_eq!(found[0].skill, sample::skill("grind").reference());
    assert_eq!(found[0].score, 2.0 / 61.0, "both sides rank it first");
}

#[test]
fn an_error_of_the_lexical_side_is_the_callers() {
    let all = both(Fusion::default());
    block_on(all.hybrid.refresh(&update(0, 1, &["brew"], &[]))).unwrap();
    let gap = block_on(all.hybrid.refresh(&update(5, 6, &["boil"], &[])));
    assert_eq!(gap.unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(all.hybrid.dense_failures().count, 0);
}

#[test]
fn parameters_out_of_range_are_refused() {
    let retriever = || Arc::new(ScriptedRetriever::new()) as Arc<dyn Retriever>;
    let wrong = Fusion::ReciprocalRank { k: -1.0 };
    let refused = HybridRetriever::new(retriever(), retriever(), wrong);
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Invalid);
}
