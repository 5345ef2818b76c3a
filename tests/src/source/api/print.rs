//! Tokens as one line of text, and the conditions, marks and derives in an item's attributes.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Path, Token, punctuated::Punctuated};

/// The conditions (`cfg`) under which an item exists.
pub(super) type Needs = BTreeSet<String>;

/// Attributes that change how an item may be used.
const MARKS: [&str; 3] = ["async_trait", "deprecated", "non_exhaustive"];
/// Tokens with no space behind them.
const OPENING: [&str; 8] = ["(", "[", "<", "::", "&", "?", "*", "#"];
/// Tokens with no space before them.
const CLOSING: [&str; 7] = [",", ";", ":", "::", ">", ")", "]"];
/// Words behind which a parenthesis opens no arguments.
const KEYWORDS: [&str; 4] = ["as", "dyn", "mut", "where"];

/// Tokens on one line, spaced like formatted code.
pub(super) fn printed(tokens: &impl ToTokens) -> String {
    let mut words = Vec::new();
    flatten(tokens.to_token_stream(), &mut words);
    let mut line = String::new();
    let mut before = "";
    for (place, word) in words.iter().enumerate() {
        // The comma at the end of a list that is written over several lines.
        let next = words.get(place + 1).map(String::as_str);
        if word == "," && matches!(next, Some(">") | None) {
            continue;
        }
        if is_spaced(before, word) {
            line.push(' ');
        }
        line.push_str(word);
        before = word;
    }
    line
}

/// The conditions of an item; `None` where it exists in tests or documentation tests alone.
pub(super) fn conditions(attributes: &[Attribute]) -> Option<Needs> {
    let cfgs = attributes.iter().filter(|one| one.path().is_ident("cfg"));
    let conditions: Needs = cfgs.map(|one| printed(&one.meta)).collect();
    let of_tests = |cfg: &String| {
        matches!(cfg.as_str(), "cfg(test)" | "cfg(doctest)") || cfg.starts_with("cfg(all(test,")
    };
    (!conditions.iter().any(of_tests)).then_some(conditions)
}

/// The marks of an item, as they stand before it in its line.
pub(super) fn marks(attributes: &[Attribute]) -> String {
    let is_marked = |mark: &str| {
        attributes.iter().any(|one| {
            let last = one.path().segments.last();
            last.is_some_and(|segment| segment.ident == mark)
        })
    };
    let marks = MARKS.into_iter().filter(|mark| is_marked(mark));
    marks.map(|mark| format!("#[{mark}] ")).collect()
}

/// The traits that an item derives.
pub(super) fn derived(attributes: &[Attribute]) -> Vec<String> {
    let lists = attributes
        .iter()
        .filter(|one| one.path().is_ident("derive"))
        .filter_map(|one| {
            one.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated)
                .ok()
        });
    lists.flatten().map(|path| last_segment(&path)).collect()
}

/// The last segment of a path: `Display` of `fmt::Display`.
pub(super) fn last_segment(path: &Path) -> String {
    path.segments.last().map(printed).unwrap_or_default()
}

/// The tokens as words, with the signs of one operator (`->`) or lifetime (`'a`) in one word.
fn flatten(tokens: TokenStream, words: &mut Vec<String>) {
    let mut joint = false;
    for token in tokens {
        let (word, joins) = match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::None => ("", ""),
                };
                words.extend((!open.is_empty()).then(|| open.to_owned()));
                let commas = group.stream().into_iter().filter(is_comma).count();
                flatten(group.stream(), words);
                // One comma alone makes a tuple, `(T,)`.
                if commas > 1 && words.last().is_some_and(|word| word == ",") {
                    words.pop();
                }
                words.extend((!close.is_empty()).then(|| close.to_owned()));
                joint = false;
                continue;
            }
            TokenTree::Punct(punct) => (
                punct.as_char().to_string(),
                punct.spacing() == Spacing::Joint,
            ),
            TokenTree::Ident(ident) => (ident.to_string(), false),
            TokenTree::Literal(literal) => (literal.to_string(), false),
        };
        match words.last_mut() {
            Some(last) if joint => last.push_str(&word),
            _ => words.push(word),
        }
        joint = joins;
    }
}

fn is_comma(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',')
}

fn is_spaced(before: &str, word: &str) -> bool {
    if before.is_empty() || OPENING.contains(&before) || CLOSING.contains(&word) {
        return false;
    }
    let after_name = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    match word {
        "(" => before != ">" && (!after_name || KEYWORDS.contains(&before)),
        "<" | "!" => !after_name,
        _ => true,
    }
}
