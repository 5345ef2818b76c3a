//! Checks SKILL.md: the specification, and names and keys that pretend to be something else.

use std::borrow::Cow;

use journeyman::{
    Error,
    domain::{FilePath, SkillName},
    library::format::{Examined, Forgiven, SkillMd},
    text::Redactor,
};

use super::{Finding, Rule, SKILL_MD, Severity, contents, look_alike::looks_alike};

/// The greatest size of a SKILL.md that is read, in bytes.
const MAX_READ: usize = SkillMd::MAX_BODY + SkillMd::MAX_FRONTMATTER + 64;

/// Keys with a special meaning in programs that read JSON into objects.
const OBJECT_KEYS: [&str; 3] = ["__proto__", "constructor", "prototype"];

pub(super) fn check(
    redactor: &Redactor,
    bytes: &[u8],
    folder: Option<&str>,
    findings: &mut Vec<Finding>,
) -> Option<SkillMd> {
    findings.extend(folder.and_then(folder_fault));
    if bytes.len() > MAX_READ {
        let message = format!("the file has {} bytes, and 1 MiB is the most", bytes.len());
        let hint = "move long material into files beside SKILL.md and name them in the body";
        findings.push(Finding::error(Rule::Body, SKILL_MD, message).hint(hint));
        return None;
    }
    let text = String::from_utf8_lossy(bytes);
    if let Cow::Owned(_) = text {
        findings.push(contents::not_utf8(SKILL_MD.to_owned(), bytes));
    }
    let examined = SkillMd::examine(&text, folder);
    let faults = examined.faults.iter().filter(|fault| !is_hidden(fault));
    findings.extend(faults.map(|fault| of_fault(fault, &examined)));
    findings.extend(examined.forgiven.iter().map(of_forgiven));
    findings.extend(cut_values(&examined));
    findings.extend(name_fault(&examined));
    findings.extend(reserved(&examined));
    if let Some(Err(error)) = examined.skill.as_ref().map(SkillMd::skill) {
        findings.push(of_fault(&error, &examined));
    }
    let before = findings.len();
    contents::check_text(redactor, SKILL_MD, &text, findings);
    let told = |rule| findings[before..].iter().any(|f| f.rule == rule);
    // A secret that is spelled by YAML escapes is not in the text of the file.
    if let Some(skill) = &examined.skill
        && !told(Rule::Secret)
        && spelled(skill).any(|text| !redactor.find(text).is_empty())
    {
        let message = "the frontmatter spells a secret";
        findings.push(Finding::error(Rule::Secret, SKILL_MD, message).hint(contents::SECRET_HINT));
    }
    examined.skill
}

/// Whether a fault is about hidden characters of the text, which the check of every line reports again.
fn is_hidden(fault: &Error) -> bool {
    let raw = matches!(fault.fact("field"), None | Some("body"));
    raw && fault.message().contains("a hidden character")
}

fn spelled(skill: &SkillMd) -> impl Iterator<Item = &str> {
    let metadata = skill.metadata.iter().flat_map(|(key, value)| [key, value]);
    [&skill.description]
        .into_iter()
        .chain(&skill.license)
        .chain(&skill.compatibility)
        .chain(metadata)
        .map(String::as_str)
}

fn of_fault(fault: &Error, examined: &Examined) -> Finding {
    let field = fault.fact("field");
    let rule = match field {
        None => Rule::Frontmatter,
        Some("name") => Rule::Name,
        Some("description") => Rule::Description,
        Some("license") => Rule::License,
        Some("compatibility") => Rule::Compatibility,
        Some("allowed-tools") => Rule::AllowedTools,
        Some("body") => Rule::Body,
        Some(_) => Rule::Metadata,
    };
    let rule = match fault.message().contains("a hidden character") {
        true => Rule::HiddenCharacter,
        false => rule,
    };
    let line = fault.fact("line").and_then(|line| line.parse().ok());
    let of_field = || {
        let field = field?;
        let within = format!("metadata.{field}");
        let line = examined.lines.get(field);
        line.or_else(|| examined.lines.get(&within)).copied()
    };
    Finding {
        field: field.map(str::to_owned),
        ..Finding::error(rule, SKILL_MD, fault.message())
            .at(line.or_else(of_field))
            .hint(fault.hint_text().unwrap_or_default())
    }
}

fn of_forgiven(forgiven: &Forgiven) -> Finding {
    let (rule, field) = match forgiven {
        Forgiven::ByteOrderMark | Forgiven::CarriageReturns => (Rule::LineEndings, None),
        Forgiven::BlankLinesFirst | Forgiven::UnquotedColon { .. } => (Rule::Frontmatter, None),
        Forgiven::NameMissing | Forgiven::NameRespelled { .. } => (Rule::Name, Some("name")),
        Forgiven::NameIsNotFolder { .. } => (Rule::FolderName, Some("name")),
        Forgiven::DescriptionMissing => (Rule::Description, Some("description")),
        Forgiven::MetadataNested { .. } => (Rule::Metadata, Some("metadata")),
        Forgiven::ToolsRespelled { .. } => (Rule::AllowedTools, Some("allowed-tools")),
        Forgiven::UnknownKeyKept { .. } | Forgiven::UnknownKeyEmpty { .. } => {
            (Rule::UnknownKey, None)
        }
        Forgiven::NotText { field, .. } | Forgiven::EmptyField { field, .. } => {
            let rule = match *field {
                "name" => Rule::Name,
                "description" => Rule::Description,
                "license" => Rule::License,
                "compatibility" => Rule::Compatibility,
                "allowed-tools" => Rule::AllowedTools,
                _ => Rule::Metadata,
            };
            (rule, Some(*field))
        }
        // What a later version of the reader forgives.
        _ => (Rule::Frontmatter, None),
    };
    let said = forgiven.to_string();
    // The line goes into the finding's own field and leaves the message.
    let message = said.split_once(": ").filter(|_| forgiven.line().is_some());
    let message = message.map_or(said.as_str(), |(_, message)| message);
    Finding {
        field: field.map(str::to_owned),
        ..Finding::warning(rule, SKILL_MD, message)
            .at(forgiven.line())
            .hint(forgiven.hint())
    }
}

/// Findings for values that YAML cuts. They are valid YAML, so a reader that is strict takes them, and may be meant: a person
/// decides.
fn cut_values(examined: &Examined) -> impl Iterator<Item = Finding> {
    examined.cut.iter().map(|line| {
        let keys = examined.lines.iter();
        let mut keys = keys.filter(|(_, of_key)| *of_key == line);
        let key = keys.next().map(|(key, _)| key.as_str());
        let message = "a value without quotes ends at ` #`: YAML takes the rest of the line for a comment, and it is lost";
        Finding {
            field: match key {
                Some("name" | "description" | "license" | "compatibility" | "allowed-tools") => {
                    key.map(str::to_owned)
                }
                Some(key) if key.starts_with("metadata.") => Some("metadata".to_owned()),
                _ => None,
            },
            ..Finding::warning(Rule::CutValue, SKILL_MD, message)
                .at(Some(*line))
                .hint("put quotes around the value, or the comment on a line of its own")
        }
    })
}

fn folder_fault(folder: &str) -> Option<Finding> {
    let finding = match (FilePath::new(folder), SkillName::new(folder)) {
        _ if folder.contains('/') => {
            Finding::error(Rule::Path, SKILL_MD, "the folder's name holds a slash")
        }
        _ if looks_alike(folder) => Finding::error(
            Rule::LookAlike,
            SKILL_MD,
            "the folder's name mixes letters that look alike",
        ),
        (_, Ok(_)) => return None,
        (Err(fault), _) => Finding::error(
            Rule::Path,
            SKILL_MD,
            fault.message().replace("the path", "the folder's name"),
        ),
        (Ok(_), Err(fault)) => {
            let message = fault.message().replace("the name", "the folder's name");
            Finding::warning(Rule::FolderName, SKILL_MD, message)
        }
    };
    Some(finding.hint("name the folder with 1 to 64 lowercase letters, digits and single hyphens"))
}

/// A finding for a name that reads like a path or mixes letters that look alike.
fn name_fault(examined: &Examined) -> Option<Finding> {
    let name = examined.written_name.as_deref()?;
    let finding = if name.contains(['/', '\\']) || name.contains("..") {
        Finding::error(Rule::Name, SKILL_MD, "the name reads like a path")
    } else if looks_alike(name) {
        Finding::error(
            Rule::LookAlike,
            SKILL_MD,
            "the name mixes letters that look alike",
        )
    } else {
        return None;
    };
    Some(Finding {
        field: Some("name".to_owned()),
        ..finding
            .at(examined.lines.get("name").copied())
            .hint(SkillName::HINT)
    })
}

/// Findings for keys with a meaning elsewhere. Journeyman ignores them: state, taint and origin are kept in the store.
fn reserved(examined: &Examined) -> Vec<Finding> {
    let keys = examined.lines.iter().filter_map(|(key, line)| {
        let plain = key.strip_prefix("metadata.").unwrap_or(key);
        let folded = plain.trim().to_lowercase().replace('_', "-");
        let ours = folded.starts_with("journeyman-") && !SkillMd::OWN_KEYS.contains(&plain);
        let objects = OBJECT_KEYS.contains(&plain);
        let message = if ours {
            "a key pretends to be Journeyman's; what it says is the library's to decide"
        } else if objects {
            "a key means something to programs that read it as JSON"
        } else {
            return None;
        };
        Some(Finding {
            severity: Severity::Error,
            field: key.starts_with("metadata.").then(|| "metadata".to_owned()),
            ..Finding::error(Rule::ReservedKey, SKILL_MD, message)
                .at(Some(*line))
                .hint("take the key out")
        })
    });
    keys.collect()
}
