use std::collections::BTreeMap;

use super::*;
use crate::{
    Seed,
    domain::{Kind, Origin, Provenance, Scope, Skill, State, Taint},
    id::{Category, SkillId, Version},
};

fn sample() -> SkillMd {
    SkillMd {
        name: SkillName::new("unseal-coffee").unwrap(),
        description: "Opens the tin: use before brewing.".to_owned(),
        license: Some("Apache-2.0".to_owned()),
        compatibility: Some("Needs the kitchen world".to_owned()),
        metadata: BTreeMap::from([
            ("version".to_owned(), "1.10".to_owned()),
            ("note".to_owned(), "two\nlines # and: more ".to_owned()),
            ("yes".to_owned(), "no".to_owned()),
        ]),
        allowed_tools: vec!["Read".to_owned(), "Bash(git add:*)".to_owned()],
        body: "# Unseal\n\n1. Call `unseal`.\n\n---\n\nEnd.".to_owned(),
    }
}

/// Reads leniently and compares what was forgiven, or the error's text.
fn check(text: &str, folder: Option<&str>, expect: &[&str]) {
    match SkillMd::read(text, folder) {
        Ok((skill, forgiven)) => {
            let said: Vec<String> = forgiven.iter().map(ToString::to_string).collect();
            assert_eq!(said, expect);
            // Whatever was forgiven, the strict writer can write it.
            let written = skill.write().unwrap();
            assert_eq!(SkillMd::read_strict(&written, None).unwrap(), skill);
        }
        Err(error) => assert_eq!([error.to_string()], expect),
    }
}

#[test]
fn written_text_is_the_specifications() {
    let text = sample().write().unwrap();
    let expect = "---\nname: unseal-coffee\ndescription: \"Opens the tin: use before brewing.\"\nlicense: Apache-2.0\n\
        compatibility: Needs the kitchen world\nmetadata:\n  note: \"two\\nlines # and: more \"\n  version: \"1.10\"\n  \
        \"yes\": \"no\"\nallowed-tools: Read Bash(git add:*)\n---\n\n# Unseal\n\n1. Call `unseal`.\n\n---\n\nEnd.\n";
    assert_eq!(text, expect);
    assert_eq!(
        SkillMd::read_strict(&text, Some("unseal-coffee")).unwrap(),
        sample()
    );
}

#[test]
fn any_body_and_any_values_come_back() {
    for body in [
        "",
        "\n",
        "\n\nx\n\n",
        "---",
        "  indented",
        "a\tb",
        "日本語\n",
        "x".repeat(1 << 20).as_str(),
    ] {
        for value in [
            "",
            " ",
            "- a",
            "'",
            "\"",
            "{a: b}",
            "#",
            "~",
            "1e3",
            "0x1f",
            "&a *a !x",
            "%TAG",
            "…",
            "\t",
            "a\n---\nb",
        ] {
            let mut skill = sample();
            skill.body = body.to_owned();
            skill.metadata.insert("k".to_owned(), value.to_owned());
            if !value.trim().is_empty() {
                skill.metadata.insert(value.to_owned(), "v".to_owned());
                skill.description = value.trim().to_owned();
            }
            let text = skill.write().unwrap();
            assert_eq!(SkillMd::read_strict(&text, None).unwrap(), skill);
            if body.len() > 100 {
                break;
            }
        }
    }
}

#[test]
fn slips_are_forgiven_and_told() {
    check("---\nname: a\ndescription: b\n---\nc\n", Some("a"), &[]);
    check(
        "\u{FEFF}---\r\nname: a\r\ndescription: b\r\n---\r\n\r\nc\r\n",
        Some("a"),
        &[
            "the file began with a byte order mark",
            "lines ended with a carriage return",
        ],
    );
    check(
        "\n\n---\nname: My_Skill\ndescription: b\n---\n",
        Some("my-skill"),
        &[
            "blank lines stood before the frontmatter",
            "line 4: the name broke the rules; the nearest valid one was taken",
        ],
    );
    check(
        "---\nname: other\ndescription: b\n---\n",
        Some("a"),
        &["line 2: the name was not the folder's; the folder's was taken"],
    );
    check(
        "---\ndescription:\n---\n# Title\n\nFirst words\nand more.\n\nRest.\n",
        Some("a"),
        &[
            "line 2: `description` had no value and was left out",
            "there was no name; the folder's was taken",
            "there was no description; the first paragraph was taken",
        ],
    );
    check(
        "---\nname: a\ndescription: Use when: asked, it's good\n---\n",
        None,
        &["line 3: a value with a colon had no quotes"],
    );
    check(
        "---\nname: 7\ndescription: true\nmetadata:\n  version: 1.10\n  tags: [x, 2]\n  none:\n---\n",
        None,
        &[
            "line 2: a value of `name` was a number or a boolean, not text",
            "line 3: a value of `description` was a number or a boolean, not text",
            "line 5: a value of `metadata` was a number or a boolean, not text",
            "line 6: a metadata value was a list or a mapping; it was kept as JSON",
            "line 7: `metadata` had no value and was left out",
        ],
    );
    check(
        "---\nname: a\ndescription: b\nallowed-tools:\n  - Read\n  - Bash(git:*)\nmodel: opus\nhooks:\n  x: y\nnone:\n---\n",
        None,
        &[
            "line 4: `allowed-tools` was not one text separated by spaces",
            "line 7: an unknown key was kept under `metadata`",
            "line 8: an unknown key was kept under `metadata`",
            "line 10: an unknown key had no value and was left out",
        ],
    );
    check(
        "---\nname: a\ndescription: b\nallowed-tools: Read, Grep\n---\n",
        None,
        &["line 4: `allowed-tools` was not one text separated by spaces"],
    );
}

#[test]
fn an_unknown_key_keeps_its_value() {
    let text = "---\nname: a\ndescription: b\nmetadata:\n  model: small\n  model-2: mid\nmodel: large\nhooks:\n  - c: d\n---\n";
    let (skill, _) = SkillMd::read(text, None).unwrap();
    let metadata = skill.metadata.iter().map(|(k, v)| (k.as_str(), v.as_str()));
    let due = [
        ("hooks", r#"[{"c":"d"}]"#),
        ("model", "small"),
        ("model-2", "mid"),
        ("model-3", "large"),
    ];
    assert!(metadata.eq(due), "{:?}", skill.metadata);
}

#[test]
fn what_is_put_right_keeps_its_content() {
    let text = "---\nname: My Skill\ndescription: Use when: it's asked\nallowed-tools: [Read, 'Bash(git add:*)']\n\
                metadata: {version: 1.10, tags: [x, 2]}\nmodel: opus\n---\nbody";
    let (skill, _) = SkillMd::read(text, None).unwrap();
    assert_eq!(skill.name.as_str(), "my-skill");
    assert_eq!(skill.description, "Use when: it's asked");
    assert_eq!(skill.allowed_tools, ["Read", "Bash(git add:*)"]);
    let metadata: Vec<(&str, &str)> = skill
        .metadata
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()))
        .collect();
    assert_eq!(
        metadata,
        [
            ("journeyman-original-name", "My Skill"),
            ("model", "opus"),
            ("tags", "[\"x\",\"2\"]"),
            ("version", "1.10"),
        ]
    );
}

#[test]
fn what_cannot_be_put_right_is_refused_without_its_content() {
    let deep = format!(
        "---\nname: a\ndescription: b\nmetadata: {}1{}\n---\n",
        "[".repeat(8),
        "]".repeat(8)
    );
    let wide = format!("---\nname: a\n{}---\n", "# secret\n".repeat(2000));
    let long = format!("---\nname: a\ndescription: {}\n---\n", "s".repeat(1025));
    let compatible = format!(
        "---\nname: a\ndescription: b\ncompatibility: {}\n---\n",
        "s".repeat(501)
    );
    let yaml = "the frontmatter is not valid YAML; hint: write `key: value` lines, and put quotes around a value that \
                holds a colon or begins with a sign such as [ { * & ! | > % @";
    let alias = "the frontmatter uses an anchor, an alias or a tag; hint: write the value out; put quotes around a \
                 value that begins with & * or !";
    let begin = "hint: begin with a line `---`, then `name:` and `description:`, then a line `---`";
    let close = "hint: close the frontmatter with a line `---`, and keep long text in the body";
    let cases: [(&str, String); 17] = [
        ("", format!("{{ line: 1 }}: the file does not begin with frontmatter; {begin}")),
        ("\n# secret\n", format!("{{ line: 2 }}: the file does not begin with frontmatter; {begin}")),
        ("---\nname: secret\n", format!("{{ line: 1 }}: the frontmatter is not closed; {close}")),
        (&wide, format!("{{ line: 1 }}: the frontmatter has more than 16 KiB; {close}")),
        ("---\nname: a\n  secret: [\n---\n", format!("{{ line: 3 }}: {yaml}")),
        ("---\nname: a\ndescription: &x secret\n---\n", format!("{{ line: 3 }}: {alias}")),
        ("---\nx: &x secret\nname: *x\n---\n", format!("{{ line: 2 }}: {alias}")),
        ("---\nname: !!binary c2VjcmV0\n---\n", format!("{{ line: 2 }}: {alias}")),
        (
            "---\nname: a\nname: secret\n---\n",
            "{ line: 3 }: a key occurs twice; hint: keep one of the two".to_owned(),
        ),
        (
            "---\n- secret\n---\n",
            "{ line: 2 }: the frontmatter is not a mapping; hint: write `key: value` lines between the two `---` \
             lines"
                .to_owned(),
        ),
        (
            &deep,
            "{ line: 4 }: the frontmatter is nested deeper than 8; hint: keep metadata flat: text keys with text \
             values"
                .to_owned(),
        ),
        (
            "---\ndescription: secret\n---\n",
            "{ field: name }: there is no name, and no folder to take it from; hint: add `name:` with 1 to 64 \
             lowercase letters, digits and single hyphens"
                .to_owned(),
        ),
        (
            "---\nname: \"?!\"\ndescription: b\n---\n",
            "{ line: 2, field: name }: the name holds something other than letters, digits and hyphens; hint: use 1 \
             to 64 lowercase letters, digits and single hyphens, such as `unseal-coffee`"
                .to_owned(),
        ),
        (
            "---\nname: a\ndescription: [secret]\n---\n",
            "{ line: 3, field: description }: `description` is not one text; hint: put the value in quotes if it \
             begins with [ or {"
                .to_owned(),
        ),
        (
            "---\nname: a\n---\n# Heading\n",
            "{ field: description }: there is no description, and the body has no paragraph; hint: say what the skill \
             does and when to use it, in 1 to 1,024 characters"
                .to_owned(),
        ),
        (
            &long,
            "{ field: description }: `description` has 1025 characters, and 1024 is the most; hint: say what the \
             skill does and when to use it, in 1 to 1,024 characters"
                .to_owned(),
        ),
        (
            &compatible,
            "{ field: compatibility }: `compatibility` has 501 characters, and 500 is the most; hint: name what the \
             skill runs on, in 1 to 500 characters"
                .to_owned(),
        ),
    ];
    for (text, expect) in cases {
        check(text, None, &[&format!("Invalid at SkillMd::read {expect}")]);
        let error = SkillMd::read(text, None).unwrap_err();
        assert!(!format!("{error:?}").contains("secret"));
    }
}

#[test]
fn hidden_characters_and_great_bodies_are_refused() {
    check(
        "---\nname: a\ndescription: b\n---\nok\npay\u{202E}\n",
        None,
        &[
            "Invalid at SkillMd::read { line: 6 }: the file holds a hidden character (U+202E, bidirectional control); \
           hint: remove it: a person who reviews the skill cannot see it",
        ],
    );
    check(
        "---\nname: a\ndescription: \"b\\u200Bc\"\n---\n",
        None,
        &[
            "Invalid at SkillMd::read { field: description }: `description` holds a hidden character (U+200B, \
           zero-width character); hint: remove it: a person who reviews the skill cannot see it",
        ],
    );
    let great = format!(
        "---\nname: a\ndescription: b\n---\n{}",
        "x".repeat(10 << 20)
    );
    let error = SkillMd::read(&great, None).unwrap_err();
    assert_eq!(error.kind(), crate::ErrorKind::Invalid);
    assert!(error.message().ends_with("and 1 MiB is the most"));
}

#[test]
fn the_writer_refuses_what_breaks_a_rule() {
    type Change = fn(&mut SkillMd);
    let cases: [(Change, &str); 8] = [
        (|s| s.description.clear(), "`description` is empty"),
        (
            |s| s.description.insert(0, ' '),
            "`description` begins or ends with blank space",
        ),
        (|s| s.body.push('\r'), "the body holds carriage returns"),
        (
            |s| s.body = "x".repeat((1 << 20) + 1),
            "the body has 1048577 bytes, and 1 MiB is the most",
        ),
        (
            |s| s.allowed_tools.push("a b".to_owned()),
            "a tool's name is empty or holds a space or a comma outside parentheses",
        ),
        (
            |s| s.allowed_tools.insert(0, "Bash(".to_owned()),
            "a tool's parentheses do not match",
        ),
        (
            |s| drop(s.metadata.insert(String::new(), String::new())),
            "a metadata key is empty",
        ),
        (
            |s| drop(s.metadata.insert("k".to_owned(), "v".repeat(17_000))),
            "the frontmatter has 17247 bytes, and 16 KiB is the most",
        ),
    ];
    for (change, expect) in cases {
        let mut skill = sample();
        change(&mut skill);
        assert_eq!(skill.write().unwrap_err().message(), expect);
    }
}

#[test]
fn a_skill_goes_to_its_file_and_back() {
    let skill = Skill {
        id: SkillId::from("s-1"),
        version: Version(3),
        name: SkillName::new("unseal-coffee").unwrap(),
        original_name: Some("unseal_coffee".to_owned()),
        description: "Opens the tin.".to_owned(),
        kind: Kind::Knowledge,
        scope: Scope::Category(Category::from("kitchen")),
        state: State::Active,
        trigger: Some("coffee".to_owned()),
        body: "Do it.".to_owned(),
        allowed_tools: vec!["unseal".to_owned()],
        license: None,
        compatibility: None,
        metadata: BTreeMap::from([("k".to_owned(), "v".to_owned())]),
        files: BTreeMap::new(),
        parents: Vec::new(),
        provenance: Provenance {
            origin: Origin::Human,
            runs: Vec::new(),
            tasks: Vec::new(),
        },
        taint: Taint::Clean,
    };
    let file = SkillMd::from(&skill);
    let read = SkillMd::read_strict(&file.write().unwrap(), None).unwrap();
    assert_eq!(read.id(), Some(skill.id.clone()));
    // Version and provenance are not in the file.
    let read = Skill {
        version: skill.version,
        provenance: skill.provenance.clone(),
        ..read.skill().unwrap()
    };
    assert_eq!(read, skill);

    let mut odd = file;
    odd.metadata
        .insert("journeyman-kind".to_owned(), "secret".to_owned());
    assert_eq!(
        odd.skill().unwrap_err().to_string(),
        "Invalid at SkillMd::skill { field: journeyman-kind }: `journeyman-kind` is not understood; \
         hint: use `function`, `workflow` or `knowledge`"
    );
}

/// Mutations of good files and plain noise: an answer or a typed error, never a panic, and what is read can be
/// written.
#[test]
fn noise_never_panics() {
    let good = sample().write().unwrap();
    let bits = [
        "---\n", ": ", "\n", "- ", "&a ", "*a", "!!x ", "[", "{", "\"", "'", "|\n", ">\n",
        "\u{FEFF}", "\r", "é", "\u{202E}", "#", "%", "\t", "? ", "~",
    ];
    for round in 0..4000 {
        let seed = Seed(11).derive("noise", round);
        let mut text = if round % 4 == 0 {
            String::from("---\n")
        } else {
            good.clone()
        };
        for cut in 0..(1 + round % 7) {
            let seed = seed.derive("cut", cut);
            let at = seed.derive("at", 0).index(text.len() + 1).unwrap_or(0);
            let at = (0..=at)
                .rev()
                .find(|i| text.is_char_boundary(*i))
                .unwrap_or(0);
            let bit = bits[seed.index(bits.len()).unwrap_or(0)];
            match round % 3 {
                0 => text.insert_str(at, bit),
                1 => text.truncate(at.max(8)),
                _ => {
                    text.insert_str(at, bit);
                    text.insert_str(0, if cut == 0 { "" } else { bit });
                }
            }
        }
        if let Ok((skill, _)) = SkillMd::read(&text, Some("folder")) {
            // Escapes may have put a carriage return or too long a front into it; nothing else can go wrong.
            if let Err(error) = skill.write() {
                assert_eq!(error.kind(), crate::ErrorKind::Invalid, "{text:?}");
            }
        }
        if let Ok(skill) = SkillMd::read_strict(&text, None) {
            assert_eq!(
                SkillMd::read_strict(&skill.write().unwrap(), None).unwrap(),
                skill
            );
        }
    }
}

#[test]
fn a_skill_that_no_file_may_hold_is_refused_with_its_field() {
    let made = |description: &str, body: &str| {
        Skill::new(SkillName::slug("brew").unwrap(), description, body)
    };
    assert_eq!(
        made("Brews a coffee.", "Brew.\n").unwrap().id.as_str(),
        "brew"
    );
    let long = "x".repeat(SkillMd::MAX_DESCRIPTION + 1);
    for (description, body, field) in [
        ("", "Brew.", "description"),
        (long.as_str(), "Brew.", "description"),
        ("Brews\u{202e}.", "Brew.", "description"),
        ("Brews.", "Brew.\r\n", "body"),
    ] {
        let error = made(description, body).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Invalid, "{error}");
        assert_eq!(error.fact("field"), Some(field));
    }
}
