//! The JSON Schema of annotated attempts.

/// The JSON Schema of a line. [`read`](super::read()) checks more: spans that do not overlap and leave nothing out, and attempts
/// that have one line.
pub const JSON_SCHEMA: &str = r#"{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "An attempt with its subgoals, skills, prototypes and scores, for training a router",
  "type": "object",
  "properties": {
    "schema": { "const": "journeyman.assessment" },
    "version": { "const": 1 },
    "split": { "enum": ["train", "test"] },
    "attempt": { "type": "string" },
    "task": { "type": "string" },
    "category": { "type": ["string", "null"] },
    "instruction": { "type": "string", "description": "the problem" },
    "steps": {
      "type": "array",
      "minItems": 1,
      "description": "the raw trajectory",
      "items": {
        "type": "object",
        "properties": {
          "observation": { "type": "string", "description": "what the agent saw before it" },
          "transcript": { "type": "string", "description": "the agent's own words" },
          "action": {
            "description": "a message, one or several tool calls, or the end of the turn",
            "oneOf": [
              { "const": "end_turn" },
              {
                "type": "object",
                "properties": { "message": { "type": "string" } },
                "required": ["message"],
                "additionalProperties": false
              },
              {
                "type": "object",
                "properties": {
                  "call": {
                    "type": "array",
                    "items": {
                      "type": "object",
                      "properties": {
                        "tool": { "type": "string" },
                        "arguments": { "type": "object" }
                      },
                      "required": ["tool", "arguments"],
                      "additionalProperties": false
                    }
                  }
                },
                "required": ["call"],
                "additionalProperties": false
              }
            ]
          },
          "result": { "type": "string", "description": "the environment's answer" },
          "refused": { "type": "boolean", "description": "whether the environment refused the action" }
        },
        "required": ["observation", "action", "result", "refused"],
        "additionalProperties": false
      }
    },
    "subgoals": {
      "type": "array",
      "minItems": 1,
      "description": "contiguous spans in order, which together have every step",
      "items": {
        "type": "object",
        "properties": {
          "subgoal": { "type": "string", "minLength": 1 },
          "skill": { "type": "string" },
          "first": { "type": "integer", "minimum": 0 },
          "last": { "type": "integer", "minimum": 0 },
          "prototype": { "type": ["string", "null"] },
          "score": { "type": ["integer", "null"], "minimum": 0, "maximum": 3 }
        },
        "required": ["subgoal", "skill", "first", "last", "prototype", "score"],
        "additionalProperties": false
      }
    },
    "success": { "type": ["boolean", "null"] },
    "taint": { "enum": ["clean", "tainted"] }
  },
  "required": [
    "schema", "version", "split", "attempt", "task", "category", "instruction", "steps", "subgoals", "success", "taint"
  ],
  "additionalProperties": false
}"#;
