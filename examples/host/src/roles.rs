//! What the scripted model answers in the roles beside acting: it writes a skill from an attempt, and says what a skill did.

/// The answer to a role's prompt; `None` for a prompt that asks for an action.
pub fn answer(prompt: &str) -> Option<String> {
    let begins = |opening: &str| prompt.starts_with(opening);
    Some(if begins("You distil reusable skills") {
        summary(prompt)
    } else if begins("You turn finished work into reusable skills") {
        skill(prompt)
    } else if begins("You judge what a skill did") {
        judgement(prompt)
    } else if begins("You write the tests of a skill") {
        r#"{"cases": [{"kind": "Integration", "from": 0, "about": "the whole task"}]}"#.to_owned()
    } else if begins("You improve how skills are made") {
        r#"{"analysis": "They fared well.", "summary": "Go on.", "rules": []}"#.to_owned()
    } else if prompt.contains("\"nothing\"") {
        r#"{"nothing": "There is nothing to put right."}"#.to_owned()
    } else {
        return None;
    })
}

/// What the attempt shows that the desk demands: the verb, the act and what comes first.
fn demand(prompt: &str) -> (&'static str, &'static str, &'static str) {
    match prompt.contains("get_ticket first") || prompt.contains("Refund ticket") {
        true => ("refund", "refund", "get_ticket"),
        false => ("close", "close_ticket", "verify_customer"),
    }
}

fn summary(prompt: &str) -> String {
    let (verb, act, first) = demand(prompt);
    format!(
        "Sure! Here is the skill:\n{{\n  \"skill_name\": \"{verb}_after_{first}\",\n  \"problem_type\": \"Customer Support\",\n  \
         \"key_insight\": \"The desk refuses to {verb} before {first} was called\",\n  \
         \"method\": [\"Call {first} first\", \"Then call {act}\",],\n  \"check\": null,\n  \"confidence\": 0.9\n}}"
    )
}

fn skill(prompt: &str) -> String {
    let (verb, act, first) = demand(prompt);
    format!(
        "{{\"skill\": {{\"name\": \"{verb} after {first}\", \"kind\": \"Workflow\", \
         \"description\": \"To {verb} a ticket: call {first} first, then {act}.\", \"trigger\": \"{verb} a ticket\", \
         \"body\": \"Call {first} first. Then call {act}.\"}}}}"
    )
}

/// A skill helped where it says what the attempt then did without being refused.
fn judgement(prompt: &str) -> String {
    let (_, _, first) = demand(prompt);
    let attempt = prompt
        .split("The skill that you judge:")
        .next()
        .unwrap_or_default();
    let skill = prompt
        .split("The skill that you judge:")
        .nth(1)
        .unwrap_or_default();
    let went_well =
        skill.contains(first) && !attempt.contains("first\n") && !attempt.contains(" first</");
    let word = if went_well { "Helpful" } else { "neutral" };
    format!("{{'reason': 'the steps show it', 'scope': '', 'judgement': '{word}'}}")
}
