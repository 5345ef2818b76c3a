//! A tool as a server lists it, and the hash of its definition.

use std::{collections::BTreeMap, fmt};

use journeyman::{domain::ToolDefinition, text::loosened};
use rmcp::model::ToolAnnotations;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// The SHA-256 of a tool's definition: of the JSON object of `name`, `description`, `inputSchema` and `annotations`, with
/// sorted keys and without spaces, in lower-case hexadecimal. What the definition lacks is `null`. It is the hash of what the
/// server sent, whatever of it had to be put right.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolSha256(String);

impl fmt::Display for ToolSha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A tool as a server lists it.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct ListedTool {
    /// The definition as an agent sees it: with a schema that can be used.
    pub definition: ToolDefinition,
    /// The server's annotations: hints that nothing relies on, shown to the person who approves.
    pub annotations: Option<Value>,
    /// The hash of the definition with its annotations.
    pub sha256: ToolSha256,
    /// What is wrong with the server's definition and was put right here, for the person who approves: keywords that were left
    /// out of the schema ([`loosened`]), or that there is none. Of bounded length, without control characters.
    pub findings: Vec<String>,
}

impl ListedTool {
    /// A tool as the server wrote it, or why it can be no tool.
    pub(crate) fn read(written: &Value) -> Result<Self, &'static str> {
        if !written.is_object() {
            return Err("it is no object");
        }
        let name = written.get("name").and_then(Value::as_str);
        let name = name.filter(|name| !name.trim().is_empty());
        let name = name.ok_or("it has no name")?;
        let of = |key: &str| written.get(key).cloned().unwrap_or_default();
        let (description, schema) = (of("description"), of("inputSchema"));
        let annotations = Some(of("annotations")).filter(|one| !one.is_null());
        let annotations = annotations.map(known);
        let hashed = json!({
            "name": name,
            "description": description,
            "inputSchema": schema,
            "annotations": annotations,
        });
        let digest = Sha256::digest(canonical(hashed).to_string());
        let (schema, findings) = usable(schema);
        Ok(Self {
            definition: ToolDefinition::new(name, description.as_str().unwrap_or_default(), schema),
            annotations,
            sha256: ToolSha256(digest.iter().map(|byte| format!("{byte:02x}")).collect()),
            findings,
        })
    }
}

/// The annotations that the protocol knows: others are no part of the definition. What is of another form stays as it is.
fn known(annotations: Value) -> Value {
    let read = serde_json::from_value::<ToolAnnotations>(annotations.clone());
    let read = read.ok().and_then(|read| serde_json::to_value(read).ok());
    read.unwrap_or(annotations)
}

/// The schema of a tool's arguments, with what had to be put right. A tool without one takes no arguments.
fn usable(written: Value) -> (Value, Vec<String>) {
    if written.is_null() {
        let finding = "the server gives no schema of its arguments, so it is taken to have none";
        return (
            json!({"type": "object", "properties": {}}),
            vec![finding.to_owned()],
        );
    }
    let (mut schema, left_out) = loosened(&written);
    let findings = left_out.iter();
    let mut findings: Vec<String> = findings
        .map(|one| format!("left out of its schema: {one}"))
        .collect();
    if let Value::Object(fields) = &mut schema {
        let takes_objects = match fields.get("type") {
            // A whole schema needs no type: what was left out may have been it.
            None => {
                if !left_out.is_empty() {
                    fields.insert("type".to_owned(), json!("object"));
                }
                true
            }
            Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
            Some(kind) => kind == "object",
        };
        if !takes_objects {
            // Arguments are an object, whatever else the schema says.
            fields.insert("type".to_owned(), json!("object"));
            findings.push("its schema is not one of an object, as arguments are".to_owned());
        }
    }
    (schema, findings)
}

/// The same value with sorted keys: a map keeps the order of insertion where some crate of the build asks for it.
fn canonical(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let sorted: BTreeMap<String, Value> = map.into_iter().collect();
            let sorted = sorted.into_iter().map(|(key, one)| (key, canonical(one)));
            Value::Object(sorted.collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(canonical).collect()),
        other => other,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use rmcp::model::Tool;

    use super::*;

    /// The hash as it was taken of a tool that MCP's library had read, which all approvals have.
    fn of_the_library(tool: &Tool) -> String {
        let annotations = tool.annotations.as_ref();
        let hashed = json!({
            "name": tool.name,
            "description": tool.description.as_deref(),
            "inputSchema": Value::Object((*tool.input_schema).clone()),
            "annotations": annotations.and_then(|one| serde_json::to_value(one).ok()),
        });
        let digest = Sha256::digest(canonical(hashed).to_string());
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn the_hash_is_that_of_what_the_server_sent() {
        for written in [
            json!({"name": "a", "description": "Does.", "inputSchema": {"type": "object"}}),
            json!({"name": "a", "inputSchema": {}, "title": "A", "_meta": {"x": 1}}),
            json!({"name": "a", "description": null, "inputSchema": {}, "annotations": null}),
            json!({"name": "a", "inputSchema": {}, "annotations": {}}),
            json!({"name": "a", "inputSchema": {"z": 1, "a": 1.0},
                "annotations": {"title": "A", "readOnlyHint": true, "ours": 7, "idempotentHint": null}}),
            json!({"name": "a", "inputSchema": {"properties": {"when": {"type": "datetime"}}}}),
        ] {
            let expect = of_the_library(&serde_json::from_value(written.clone()).unwrap());
            let found = ListedTool::read(&written).unwrap();
            assert_eq!(found.sha256.to_string(), expect, "{written}");
        }
    }

    #[test]
    fn a_definition_that_is_off_is_put_right_and_said() {
        let check = |written: Value, schema: Value, finding: &str| {
            let tool = ListedTool::read(&written).unwrap();
            assert_eq!(tool.definition.input_schema, schema, "{written}");
            let found = tool.findings.join("; ");
            assert!(found.contains(finding), "{written}: {found}");
            assert_eq!(found.is_empty(), finding.is_empty(), "{written}: {found}");
        };
        let none = json!({"type": "object", "properties": {}});
        check(json!({"name": "a"}), none.clone(), "no schema");
        check(
            json!({"name": "a", "inputSchema": null}),
            none.clone(),
            "no schema",
        );
        check(
            json!({"name": "a", "inputSchema": "x"}),
            none,
            "the whole schema",
        );
        check(json!({"name": "a", "inputSchema": {}}), json!({}), "");
        check(
            json!({"name": "a", "inputSchema": {"type": 3}}),
            json!({"type": "object"}),
            "/type",
        );
        check(
            json!({"name": "a", "inputSchema": {"type": "array"}}),
            json!({"type": "object"}),
            "one of an object",
        );
        check(
            json!({"name": "a", "inputSchema": {"type": ["object", "null"]}, "icons": "none"}),
            json!({"type": ["object", "null"]}),
            "",
        );
    }

    #[test]
    fn what_has_no_name_is_no_tool() {
        for written in [json!(null), json!("add"), json!([])] {
            assert_eq!(ListedTool::read(&written), Err("it is no object"));
        }
        for written in [
            json!({}),
            json!({"name": 3}),
            json!({"name": " "}),
            json!({"name": null}),
        ] {
            assert_eq!(ListedTool::read(&written), Err("it has no name"));
        }
    }
}
