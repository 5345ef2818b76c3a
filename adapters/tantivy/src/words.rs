//! Splitting text into words, the same for skills and for queries.

use tantivy::tokenizer::{PreTokenizedString, Token};
use unicode_normalization::char::is_combining_mark;

use crate::{
    config::Stemmer,
    folded::{folded, normal, without_accents, without_article},
    identifier::parts,
};

/// Longer words are truncated, in skills and in queries alike, so that they still match. They are not split: what is that
/// long is an encoded file or a key.
const MAX_CHARS: usize = 64;
/// The most runs that are also one word when signs join them (`create_invoice_draft`).
const MAX_JOINED: usize = 8;

/// Kinds of scripts, by how a text in them is cut into words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Script {
    /// Words stand apart.
    Spaced,
    /// Words stand apart, with particles at their ends.
    Hangul,
    /// Kana and Han: words of one or more characters follow each other without spaces.
    Ideographs,
    /// Thai, Lao, Khmer, Myanmar and their kin: letters, and no spaces between words.
    Unspaced,
}

/// Adjacent characters of one script.
#[derive(Debug)]
struct Run<'a> {
    script: Script,
    text: &'a str,
    /// Whether a sign within names joins it to the run before.
    is_joined: bool,
}

/// The words of a text, in order, in a form in which ways to write a word are the same. Names of code count as a whole and
/// as the words that they are made of; scripts without spaces, and Korean words, as parts that overlap. With a stemmer, inflected
/// words also count as their stems.
pub(crate) fn words(text: &str, stemmer: Option<Stemmer>) -> Vec<String> {
    let text = normal(text);
    let mut words = Vec::new();
    for joined in runs(&text).chunk_by(|_, next| next.is_joined) {
        for run in joined {
            match run.script {
                Script::Spaced => add_spaced(run.text, &mut words),
                Script::Hangul => add_hangul(run.text, &mut words),
                Script::Ideographs => add_ideographs(run.text, &mut words),
                Script::Unspaced => add_unspaced(run.text, &mut words),
            }
        }
        words.extend(whole_name(joined));
    }
    match stemmer {
        None => words,
        Some(stemmer) => with_stems(words, stemmer),
    }
}

/// The words, each with its stem behind it where that is another word.
fn with_stems(words: Vec<String>, stemmer: Stemmer) -> Vec<String> {
    let stemmer = frostem::Stemmer::new(match stemmer {
        Stemmer::English => frostem::Algorithm::English,
    });
    let mut all = Vec::with_capacity(words.len());
    for word in words {
        let stem = match word.chars().all(|c| c.is_ascii_lowercase()) {
            true => stemmer.stem(&word).into_owned(),
            false => word.clone(),
        };
        let is_other = stem != word;
        all.push(word);
        if is_other {
            all.push(stem);
        }
    }
    all
}

/// A text's words as tantivy's tokens.
pub(crate) fn tokenized(text: &str, stemmer: Option<Stemmer>) -> PreTokenizedString {
    let tokens = words(text, stemmer)
        .into_iter()
        .enumerate()
        .map(|(position, text)| Token {
            position,
            text,
            ..Token::default()
        })
        .collect();
    PreTokenizedString {
        text: String::new(),
        tokens,
    }
}

fn runs(text: &str) -> Vec<Run<'_>> {
    let mut runs: Vec<Run<'_>> = Vec::new();
    // Where the last run ends, in bytes.
    let mut end = 0;
    for (at, c) in text.char_indices() {
        let next = at + c.len_utf8();
        let last = runs.last_mut().filter(|_| end == at);
        // A mark belongs to the letter before it; so do the signs that join letters of Indic scripts.
        let Some(script) = script(c) else {
            if let Some(last) = last.filter(|_| is_combining_mark(c)) {
                last.text = &text[at - last.text.len()..next];
                end = next;
            }
            continue;
        };
        match last {
            Some(last) if last.script == script => {
                last.text = &text[at - last.text.len()..next];
            }
            _ => runs.push(Run {
                script,
                text: &text[at..next],
                is_joined: script == Script::Spaced
                    && runs.last().is_some_and(|last| {
                        last.script == Script::Spaced && joins(last.text, &text[end..at], c)
                    }),
            }),
        }
        end = next;
    }
    runs
}

/// Whether the text between two runs joins them to a name: `max_size`, `well-known`, `node.js`, but not `1.0`.
fn joins(before: &str, between: &str, next: char) -> bool {
    match between {
        "-" | "_" | "\u{2010}" => true,
        "." => before.ends_with(char::is_alphabetic) && next.is_alphabetic(),
        _ => false,
    }
}

/// The script of a letter or number; `None` for signs.
fn script(c: char) -> Option<Script> {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric().then_some(Script::Spaced);
    }
    if !c.is_alphanumeric() {
        return None;
    }
    Some(match u32::from(c) {
        _ if c.is_numeric() && !is_han(c) => Script::Spaced,
        0xAC00..=0xD7A3 | 0x1100..=0x11FF => Script::Hangul,
        0x3041..=0x312F | 0x31A0..=0x31BF | 0x31F0..=0x31FF => Script::Ideographs,
        _ if is_han(c) => Script::Ideographs,
        0x0E00..=0x0EFF
        | 0x1000..=0x109F
        | 0x1780..=0x17FF
        | 0x1950..=0x19DF
        | 0x1A20..=0x1AAF
        | 0xA9E0..=0xA9FF
        | 0xAA60..=0xAA7F => Script::Unspaced,
        _ => Script::Spaced,
    })
}

fn is_han(c: char) -> bool {
    matches!(u32::from(c), 0x3005 | 0x3007 | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x2_0000..=0x3_FFFF)
}

fn cut(word: String) -> String {
    match word.char_indices().nth(MAX_CHARS) {
        None => word,
        Some((end, _)) => word[..end].to_owned(),
    }
}

fn add_spaced(run: &str, words: &mut Vec<String>) {
    let whole = cut(folded(run));
    words.extend(without_article(&whole).map(str::to_owned));
    words.extend(without_accents(&whole));
    words.push(whole);
    if run.chars().nth(MAX_CHARS).is_none() {
        words.extend(parts(run).into_iter().map(folded));
    }
}

/// The runs of a name as one word, as it is written in another style: `createInvoiceDraft`.
fn whole_name(joined: &[Run<'_>]) -> Option<String> {
    let has_letter = |run: &Run<'_>| run.text.contains(char::is_alphabetic);
    let is_name = (2..=MAX_JOINED).contains(&joined.len()) && joined.iter().any(has_letter);
    let whole: String = joined
        .iter()
        .filter(|_| is_name)
        .map(|run| folded(run.text))
        .collect();
    (is_name && whole.chars().nth(MAX_CHARS).is_none()).then_some(whole)
}

/// A Korean word, and each two adjacent syllables of it: most stems have two, and particles and endings follow them.
fn add_hangul(run: &str, words: &mut Vec<String>) {
    const PARTICLES: [&str; 17] = [
        "을", "를", "이", "가", "은", "는", "에", "의", "로", "와", "과", "도", "만", "에서",
        "에게", "으로", "부터",
    ];
    words.push(cut(run.to_owned()));
    let syllables = clusters(run);
    if syllables.len() > 2 {
        add_grams(&syllables, 2, words);
    }
    // A stem of one syllable has no two.
    if let [stem, _] | [stem, _, _] = syllables.as_slice()
        && PARTICLES.contains(&&run[stem.len()..])
    {
        words.push((*stem).to_owned());
    }
}

/// Each two adjacent characters, and each Han character, which may be a word by itself.
fn add_ideographs(run: &str, words: &mut Vec<String>) {
    let characters = clusters(run);
    let is_single = |one: &&&str| characters.len() == 1 || one.starts_with(is_han);
    let singles = characters.iter().filter(is_single);
    words.extend(singles.map(|one| (*one).to_owned()));
    add_grams(&characters, 2, words);
}

/// Each two and three adjacent letters with their marks, and each letter with marks: a syllable, often a word by itself.
fn add_unspaced(run: &str, words: &mut Vec<String>) {
    let letters = clusters(run);
    let is_syllable = |one: &&&str| letters.len() == 1 || one.chars().nth(1).is_some();
    let syllables = letters.iter().filter(is_syllable);
    words.extend(syllables.map(|one| cut((*one).to_owned())));
    add_grams(&letters, 2, words);
    add_grams(&letters, 3, words);
}

fn add_grams(letters: &[&str], size: usize, words: &mut Vec<String>) {
    words.extend(letters.windows(size).map(|gram| cut(gram.concat())));
}

/// The letters of a run, each with the marks that follow it.
fn clusters(run: &str) -> Vec<&str> {
    let mut starts = run.char_indices().filter(|(_, c)| !is_combining_mark(*c));
    let mut start = starts.next().map(|_| 0);
    std::iter::from_fn(|| {
        let from = start?;
        start = starts.next().map(|(at, _)| at);
        Some(&run[from..start.unwrap_or(run.len())])
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[&str]) {
        assert_eq!(words(text, None), expect, "{text:?}");
    }

    #[test]
    fn words_of_any_text() {
        check("", &[]);
        check(" \u{0}\u{202e}—!? ", &[]);
        check(
            "Unseal coffee, jar 2 (v1.0)",
            &["unseal", "coffee", "jar", "2", "v1", "0"],
        );
        check("Straße ÉTÉ", &["strasse", "ete", "été"]);
        check("+a AND \"b c\"~2^3", &["a", "and", "b", "c", "2", "3"]);
        // A sign that joins two letters of one word is no sign between words.
        check("हिन्दी में", &["हिन्दी", "में"]);
    }

    #[test]
    fn names_of_code_are_a_whole_and_parts() {
        let parts = ["create", "invoice", "draft"];
        let whole = ["createinvoicedraft"];
        check("createInvoiceDraft", &[&whole[..], &parts].concat());
        for name in [
            "create_invoice_draft",
            "create-invoice-draft",
            "CREATE_INVOICE_DRAFT",
            "create.invoice.draft",
        ] {
            check(name, &[&parts[..], &whole].concat());
        }
        check("iPhone", &["iphone", "phone"]);
        check("utf-8 UTF8", &["utf", "8", "utf8", "utf8", "utf", "8"]);
        check("1.0 2024-05-06", &["1", "0", "2024", "05", "06"]);
        check("end - begin --all a--b", &["end", "begin", "all", "a", "b"]);
    }

    #[test]
    fn scripts_without_spaces_are_parts_that_overlap() {
        check(
            "咖啡を淹れるTool",
            &[
                "咖", "啡", "淹", "咖啡", "啡を", "を淹", "淹れ", "れる", "tool",
            ],
        );
        check("水", &["水"]);
        check("ﾃﾞｰﾀ", &["デー", "ータ"]);
        check("第3章", &["第", "3", "章"]);
        check(
            "น้ำแข็ง",
            &[
                "น\u{e49}\u{e4d}",
                "ข็",
                "น\u{e49}\u{e4d}า",
                "าแ",
                "แข็",
                "ข็ง",
                "น\u{e49}\u{e4d}าแ",
                "าแข็",
                "แข็ง",
            ],
        );
        check("ណ", &["ណ"]);
    }

    #[test]
    fn korean_words_are_found_behind_particles() {
        check(
            "서버를 재시작",
            &["서버를", "서버", "버를", "재시작", "재시", "시작"],
        );
        check(
            "물을 집에서",
            &["물을", "물", "집에서", "집에", "에서", "집"],
        );
        check("API를", &["api", "를"]);
    }

    #[test]
    fn arabic_words_are_found_without_their_article() {
        check("الملفات", &["ملفات", "الملفات"]);
        check("مَلَفّ", &["ملف"]);
    }

    #[test]
    fn inflected_words_count_as_their_stems_too() {
        let found = words("Rescheduling meetings, jar2 café", Some(Stemmer::English));
        assert_eq!(
            found,
            [
                "rescheduling",
                "reschedul",
                "meetings",
                "meet",
                "jar2",
                "jar",
                "2",
                "cafe",
                "café"
            ]
        );
    }

    #[test]
    fn long_words_are_cut() {
        let most = "x".repeat(MAX_CHARS);
        check(&format!("{} y", "x".repeat(500)), &[&most, "y"]);
        let file = "aB3d".repeat(100);
        assert_eq!(words(&file, None).len(), 1);
        let name = ["part"; MAX_JOINED + 1].join("-");
        assert_eq!(words(&name, None).len(), MAX_JOINED + 1);
    }
}
