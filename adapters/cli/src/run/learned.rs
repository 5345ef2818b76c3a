//! What a learning run says of its roles and of the model's context.

use journeyman::run::report::RunReport;
use serde_json::{Value, json};

/// The answers of each role that could not be read, and what prompts left out, where there is something to say.
pub(super) fn text(report: &RunReport) -> String {
    let mut text = String::new();
    if !report.roles.is_empty() {
        text.push_str(&format!(
            "Answers of roles that could not be read: {}.\n",
            report.roles
        ));
    }
    let compaction = report.compaction();
    if !compaction.is_none() {
        text.push_str(&format!(
            "Prompts were made to fit the model's context; left out {compaction}.\n"
        ));
    }
    let (attempts, faults) = (report.attempts().count(), report.errors().count());
    if faults > 0 {
        text.push_str(&format!(
            "While learning, {faults} of {attempts} attempts ended with a fault outside the agent: nothing was learned from these.\n"
        ));
    }
    let ended = report.out_of_context().count();
    if ended > 0 {
        text.push_str(&format!(
            "Attempts that ended for want of context, and are not judged: {ended}. Give the model a longer context: `context` in [model] for a GGUF file; for a server, where it is started.\n"
        ));
    }
    text
}

/// The same as JSON.
pub(super) fn json(report: &RunReport) -> Value {
    let roles = report.roles.iter().map(|(role, calls)| {
        json!({
            "role": role.name(),
            "asked": calls.asked,
            "repaired": calls.repaired,
            "unreadable": calls.unreadable,
            "failed": calls.failed,
            "shortened": calls.shortened,
            "unreadable_share": calls.unreadable_share(),
        })
    });
    let roles: Vec<Value> = roles.collect();
    json!({
        "attempts": report.attempts().count(),
        "faults": report.errors().count(),
        "roles": roles,
        "left_out_of_prompts": report.compaction(),
        "out_of_context": report.out_of_context().count(),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use journeyman::{domain::Role, run::report::RoleCounts, testing::sample};

    use super::*;

    #[test]
    fn each_role_has_its_share_of_unreadable_answers() {
        let mut report = sample::run_report();
        assert_eq!(text(&report), "");
        let mut calls = RoleCounts::default();
        calls.asked = 10;
        calls.repaired = 2;
        calls.unreadable = 1;
        calls.shortened = 3;
        report.roles.count(Role::Extract, calls);
        assert_eq!(
            text(&report),
            "Answers of roles that could not be read: extract 10.0% of 10 (2 more repaired, 3 with a shortened prompt).\n"
        );
        let json = json(&report);
        assert_eq!(json["roles"][0]["unreadable_share"], 0.1);
        assert_eq!(json["out_of_context"], 0);
    }
}
