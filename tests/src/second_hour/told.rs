//! Decisions that time out by plan: whether a report tells a share all the same.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use futures::executor::block_on;
use journeyman::{
    Error, ErrorKind, ModelId, Seed,
    agent::MemoryStore,
    async_trait,
    contract::{ScoreRequest, Scorer, TokenScores},
};
use shop::desk::tasks;

use super::{Failure, open, parts};
use crate::figures::{Bound, Figures, Outcome};

/// A scorer of which a share of the requests takes too long.
#[derive(Debug)]
struct Late {
    inner: Arc<dyn Scorer>,
    share: f64,
    seed: Seed,
    /// How many requests were late.
    late: AtomicUsize,
}

#[async_trait]
impl Scorer for Late {
    fn model(&self) -> &ModelId {
        self.inner.model()
    }

    async fn score(&self, request: &ScoreRequest) -> journeyman::Result<Vec<TokenScores>> {
        // By what is asked, so that a request is late each time.
        let drawn = self.seed.derive(&request.prompt.text(), 0).unit();
        let is_task = !request.prompt.text().trim().is_empty();
        if is_task && drawn < self.share {
            self.late.fetch_add(1, Ordering::Relaxed);
            let why = "no answer within 60000 ms";
            return Err(Error::new(ErrorKind::Timeout, "Scorer::score", why).temporary());
        }
        self.inner.score(request).await
    }

    fn is_trained_to_score(&self) -> bool {
        self.inner.is_trained_to_score()
    }
}

/// Tasks of an evaluation.
const EVALUATED: u64 = 60;

pub(super) fn record(figures: &mut Figures<'_>) -> Outcome {
    let seed = figures.options().seed;
    let (mut told, mut uncounted) = (0_usize, 0_usize);
    for tenth in 1..=9_u32 {
        let (late, counted, is_told) = block_on(evaluated(f64::from(tenth) / 10.0, seed))?;
        uncounted += late.abs_diff(counted);
        // By chance fewer than planned may be late.
        told += usize::from(is_told && 10 * late as u64 >= EVALUATED);
    }
    figures.record(
        "shares told where a tenth or more of the decisions timed out, of 9 reports",
        told as f64,
        Bound::AtMost(0.0),
    );
    figures.record(
        "planted timeouts that a report does not count",
        uncounted as f64,
        Bound::AtMost(0.0),
    );
    Ok(())
}

/// How many decisions were late, how many the report counts, and whether it tells a share.
async fn evaluated(share: f64, seed: Seed) -> Result<(usize, usize, bool), Failure> {
    let parts = parts()?.with_store(Arc::new(MemoryStore::new()));
    open(&parts, "shop", seed)
        .await?
        .learn(tasks(seed, 90, false))
        .await?;
    let inner = parts.scorer.clone().ok_or("no scorer")?;
    let late = Arc::new(Late {
        inner,
        share,
        seed,
        late: AtomicUsize::new(0),
    });
    let parts = parts.with_scorer(late.clone());
    let report = open(&parts, "later", seed)
        .await?
        .evaluate(tasks(seed, EVALUATED, true))
        .await?;
    let planted = late.late.load(Ordering::Relaxed);
    let is_told = report.not_measured().is_none();
    Ok((planted, report.undecided().count(), is_told))
}
