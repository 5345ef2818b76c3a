//! The form in which words are compared, however they were typed.

use std::borrow::Cow;

use unicode_normalization::{
    IsNormalized, UnicodeNormalization, char::is_combining_mark, is_nfkc_quick,
};

/// A text in Unicode's form KC, without characters that only change how a word looks: full-width letters, letters with
/// accents of their own, ligatures and Hangul in parts become the usual ones.
pub(crate) fn normal(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let is_normal = is_nfkc_quick(text.chars()) == IsNormalized::Yes;
    if is_normal && !text.chars().any(is_left_out) {
        return Cow::Borrowed(text);
    }
    // Twice: taking out a joiner may bring an accent to its letter, and the form KC may bring out a vowel mark.
    let visible = text.chars().filter(|c| !is_left_out(*c));
    Cow::Owned(visible.nfkc().filter(|c| !is_left_out(*c)).collect())
}

/// A word without case. Letters that Arabic and Persian writers and keyboards use for each other become one.
pub(crate) fn folded(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    let mut folded = String::with_capacity(word.len());
    for c in word.chars() {
        match c {
            'أ' | 'إ' | 'آ' | 'ٱ' => folded.push('ا'),
            'ى' | 'ی' => folded.push('ي'),
            'ک' => folded.push('ك'),
            'ة' => folded.push('ه'),
            'ё' | 'Ё' => folded.push('е'),
            // In lower case it would be an i with a second dot.
            'İ' => folded.push('i'),
            // By way of upper case as Unicode's case folding has it: ß is ss, and there is one sigma.
            _ => folded.extend(c.to_uppercase().flat_map(char::to_lowercase)),
        }
    }
    folded
}

/// A Latin or Greek word without its accents, as many people type it; `None` where that is the same.
pub(crate) fn without_accents(word: &str) -> Option<String> {
    let is_of_both = |c: char| matches!(c, '\u{C0}'..='\u{24F}' | '\u{370}'..='\u{3FF}' | '\u{1E00}'..='\u{1FFF}');
    if word.is_ascii() || !word.chars().any(is_of_both) {
        return None;
    }
    let plain: String = word.nfd().filter(|c| !is_combining_mark(*c)).collect();
    (plain != word).then_some(plain)
}

/// An Arabic word without the article and what is written together with it; `None` for a word without one.
pub(crate) fn without_article(word: &str) -> Option<&str> {
    const ARTICLES: [&str; 6] = ["وال", "بال", "كال", "فال", "ال", "لل"];
    const LEAST: usize = 3;
    let rest = ARTICLES
        .iter()
        .find_map(|article| word.strip_prefix(article))?;
    (rest.chars().count() >= LEAST).then_some(rest)
}

/// Characters within words that are left out: soft hyphens, joiners, variation selectors, the Arabic stretch, and the vowel
/// marks of Arabic and Hebrew, which most texts do without.
fn is_left_out(c: char) -> bool {
    matches!(
        c,
        '\u{AD}'
            | '\u{200C}'
            | '\u{200D}'
            | '\u{2060}'
            | '\u{FEFF}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{E0100}'..='\u{E01EF}'
            | '\u{640}'
            | '\u{64B}'..='\u{65F}'
            | '\u{670}'
            | '\u{6D6}'..='\u{6DC}'
            | '\u{6DF}'..='\u{6E4}'
            | '\u{591}'..='\u{5BD}'
            | '\u{5BF}'
            | '\u{5C1}'
            | '\u{5C2}'
            | '\u{5C4}'
            | '\u{5C5}'
            | '\u{5C7}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        assert_eq!(folded(&normal(text)), expect, "{text:?}");
    }

    #[test]
    fn one_form_however_typed() {
        check("ＡＢＣ１２", "abc12");
        check("cafe\u{301} ÉTÉ", "café été");
        check("Straße STRASSE ﬁle", "strasse strasse file");
        check("ΟΔΟΣ οδος", "οδοσ οδοσ");
        check("İstanbul ISTANBUL", "istanbul istanbul");
        check("ｶﾞｲﾄﾞ", "ガイド");
        check("\u{1109}\u{1165}\u{1107}\u{1165}", "서버");
        check("co\u{ad}operate", "cooperate");
        check("ёлка", "елка");
        check("كِتَابٌ كتـــاب", "كتاب كتاب");
        check("إعداد أعداد", "اعداد اعداد");
        check("שָׁלוֹם", "שלום");
    }

    #[test]
    fn accents_and_articles() {
        assert_eq!(without_accents("résumé").as_deref(), Some("resume"));
        assert_eq!(without_accents("αρχείο").as_deref(), Some("αρχειο"));
        assert_eq!(without_accents("resume"), None);
        assert_eq!(without_accents("strasse"), None);
        // These are other letters, not accents.
        assert_eq!(without_accents("май"), None);
        assert_eq!(without_article("الملفات"), Some("ملفات"));
        assert_eq!(without_article("والملفات"), Some("ملفات"));
        assert_eq!(without_article("الى"), None);
    }
}
