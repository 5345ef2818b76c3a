//! Conversion of skills to documents, and of tantivy's errors.

use std::borrow::Cow;

use journeyman::{Error, ErrorKind, Result, domain::Skill};
use tantivy::{
    TantivyDocument, TantivyError, Term,
    schema::{FAST, Field, IndexRecordOption, STRING, Schema, TextFieldIndexing, TextOptions},
};

use crate::{config::Stemmer, words::tokenized};

/// The fast field that holds the skill's id.
pub(crate) const ID: &str = "id";
/// The fast field that holds the skill's version.
pub(crate) const VERSION: &str = "version";

/// Maximum length of a skill's id in bytes, far below tantivy's limit on a term.
const MAX_ID: usize = 4096;

/// The fields of the index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields {
    pub(crate) id: Field,
    pub(crate) version: Field,
    /// Name, description, trigger and body, in the order of [`Boosts`](crate::Boosts).
    pub(crate) texts: [Field; 4],
}

impl Fields {
    pub(crate) fn schema() -> (Schema, Self) {
        let mut schema = Schema::builder();
        // Tokens are made by `words`; frequencies are needed, positions are not.
        let indexing = TextFieldIndexing::default()
            .set_tokenizer("raw")
            .set_index_option(IndexRecordOption::WithFreqs);
        let text = TextOptions::default().set_indexing_options(indexing);
        let fields = Self {
            id: schema.add_text_field(ID, STRING | FAST),
            version: schema.add_u64_field(VERSION, FAST),
            texts: ["name", "description", "trigger", "body"]
                .map(|name| schema.add_text_field(name, text.clone())),
        };
        (schema.build(), fields)
    }

    /// The term by which a document is replaced and filtered.
    pub(crate) fn key(&self, id: &str) -> Term {
        Term::from_field_text(self.id, id)
    }

    /// # Errors
    /// `Invalid` for an id that cannot be a key.
    pub(crate) fn document(
        &self,
        skill: &Skill,
        stemmer: Option<Stemmer>,
    ) -> Result<TantivyDocument> {
        let id = skill.id.as_str();
        if id.len() > MAX_ID {
            return Err(Error::invalid(
                "Retriever::refresh",
                "a skill's id is too long for the index",
            )
            .with("bytes", id.len())
            .with("most", MAX_ID));
        }
        let trigger = skill.trigger.as_deref().unwrap_or_default();
        let texts = [
            skill.name.as_str(),
            &skill.description,
            trigger,
            &skill.body,
        ];
        let mut document = TantivyDocument::new();
        document.add_text(self.id, id);
        document.add_u64(self.version, skill.version.0);
        for (field, text) in self.texts.into_iter().zip(texts) {
            document.add_pre_tokenized_text(field, tokenized(text, stemmer));
        }
        Ok(document)
    }
}

/// The error for a failure of tantivy.
pub(crate) fn error(
    operation: impl Into<Cow<'static, str>>,
    source: impl Into<TantivyError>,
) -> Error {
    let source = source.into();
    Error::new(kind(&source), operation, "the search index returned an error")
        .with("adapter", "tantivy")
        .hint("try again; the index is derived state, so if the error persists, delete the index and rebuild it \
            from the library")
        .source_from(source)
}

/// The kind of a failure: `Corrupt` where the index itself is at fault.
pub(crate) fn kind(source: &TantivyError) -> ErrorKind {
    match source {
        TantivyError::DataCorruption(_)
        | TantivyError::IncompatibleIndex(_)
        | TantivyError::SchemaError(_)
        | TantivyError::FieldNotFound(_)
        | TantivyError::DeserializeError(_) => ErrorKind::Corrupt,
        _ => ErrorKind::Unavailable,
    }
}
