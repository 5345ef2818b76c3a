//! The page of the protocol and its schema say what the code does.

use std::{collections::BTreeSet, fs, path::Path};

use journeyman::text::JsonSchema;
use journeyman_process::protocol::{self, ChildMessage, HostMessage};
use serde_json::Value;

fn docs(file: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    fs::read_to_string(folder.join(file)).unwrap()
}

/// The lines of the page's examples, each with its sender.
fn examples(page: &str) -> Vec<(&str, &str)> {
    let mut sender = None;
    let mut lines = Vec::new();
    for line in page.lines() {
        match (line.strip_prefix("```"), sender) {
            (Some(fence), _) => sender = fence.strip_prefix("json "),
            (None, Some(sender)) => lines.push((sender, line)),
            (None, None) => {}
        }
    }
    lines
}

fn as_read(sender: &str, line: &str) -> serde_json::Result<Value> {
    match sender {
        "host" => serde_json::to_value(serde_json::from_str::<HostMessage>(line)?),
        _ => serde_json::to_value(serde_json::from_str::<ChildMessage>(line)?),
    }
}

/// Whether `read` has every field of `written` with its value; it may have defaults beside them.
fn has(read: &Value, written: &Value) -> bool {
    match (read, written) {
        (Value::Object(read), Value::Object(written)) => written
            .iter()
            .all(|(name, value)| has(read.get(name).unwrap_or(&Value::Null), value)),
        (Value::Array(read), Value::Array(written)) => {
            read.len() == written.len()
                && read
                    .iter()
                    .zip(written)
                    .all(|(read, written)| has(read, written))
        }
        _ => read == written,
    }
}

/// The names of the types of messages, by the schema.
fn types(schema: &Value, of: &str) -> BTreeSet<(String, String)> {
    let variants = schema["$defs"][of]["oneOf"].as_array().unwrap().iter();
    let sender = if of == "HostMessage" { "host" } else { "child" };
    variants
        .map(|variant| variant["properties"]["type"]["const"].as_str().unwrap())
        .map(|name| (sender.to_owned(), name.to_owned()))
        .collect()
}

#[test]
fn the_examples_of_the_page_are_messages_and_show_every_type() {
    let page = docs("process-protocol.md");
    let published = protocol::schema();
    let schema = JsonSchema::new(published.clone()).unwrap();
    let mut shown = BTreeSet::new();
    for (sender, line) in examples(&page) {
        let written: Value = serde_json::from_str(line).unwrap();
        let read = as_read(sender, line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(has(&read, &written), "{line}\n{read}");
        assert_eq!(schema.faults(&written), []);
        assert_eq!(schema.faults(&read), []);
        let name = written["type"].as_str().unwrap().to_owned();
        shown.insert((sender.to_owned(), name));
    }
    let mut all = types(&published, "HostMessage");
    all.extend(types(&published, "ChildMessage"));
    assert_eq!(all.len(), 18);
    assert_eq!(shown, all);
}

#[test]
fn what_is_no_message_is_refused_by_the_code_and_by_the_schema() {
    let schema = JsonSchema::new(protocol::schema()).unwrap();
    let check = |line: &str| {
        assert!(
            as_read("host", line).is_err() && as_read("child", line).is_err(),
            "{line}"
        );
        assert!(
            !schema
                .faults(&serde_json::from_str(line).unwrap())
                .is_empty(),
            "{line}"
        );
    };
    check(r#"{"type": "closed"}"#);
    check(r#"{"type": "goodbye", "id": 1}"#);
    check(r#"{"type": "closed", "id": 1, "more": true}"#);
    check(r#"{"type": "step", "id": 1, "episode": 1, "action": "wave"}"#);
    check(r#"{"type": "observation", "id": 1, "observation": {"txt": "typo"}}"#);
}

/// Every object of `value` that has fields of the protocol, by its path. Payloads, arguments and schemas are free JSON, and
/// an outcome's parts have names of the child's own.
fn objects(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            // `{"call": ...}` names a variant: a second name is refused, and it is covered by a line above.
            found.push(path.to_owned());
            for (name, inner) in fields {
                if !["payload", "arguments", "input_schema", "parts"].contains(&name.as_str()) {
                    objects(inner, &format!("{path}/{name}"), found);
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                objects(item, &format!("{path}/{index}"), found);
            }
        }
        _ => {}
    }
}

#[test]
fn a_field_that_the_page_does_not_name_is_refused_in_every_object() {
    let page = docs("process-protocol.md");
    let schema = JsonSchema::new(protocol::schema()).unwrap();
    let mut inner = 0;
    for (sender, line) in examples(&page) {
        let written: Value = serde_json::from_str(line).unwrap();
        assert!(as_read(sender, line).is_ok(), "{line}");
        let mut places = Vec::new();
        objects(&written, "", &mut places);
        for place in places {
            let mut more = written.clone();
            let object = more.pointer_mut(&place).and_then(Value::as_object_mut);
            object.unwrap().insert("more".to_owned(), true.into());
            assert!(as_read(sender, &more.to_string()).is_err(), "{more}");
            assert!(!schema.faults(&more).is_empty(), "{more}");
            inner += usize::from(!place.is_empty());
        }
    }
    assert!(inner >= 25, "{inner} inner objects");
}

#[test]
fn the_page_names_every_kind_of_failure_and_the_version() {
    let page = docs("process-protocol.md");
    assert!(page.starts_with(&format!(
        "# Process protocol, version {}\n",
        protocol::VERSION
    )));
    let schema = protocol::schema();
    let kinds = schema["$defs"]["FailureKind"]["oneOf"].as_array().unwrap();
    assert_eq!(kinds.len(), 8);
    for kind in kinds {
        let kind = kind["const"].as_str().unwrap();
        assert!(page.contains(&format!("| `{kind}` |")), "{kind}");
    }
}

/// Run with `JOURNEYMAN_WRITE=1` to write the file anew.
#[test]
fn the_published_schema_is_that_of_the_code() {
    let made = serde_json::to_string_pretty(&protocol::schema()).unwrap() + "\n";
    if std::env::var_os("JOURNEYMAN_WRITE").is_some() {
        let file =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/process.schema.json");
        fs::write(file, &made).unwrap();
    }
    let published: Value = serde_json::from_str(&docs("process.schema.json")).unwrap();
    assert_eq!(
        published,
        protocol::schema(),
        "write it anew with JOURNEYMAN_WRITE=1"
    );
}
