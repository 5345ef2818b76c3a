//! The format of gpt-oss: channels, and calls that are addressed to a function.

use crate::text::WrittenCall;

/// What ends the content of a message.
const ENDS: [&str; 4] = ["<|end|>", "<|call|>", "<|return|>", "<|start|>"];

/// Whether a text is written in channels. Others address a call too, and write it in tags.
pub(super) fn is_meant(text: &str) -> bool {
    let is_addressed = || text.contains("to=") && !text.contains("<function_calls>");
    text.contains("<|message|>") && (text.contains("<|channel|>") || is_addressed())
}

/// The words for the user, and the calls. Thoughts are left out.
pub(super) fn read(text: &str) -> (String, Vec<WrittenCall>) {
    let (mut words, mut calls) = (Vec::new(), Vec::new());
    let mut rest = text;
    while let Some((header, behind)) = rest.split_once("<|message|>") {
        let end = ENDS.iter().filter_map(|end| behind.find(end)).min();
        // A message that is not ended ends where the next one's header begins.
        let end = end.or_else(|| behind.find("<|channel|>"));
        let (content, next) = behind.split_at(end.unwrap_or(behind.len()));
        let channel = header.rsplit("<|channel|>").next().unwrap_or_default();
        let to = header.rsplit_once("to=").map(|(_, to)| to);
        let to = to.map(|to| {
            let end = to.find(|c: char| !super::bodies::is_name(c));
            &to[..end.unwrap_or(to.len())]
        });
        match to {
            Some(to) => calls.push(WrittenCall {
                id: String::new(),
                tool: to.trim_start_matches("functions.").to_owned(),
                arguments: content.trim().to_owned(),
            }),
            None if channel.trim_start().starts_with("analysis") => {}
            None => words.push(content.trim()),
        }
        rest = next;
    }
    (words.join("\n").trim().to_owned(), calls)
}
