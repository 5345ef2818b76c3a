//! Redacts secrets from text before it is kept, distilled, exported or traced (S10).

use std::{borrow::Cow, collections::BTreeSet, fmt, sync::LazyLock};

use regex::{Captures, Regex, RegexSet};
use serde_json::{Map, Value};

use crate::{
    error::{Error, Result},
    text::placeholder::is_placeholder,
};

/// The least length in bytes of a value that a host can name; shorter ones would redact ordinary words.
const SHORTEST: usize = 4;

/// The name of each kind of secret and its pattern, from the beginning of a word. Where a pattern has a group, only the
/// group is the secret. Source: the issuers' documentation of their formats.
const PATTERNS: [(&str, &str); 20] = [
    (
        "private key",
        r"-----BEGIN [A-Z ]{0,24}PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z ]{0,24}PRIVATE KEY(?: BLOCK)?-----|\z)",
    ),
    (
        "password in an address",
        r#"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@"'<>]*:([^\s/@"'<>\[\]]+)@"#,
    ),
    (
        "authorization",
        r"(?i)(?:bearer|basic|token)\s+([A-Za-z0-9._~+/-]{16,}={0,2})",
    ),
    ("access key", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?-u:\b)"),
    (
        "access token",
        r"(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{22,255})(?-u:\b)",
    ),
    (
        "access token",
        r"gl(?:pat|ptt|dt|rt|soat)-[A-Za-z0-9_-]{20,}",
    ),
    ("access token", r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    (
        "webhook",
        r"https://hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9_/+-]{20,})",
    ),
    ("api key", r"AIza[A-Za-z0-9_-]{35}"),
    ("access token", r"ya29\.[A-Za-z0-9_-]{20,}"),
    ("api key", r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}"),
    (
        "api key",
        r"sk-(?:ant-|proj-|svcacct-|or-)?[A-Za-z0-9_-]{20,}",
    ),
    (
        "token",
        r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    ),
    (
        "access token",
        r"(?:npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{40,})",
    ),
    ("access token", r"hf_[A-Za-z0-9]{30,}"),
    ("api key", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    ("access token", r"do[opr]_v1_[a-f0-9]{64}"),
    ("bot token", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"),
    (
        "secret key",
        r#"(?i)aws[a-z0-9_ .-]{0,20}(?:secret|key)[a-z0-9_ .-]{0,20}["']?\s*[:=]\s*["']?([A-Za-z0-9/+]{40})(?-u:\b)"#,
    ),
    (
        "secret",
        r#"(?i)(?:password|passwd|passphrase|pwd|secret(?:[_-]?key)?|api[_-]?key|access[_-]?key|private[_-]?key|(?:access|auth|refresh|session)[_-]?token|client[_-]?secret)["']?\s*[:=]\s*["']?([^\s"'`<>\[\](){}$,;]{6,})"#,
    ),
];

/// All of [`PATTERNS`] in one set, so that ordinary text is scanned once. Word boundaries are ASCII's, since Unicode's would
/// make text of other scripts slow.
static ANY: LazyLock<Option<RegexSet>> = LazyLock::new(|| {
    RegexSet::new(PATTERNS.map(|(kind, pattern)| from_a_word_on(kind, pattern))).ok()
});

static KNOWN: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    // All of these patterns compile: a test tries each.
    let compiled = PATTERNS.iter();
    compiled
        .filter_map(|(kind, pattern)| {
            Some((*kind, Regex::new(&from_a_word_on(kind, pattern)).ok()?))
        })
        .collect()
});

/// A pattern that begins at a word. Within JSON the word may follow an escaped line break. A field's name may be a part of a
/// word: `db_password`, `dbPassword`.
fn from_a_word_on(kind: &str, pattern: &str) -> String {
    if matches!(kind, "secret" | "private key") {
        return pattern.to_owned();
    }
    // A pattern without a group of its own is the secret as a whole, without the text before it.
    let has_group = Regex::new(pattern).is_ok_and(|pattern| pattern.captures_len() > 1);
    let (open, close) = if has_group { ("", "") } else { ("(", ")") };
    format!(r"(?:(?-u:\b)|\\[bfnrt]|\\u00[0-9A-Fa-f]{{2}}){open}{pattern}{close}")
}

/// Finds secrets by their issuers' formats and by the values that a host names, and replaces them with
/// `[redacted: KIND]`. A second redaction changes nothing. Placeholders of documentation, such as `api_key=abc123` and
/// `Bearer YOUR_TOKEN_HERE`, are no secrets and stay, unless a host names them.
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
    /// The longest first, so that a value that contains another one is replaced as a whole.
    pub(super) values: Vec<String>,
    /// Whether a text holds any of `values`.
    named: Option<Regex>,
    /// The host's own patterns, with their kinds.
    pub(super) forms: Vec<(String, Regex)>,
}

impl Redactor {
    /// A redactor for the issuers' formats and for these values.
    ///
    /// # Errors
    /// `Invalid` for a value of fewer than 4 bytes, which would redact ordinary words, or for a value that is part of a
    /// replacement text.
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
        // Also as spelled within JSON, and within JSON that is a string of JSON.
        for _ in 0..2 {
            let mut escaped: Vec<String> = values.iter().map(|value| escaped(value)).collect();
            for is_upper in [false, true] {
                escaped.extend(values.iter().map(|value| in_ascii(value, is_upper)));
            }
            values.extend(escaped);
            values.sort_unstable();
            values.dedup();
        }
        values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        let either: Vec<String> = values.iter().map(|value| regex::escape(value)).collect();
        let named = (!either.is_empty())
            .then(|| Regex::new(&either.join("|")))
            .transpose()
            .map_err(|_| Error::invalid("Redactor::new", "the named secrets are too many"))?;
        Ok(Self {
            values,
            named,
            forms: Vec::new(),
        })
    }

    /// The same redactor with a pattern of the host's own: a regular expression of the `regex` crate and the name of its
    /// kind. Where the pattern has a group, only the group is the secret.
    ///
    /// # Errors
    /// `Invalid` for a pattern that is not a regular expression, matches the empty text or matches a replacement text.
    pub fn with_form(mut self, kind: &str, form: &str) -> Result<Self> {
        let refused = |what| Error::invalid("Redactor::with_form", what).with("kind", kind);
        let form = Regex::new(form).map_err(|_| refused("the form is not a regular expression"))?;
        let ours = format!("[redacted: {kind}] [redacted: named secret]");
        if form.is_match("") || form.is_match(&ours) {
            let error = refused("the form matches nothing at all, or what stands for a secret");
            return Err(error.hint("say more closely what the secret looks like"));
        }
        self.forms.push((kind.to_owned(), form));
        Ok(self)
    }

    /// The text with its secrets replaced. Text without secrets is scanned once and returned unchanged.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if !self.may_hold(text) {
            return Cow::Borrowed(text);
        }
        let mut text = Cow::Borrowed(text);
        for value in &self.values {
            if text.contains(value.as_str()) {
                text = Cow::Owned(text.replace(value.as_str(), "[redacted: named secret]"));
            }
        }
        for form in self.forms() {
            let replaced = form
                .pattern
                .replace_all(&text, |found: &Captures<'_>| form.without(found));
            if let Cow::Owned(redacted) = replaced {
                text = Cow::Owned(redacted);
            }
        }
        text
    }

    /// The lines, from 1, with a secret, each with the name of the secret's kind.
    pub fn find(&self, text: &str) -> BTreeSet<(usize, String)> {
        let mut found = BTreeSet::new();
        if !self.may_hold(text) {
            return found;
        }
        let breaks: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
        let line = |at: usize| 1 + breaks.partition_point(|end| *end < at);
        if let Some(named) = &self.named {
            let named = named.find_iter(text);
            found.extend(named.map(|one| (line(one.start()), "named secret".to_owned())));
        }
        for form in self.forms() {
            for captures in form.pattern.captures_iter(text) {
                let all = captures.get(0);
                if all.is_some_and(|all| form.without(&captures) != all.as_str()) {
                    let at = captures.get(1).or(all).map_or(0, |secret| secret.start());
                    found.insert((line(at), form.kind.to_owned()));
                }
            }
        }
        found
    }

    /// Redacts a text in place.
    pub(crate) fn redact_in(&self, text: &mut String) {
        if let Cow::Owned(redacted) = self.redact(text) {
            *text = redacted;
        }
    }

    /// Whether a text may have a secret, by a fast scan.
    pub(super) fn may_hold(&self, text: &str) -> bool {
        let named = |named: &Regex| named.is_match(text);
        ANY.as_ref().is_none_or(|any| any.is_match(text))
            || self.named.as_ref().is_some_and(named)
            || self.forms.iter().any(|(_, form)| form.is_match(text))
    }

    fn forms(&self) -> impl Iterator<Item = Form<'_>> {
        let known = KNOWN.iter().map(|(kind, pattern)| Form {
            kind,
            pattern,
            is_the_hosts: false,
        });
        known.chain(self.forms.iter().map(|(kind, pattern)| Form {
            kind,
            pattern,
            is_the_hosts: true,
        }))
    }
}

impl PartialEq for Redactor {
    fn eq(&self, other: &Self) -> bool {
        let forms = |of: &Self| -> Vec<(String, String)> {
            let forms = of.forms.iter();
            forms
                .map(|(kind, form)| (kind.clone(), form.as_str().to_owned()))
                .collect()
        };
        self.values == other.values && forms(self) == forms(other)
    }
}

impl Eq for Redactor {}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor")
            .field("values", &self.values.len())
            .field("forms", &self.forms.len())
            .finish_non_exhaustive()
    }
}

/// A pattern of secrets.
struct Form<'a> {
    kind: &'a str,
    pattern: &'a Regex,
    /// Whether the host brought it; then whatever it matches is a secret.
    is_the_hosts: bool,
}

impl Form<'_> {
    /// The match with its secret replaced: only the group where there is one, else the whole match.
    fn without(&self, found: &Captures<'_>) -> String {
        let all = found.get(0).map_or("", |all| all.as_str());
        let start = found.get(0).map_or(0, |all| all.start());
        let secret = found.get(1).map_or(all, |secret| secret.as_str());
        if !self.is_the_hosts && !is_secret(self.kind, secret) {
            return all.to_owned();
        }
        let Some(secret) = found.get(1) else {
            return format!("[redacted: {}]", self.kind);
        };
        let (before, rest) = all.split_at(secret.start() - start);
        let after = rest.get(secret.len()..).unwrap_or_default();
        format!("{before}[redacted: {}]{after}", self.kind)
    }
}

/// Whether a match of a known pattern is a secret, and no word, name or placeholder.
fn is_secret(kind: &str, value: &str) -> bool {
    match kind {
        "private key" => true,
        "secret" => looks_drawn(value) && !is_placeholder(value),
        "api key" if value.starts_with("sk-") => is_drawn_key(value) && !is_placeholder(value),
        _ => !is_placeholder(value),
    }
}

/// A text as spelled within JSON.
fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    let inner = quoted
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    inner.unwrap_or(text).to_owned()
}

/// A text as spelled within JSON by a writer that writes only ASCII.
fn in_ascii(text: &str, is_upper: bool) -> String {
    let mut ascii = String::new();
    for c in escaped(text).chars() {
        if c.is_ascii() {
            ascii.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            ascii.push_str(&match is_upper {
                true => format!("\\u{unit:04X}"),
                false => format!("\\u{unit:04x}"),
            });
        }
    }
    ascii
}

/// The least number of letters of a value that is taken for drawn because of its cases alone.
const LONG: usize = 16;

/// Whether what begins with `sk-` is a key and not a name such as `sk-learn-text-classification`. Behind an issuer's own
/// prefix, letters of both cases are enough; else one part between hyphens has to be drawn.
fn is_drawn_key(key: &str) -> bool {
    let own = ["sk-ant-", "sk-proj-", "sk-svcacct-", "sk-or-"];
    let rest = own.iter().find_map(|prefix| key.strip_prefix(prefix));
    let any = |is: fn(&u8) -> bool| rest.is_some_and(|rest| rest.bytes().any(|b| is(&b)));
    (any(u8::is_ascii_uppercase) && any(u8::is_ascii_lowercase))
        || key.split(['-', '_']).any(is_run)
}

/// Whether a part of a hyphenated word has eight or more bytes with a letter and a digit, or is long and of even cases.
fn is_run(part: &str) -> bool {
    let any = |is: fn(&u8) -> bool| part.bytes().any(|b| is(&b));
    (part.len() >= 8 && any(u8::is_ascii_digit) && any(u8::is_ascii_alphabetic))
        || has_even_cases(part)
}

/// Whether a value after `password:` or the like is a secret and not a word of documentation: a secret has both letters and
/// digits, mixed cases and signs, or is long and of even cases.
fn looks_drawn(value: &str) -> bool {
    let any = |is: fn(char) -> bool| value.chars().any(is);
    let letters = any(|c| c.is_ascii_alphabetic());
    let digits = any(|c| c.is_ascii_digit());
    let signs = any(|c| c.is_ascii_punctuation() && !matches!(c, '.' | '_' | '-' | ':' | '/'));
    let mixed = any(|c| c.is_ascii_uppercase()) && any(|c| c.is_ascii_lowercase());
    (letters && digits) || (mixed && signs) || has_even_cases(value)
}

/// Whether a part of a value between signs has many letters, three to seven in ten of them capitals. A name in camel case has
/// fewer.
fn has_even_cases(value: &str) -> bool {
    value
        .split(|c: char| !c.is_ascii_alphanumeric())
        .any(|part| {
            let count = |is: fn(&u8) -> bool| part.bytes().filter(is).count();
            let capitals = count(u8::is_ascii_uppercase);
            let letters = count(u8::is_ascii_alphabetic);
            letters >= LONG && (3 * letters..=7 * letters).contains(&(10 * capitals))
        })
}

// Redacts secrets in JSON values (S10).

/// The least length, in characters, of a JSON number that is compared with named values.
const LONG_VALUE: usize = 6;

impl Redactor {
    /// Replaces the secrets in every text within a value, field names included. A number of six or more characters that is a
    /// named value becomes a replacement text; a shorter number may be a count.
    pub fn redact_json(&self, value: &mut Value) {
        if !self.is_clean(value) {
            self.redact_value(value);
        }
    }

    /// Whether a value has nothing to redact, by one scan of all its texts together. `false` is no proof of a secret: patterns
    /// of the host's own may be anchored, so with one of those the answer is always `false`.
    pub fn is_clean(&self, value: &Value) -> bool {
        self.has_nothing(|text| texts(value, "", text))
    }

    /// Whether none of the texts that `write` appends can hold a secret. A match within a field or within `name=value` is a
    /// match within the whole text too: each stands between line breaks or `=`, which are no parts of words.
    fn has_nothing(&self, write: impl FnOnce(&mut String)) -> bool {
        if !self.forms.is_empty() {
            return false;
        }
        let mut text = String::new();
        write(&mut text);
        !self.may_hold(&text)
    }

    fn redact_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.redact_in(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.redact_value(value)),
            Value::Object(fields) => self.redact_object(fields),
            Value::Number(number) => {
                let text = number.to_string();
                if text.len() >= LONG_VALUE && self.values.contains(&text) {
                    *value = self.redact(&text).into();
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// As [`Redactor::redact_json`], for the fields of an object.
    pub fn redact_fields(&self, fields: &mut Map<String, Value>) {
        let all = fields.iter();
        if !self.has_nothing(|text| all.for_each(|(name, value)| texts(value, name, text))) {
            self.redact_object(fields);
        }
    }

    fn redact_object(&self, fields: &mut Map<String, Value>) {
        for (name, value) in fields.iter_mut() {
            self.redact_value(value);
            // A field name such as `password` is separate from its value here.
            if let Value::String(text) = value
                && !text.contains("[redacted: ")
                && !self
                    .redact(&format!("{name}={text}"))
                    .ends_with(text.as_str())
            {
                *text = "[redacted: secret]".to_owned();
            }
        }
        if fields.keys().any(|name| self.redact(name) != name.as_str()) {
            for (name, value) in std::mem::take(fields) {
                let mut name = self.redact(&name).into_owned();
                while fields.contains_key(&name) {
                    name.push('\'');
                }
                fields.insert(name, value);
            }
        }
    }
}

/// Appends the texts of a value, a line each, with the name of the field before it. Numbers and names of fields without a text
/// are lines too.
fn texts(value: &Value, name: &str, all: &mut String) {
    let mut line = |text: &str| {
        all.push_str(name);
        all.push('=');
        all.push_str(text);
        all.push('\n');
    };
    match value {
        Value::String(text) => line(text),
        Value::Number(number) => line(&number.to_string()),
        Value::Null | Value::Bool(_) => line(""),
        Value::Array(values) => {
            line("");
            values.iter().for_each(|value| texts(value, "", all));
        }
        Value::Object(fields) => {
            line("");
            fields
                .iter()
                .for_each(|(name, value)| texts(value, name, all));
        }
    }
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
        check("\"", "xoxb-482910573318-kQzRbWmXvTpL", "\"");
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
        check("dbPassword: ", "hunter22", "\n");
        check("SECRET_KEY='", "a8Fk39dkQ2x8Lw0z", "'");
        check("\"SecretAccessKey\": \"", &drawn(40), "\"");
        check("aws_secret_access_key = ", &drawn(40), "\n");
        // Forty drawn letters without a digit.
        let letters = "kQzRbWmXvTpLdNcFyHgJsKqZrBwMxVtPlDnCfYhG";
        check("use ", &format!("sk-proj-{letters}"), " here");
        check("use ", &format!("sk-{letters}"), " here");
        check("API_KEY=", letters, "\n");
    }

    #[test]
    fn placeholders_of_documentation_are_no_secrets() {
        for text in [
            "API_KEY=abc123",
            "mysql --password=secret123 -u root",
            "export OPENAI_API_KEY=sk-proj-your-key-here-1234567890",
            "Authorization: Bearer YOUR_ACCESS_TOKEN_HERE",
            "postgres://user:password@localhost/db",
            "aws_access_key_id = AKIAIOSFODNN7EXAMPLE",
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "private_key = loadPrivateKeyFromFile",
            "const apiKey = process.env.OPENAI_API_KEY;",
            "sk-learn-TextClassificationBase",
        ] {
            assert_eq!(redact(text), text);
            assert!(Redactor::default().find(text).is_empty());
        }
        // A host's own values and forms are secrets whatever they look like.
        let named = Redactor::new(["abc123".to_owned()]).unwrap();
        assert_eq!(
            named.redact("API_KEY=abc123"),
            "API_KEY=[redacted: named secret]"
        );
        let formed = Redactor::default()
            .with_form("secret", "abc[0-9]{3}")
            .unwrap();
        assert_eq!(
            formed.redact("API_KEY=abc123"),
            "API_KEY=[redacted: secret]"
        );
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
    fn secrets_within_json_are_found() {
        let drawn = |length: usize| "a1B2c3D4e5F6g7H8".repeat(8)[..length].to_owned();
        let secrets = [
            "AKIAIOSFODNN7EXAMPLQ".to_owned(),
            format!("ghp_{}", drawn(36)),
            format!("sk-ant-{}", drawn(40)),
            format!("sk_live_{}", drawn(24)),
        ];
        for secret in &secrets {
            for before in [r"token:\n", r"\t", r"a\r\n", r"a\u000a"] {
                check(before, secret, r"\n");
            }
        }
        check(r"now\npassword=", "hunter22", r" \n");
        check(r"see\nhttps://ada:", "hunter22", "@host.example");
        let mut fields = serde_json::json!({
            "aws_secret_access_key": drawn(40),
            "SecretAccessKey": drawn(40),
            "dbPassword": "hunter22",
            "note": "unchanged",
        });
        Redactor::default().redact_json(&mut fields);
        assert_eq!(
            fields,
            serde_json::json!({
                "aws_secret_access_key": "[redacted: secret]",
                "SecretAccessKey": "[redacted: secret]",
                "dbPassword": "[redacted: secret]",
                "note": "unchanged",
            })
        );
    }

    #[test]
    fn ordinary_writing_stays() {
        for text in [
            "Set `password: string` in the schema; the password is required.",
            "password: <your password>, secret: ${SECRET}, api_key: {{ key }}",
            "Call token refresh, then use the bearer of the letter.",
            "see https://example.com:8080/path?user=a@b.example and mailto:a@b.example",
            "sk-learn-classification-pipeline-2024 and sk-00000001-deep-learning-setup are names",
            r"see\nsk-learn-text-classification-pipeline",
            "sk-learn and gh_pages are not secrets; AKIA is a prefix.",
            "`unseal coffee tone off power $` then `@`",
            "secret: true\npasswd: optional\napi-key: header",
            "The commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b is the last.",
        ] {
            assert_eq!(redact(text), text);
        }
    }

    #[test]
    fn the_lines_of_secrets_are_told() {
        let redactor = Redactor::new(["the-blue-door".to_owned()]).unwrap();
        let text = "one\npassword: hunter22\nthree the-blue-door\npassword: word";
        let found: Vec<(usize, String)> = redactor.find(text).into_iter().collect();
        assert_eq!(
            found,
            [(2, "secret".to_owned()), (3, "named secret".to_owned()),]
        );
        assert!(redactor.find("nothing").is_empty());
    }

    #[test]
    fn a_host_has_forms_of_its_own() {
        let redactor = Redactor::default()
            .with_form("badge", r"badge ([0-9]{6})")
            .unwrap();
        assert_eq!(
            redactor.redact("show badge 123456 to 123456"),
            "show badge [redacted: badge] to 123456"
        );
        assert_ne!(redactor, Redactor::default());
        for form in ["(", "", "[a-z]+", "badge"] {
            assert!(Redactor::default().with_form("badge", form).is_err());
        }
    }

    #[test]
    fn named_values_are_found_in_every_spelling() {
        let values = ["p\u{e4}ssw\u{f6}rt \u{1f511}", "47114711", "1234"].map(str::to_owned);
        let redactor = Redactor::new(values).unwrap();
        let escaped = r#"{"out": "p\u00e4ssw\u00f6rt \ud83d\udd11"}"#;
        let upper = escaped
            .replace("\\u00e4", "\\u00E4")
            .replace("\\u00f6", "\\u00F6");
        let upper = upper.replace("\\ud83d\\udd11", "\\uD83D\\uDD11");
        for escaped in [escaped, &upper] {
            assert_eq!(
                redactor.redact(escaped),
                r#"{"out": "[redacted: named secret]"}"#
            );
        }
        let mut value = serde_json::json!({"pin": 47114711, "count": 1234, "other": 471147110});
        redactor.redact_json(&mut value);
        let due = serde_json::json!({"pin": "[redacted: named secret]", "count": 1234, "other": 471147110});
        assert_eq!(value, due);
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
        let twice = serde_json::json!({"said": text}).to_string();
        assert!(!redactor.redact(&twice).contains("sesame"));
        assert!(Redactor::new(["abc".to_owned()]).is_err());
        assert!(Redactor::new(["secret".to_owned()]).is_err());
        assert!(!format!("{redactor:?}").contains("door"));
    }
}

#[cfg(test)]
mod redact_json_tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_place_of_a_secret_is_taken_for_clean() {
        let drawn = "a1B2c3D4e5F6g7H8".repeat(4);
        let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----";
        let secrets = [
            "hunter22".to_owned(),
            format!("ghp_{}", &drawn[..36]),
            format!("AIza{}", &drawn[..35]),
            format!("Bearer {}", &drawn[..24]),
            "https://ada:hunter33@host.example/".to_owned(),
            format!("password: {}", &drawn[..16]),
            key.to_owned(),
            key[..40].to_owned(),
        ];
        let named = Redactor::new(["hunter22".to_owned()]).unwrap();
        for secret in secrets {
            for value in [
                json!(secret),
                json!([1, [secret]]),
                json!({"a": {"b": [{"c": secret}]}}),
                json!({(secret.clone()): true}),
                json!({"a": format!("x\n{secret}\ny"), "b": null}),
                json!({"a": json!({"b": secret}).to_string()}),
            ] {
                let mut redacted = value.clone();
                named.redact_value(&mut redacted);
                assert!(redacted == value || !named.is_clean(&value), "{value}");
                assert!(redacted != value, "{value}");
            }
        }
        let number = Redactor::new(["47114711".to_owned()]).unwrap();
        assert!(!number.is_clean(&json!({"pin": 47114711})));
    }

    #[test]
    fn a_value_is_clean_only_where_nothing_is_redacted() {
        let named = Redactor::new(["hunter22".to_owned()]).unwrap();
        let anchored = Redactor::default().with_form("pin", "^[0-9]{4}$").unwrap();
        for (redactor, value) in [
            (&named, json!({"a": ["x", {"b": "say hunter22"}]})),
            (&named, json!({"hunter22": null})),
            (&named, json!({"password": "s3cret-Word9"})),
            (&named, json!([["db_password=s3cret-Word9"]])),
            (&anchored, json!({"code": "1234"})),
        ] {
            let mut redacted = value.clone();
            redactor.redact_json(&mut redacted);
            assert!(!redactor.is_clean(&value) && redacted != value, "{value}");
        }
        let ordinary = json!({"id": "skill-1", "sum": -0.5, "tokens": [1, 2], "none": null});
        assert!(named.is_clean(&ordinary) && Redactor::default().is_clean(&ordinary));
    }
}
