//! The corpus of the answers of the roles of ARISE and HiSME.

use std::collections::BTreeMap;

use super::{AnswerCase, AnswerTo, Meaning};
use crate::{
    contract::{CaseDraft, RoleAnswer},
    domain::{CaseKind, Judgement, Kind, Role, RoleRule, Scope, SkillDraft},
    library::format::AriseDocument,
    testing::sample,
};

pub(super) fn case(name: &'static str, role: Role, text: &str, meaning: Meaning) -> AnswerCase {
    AnswerCase {
        name,
        to: AnswerTo::Role(role),
        text: text.to_owned(),
        meaning,
    }
}

pub(super) fn answer(answer: RoleAnswer) -> Meaning {
    Meaning::Answer(Box::new(answer))
}

pub(super) fn summary(name: &str) -> Meaning {
    let steps = ["Call unseal", "Then brew"];
    match AriseDocument::new(name, "general", "Open it first", &steps, Some("It is open")) {
        Ok(document) => answer(RoleAnswer::Draft(Box::new(SkillDraft::from(&document)))),
        Err(_) => Meaning::Refused("the corpus is at fault"),
    }
}

pub(super) fn draft(title: &str, kind: Kind) -> Meaning {
    answer(RoleAnswer::Draft(Box::new(SkillDraft {
        title: title.to_owned(),
        description: "Open it first.".to_owned(),
        kind,
        scope: Scope::General,
        trigger: Some("A tin is sealed".to_owned()),
        body: "Call unseal.".to_owned(),
        metadata: BTreeMap::new(),
    })))
}

pub(super) fn refined() -> Meaning {
    let skill = sample::skill("saying");
    let mut metadata = skill.metadata.clone();
    metadata.insert("change".to_owned(), "Names the tool".to_owned());
    answer(RoleAnswer::Draft(Box::new(SkillDraft {
        title: skill
            .original_name
            .unwrap_or_else(|| skill.name.to_string()),
        description: "Open it first.".to_owned(),
        kind: skill.kind,
        scope: skill.scope,
        trigger: None,
        body: "Call unseal.".to_owned(),
        metadata,
    })))
}

pub(super) fn nothing(why: &str) -> Meaning {
    answer(RoleAnswer::Nothing(why.to_owned()))
}

pub(super) fn credit(judgement: Judgement, scope: &str) -> Meaning {
    answer(RoleAnswer::Credit {
        judgement,
        scope: scope.to_owned(),
        reason: "Step 0 shows it.".to_owned(),
    })
}

pub(super) fn bundle(cases: &[(CaseKind, usize)]) -> Meaning {
    let case = |(kind, from): &(CaseKind, usize)| CaseDraft {
        kind: *kind,
        from: *from,
        about: "The order".to_owned(),
    };
    answer(RoleAnswer::Cases(cases.iter().map(case).collect()))
}

pub(super) fn rules(rules: &[&str]) -> Meaning {
    let rules = rules.iter().flat_map(|rule| RoleRule::new(*rule));
    answer(RoleAnswer::Rules(rules.collect()))
}

pub(super) fn cases() -> Vec<AnswerCase> {
    [
        summarize(),
        extract(),
        refactor(),
        refine(),
        attribute(),
        bundles(),
        evolve(),
    ]
    .concat()
}

fn summarize() -> Vec<AnswerCase> {
    let case = |name, text: &str, meaning| case(name, Role::Summarize, text, meaning);
    vec![
        case(
            "summarize: comments and commas",
            "{\n\"skill_name\": \"open_first\", // short\n\"problem_type\": \"algebra\",\n\"key_insight\": \"Open it first\",\n\"method\": [\"Call unseal\", \"Then brew\",],\n\"check\": \"It is open\",\n}",
            summary("open_first"),
        ),
        case(
            "summarize: no type",
            r#"{"skill_name": "open_first", "key_insight": "Open it first", "method": ["Call unseal", "Then brew"], "check": "It is open"}"#,
            summary("open_first"),
        ),
        case(
            "summarize: a name in Chinese, in a wrapper",
            r#"{"skill": {"skill_name": "退款先查", "problem_type": null, "key_insight": "Open it first", "method": ["Call unseal", "Then brew"], "check": "It is open"}}"#,
            summary("tui_kuan_xian_cha"),
        ),
        case(
            "summarize: other keys' case",
            r#"{"Skill Name": "Open First", "Problem Type": "General", "Key Insight": "Open it first", "Method": ["Call unseal", "Then brew"], "Check": "It is open", "confidence": 0.9}"#,
            summary("open_first"),
        ),
        case(
            "summarize: one step only",
            r#"{"skill_name": "a", "problem_type": "general", "key_insight": "b", "method": ["c"]}"#,
            Meaning::Refused("method has 1 steps"),
        ),
        case(
            "summarize: the method as a text",
            r#"{"skill_name": "a", "problem_type": "general", "key_insight": "b", "method": "1. c 2. d"}"#,
            Meaning::Refused("method is not an array"),
        ),
    ]
}

fn extract() -> Vec<AnswerCase> {
    let case = |name, text: &str, meaning| case(name, Role::Extract, text, meaning);
    vec![
        case(
            "extract: Python's quotes",
            "{'name': 'open-first', 'kind': 'workflow', 'description': 'Open it first.', 'trigger': 'A tin is sealed', 'body': 'Call unseal.', 'nothing': None}",
            draft("open-first", Kind::Workflow),
        ),
        case(
            "extract: an array of one, kind in capitals",
            r#"[{"name": "open-first", "kind": " WORKFLOW ", "description": "Open it first.", "trigger": "A tin is sealed", "body": "Call unseal."}]"#,
            draft("open-first", Kind::Workflow),
        ),
        case(
            "extract: a name in Russian",
            r#"{"name": "Возврат", "kind": "knowledge", "description": "Open it first.", "trigger": "A tin is sealed", "body": "Call unseal.", "notes": "short"}"#,
            draft("Возврат", Kind::Knowledge),
        ),
        case(
            "extract: nothing beside empty fields",
            r#"{"nothing": "No step was refused.", "name": "", "kind": null, "body": ""}"#,
            nothing("No step was refused."),
        ),
        case(
            "extract: nothing beside a skill",
            r#"{"nothing": "Not much.", "name": "open-first", "kind": "workflow", "description": "Open it first.", "trigger": "", "body": "Call unseal."}"#,
            Meaning::Refused("`nothing` and beside it"),
        ),
        case(
            "extract: a skill that allows itself tools",
            r#"{"name": "open-first", "kind": "workflow", "description": "d", "trigger": "", "body": "b", "allowedTools": "*"}"#,
            Meaning::Refused("no say in"),
        ),
    ]
}

fn refactor() -> Vec<AnswerCase> {
    let case = |name, text: &str, meaning| case(name, Role::Refactor, text, meaning);
    vec![
        case(
            "refactor: line breaks in the body",
            "Here you go:\n{\"name\": \"open-first\", \"kind\": \"function\", \"description\": \"Open it first.\", \"trigger\": \"A tin is sealed\", \"body\": \"Call unseal.\n\"}",
            draft("open-first", Kind::Function),
        ),
        case(
            "refactor: a zero-width space in the body",
            "{\"result\": {\"name\": \"open-first\", \"kind\": \"Function\", \"description\": \"Open it first.\", \"trigger\": \"A tin is sealed\", \"body\": \"Call un\u{200B}seal.\"}}",
            draft("open-first", Kind::Function),
        ),
        case(
            "refactor: nothing, unquoted",
            "{nothing: 'They share no call.'}",
            nothing("They share no call."),
        ),
        case(
            "refactor: two drafts in an array",
            r#"[{"name": "a", "kind": "function", "description": "d", "trigger": "", "body": "b"}, {"name": "c", "kind": "function", "description": "d", "trigger": "", "body": "b"}]"#,
            Meaning::Refused("an array of 2 values"),
        ),
        case(
            "refactor: deletes the others",
            r#"{"name": "a", "kind": "function", "description": "d", "trigger": "", "body": "b", "delete_skills": ["saying"]}"#,
            Meaning::Refused("no say in"),
        ),
    ]
}

fn refine() -> Vec<AnswerCase> {
    let case = |name, text: &str, meaning| case(name, Role::Refine, text, meaning);
    vec![
        case(
            "refine: a wrapper and a null trigger",
            r#"{"refined_skill": {"change": "Names the tool", "description": "Open it first.", "trigger": null, "body": "Call unseal."}}"#,
            refined(),
        ),
        case(
            "refine: smart quotes and a comment",
            "{“change”: “Names the tool”, “description”: “Open it first.”, “trigger”: “”, “body”: “Call unseal.”, “explanation”: “It was vague”}",
            refined(),
        ),
        case(
            "refine: nothing after open reasoning",
            "<think>Looks fine to me.\n{\"nothing\": \"It fits.\"}",
            nothing("It fits."),
        ),
        case(
            "refine: another name",
            r#"{"change": "c", "name": "better", "description": "d", "trigger": "", "body": "b"}"#,
            Meaning::Refused("no say in"),
        ),
        case(
            "refine: a hidden direction",
            "{\"change\": \"c\", \"description\": \"d\u{202E}\", \"trigger\": \"\", \"body\": \"b\"}",
            Meaning::Refused("description holds a hidden character"),
        ),
    ]
}

fn attribute() -> Vec<AnswerCase> {
    let case = |name, text: &str, meaning| case(name, Role::Attribute, text, meaning);
    vec![
        case(
            "attribute: a capital",
            r#"{"reason": "Step 0 shows it.", "scope": "step 0", "judgement": "Helpful"}"#,
            credit(Judgement::Helpful, "step 0"),
        ),
        case(
            "attribute: judgment, and a number",
            r#"{"reason": "Step 0 shows it.", "scope": null, "judgment": " HARMFUL. ", "confidence": 0.8}"#,
            credit(Judgement::Harmful, ""),
        ),
        case(
            "attribute: Python in an answer",
            "{'answer': {'reason': 'Step 0 shows it.', 'scope': '', 'judgement': 'neutral'}}",
            credit(Judgement::Neutral, ""),
        ),
        case(
            "attribute: two words",
            r#"{"reason": "r", "scope": "", "judgement": "helpful or neutral"}"#,
            Meaning::Refused("judgement is none of"),
        ),
        case(
            "attribute: two minds",
            "{\"reason\": \"r\", \"scope\": \"\", \"judgement\": \"helpful\"}\nWait, no:\n{\"reason\": \"r\", \"scope\": \"\", \"judgement\": \"harmful\"}",
            Meaning::Refused("two objects"),
        ),
        case(
            "attribute: a key twice",
            r#"{"reason": "r", "scope": "", "judgement": "helpful", "judgement": "harmful"}"#,
            Meaning::Refused("twice with different values"),
        ),
    ]
}

fn bundles() -> Vec<AnswerCase> {
    let case = |name, text: &str, meaning| case(name, Role::Bundle, text, meaning);
    vec![
        case(
            "bundle: kinds in capitals",
            r#"{"cases": [{"kind": "Unit", "from": 1, "about": "The order"}, {"kind": "INTEGRATION", "from": 0, "about": "The order"}]}"#,
            bundle(&[(CaseKind::Unit, 1), (CaseKind::Integration, 0)]),
        ),
        case(
            "bundle: fields of its own in a case",
            "{'cases': [{'kind': 'negative', 'from': 0, 'about': 'The order', 'rationale': 'none of its business'},],}",
            bundle(&[(CaseKind::Negative, 0)]),
        ),
        case(
            "bundle: none",
            "```\n{\"cases\": [] /* none fits */}\n```",
            bundle(&[]),
        ),
        case(
            "bundle: a step that is not there",
            r#"{"cases": [{"kind": "unit", "from": 9, "about": "x"}]}"#,
            Meaning::Refused("from is no step"),
        ),
        case(
            "bundle: a bare array of cases",
            r#"[{"kind": "unit", "from": 0, "about": "x"}, {"kind": "unit", "from": 1, "about": "y"}]"#,
            Meaning::Refused("an array of 2 values"),
        ),
    ]
}

fn evolve() -> Vec<AnswerCase> {
    let case = |name, text: &str, meaning| case(name, Role::Evolve, text, meaning);
    vec![
        case(
            "evolve: comments beside it",
            r#"{"thoughts": "hm", "analysis": "a", "summary": "s", "rules": ["1. Name the tool."], "notes": []}"#,
            rules(&["Name the tool."]),
        ),
        case(
            "evolve: hash comments and single quotes",
            "{'analysis': 'a', 'summary': 's', # short\n'rules': ['Name the tool.', 'Don't guess.']}",
            rules(&["Name the tool.", "Don't guess."]),
        ),
        case(
            "evolve: capital keys in an answer",
            r#"{"response": {"Analysis": "a", "Summary": "s", "Rules": ["Name the tool."]}}"#,
            rules(&["Name the tool."]),
        ),
        case(
            "evolve: rules as a text",
            r#"{"analysis": "a", "summary": "s", "rules": "1. Name the tool."}"#,
            Meaning::Refused("rules is not an array"),
        ),
        case(
            "evolve: rules in two spellings",
            r#"{"analysis": "a", "summary": "s", "rules": ["A."], "Rules": ["B."]}"#,
            Meaning::Refused("rules stands twice"),
        ),
    ]
}
