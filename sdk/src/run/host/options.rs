//! The options of a session.

use std::num::NonZeroUsize;

use crate::{id::Seed, policy::Policies, text::Redactor};

/// The options of a session: name, seed, concurrency, secrets, and policies of the host's own.
///
/// ```
/// use std::num::NonZeroUsize;
/// use journeyman::{Seed, run::Options};
///
/// let mut options = Options::new("shop-agent", Seed(7));
/// options.in_flight = NonZeroUsize::MIN; // one attempt after the other
/// assert!(options.clone().read_only().read_only && !options.read_only);
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The prefix of the ids of this session's runs. A later start under the same name goes on counting where the store
    /// and the journal end, so a host keeps one name for good. Two processes that write to one store at the same time need
    /// a name each: else the second to commit gets a `Conflict`.
    pub session: String,
    /// The seed that all randomness is derived from.
    pub seed: Seed,
    /// Greatest number of calls to the host's parts at once; what the selection for a later turn of an attempt asks comes
    /// beside it, since the attempt waits. Default: 8.
    pub in_flight: NonZeroUsize,
    /// Removes secrets from everything that a run stores, writes skills from and reports; only the agent and its world see
    /// them. Default: the known forms of secrets; a host adds values or forms of its own. An id or a name that holds a secret
    /// is refused.
    pub redactor: Redactor,
    /// Whether the library is only read: attempts get skills, and nothing is learned from them. A frozen store is only read in
    /// any case.
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
