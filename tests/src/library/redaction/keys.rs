//! Drawn keys of every known form.

use journeyman::{Seed, text::Redactor};

use super::drawn;
use crate::figures::{Bound, Figures};

/// Drawn keys of each form.
const KEYS: u64 = 100_000;
/// A key counts as missed when this many characters of it in a row are left.
const PART: usize = 8;

/// A known form: its name, what stands before the drawn part, its alphabet and length, and what stands behind.
type Form = (
    &'static str,
    &'static str,
    &'static str,
    usize,
    &'static str,
);

const ANY: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const ADDRESS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE32: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const HEX: &str = "0123456789abcdef";

const FORMS: [Form; 26] = [
    ("AKIA", "use AKIA", BASE32, 16, " here"),
    ("ghp_", "use ghp_", ANY, 36, " here"),
    ("ghs_", "token=ghs_", ANY, 36, "\n"),
    ("github_pat_", "use github_pat_", ANY, 82, "."),
    ("glpat-", "use glpat-", ADDRESS, 20, " here"),
    ("xoxb-", "use xoxb-", ANY, 40, " here"),
    (
        "slack webhook",
        "https://hooks.slack.com/services/",
        ANY,
        44,
        " here",
    ),
    ("AIza", "key=AIza", ADDRESS, 35, "&x=1"),
    ("ya29.", "use ya29.", ADDRESS, 60, " here"),
    ("sk_live_", "use sk_live_", ANY, 24, " here"),
    ("sk_test_", "use sk_test_", ANY, 24, " here"),
    ("sk- of 48", "use sk-", ANY, 48, " here"),
    (
        "sk-proj- of 40 letters and digits",
        "use sk-proj-",
        ANY,
        40,
        " here",
    ),
    (
        "sk-proj- of 40 letters",
        "use sk-proj-",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        40,
        " here",
    ),
    ("sk-proj- of 156", "use sk-proj-", ADDRESS, 156, " here"),
    ("sk-ant-api03-", "use sk-ant-api03-", ADDRESS, 93, "AA here"),
    ("sk-or-v1-", "use sk-or-v1-", HEX, 64, " here"),
    ("npm_", "use npm_", ANY, 36, " here"),
    ("pypi-", "use pypi-AgEIcHlwaS5vcmc", ADDRESS, 120, " here"),
    ("hf_", "use hf_", ANY, 34, " here"),
    ("dop_v1_", "use dop_v1_", HEX, 64, " here"),
    ("bot token", "use 4829105733:AA", ADDRESS, 33, " here"),
    ("aws secret", "aws_secret_access_key = ", BASE64, 40, "\n"),
    ("Bearer", "Authorization: Bearer ", ANY, 40, "\r\n"),
    ("Basic", "Authorization: Basic ", BASE64, 32, "=="),
    ("address", "postgres://ada:", ANY, 16, "@db.example/x"),
];

pub(super) fn run(figures: &mut Figures<'_>, seed: Seed) {
    let mut worst = ("none", 0);
    for (form, before, alphabet, length, after) in FORMS {
        let mut rng = seed.derive(form, 0).rng();
        let redactor = Redactor::default();
        let mut missed = 0;
        for _ in 0..KEYS {
            let key = drawn(&mut rng, alphabet.as_bytes(), length);
            let text = format!("{before}{key}{after}");
            // Half a key is half a secret.
            let told = redactor.redact(&text);
            let part =
                |part: &[u8]| std::str::from_utf8(part).is_ok_and(|part| told.contains(part));
            if key.as_bytes().windows(PART).any(part) {
                missed += 1;
            }
        }
        figures.progress(format_args!("{form}: {missed} of {KEYS} missed"));
        if missed > worst.1 {
            worst = (form, missed);
        }
    }
    figures.record(
        "drawn keys of each known form",
        KEYS as f64,
        Bound::AtLeast(1e5),
    );
    figures.subject("the form with the most missed keys", worst.0);
    figures.record(
        "missed of them, in the form with the most",
        f64::from(worst.1),
        Bound::AtMost(0.0),
    );
}
