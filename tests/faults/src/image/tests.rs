//! What of a disk is sure, and what is not.
#![allow(clippy::unwrap_used)]

use super::*;

fn write(path: &str, at: u64, bytes: &[u8]) -> Act {
    Act::Write {
        path: path.into(),
        at,
        bytes: bytes.to_vec(),
    }
}

fn sync(path: &str, done: bool) -> Act {
    let path = path.into();
    Act::Sync { path, done }
}

/// What the file `/d/a` holds after a loss of all that is not sure; `None` where there is no such file.
fn check(acts: &[Act], expect: Option<&str>) {
    let mut image = Image::default();
    acts.iter().for_each(|act| image.act(act));
    let target = tempfile::tempdir().unwrap();
    let root = Path::new("/d");
    image
        .restore(root, target.path(), Loss::All, Seed(1))
        .unwrap();
    let found = fs::read_to_string(target.path().join("a")).ok();
    assert_eq!(found.as_deref(), expect, "{acts:?}");
}

#[test]
fn only_what_was_synced_is_sure() {
    let first = write("/d/a", 0, b"first");
    check(&[first.clone(), sync("/d/a", true)], None);
    check(&[first.clone(), sync("/d", true)], Some(""));
    let made = [first, sync("/d/a", true), sync("/d", true)];
    check(&made, Some("first"));
    let then = |more: &[Act], expect| check(&[&made, more].concat(), expect);
    let second = write("/d/a", 0, b"other");
    then(std::slice::from_ref(&second), Some("first"));
    then(&[second.clone(), sync("/d/a", true)], Some("other"));
    let failed = [second, sync("/d/a", false), sync("/d/a", true)];
    then(&failed, Some("first"));
    let removed = Act::Remove {
        path: "/d/a".into(),
    };
    then(std::slice::from_ref(&removed), Some("first"));
    then(&[removed, sync("/d", true)], None);
    let renamed = [
        write("/d/b", 0, b"new"),
        Act::Rename {
            from: "/d/b".into(),
            to: "/d/a".into(),
            traded: false,
        },
    ];
    then(&renamed, Some("first"));
    then(&[&renamed[..], &[sync("/d", true)]].concat(), Some(""));
}

#[test]
fn a_folder_takes_along_what_is_in_it() {
    let folder = |path: &str| Act::Folder { path: path.into() };
    let trade = Act::Rename {
        from: "/d/next".into(),
        to: "/d/a".into(),
        traded: true,
    };
    let mut acts = vec![
        folder("/d/a"),
        write("/d/a/text", 0, b"old"),
        folder("/d/next"),
    ];
    acts.extend([write("/d/next/text", 0, b"new"), Act::SyncAll, trade]);
    let text = |acts: &[Act], loss: Loss| {
        let mut image = Image::default();
        acts.iter().for_each(|act| image.act(act));
        let target = tempfile::tempdir().unwrap();
        let restored = image.restore(Path::new("/d"), target.path(), loss, Seed(1));
        restored.unwrap();
        let text = |at: &str| fs::read_to_string(target.path().join(at).join("text")).unwrap();
        (text("a"), text("next"), image.too_early.len())
    };
    let is = |a: &str, next: &str, early| (a.to_owned(), next.to_owned(), early);
    assert_eq!(text(&acts, Loss::All), is("old", "new", 0));
    assert_eq!(text(&acts, Loss::Nothing), is("new", "old", 0));
    acts.push(sync("/d", true));
    assert_eq!(text(&acts, Loss::All), is("new", "old", 0));
    acts.push(write("/d/a/text", 0, b"odd"));
    assert_eq!(text(&acts, Loss::Nothing), is("odd", "old", 0));
    let synced = acts.iter().position(|act| matches!(act, Act::SyncAll));
    acts.remove(synced.unwrap());
    assert_eq!(text(&acts, Loss::Nothing), is("odd", "old", 1));
}

#[test]
fn a_torn_write_is_there_in_whole_sectors() {
    let bytes = vec![7; 64 * SECTOR];
    let parts = [(
        Part::Write {
            at: 0,
            bytes: &bytes,
        },
        Fate::Open,
    )];
    let torn = content(&parts, Loss::Torn, Seed(3));
    let mut sectors: Vec<_> = torn.chunks(SECTOR).map(|sector| sector[0]).collect();
    assert!(
        torn.chunks(SECTOR)
            .all(|sector| sector.iter().all(|byte| *byte == sector[0]))
    );
    sectors.sort_unstable();
    sectors.dedup();
    assert_eq!(sectors, [0, 7]);
}
