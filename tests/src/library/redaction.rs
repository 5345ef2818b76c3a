//! What is taken for a secret: placeholders, ordinary text and drawn secrets, side by side.

mod keys;

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use journeyman::{Seed, text::Redactor};
use rand_chacha::{ChaCha8Rng, rand_core::Rng};

use crate::figures::{Bound, Figures, Outcome};

/// Drawn values of each alphabet and length.
const VALUES: u64 = 30;
/// Drawn short values of an alphabet and length.
const SHORT: u64 = 100_000;

const DIGITS: &str = "0123456789";
const SMALL: &str = "abcdefghijklmnopqrstuvwxyz";
const CAPITALS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

pub(super) fn run(figures: &mut Figures<'_>, root: &Path) -> Outcome {
    let seed = figures.options().seed.derive("redaction", 0);
    placeholders(figures, seed);
    ordinary(figures, root)?;
    values(figures, seed);
    short_values(figures, seed);
    keys::run(figures, seed);
    Ok(())
}

fn is_taken(text: &str) -> bool {
    Redactor::default().redact(text) != text
}

/// The share of some texts, in per cent.
fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

/// Text of drawn characters.
fn drawn(rng: &mut ChaCha8Rng, alphabet: &[u8], length: usize) -> String {
    let mut one = || {
        let at = (u64::from(rng.next_u32()) * alphabet.len() as u64) >> 32;
        char::from(alphabet[at as usize])
    };
    (0..length).map(|_| one()).collect()
}

/// Words that documentation builds such values from.
const WORDS: &str = include_str!("redaction/words.txt");
/// What documentation writes behind them.
const ENDS: [&str; 10] = [
    "1", "12", "123", "1234", "12345", "123456", "-123", "_01", "000", "111",
];
/// Values that documentation writes as they are.
const PLACEHOLDERS: &str = include_str!("redaction/placeholders.txt");
/// Lines of ordinary documentation about secrets.
const DOCUMENTATION: &str = include_str!("redaction/documentation.txt");

/// Values that documentation writes where a secret belongs.
fn placeholder_values() -> BTreeSet<String> {
    let built = WORDS
        .lines()
        .flat_map(|word| ENDS.iter().map(move |end| format!("{word}{end}")));
    built
        .chain(PLACEHOLDERS.lines().map(str::to_owned))
        .collect()
}

fn placeholders(figures: &mut Figures<'_>, seed: Seed) {
    let values: Vec<String> = placeholder_values().into_iter().collect();
    let ways = [
        "API_KEY=",
        "--password=",
        "api_key: \"",
        "export AUTH_TOKEN=",
        "client_secret = '",
        "password: ",
        "secret-key=",
    ];
    let line = |(at, value): (usize, &String)| {
        let way = seed
            .derive("way", at as u64)
            .index(ways.len())
            .unwrap_or_default();
        format!("{}{value}", ways[way])
    };
    let lines: Vec<String> = values.iter().enumerate().map(line).collect();
    let taken: Vec<&String> = lines.iter().filter(|line| is_taken(line)).collect();
    let all = lines.len() + DOCUMENTATION.lines().count();
    figures.record(
        "placeholders and documentation: forms",
        all as f64,
        Bound::AtLeast(200.0),
    );
    figures.record(
        "placeholders taken for secrets (%)",
        percent(taken.len(), lines.len()),
        Bound::AtMost(2.0),
    );
    let taken: Vec<&str> = DOCUMENTATION
        .lines()
        .filter(|line| is_taken(line))
        .collect();
    taken
        .iter()
        .for_each(|line| figures.progress(format_args!("taken: {line}")));
    figures.record(
        "lines of documentation taken for secrets",
        taken.len() as f64,
        Bound::AtMost(0.0),
    );
}

/// The project's own text and the texts below `--data`: none of it has a secret, apart from the files that plant some.
fn ordinary(figures: &mut Figures<'_>, root: &Path) -> Outcome {
    let mut paths = Vec::new();
    for folder in [
        "docs",
        "skills",
        "examples",
        "sdk/src",
        "adapters",
        "tests/lab",
        "tests/src",
    ] {
        files(&root.join(folder), &mut paths)?;
    }
    if let Some(data) = figures.data("") {
        files(&data, &mut paths)?;
    }
    paths.sort();
    let (mut lines, mut taken) = (0, 0);
    for path in paths {
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        // Tests plant secrets.
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for line in text.lines() {
            lines += 1;
            if is_taken(line) {
                taken += 1;
                let line: String = line.chars().take(120).collect();
                figures.progress(format_args!("taken in {}: {line}", path.display()));
            }
        }
    }
    figures.record("lines of ordinary text", lines as f64, Bound::None);
    figures.record(
        "lines of ordinary text taken for secrets, of 10,000",
        1e4 * f64::from(taken) / f64::from(lines),
        Bound::AtMost(1.0),
    );
    Ok(())
}

/// The text files below a folder, without built ones and without those that plant secrets.
fn files(folder: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    const PLANTED: [&str; 9] = [
        "tests",
        "tests.rs",
        "target",
        "redaction.rs",
        "redact.rs",
        "placeholder.rs",
        "hostile",
        "safety.rs",
        // Its tasks hand passwords and tokens over to services.
        "bfcl",
    ];
    const TEXT: [&str; 8] = ["md", "rs", "json", "jsonl", "toml", "txt", "py", "sh"];
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        if PLANTED.contains(&name.as_str()) || path.is_symlink() {
            continue;
        } else if path.is_dir() {
            files(&path, paths)?;
        } else if TEXT.contains(&ending) {
            paths.push(path);
        }
    }
    Ok(())
}

/// The alphabets of drawn values: hexadecimal, small letters and digits, letters and digits, base64, base64 of addresses,
/// base32, with signs, letters, small letters, digits.
fn alphabets() -> [String; 10] {
    let any = format!("{SMALL}{CAPITALS}{DIGITS}");
    [
        format!("{DIGITS}abcdef"),
        format!("{SMALL}{DIGITS}"),
        any.clone(),
        format!("{any}+/"),
        format!("{any}-_"),
        format!("{CAPITALS}234567"),
        format!("{any}!#%&*+-./:=?@^_~"),
        format!("{SMALL}{CAPITALS}"),
        SMALL.to_owned(),
        DIGITS.to_owned(),
    ]
}

/// 0: with a letter and a digit; 1: letters of both cases, 16 or more; 2: all others.
fn class(value: &str) -> usize {
    let any = |is: fn(&u8) -> bool| value.bytes().any(|b| is(&b));
    let mixed = any(u8::is_ascii_lowercase) && any(u8::is_ascii_uppercase);
    match any(u8::is_ascii_digit) {
        true if any(u8::is_ascii_alphabetic) => 0,
        false if mixed && value.len() >= 16 => 1,
        _ => 2,
    }
}

/// `NAME=value` with drawn values of several alphabets and lengths.
fn values(figures: &mut Figures<'_>, seed: Seed) {
    let names = [
        "API_KEY=",
        "DB_PASSWORD=",
        "client_secret: ",
        "access_token = ",
        "--password=",
    ];
    let mut counts = [(0, 0); 3];
    let mut number = 0;
    for (which, alphabet) in alphabets().iter().enumerate() {
        for length in 8..=64 {
            let mut rng = seed.derive("value", (which * 100 + length) as u64).rng();
            for at in 0..VALUES {
                let value = drawn(&mut rng, alphabet.as_bytes(), length);
                let class = class(&value);
                let line = format!("{}{value}", names[at as usize % names.len()]);
                number += 1;
                counts[class].0 += 1;
                if !is_taken(&line) {
                    counts[class].1 += 1;
                    if class == 0 {
                        figures.progress(format_args!("missed: {line}"));
                    }
                }
            }
        }
    }
    figures.record("drawn values", f64::from(number), Bound::AtLeast(10_000.0));
    let classes = [
        (
            "drawn values with a letter and a digit: missed",
            Bound::AtMost(0.0),
        ),
        (
            "drawn values of both cases without a digit, 16 or longer: missed (%)",
            Bound::AtMost(10.0),
        ),
        (
            "drawn values of one case, of digits, or short without a digit: missed (%)",
            Bound::None,
        ),
    ];
    for ((name, bound), (all, missed)) in classes.into_iter().zip(counts) {
        figures.progress(format_args!("{name}: {missed} of {all}"));
        let told = if name.ends_with("(%)") {
            percent(missed, all)
        } else {
            missed as f64
        };
        figures.record(name, told, bound);
    }
}

/// Drawn values of 8 to 12 characters with a letter and a digit: how many read as placeholders, in the worst alphabet and
/// length. A review of the code had found 60 of a million hexadecimal ones of 8, before the bound was set.
fn short_values(figures: &mut Figures<'_>, seed: Seed) {
    let mut worst = (0, 8, 0);
    for (which, alphabet) in alphabets().iter().enumerate().take(5) {
        for length in 8..=12 {
            let mut rng = seed.derive("short", (which * 100 + length) as u64).rng();
            let mut missed = 0;
            for _ in 0..SHORT {
                let value = drawn(&mut rng, alphabet.as_bytes(), length);
                missed += u32::from(class(&value) == 0 && !is_taken(&format!("API_KEY={value}")));
            }
            worst = worst.max((missed, length, which));
        }
    }
    let (missed, length, which) = worst;
    figures.progress(format_args!(
        "most missed: length {length}, alphabet {which}"
    ));
    figures.record(
        "drawn values of 8 to 12 characters: missed of 100,000, in the worst alphabet and length",
        f64::from(missed),
        Bound::AtMost(20.0),
    );
}
