//! What `examples/quickstart.sh --json` must end with.

use serde_json::{Map, Value};

/// The numbers of a phase, for all tasks and apart for those with a hidden contract and plain ones.
const PHASE: [&str; 6] = [
    "n",
    "first_attempt_success",
    "success",
    "steps",
    "tokens",
    "skill_use",
];

/// The parts of the story, each with its numbers.
const STORY: &[(&str, &[&str])] = &[
    ("better", &[]),
    ("refused", &["score", "threshold"]),
    (
        "without_gate",
        &["refused_in_all", "tasks", "worse", "better"],
    ),
];

/// The object that an output ends with.
///
/// # Errors
/// When it does not end with one.
pub fn last_object(output: &str) -> Result<Value, String> {
    let output = output.trim_end();
    // The object may be one line or many; it begins at the last line from which all the rest is one value.
    let starts = output.match_indices('{').map(|(at, _)| at);
    let mut at_line_starts: Vec<_> = starts
        .filter(|&at| at == 0 || output[..at].ends_with('\n'))
        .collect();
    at_line_starts.reverse();
    at_line_starts
        .into_iter()
        .find_map(|at| serde_json::from_str::<Value>(&output[at..]).ok())
        .ok_or_else(|| "the output does not end with a JSON object".to_owned())
}

/// What is wrong with the object, in a line each.
pub fn faults(object: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for key in ["seed", "tasks"] {
        if !object[key].is_u64() {
            faults.push(format!("{key} is no whole number"));
        }
    }
    if !object["library"].is_string() {
        faults.push("library is no text".to_owned());
    }
    match object["story"].as_object() {
        None => faults.push("story is no object".to_owned()),
        Some(story) => story_faults(story, &mut faults),
    }
    for phase in ["before", "after"] {
        phase_faults(phase, &object[phase], &mut faults);
    }
    match object["skills"].as_array() {
        None => faults.push("skills is no list".to_owned()),
        Some(skills) => {
            for (at, skill) in skills.iter().enumerate() {
                let texts = ["name", "state"].map(|key| (key, skill[key].is_string()));
                let numbers = ["utility", "uses"].map(|key| (key, skill[key].is_number()));
                for (key, _) in texts.into_iter().chain(numbers).filter(|(_, right)| !right) {
                    faults.push(format!("skills[{at}].{key} is missing"));
                }
            }
        }
    }
    faults
}

fn story_faults(story: &Map<String, Value>, faults: &mut Vec<String>) {
    // What there is nothing to tell of is null.
    for (part, numbers) in STORY {
        match story.get(*part) {
            Some(Value::Null) => {}
            Some(Value::Object(told)) => {
                let missing = numbers
                    .iter()
                    .filter(|key| !told.get(**key).is_some_and(Value::is_number));
                faults.extend(missing.map(|key| format!("story.{part}.{key} is no number")));
            }
            _ => faults.push(format!("story.{part} is no object")),
        }
    }
}

fn phase_faults(name: &str, phase: &Value, faults: &mut Vec<String>) {
    for (name, part) in [
        (name.to_owned(), phase),
        (format!("{name}.hidden"), &phase["hidden"]),
        (format!("{name}.plain"), &phase["plain"]),
    ] {
        for key in PHASE {
            // With no task of a kind there is no rate: null.
            let empty = part["n"] == 0 && part.get(key).is_some_and(Value::is_null);
            if !part[key].is_number() && !empty {
                faults.push(format!("{name}.{key} is no number"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_last_object_is_found() {
        let check = |output: &str, expect: Result<Value, ()>| {
            assert_eq!(last_object(output).map_err(|_| ()), expect, "{output:?}");
        };
        check("working {\n{\"a\": 1}\n", Ok(json!({"a": 1})));
        check(
            "{\"event\": 1}\n{\n  \"b\": {\n    \"c\": 2\n  }\n}\n",
            Ok(json!({"b": {"c": 2}})),
        );
        check("{\"a\": 1}\ndone", Err(()));
        check("", Err(()));
    }

    #[test]
    fn faults_are_named() {
        let numbers = json!({
            "n": 3, "first_attempt_success": 0.5, "success": 0.5, "steps": 2.5, "tokens": 90.0, "skill_use": 0.0
        });
        let none = json!({
            "n": 0, "first_attempt_success": null, "success": null, "steps": null, "tokens": null, "skill_use": null
        });
        let mut phase = numbers.clone();
        phase["hidden"] = numbers;
        phase["plain"] = none;
        let mut object = json!({
            "seed": 1, "tasks": 6, "library": "out/skills", "before": phase, "after": phase,
            "story": {
                "better": null,
                "refused": {"score": 0.5, "threshold": 1.0},
                "without_gate": {"refused_in_all": 3, "tasks": 2, "worse": 1, "better": 0},
            },
            "skills": [{"name": "a", "state": "active", "utility": 0.1, "uses": 3}],
        });
        assert_eq!(faults(&object), Vec::<String>::new());
        object["story"]["without_gate"]["worse"] = Value::Null;
        assert_eq!(faults(&object), ["story.without_gate.worse is no number"]);
        object["after"]["hidden"]["steps"] = json!("2");
        object["skills"][0]["uses"] = Value::Null;
        object["seed"] = json!(-1);
        object["story"] = Value::Null;
        assert_eq!(
            faults(&object),
            [
                "seed is no whole number",
                "story is no object",
                "after.hidden.steps is no number",
                "skills[0].uses is missing"
            ]
        );
    }
}
