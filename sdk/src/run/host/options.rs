//! How a host wants its runs.

use std::num::NonZeroUsize;

use crate::{id::Seed, policy::Policies, text::Redactor};

/// How a host wants its runs.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// What the ids of this session's runs begin with. A later start under the same name goes on counting where the store
    /// and the journal end, so a host keeps one name for good. Two processes that write to one store at the same time need
    /// a name each: else the second to commit gets a `Conflict`.
    pub session: String,
    /// What all randomness follows from.
    pub seed: Seed,
    /// How many needs are performed at once.
    pub in_flight: NonZeroUsize,
    /// What takes secrets out of all that a run keeps, distils and tells; the agent and its world alone see them. By the
    /// known forms until a host names values or forms of its own. Ids and names are refused where they hold a secret.
    pub redactor: Redactor,
    /// Whether the library is only read: attempts are given skills and nothing is learned from them. A frozen store is read
    /// so whatever this says.
    pub read_only: bool,
    /// Policies of the host's own, which its recipe may name.
    pub policies: Policies,
}

impl Options {
    /// A session that learns; eight needs at once; secrets of known forms are redacted.
    pub fn new(session: impl Into<String>, seed: Seed) -> Self {
        Self {
            session: session.into(),
            seed,
            in_flight: NonZeroUsize::MIN.saturating_add(7),
            redactor: Redactor::default(),
            read_only: false,
            policies: Policies::default(),
        }
    }

    /// With policies of the host's own, which its recipe may name.
    #[must_use]
    pub fn with_policies(mut self, policies: Policies) -> Self {
        self.policies = policies;
        self
    }

    /// A session that only reads the library.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }
}
