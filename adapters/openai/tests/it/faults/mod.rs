//! Failures of a server end in typed errors, within the retries and the deadline, and nothing reaches a sink twice (F10 to
//! F12).

mod answers;
mod deadlines;
mod refusals;
mod retries;
mod scores_and_embeddings;

use crate::support::failing::{
    CHAT, KEY, ask, end, failing, failing_at, failing_with, good, request, text,
};
