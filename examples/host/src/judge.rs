//! The judgement: a ticket is done only when the desk says so, and every refused call costs a tenth.

use journeyman::{contract::JudgeRequest, prelude::*};

/// The host's own judge.
#[derive(Debug)]
pub struct Supervisor;

#[async_trait]
impl Judge for Supervisor {
    async fn judge(&self, request: &JudgeRequest<'_>) -> Result<Verdict> {
        let attempt = request.trajectory;
        let done = attempt.outcome.as_ref().is_some_and(|end| end.success);
        let refused = attempt.steps.iter().filter(|step| step.result.is_error);
        let care = (1.0 - 0.1 * refused.count() as f64).max(0.0);
        Verdict::scored(done, if done { care } else { 0.0 })
    }
}
