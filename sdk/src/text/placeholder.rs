//! Recognizes what documentation writes in place of a secret: `abc123`, `your-api-key-here1`, `p@ssw0rd`, `xxxx1234`.
//!
//! A value is a placeholder when it is known words and runs from its beginning to its end. Of drawn values of eight hexadecimal
//! digits some 60 in a million are so, and of eight small letters and digits some 3 in a million; the group `redaction` of
//! the figures measures it. A person's weak password of such words (`admin123`) reads the same and is taken for a placeholder.

/// Words of placeholders, in lower case. None is shorter than two letters.
const WORDS: &[&str] = &[
    "your",
    "my",
    "our",
    "the",
    "an",
    "this",
    "that",
    "some",
    "any",
    "real",
    "actual",
    "own",
    "new",
    "old",
    "here",
    "goes",
    "go",
    "is",
    "it",
    "in",
    "with",
    "of",
    "to",
    "for",
    "from",
    "and",
    "or",
    "not",
    "me",
    "put",
    "paste",
    "insert",
    "enter",
    "replace",
    "change",
    "changeme",
    "changeit",
    "fill",
    "set",
    "add",
    "use",
    "api",
    "app",
    "key",
    "keys",
    "secret",
    "secrets",
    "password",
    "passwd",
    "passphrase",
    "pass",
    "pwd",
    "token",
    "tokens",
    "access",
    "auth",
    "bearer",
    "client",
    "private",
    "public",
    "session",
    "refresh",
    "id",
    "value",
    "string",
    "text",
    "here",
    "example",
    "examples",
    "sample",
    "demo",
    "dummy",
    "fake",
    "mock",
    "test",
    "testing",
    "tests",
    "placeholder",
    "redacted",
    "hidden",
    "todo",
    "none",
    "null",
    "empty",
    "default",
    "unset",
    "foo",
    "bar",
    "baz",
    "qux",
    "foobar",
    "hello",
    "world",
    "user",
    "username",
    "login",
    "admin",
    "root",
    "guest",
    "qwerty",
    "letmein",
    "welcome",
    "super",
    "very",
    "long",
    "strong",
    "secure",
    "safe",
    "random",
    "generated",
    "unique",
    "local",
    "localhost",
    "dev",
    "development",
    "prod",
    "production",
    "staging",
    "stage",
    "live",
    "project",
    "service",
    "account",
    "database",
    "db",
    "postgres",
    "mysql",
    "redis",
    "mongo",
    "openai",
    "anthropic",
    "google",
    "github",
    "gitlab",
    "slack",
    "stripe",
    "aws",
    "azure",
    "hugging",
    "face",
    "huggingface",
    "company",
    "acme",
    "org",
    "organization",
    "mysecret",
    "env",
    "var",
    "variable",
    "config",
    "one",
    "two",
    "first",
    "second",
    "encryption",
    "signing",
    "jwt",
    "hmac",
    "salt",
    "hash",
    "sha",
    "base",
    "min",
    "minimum",
    "at",
    "least",
    "length",
    "characters",
    "chars",
    "char",
    "bit",
    "bits",
    "bytes",
    "hex",
    "abcdef",
    "asdf",
    "zxcvbn",
    "xyz",
    "uuid",
    "number",
    "code",
    "webhook",
    "deploy",
    "bot",
    "server",
    "host",
    "xoxb",
    "ghp",
    "pat",
];

/// Prefixes that issuers give their keys; in documentation a placeholder may follow.
const PREFIXES: [&str; 38] = [
    "sk-proj-",
    "sk-svcacct-",
    "sk-ant-api03-",
    "sk-ant-",
    "sk-or-v1-",
    "sk-or-",
    "sk-",
    "sk_live_",
    "sk_test_",
    "pk_live_",
    "pk_test_",
    "rk_live_",
    "rk_test_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "glptt-",
    "gldt-",
    "glrt-",
    "glsoat-",
    "xoxa-",
    "xoxb-",
    "xoxe-",
    "xoxo-",
    "xoxp-",
    "xoxr-",
    "xoxs-",
    "npm_",
    "pypi-",
    "hf_",
    "dop_v1_",
    "AIza",
    "ya29.",
    "SG.",
];

/// Values that vendors and standards print as examples in their documentation: Stripe's test keys, RFC 7617's `Aladdin:open
/// sesame`, `username:password` and `user:password`.
const PUBLISHED: [&str; 5] = [
    "4eC39HqLyjWDarjtT1zdp7dc",
    "BQokikJOvBiI2HlWgH4olfQ2",
    "QWxhZGRpbjpvcGVuIHNlc2FtZQ",
    "dXNlcm5hbWU6cGFzc3dvcmQ",
    "dXNlcjpwYXNzd29yZA",
];
/// The signature of jwt.io's first token.
const SIGNATURE: &str = ".SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c";

/// The greatest length in bytes of a placeholder of words and runs.
const LONGEST: usize = 256;
/// The least length of a run, such as `abc`, `321` or `xxx`.
const RUN: usize = 3;

/// Whether a value that has the form of a secret is one of documentation.
pub(super) fn is_placeholder(value: &str) -> bool {
    // The ends that AWS gives its documentation's keys.
    let is_of_aws = value.starts_with(['A']) && value.len() == 20 && value.ends_with("EXAMPLE");
    if is_of_aws || (value.len() == 40 && value.ends_with("EXAMPLEKEY")) {
        return true;
    }
    if value.starts_with("eyJ") && value.ends_with(SIGNATURE) {
        return true;
    }
    if value.len() > LONGEST || !value.is_ascii() {
        return false;
    }
    let prefix = PREFIXES.iter().find(|prefix| value.starts_with(**prefix));
    let rest = prefix.map_or(value, |prefix| &value[prefix.len()..]);
    if PUBLISHED.contains(&rest.trim_end_matches('=')) {
        return true;
    }
    is_words_and_runs(rest.to_ascii_lowercase().as_bytes())
}

/// Whether a value is known words, runs and signs from its beginning to its end, with at least one word or run. Up to two
/// digits may follow a word.
fn is_words_and_runs(value: &[u8]) -> bool {
    let mut ends = vec![End::Nothing; value.len() + 1];
    ends[0] = End::Sign;
    for at in 0..value.len() {
        let (end, rest) = (ends[at], &value[at..]);
        if end == End::Nothing {
            continue;
        }
        let mut reach = |length: usize, end: End| ends[at + length] = ends[at + length].max(end);
        if is_sign(rest[0]) {
            reach(1, end);
        }
        let run = match rest[0].is_ascii_digit() {
            true => End::Digits,
            false => End::Word,
        };
        (RUN..=run_length(rest)).for_each(|length| reach(length, run));
        let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        if end == End::Word && (1..=2).contains(&digits) {
            reach(digits, End::Digits);
        }
        let words = WORDS.iter().filter(|word| spells(rest, word.as_bytes()));
        words.for_each(|word| reach(word.len(), End::Word));
    }
    matches!(ends.last(), Some(End::Word | End::Digits))
}

/// What ends at a place of a value, signs behind it left out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// The place cannot be reached.
    Nothing,
    /// Signs alone.
    Sign,
    /// Digits.
    Digits,
    /// A word, or a run of letters.
    Word,
}

fn is_sign(b: u8) -> bool {
    b.is_ascii_punctuation()
}

/// The length of the run at the beginning: one character again and again, or each the neighbor of the one before it.
fn run_length(value: &[u8]) -> usize {
    let length = |step: i16| {
        let steps = value.windows(2);
        let kept = |pair: &&[u8]| {
            let kind = |b: u8| (b.is_ascii_digit(), b.is_ascii_lowercase());
            let (one, other) = (pair[0], pair[1]);
            // After 9 comes 0, as on a keyboard.
            let wraps = (step == 1 && (one, other) == (b'9', b'0'))
                || (step == -1 && (one, other) == (b'0', b'9'));
            kind(one) == kind(other) && (wraps || i16::from(other) - i16::from(one) == step)
        };
        1 + steps.take_while(kept).count()
    };
    [0, 1, -1].map(length).into_iter().max().unwrap_or(1)
}

/// Whether a value begins with a word, letters written as such or as the digits and signs that look like them.
fn spells(value: &[u8], word: &[u8]) -> bool {
    let same = |(written, letter): (&u8, &u8)| {
        written == letter
            || match letter {
                b'a' => matches!(written, b'@' | b'4'),
                b'b' => *written == b'8',
                b'e' => *written == b'3',
                b'i' | b'l' => matches!(written, b'1' | b'!'),
                b'o' => *written == b'0',
                b's' => matches!(written, b'$' | b'5'),
                b't' => matches!(written, b'7' | b'+'),
                _ => false,
            }
    };
    // Digits alone spell no word, and a short one is too often met by chance.
    let written = value.get(..word.len()).unwrap_or_default();
    let is_plain = written == word;
    is_plain
        || (word.len() >= 4
            && written.iter().any(u8::is_ascii_lowercase)
            && written.iter().zip(word).all(same))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_told_from_drawn_values() {
        for placeholder in [
            "abc123",
            "secret123",
            "changeme1",
            "your-api-key-here1",
            "xxxx1234",
            "p@ssw0rd",
            "P@ssw0rd!",
            "mysecretpassword123",
            "test1234",
            "1234567890abcdef",
            "YOUR_API_KEY_1",
            "s3cr3t",
            "sk-xxxxxxxxxxxxxxxxxxxx1",
            "sk-proj-your-project-key-here-1234",
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "AKIAIOSFODNN7EXAMPLE",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "sk_test_4eC39HqLyjWDarjtT1zdp7dc",
            "token-abc123",
            "QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
            "123456abc",
            "a-secret".trim_start_matches("a-"),
            "admin12",
        ] {
            assert!(is_placeholder(placeholder), "{placeholder}");
        }
        for drawn in [
            "hunter22",
            "Tr0ub4dor&3",
            "9f86d081884c7d65",
            "a8Fk39dkQ2x8Lw0z",
            "a1B2c3D4e5F6g7H8",
            "AKIAIOSFODNN7EXAMPLQ",
            "k9Fq2xR7vEXAMPLE",
            "dXNlcm5hbWU6cGFzc3dvcmQtWGsyOSFxTHc=",
            "x7QWxhZGRpbjpvcGVuIHNlc2FtZQ",
            "s3cret-Word9x",
            "x7",
            "secret4711",
            "12",
            "",
            "--",
            "key-9f86d081",
            "sk-proj-9f86d081884c7d659a2feaa0",
            "correct-horse-battery-staple-7",
            "пароль1",
        ] {
            assert!(!is_placeholder(drawn), "{drawn}");
        }
        assert!(!is_placeholder(&"abc".repeat(100)));
    }
}
