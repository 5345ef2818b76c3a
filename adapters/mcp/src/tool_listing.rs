//! A server's list of tools, put together page by page and tool by tool: one that cannot be used takes none with it.

use std::collections::BTreeSet;

use journeyman::text::plain_terminal;
use rmcp::model::ServerResult;
use serde_json::Value;

use crate::listed_tool::ListedTool;

/// The greatest number of findings about a list; the rest is counted.
const FINDINGS: usize = 32;

/// The tools of a server, and what is wrong with its list.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolListing {
    /// The tools in the server's order, each definition once.
    pub tools: Vec<ListedTool>,
    /// What was left out of the list and why, for a person: tools without a name, names with several definitions, pages
    /// without an end. Of bounded length, without control characters. What was put right of a tool stands at the tool
    /// ([`ListedTool::findings`]).
    pub findings: Vec<String>,
}

impl ToolListing {
    /// All findings, those of the tools with the tools' names.
    pub fn all_findings(&self) -> Vec<String> {
        let of_tools = self.tools.iter().flat_map(findings);
        self.findings.iter().cloned().chain(of_tools).collect()
    }
}

/// The findings of a tool, with its name.
pub(crate) fn findings(tool: &ListedTool) -> impl Iterator<Item = String> + '_ {
    let named = || format!("tool `{}`", shown(&tool.definition.name));
    tool.findings
        .iter()
        .map(move |one| format!("{}: {one}", named()))
}

/// A page of a list as the server wrote it.
pub(crate) struct Page {
    tools: Vec<Value>,
    pub(crate) cursor: Option<String>,
}

impl Page {
    /// `None` for what is no page. MCP's library reads a page as a whole or not at all: one with a tool that it does not take
    /// comes as it was written.
    pub(crate) fn read(answer: ServerResult) -> Option<Self> {
        let (tools, cursor) = match answer {
            ServerResult::ListToolsResult(page) => {
                let tools = page.tools.iter().map(serde_json::to_value);
                (
                    tools.map(Result::unwrap_or_default).collect(),
                    page.next_cursor,
                )
            }
            ServerResult::CustomResult(written) => {
                let Value::Object(mut fields) = written.0 else {
                    return None;
                };
                let Some(Value::Array(tools)) = fields.remove("tools") else {
                    return None;
                };
                let cursor = match fields.remove("nextCursor") {
                    Some(Value::String(cursor)) => Some(cursor),
                    None | Some(Value::Null) => None,
                    Some(other) => Some(other.to_string()),
                };
                (tools, cursor)
            }
            _ => return None,
        };
        // Some servers have an empty one where the list ends.
        let cursor = cursor.filter(|cursor| !cursor.is_empty());
        Some(Self { tools, cursor })
    }
}

/// Puts a list together.
#[derive(Default)]
pub(crate) struct Listed {
    tools: Vec<ListedTool>,
    findings: Vec<String>,
    more: usize,
    cursors: BTreeSet<String>,
    count: usize,
}

impl Listed {
    /// Adds a page, and gives the cursor of the next one. A cursor that came before ends the list: its pages came, too.
    pub(crate) fn add(&mut self, page: Page) -> Option<String> {
        for written in page.tools {
            self.count += 1;
            match ListedTool::read(&written) {
                Ok(tool) if self.tools.contains(&tool) => {}
                Ok(tool) => self.tools.push(tool),
                Err(why) => {
                    let at = self.count;
                    self.find(format!(
                        "entry {at} of the list of tools is left out: {why}"
                    ));
                }
            }
        }
        let cursor = page.cursor?;
        if !self.cursors.insert(cursor.clone()) {
            self.find(format!(
                "the server gives the cursor `{}` of its list of tools again, so the list ends there",
                shown(&cursor)
            ));
            return None;
        }
        Some(cursor)
    }

    fn find(&mut self, finding: String) {
        match self.findings.len() < FINDINGS {
            true => self.findings.push(finding),
            false => self.more += 1,
        }
    }

    pub(crate) fn end(mut self) -> ToolListing {
        let mut names = BTreeSet::new();
        let twice = self.tools.iter().map(|tool| &tool.definition.name);
        let twice: BTreeSet<String> = twice.filter(|name| !names.insert(*name)).cloned().collect();
        for name in twice {
            self.find(format!(
                "the server lists the tool `{}` with several definitions, so it cannot be used",
                shown(&name)
            ));
        }
        if self.more > 0 {
            self.findings.push(format!("and {} more", self.more));
        }
        ToolListing {
            tools: self.tools,
            findings: self.findings,
        }
    }
}

/// A text of a server in a finding: bounded, on one line and without terminal escapes.
pub(crate) fn shown(text: &str) -> String {
    let plain: String = text
        .chars()
        .take(100)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    plain_terminal(&plain).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn page(tools: Value, cursor: Value) -> Page {
        let written = json!({"tools": tools, "nextCursor": cursor});
        Page::read(serde_json::from_value(written).unwrap()).unwrap()
    }

    fn tool(name: &str) -> Value {
        json!({"name": name, "description": "Does.", "inputSchema": {"type": "object"}})
    }

    #[test]
    fn a_page_is_read_tool_by_tool() {
        let mut listed = Listed::default();
        let tools = json!([tool("a"), {"name": "b"}, {"description": "no name"}, 3, tool("c"),
            {"name": "d", "inputSchema": {"type": "object"}, "icons": "none", "outputSchema": 7}]);
        assert_eq!(listed.add(page(tools, json!(null))), None);
        let list = listed.end();
        let names: Vec<_> = list
            .tools
            .iter()
            .map(|tool| tool.definition.name.as_str())
            .collect();
        assert_eq!(names, ["a", "b", "c", "d"]);
        assert_eq!(list.findings.len(), 2, "{:?}", list.findings);
        assert!(list.findings[0].contains("entry 3") && list.findings[1].contains("entry 4"));
        let all = list.all_findings();
        assert!(
            all.len() == 3 && all[2].starts_with("tool `b`: "),
            "{all:?}"
        );
    }

    #[test]
    fn a_tool_hashes_alike_beside_a_good_and_a_bad_one() {
        let annotated = json!({"name": "a", "inputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": true, "ours": 1}, "_meta": {"x": 1}});
        let hash = |tools: Value| {
            let mut listed = Listed::default();
            listed.add(page(tools, json!(null)));
            listed.end().tools[0].sha256.clone()
        };
        assert_eq!(
            hash(json!([annotated, tool("b")])),
            hash(json!([annotated, {"name": "b"}]))
        );
    }

    #[test]
    fn cursors_end_the_list_when_they_come_again() {
        let end = |cursors: &[Value]| {
            let mut listed = Listed::default();
            let gone = cursors.iter().take_while(|cursor| {
                let page = page(json!([tool("a")]), (*cursor).clone());
                listed.add(page).is_some()
            });
            (gone.count(), listed.end())
        };
        for cursors in [vec![json!("")], vec![json!(null)]] {
            let (pages, list) = end(&cursors);
            assert_eq!((pages, list.findings.len(), list.tools.len()), (0, 0, 1));
        }
        let circles = [
            (vec![json!("x"), json!("x")], "`x`"),
            (vec![json!("x"), json!("y"), json!("x")], "`x`"),
            (vec![json!(7), json!(7)], "`7`"),
            (vec![json!("\u{1b}[2J\n"), json!("\u{1b}[2J\n")], "`"),
        ];
        for (cursors, named) in circles {
            let (pages, list) = end(&cursors);
            assert_eq!((pages, list.tools.len()), (cursors.len() - 1, 1));
            let [finding] = list.findings.as_slice() else {
                panic!("{:?}", list.findings);
            };
            assert!(
                finding.contains(named) && !finding.contains(char::is_control),
                "{finding}"
            );
        }
    }

    #[test]
    fn twins_are_dropped_and_differing_ones_are_told() {
        let mut other = tool("a");
        other["description"] = json!("Does another thing.");
        let mut listed = Listed::default();
        listed.add(page(json!([tool("a"), tool("a"), tool("A")]), json!(null)));
        let list = listed.end();
        assert_eq!((list.tools.len(), list.findings.len()), (2, 0));
        let mut listed = Listed::default();
        listed.add(page(json!([tool("a"), other, tool("b")]), json!(null)));
        let list = listed.end();
        assert_eq!((list.tools.len(), list.findings.len()), (3, 1));
        assert!(
            list.findings[0].contains("`a` with several definitions"),
            "{:?}",
            list.findings
        );
    }

    #[test]
    fn what_is_no_page_is_none() {
        for written in [
            json!({}),
            json!({"tools": null}),
            json!({"tools": {}}),
            json!([1]),
            json!(3),
        ] {
            let answer = ServerResult::CustomResult(rmcp::model::CustomResult::new(written));
            assert!(Page::read(answer).is_none());
        }
    }
}
