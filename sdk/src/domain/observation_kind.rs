//! What an observation is to the agent.

use serde::{Deserialize, Serialize};

/// What an observation is to the agent: what came of its action, a user's words, or something that happened.
///
/// A prompt format gives a user's words to the model as the user's own turn, and everything else as data in which no instruction is
/// followed. So an environment says [`User`](Self::User) where a person speaks to the agent, and nowhere else; how far the
/// text is trusted is said by its [`Source`](super::Source), whatever the kind.
///
/// ```
/// use journeyman::domain::{Observation, ObservationKind, Source};
///
/// let asks = Observation::new("And now the second one, please.", Source::trusted("desk"));
/// assert_eq!(asks.kind, ObservationKind::Result);
/// assert_eq!(asks.by_user().kind, ObservationKind::User);
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObservationKind {
    /// What came of an action, such as a tool's output, or what the world looks like at first: data.
    #[default]
    Result,
    /// What the user of the dialogue says: a request, an answer to a question.
    User,
    /// Something that happened without the agent, such as an alarm: data.
    Event,
}

impl ObservationKind {
    /// Whether it is the default, which is not written.
    pub(crate) fn is_result(&self) -> bool {
        *self == Self::Result
    }
}
