//! The conformance suite of [`SkillFiles`].

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

/// Checks a file storage. Every call of `fresh` has to return an empty one; if the same object is also a skill store, it is
/// returned as the second value.
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
            format!(
                "expected {} bytes to be stored under {}, their SHA-256, found {}",
                bytes.len(),
                sha256_hex(&bytes),
                file.sha256
            )
        })?;
        require(file.bytes == bytes.len() as u64, || {
            format!(
                "expected a size of {} bytes, found {}",
                bytes.len(),
                file.bytes
            )
        })?;
        let got = files.get(&file.sha256).await?;
        require(got.as_deref() == Some(&bytes), || {
            format!(
                "expected the {} stored bytes, found {:?} bytes, or other content",
                bytes.len(),
                got.as_ref().map(Vec::len)
            )
        })?;
    }
    Ok(())
}

async fn again(fresh: &impl AsyncFn() -> Result<Kept>) -> Tried {
    let files = fresh().await?;
    let first = files.put(b"again").await?;
    let second = files.put(b"again").await?;
    require(first == second, || {
        format!("expected {first:?} for a second `put` of the same bytes, found {second:?}")
    })?;
    let got = files.get(&first.sha256).await?;
    require(got.as_deref() == Some(b"again"), || {
        "expected the same bytes after a second `put`, found others".into()
    })
}

async fn absent(fresh: &impl AsyncFn() -> Result<Kept>) -> Tried {
    let files = fresh().await?;
    files.put(b"there").await?;
    for hash in [sha256_hex("absent").as_str(), "", "no hash"] {
        let got = files.get(hash).await?;
        require(got.is_none(), || {
            format!("expected nothing for the unknown hash {hash:?}, found a file")
        })?;
    }
    Ok(())
}

async fn size(fresh: &impl AsyncFn() -> Result<Kept>) -> Tried {
    let files = fresh().await?;
    let bytes = vec![1; FileRef::MAX as usize + 1];
    require_error(
        files.put(&bytes).await,
        &[ErrorKind::Invalid],
        "`put` of one byte more than the maximum size",
    )?;
    let got = files.get(&sha256_hex(&bytes)).await?;
    require(got.is_none(), || {
        "expected a refused file not to be stored, found it".into()
    })
}

async fn named(fresh: &impl AsyncFn() -> Result<(Kept, Option<Arc<dyn SkillStore>>)>) -> Tried {
    let (files, Some(store)) = fresh().await? else {
        return skip("the file storage is not a skill store");
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
            at: None,
        },
        changes: vec![LibraryChange::Add(Box::new(skill))],
    };
    let early = store.commit(&commit).await;
    require_error(
        early,
        &[ErrorKind::Invalid],
        "a commit of a skill whose file is not stored",
    )?;
    files.put(b"reference").await?;
    store.commit(&commit).await?;
    Ok(())
}
