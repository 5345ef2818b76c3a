//! Stores, files of skills, journals.

use super::*;

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
    KeepsTheFirst,
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
    fn is_read_only(&self) -> bool {
        self.inner.is_read_only()
    }

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

    async fn kept_scores(&self) -> Result<Vec<KeptScores>> {
        self.inner.kept_scores().await
    }

    async fn keep_scores(&self, scores: &[KeptScores]) -> Result<()> {
        let known = self.inner.kept_scores().await?;
        let is_new = |one: &&KeptScores| known.iter().all(|kept| kept.key != one.key);
        match self.flaw {
            StoreFlaw::KeepsTheFirst => {
                let new: Vec<KeptScores> = scores.iter().filter(is_new).cloned().collect();
                self.inner.keep_scores(&new).await
            }
            _ => self.inner.keep_scores(scores).await,
        }
    }
}

#[test]
fn stores() {
    let cases: [(StoreFlaw, &[&str]); 9] = [
        (StoreFlaw::AnyBase, &["base", "at once"]),
        (StoreFlaw::AgainIsConflict, &["once"]),
        (StoreFlaw::DropsAChange, &["valid", "together"]),
        (StoreFlaw::SinceIsInclusive, &["order", "since"]),
        (StoreFlaw::BeyondIsEmpty, &["since"]),
        (StoreFlaw::Backwards, &["order", "together", "since"]),
        (StoreFlaw::AcceptsRivals, &["at once"]),
        (StoreFlaw::TakesInvalid, &["valid"]),
        (StoreFlaw::KeepsTheFirst, &["scores"]),
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
    fn is_read_only(&self) -> bool {
        self.inner.is_read_only()
    }

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
    ListsTwice,
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

    async fn runs(&self) -> Result<Vec<RunId>> {
        let kept = self.kept.lock().unwrap().clone();
        let mut runs: Vec<RunId> = kept.into_iter().map(|entry| entry.run).collect();
        if self.flaw != JournalFlaw::ListsTwice {
            runs.sort();
            runs.dedup();
        }
        Ok(runs)
    }
}

#[test]
fn journals() {
    let cases: [(JournalFlaw, &[&str]); 7] = [
        (JournalFlaw::ListsTwice, &["lists"]),
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
    assert_eq!(failed(&report), ["order", "apart", "once", "lists", "gap"]);
    assert!(
        report
            .to_string()
            .contains("FAILED   Journal: order: an unexpected error: Unavailable")
    );
}
