//! How well the agent does at tasks like the one at hand, by which [`WriteWhen::Below`](super::WriteWhen::Below) decides.

use std::collections::BTreeSet;

use super::Recovered;
use crate::{
    domain::{AttemptNote, Task},
    id::sha256_hex,
    text::content_words,
};

/// Number of attempts whose mean says how well the agent does: a group of this size or more is averaged alone, a smaller one
/// together with the latest attempts at similar tasks before it. The size of `standard`'s groups.
pub const WINDOW: usize = 4;

/// Minimum Jaccard index of the words of two similar instructions. An estimate, not measured on other hosts' tasks; a host
/// that groups its tasks by [`Task::category`] does not depend on it.
const MIN_JACCARD: f64 = 0.5;

/// Digests of the content words of a task's instruction as an [`AttemptNote`] keeps them: sorted, each once.
pub fn note_words(task: &Task) -> Vec<u16> {
    let words = content_words(&task.instruction).into_iter();
    let digests: BTreeSet<u16> = words.map(|word| digest(&word)).collect();
    digests.into_iter().take(AttemptNote::WORDS).collect()
}

/// The first 16 bits of a word's SHA-256.
fn digest(word: &str) -> u16 {
    let hex = sha256_hex(word);
    u16::from_str_radix(&hex[..4], 16).unwrap_or_default()
}

/// The mean level of a small group's attempts and of the latest attempts at similar tasks before it, [`WINDOW`] in all; `None`
/// for no attempt. Tasks are similar if their categories are equal or, if one of them has no category, if the Jaccard index of
/// their content words is at least 0.5.
pub fn level_at_like_tasks<'a>(
    task: &Task,
    own: &[AttemptNote],
    before: impl DoubleEndedIterator<Item = &'a AttemptNote>,
    recovered: Recovered,
) -> Option<f64> {
    let words = note_words(task);
    let is_similar = |note: &&AttemptNote| match (&note.category, &task.category) {
        (Some(one), Some(other)) => one == other,
        _ => jaccard(&note.words, &words) >= MIN_JACCARD,
    };
    let level = |note: &AttemptNote| recovered.level(note.score, note.refused);
    let own_levels = own.iter().map(level);
    let room = WINDOW.saturating_sub(own.len());
    let earlier = before.rev().filter(is_similar).take(room);
    let levels: Vec<f64> = own_levels.chain(earlier.map(level)).collect();
    let count = levels.len();
    (count > 0).then(|| levels.iter().sum::<f64>() / count as f64)
}

/// The Jaccard index of two lists without duplicates; 0 for two empty ones.
fn jaccard(one: &[u16], other: &[u16]) -> f64 {
    let common = one.iter().filter(|word| other.contains(word)).count();
    let all = one.len() + other.len() - common;
    if all == 0 {
        return 0.0;
    }
    common as f64 / all as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(task: &Task, score: f64, refused: u32) -> AttemptNote {
        AttemptNote {
            attempt: "a".into(),
            category: task.category.clone(),
            words: note_words(task),
            score,
            refused,
        }
    }

    fn check(own: (f64, u32), before: &[(&str, f64, u32)], expect: f64) {
        let task = Task::new("t", "Close ticket T-9 for customer Ada");
        let earlier: Vec<AttemptNote> = before
            .iter()
            .map(|(words, score, refused)| note(&Task::new("b", *words), *score, *refused))
            .collect();
        let own = [note(&task, own.0, own.1)];
        let level = level_at_like_tasks(&task, &own, earlier.iter(), Recovered::AsFailed);
        assert_eq!(level, Some(expect));
    }

    #[test]
    fn the_latest_attempts_at_like_tasks_count() {
        check((1.0, 0), &[], 1.0);
        // Done, but only after a refusal.
        check((1.0, 1), &[], 0.0);
        check(
            (1.0, 0),
            &[("Close ticket T-1 for customer Bob", 0.0, 0)],
            0.5,
        );
        check((1.0, 0), &[("Water the flowers", 0.0, 0)], 1.0);
        let like = "close the ticket of customer Eve";
        check(
            (1.0, 0),
            &[
                (like, 0.0, 0),
                (like, 1.0, 0),
                (like, 1.0, 0),
                (like, 1.0, 0),
            ],
            1.0,
        );
    }

    #[test]
    fn a_note_keeps_no_word_of_its_task() {
        let task = Task::new("t", "Close ticket T-9 for customer Lovelace");
        let note = serde_json::to_string(&note(&task, 1.0, 0)).unwrap();
        assert!(!note.to_lowercase().contains("lovelace"), "{note}");
        assert!(!note.contains("ticket"), "{note}");
    }

    #[test]
    fn categories_decide_where_both_have_one() {
        let mut task = Task::new("t", "one");
        task.category = Some("tickets".into());
        let mut other = Task::new("o", "two");
        other.category = Some("tickets".into());
        let notes = [note(&other, 0.0, 0)];
        let own = [note(&task, 1.0, 0)];
        let level = |own: &[AttemptNote], before: &[AttemptNote]| {
            level_at_like_tasks(&task, own, before.iter(), Recovered::AsFailed)
        };
        assert_eq!(level(&own, &notes), Some(0.5));
        assert_eq!(level(&[], &[]), None);
    }
}
