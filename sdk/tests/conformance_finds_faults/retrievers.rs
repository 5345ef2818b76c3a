//! Retrievers.

use super::*;

#[derive(Clone, Copy, Debug, PartialEq)]
enum RetrieverFlaw {
    KeepsOldVersions,
    KeepsTheGone,
    StandsStill,
    TakesAgain,
    LeavesGaps,
    AddsToAnother,
    MixesPasts,
    LimitsBeforeAmong,
    TiesAsTheyCame,
    RefusesOperators,
    AlwaysOne,
}

#[derive(Debug)]
struct FlawedRetriever {
    inner: ScriptedRetriever,
    flaw: RetrieverFlaw,
}

#[async_trait]
impl Retriever for FlawedRetriever {
    async fn watermark(&self) -> Result<Revision> {
        if self.flaw == RetrieverFlaw::StandsStill {
            return Ok(Revision(0));
        }
        self.inner.watermark().await
    }

    async fn refresh(&self, update: &IndexUpdate) -> Result<()> {
        let mut update = update.clone();
        let at = self.inner.watermark().await?;
        match self.flaw {
            RetrieverFlaw::KeepsOldVersions => update.changed.retain(|s| s.version == Version(1)),
            RetrieverFlaw::KeepsTheGone => update.gone.clear(),
            RetrieverFlaw::TakesAgain if update.revision <= at => {
                update.revision = Revision(at.0 + 1);
            }
            RetrieverFlaw::AddsToAnother => update.library = None,
            RetrieverFlaw::MixesPasts => update.keys.clear(),
            RetrieverFlaw::LeavesGaps => update.since = update.since.min(at),
            _ => {}
        }
        self.inner.refresh(&update).await
    }

    async fn search(&self, query: &Query) -> Result<Vec<Candidate>> {
        let mut asked = query.clone();
        match self.flaw {
            RetrieverFlaw::RefusesOperators if query.text.contains('"') => {
                return Err(Error::invalid("Retriever::search", "a quote is not closed"));
            }
            RetrieverFlaw::LimitsBeforeAmong => asked.among = None,
            RetrieverFlaw::AlwaysOne => asked.limit = query.limit.max(1),
            _ => {}
        }
        let mut found = self.inner.search(&asked).await?;
        if self.flaw == RetrieverFlaw::LimitsBeforeAmong
            && let Some(among) = &query.among
        {
            found.retain(|candidate| among.contains(&candidate.skill.id));
        }
        if self.flaw == RetrieverFlaw::TiesAsTheyCame {
            found.reverse();
            found.sort_by(|a, b| b.score.total_cmp(&a.score));
        }
        Ok(found)
    }
}

#[test]
fn retrievers() {
    let cases: [(RetrieverFlaw, &[&str]); 11] = [
        (RetrieverFlaw::KeepsOldVersions, &["refresh"]),
        (RetrieverFlaw::KeepsTheGone, &["refresh"]),
        (
            RetrieverFlaw::StandsStill,
            &["watermark", "idempotent", "gap", "anew", "past"],
        ),
        (RetrieverFlaw::LeavesGaps, &["gap"]),
        (RetrieverFlaw::AddsToAnother, &["anew"]),
        (RetrieverFlaw::MixesPasts, &["past"]),
        (RetrieverFlaw::TakesAgain, &["idempotent", "anew", "past"]),
        (RetrieverFlaw::LimitsBeforeAmong, &["among"]),
        (RetrieverFlaw::TiesAsTheyCame, &["limit", "ties"]),
        (RetrieverFlaw::RefusesOperators, &["any text"]),
        (RetrieverFlaw::AlwaysOne, &["limit"]),
    ];
    for (flaw, expected) in cases {
        let report = block_on(conformance::retriever::check(async || {
            let inner = ScriptedRetriever::new();
            Ok(Arc::new(FlawedRetriever { inner, flaw }) as Arc<dyn Retriever>)
        }));
        assert_eq!(failed(&report), expected, "{flaw:?}\n{report}");
    }
}
