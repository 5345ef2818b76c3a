//! Options for opening a library.

use std::time::Duration;

use journeyman::text::Redactor;

/// Which acknowledged writes a crash may lose.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Durability {
    /// Acknowledged writes survive a killed process, a system crash and a power loss. One sync before each
    /// acknowledgement.
    #[default]
    Sync,
    /// Acknowledged writes survive a killed process. A system crash or a power loss may lose the last commits: the
    /// latest first, and each as a whole. No sync before an acknowledgement.
    Relaxed,
}

/// Options for opening a library.
///
/// ```
/// use journeyman_disk::{Durability, DiskOptions};
///
/// let mut options = DiskOptions::default();
/// options.durability = Durability::Relaxed;
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskOptions {
    /// Which acknowledged writes a crash may lose. Default: none ([`Durability::Sync`]).
    pub durability: Durability,
    /// How long a call waits for other processes that write. Default: 60 seconds.
    pub patience: Duration,
    /// Whether skills are also kept as folders beside the database, for people and tools to read and edit. Default:
    /// true.
    pub folders: bool,
    /// Removes secrets from everything that is committed or appended to the journal (S10). Default: the known formats
    /// of secrets. A run redacts its own input with a redactor of its own options: give both the same one. A skill file
    /// that holds a secret is refused.
    pub redactor: Redactor,
    /// Whether to create a library where none exists. Default: true.
    pub create: bool,
}

impl Default for DiskOptions {
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            patience: Duration::from_secs(60),
            folders: true,
            redactor: Redactor::default(),
            create: true,
        }
    }
}
