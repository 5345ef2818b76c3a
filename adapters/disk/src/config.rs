//! How a library is opened.

use std::time::Duration;

use journeyman::text::Redactor;

/// What a crash may take.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Durability {
    /// What was acknowledged survives a killed process, a crash of the system and a loss of power. One sync before each
    /// acknowledgement.
    #[default]
    Sync,
    /// What was acknowledged survives a killed process. A crash of the system or a loss of power may take the commits of
    /// the last moments, the latest first and whole ones only. No sync before an acknowledgement.
    Relaxed,
}

/// How a library is opened.
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
    /// What a crash may take. Default: nothing that was acknowledged.
    pub durability: Durability,
    /// How long a call waits for other processes that write. Default 60 seconds.
    pub patience: Duration,
    /// Whether the skills lie as folders beside the database, where people and other tools read them and people change
    /// them. Default: yes.
    pub folders: bool,
    /// Takes secrets out of whatever is committed or appended (S10), the known forms of them by default. A run takes them out
    /// of what it sees by a redactor of its own options: give both the same one. A skill's file that holds a secret is
    /// refused.
    pub redactor: Redactor,
    /// Whether a library is made where there is none. Default: yes.
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
