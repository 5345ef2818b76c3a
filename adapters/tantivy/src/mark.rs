//! What an index on disk says of itself, in the same commit as its documents.

use journeyman::domain::IndexMark;
use serde::{Deserialize, Serialize};
use tantivy::{IndexMeta, TantivyError};

use crate::words::words;

/// Raised when the same skills would be indexed otherwise and neither the fields nor the sample's words show it.
const FORM: u32 = 3;
/// A text on which another way to part words would show.
const SAMPLE: &str = "Unseal-coffee, jar_2 (v1.0) don't ÉTÉ Straße İ 咖啡を淹れる カフェ 한국어 кофе عربي a\u{301} ½ \
                      xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";

/// A mark with what shaped the index.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Shaped {
    form: u32,
    words: Vec<String>,
    /// Letters and cases change with Unicode.
    unicode: (u8, u8, u8),
    mark: IndexMark,
}

impl Shaped {
    fn new(mark: IndexMark) -> Self {
        Self {
            form: FORM,
            words: words(SAMPLE),
            unicode: char::UNICODE_VERSION,
            mark,
        }
    }
}

/// A mark as a commit's payload: twice, so that damage shows.
pub(crate) fn payload(mark: &IndexMark) -> Result<String, TantivyError> {
    let shaped = || Shaped::new(mark.clone());
    serde_json::to_string(&[shaped(), shaped()])
        .map_err(|error| TantivyError::InternalError(error.to_string()))
}

/// The mark of the last commit; that of a new index where none was made.
///
/// # Errors
/// Where it is damaged, or the index was made otherwise than today.
pub(crate) fn read(metas: &IndexMeta) -> Result<IndexMark, TantivyError> {
    let Some(payload) = &metas.payload else {
        return match metas.segments.is_empty() {
            true => Ok(IndexMark::default()),
            false => Err(refused("the commit says nothing of itself")),
        };
    };
    let read = serde_json::from_str::<[Shaped; 2]>(payload);
    let [first, second] = read.map_err(|_| refused("the commit's mark cannot be read"))?;
    if first != second || first != Shaped::new(first.mark.clone()) {
        return Err(refused(
            "the index was made otherwise, or its mark is damaged",
        ));
    }
    Ok(first.mark)
}

fn refused(what: &str) -> TantivyError {
    TantivyError::SchemaError(what.to_owned())
}
