//! The calls of a step.

use std::sync::Arc;

use journeyman::{Result, domain::ToolCall};

use crate::{
    approval::ApprovedTools,
    config::McpConfig,
    connection::{CallAnswer, Connection},
    convert,
    fault::McpFault,
    usable::Usable,
};

/// Makes calls in a session.
pub(crate) struct Caller {
    pub(crate) session: Arc<Connection>,
    pub(crate) usable: Usable,
    pub(crate) approved: ApprovedTools,
    pub(crate) config: Arc<McpConfig>,
    /// Whether the session is a new one, since the server forgot the first.
    pub(crate) is_renewed: bool,
}

/// What came of calls.
pub(crate) struct Made {
    pub(crate) texts: Vec<String>,
    /// Whether the last one was refused.
    pub(crate) is_error: bool,
    /// The session that took the place of one that the server forgot.
    pub(crate) renewed: Option<(Arc<Connection>, Usable)>,
}

impl Caller {
    /// Makes calls in order, up to the first that is refused.
    pub(crate) async fn make(mut self, calls: Vec<ToolCall>, step: &'static str) -> Result<Made> {
        let mut texts = Vec::new();
        for call in calls {
            let (text, is_error) = self.one(call, step).await?;
            texts.push(text);
            if is_error {
                return Ok(self.made(texts, true));
            }
        }
        Ok(self.made(texts, false))
    }

    fn made(self, texts: Vec<String>, is_error: bool) -> Made {
        Made {
            texts,
            is_error,
            renewed: self.is_renewed.then_some((self.session, self.usable)),
        }
    }

    /// The text of one call, and whether it was refused.
    async fn one(&mut self, call: ToolCall, step: &'static str) -> Result<(String, bool)> {
        let cap = self.config.text_cap.get();
        loop {
            if let Err(fault) = self.usable.check(&call.tool) {
                return Ok((fault.to_string(), true));
            }
            let answer = self
                .session
                .call(call.tool.clone(), call.arguments.clone())
                .await;
            match answer {
                Ok(CallAnswer::Result(result)) => {
                    let is_error = result.is_error == Some(true);
                    return Ok((convert::text(&result, cap), is_error));
                }
                Ok(CallAnswer::Refused(reason)) => return Ok((convert::cut(reason, cap), true)),
                // Where no call reached the session before, a new one is as good: this call was not made, and nothing
                // that an earlier call changed can be missing.
                Err(McpFault::SessionLost { .. })
                    if !self.is_renewed && !self.session.is_used() =>
                {
                    let (session, listed) = Connection::begin(self.config.clone(), step).await?;
                    self.session = Arc::new(session);
                    self.usable = Usable::new(&self.approved, &listed.tools);
                    self.is_renewed = true;
                }
                Err(fault) => return Err(self.session.error(step, &fault)),
            }
        }
    }
}
