//! A tool as a server lists it, and the hash of its definition.

use std::{collections::BTreeMap, fmt};

use journeyman::domain::ToolDefinition;
use rmcp::model::Tool;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// The SHA-256 of a tool's definition: of the JSON object of `name`, `description`, `inputSchema` and `annotations`, with
/// sorted keys and without spaces, in lower-case hexadecimal. What the definition lacks is `null`.
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
    /// The definition as an agent sees it.
    pub definition: ToolDefinition,
    /// The server's annotations: hints that nothing relies on, shown to the person who approves.
    pub annotations: Option<Value>,
    /// The hash of the definition with its annotations.
    pub sha256: ToolSha256,
}

impl ListedTool {
    pub(crate) fn new(tool: &Tool) -> Self {
        let description = tool.description.as_deref();
        let annotations = tool.annotations.as_ref();
        let annotations = annotations.and_then(|one| serde_json::to_value(one).ok());
        let schema = Value::Object((*tool.input_schema).clone());
        let hashed = json!({
            "name": tool.name,
            "description": description,
            "inputSchema": schema,
            "annotations": annotations,
        });
        let digest = Sha256::digest(canonical(hashed).to_string());
        Self {
            definition: ToolDefinition::new(
                tool.name.as_ref(),
                description.unwrap_or_default(),
                schema,
            ),
            annotations,
            sha256: ToolSha256(digest.iter().map(|byte| format!("{byte:02x}")).collect()),
        }
    }
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
