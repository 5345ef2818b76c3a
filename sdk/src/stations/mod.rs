//! The stations that a task passes, in order: skills are found, shown and chosen, an attempt is rewarded, skills get their credit,
//! drafts are written and admitted, the library is maintained, and each skill is compared with doing without it.
//!
//! ```text
//! retrieve -> inject -> select -> reward -> credit -> propose -> admit -> maintain -> proof
//! ```
//!
//! Each station holds what several papers share: its options, and the policies that Journeyman brings for it. A station sees those
//! before it. The traits behind the policies, which a host's implement too, are in [`policy`](crate::policy); those of one paper are in
//! its room ([`papers`](crate::papers)). `recipe` beside the stations is the data that names a policy for each.

pub mod admit;
pub mod credit;
pub mod inject;
pub mod maintain;
pub mod proof;
pub mod propose;
pub(crate) mod recipe;
pub mod retrieve;
pub mod reward;
pub mod select;
