//! Shorter definitions of tools, for prompts that must fit a context.

use serde_json::{Map, Value};

use crate::{domain::ToolDefinition, text::shortened};

/// The length of a tool's description in a brief definition, in characters.
const TOOL: usize = 160;
/// The length of an argument's description there, in characters.
const ARGUMENT: usize = 40;
/// The length of a tool's description in a bare definition, in characters.
const BARE: usize = 60;
/// The greatest depth of a schema that is shortened.
const DEEPEST: usize = 16;

/// How much of tools a prompt shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ToolDetail {
    /// Everything.
    #[default]
    Whole,
    /// Shortened descriptions.
    Brief,
    /// Names, a line about each tool, and the types of arguments.
    Bare,
    /// As `Bare`, without optional arguments.
    Required,
}

/// The tools in this detail. Names, types and required arguments always stay.
pub(crate) fn brief_tools(tools: &[ToolDefinition], detail: ToolDetail) -> Vec<ToolDefinition> {
    let brief = |tool: &ToolDefinition| {
        let mut tool = tool.clone();
        let most = match detail {
            ToolDetail::Whole => return tool,
            ToolDetail::Brief => TOOL,
            ToolDetail::Bare | ToolDetail::Required => BARE,
        };
        tool.description = shortened(&tool.description, most);
        shorten(&mut tool.input_schema, detail, 0);
        if detail == ToolDetail::Required {
            let left_out = without_optional(&mut tool.input_schema);
            if left_out > 0 {
                tool.description = format!(
                    "{} [{left_out} optional arguments left out]",
                    tool.description
                );
            }
        }
        tool
    };
    tools.iter().map(brief).collect()
}

/// Shortens or drops the descriptions within a schema.
fn shorten(schema: &mut Value, detail: ToolDetail, depth: usize) {
    if depth > DEEPEST {
        return;
    }
    match schema {
        Value::Object(object) => {
            shorten_own(object, detail);
            for (key, value) in object.iter_mut() {
                match (key.as_str(), value) {
                    // The names in here are arguments, also one of the name `description`.
                    ("properties" | "$defs" | "definitions", Value::Object(named)) => {
                        let parts = named.values_mut();
                        parts.for_each(|part| shorten(part, detail, depth + 1));
                    }
                    ("enum" | "const" | "required", _) => {}
                    (_, value) => shorten(value, detail, depth + 1),
                }
            }
        }
        Value::Array(items) => {
            let items = items.iter_mut();
            items.for_each(|item| shorten(item, detail, depth + 1));
        }
        _ => {}
    }
}

fn shorten_own(object: &mut Map<String, Value>, detail: ToolDetail) {
    for key in ["title", "examples", "default", "$comment"] {
        // Only as the words of a schema: an argument of such a name is in `properties`.
        object.remove(key);
    }
    match (detail, object.get_mut("description")) {
        (ToolDetail::Brief, Some(Value::String(text))) => *text = shortened(text, ARGUMENT),
        (_, Some(_)) => drop(object.remove("description")),
        _ => {}
    }
}

/// Takes the optional arguments out, and says how many.
fn without_optional(schema: &mut Value) -> usize {
    let required = schema.get("required").and_then(Value::as_array);
    let required: Vec<String> = required
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect();
    let Some(Value::Object(properties)) = schema.get_mut("properties") else {
        return 0;
    };
    let before = properties.len();
    properties.retain(|name, _| required.contains(name));
    before - properties.len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(arguments: usize) -> ToolDefinition {
        let properties: Map<String, Value> = (0..arguments)
            .map(|number| {
                let words = "what it is about, at some length. ".repeat(3);
                let schema = json!({"type": "string", "description": words, "default": ""});
                (format!("argument_{number}"), schema)
            })
            .collect();
        ToolDefinition {
            name: "book".to_owned(),
            description: "Books a room. ".repeat(30),
            input_schema: json!({
                "type": "object",
                "properties": properties,
                "required": ["argument_1", "argument_0"],
                "additionalProperties": false,
            }),
        }
    }

    #[test]
    fn a_tool_of_sixty_arguments_keeps_its_name_and_what_is_required() {
        let whole = tool(60);
        let of = |detail| brief_tools(std::slice::from_ref(&whole), detail).remove(0);
        let size =
            |tool: &ToolDefinition| tool.description.len() + tool.input_schema.to_string().len();
        assert_eq!(of(ToolDetail::Whole), whole);
        let (brief, bare, required) = (
            of(ToolDetail::Brief),
            of(ToolDetail::Bare),
            of(ToolDetail::Required),
        );
        assert!(
            2 * size(&brief) < size(&whole),
            "{} of {}",
            size(&brief),
            size(&whole)
        );
        assert!(size(&bare) < size(&brief) && 4 * size(&required) < size(&bare));
        for tool in [&brief, &bare, &required] {
            assert_eq!(tool.name, "book");
            assert_eq!(
                tool.input_schema["required"],
                whole.input_schema["required"]
            );
            assert_eq!(tool.input_schema["additionalProperties"], false);
            let properties = tool.input_schema["properties"].as_object().unwrap();
            assert_eq!(properties["argument_1"]["type"], "string");
        }
        assert_eq!(
            bare.input_schema["properties"].as_object().unwrap().len(),
            60
        );
        assert!(
            required
                .description
                .ends_with("[58 optional arguments left out]")
        );
        assert!(brief.description.ends_with("Books a room."));
    }

    #[test]
    fn an_argument_named_description_is_no_description() {
        let tool = ToolDefinition {
            name: "file".to_owned(),
            description: String::new(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "description": {"type": "string", "description": "words"},
                    "title": {"enum": ["description", "title"]},
                },
                "required": ["description", "title"],
            }),
        };
        let bare = brief_tools(&[tool], ToolDetail::Required).remove(0);
        let expect =
            json!({"description": {"type": "string"}, "title": {"enum": ["description", "title"]}});
        assert_eq!(bare.input_schema["properties"], expect);
    }
}
