//! Parses a model's answer in each role. An unambiguous answer is accepted in any common spelling; a text that could act on
//! a later prompt is refused.

use serde_json::Value;

use crate::{
    agent::role::{
        curation,
        object::{
            self, CASE, LINE, Object, Read, chosen, items, line, lines, or_empty, perhaps, prose,
            refuse, score, share, sound, step, step_of, string, unmarked, word,
        },
        shown,
        template::{Purpose, Template},
    },
    contract::{CaseDraft, Refinable, RoleAnswer, RoleTask},
    domain::{
        CaseKind, Judgement, Kind, Prototype, RoleRule, Rubric, Scope, Segmentation, Skill,
        SkillDraft, SkillName, Subgoal, Trace, Trap,
    },
    library::format::{AriseSchema, SkillMd},
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
        } if purpose == Purpose::RefineWhole => whole(object, skill, attempts),
        RoleTask::Refine { skill, .. } => text(object, skill),
        RoleTask::Attribute { .. } => credit(object),
        RoleTask::Bundle { attempt, .. } => cases(object, attempt),
        RoleTask::Evolve { rules, .. } => evolved(object, rules),
        RoleTask::Segment { attempt, .. } => segments(object, attempt),
        RoleTask::DistilPrototype { .. } => rubric(object),
        RoleTask::Route { prototypes, .. } => routed(object, prototypes),
        RoleTask::Score { .. } => scored(object),
        RoleTask::Curate { .. } => curation::calls(object),
        RoleTask::Tag { .. } => curation::tags(object),
        RoleTask::Lesson { attempt } => curation::lesson(object, attempt),
        RoleTask::DistilBank {
            category, skills, ..
        } => curation::bank(object, category.as_ref(), skills),
        RoleTask::Review { .. } => curation::reviewed(object),
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

// Parses the answers of the role refine.

/// The field with the reason for a change of a skill.
const CHANGE: &str = "change";
/// The field with the reason for archiving a skill.
const ARCHIVE: &str = "archive";
const TOOLS: &str = "tools";

/// A refined skill that keeps its name, kind, scope and tools.
pub(super) fn text(object: &mut Object, skill: &Skill) -> Read<RoleAnswer> {
    match nothing(object)? {
        Some(nothing) => Ok(nothing),
        None => Ok(RoleAnswer::Draft(Box::new(refined(object, skill)?))),
    }
}

/// A refined skill of which everything may be changed. What the answer leaves out stays.
pub(super) fn whole(object: &mut Object, skill: &Skill, attempts: &[Trace]) -> Read<RoleAnswer> {
    if let Some(nothing) = nothing(object)? {
        return Ok(nothing);
    }
    if let Some(reason) = reason(object, ARCHIVE)? {
        return Ok(RoleAnswer::Archive(reason));
    }
    let refinable = Refinable::of(skill, attempts);
    let mut draft = refined(object, skill)?;
    if is_given(object, "name") {
        draft.title = name(object)?;
    }
    if is_given(object, "kind") {
        draft.kind = word(object, "kind", &KINDS)?;
    }
    if is_given(object, "scope") {
        draft.scope = scope(object, &refinable)?;
    }
    let draft = Box::new(draft);
    Ok(match is_given(object, TOOLS) {
        true => RoleAnswer::Revision {
            draft,
            tools: tools(object, &refinable)?,
        },
        false => RoleAnswer::Draft(draft),
    })
}

/// The skill with the answer's description, trigger and body.
fn refined(object: &mut Object, skill: &Skill) -> Read<SkillDraft> {
    let mut metadata = skill.metadata.clone();
    metadata.insert(CHANGE.to_owned(), line(object, CHANGE, LINE)?);
    Ok(SkillDraft {
        title: shown::name(skill).to_owned(),
        description: line(object, "description", SkillMd::MAX_DESCRIPTION)?,
        kind: skill.kind,
        scope: skill.scope.clone(),
        trigger: Some(or_empty(object, "trigger")?).filter(|trigger| !trigger.is_empty()),
        body: prose(object, "body", BODY)?,
        metadata,
    })
}

/// Whether an answer has a field that it may leave out. Null and an empty text are left out, too.
fn is_given(object: &mut Object, field: &str) -> bool {
    let is_empty = |value: &Value| match value {
        Value::String(text) => text.trim().is_empty(),
        value => value.is_null(),
    };
    if object.get(field).is_some_and(is_empty) {
        object.remove(field);
    }
    object.contains_key(field)
}

/// The scope: `general`, or one of the categories with or without `category:` before it.
fn scope(object: &mut Object, refinable: &Refinable<'_>) -> Read<Scope> {
    let text = shown::one_line(string(object, "scope")?);
    let prefixed = text.strip_prefix(shown::CATEGORY).map(str::trim_start);
    let is_meant = |category: &str| {
        let category = shown::one_line(category);
        category == text || Some(category.as_str()) == prefixed
    };
    let mut categories = refinable.categories.iter();
    // A category of this name is shown with `category:` before it.
    let is_general = text.eq_ignore_ascii_case(shown::GENERAL);
    let scope = match categories.find(|category| is_meant(category.as_str())) {
        _ if is_general => Scope::General,
        Some(category) => Scope::Category((*category).clone()),
        None => return refuse("scope is none of those that are shown"),
    };
    object.insert("scope".to_owned(), Value::from(shown::scope(&scope)));
    Ok(scope)
}

/// The tools, each once.
fn tools(object: &mut Object, refinable: &Refinable<'_>) -> Read<Vec<String>> {
    let mut tools: Vec<String> = Vec::new();
    for tool in lines(object, (TOOLS, "a tool"), usize::MAX)? {
        if !refinable.tools.contains(tool.as_str()) {
            return refuse("tools has one that the skill does not have and that no attempt called");
        }
        if !tools.contains(&tool) {
            tools.push(tool);
        }
    }
    Ok(tools)
}

// What the answers of all roles that write skills have in common.

/// The greatest length of a body in characters: about 5,000 tokens, the greatest length that the Agent Skills specification
/// recommends.
pub(super) const BODY: usize = 20_000;
pub(super) const KINDS: [(&str, Kind); 3] = [
    ("function", Kind::Function),
    ("workflow", Kind::Workflow),
    ("knowledge", Kind::Knowledge),
];
/// The reason for writing nothing, where the answer gives only that.
pub(super) fn nothing(object: &mut Object) -> Read<Option<RoleAnswer>> {
    Ok(reason(object, "nothing")?.map(RoleAnswer::Nothing))
}

/// The reason in this field, where the answer gives only that.
pub(super) fn reason(object: &mut Object, field: &str) -> Read<Option<String>> {
    let says_nothing = |value: &Value| match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.trim().is_empty(),
        _ => false,
    };
    let Some(reason) = object.get(field) else {
        return Ok(None);
    };
    let mut others = object.iter().filter(|(key, _)| *key != field);
    let written = others.any(|(_, value)| !says_nothing(value));
    match (says_nothing(reason), written) {
        (true, true) => {
            object.remove(field);
            Ok(None)
        }
        (false, true) => refuse(format!(
            "the object has `{field}` and beside it fields of a skill; write one or the other"
        )),
        (_, false) => {
            object.retain(|key, _| key == field);
            Ok(Some(line(object, field, LINE)?))
        }
    }
}

/// The name of a skill.
pub(super) fn name(object: &mut Object) -> Read<String> {
    let name = line(object, "name", SkillName::MAX)?;
    match SkillName::slug(&name) {
        Some(_) => Ok(name),
        None => refuse("name has no letter or digit"),
    }
}

// Parses the answers of segment, distil-prototype, route and score (SCRIBE 3.1, 3.2).

const SUBGOAL: &[&str] = &["subgoal", "skill", "first", "last"];
const TRAP: &[&str] = &["trap", "score"];
/// The greatest length of a rubric's title, in characters.
const TITLE: usize = 120;
/// The greatest length of a rubric's pattern, in characters.
const PATTERN: usize = 2_000;
/// The greatest number of objectives, of checks and of traps.
const MOST: usize = 12;

/// The subgoals; spans that overlap or leave steps out are repaired.
pub(super) fn segments(object: &mut Object, attempt: &Trace) -> Read<RoleAnswer> {
    let steps = attempt.trajectory.steps.len();
    let subgoals = items(object, ("subgoals", "a subgoal"), SUBGOAL, |item| {
        Ok(Subgoal {
            subgoal: perhaps(item, "subgoal", LINE)?,
            skill: line(item, "skill", LINE)?,
            first: step(item, "first")?,
            last: step(item, "last")?,
        })
    })?;
    let answer = |segmentation, repaired| RoleAnswer::Segments {
        segmentation,
        repaired,
    };
    if let Ok(segmentation) = Segmentation::new(subgoals.clone(), steps) {
        return Ok(answer(segmentation, false));
    }
    match Segmentation::repaired(subgoals, steps) {
        Ok(segmentation) => Ok(answer(segmentation, true)),
        Err(_) => refuse(format!(
            "no subgoal has words and begins at a step of the attempt, which has {steps}, the first with the number 0"
        )),
    }
}

pub(super) fn rubric(object: &mut Object) -> Read<RoleAnswer> {
    // A list of steps is the same as their lines.
    if let Some(Value::Array(_)) = object.get("pattern") {
        let steps = strings(object, "pattern")?.join("\n");
        object.insert("pattern".to_owned(), Value::from(steps));
    }
    let traps = items(object, ("traps", "a trap"), TRAP, |item| {
        Ok(Trap {
            trap: line(item, "trap", LINE)?,
            score: score(item)?,
        })
    })?;
    let rubric = Rubric {
        title: line(object, "title", TITLE)?,
        use_context: line(object, "use_context", 2 * LINE)?,
        objectives: lines(object, ("objectives", "an objective"), LINE)?,
        pattern: prose(object, "pattern", PATTERN)?,
        checklist: lines(object, ("checklist", "a check"), LINE)?,
        traps,
    };
    if rubric.checklist.is_empty() {
        return refuse("checklist is empty");
    }
    let counts = [
        ("objectives", rubric.objectives.len()),
        ("checklist", rubric.checklist.len()),
        ("traps", rubric.traps.len()),
    ];
    match counts.into_iter().find(|(_, count)| *count > MOST) {
        Some((key, count)) => refuse(format!("{key} has {count} entries, and {MOST} is the most")),
        None => Ok(RoleAnswer::Rubric(Box::new(rubric))),
    }
}

/// The texts of a list, as they are.
fn strings(object: &Object, key: &str) -> Read<Vec<String>> {
    let text = |item: &Value| match item {
        Value::String(text) => Ok(text.clone()),
        _ => refuse(format!("{key} has an entry that is not a string")),
    };
    crate::agent::role::object::array(object, key)?
        .iter()
        .map(text)
        .collect()
}

pub(super) fn routed(object: &mut Object, prototypes: &[Prototype]) -> Read<RoleAnswer> {
    let titles: Vec<&str> = prototypes
        .iter()
        .map(|prototype| prototype.rubric.title.as_str())
        .collect();
    string(object, "reason")?;
    Ok(RoleAnswer::Routed {
        prototype: chosen(object, "prototype", ("prototype", &titles))?,
        confidence: share(object, "confidence")?,
    })
}

pub(super) fn scored(object: &mut Object) -> Read<RoleAnswer> {
    Ok(RoleAnswer::Scored {
        reason: line(object, "reason", 2 * LINE)?,
        score: score(object)?,
    })
}
