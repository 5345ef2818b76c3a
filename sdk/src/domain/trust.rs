//! How far a host trusts a source.

use serde::{Deserialize, Serialize};

/// The host's trust in a source.
#[non_exhaustive]
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Anybody may have written it: skills distilled from it are tainted.
    #[default]
    Untrusted,
    /// The host trusts it.
    Trusted,
}
