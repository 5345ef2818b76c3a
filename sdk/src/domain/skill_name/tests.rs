use super::*;
use crate::library::format::SkillMd;

/// Names, and what the reference validator (Python package `skills-ref` 0.1.1 on Python 3.11.7, Unicode 14.0.0) makes of them as
/// the `name` of a SKILL.md: the normalized name where it accepts one, `None` where it refuses it.
fn of_the_reference_validator() -> Vec<(String, Option<String>)> {
    let table: &[(&str, Option<&str>)] = &[
        ("brew", Some("brew")),
        ("a", Some("a")),
        ("unseal-coffee", Some("unseal-coffee")),
        ("2fa", Some("2fa")),
        (&"a".repeat(64), Some(&"a".repeat(64))),
        (&"a".repeat(65), None),
        ("", None),
        ("  ", None),
        ("Brew", None),
        ("-brew", None),
        ("brew-", None),
        ("br--ew", None),
        ("br_ew", None),
        ("br ew", None),
        ("br.ew", None),
        ("../brew", None),
        ("a/b", None),
        ("коф\u{435}", Some("коф\u{435}")),
        ("возврат-2", Some("возврат-2")),
        ("Коф\u{435}", None),
        ("退款", Some("退款")),
        ("退款先查", Some("退款先查")),
        ("コーヒー", Some("コーヒー")),
        ("\u{FF7A}\u{FF70}\u{FF8B}\u{FF70}", Some("コーヒー")),
        ("ガ", Some("ガ")),
        ("カ\u{3099}", Some("ガ")),
        ("café", Some("café")),
        ("cafe\u{301}", Some("café")),
        ("naïve-bayes", Some("naïve-bayes")),
        ("straße", Some("straße")),
        ("STRASSE", None),
        ("οδος", Some("οδος")),
        ("οδοσ", Some("οδοσ")),
        ("한국어", Some("한국어")),
        (
            "\u{642}\u{647}\u{648}\u{629}",
            Some("\u{642}\u{647}\u{648}\u{629}"),
        ),
        ("\u{642}\u{64E}\u{647}\u{648}\u{629}", None),
        (
            "\u{5E2}\u{5D1}\u{5E8}\u{5D9}\u{5EA}",
            Some("\u{5E2}\u{5D1}\u{5E8}\u{5D9}\u{5EA}"),
        ),
        ("हद", Some("हद")),
        ("ह\u{93F}न\u{94D}द\u{940}", None),
        ("ไทย", Some("ไทย")),
        ("ภาษา", Some("ภาษา")),
        ("\u{967}\u{968}\u{969}", Some("\u{967}\u{968}\u{969}")),
        ("\u{663}", Some("\u{663}")),
        ("\u{B2}", Some("2")),
        ("brew\u{B2}", Some("brew2")),
        ("\u{2177}", Some("viii")),
        ("\u{2167}", None),
        ("\u{BD}", None),
        ("\u{2460}", Some("1")),
        ("\u{FF42}\u{FF52}\u{FF45}\u{FF57}", Some("brew")),
        ("\u{FF22}\u{FF52}\u{FF45}\u{FF57}", None),
        ("\u{1D41B}\u{1D42B}\u{1D41E}\u{1D430}", Some("brew")),
        ("\u{FB01}lter", Some("filter")),
        ("\u{17F}ecret", Some("secret")),
        ("br\u{435}w", Some("br\u{435}w")),
        ("\u{AA}b", Some("ab")),
        ("ᴀb", Some("ᴀb")),
        ("\u{2B0}a", Some("ha")),
        ("İ", None),
        ("i\u{307}", None),
        ("\u{1C6}", Some("dž")),
        ("\u{1C5}", None),
        ("\u{3164}", Some("\u{1160}")),
        ("\u{115F}", Some("\u{115F}")),
        ("a\u{200D}b", None),
        ("a\u{200B}", None),
        ("a\u{AD}", None),
        ("\u{2615}", None),
        ("a\u{2615}", None),
        ("a\u{2019}b", None),
        ("a\u{B7}b", None),
        ("\u{140}", None),
        (&"退".repeat(64), Some(&"退".repeat(64))),
        (&"退".repeat(65), None),
        (&"\u{20000}".repeat(63), Some(&"\u{20000}".repeat(63))),
        (&"\u{20000}".repeat(64), Some(&"\u{20000}".repeat(64))),
        ("\u{10428}", Some("\u{10428}")),
        ("\u{10400}", None),
        ("\u{AB70}", Some("\u{AB70}")),
        ("Ꭰ", None),
        ("ა", Some("ა")),
        ("Ა", None),
        ("a\u{2013}b", None),
        ("a\u{2010}b", None),
        ("a\u{2011}b", None),
        ("あ-い", Some("あ-い")),
        ("a\n", Some("a")),
        (" brew ", Some("brew")),
        ("\u{338F}", Some("kg")),
        ("\u{3300}", Some("アパート")),
        ("\u{FDFA}", None),
        ("\u{FDFA}a", None),
    ];
    let owned =
        |(name, answer): &(&str, Option<&str>)| ((*name).to_owned(), answer.map(str::to_owned));
    table.iter().map(owned).collect()
}

/// Accepted by the validator and refused here: letters that nobody sees, and a name longer than file systems take.
const REFUSED_HERE: [&str; 3] = ["\u{115F}", "\u{1160}", "\u{3164}"];

fn is_refused_here(name: &str) -> bool {
    REFUSED_HERE.contains(&name) || name.len() > SkillName::MAX_BYTES
}

#[test]
fn names_are_those_of_the_reference_validator() {
    for (name, answer) in of_the_reference_validator() {
        // The validator takes blank space off the field, and off no folder.
        let ours = SkillName::new(name.trim()).ok().map(String::from);
        let expect = answer.filter(|_| !is_refused_here(&name));
        assert_eq!(ours, expect, "{}", name.escape_unicode());
    }
}

#[test]
fn a_file_may_have_the_names_that_the_validator_accepts() {
    for (name, answer) in of_the_reference_validator() {
        let quoted = serde_json::Value::from(name.as_str());
        let text = format!("---\nname: {quoted}\ndescription: Brews.\n---\n\nBody.\n");
        let read = SkillMd::read_strict(&text, None);
        let expect = answer.filter(|_| !is_refused_here(&name));
        let ours = read.as_ref().ok().map(|skill| skill.name.to_string());
        assert_eq!(ours, expect, "{}", name.escape_unicode());
        if let Ok(skill) = read {
            let written = skill.write().unwrap();
            assert_eq!(
                SkillMd::read_strict(&written, ours.as_deref()).unwrap(),
                skill
            );
            // The folder may be spelled another way.
            let folder = SkillMd::read_strict(&text, Some(name.trim()));
            assert_eq!(folder.unwrap(), skill);
        }
    }
}

#[test]
fn a_name_of_another_script_is_kept_in_json() {
    for name in [
        "возврат",
        "退款",
        "café",
        "br\u{435}w",
        "ｂｒｅｗ",
        "\u{3b1}lpha",
    ] {
        let kept = SkillName::new(name).unwrap();
        let json = serde_json::to_string(&kept).unwrap();
        assert_eq!(serde_json::from_str::<SkillName>(&json).unwrap(), kept);
    }
    for refused in [
        "Возврат",
        "a/b",
        "..",
        "\u{ff0e}\u{ff0e}",
        "a\u{ff0f}b",
        "\u{2100}",
        "a\u{202e}b",
    ] {
        let json = serde_json::Value::from(refused).to_string();
        assert!(
            serde_json::from_str::<SkillName>(&json).is_err(),
            "{refused}"
        );
    }
}

#[test]
fn names_of_one_folder_fold_to_one_form() {
    let folded = |name: &str| SkillName::new(name).unwrap().folded().into_owned();
    for (one, other) in [
        ("οδος", "οδοσ"),
        ("straße", "strasse"),
        ("cafe\u{301}", "caf\u{e9}"),
    ] {
        assert_eq!(folded(one), folded(other));
    }
    for (one, other) in [("cafe", "café"), ("кофе", "kofe"), ("a-b", "ab")] {
        assert_ne!(folded(one), folded(other));
    }
}

#[test]
fn a_huge_text_is_no_name() {
    for text in ["a".repeat(10 << 20), "\u{FDFA}".repeat(5 << 20)] {
        assert!(SkillName::new(text).is_err());
    }
}
