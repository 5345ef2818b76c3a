//! Events for roles whose answers cannot be used.

use super::{Ask, RoleReply};
use crate::{
    contract::RoleTask,
    domain::Usage,
    report::{EventKind, shown},
};

/// Gives each role its task, all concurrently, and emits an event for each that could not be played.
pub(crate) async fn ask_roles(ask: &mut Ask, tasks: Vec<RoleTask>) -> Vec<RoleReply> {
    ask_roles_counted(ask, tasks).await.0
}

/// [`ask_roles`], with the tokens that were used, failed calls included.
pub(crate) async fn ask_roles_counted(
    ask: &mut Ask,
    tasks: Vec<RoleTask>,
) -> (Vec<RoleReply>, Usage) {
    let (replies, used) = ask.roles_counted(tasks).await;
    let failed = unreadable(&replies).into_iter();
    let failed = failed.filter(|event| !matches!(event, EventKind::FellBack { .. }));
    failed.for_each(|event| ask.tell(event));
    (replies, used)
}

/// Events for prompts that were shortened, for roles that could not be played, and for unreadable answers that a fallback stands
/// in for.
pub(crate) fn unreadable(replies: &[RoleReply]) -> Vec<EventKind> {
    let shortened = |RoleReply { task, reply }: &RoleReply| {
        let prompt = reply.as_ref().ok()?.as_ref()?.shortened.as_ref()?;
        Some(EventKind::RoleShortened {
            role: task.role(),
            whole: prompt.whole,
            sent: prompt.sent,
            left_out: prompt.left_out.clone(),
        })
    };
    let failed = |RoleReply { task, reply }: &RoleReply| match reply {
        Err(error) => Some(EventKind::RoleFailed {
            role: task.role(),
            reason: error.to_string(),
        }),
        Ok(Some(played)) if played.fallback => Some(EventKind::FellBack {
            role: task.role(),
            reason: played.why_unreadable(),
            wrote: played
                .unreadable
                .last()
                .map_or_else(String::new, |last| shown(&last.text)),
        }),
        Ok(_) => None,
    };
    let events = replies.iter().filter_map(shortened);
    events.chain(replies.iter().filter_map(failed)).collect()
}
