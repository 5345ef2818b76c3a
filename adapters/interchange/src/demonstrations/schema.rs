//! The JSON Schema of demonstrations.

/// The JSON Schema of a line.
pub const JSON_SCHEMA: &str = r#"{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "A successful attempt with skills, for supervised fine-tuning",
  "type": "object",
  "properties": {
    "schema": { "const": 2 },
    "attempt": { "type": "string" },
    "task": {
      "type": "object",
      "properties": {
        "id": { "type": "string" },
        "instruction": { "type": "string", "minLength": 1 },
        "category": { "type": "string" }
      },
      "required": ["id", "instruction"],
      "additionalProperties": false
    },
    "skills": {
      "type": "array",
      "minItems": 1,
      "items": {
        "type": "object",
        "properties": {
          "id": { "type": "string" },
          "version": { "type": "integer", "minimum": 1 },
          "text": { "type": "string", "minLength": 1 },
          "since": { "type": "integer", "minimum": 0 },
          "used": { "enum": ["followed", "not_followed", "unknown"] }
        },
        "required": ["id", "version", "text", "since", "used"],
        "additionalProperties": false
      }
    },
    "tools": {
      "type": "array",
      "items": {
        "type": "object",
        "properties": {
          "name": { "type": "string" },
          "description": { "type": "string" },
          "input_schema": {}
        },
        "required": ["name", "description", "input_schema"]
      }
    },
    "messages": {
      "type": "array",
      "minItems": 2,
      "items": {
        "type": "object",
        "properties": {
          "role": { "enum": ["user", "assistant", "tool"] },
          "content": { "type": "string" },
          "error": { "type": "boolean" }
        },
        "required": ["role", "content"],
        "additionalProperties": false
      }
    },
    "taint": { "enum": ["clean", "tainted"] }
  },
  "required": ["schema", "attempt", "task", "skills", "tools", "messages", "taint"],
  "additionalProperties": false
}"#;
