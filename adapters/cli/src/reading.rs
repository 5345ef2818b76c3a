//! The skills that one import has read so far; all of them are taken in at once.

use journeyman::{Error, ErrorKind, Result};
use journeyman_disk::ArchiveLimits;

use crate::incoming::{IMPORT, Incoming, Refused};

/// The skills to take in, and the refused ones.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) incoming: Vec<Incoming>,
    pub(crate) refused: Vec<Refused>,
    /// Whether any error is recorded as a refusal, and does not end the import.
    pub(crate) keep_going: bool,
    /// Bytes that may still be read; an import is held in memory.
    room: u64,
}

impl Reading {
    /// Room for as many bytes as an archive may hold.
    pub(crate) fn new(keep_going: bool) -> Self {
        Self {
            incoming: Vec::new(),
            refused: Vec::new(),
            keep_going,
            room: ArchiveLimits::default().total,
        }
    }

    pub(crate) fn add(&mut self, one: Incoming) {
        let files: usize = one.files.values().map(Vec::len).sum();
        let bytes = (files + one.skill.body.len()) as u64;
        match self.room.checked_sub(bytes) {
            Some(room) => {
                self.room = room;
                self.incoming.push(one);
            }
            None => {
                let message = "one import holds at most 1 GiB";
                let error = Error::invalid(IMPORT, message).hint("split it into several imports");
                self.refused.push(Refused::new(one.place, error));
            }
        }
    }

    /// Records a refusal. Without `keep_going`, an error other than `Invalid` ends the import.
    pub(crate) fn refuse(&mut self, place: String, error: Error) -> Result<()> {
        if !self.keep_going && error.kind() != ErrorKind::Invalid {
            return Err(error);
        }
        self.refused.push(Refused::new(place, error));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::{collections::BTreeMap, path::Path};

    use journeyman::{
        domain::{FilePath, Source, Trust},
        testing::sample,
    };

    use super::*;

    #[test]
    fn no_more_is_held_than_there_is_room_for() {
        let source = Source::new("a friend", Trust::Untrusted);
        let mut reading = Reading::new(false);
        reading.room = 100;
        for bytes in [70, 70, 1] {
            let file = (FilePath::new("notes.txt").unwrap(), vec![0; bytes]);
            let mut skill = sample::skill("brew");
            skill.body.clear();
            let one = Incoming::read(Path::new("brew"), skill, BTreeMap::from([file]), &source);
            reading.add(one);
        }
        assert_eq!((reading.incoming.len(), reading.refused.len()), (2, 1));
    }
}
