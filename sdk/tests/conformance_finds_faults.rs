//! A part that breaks one rule fails the case of that rule.
#![allow(clippy::unwrap_used)]

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use futures::executor::block_on;
use journeyman::{
    Error, ErrorKind, ModelId, Result, Revision, RunId, Timestamp, Version,
    builtin::{MemoryJournal, MemoryStore},
    conformance::{self, Report},
    contract::{
        Clock, Embedder, Embedding, EmbeddingSpace, GenerateRequest, Generation, Journal,
        JournalEntry, Judge, JudgeRequest, LanguageModel, ModelCapabilities, Retriever,
        ScoreRequest, Scorer, SkillFiles, SkillStore, Snapshot, TokenCount, TokenScores, Tokenizer,
    },
    domain::{
        Candidate, Commit, Committed, EndReason, FileRef, IndexUpdate, Message, Prompt, Query,
        Speaker, Verdict,
    },
    sha256_hex,
    testing::{
        ManualClock, Play, ScriptedJudge, ScriptedModel, ScriptedRetriever, ScriptedScorer, sample,
    },
};

fn failed(report: &Report) -> Vec<&'static str> {
    report.failures().map(|case| case.name).collect()
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum StoreFlaw {
    AnyBase,
    AgainIsConflict,
    DropsAChange,
    SinceIsInclusive,
    BeyondIsEmpty,
    Backwards,
    AcceptsRivals,
    TakesInvalid,
}

#[derive(Debug)]
struct FlawedStore {
    inner: MemoryStore,
    flaw: StoreFlaw,
}

impl FlawedStore {
    async fn last(&self) -> Revision {
        self.inner.load().await.unwrap().revision
    }
}

#[async_trait]
impl SkillStore for FlawedStore {
    async fn load(&self) -> Result<Snapshot> {
        let mut snapshot = self.inner.load().await?;
        if self.flaw == StoreFlaw::Backwards {
            snapshot.committed.reverse();
        }
        Ok(snapshot)
    }

    async fn since(&self, revision: Revision) -> Result<Vec<Committed>> {
        let last = self.last().await;
        match self.flaw {
            StoreFlaw::BeyondIsEmpty if revision > last => Ok(Vec::new()),
            StoreFlaw::SinceIsInclusive if revision.0 > 0 && revision <= last => {
                self.inner.since(Revision(revision.0 - 1)).await
            }
            _ => self.inner.since(revision).await,
        }
    }

    async fn commit(&self, commit: &Commit) -> Result<Committed> {
        let mut commit = commit.clone();
        let known = (self.inner.load().await?.committed.iter()).any(|c| c.key == commit.key);
        match self.flaw {
            StoreFlaw::AnyBase => commit.base = self.last().await,
            StoreFlaw::AcceptsRivals if commit.key.as_str().starts_with("rival") => {
                commit.base = self.last().await;
            }
            StoreFlaw::AgainIsConflict if known => {
                return Err(Error::new(
                    ErrorKind::Conflict,
                    "SkillStore::commit",
                    "again",
                ));
            }
            StoreFlaw::DropsAChange => {
                commit.changes.pop();
            }
            StoreFlaw::TakesInvalid => commit.changes.retain(|c| c.validate().is_ok()),
            _ => {}
        }
        self.inner.commit(&commit).await
    }
}

#[test]
fn stores() {
    let cases: [(StoreFlaw, &[&str]); 8] = [
        (StoreFlaw::AnyBase, &["base", "at once"]),
        (StoreFlaw::AgainIsConflict, &["once"]),
        (StoreFlaw::DropsAChange, &["valid", "together"]),
        (StoreFlaw::SinceIsInclusive, &["order", "since"]),
        (StoreFlaw::BeyondIsEmpty, &["since"]),
        (StoreFlaw::Backwards, &["order", "together", "since"]),
        (StoreFlaw::AcceptsRivals, &["at once"]),
        (StoreFlaw::TakesInvalid, &["valid"]),
    ];
    for (flaw, expected) in cases {
        let report = block_on(conformance::skill_store::check(async || {
            let inner = MemoryStore::new();
            Ok(Arc::new(FlawedStore { inner, flaw }) as Arc<dyn SkillStore>)
        }));
        assert_eq!(failed(&report), expected, "{flaw:?}\n{report}");
        assert!(report.into_result().is_err());
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum FilesFlaw {
    EndsAtNul,
    SecondIsAnother,
    AlwaysThere,
    KeepsTooMuch,
    TakesUnknown,
}

#[derive(Debug)]
struct FlawedFiles {
    inner: MemoryStore,
    flaw: FilesFlaw,
    kept: Mutex<Vec<Vec<u8>>>,
}

#[async_trait]
impl SkillFiles for FlawedFiles {
    async fn put(&self, bytes: &[u8]) -> Result<FileRef> {
        let mut kept = self.kept.lock().unwrap();
        let again = kept.iter().any(|before| before == bytes);
        let mut file = match (self.flaw, FileRef::of(bytes)) {
            (FilesFlaw::KeepsTooMuch, Err(_)) => FileRef::of(b"")?,
            (_, file) => file?,
        };
        kept.push(bytes.to_vec());
        file.bytes += u64::from(self.flaw == FilesFlaw::SecondIsAnother && again);
        Ok(file)
    }

    async fn get(&self, sha256: &str) -> Result<Option<Vec<u8>>> {
        let kept = self.kept.lock().unwrap();
        let mut kept = kept.iter();
        let found = kept.find(|bytes| sha256_hex(bytes) == sha256).cloned();
        Ok(match self.flaw {
            FilesFlaw::EndsAtNul => found.map(|bytes| {
                let end = bytes.iter().position(|byte| *byte == 0);
                bytes[..end.unwrap_or(bytes.len())].to_vec()
            }),
            FilesFlaw::AlwaysThere => Some(found.unwrap_or_default()),
            _ => found,
        })
    }
}

#[async_trait]
impl SkillStore for FlawedFiles {
    async fn load(&self) -> Result<Snapshot> {
        self.inner.load().await
    }
    async fn since(&self, revision: Revision) -> Result<Vec<Committed>> {
        self.inner.since(revision).await
    }
    async fn commit(&self, commit: &Commit) -> Result<Committed> {
        if self.flaw == FilesFlaw::TakesUnknown {
            return commit.made_on(Revision(0));
        }
        let kept = self.kept.lock().unwrap().clone();
        for bytes in kept {
            self.inner.put(&bytes).await?;
        }
        self.inner.commit(commit).await
    }
}

#[test]
fn files() {
    let cases: [(FilesFlaw, &[&str]); 5] = [
        (FilesFlaw::EndsAtNul, &["content"]),
        (FilesFlaw::SecondIsAnother, &["again"]),
        (FilesFlaw::AlwaysThere, &["absent", "size"]),
        (FilesFlaw::KeepsTooMuch, &["size"]),
        (FilesFlaw::TakesUnknown, &["named"]),
    ];
    for (flaw, expected) in cases {
        let report = block_on(conformance::skill_files::check(async || {
            let files = Arc::new(FlawedFiles {
                inner: MemoryStore::new(),
                flaw,
                kept: Mutex::default(),
            });
            let store = Arc::clone(&files) as Arc<dyn SkillStore>;
            Ok((files as Arc<dyn SkillFiles>, Some(store)))
        }));
        assert_eq!(failed(&report), expected, "{flaw:?}\n{report}");
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum JournalFlaw {
    OneRun,
    Doubles,
    LetsGaps,
    NothingBeforeAGap,
    Overwrites,
    Backwards,
}

#[derive(Debug)]
struct FlawedJournal {
    kept: Mutex<Vec<JournalEntry>>,
    flaw: JournalFlaw,
}

impl FlawedJournal {
    fn take(&self, entry: &JournalEntry) -> Result<()> {
        let mut kept = self.kept.lock().unwrap();
        let of_run = kept.iter().filter(|k| k.run == entry.run).count() as u64;
        let there = (kept.iter_mut()).find(|k| k.run == entry.run && k.sequence == entry.sequence);
        match there {
            Some(there) if self.flaw == JournalFlaw::Overwrites => *there = entry.clone(),
            Some(there) if there == entry && self.flaw != JournalFlaw::Doubles => {}
            Some(there) if there != entry => {
                return Err(Error::new(
                    ErrorKind::Conflict,
                    "Journal::append",
                    "differs",
                ));
            }
            None if entry.sequence > of_run && self.flaw != JournalFlaw::LetsGaps => {
                return Err(Error::invalid("Journal::append", "gap"));
            }
            _ => kept.push(entry.clone()),
        }
        Ok(())
    }
}

#[async_trait]
impl Journal for FlawedJournal {
    async fn append(&self, entries: &[JournalEntry]) -> Result<()> {
        let before = self.kept.lock().unwrap().clone();
        for entry in entries {
            if let Err(error) = self.take(entry) {
                if self.flaw == JournalFlaw::NothingBeforeAGap {
                    *self.kept.lock().unwrap() = before;
                }
                return Err(error);
            }
        }
        Ok(())
    }

    async fn read(&self, run: &RunId) -> Result<Vec<JournalEntry>> {
        let mut kept = self.kept.lock().unwrap().clone();
        kept.retain(|entry| self.flaw == JournalFlaw::OneRun || entry.run == *run);
        if self.flaw == JournalFlaw::Backwards {
            kept.reverse();
        }
        Ok(kept)
    }
}

#[test]
fn journals() {
    let cases: [(JournalFlaw, &[&str]); 6] = [
        (JournalFlaw::OneRun, &["apart"]),
        (JournalFlaw::Doubles, &["once"]),
        (JournalFlaw::LetsGaps, &["gap"]),
        (JournalFlaw::NothingBeforeAGap, &["gap"]),
        (JournalFlaw::Overwrites, &["once"]),
        (JournalFlaw::Backwards, &["order", "apart", "once", "gap"]),
    ];
    for (flaw, expected) in cases {
        let report = block_on(conformance::journal::check(async || {
            let kept = Mutex::new(Vec::new());
            Ok(Arc::new(FlawedJournal { kept, flaw }) as Arc<dyn Journal>)
        }));
        assert_eq!(failed(&report), expected, "{flaw:?}\n{report}");
    }
}

#[test]
fn a_journal_that_cannot_be_had_fails_every_case() {
    let report = block_on(conformance::journal::check(async || {
        drop(MemoryJournal::new());
        Err(Error::new(ErrorKind::Unavailable, "open", "no disk"))
    }));
    assert_eq!(failed(&report), ["order", "apart", "once", "gap"]);
    assert!(
        report
            .to_string()
            .contains("FAILED   Journal: order: an unexpected error: Unavailable")
    );
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum ScorerFlaw {
    DropsOne,
    Turned,
    Infinite,
    Short,
    NeverCuts,
    NeverSaysCut,
    DependsOnOthers,
    ReadsSpecials,
    SkipsEmpty,
    TakesAnyLength,
}

#[derive(Debug)]
struct FlawedScorer {
    inner: ScriptedScorer,
    flaw: ScorerFlaw,
}

#[async_trait]
impl Scorer for FlawedScorer {
    fn model(&self) -> &ModelId {
        self.inner.model()
    }

    async fn score(&self, request: &ScoreRequest) -> Result<Vec<TokenScores>> {
        let mut request = request.clone();
        match self.flaw {
            ScorerFlaw::TakesAnyLength => request.prompt = Prompt::default(),
            ScorerFlaw::NeverCuts => request.max_continuation_tokens = usize::MAX,
            ScorerFlaw::SkipsEmpty => request.continuations.retain(|text| !text.is_empty()),
            _ => {}
        }
        let mut scores = self.inner.score(&request).await?;
        let count = scores.len();
        for (scored, text) in scores.iter_mut().zip(&request.continuations) {
            match self.flaw {
                ScorerFlaw::Infinite => scored.logprobs.iter_mut().for_each(|l| *l = f64::NAN),
                ScorerFlaw::Short => drop(scored.logprobs.pop()),
                ScorerFlaw::NeverSaysCut => scored.truncated = false,
                ScorerFlaw::DependsOnOthers => {
                    scored
                        .logprobs
                        .iter_mut()
                        .for_each(|l| *l -= 0.01 * count as f64);
                }
                ScorerFlaw::ReadsSpecials if text.starts_with("<|") => {
                    scored.ids.truncate(1);
                    scored.logprobs.truncate(1);
                }
                _ => {}
            }
        }
        match self.flaw {
            ScorerFlaw::DropsOne => drop(scores.pop()),
            ScorerFlaw::Turned => scores.sort_by_key(|scored| scored.ids.clone()),
            _ => {}
        }
        Ok(scores)
    }
}

#[test]
fn scorers() {
    let fixture = conformance::scorer::ScorerFixture {
        prompt: Prompt {
            messages: vec![Message::data(Speaker::User, "open the vault")],
            open: Vec::new(),
        },
        continuations: vec!["first unseal it".to_owned(), "brew a coffee".to_owned()],
        special: Some("<| im_end |>".to_owned()),
        context: Some(4_096),
        time_limit: Duration::from_secs(10),
    };
    let cases: [(ScorerFlaw, &[&str]); 10] = [
        (
            ScorerFlaw::DropsOne,
            &["one each", "shared prefix", "data", "empty"],
        ),
        (ScorerFlaw::Turned, &["one each"]),
        (ScorerFlaw::Infinite, &["finite", "shared prefix"]),
        (ScorerFlaw::Short, &["finite"]),
        (ScorerFlaw::NeverCuts, &["cut"]),
        (ScorerFlaw::NeverSaysCut, &["cut"]),
        (ScorerFlaw::DependsOnOthers, &["shared prefix"]),
        (ScorerFlaw::ReadsSpecials, &["data"]),
        (ScorerFlaw::SkipsEmpty, &["empty"]),
        (ScorerFlaw::TakesAnyLength, &["too long"]),
    ];
    for (flaw, expected) in cases {
        let inner = ScriptedScorer::table([("unseal", -0.5), ("brew", -3.0)]);
        let scorer = FlawedScorer { inner, flaw };
        let report = block_on(conformance::scorer::check(&scorer, &fixture));
        assert_eq!(failed(&report), expected, "{flaw:?}\n{report}");
    }
}

#[test]
fn judges() {
    let task = sample::task("t", &["one"]);
    let fixture = conformance::judge::JudgeFixture {
        attempts: vec![sample::trajectory("a", &task, &["one"], true)],
        untold: vec![sample::ended("b", &task, EndReason::Finished)],
        samples: false,
        task,
    };
    let sound = |request: &JudgeRequest<'_>| Verdict {
        success: request
            .trajectory
            .outcome
            .as_ref()
            .map(|outcome| outcome.success),
        ..Verdict::binary(true)
    };
    let judges: [(&str, Box<dyn Judge>, &[&str]); 4] = [
        (
            "too much",
            Box::new(ScriptedJudge::by(move |request, _| {
                Play::Give(Verdict {
                    score: 1.5,
                    ..sound(request)
                })
            })),
            &["valid"],
        ),
        (
            "guesses",
            Box::new(ScriptedJudge::that(Play::Give(Verdict::binary(true)))),
            &["unsure"],
        ),
        (
            "wavers",
            Box::new(ScriptedJudge::by(move |request, call| {
                Play::Give(Verdict {
                    score: (call % 2) as f64,
                    ..sound(request)
                })
            })),
            &["repeats"],
        ),
        (
            "fails",
            Box::new(ScriptedJudge::that(Play::Fail(Error::invalid(
                "Judge::judge",
                "no",
            )))),
            &["valid", "unsure", "repeats"],
        ),
    ];
    for (name, judge, expected) in judges {
        let report = block_on(conformance::judge::check(judge.as_ref(), &fixture));
        assert_eq!(failed(&report), expected, "{name}\n{report}");
    }
}

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
            RetrieverFlaw::MixesPasts => (update.since_key, update.key) = (None, None),
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

#[derive(Clone, Copy, Debug, PartialEq)]
enum ModelFlaw {
    Wavers,
    IgnoresTheLimit,
    IgnoresStops,
    ShortRecords,
    NeverTimesOut,
    TakesAnyLength,
}

#[derive(Debug)]
struct FlawedModel {
    inner: ScriptedModel,
    flaw: ModelFlaw,
}

#[async_trait]
impl LanguageModel for FlawedModel {
    fn capabilities(&self) -> &ModelCapabilities {
        self.inner.capabilities()
    }

    async fn generate(&self, request: &GenerateRequest) -> Result<Generation> {
        let mut request = request.clone();
        match self.flaw {
            ModelFlaw::IgnoresTheLimit => request.max_tokens = 100,
            ModelFlaw::IgnoresStops => request.stop.clear(),
            ModelFlaw::TakesAnyLength if request.prompt.text().len() > 1_000 => {
                request.prompt = Prompt::default();
            }
            ModelFlaw::NeverTimesOut if request.time_limit < Duration::from_secs(1) => {
                return futures::future::pending().await;
            }
            _ => {}
        }
        let mut answer = self.inner.generate(&request).await?;
        match self.flaw {
            ModelFlaw::Wavers => answer.text.push_str(&self.inner.calls().to_string()),
            ModelFlaw::ShortRecords => drop(answer.logprobs.pop()),
            _ => {}
        }
        Ok(answer)
    }
}

#[test]
fn language_models() {
    let prompt = Prompt {
        messages: vec![Message::data(Speaker::User, "say something")],
        open: Vec::new(),
    };
    let mut slow = GenerateRequest::greedy(prompt.clone(), 16);
    slow.time_limit = Duration::from_millis(20);
    let fixture = conformance::language_model::LanguageModelFixture {
        prompt,
        max_tokens: 16,
        time_limit: Duration::from_secs(10),
        slow: Some(slow),
        clock: Some(Arc::new(journeyman::builtin::SystemClock::new())),
    };
    let cases: [(ModelFlaw, &[&str]); 6] = [
        (ModelFlaw::Wavers, &["repeats", "stop", "cancel"]),
        (ModelFlaw::IgnoresTheLimit, &["limit"]),
        (ModelFlaw::IgnoresStops, &["stop"]),
        (ModelFlaw::ShortRecords, &["records"]),
        (ModelFlaw::NeverTimesOut, &["deadline"]),
        (ModelFlaw::TakesAnyLength, &["too long"]),
    ];
    for (flaw, expected) in cases {
        let inner = ScriptedModel::by(move |request, _| {
            let late = request.time_limit < Duration::from_secs(1);
            match late {
                true => Play::Fail(Error::new(
                    ErrorKind::Timeout,
                    "LanguageModel::generate",
                    "late",
                )),
                false => Play::Give("these are the words that it writes".to_owned()),
            }
        });
        let model = FlawedModel { inner, flaw };
        let report = block_on(conformance::language_model::check(&model, &fixture));
        assert_eq!(failed(&report), expected, "{flaw:?}\n{report}");
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
        Ok(texts
            .iter()
            .map(|text| Embedding(vec![1.0, text.len() as f32]))
            .collect())
    }
}

#[test]
fn embedders() {
    let space = EmbeddingSpace {
        name: "lengths".to_owned(),
        dimensions: 2,
    };
    let report = block_on(conformance::embedder::check(&LongEmbedder(space)));
    assert_eq!(failed(&report), ["unit"], "{report}");
}
