//! A seeded generator of hostile packages, and a corpus of known attacks.

mod corpus;
mod families;
mod front;
mod package;
mod paths;
mod texts;

pub use corpus::known_attacks;
use families::{FAMILIES, FRONT};
pub use package::{Hostile, RefusedBy};

use crate::{id::Seed, testing::ordinary::Parts};

/// A hostile package: an ordinary one (see [`ordinary`](super::ordinary())) that is changed in one of the 39 ways of
/// [`hostile_families`] and, for about every second seed, in one or two more.
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

/// The name of each family of [`hostile`], and who has to refuse its packages.
pub fn hostile_families() -> impl Iterator<Item = (&'static str, RefusedBy)> {
    FAMILIES.iter().map(|(what, by, _)| (*what, *by))
}

fn of_family(family: usize, more: u64, seed: Seed) -> Hostile {
    let (what, refused_by, bend) = FAMILIES[family % FAMILIES.len()];
    let mut parts = Parts::new(seed.derive("ordinary", 0));
    bend(&mut parts, seed.derive("bend", 0));
    for number in 0..more {
        let seed = seed.derive("other", number);
        // Further changes are of the same kind of refusal, and never too large, since size would hide the rest.
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
