//! Which parts of a text are thoughts.

use crate::text::answer::thinking::MARKS;

/// Whether a thought ends in a text that began before it.
pub(super) fn ends_thoughts(text: &str) -> bool {
    MARKS.iter().any(|(open, close)| {
        let end = text.find(close);
        end.is_some_and(|end| !text[..end].contains(open))
    })
}

/// Where what `find` finds stands first in a text that is no thought. `None` where the thoughts before it do not end.
pub(super) fn find_outside(text: &str, find: &dyn Fn(&str) -> Option<usize>) -> Option<usize> {
    let marks = || MARKS.iter();
    // Thoughts that were opened in the prompt.
    let ended = marks().filter_map(|(open, close)| {
        let end = text.find(close)?;
        let is_first = text.find(open).is_none_or(|open| end < open);
        is_first.then_some(end + close.len())
    });
    let mut at = ended.max().unwrap_or(0);
    // Where each kind of thought begins next: a mark is searched for once for each time that it stands there.
    let mut opens: Vec<(usize, &str, &str)> = marks()
        .filter_map(|(open, close)| Some((at + text[at..].find(open)?, *open, *close)))
        .collect();
    loop {
        let opened = opens.iter().copied().min_by_key(|(begin, ..)| *begin);
        let end = opened.map_or(text.len(), |(begin, ..)| begin);
        if let Some(begin) = find(&text[at..end]) {
            return Some(at + begin);
        }
        let (begin, open, close) = opened?;
        let inner = begin + open.len();
        at = inner + text[inner..].find(close)? + close.len();
        opens.retain_mut(|(begin, open, _)| {
            if *begin >= at {
                return true;
            }
            let next = text[at..].find(*open);
            *begin = at + next.unwrap_or_default();
            next.is_some()
        });
    }
}
