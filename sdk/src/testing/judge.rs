//! A judge that follows a script.

use std::fmt;

use async_trait::async_trait;

use super::play::{Calls, Play};
use crate::{
    contract::{Judge, JudgeRequest},
    domain::Verdict,
    error::Result,
};

type Script = dyn Fn(&JudgeRequest<'_>, usize) -> Play<Verdict> + Send + Sync;

/// A [`Judge`] that follows a script.
///
/// ```
/// use journeyman::{
///     domain::Verdict,
///     testing::{Play, ScriptedJudge},
/// };
///
/// // Whoever takes at most two steps has done the task.
/// let judge = ScriptedJudge::by(|request, _call| {
///     Play::Give(Verdict::binary(request.trajectory.steps.len() <= 2))
/// });
/// assert_eq!(judge.calls(), 0);
/// ```
pub struct ScriptedJudge {
    script: Box<Script>,
    calls: Calls,
}

impl ScriptedJudge {
    /// A judge that follows a closure.
    pub fn by(
        script: impl Fn(&JudgeRequest<'_>, usize) -> Play<Verdict> + Send + Sync + 'static,
    ) -> Self {
        Self {
            script: Box::new(script),
            calls: Calls::default(),
        }
    }

    /// A judge that plays the same at every call, such as [`Play::Hang`].
    pub fn that(play: Play<Verdict>) -> Self {
        Self::by(move |_, _| play.clone())
    }

    /// The number of calls.
    pub fn calls(&self) -> usize {
        self.calls.count()
    }
}

impl fmt::Debug for ScriptedJudge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedJudge")
            .field("calls", &self.calls())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Judge for ScriptedJudge {
    async fn judge(&self, request: &JudgeRequest<'_>) -> Result<Verdict> {
        (self.script)(request, self.calls.next()).perform().await
    }
}
