//! The JSON Schema of rollouts.

/// The JSON Schema of a line. [`Validator`](super::Validator) checks more: what the lines of a group have in common, and numbers that
/// follow from others.
pub const JSON_SCHEMA: &str = r#"{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "One rollout of a group, for group-relative policy optimization",
  "type": "object",
  "properties": {
    "schema": { "const": "journeyman.rollout" },
    "version": { "const": 1 },
    "kind": { "enum": ["agent", "curator"], "description": "whose rollout" },
    "group": { "type": "string", "minLength": 1, "description": "the group's id" },
    "size": { "type": "integer", "minimum": 1, "description": "lines of the group" },
    "number": { "type": "integer", "minimum": 0, "description": "the line's place in the group" },
    "attempts": { "type": "integer", "minimum": 1, "description": "rollouts made in the group, those without a line included" },
    "attempt": { "type": "string" },
    "tasks": { "type": "array", "minItems": 1, "items": { "type": "string" } },
    "run": { "type": "string" },
    "library": { "type": "integer", "minimum": 0, "description": "the library's revision when skills were selected, for a curator at the start of the group" },
    "skills": {
      "type": "array",
      "description": "the skills that were in the agent's prompts",
      "items": {
        "type": "object",
        "properties": {
          "id": { "type": "string" },
          "version": { "type": "integer", "minimum": 1 }
        },
        "required": ["id", "version"],
        "additionalProperties": false
      }
    },
    "model": { "type": "string" },
    "adapter": { "type": ["string", "null"], "description": "null for the model alone" },
    "sampling": {
      "type": "object",
      "properties": {
        "temperature": { "type": "number", "minimum": 0 },
        "top_p": { "type": "number", "exclusiveMinimum": 0, "maximum": 1 }
      },
      "required": ["temperature", "top_p"],
      "additionalProperties": false
    },
    "segments": {
      "type": "array",
      "minItems": 1,
      "description": "one for each generation, in order",
      "items": {
        "type": "object",
        "properties": {
          "step": { "type": "integer", "minimum": 0 },
          "shared": { "type": "integer", "minimum": 0, "description": "leading tokens of the prompt that repeat the segment before" },
          "prompt_ids": { "type": "array", "minItems": 1, "items": { "type": "integer", "minimum": 0 } },
          "ids": { "type": "array", "minItems": 1, "items": { "type": "integer", "minimum": 0 } },
          "logprobs": { "type": "array", "minItems": 1, "items": { "type": "number" }, "description": "nats, at temperature 1, one for each of ids" },
          "mask": { "type": "array", "minItems": 1, "items": { "type": "boolean" }, "description": "whether the model chose the token" }
        },
        "required": ["step", "shared", "prompt_ids", "ids", "logprobs", "mask"],
        "additionalProperties": false
      }
    },
    "steps": { "type": "integer", "minimum": 0, "description": "for a curator the tasks of the group" },
    "end": { "enum": ["finished", "gave_up", "step_budget", "deadline", "unreadable", "context_length", "failed"] },
    "reward": { "type": "number" },
    "parts": {
      "type": "object",
      "description": "what the reward consists of, where that is known",
      "additionalProperties": {
        "type": "object",
        "properties": {
          "value": { "type": "number" },
          "weight": { "type": "number" }
        },
        "required": ["value"],
        "additionalProperties": false
      }
    },
    "advantage": { "type": ["number", "null"], "description": "null for every line of a group of equal rewards" }
  },
  "required": [
    "schema", "version", "kind", "group", "size", "number", "attempts", "attempt", "tasks", "run", "library", "skills", "model",
    "adapter", "sampling", "segments", "steps", "end", "reward", "parts", "advantage"
  ],
  "additionalProperties": false
}"#;
