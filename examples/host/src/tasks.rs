//! The tasks, and how far the host trusts what its desk says.

use journeyman::prelude::*;
use serde_json::json;

/// What the desk says may be learned from at once: it is the host's own. Untrusted is the default, and what is learned from
/// an untrusted source is quarantined.
pub fn source() -> Source {
    Source::trusted("ticket desk")
}

/// The `n`-th task: to close or to refund a ticket.
pub fn task(n: usize) -> Task {
    let customer = ["Ada", "Bob", "Cy", "Di", "Eve"][n % 5];
    let (verb, tool) = [("Close", "close_ticket"), ("Refund", "refund")][n % 2];
    Task::new(
        format!("desk-{n}"),
        format!("{verb} ticket T-{n} of customer {customer}."),
    )
    .with_payload(json!({"tool": tool, "ticket": format!("T-{n}"), "customer": customer}))
}
