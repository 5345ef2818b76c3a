//! The journal of JSON lines, and what becomes of it when writing fails.
#![allow(clippy::unwrap_used)]

use std::io::{self, Write};

use futures::executor::block_on;
use journeyman::{
    ErrorKind, RunId,
    agent::{JsonLinesJournal, read_json_lines, recover_json_lines},
    contract::{Journal, JournalEntry},
};
use serde_json::json;

fn entry(run: &str, sequence: u64) -> JournalEntry {
    JournalEntry::new(
        RunId::new(run),
        sequence,
        json!({"secret": "swordfish", "score": 0.1 + 0.2 + sequence as f64 / 7.0}),
    )
}

fn entries(count: u64) -> Vec<JournalEntry> {
    (0..count).map(|sequence| entry("r", sequence)).collect()
}

fn written(entries: &[JournalEntry]) -> Vec<u8> {
    let journal = JsonLinesJournal::new(Vec::new());
    block_on(journal.append(entries)).unwrap();
    journal.into_writer()
}

/// A disk with room for so many bytes.
#[derive(Debug)]
struct Disk {
    kept: Vec<u8>,
    room: usize,
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let fits = bytes.len().min(self.room);
        if fits == 0 {
            return Err(io::Error::new(io::ErrorKind::StorageFull, "full"));
        }
        self.kept.extend_from_slice(&bytes[..fits]);
        self.room -= fits;
        Ok(fits)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_was_written_is_read_bit_for_bit() {
    let all = entries(200);
    let lines = written(&all);
    let read = read_json_lines(lines.as_slice()).unwrap();
    assert_eq!(read, all);
    assert_eq!(written(&read), lines);
}

#[test]
fn a_cut_last_line_is_said_so_and_can_be_forgiven() {
    let lines = written(&entries(3));
    let whole = lines.iter().rposition(|b| *b == b'{').unwrap();
    let start = lines[..lines.len() - 1]
        .iter()
        .rposition(|b| *b == b'\n')
        .unwrap()
        + 1;
    assert!(whole > start);
    for cut in start + 1..lines.len() - 1 {
        let error = read_json_lines(&lines[..cut]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.to_string().contains("line: 3"), "{error}");
        assert!(error.to_string().contains("cut short"), "{error}");
        assert!(!error.to_string().contains("sword"), "{error}");
        let recovered = recover_json_lines(&lines[..cut]).unwrap();
        assert_eq!(
            (recovered.entries, recovered.open_line, recovered.cut),
            (entries(2), Some(3), true)
        );
    }
    let unended = recover_json_lines(&lines[..lines.len() - 1]).unwrap();
    assert_eq!(
        (unended.entries, unended.open_line, unended.cut),
        (entries(3), Some(3), false)
    );
}

#[test]
fn a_damaged_line_is_named_and_never_repeated() {
    let whole = String::from_utf8(written(&entries(3))).unwrap();
    let schema = format!("\"schema\":{}", JournalEntry::SCHEMA);
    let cases = [
        (
            whole.replacen("\"sequence\":1", "\"sequence\":1\u{1}", 1),
            "line: 2",
        ),
        (
            whole.replacen(&schema, "\"schema\":\"swordfish\"", 1),
            "line: 1",
        ),
        (
            whole.replacen("\"sequence\":1", "\"sequence\":5", 1),
            "line: 2",
        ),
        (
            whole.replacen("\"sequence\":1", "\"sequence\":0", 1),
            "line: 2",
        ),
        (whole.replacen('\n', "\n\n", 1), "line: 2"),
        (whole.replacen('{', "swordfish", 1), "line: 1"),
    ];
    for (text, line) in cases {
        let error = read_json_lines(text.as_bytes()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(error.to_string().contains(line), "{error}");
        assert!(!format!("{error:?}").contains("swordfish"), "{error:?}");
    }
    let later = format!("\"schema\":{}", JournalEntry::SCHEMA + 1);
    let later = whole.replacen(&schema, &later, 1);
    let error = read_json_lines(later.as_bytes()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

#[test]
fn flipping_any_byte_never_panics() {
    let lines = written(&entries(2));
    for at in 0..lines.len() {
        for flip in [0x01, 0x20, 0x80] {
            let mut damaged = lines.clone();
            damaged[at] ^= flip;
            let _ = read_json_lines(damaged.as_slice());
        }
    }
}

#[test]
fn a_full_disk_is_an_error_and_the_journal_goes_on_when_there_is_room() {
    let all = entries(4);
    let sizes = written(&all).len();
    for room in 0..sizes {
        let mut disk = Disk {
            kept: Vec::new(),
            room,
        };
        let journal = JsonLinesJournal::new(&mut disk);
        let mut kept = 0;
        for entry in &all {
            match block_on(journal.append(std::slice::from_ref(entry))) {
                Ok(()) => kept += 1,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Unavailable);
                    break;
                }
            }
        }
        assert_eq!(
            block_on(journal.read(&RunId::new("r"))).unwrap(),
            all[..kept]
        );
        // A second try on the full disk, then room again.
        assert!(block_on(journal.append(&all)).is_err());
        drop(journal);
        let after = recover_json_lines(disk.kept.as_slice()).unwrap();
        assert!(after.entries.len() >= kept);
        assert_eq!(after.entries, all[..after.entries.len()]);

        disk.room = usize::MAX;
        let journal = JsonLinesJournal::resumed(&mut disk, &after).unwrap();
        block_on(journal.append(&all)).unwrap();
        drop(journal);
        assert_eq!(
            read_json_lines(disk.kept.as_slice()).unwrap(),
            all,
            "room {room}"
        );
    }
}

#[test]
fn the_same_journal_goes_on_after_a_failed_write() {
    let all = entries(4);
    for fail_at in 0..written(&all).len() {
        let journal = JsonLinesJournal::new(Stutter {
            kept: Vec::new(),
            until: fail_at,
            failed: 0,
        });
        let mut failures = 0;
        for entry in &all {
            while block_on(journal.append(std::slice::from_ref(entry))).is_err() {
                failures += 1;
            }
        }
        assert!(failures > 0);
        assert_eq!(
            read_json_lines(journal.into_writer().kept.as_slice()).unwrap(),
            all,
            "{fail_at}"
        );
    }
}

/// Fails three times in a row, each time after one more byte, once so many bytes are written.
#[derive(Debug)]
struct Stutter {
    kept: Vec<u8>,
    until: usize,
    failed: usize,
}

impl Write for Stutter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.failed < 3 && self.kept.len() >= self.until {
            self.failed += 1;
            self.until = self.kept.len() + 1;
            return Err(io::Error::other("stutter"));
        }
        let fits = match self.failed {
            3 => bytes.len(),
            _ => bytes.len().min(self.until - self.kept.len()),
        };
        self.kept.extend_from_slice(&bytes[..fits]);
        Ok(fits)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
