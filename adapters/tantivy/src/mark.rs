//! The mark of an index on disk: its library and revision and how it was built, stored in the same commit as its
//! documents.

use journeyman::domain::IndexMark;
use serde::{Deserialize, Serialize};
use tantivy::{IndexMeta, TantivyError};

use crate::{config::Stemmer, words::words};

/// Version of the index format. Raised when the same skills are indexed differently and neither the fields nor the
/// words of the sample show it.
const FORM: u32 = 3;
/// A text whose words show a change in the splitting of text.
const SAMPLE: &str = "Unseal-coffee, jar_2 (v1.0) don't ÉTÉ Straße İ 咖啡を淹れる カフェ 한국어 кофе عربي a\u{301} ½ \
                      refreshToken parseHTTPResponse2 create_invoice_draft node.js ＡＢＣ ｶﾞ ﬁ résumé ёж Σίσυφος \
                      서버를 물을 น้ำแข็ง ລາວ ខ្មែរ မြန်မာ हिन्दी الكِتاب إلى co\u{AD}op \
                      xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";

/// A mark with the parameters that the index was built with.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct StoredMark {
    form: u32,
    words: Vec<String>,
    /// The Unicode version, which determines letters and cases.
    unicode: (u8, u8, u8),
    /// That of the forms in which words are compared.
    forms: (u8, u8, u8),
    mark: IndexMark,
}

impl StoredMark {
    fn new(mark: IndexMark, stemmer: Option<Stemmer>) -> Self {
        Self {
            form: FORM,
            words: words(SAMPLE, stemmer),
            unicode: char::UNICODE_VERSION,
            forms: unicode_normalization::UNICODE_VERSION,
            mark,
        }
    }
}

/// A mark as a commit's payload, stored twice so that damage is detected.
pub(crate) fn payload(mark: &IndexMark, stemmer: Option<Stemmer>) -> Result<String, TantivyError> {
    let shaped = || StoredMark::new(mark.clone(), stemmer);
    serde_json::to_string(&[shaped(), shaped()])
        .map_err(|error| TantivyError::InternalError(error.to_string()))
}

/// Reads the mark of the last commit; the default for a new index.
///
/// # Errors
/// When the mark is damaged, or the index was built differently.
pub(crate) fn read(metas: &IndexMeta, stemmer: Option<Stemmer>) -> Result<IndexMark, TantivyError> {
    let Some(payload) = &metas.payload else {
        return match metas.segments.is_empty() {
            true => Ok(IndexMark::default()),
            false => Err(refused("the commit has no mark")),
        };
    };
    of_payload(payload, stemmer)
}

fn of_payload(payload: &str, stemmer: Option<Stemmer>) -> Result<IndexMark, TantivyError> {
    let read = serde_json::from_str::<[StoredMark; 2]>(payload);
    let [first, second] = read.map_err(|_| refused("the commit's mark cannot be read"))?;
    if first != second || first != StoredMark::new(first.mark.clone(), stemmer) {
        return Err(refused(
            "the index was built differently, or its mark is damaged",
        ));
    }
    Ok(first.mark)
}

fn refused(what: &str) -> TantivyError {
    TantivyError::SchemaError(what.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn check(change: impl Fn(&mut Value), expect: bool) {
        let text = payload(&IndexMark::default(), None).unwrap();
        let mut stored: Value = serde_json::from_str(&text).unwrap();
        stored.as_array_mut().unwrap().iter_mut().for_each(change);
        assert_eq!(
            of_payload(&stored.to_string(), None).is_ok(),
            expect,
            "{stored}"
        );
    }

    #[test]
    fn an_index_of_other_words_is_refused() {
        check(|_| {}, true);
        let stemmed = payload(&IndexMark::default(), Some(Stemmer::English)).unwrap();
        assert!(of_payload(&stemmed, None).is_err());
        assert!(of_payload(&stemmed, Some(Stemmer::English)).is_ok());
        check(|mark| mark["unicode"][0] = 9.into(), false);
        // The form before had no parts of names, and no forms of Unicode.
        check(
            |mark| drop(mark.as_object_mut().unwrap().remove("forms")),
            false,
        );
        let sample = words(SAMPLE, None);
        for word in [
            "refresh",
            "http",
            "createinvoicedraft",
            "abc",
            "ガ",
            "resume",
            "서버",
            "물",
            "แข็",
            "ខ្មែ",
            "كتاب",
            "coop",
        ] {
            let at = sample.iter().position(|one| one == word);
            let at = at.unwrap_or_else(|| panic!("{word}: {sample:?}"));
            let without = |mark: &mut Value| drop(mark["words"].as_array_mut().unwrap().remove(at));
            check(without, false);
        }
    }
}
