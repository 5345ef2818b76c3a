//! JSON as models write it, beside strict JSON.

use serde_json::json;

use super::*;
use crate::Seed;

fn check(text: &str, expect: Result<Value, Fault>) {
    let read = read(text, 32).value.map(|(value, length)| {
        assert_eq!(length, text.len(), "{text:?}");
        value
    });
    assert_eq!(read, expect, "{text:?}");
}

fn reads(text: &str, expect: Value) {
    check(text, Ok(expect));
}

fn malformed(text: &str, at: &str) {
    check(text, Err(Fault::Malformed(text.find(at).unwrap())));
}

#[test]
fn plain_meanings_are_read() {
    reads(r#"{"a": [1, 2,], }"#, json!({"a": [1, 2]}));
    reads(
        "{'a': 'b', c: True, d_1: None}",
        json!({"a": "b", "c": true, "d_1": null}),
    );
    reads(
        "{“a”: “he said \"no\"”, ‘b’: ‘c’}",
        json!({"a": "he said \"no\"", "b": "c"}),
    );
    reads("{\"a\": \"one\n\ttwo\"}", json!({"a": "one\n\ttwo"}));
    reads(
        "{ // what\n \"a\": 1, # why\n /* {\"b\": 2} */ \"c\": \"http://x#y /* z */\"}",
        json!({"a": 1, "c": "http://x#y /* z */"}),
    );
    reads("{\u{FEFF}\"a\"\u{200B}: 1\u{A0}}", json!({"a": 1}));
    reads(
        r#"{"a": "it\'s \u00e9 \ud83d\ude00 \/"}"#,
        json!({"a": "it's é 😀 /"}),
    );
    reads(
        r#"{"a": "“smart” ‘quotes’ it's"}"#,
        json!({"a": "“smart” ‘quotes’ it's"}),
    );
    reads(
        "{'a': 'it's the tins' lids, don't'}",
        json!({"a": "it's the tins' lids, don't"}),
    );
    reads("{‘a’: ‘it’s here’}", json!({"a": "it’s here"}));
    reads(r#"{"a": {"b": 1}, "a": {"b": 1}}"#, json!({"a": {"b": 1}}));
    reads("['a', {b: -1.5e3}]", json!(["a", {"b": -1500.0}]));
}

#[test]
fn what_is_not_plain_is_refused_at_its_place() {
    malformed(r#"{"a": "he said "hi" to me"}"#, "hi\"");
    malformed(r#"{"a": kettle}"#, "kettle");
    malformed(r#"{"a": 1 "b": 2}"#, "\"b\"");
    malformed("{'a': 'x' 'b': 'y'}", "' 'b'");
    malformed("['a' 'b']", "' 'b'");
    malformed("{'a': 'rock 'n' roll'}", "'n'");
    malformed("{“a”: “he said “hi” to me”}", "“hi");
    malformed(r#"{"a": NaN}"#, "NaN");
    malformed(r#"{"a": 0x1F}"#, "0x");
    malformed(r#"{"a": 1_000}"#, "1_");
    malformed(r#"{"a": .5}"#, ".5");
    malformed(r#"{"a": 1,, "b": 2}"#, ", \"b");
    malformed("[,]", ",");
    malformed(r#"{"a": (1, 2)}"#, "(");
    malformed(r#"{"a": "\q"}"#, "\\q");
    malformed(r#"{"a": "\ud800"}"#, "\\ud");
    malformed(r#"{"a": "\u+123"}"#, "\\u");
    malformed("{\"a\": \"\u{0}\"}", "\u{0}");
    malformed(r#"{"a": ...}"#, "...");
    malformed(r#"{"a": {"b":1}, c}"#, "c}");
    malformed(r#"{a b: 1}"#, "a b");
    malformed(r#"{"a": 1]"#, "]");
    check(r#"{"a": 1, "a": 2}"#, Err(Fault::Repeated(9)));
    check(r#"{"a": {b: 1, 'b': 2}}"#, Err(Fault::Repeated(13)));
    for unfinished in [
        "{",
        "[",
        "{\"a",
        "{'a': 'b",
        "{a: 1 // }",
        "{a: 1 /* }",
        "{\"a\": \"\\",
        "{\"a\": \"\\u12",
        "{a: tru",
        "{a: 1",
    ] {
        check(unfinished, Err(Fault::Unfinished));
    }
    check(&"[".repeat(33), Err(Fault::TooDeep));
    check(
        &format!("{}{}", "[".repeat(32), "]".repeat(32)).replace("[]", "[1]"),
        read(&format!("{}1{}", "[".repeat(32), "]".repeat(32)), 32)
            .value
            .map(|(value, _)| value),
    );
}

/// A value of a seed, with strings that hold what the reader treats apart.
fn random(seed: Seed, depth: usize) -> Value {
    let texts = [
        "it's",
        "“x”",
        "'",
        "\"",
        "a, 'b': ‘c’",
        "// no",
        "/* no",
        "# no",
        "\n\t",
        "\\",
        "True",
        "{",
        "]",
        "\u{200B}",
        "é😀",
        "\u{1}",
        "",
    ];
    let text = |label| texts[seed.derive(label, 0).index(texts.len()).unwrap()];
    match seed
        .derive("kind", 0)
        .index(if depth == 0 { 5 } else { 7 })
        .unwrap()
    {
        0 => Value::Null,
        1 => json!(seed.0.is_multiple_of(2)),
        2 => json!(seed.0 as i64),
        3 => json!(seed.unit() * 1e9),
        4 => json!(format!("{}{}", text("one"), text("two"))),
        5 => (0..3)
            .map(|i| random(seed.derive("item", i), depth - 1))
            .collect(),
        _ => {
            let field = |i: u64| {
                (
                    format!("{}{i}", text("key")),
                    random(seed.derive("field", i), depth - 1),
                )
            };
            Value::Object((0..3).map(field).collect())
        }
    }
}

#[test]
fn strict_json_is_read_as_it_is() {
    for round in 0..3_000 {
        let value = json!([random(Seed(2).derive("value", round), 4)]);
        reads(&value.to_string(), value.clone());
        reads(&serde_json::to_string_pretty(&value).unwrap(), value);
    }
}

#[test]
fn no_text_makes_it_panic_or_slow() {
    let bits = [
        "{", "}", "[", "]", "'", "\"", "“", "”", "‘", "’", ":", ",", "\\", "\\u", "d83d", "a", "1",
        "-", " ", "\n", "//", "/*", "*/", "#", "True", "é", "\u{200B}", "\u{0}",
    ];
    let mut found = 0;
    for round in 0..20_000 {
        let seed = Seed(4).derive("noise", round);
        let bit = |i| bits[seed.derive("bit", i).index(bits.len()).unwrap()];
        let text: String = (0..16).map(bit).collect();
        for text in [format!("{{{text}"), format!("[{text}")] {
            if let Ok((_, length)) = read(&text, 32).value {
                assert!(text.is_char_boundary(length));
                found += 1;
            }
        }
    }
    assert!(found > 50, "{found}");
    for bit in [
        "{",
        "{'",
        "['a' ",
        "{a:",
        "[“",
        "'",
        "['it's ",
        "[\u{200B}",
        "{/*",
        "[//\n",
        "[1,",
        "{a:'', ",
    ] {
        let text = format!("[{}", bit.repeat((1 << 20) / bit.len()));
        assert!(read(&text, 32).value.is_err());
    }
}
