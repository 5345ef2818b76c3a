//! The conformance suite of [`SkillStore`].

use std::sync::Arc;

use futures::future::join_all;

use super::report::{Report, Tried, require, require_error};
use crate::{
    contract::{KeptScores, SkillStore},
    domain::{Cause, Commit, Committed, LibraryChange, State, TierPolicy},
    error::{ErrorKind, Result},
    id::{CommitKey, Revision, RunId, SkillId, TaskId},
};

type Store = Arc<dyn SkillStore>;

/// Checks a store; every call of `fresh` has to return an empty one.
pub async fn check(fresh: impl AsyncFn() -> Result<Store>) -> Report {
    let mut report = Report::new("SkillStore");
    report.case("order", order(&fresh).await);
    report.case("base", base(&fresh).await);
    report.case("once", once(&fresh).await);
    report.case("valid", valid(&fresh).await);
    report.case("together", together(&fresh).await);
    report.case("since", since(&fresh).await);
    report.case("at once", at_once(&fresh).await);
    report.case("scores", scores(&fresh).await);
    report
}

fn commit(base: u64, key: &str) -> Commit {
    Commit {
        base: Revision(base),
        key: CommitKey::new(key),
        cause: Cause {
            run: Some(RunId::new("run")),
            task: Some(TaskId::new("task")),
            reason: format!("the reason of {key}"),
            at: None,
        },
        changes: vec![
            LibraryChange::Configure(TierPolicy {
                beta: 0.1 + 0.2,
                ..TierPolicy::default()
            }),
            LibraryChange::SetState {
                skill: SkillId::new(key),
                state: State::Disabled,
                reason: "with \"quotes\", a\nline's end and \u{e9}".to_owned(),
            },
            LibraryChange::Maintain,
        ],
    }
}

async fn filled(fresh: &impl AsyncFn() -> Result<Store>, commits: u64) -> Tried<Store> {
    let store = fresh().await?;
    for base in 0..commits {
        store.commit(&commit(base, &format!("key {base}"))).await?;
    }
    Ok(store)
}

fn in_order(committed: &[Committed], first: u64) -> Tried {
    let revisions: Vec<u64> = committed.iter().map(|c| c.revision.0).collect();
    let due: Vec<u64> = (first..).take(committed.len()).collect();
    require(revisions == due, || {
        format!("expected the revisions {due:?}, found {revisions:?}")
    })
}

async fn order(fresh: &impl AsyncFn() -> Result<Store>) -> Tried {
    let store = fresh().await?;
    let empty = store.load().await?;
    require(
        empty.revision == Revision(0) && empty.committed.is_empty(),
        || {
            format!(
                "expected an empty store at revision 0 without commits, found revision {} and {} commits",
                empty.revision,
                empty.committed.len()
            )
        },
    )?;
    let store = filled(fresh, 12).await?;
    let all = store.load().await?;
    require(
        all.revision == Revision(12) && all.committed.len() == 12,
        || {
            format!(
                "expected revision 12 and 12 entries after 12 commits, found revision {} and {} entries",
                all.revision,
                all.committed.len()
            )
        },
    )?;
    in_order(&all.committed, 1)?;
    let rest = store.since(Revision(4)).await?;
    in_order(&rest, 5)
}

async fn base(fresh: &impl AsyncFn() -> Result<Store>) -> Tried {
    let store = filled(fresh, 3).await?;
    let before = store.load().await?;
    for wrong in [0, 2, 4, u64::MAX] {
        let tried = store.commit(&commit(wrong, &format!("on {wrong}"))).await;
        require_error(
            tried,
            &[ErrorKind::Conflict],
            &format!("a commit on base {wrong} at revision 3"),
        )?;
    }
    let after = store.load().await?;
    require(before == after, || {
        "expected an unchanged store after refused commits, found a changed one".to_owned()
    })
}

async fn once(fresh: &impl AsyncFn() -> Result<Store>) -> Tried {
    let store = filled(fresh, 3).await?;
    let before = store.load().await?;
    for base in [0, 1, 3, 9] {
        let mut again = commit(base, "key 1");
        again.changes.clear();
        let given = store.commit(&again).await?;
        require(before.committed.get(1) == Some(&given), || {
            format!("expected the first commit again for its key on base {base}, found {given:?}")
        })?;
    }
    let after = store.load().await?;
    require(before == after, || {
        "expected an unchanged store after repeated keys, found a changed one".to_owned()
    })
}

async fn valid(fresh: &impl AsyncFn() -> Result<Store>) -> Tried {
    let store = filled(fresh, 1).await?;
    let mut wrong = commit(1, "wrong");
    wrong.changes.push(LibraryChange::Configure(TierPolicy {
        cache: 0,
        ..TierPolicy::default()
    }));
    let refused = store.commit(&wrong).await;
    require_error(
        refused,
        &[ErrorKind::Invalid],
        "a commit that sets the size of the cache to 0",
    )?;
    let all = store.load().await?;
    require(all.revision == Revision(1), || {
        format!(
            "expected revision 1 after a refused commit, found {}",
            all.revision
        )
    })?;
    store.commit(&commit(1, "wrong")).await?;
    Ok(())
}

async fn together(fresh: &impl AsyncFn() -> Result<Store>) -> Tried {
    let store = filled(fresh, 1).await?;
    let asked = commit(1, "several");
    let given = store.commit(&asked).await?;
    let kept = store.load().await?.committed.pop();
    require(kept.as_ref() == Some(&given), || {
        format!("expected the acknowledged commit {given:?} in the store, found {kept:?}")
    })?;
    require(given.changes == asked.changes, || {
        format!(
            "expected the changes {:?}, found {:?}",
            asked.changes, given.changes
        )
    })?;
    require(given.key == asked.key && given.cause == asked.cause, || {
        format!(
            "expected the key {:?} and the cause {:?}, found {:?} and {:?}",
            asked.key, asked.cause, given.key, given.cause
        )
    })
}

async fn since(fresh: &impl AsyncFn() -> Result<Store>) -> Tried {
    let store = filled(fresh, 5).await?;
    let all = store.load().await?.committed;
    for from in 0..=5_usize {
        let news = store.since(Revision(from as u64)).await?;
        in_order(&news, from as u64 + 1)?;
        require(news == all[from..], || {
            format!(
                "expected the last {} of 5 commits, as in `load`, from since({from}), found {}, or other content",
                5 - from,
                news.len()
            )
        })?;
    }
    for beyond in [6, u64::MAX] {
        let news = store.since(Revision(beyond)).await;
        require_error(
            news,
            &[ErrorKind::Invalid],
            &format!("since({beyond}) at revision 5"),
        )?;
    }
    Ok(())
}

async fn scores(fresh: &impl AsyncFn() -> Result<Store>) -> Tried {
    let store = filled(fresh, 2).await?;
    let before = store.load().await?;
    let of = |key: &str, sum: f64| KeptScores {
        key: key.to_owned(),
        tokens: 20,
        sums: vec![sum / 3.0, sum],
    };
    store
        .keep_scores(&[of("one", -0.1), of("two", -2.0)])
        .await?;
    store.keep_scores(&[of("one", -0.3)]).await?;
    let last = [of("one", -0.3), of("two", -2.0)];
    let mut kept = store.kept_scores().await?;
    kept.retain(|one| !last.contains(one));
    require(kept.is_empty(), || {
        format!("expected the scores that were kept last of each key, found {kept:?}")
    })?;
    require(store.load().await? == before, || {
        "expected the library as it was, found other commits".to_owned()
    })
}

async fn at_once(fresh: &impl AsyncFn() -> Result<Store>) -> Tried {
    let store = filled(fresh, 2).await?;
    let commits: Vec<Commit> = (0..8).map(|n| commit(2, &format!("rival {n}"))).collect();
    let answers = join_all(commits.iter().map(|commit| store.commit(commit))).await;
    let accepted = answers.iter().filter(|answer| answer.is_ok()).count();
    require(accepted == 1, || {
        format!("expected 1 of 8 concurrent commits on one base to be accepted, found {accepted}")
    })?;
    for refused in answers.into_iter().filter(Result::is_err) {
        require_error(
            refused,
            &[ErrorKind::Conflict],
            "a second commit on one base",
        )?;
    }
    let revision = store.load().await?.revision;
    require(revision == Revision(3), || {
        format!("expected revision 3 after one accepted commit on revision 2, found {revision}")
    })
}
