//! How many answers of each role could be read.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

use crate::domain::Role;

/// How the calls of one role went. A call is a request to the role with its repair, if there was one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RoleCounts {
    /// Number of calls.
    pub asked: u64,
    /// Number of calls whose first answer could not be read, and the repair could.
    pub repaired: u64,
    /// Number of calls in which neither the answer nor its repair could be read, those with a fallback included.
    pub unreadable: u64,
    /// Number of calls that ended without an answer: the model failed, or its context was too short for the prompt.
    pub failed: u64,
    /// Number of calls whose prompt was made shorter to fit the model's context.
    pub shortened: u64,
}

impl RoleCounts {
    /// The share of answered calls in which no answer could be read, in [0, 1]; `None` where no call was answered.
    pub fn unreadable_share(&self) -> Option<f64> {
        self.share(self.unreadable)
    }

    /// The share of answered calls whose first answer could not be read, in [0, 1]; `None` where no call was answered.
    pub fn first_unreadable_share(&self) -> Option<f64> {
        self.share(self.repaired.saturating_add(self.unreadable))
    }

    fn share(&self, part: u64) -> Option<f64> {
        let answered = self.asked.saturating_sub(self.failed);
        (answered > 0).then(|| part as f64 / answered as f64)
    }

    fn add(&mut self, more: Self) {
        let pairs = [
            (&mut self.asked, more.asked),
            (&mut self.repaired, more.repaired),
            (&mut self.unreadable, more.unreadable),
            (&mut self.failed, more.failed),
            (&mut self.shortened, more.shortened),
        ];
        for (sum, more) in pairs {
            *sum = sum.saturating_add(more);
        }
    }
}

/// [`RoleCounts`] by role. A role that was never asked has none.
///
/// ```
/// use journeyman::{domain::Role, report::{RoleCounts, RoleTally}};
///
/// let mut tally = RoleTally::default();
/// tally.count(Role::Extract, RoleCounts { asked: 50, repaired: 4, unreadable: 1, ..RoleCounts::default() });
/// assert_eq!(tally.get(Role::Extract).unreadable_share(), Some(0.02));
/// assert_eq!(tally.to_string(), "extract 2.0% of 50 (4 more repaired)");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RoleTally(BTreeMap<Role, RoleCounts>);

impl RoleTally {
    /// Whether no role was asked.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds calls of a role.
    pub fn count(&mut self, role: Role, calls: RoleCounts) {
        self.0.entry(role).or_default().add(calls);
    }

    /// Adds another tally.
    pub fn add(&mut self, more: &Self) {
        more.iter()
            .for_each(|(role, calls)| self.count(role, calls));
    }

    /// The calls of a role.
    pub fn get(&self, role: Role) -> RoleCounts {
        self.0.get(&role).copied().unwrap_or_default()
    }

    /// The roles that were asked, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (Role, RoleCounts)> {
        self.0.iter().map(|(role, calls)| (*role, *calls))
    }
}

/// Each role with the share of its answers that could not be read, on one line.
impl fmt::Display for RoleTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (role, calls)) in self.iter().enumerate() {
            let between = if place > 0 { ", " } else { "" };
            let answered = calls.asked.saturating_sub(calls.failed);
            match calls.unreadable_share() {
                Some(share) => write!(f, "{between}{role} {:.1}% of {answered}", 100.0 * share)?,
                None => write!(f, "{between}{role} never answered")?,
            }
            let further = [
                (calls.repaired, "more repaired"),
                (calls.failed, "failed"),
                (calls.shortened, "with a shortened prompt"),
            ];
            let further = further.into_iter().filter(|(count, _)| *count > 0);
            let further: Vec<String> = further
                .map(|(count, words)| format!("{count} {words}"))
                .collect();
            if !further.is_empty() {
                write!(f, " ({})", further.join(", "))?;
            }
        }
        Ok(())
    }
}
