//! Names of tools as servers take them.

use std::borrow::Cow;

use journeyman::{
    domain::{ToolDefinition, sha256_hex},
    text::WrittenCall,
};

/// The longest name that OpenAI's interface takes, in characters.
const LONGEST: usize = 64;
/// The characters of a digest that tell two names apart.
const DIGEST: usize = 8;

/// A tool's name as OpenAI's interface takes it: letters, digits, `_` and `-`, at most 64 of them. Another name has `_` in place of
/// other characters, and the beginning of a digest behind it, so that no two names become one.
pub(crate) fn wire_name(name: &str) -> Cow<'_, str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !name.is_empty() && name.len() <= LONGEST && name.chars().all(fits) {
        return Cow::Borrowed(name);
    }
    let written: String = name
        .chars()
        .map(|c| if fits(c) { c } else { '_' })
        .collect();
    let digest: String = sha256_hex(name).chars().take(DIGEST).collect();
    let kept = &written[..written.len().min(LONGEST - DIGEST - 1)];
    Cow::Owned(format!("{kept}_{digest}"))
}

/// The calls with the names that the tools have outside of the server.
pub(crate) fn own_names(calls: &mut [WrittenCall], tools: &[ToolDefinition]) {
    for call in calls {
        let called = call.tool.trim();
        if let Some(tool) = tools.iter().find(|tool| wire_name(&tool.name) == called) {
            call.tool.clone_from(&tool.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_one_that_servers_take() {
        let check = |name: &str, begin: &str| {
            let found = wire_name(name);
            assert!(found.starts_with(begin), "{found}");
            assert!(found.len() <= LONGEST, "{found}");
        };
        assert_eq!(wire_name("set_level-2"), "set_level-2");
        check("dial.set_level", "dial_set_level_");
        check("\u{e9}l\u{e8}ve", "_l_ve_");
        check("", "_");
        check(&"a".repeat(100), "aaaa");
        assert_ne!(wire_name("a.b"), wire_name("a/b"));
        let tool = ToolDefinition::new("dial.set_level", "", serde_json::json!({}));
        let mut calls =
            [WrittenCall::default().with_tool(wire_name("dial.set_level").into_owned())];
        own_names(&mut calls, &[tool]);
        assert_eq!(calls[0].tool, "dial.set_level");
    }
}
