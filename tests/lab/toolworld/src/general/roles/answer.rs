//! Answers as JSON whose keys keep the order in which they are given: that of a role's schema.

use std::fmt;

use serde_json::Value;

/// A JSON value with ordered keys.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    Value(Value),
    List(Vec<Answer>),
    Object(Vec<(&'static str, Answer)>),
}

impl Answer {
    pub(crate) fn object<const N: usize>(fields: [(&'static str, Self); N]) -> Self {
        Self::Object(fields.into())
    }

    /// The answer of a role that writes nothing.
    pub(crate) fn nothing(reason: &str) -> Self {
        Self::object([("nothing", reason.into())])
    }
}

impl From<&str> for Answer {
    fn from(text: &str) -> Self {
        Self::Value(text.into())
    }
}

impl From<String> for Answer {
    fn from(text: String) -> Self {
        Self::Value(text.into())
    }
}

impl From<usize> for Answer {
    fn from(number: usize) -> Self {
        Self::Value(number.into())
    }
}

impl<T: Into<Answer>> From<Vec<T>> for Answer {
    fn from(items: Vec<T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => write!(formatter, "{value}"),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(ToString::to_string).collect();
                write!(formatter, "[{}]", items.join(", "))
            }
            Self::Object(fields) => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|(key, value)| format!("\"{key}\": {value}"))
                    .collect();
                write!(formatter, "{{{}}}", fields.join(", "))
            }
        }
    }
}
