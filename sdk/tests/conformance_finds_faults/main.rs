//! A part that breaks one rule fails the case of that rule.
#![allow(clippy::unwrap_used)]

#[path = "../host_policies/mod.rs"]
mod host_policies;
mod models;
mod policies;
mod retrievers;
mod storage;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use futures::executor::block_on;
use journeyman::{
    Error, ErrorKind, ModelId, Result, RunId, Version,
    agent::{MemoryJournal, MemoryStore},
    contract::{
        Clock, Embedder, Embedding, EmbeddingSpace, GenerateRequest, Generation, Journal,
        JournalEntry, Judge, JudgeRequest, KeptScores, LanguageModel, ModelCapabilities, Retriever,
        ScoreRequest, Scorer, SkillFiles, SkillStore, Snapshot, TokenCount, TokenScores, Tokenizer,
        ToolChoice,
    },
    domain::{
        Candidate, Commit, Committed, EndReason, FileRef, IndexUpdate, Message, Prompt, Query,
        Revision, Speaker, Timestamp, Verdict, sha256_hex,
    },
    testing::{
        ManualClock, Play, ScriptedJudge, ScriptedModel, ScriptedRetriever, ScriptedScorer,
        conformance::{self, Report},
        sample,
    },
};

fn failed(report: &Report) -> Vec<&'static str> {
    report.failures().map(|case| case.name).collect()
}

#[test]
fn judges() {
    let task = sample::task("t", &["one"]);
    let fixture = conformance::judge::JudgeFixture::new(
        task.clone(),
        vec![sample::trajectory("a", &task, &["one"], true)],
    )
    .with_undecidable(vec![sample::ended("b", &task, EndReason::Finished)]);
    let sound = |request: &JudgeRequest<'_>| match &request.trajectory.outcome {
        Some(outcome) => Verdict::binary(outcome.success),
        None => Verdict::undecided(),
    };
    let judges: [(&str, Box<dyn Judge>, &[&str]); 3] = [
        (
            "guesses",
            Box::new(ScriptedJudge::that(Play::Give(Verdict::binary(true)))),
            &["unsure"],
        ),
        (
            "wavers",
            Box::new(ScriptedJudge::by(move |request, call| {
                let score = (call % 2) as f64;
                Play::Give(sound(request).with_score(score).expect("it is in [0, 1]"))
            })),
            &["repeats"],
        ),
        (
            "fails",
            Box::new(ScriptedJudge::that(Play::Fail(Error::invalid(
                "Judge::judge",
                "no",
            )))),
            &["answers", "unsure", "repeats"],
        ),
    ];
    for (name, judge, expected) in judges {
        let report = block_on(conformance::judge::check(judge.as_ref(), &fixture));
        assert_eq!(failed(&report), expected, "{name}\n{report}");
    }
}

#[derive(Debug)]
struct ImpatientClock(ManualClock);

#[async_trait]
impl Clock for ImpatientClock {
    fn now(&self) -> Timestamp {
        self.0.now()
    }

    async fn sleep_until(&self, _until: Timestamp) {}
}

#[test]
fn clocks() {
    let clock = ImpatientClock(ManualClock::at(Timestamp(9)));
    let report = block_on(conformance::clock::check(&clock, None));
    assert_eq!(failed(&report), ["waits"], "{report}");
}

#[derive(Debug)]
struct ByteTokenizer;

impl Tokenizer for ByteTokenizer {
    fn count(&self, text: &str) -> TokenCount {
        TokenCount {
            tokens: text.len(),
            estimated: false,
        }
    }

    fn truncate(&self, text: &str, tokens: usize) -> String {
        // Rounds up to a whole character, so that it may have more tokens than it may have.
        let end = (tokens.min(text.len())..=text.len()).find(|at| text.is_char_boundary(*at));
        text[..end.unwrap()].to_owned()
    }
}

#[test]
fn tokenizers() {
    let report = block_on(conformance::tokenizer::check(&ByteTokenizer));
    assert_eq!(failed(&report), ["truncate"], "{report}");
}

#[derive(Debug)]
struct LongEmbedder(EmbeddingSpace);

#[async_trait]
impl Embedder for LongEmbedder {
    fn space(&self) -> &EmbeddingSpace {
        &self.0
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>> {
        texts
            .iter()
            .map(|text| Embedding::new(vec![1.0, text.len() as f32]))
            .collect()
    }
}

#[test]
fn embedders() {
    let space = EmbeddingSpace::new("lengths", 2);
    let report = block_on(conformance::embedder::check(&LongEmbedder(space)));
    assert_eq!(failed(&report), ["unit"], "{report}");
}
