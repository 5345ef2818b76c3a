//! A seeded generator of hostile packages, and a corpus of known attacks.

mod corpus;
mod families;
mod front;
mod paths;
mod texts;

use std::collections::BTreeMap;

use crate::{id::Seed, testing::ordinary::Parts};
pub use corpus::known_attacks;
use families::{FAMILIES, FRONT};

/// Who keeps a hostile package from being used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedBy {
    /// A linter finds an error.
    Lint,
    /// It is well formed: what is imported starts quarantined, and a person or evidence has to release it.
    Quarantine,
}

/// A hostile package as a linter is given it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hostile {
    /// What is hostile about it.
    pub what: &'static str,
    /// Who has to refuse it.
    pub refused_by: RefusedBy,
    /// SKILL.md.
    pub text: Vec<u8>,
    /// The other files, by their paths within the folder; some are no paths that anybody should write to.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The folder's name.
    pub folder_name: String,
}

/// A hostile package: an ordinary one (see [`ordinary`](super::ordinary())) that is bent in one way of the 39 that
/// [`hostile_families`] tells, and, for every second seed, in one or two more.
///
/// ```
/// use journeyman::{Seed, testing::hostile};
///
/// assert_eq!(hostile(Seed(7)), hostile(Seed(7)));
/// assert_ne!(hostile(Seed(7)).text, hostile(Seed(8)).text);
/// ```
pub fn hostile(seed: Seed) -> Hostile {
    let family = seed.derive("family", 0).index(FAMILIES.len()).unwrap_or(0);
    let more = match seed.derive("more", 0).index(4) {
        Some(0) => 1,
        Some(1) => 2,
        _ => 0,
    };
    of_family(family, more, seed)
}

/// What each family of [`hostile`] is called, and who has to refuse it.
pub fn hostile_families() -> impl Iterator<Item = (&'static str, RefusedBy)> {
    FAMILIES.iter().map(|(what, by, _)| (*what, *by))
}

fn of_family(family: usize, more: u64, seed: Seed) -> Hostile {
    let (what, refused_by, bend) = FAMILIES[family % FAMILIES.len()];
    let mut parts = Parts::new(seed.derive("ordinary", 0));
    bend(&mut parts, seed.derive("bend", 0));
    for number in 0..more {
        let seed = seed.derive("other", number);
        // A package that only persuades stays one, and what is too large to be looked through would hide the rest.
        let others = FAMILIES.iter().skip(FRONT);
        let others: Vec<_> = others
            .filter(|(what, by, _)| *by == refused_by && !what.contains("too large"))
            .collect();
        if let Some(which) = seed.index(others.len()) {
            others[which].2(&mut parts, seed);
        }
    }
    Hostile {
        what,
        refused_by,
        text: parts.text(),
        files: parts.files,
        folder_name: parts.folder_name,
    }
}

/// Letters and digits as an issuer would draw them.
fn fill(seed: Seed, length: u64) -> String {
    const DRAWN: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    (0..length)
        .filter_map(|at| seed.derive("letter", at).index(DRAWN.len()))
        .map(|at| char::from(DRAWN[at]))
        .collect()
}
