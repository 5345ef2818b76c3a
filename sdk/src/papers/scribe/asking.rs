//! Asks roles for their answers alone.

use crate::{
    contract::{RoleAnswer, RoleTask},
    policy::{Ask, ask_roles},
};

/// Gives each role its task, and the answers in order; an event for each that could not be played.
pub(super) async fn roles(ask: &mut Ask, tasks: Vec<RoleTask>) -> Vec<Option<RoleAnswer>> {
    let replies = ask_roles(ask, tasks).await;
    let answers = replies
        .into_iter()
        .map(|reply| Some(reply.reply.ok()??.answer));
    answers.collect()
}
