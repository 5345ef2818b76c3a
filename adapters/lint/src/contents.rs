//! Checks the content of a file, SKILL.md or another: encoding, hidden characters, secrets, suspicious text.

use std::{borrow::Cow, sync::LazyLock};

use journeyman::{domain::hidden_by_line, text::Redactor};
use regex::Regex;

use super::{Finding, Rule, SKILL_MD, fetching, hosts, shown};

pub(super) const SECRET_HINT: &str =
    "take it out, let the host give it at run time, and give it out anew: it is no secret any more";

/// The greatest number of findings of one kind for a file.
const MOST: usize = 20;

/// Extensions of text files. A file with another extension is text if it is UTF-8 without a NUL byte.
const TEXT: [&str; 29] = [
    "md", "txt", "py", "sh", "bash", "js", "mjs", "ts", "tsx", "rb", "pl", "go", "rs", "java", "c",
    "h", "json", "yaml", "yml", "toml", "ini", "cfg", "html", "css", "csv", "tsv", "xml", "svg",
    "sql",
];

/// Patterns of text that reads like an attack, to warn a reviewer. There are few of them, and reworded attacks pass.
static SUSPICIOUS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let forms = [
        (
            r"(?i)\b(?:ignore|disregard|forget|override)\b[^\n.]{0,30}\b(?:previous|prior|above|earlier|preceding|system|all other)\b[^\n.]{0,20}\b(?:instructions?|rules?|prompts?|directions|guidelines|messages?)\b",
            "the line asks to ignore instructions",
        ),
        (
            r"(?i)\b(?:curl|wget|iwr|invoke-webrequest)\b[^\n|]{0,300}\|\s*(?:sudo\s+)?(?:(?:ba|z|da|k)?sh|python3?|perl|node|iex)\b",
            "the line runs what it fetches",
        ),
        (
            r"(?i)\bbase64\s+(?:-d|-D|--decode)\b[^\n|]{0,120}\|\s*(?:sudo\s+)?(?:(?:ba|z|da|k)?sh|python3?|perl)\b|\bpowershell(?:\.exe)?\s[^\n]{0,80}-e(?:nc|ncodedcommand)?\s+[A-Za-z0-9+/=]{40,}|\b(?:exec|eval)\s*\([^\n]{0,60}b64decode",
            "the line runs what it decodes",
        ),
        (
            r"(?i)(?:\bprintenv\b|\benv\b\s*\||~/\.ssh/|\bid_rsa\b|\.aws/credentials|/etc/shadow|\.netrc\b|os\.environ)[^\n]{0,200}(?:\bcurl\b|\bwget\b|\bnc\s|requests\.post|https?://)|(?:\bcurl\b|\bwget\b|\bnc\s)[^\n]{0,200}(?:\$\(\s*(?:printenv|env)\b|~/\.ssh/|\bid_rsa\b|\.aws/credentials|/etc/shadow)",
            "the line sends keys or the environment away",
        ),
        (
            r"(?i)\b(?:do not|don't|never|without)\s+(?:tell|telling|inform|informing|mention|mentioning|notify|notifying|alert|alerting)\b[^\n.]{0,40}\b(?:user|human|operator|person|reviewer)\b",
            "the line asks to keep something from people",
        ),
        (
            // By a repository's address, an archive's, or an address right behind the command. Another index is none of these.
            r"(?i)\bgit\+(?:https?|ssh|git)://|\b(?:npx|bunx)\s+(?:-\S+\s+){0,4}(?:github:|https?://)|\b(?:dpkg|rpm)\s+-\S+\s+https?://|\bcargo\s+(?:binstall|install|add)\s[^\n]{0,200}--git\b|\b(?:pip3?|pipx|uvx?|poetry|npm|npx|pnpm|yarn|bunx?|gem|conda|brew|apt|apt-get|dnf|yum)\s(?:[^\n]{0,40}\s)?(?:install|add|i|exec|dlx|tool)\s(?:[^\n]{0,200}\bhttps?://[^\s'`<>\x22]{1,300}\.(?:git|zip|tgz|tar\.[a-z0-9]{2,3}|whl|deb|rpm|gem)\b|(?:-{1,2}(?:[eEUgDqy]|upgrade|user|global|save(?:-dev)?|force|editable|yes|quiet|no-deps|no-cache-dir)\s+)*['\x22]?(?:https?://|git@|github:|gitlab:|git://))",
            "the line installs a package from an address and not from a registry",
        ),
    ];
    compiled(&forms)
});

/// Patterns of text that imitates the frame of a prompt. The text is harmless in a prompt that puts data into blocks
/// (`text::fenced`) and in which a model's marks within data have no effect.
static FRAMES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let forms = [
        (
            r"(?i)<\s*/\s*skill\b",
            "the line reads like the end of a skill in a prompt",
        ),
        (
            r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id|end_header_id)\|>|\[/?INST\]|<</?SYS>>|</?(?:start_of_turn|end_of_turn)>",
            "the line holds a model's own marks",
        ),
        (
            r"(?i)^\s*(?:</?(?:system|assistant|tool_result|function_results)>|(?:###\s*)?(?:system|assistant)\s*:\s*you (?:are|must|will)\b)",
            "the line reads like another speaker's turn",
        ),
    ];
    compiled(&forms)
});

/// Compiles patterns. All of them compile: a test counts them.
fn compiled(forms: &[(&str, &'static str)]) -> Vec<(Regex, &'static str)> {
    let compiled = forms.iter();
    compiled
        .filter_map(|(form, message)| Some((Regex::new(&format!("(?m){form}")).ok()?, *message)))
        .collect()
}

/// Checks a file beside SKILL.md.
pub(super) fn check_file(
    redactor: &Redactor,
    path: &str,
    bytes: &[u8],
    findings: &mut Vec<Finding>,
) {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let named_text = TEXT.contains(&ending.to_lowercase().as_str());
    let text = String::from_utf8_lossy(bytes);
    let reads = matches!(text, Cow::Borrowed(_)) && !bytes.contains(&0);
    let path = shown(redactor, path);
    if named_text || reads {
        if let Cow::Owned(_) = text {
            findings.push(not_utf8(path.clone(), bytes));
        }
        // Older source files separate pages by a form feed.
        let text = match text.contains('\u{C}') {
            true => Cow::Owned(text.replace('\u{C}', " ")),
            false => text,
        };
        check_text(redactor, &path, &text, findings);
    } else {
        secrets(redactor, &path, &text, findings);
    }
}

/// Checks a text for hidden characters, secrets and suspicious text.
pub(super) fn check_text(redactor: &Redactor, path: &str, text: &str, findings: &mut Vec<Finding>) {
    hidden(path, text, findings);
    secrets(redactor, path, text, findings);
    warnings(Rule::Suspicious, &SUSPICIOUS, path, text, findings);
    let runs = fetching::lines_that_run_fetched(text).into_iter();
    let runs = runs.map(|line| (line, "the line runs or installs a file that was fetched"));
    let hosts = hosts::misleading(text).into_iter();
    let hosts = hosts.map(|at| {
        (
            line_of(text, at),
            "the line has a host that reads like another",
        )
    });
    for (line, message) in runs.take(MOST).chain(hosts.take(MOST)) {
        findings.push(to_read(
            Finding::warning(Rule::Suspicious, path, message).at(Some(line)),
        ));
    }
    if path == SKILL_MD {
        warnings(Rule::PromptFrame, &FRAMES, path, text, findings);
    }
}

pub(super) fn not_utf8(path: String, bytes: &[u8]) -> Finding {
    let valid = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
    let line = 1 + bytes.iter().take(valid).filter(|b| **b == b'\n').count();
    Finding::error(Rule::NotUtf8, path, "the line is not UTF-8")
        .at(Some(line))
        .hint("save the file as UTF-8")
}

fn hidden(path: &str, text: &str, findings: &mut Vec<Finding>) {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let text = match text.contains("\r\n") {
        true => Cow::Owned(text.replace("\r\n", "\n")),
        false => Cow::Borrowed(text),
    };
    for hidden in hidden_by_line(&text).take(MOST) {
        let (rule, message, hint) = match hidden.character {
            '\u{1B}' | '\u{9B}' => (
                Rule::AnsiEscape,
                "the line holds an escape sequence for terminals".to_owned(),
                "remove it: it can rewrite what a person sees",
            ),
            _ => (
                Rule::HiddenCharacter,
                format!("the line holds {hidden}"),
                "remove it: a person who reviews the skill cannot see it",
            ),
        };
        let finding = Finding::error(rule, path, message).at(Some(hidden.line));
        findings.push(finding.hint(hint));
    }
}

fn secrets(redactor: &Redactor, path: &str, text: &str, findings: &mut Vec<Finding>) {
    for (line, kind) in redactor.find(text).into_iter().take(MOST) {
        let message = format!("the line holds a secret ({kind})");
        let finding = Finding::error(Rule::Secret, path, message).at(Some(line));
        findings.push(finding.hint(SECRET_HINT));
    }
}

fn warnings(
    rule: Rule,
    forms: &[(Regex, &str)],
    path: &str,
    text: &str,
    findings: &mut Vec<Finding>,
) {
    for (form, message) in forms {
        for found in form.find_iter(text).take(MOST) {
            let line = line_of(text, found.start());
            findings.push(to_read(
                Finding::warning(rule, path, *message).at(Some(line)),
            ));
        }
    }
}

/// The line, from 1, of a place.
fn line_of(text: &str, at: usize) -> usize {
    1 + text[..at].matches('\n').count()
}

fn to_read(finding: Finding) -> Finding {
    finding.hint("read it before the skill is released")
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_form_compiles() {
        assert_eq!(super::SUSPICIOUS.len(), 6);
        assert_eq!(super::FRAMES.len(), 3);
    }
}
