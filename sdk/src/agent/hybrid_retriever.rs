//! Retrieval by words and by embeddings together.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use async_trait::async_trait;
use tracing::warn;

use crate::{
    contract::Retriever,
    domain::{Candidate, IndexUpdate, Query},
    error::{Error, Result},
    id::Revision,
    stations::retrieve::Fusion,
};

/// The least number of candidates that each side is asked for, so that a skill that both sides rank in the middle is found.
const POOL: usize = 100;

/// A [`Retriever`] that joins a lexical one, such as BM25, with a dense one, such as
/// [`VectorRetriever`](super::VectorRetriever), by a [`Fusion`].
///
/// The dense side may fail, since it often needs a server. Then the lexical side answers alone. Each failure is counted and
/// kept ([`HybridRetriever::dense_failures`]), and told as a `tracing` event of the level `WARN`. After an update that the
/// dense side could not take in, the lexical side answers alone until a refresh succeeds: the watermark stays behind, so
/// that [`SkillLibrary::refresh`](crate::library::SkillLibrary::refresh) gives the update again. An error of the lexical
/// side is the search's or the refresh's.
///
/// ```
/// use std::sync::Arc;
/// use journeyman::{
///     agent::{HybridRetriever, VectorRetriever}, contract::Retriever, library::SkillLibrary, stations::retrieve::Fusion,
///     testing::WordEmbedder,
/// };
///
/// # futures::executor::block_on(async {
/// # let bm25 = Arc::new(VectorRetriever::new(Arc::new(WordEmbedder::new(64))));
/// let dense = VectorRetriever::new(Arc::new(WordEmbedder::new(256)));
/// let hybrid = HybridRetriever::new(bm25, Arc::new(dense), Fusion::default())?;
/// SkillLibrary::new().refresh(&hybrid).await?;
/// assert_eq!(hybrid.dense_failures().count, 0);
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
pub struct HybridRetriever {
    lexical: Arc<dyn Retriever>,
    dense: Arc<dyn Retriever>,
    fusion: Fusion,
    /// Whether the dense side lacks an update.
    behind: AtomicBool,
    failures: Mutex<DenseFailures>,
}

/// The failures of a [`HybridRetriever`]'s dense side.
#[non_exhaustive]
#[derive(Clone, Debug, Default)]
pub struct DenseFailures {
    /// The number of its calls that failed.
    pub count: u64,
    /// The latest call's error; `None` where the latest call succeeded.
    pub latest: Option<Error>,
}

impl HybridRetriever {
    /// Joins two retrievers of one library.
    ///
    /// # Errors
    /// `Invalid` for a parameter of the fusion that is out of range.
    pub fn new(
        lexical: Arc<dyn Retriever>,
        dense: Arc<dyn Retriever>,
        fusion: Fusion,
    ) -> Result<Self> {
        fusion.validate()?;
        Ok(Self {
            lexical,
            dense,
            fusion,
            behind: AtomicBool::new(false),
            failures: Mutex::default(),
        })
    }

    /// The failures of the dense side since this retriever was made.
    pub fn dense_failures(&self) -> DenseFailures {
        self.failures().clone()
    }

    fn failures(&self) -> MutexGuard<'_, DenseFailures> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the dense side answered; `None` where it failed, which is told.
    fn heard<T>(&self, answer: Result<T>) -> Option<T> {
        let mut failures = self.failures();
        match answer {
            Ok(answer) => {
                failures.latest = None;
                Some(answer)
            }
            Err(error) => {
                warn!(
                    name: "journeyman.retrieval.lexical_alone",
                    %error,
                    "the dense side of hybrid retrieval failed; the lexical side answers alone"
                );
                failures.count += 1;
                failures.latest = Some(error);
                None
            }
        }
    }
}

#[async_trait]
impl Retriever for HybridRetriever {
    /// The lower of the two sides' watermarks.
    async fn watermark(&self) -> Result<Revision> {
        let lexical = self.lexical.watermark().await?;
        let dense = self.heard(self.dense.watermark().await);
        Ok(dense.map_or(lexical, |dense| dense.min(lexical)))
    }

    async fn refresh(&self, update: &IndexUpdate) -> Result<()> {
        self.lexical.refresh(update).await?;
        let refreshed = self.heard(self.dense.refresh(update).await);
        self.behind.store(refreshed.is_none(), Ordering::SeqCst);
        Ok(())
    }

    async fn search(&self, query: &Query) -> Result<Vec<Candidate>> {
        let wide = Query {
            limit: if query.limit == 0 {
                0
            } else {
                query.limit.max(POOL)
            },
            ..query.clone()
        };
        let lexical = self.lexical.search(&wide).await?;
        let mut dense = Vec::new();
        if wide.limit > 0 && !self.behind.load(Ordering::SeqCst) {
            let found = self.dense.search(&wide).await;
            dense = self.heard(found).unwrap_or_default();
        }
        // Where the dense side is not there, too: scores stay on one scale.
        let mut found = self.fusion.join(&lexical, &dense);
        found.truncate(query.limit);
        Ok(found)
    }

    /// As both sides say; no by ranks, and without a weight for the dense side, since the lexical one's scores are divided by the best.
    fn has_comparable_scores(&self) -> bool {
        let both = self.lexical.has_comparable_scores() && self.dense.has_comparable_scores();
        both && matches!(self.fusion, Fusion::Weighted { dense, .. } if dense > 0.0)
    }
}

impl fmt::Debug for HybridRetriever {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HybridRetriever")
            .field("lexical", &self.lexical)
            .field("dense", &self.dense)
            .field("fusion", &self.fusion)
            .finish_non_exhaustive()
    }
}
