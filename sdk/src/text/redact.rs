//! Secrets out of text, before it is kept, distilled, exported or traced (S10).

use std::{borrow::Cow, fmt, sync::LazyLock};

use regex::{Captures, Regex};
use serde_json::Value;

use crate::error::{Error, Result};

/// The shortest value that a host can name; shorter ones would blot out ordinary words.
const SHORTEST: usize = 4;

/// What a secret is called, and how its kind is spelled. Where a pattern has a group, the group alone is the secret.
/// From the issuers' documentation of their formats.
const PATTERNS: [(&str, &str); 20] = [
    (
        "private key",
        r"-----BEGIN [A-Z ]{0,24}PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z ]{0,24}PRIVATE KEY(?: BLOCK)?-----|\z)",
    ),
    (
        "password in an address",
        r#"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@"'<>]*:([^\s/@"'<>\[\]]+)@"#,
    ),
    (
        "authorization",
        r"(?i)\b(?:bearer|basic|token)\s+([A-Za-z0-9._~+/-]{16,}={0,2})",
    ),
    ("access key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b"),
    (
        "access token",
        r"\b(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{22,255})\b",
    ),
    (
        "access token",
        r"\bgl(?:pat|ptt|dt|rt|soat)-[A-Za-z0-9_-]{20,}",
    ),
    ("access token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    (
        "webhook",
        r"\bhttps://hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9_/+-]{20,})",
    ),
    ("api key", r"\bAIza[A-Za-z0-9_-]{35}"),
    ("access token", r"\bya29\.[A-Za-z0-9_-]{20,}"),
    ("api key", r"\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}"),
    (
        "api key",
        r"\bsk-(?:ant-|proj-|svcacct-|or-)?[A-Za-z0-9_-]{20,}",
    ),
    (
        "token",
        r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    ),
    (
        "access token",
        r"\b(?:npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{40,})",
    ),
    ("access token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("api key", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    ("access token", r"\bdo[opr]_v1_[a-f0-9]{64}"),
    ("bot token", r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"),
    (
        "secret key",
        r#"(?i)\baws[a-z0-9_ .-]{0,20}(?:secret|key)[a-z0-9_ .-]{0,20}["']?\s*[:=]\s*["']?([A-Za-z0-9/+]{40})\b"#,
    ),
    (
        "secret",
        r#"(?i)(?:\b|_)(?:password|passwd|passphrase|pwd|secret|api[_-]?key|access[_-]?key|private[_-]?key|(?:access|auth|refresh|session)[_-]?token|client[_-]?secret)["']?\s*[:=]\s*["']?([^\s"'`<>\[\](){}$,;]{6,})"#,
    ),
];

static KNOWN: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    // Our own patterns, all of which compile: a test tries each.
    let compiled = PATTERNS.iter();
    compiled
        .filter_map(|(kind, pattern)| Some((*kind, Regex::new(pattern).ok()?)))
        .collect()
});

/// Finds secrets by the form that their issuers give them, and the values that a host names, and puts
/// `[redacted: KIND]` in their place. Redacting twice changes nothing.
///
/// ```
/// use journeyman::text::Redactor;
///
/// let redactor = Redactor::new(["the-blue-door".to_owned()])?;
/// assert_eq!(
///     redactor.redact("say the-blue-door, then open https://ada:hunter22@host.example/"),
///     "say [redacted: named secret], then open https://ada:[redacted: password in an address]@host.example/"
/// );
/// assert_eq!(redactor.redact("nothing to see"), "nothing to see");
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Redactor {
    /// The longest first, so that of two of which one holds the other the whole one goes.
    values: Vec<String>,
}

impl Redactor {
    /// A redactor that knows the issuers' forms and these values.
    ///
    /// # Errors
    /// `Invalid` for a value of fewer than 4 bytes, which would blot out ordinary words, or of the words that stand in a
    /// secret's place.
    pub fn new(values: impl IntoIterator<Item = String>) -> Result<Self> {
        let mut values: Vec<String> = values.into_iter().collect();
        let within_ours = |value: &String| "[redacted: named secret]".contains(value.as_str());
        if values
            .iter()
            .any(|value| value.len() < SHORTEST || within_ours(value))
        {
            return Err(Error::invalid(
                "Redactor::new",
                "a secret is too short to be told from words",
            )
            .with("shortest", SHORTEST)
            .hint("name secrets of at least four bytes"));
        }
        // As they stand within JSON, too.
        let escaped: Vec<String> = values
            .iter()
            .map(|value| Value::from(value.as_str()).to_string())
            .filter_map(|quoted| Some(quoted.strip_prefix('"')?.strip_suffix('"')?.to_owned()))
            .collect();
        values.extend(escaped);
        values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        Ok(Self { values })
    }

    /// The text without its secrets.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for value in &self.values {
            if text.contains(value.as_str()) {
                text = Cow::Owned(text.replace(value.as_str(), "[redacted: named secret]"));
            }
        }
        for (kind, pattern) in KNOWN.iter() {
            if let Cow::Owned(redacted) =
                pattern.replace_all(&text, |found: &Captures<'_>| without(kind, found))
            {
                text = Cow::Owned(redacted);
            }
        }
        text
    }

    /// Every text within a value without its secrets, the names of fields included.
    pub fn redact_json(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(redacted) = self.redact(text) {
                    *text = redacted;
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|value| self.redact_json(value)),
            Value::Object(fields) => {
                let before = std::mem::take(fields);
                for (name, mut value) in before {
                    self.redact_json(&mut value);
                    // A name that tells, such as `password`, stands apart from its value here.
                    if let Value::String(text) = &mut value
                        && !text.contains("[redacted: ")
                        && self
                            .redact(&format!("{name}={text}"))
                            .contains("[redacted: secret]")
                    {
                        *text = "[redacted: secret]".to_owned();
                    }
                    let mut name = self.redact(&name).into_owned();
                    while fields.contains_key(&name) {
                        name.push('\'');
                    }
                    fields.insert(name, value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor")
            .field("values", &self.values.len())
            .finish_non_exhaustive()
    }
}

/// The match without its secret: without the group where there is one, else without all of it.
fn without(kind: &str, found: &Captures<'_>) -> String {
    let all = found.get(0).map_or("", |all| all.as_str());
    let start = found.get(0).map_or(0, |all| all.start());
    let Some(secret) = found.get(1) else {
        return format!("[redacted: {kind}]");
    };
    if kind == "secret" && !looks_drawn(secret.as_str()) {
        return all.to_owned();
    }
    let (before, rest) = all.split_at(secret.start() - start);
    let after = rest.get(secret.len()..).unwrap_or_default();
    format!("{before}[redacted: {kind}]{after}")
}

/// Whether a value that stands behind `password:` or the like is one, and not a word of the documentation: it holds both
/// letters and digits, or mixes cases with signs.
fn looks_drawn(value: &str) -> bool {
    let any = |is: fn(char) -> bool| value.chars().any(is);
    let letters = any(|c| c.is_ascii_alphabetic());
    let digits = any(|c| c.is_ascii_digit());
    let signs = any(|c| c.is_ascii_punctuation() && !matches!(c, '.' | '_' | '-' | ':' | '/'));
    let mixed = any(|c| c.is_ascii_uppercase()) && any(|c| c.is_ascii_lowercase());
    (letters && digits) || (mixed && signs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redact(text: &str) -> String {
        Redactor::default().redact(text).into_owned()
    }

    /// The secret goes, what stands around it stays, and a second pass changes nothing.
    fn check(before: &str, secret: &str, after: &str) {
        let redacted = redact(&format!("{before}{secret}{after}"));
        assert!(!redacted.contains(secret), "{redacted}");
        assert!(
            redacted.starts_with(before) && redacted.ends_with(after),
            "{redacted}"
        );
        assert!(redacted.contains("[redacted: "), "{redacted}");
        assert_eq!(redact(&redacted), redacted);
    }

    #[test]
    fn every_pattern_compiles() {
        assert_eq!(KNOWN.len(), PATTERNS.len());
    }

    #[test]
    fn what_issuers_give_out_is_found() {
        let drawn = |length: usize| "a1B2c3D4e5F6g7H8".repeat(8)[..length].to_owned();
        check("use ", "AKIAIOSFODNN7EXAMPLQ", " here");
        for prefix in ["ghp_", "gho_", "ghs_", "github_pat_", "hf_", "npm_"] {
            check("use ", &format!("{prefix}{}", drawn(36)), ".");
        }
        check("(", &format!("glpat-{}", drawn(20)), ")");
        check("\"", "xoxb-123456789012-abcdefABCDEF", "\"");
        check("key=", &format!("AIza{}", drawn(35)), "&x=1");
        check("", &format!("sk_live_{}", drawn(24)), "\n");
        check("", &format!("sk-ant-{}", drawn(40)), "");
        check("", &format!("SG.{}.{}", drawn(22), drawn(43)), "");
        check("", &format!("eyJ{0}.eyJ{0}.{0}", drawn(20)), "");
        check("Authorization: Bearer ", &drawn(32), "\r\n");
        check(
            "curl -H 'authorization: basic ",
            "dXNlcjpwYXNzd29yZDEyMw==",
            "'",
        );
        check("postgres://ada:", "hunter22", "@db.example/x");
        check("password=", "hunter22", "");
        check("PASSWORD: \"", "Tr0ub4dor&3", "\"");
        check("client_secret = '", "9f86d081884c7d65", "'");
        check("DB_PASSWORD=", "hunter22", "\n");
        check("aws_secret_access_key = ", &drawn(40), "\n");
    }

    #[test]
    fn a_private_key_goes_whole_even_when_it_is_cut_off() {
        let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKC\n-----END RSA PRIVATE KEY-----";
        assert_eq!(
            redact(&format!("a\n{key}\nb")),
            "a\n[redacted: private key]\nb"
        );
        assert_eq!(redact(&key[..50]), "[redacted: private key]");
    }

    #[test]
    fn ordinary_writing_stays() {
        for text in [
            "Set `password: string` in the schema; the password is required.",
            "password: <your password>, secret: ${SECRET}, api_key: {{ key }}",
            "Call token refresh, then use the bearer of the letter.",
            "see https://example.com:8080/path?user=a@b.example and mailto:a@b.example",
            "sk-learn and gh_pages are not secrets; AKIA is a prefix.",
            "`unseal coffee tone off power $` then `@`",
            "secret: true\npasswd: optional\napi-key: header",
            "The commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b is the last.",
        ] {
            assert_eq!(redact(text), text);
        }
    }

    #[test]
    fn a_hosts_own_values_are_found_wherever_they_stand() {
        let values = ["open \"sesame\"", "open", "door-42"].map(str::to_owned);
        let redactor = Redactor::new(values).unwrap();
        let mut value = serde_json::json!({
            "say": ["open \"sesame\" now", 1, null],
            "door-42": {"deep": "xdoor-42x", "password": "hunter22", "api_key": "optional"},
        });
        redactor.redact_json(&mut value);
        assert_eq!(
            value,
            serde_json::json!({
                "say": ["[redacted: named secret] now", 1, null],
                "[redacted: named secret]": {
                    "deep": "x[redacted: named secret]x",
                    "password": "[redacted: secret]",
                    "api_key": "optional",
                },
            })
        );
        let text = serde_json::json!("open \"sesame\"").to_string();
        assert_eq!(redactor.redact(&text), "\"[redacted: named secret]\"");
        assert!(Redactor::new(["abc".to_owned()]).is_err());
        assert!(Redactor::new(["secret".to_owned()]).is_err());
        assert!(!format!("{redactor:?}").contains("door"));
    }
}
