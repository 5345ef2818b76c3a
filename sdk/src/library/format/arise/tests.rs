use super::{limits::clip, *};
use crate::{Seed, domain::SkillDraft, library::format::SchemaStage};

const STEPS: [&str; 3] = [
    "Rewrite each side with a common base",
    "Set the exponents equal and solve",
    "Verify the solution satisfies the original",
];
const INSIGHT: &str = "When both sides of an equation can be expressed as powers of the same base, set exponents equal";

fn figure_4() -> AriseDocument {
    let check = Some("Substitute back into the original equation");
    AriseDocument::new(
        "exponential_base_matching",
        "algebra",
        INSIGHT,
        &STEPS,
        check,
    )
    .unwrap()
}

/// Fits a document into the default limits and compares it, or the refusal.
fn check(document: AriseDocument, expect: Result<&str, &str>) {
    let schema = AriseSchema::new(ProblemTypes::arise());
    let fitted = schema.fit(document).map(|document| document.to_json());
    let fitted = fitted.map_err(|refusal| refusal.to_string());
    assert_eq!(fitted.as_deref().map_err(String::as_str), expect);
}

#[test]
fn figure_4_fits_350_and_not_220() {
    let json = r#"{"skill_name": "exponential_base_matching", "problem_type": "algebra", "key_insight": "When both sides of an equation can be expressed as powers of the same base, set exponents equal", "method": ["Rewrite each side with a common base", "Set the exponents equal and solve", "Verify the solution satisfies the original"], "check": "Substitute back into the original equation"}"#;
    check(figure_4(), Ok(json));
    assert_eq!(figure_4().content_chars(), 280);
    let read: AriseDocument = serde_json::from_str(json).unwrap();
    assert_eq!(read, figure_4());

    let mut schema = AriseSchema::new(ProblemTypes::arise());
    schema.limits.total = 220;
    let fitted = schema.fit(figure_4()).unwrap();
    // 60 characters must go: the check gives all but its least, the insight the rest.
    assert_eq!(fitted.check(), "Substitute");
    assert!(fitted.content_chars() <= 220);
    assert!(INSIGHT.starts_with(fitted.key_insight()) && fitted.key_insight().len() >= 50);
    assert_eq!(fitted.method(), STEPS);
    schema.limits.total = 150;
    let refusal = schema.fit(figure_4()).unwrap_err();
    assert_eq!(refusal.stage, SchemaStage::Clip);
}

#[test]
fn fields_are_cut_and_types_checked() {
    let long = "word ".repeat(60);
    let make = |problem_type: &str, steps: &[&str]| {
        AriseDocument::new(&long, problem_type, "Insight", steps, None).unwrap()
    };
    check(
        make("Number Theory", &["a", "b", "c", "d"]),
        Ok(
            r#"{"skill_name": "word_word_word_word_word_word_word_word", "problem_type": "number_theory", "key_insight": "Insight", "method": ["a", "b", "c"], "check": "Substitute back to verify"}"#,
        ),
    );
    check(
        make("cooking", &["a", "b"]),
        Err(
            "problem_type is none of: algebra, geometry, combinatorics, number_theory, calculus, general (stage parse)",
        ),
    );
    check(
        make("general", &["a"]),
        Err("method has 1 steps, and 2 is the least (stage parse)"),
    );
    check(
        make("general", &[&long, &long, &long]),
        Err(
            "the fields have 360 characters together after clipping, and 350 is the most (stage clip)",
        ),
    );
}

#[test]
fn what_is_always_true_of_a_document() {
    let refusal = |name: &str, insight: &str, steps: &[&str]| {
        AriseDocument::new(name, "general", insight, steps, None)
            .unwrap_err()
            .reason
    };
    assert_eq!(
        refusal("!?", "i", &["a"]),
        "skill_name has no letter or digit"
    );
    let name = |name: &str| {
        let document = AriseDocument::new(name, "general", "i", &["a"], None).unwrap();
        document.skill_name().to_owned()
    };
    assert_eq!(name("退款先查"), "tui_kuan_xian_cha");
    assert_eq!(
        name("Возврат: сначала проверка"),
        "vozvrat_snachala_proverka"
    );
    // A letter without a transliteration.
    assert!(name("\u{30000}").starts_with("skill_") && name("\u{30000}").len() == 14);
    assert_eq!(refusal("n", " \n", &["a"]), "key_insight is empty");
    assert_eq!(refusal("n", "i", &[]), "method has no step");
    assert_eq!(refusal("n", "i", &["a", ""]), "a step of method is empty");
    assert_eq!(
        refusal("n", "i\u{202E}", &["a"]),
        "the document holds a hidden character (U+202E, bidirectional control)"
    );
    let broken: Result<AriseDocument, _> = serde_json::from_str(
        r#"{"skill_name":"","problem_type":"a","key_insight":"b","method":["c"],"check":""}"#,
    );
    assert!(broken.is_err());
}

#[test]
fn json_is_read_by_its_types() {
    let read = |json: &str| {
        let object = serde_json::from_str(json).unwrap();
        AriseDocument::from_json(&object).map_err(|refusal| refusal.to_string())
    };
    let without = |key: &str| {
        let mut object: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(&figure_4().to_json()).unwrap();
        object.remove(key);
        serde_json::Value::from(object).to_string()
    };
    assert_eq!(read(&figure_4().to_json()), Ok(figure_4()));
    assert_eq!(read(&without("check")).unwrap().check(), DEFAULT_CHECK);
    assert_eq!(
        read(&without("method")),
        Err("method is missing (stage parse)".to_owned())
    );
    assert_eq!(
        read(&without("key_insight")),
        Err("key_insight is missing (stage parse)".to_owned())
    );
    assert_eq!(
        read(r#"{"skill_name":1,"method":[]}"#),
        Err("skill_name is not a string (stage parse)".to_owned())
    );
    assert_eq!(
        read(r#"{"method":"do it"}"#),
        Err("method is not an array of strings (stage parse)".to_owned())
    );
}

#[test]
fn nothing_is_lost_on_the_way_to_a_skill_and_back() {
    let draft = SkillDraft::from(&figure_4());
    assert_eq!(draft.title, "exponential_base_matching");
    assert_eq!(draft.description, INSIGHT);
    assert_eq!(
        draft.body,
        format!(
            "{INSIGHT}\n\n## Method\n\n1. {}\n2. {}\n3. {}\n\n## Check\n\nSubstitute back into the original equation",
            STEPS[0], STEPS[1], STEPS[2]
        )
    );
    let odd = [
        "## Method",
        "## Check",
        "1. x",
        "- x",
        "\"quoted\" \\ {x}",
        "日本語",
    ];
    for insight in odd {
        for step in odd {
            for check in odd {
                let document =
                    AriseDocument::new("n", "t", insight, &[step, step], Some(check)).unwrap();
                assert_eq!(
                    AriseDocument::from_draft(&SkillDraft::from(&document)),
                    Ok(document)
                );
            }
        }
    }
    for document in seed_skills() {
        assert_eq!(
            AriseDocument::from_draft(&SkillDraft::from(&document)),
            Ok(document)
        );
    }
}

#[test]
fn the_seeds_fit_the_papers_cap() {
    let mut schema = AriseSchema::new(ProblemTypes::arise());
    schema.limits.total = 220;
    let seeds = seed_skills();
    assert_eq!(seeds.len(), 5);
    for seed in seeds {
        assert_eq!(schema.fit(seed.clone()), Ok(seed));
    }
}

#[test]
fn the_fallback_fits_any_trace() {
    for total in [10, 60, 220, 350] {
        for count in [0, 1, 2, 3, 4, 7, 40, 2_000] {
            for (length, arguments) in [(1, 0), (12, 2), (64, 9)] {
                let mut schema = AriseSchema::new(ProblemTypes::new(["kitchen"]));
                schema.limits.total = total;
                let steps: Vec<TraceStep> = (0..count)
                    .map(|number| TraceStep::Call {
                        tool: format!("{number}{}", "t".repeat(length)),
                        arguments: vec!["argument".to_owned(); arguments],
                    })
                    .collect();
                let document = schema.trace_abstract(&steps);
                let name = document.skill_name();
                assert!((1..=40).contains(&name.chars().count()), "{name}");
                assert_eq!(name == "trace_abstract", count == 0);
                assert_eq!(document.problem_type(), "kitchen");
                if total >= 220 {
                    assert!(document.key_insight().starts_with("Solve by"));
                    assert_eq!(schema.fit(document.clone()), Ok(document.clone()));
                    let written = document.method().join(" ").matches('t').count();
                    let last = document
                        .method()
                        .iter()
                        .any(|step| step.contains("more step"));
                    let none = document.method()[0].starts_with("Take ");
                    assert!(last || none || written >= count, "{document:?}");
                }
            }
        }
    }
}

#[test]
fn general_alone_takes_any_type() {
    let general = AriseSchema::new(ProblemTypes::general());
    let document = |problem_type| AriseDocument::new("n", problem_type, "i", &["a", "b"], None);
    let fitted = general.fit(document("algebra").unwrap()).unwrap();
    assert_eq!(fitted.problem_type(), "general");
    let object = serde_json::json!({"skill_name": "n", "key_insight": "i", "method": ["a", "b"]});
    let object = object.as_object().unwrap();
    assert_eq!(general.read(object).unwrap().problem_type(), "general");
    let named = AriseSchema::new(ProblemTypes::new(["kitchen", "general"]));
    assert_eq!(
        named.read(object).unwrap_err().reason,
        "problem_type is missing"
    );
    assert_eq!(
        named.fit(document("algebra").unwrap()).unwrap_err().reason,
        "problem_type is none of: kitchen, general"
    );
}

#[test]
fn clipping_never_panics_and_never_lengthens() {
    let letters: Vec<char> = "ab é日👩\u{200D}💻\u{FE0F} .".chars().collect();
    for round in 0..2000 {
        let seed = Seed(5).derive("clip", round);
        let text: String = (0..40)
            .filter_map(|i| seed.derive("c", i).index(letters.len()).map(|i| letters[i]))
            .collect();
        let most = seed.index(50).unwrap();
        let cut = clip(&text, most);
        assert!(cut.chars().count() <= most && text.starts_with(&cut));
    }
}
