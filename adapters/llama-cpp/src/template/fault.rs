//! The errors of chat templates.

use journeyman::Error;
use minijinja::{Error as JinjaError, ErrorKind as JinjaKind};

pub(super) const TOO_SLOW: &str = "the chat template takes longer than 10 s";
/// Maximum length of a template's own message in an error, in characters.
const MAX_WORDS: usize = 200;

pub(super) fn too_slow(operation: &'static str) -> Error {
    Error::unsupported(operation, TOO_SLOW).hint(
        "load with another template: Template::Jinja, Template::Named or Template::None; another copy of the \
            model may have a faster one",
    )
}

pub(super) fn unfit(operation: &'static str, why: &'static str) -> Error {
    Error::unsupported(operation, why).hint(
        "put the system message first and let user and assistant take turns; or load with another template: \
         Template::Jinja, Template::Named or Template::None",
    )
}

pub(super) fn failed(operation: &'static str, error: &JinjaError) -> Error {
    let why = match error.kind() {
        JinjaKind::SyntaxError => "the chat template is not valid Jinja",
        JinjaKind::OutOfFuel => "the chat template exceeds its limit of steps",
        JinjaKind::WriteFailure => "the chat template writes more than 4 MiB",
        _ => "the chat template refuses these messages",
    };
    let words = error.detail().unwrap_or_default().chars();
    let words: String = words
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(MAX_WORDS)
        .collect();
    unfit(operation, why)
        .with("jinja", error.kind())
        .with("line", error.line().unwrap_or(0))
        .with("detail", words)
}
