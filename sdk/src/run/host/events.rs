//! What a session tells while it runs.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use futures::{Stream, StreamExt, channel::mpsc::UnboundedReceiver};

use crate::run::report::Event;

/// The stream of a session's progress events ([`Journeyman::events`](super::Journeyman::events)), which ends with the session. Drop
/// it to unsubscribe.
///
/// ```
/// use std::sync::Arc;
///
/// use futures::StreamExt;
/// use journeyman::{
///     Seed,
///     agent::EnvironmentJudge,
///     contract::Components,
///     recipe,
///     run::{Journeyman, Options},
///     testing::{Play, ScriptedEnvironment, ScriptedExecutor, sample},
/// };
///
/// # futures::executor::block_on(async {
/// let agent = ScriptedExecutor::acting(|_, _| Play::Give(None));
/// let world = ScriptedEnvironment::words();
/// let components = Components::new(Arc::new(agent), Arc::new(world), Arc::new(EnvironmentJudge));
/// let session = Journeyman::open(components, recipe::standard(), Options::new("first", Seed(7))).await?;
///
/// let mut events = session.events();
/// assert!(events.try_next().is_none(), "nothing has happened yet");
/// session.evaluate(vec![sample::task("greet", &["good", "day"])]).await?;
/// assert!(events.next().await.is_some());
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct Events(pub(super) UnboundedReceiver<Event>);

impl Events {
    /// The next event if it is there already; does not wait.
    pub fn try_next(&mut self) -> Option<Event> {
        self.0.try_recv().ok()
    }
}

impl Stream for Events {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Event>> {
        self.0.poll_next_unpin(context)
    }
}
