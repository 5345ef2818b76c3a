//! The definitions of the library's tools.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

pub(crate) fn search_tool() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {
            "task": {"type": "string", "description": "What is to be done, in words."},
            "category": {"type": "string", "description": "The kind of task, where the library groups its skills by kind."},
        },
        "required": ["task"],
        "additionalProperties": false,
    });
    tool(
        "search_skills",
        "Begins an attempt at a task and gives the skills that help with it: the attempt's id, and each skill's text, URI \
         and version. There may be none.",
        schema,
        ToolAnnotations::new().destructive(false),
    )
}

pub(crate) fn report_tool() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {
            "attempt": {"type": "string", "description": "The id that search_skills gave."},
            "success": {"type": "boolean", "description": "Whether the task was done."},
            "score": {"type": "number", "minimum": 0, "maximum": 1, "description": "How well; 1 or 0 where it is left out."},
            "followed": {
                "type": "array",
                "items": {"type": "string"},
                "description": "The URIs or names of the skills that you followed, of those that search_skills gave; empty for none. Leave it out if you do not know.",
            },
        },
        "required": ["attempt", "success"],
        "additionalProperties": false,
    });
    tool(
        "report_outcome",
        "Reports how an attempt went. The outcome is credited to the skills that the attempt was given. Each attempt counts \
         once.",
        schema,
        ToolAnnotations::new().destructive(false).idempotent(true),
    )
}

fn tool(
    name: &'static str,
    description: &'static str,
    schema: Value,
    hints: ToolAnnotations,
) -> Tool {
    let schema = match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    };
    Tool::new(name, description, Arc::new(schema)).with_annotations(hints)
}
