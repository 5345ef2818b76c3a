//! Names of papers in the engine's code. An algorithm of a paper belongs to the paper's own place; the engine runs what it is
//! given.

use std::io;

use proc_macro2::{Delimiter, LexError, TokenStream, TokenTree, token_stream::IntoIter};

/// The names, in lower case.
const PAPERS: [&str; 5] = ["arise", "hisme", "scribe", "skillos", "skillrl"];
/// The folders of the engine, below `sdk/src`.
const ENGINE: [&str; 3] = ["policy/", "run/", "stations/"];

/// The identifiers and literals of the engine's production code that name a paper, each with its file. Comments and documentation
/// may name them.
pub(super) fn papers_in_engine(production: &[(&str, &str)]) -> io::Result<Vec<String>> {
    let mut named = Vec::new();
    for (path, text) in production {
        if !ENGINE.iter().any(|folder| path.starts_with(folder)) {
            continue;
        }
        let words = words(text).map_err(|error| io::Error::other(format!("{path}: {error}")))?;
        for word in words {
            let times = papers_in(&word);
            named.extend(std::iter::repeat_n(format!("{path}: {word}"), times));
        }
    }
    Ok(named)
}

/// The identifiers and literals of a source, without those of tests and documentation.
fn words(text: &str) -> Result<Vec<String>, LexError> {
    let mut found = Vec::new();
    collect(text.parse()?, &mut found);
    Ok(found)
}

fn collect(tokens: TokenStream, found: &mut Vec<String>) {
    let mut tokens = tokens.into_iter();
    // The token behind a `#`, or behind the `!` of a `#!`.
    let mut is_attribute = false;
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) if is_attribute => {
                let attribute = group.stream().to_string().replace(' ', "");
                if attribute == "cfg(test)" || attribute.starts_with("cfg(all(test,") {
                    skip_item(&mut tokens);
                } else if !attribute.starts_with("doc=") {
                    collect(group.stream(), found);
                }
                is_attribute = false;
            }
            TokenTree::Group(group) => collect(group.stream(), found),
            TokenTree::Punct(punct) => {
                is_attribute = punct.as_char() == '#' || (is_attribute && punct.as_char() == '!');
            }
            TokenTree::Ident(ident) => {
                found.push(ident.to_string());
                is_attribute = false;
            }
            TokenTree::Literal(literal) => {
                found.push(literal.to_string());
                is_attribute = false;
            }
        }
    }
}

/// Passes an item: to its first block, or to its semicolon.
fn skip_item(tokens: &mut IntoIter) {
    let is_end = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(punct) => punct.as_char() == ';',
        _ => false,
    };
    let _end = tokens.find(is_end);
}

/// How often an identifier or a literal names a paper: as a word of its own, or as two that are written together (`skill_os`).
fn papers_in(text: &str) -> usize {
    let pieces = text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'));
    pieces.map(papers_in_name).sum()
}

fn papers_in_name(name: &str) -> usize {
    let parts = parts(name);
    let is_paper = |word: &str| PAPERS.contains(&word);
    let alone = parts.iter().filter(|part| is_paper(part)).count();
    let together = parts.windows(2).filter(|two| is_paper(&two.concat()));
    alone + together.count()
}

/// The parts of a name, in lower case: `ofSkillOS` and `of_skill_os` are `of`, `skill` and `os`.
fn parts(name: &str) -> Vec<String> {
    let mut parts = Vec::new();
    for piece in name.split(['_', '-']) {
        let mut was_lower = false;
        let mut part = String::new();
        for c in piece.chars() {
            if c.is_uppercase() && was_lower {
                parts.push(std::mem::take(&mut part));
            }
            was_lower = !c.is_uppercase();
            part.extend(c.to_lowercase());
        }
        parts.push(part);
    }
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn papers_are_found_in_names_and_literals_outside_comments_and_tests() {
        let source = "\
            //! As in ARISE.\n\
            use crate::format::AriseSchema;\n\
            /// As in SkillOS.\n\
            #[serde(rename = \"hisme\")]\n\
            struct SkillRl { skill_os: u8 } // scribe\n\
            fn describe() { panic!(\"(ARISE 3.2)\"); arises(); skill(); os() }\n\
            #[cfg(test)]\n\
            #[allow(unused)]\n\
            mod tests { fn scribe() {} }\n\
            fn last(skillos_2: u8) {}\n";
        let found =
            papers_in_engine(&[("run/a.rs", source), ("library/format/arise.rs", source)]).unwrap();
        let expect = [
            "AriseSchema",
            "\"hisme\"",
            "SkillRl",
            "skill_os",
            "\"(ARISE 3.2)\"",
            "skillos_2",
        ];
        assert_eq!(found, expect.map(|word| format!("run/a.rs: {word}")));
    }
}
