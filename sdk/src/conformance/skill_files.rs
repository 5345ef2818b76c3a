//! The rules of [`SkillFiles`].

use std::{collections::BTreeMap, sync::Arc};

use super::report::{Report, Tried, require, require_error, skip};
use crate::{
    contract::{SkillFiles, SkillStore},
    domain::{Cause, Commit, FilePath, FileRef, LibraryChange},
    error::{ErrorKind, Result},
    id::{Revision, sha256_hex},
    testing::sample,
};

type Kept = Arc<dyn SkillFiles>;

/// Checks a place for files; `fresh` makes an empty one at each call, with the same object as a store if it is one.
pub async fn check(fresh: impl AsyncFn() -> Result<(Kept, Option<Arc<dyn SkillStore>>)>) -> Report {
    let mut report = Report::new("SkillFiles");
    let files = async || fresh().await.map(|(files, _)| files);
    report.case("content", content(&files).await);
    report.case("again", again(&files).await);
    report.case("absent", absent(&files).await);
    report.case("size", size(&files).await);
    report.case("named", named(&fresh).await);
    report
}

fn samples() -> [Vec<u8>; 5] {
    let all = (0..=255).collect();
    [
        Vec::new(),
        b"#!/bin/sh\n".to_vec(),
        vec![0; 3],
        all,
        vec![0xff; FileRef::MAX as usize],
    ]
}

async fn content(fresh: &impl AsyncFn() -> Result<Kept>) -> Tried {
    let files = fresh().await?;
    let mut put = Vec::new();
    for bytes in samples() {
        put.push((files.put(&bytes).await?, bytes));
    }
    for (file, bytes) in put {
        require(file.sha256 == sha256_hex(&bytes), || {
            format!("{} bytes were put under another hash", bytes.len())
        })?;
        require(file.bytes == bytes.len() as u64, || {
            format!("{} bytes were counted as {}", bytes.len(), file.bytes)
        })?;
        let got = files.get(&file.sha256).await?;
        require(got.as_deref() == Some(&bytes), || {
            format!("{} bytes did not come back as they were", bytes.len())
        })?;
    }
    Ok(())
}

async fn again(fresh: &impl AsyncFn() -> Result<Kept>) -> Tried {
    let files = fresh().await?;
    let first = files.put(b"again").await?;
    let second = files.put(b"again").await?;
    require(first == second, || {
        "the second put gave another file".into()
    })?;
    let got = files.get(&first.sha256).await?;
    require(got.as_deref() == Some(b"again"), || {
        "the bytes changed".into()
    })
}

async fn absent(fresh: &impl AsyncFn() -> Result<Kept>) -> Tried {
    let files = fresh().await?;
    files.put(b"there").await?;
    for hash in [sha256_hex("absent").as_str(), "", "no hash"] {
        let got = files.get(hash).await?;
        require(got.is_none(), || "bytes came for what was never put".into())?;
    }
    Ok(())
}

async fn size(fresh: &impl AsyncFn() -> Result<Kept>) -> Tried {
    let files = fresh().await?;
    let bytes = vec![1; FileRef::MAX as usize + 1];
    require_error(
        files.put(&bytes).await,
        &[ErrorKind::Invalid],
        "a byte too many",
    )?;
    let got = files.get(&sha256_hex(&bytes)).await?;
    require(got.is_none(), || "what was refused was kept".into())
}

async fn named(fresh: &impl AsyncFn() -> Result<(Kept, Option<Arc<dyn SkillStore>>)>) -> Tried {
    let (files, Some(store)) = fresh().await? else {
        return skip("what keeps the files is no store");
    };
    let file = FileRef::of(b"reference")?;
    let mut skill = sample::skill("naming");
    skill.files = BTreeMap::from([(FilePath::new("references/a.md")?, file)]);
    let commit = Commit {
        base: Revision(0),
        key: "naming".into(),
        cause: Cause {
            run: None,
            task: None,
            reason: "a skill with a file".into(),
        },
        changes: vec![LibraryChange::Add(Box::new(skill))],
    };
    let early = store.commit(&commit).await;
    require_error(early, &[ErrorKind::Invalid], "a file that was not put")?;
    files.put(b"reference").await?;
    store.commit(&commit).await?;
    Ok(())
}
