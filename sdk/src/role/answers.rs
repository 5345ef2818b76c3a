//! Parses a model's answer in each role. An unambiguous answer is accepted in any common spelling; a text that could act on
//! a later prompt is refused.

use serde_json::Value;

use super::{
    assessing, curating,
    drafts::{BODY, KINDS, name, nothing},
    object::{self, CASE, Object, Read, refuse},
    refining,
    template::{Purpose, Template},
    values::{LINE, items, line, lines, or_empty, prose, sound, step_of, string, unmarked, word},
};
use crate::{
    contract::{CaseDraft, RoleAnswer, RoleTask},
    domain::{CaseKind, Judgement, RoleRule, Scope, SkillDraft, SkillName, Trace},
    format::{AriseSchema, SkillMd},
};

const JUDGEMENTS: [(&str, Judgement); 4] = [
    ("helpful", Judgement::Helpful),
    ("harmful", Judgement::Harmful),
    ("neutral", Judgement::Neutral),
    ("uncertain", Judgement::Uncertain),
];
const CASE_KINDS: [(&str, CaseKind); 3] = [
    ("unit", CaseKind::Unit),
    ("integration", CaseKind::Integration),
    ("negative", CaseKind::Negative),
];

/// Parses an answer. A refusal names fields and lengths, never content.
pub(super) fn read(
    template: &Template,
    task: &RoleTask,
    arise: &AriseSchema,
    text: &str,
) -> Read<RoleAnswer> {
    let purpose = template.purpose;
    object::read(object::form(purpose), text, |mut object, _| {
        let answer = parse(purpose, task, arise, &mut object)?;
        // The schema may be stricter than this parser.
        match template.schema.fault(object) {
            None => Ok(answer),
            Some(fault) => refuse(format!("the JSON breaks the schema; {fault}")),
        }
    })
}

/// What the parser passes over or shortens in an answer that it accepts. A note names fields and lengths, never content.
pub(super) fn notes(
    template: &Template,
    task: &RoleTask,
    arise: &AriseSchema,
    text: &str,
) -> Vec<String> {
    let purpose = template.purpose;
    let read = object::read(object::form(purpose), text, |object, passed_over| {
        let mut notes = Vec::new();
        if passed_over > 0 {
            notes.push(format!(
                "fields that the role does not ask for, passed over: {passed_over}"
            ));
        }
        let mut after = object.clone();
        parse(purpose, task, arise, &mut after)?;
        object.iter().for_each(|(key, before)| {
            let after = after.get(key).unwrap_or(&Value::Null);
            shortened_texts(key, before, after, &mut notes);
        });
        Ok(notes)
    });
    read.unwrap_or_default()
}

fn parse(
    purpose: Purpose,
    task: &RoleTask,
    arise: &AriseSchema,
    object: &mut Object,
) -> Read<RoleAnswer> {
    match task {
        RoleTask::Summarize { .. } => summary(object, arise),
        RoleTask::Extract { .. } | RoleTask::Refactor { .. } => draft(object),
        RoleTask::Refine {
            skill, attempts, ..
        } if purpose == Purpose::RefineWhole => refining::whole(object, skill, attempts),
        RoleTask::Refine { skill, .. } => refining::text(object, skill),
        RoleTask::Attribute { .. } => credit(object),
        RoleTask::Bundle { attempt, .. } => cases(object, attempt),
        RoleTask::Evolve { rules, .. } => evolved(object, rules),
        RoleTask::Segment { attempt, .. } => assessing::segments(object, attempt),
        RoleTask::DistilPrototype { .. } => assessing::rubric(object),
        RoleTask::Route { prototypes, .. } => assessing::routed(object, prototypes),
        RoleTask::Score { .. } => assessing::scored(object),
        RoleTask::Curate { .. } => curating::calls(object),
        RoleTask::Tag { .. } => curating::tags(object),
        RoleTask::Lesson { attempt } => curating::lesson(object, attempt),
        RoleTask::DistilBank {
            category, skills, ..
        } => curating::bank(object, category.as_ref(), skills),
        RoleTask::Review { .. } => curating::reviewed(object),
    }
}

/// Adds a note for each text that the parser shortened. Shorter spellings of a short text, such as a word without its full stop,
/// are none.
fn shortened_texts(key: &str, before: &Value, after: &Value, notes: &mut Vec<String>) {
    match (before, after) {
        (Value::String(before), Value::String(after)) => {
            let (before, after) = (unmarked(before).chars().count(), after.chars().count());
            if before > SkillName::MAX && after < before {
                notes.push(format!(
                    "{key} is shortened from {before} to {after} characters"
                ));
            }
        }
        (Value::Array(before), Value::Array(after)) => {
            let pairs = before.iter().zip(after);
            pairs.for_each(|(before, after)| shortened_texts(key, before, after, notes));
        }
        (Value::Object(before), Value::Object(after)) => before.iter().for_each(|(key, before)| {
            if let Some(after) = after.get(key) {
                shortened_texts(key, before, after, notes);
            }
        }),
        _ => {}
    }
}

fn summary(object: &mut Object, arise: &AriseSchema) -> Read<RoleAnswer> {
    let document = arise.read(object)?;
    // The type is the host's spelling, and there even where the model wrote none.
    object.insert("problem_type".to_owned(), document.problem_type().into());
    let draft = SkillDraft::from(&document);
    sound("the document", &draft.body, BODY)?;
    Ok(RoleAnswer::Draft(Box::new(draft)))
}

fn draft(object: &mut Object) -> Read<RoleAnswer> {
    if let Some(nothing) = nothing(object)? {
        return Ok(nothing);
    }
    Ok(RoleAnswer::Draft(Box::new(SkillDraft {
        title: name(object)?,
        kind: word(object, "kind", &KINDS)?,
        description: line(object, "description", SkillMd::MAX_DESCRIPTION)?,
        scope: Scope::General,
        trigger: Some(or_empty(object, "trigger")?).filter(|trigger| !trigger.is_empty()),
        body: prose(object, "body", BODY)?,
        metadata: std::collections::BTreeMap::new(),
    })))
}

fn credit(object: &mut Object) -> Read<RoleAnswer> {
    Ok(RoleAnswer::Credit {
        judgement: word(object, "judgement", &JUDGEMENTS)?,
        scope: or_empty(object, "scope")?,
        reason: line(object, "reason", 2 * LINE)?,
    })
}

fn cases(object: &mut Object, attempt: &Trace) -> Read<RoleAnswer> {
    let steps = attempt.trajectory.steps.len();
    let drafts = items(object, ("cases", "a case"), CASE, |item| case(item, steps))?;
    Ok(RoleAnswer::Cases(drafts))
}

fn case(case: &mut Object, steps: usize) -> Read<CaseDraft> {
    let kind = word(case, "kind", &CASE_KINDS)?;
    match step_of(case, "from", steps)? {
        from if from > 0 && kind != CaseKind::Unit => {
            refuse("from is not 0, and the case is of a whole task")
        }
        from => Ok(CaseDraft {
            kind,
            from,
            about: line(case, "about", LINE)?,
        }),
    }
}

/// The rules; analysis and summary are required beside them (HiSME algorithm 5).
fn evolved(object: &mut Object, before: &[RoleRule]) -> Read<RoleAnswer> {
    for key in ["analysis", "summary"] {
        if string(object, key)?.trim().is_empty() {
            return refuse(format!("{key} is empty"));
        }
    }
    let mut rules: Vec<RoleRule> = Vec::new();
    for text in lines(object, ("rules", "a rule"), RoleRule::MAX)? {
        let same = |rule: &RoleRule| rule.as_str().to_lowercase() == text.to_lowercase();
        if !rules.iter().any(same) {
            rules.push(RoleRule::cut(text));
        }
    }
    if rules.len() > RoleRule::MOST {
        let (count, most) = (rules.len(), RoleRule::MOST);
        return refuse(format!("there are {count} rules, and {most} is the most"));
    }
    match rules.is_empty() && !before.is_empty() {
        true => refuse("there is no rule, and there were some: keep those that hold"),
        false => Ok(RoleAnswer::Rules(rules)),
    }
}
