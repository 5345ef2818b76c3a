//! The options of a session.

use std::{num::NonZeroUsize, time::Duration};

use crate::{id::Seed, policy::Policies, text::Redactor};

/// The options of a session: name, seed, concurrency, secrets, and policies of the host's own.
///
/// ```
/// use std::num::NonZeroUsize;
/// use journeyman::{Seed, run::Options};
///
/// let mut options = Options::new("shop-agent", Seed(7));
/// options.in_flight = NonZeroUsize::MIN; // one call at a time
/// assert!(options.clone().read_only().read_only && !options.read_only);
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The prefix of the ids of this session's runs. Keep one name permanently: a later process with the same name continues
    /// the run numbers in the store and the journal. Processes that write to one store at the same time need different names;
    /// with the same name, the second to commit gets a `Conflict`.
    pub session: String,
    /// The seed from which all randomness is derived.
    pub seed: Seed,
    /// Maximum number of concurrent calls to the host's parts. Calls for the selection of a later turn are not counted,
    /// because the attempt that waits for them is. Default: 8.
    pub in_flight: NonZeroUsize,
    /// Removes secrets from everything that a run stores, reports and shows to roles; only the agent and its environment see
    /// them. Default: the known forms of secrets; a host can add values and forms. An id or a name that holds a secret is
    /// refused.
    pub redactor: Redactor,
    /// Whether the library is only read: attempts get skills, and nothing is learned from them. With a frozen store the
    /// session is always read-only.
    pub read_only: bool,
    /// Whether an attempt that the host begins ([`Journeyman::begin`](crate::run::Journeyman::begin)) may be given a skill at random,
    /// with the probability of the recipe's gate ([`GatePolicy::epsilon`](crate::select::GatePolicy::epsilon)), to learn what it is
    /// good for. Default: no, since such attempts are made for somebody. [`learn`](crate::run::Journeyman::learn) explores as the
    /// recipe says. A selector that draws by itself (`random`, or one of the host's own) is not asked.
    pub explore_live: bool,
    /// The time that a decision about the skills of an attempt may take in the host's own loop
    /// ([`Journeyman::begin`](crate::run::Journeyman::begin), [`AttemptHandle::turn`](crate::run::AttemptHandle::turn)): when it
    /// is used up, nothing is newly chosen, and the decision says so: at a later turn the skills of the turn before stay, and a bank
    /// gives its general skills. Default: no budget beside the recipe's
    /// [`Limits`](crate::recipe::Limits). A host without a clock has none.
    pub decide_within: Option<Duration>,
    /// Whether a run's journal has the generations of roles, token by token, for a trainer; of a model that gives them
    /// ([`ModelCapabilities::token_records`](crate::contract::ModelCapabilities::token_records)). A role whose prompt or answer held
    /// a secret has none. Calls that write no journal keep none, and rollouts follow
    /// [`Rollouts::record`](crate::run::Rollouts::record). Default: no, for they are longer than the rest of the journal.
    pub record_roles: bool,
    /// Whether the spans have texts (prompts and answers of roles, arguments and results of tools), redacted. Default: no. A host
    /// that follows OpenTelemetry sets it where `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` is set.
    pub texts_in_spans: bool,
    /// The host's own policies, which the recipe may name.
    pub policies: Policies,
}

impl Options {
    /// A session that learns, with 8 concurrent calls and the default redactor.
    pub fn new(session: impl Into<String>, seed: Seed) -> Self {
        Self {
            session: session.into(),
            seed,
            in_flight: NonZeroUsize::MIN.saturating_add(7),
            redactor: Redactor::default(),
            read_only: false,
            explore_live: false,
            decide_within: None,
            record_roles: false,
            texts_in_spans: false,
            policies: Policies::default(),
        }
    }

    /// Sets the host's own policies.
    #[must_use]
    pub fn with_policies(mut self, policies: Policies) -> Self {
        self.policies = policies;
        self
    }

    /// Makes the session read-only.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }
}
