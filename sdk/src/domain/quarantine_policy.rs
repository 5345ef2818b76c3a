//! How skills in quarantine are tried (row J7). The public path of the options is that of
//! [`maintain`](crate::stations::maintain).

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// How skills in quarantine are tried: those that are there since they are tainted or imported, and not by the word of the
/// host or a person. They are offered in learning alone, every use is marked
/// ([`InjectedSkill::quarantined`](crate::domain::InjectedSkill::quarantined),
/// [`Selection::quarantined`](crate::domain::Selection::quarantined)), and what is written from an attempt with one is tainted.
///
/// The evidence that releases a skill on trial releases one of these, too, at as many tasks as are set here: its test bundle
/// where bundles are played, else live attempts with it. The first harm ends its trial, and that version stays in quarantine
/// until a person releases it: an attempt with it was judged harmful, or more attempts that may have followed it failed than
/// succeeded.
///
/// An untrusted text may be an attack, and a trial runs it: switch this on where whatever the agent can do in learning may go
/// wrong, in a sandbox for example.
///
/// ```
/// use std::num::NonZeroU32;
///
/// use journeyman::{stations::maintain::QuarantinePolicy, recipe};
///
/// let mut recipe = recipe::standard();
/// assert_eq!(recipe.maintenance.quarantine, None);
/// let tasks = NonZeroU32::new(5).expect("not 0");
/// recipe.maintenance.quarantine = Some(QuarantinePolicy::new(tasks));
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuarantinePolicy {
    /// Minimum number of different tasks whose evidence releases a skill. Ours: 3, one more than for a skill on trial.
    pub tasks: NonZeroU32,
}

impl QuarantinePolicy {
    /// Released by evidence at so many different tasks.
    pub fn new(tasks: NonZeroU32) -> Self {
        Self { tasks }
    }
}

impl Default for QuarantinePolicy {
    fn default() -> Self {
        Self {
            tasks: const { NonZeroU32::new(3).expect("not 0") },
        }
    }
}
