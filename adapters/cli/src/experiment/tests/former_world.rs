use journeyman::ErrorKind;

use super::{planned, read};

/// A file of before, which named no tasks.
const FORMER: &str = r#"
name = "former"
model = "model.gguf"
seeds = 3

[world]
stream = 10
held_out = 5
checkpoints = 3
universe = { hidden = 4, world = { most_tools = 4 }, passing = { share = 0.6 } }

[[arm]]
name = "no skills"
recipe = "none"
"#;

/// What the world added to each cell's key.
fn key(text: &str) -> String {
    serde_json::to_string(&read(text, true).unwrap().settings).unwrap()
}

#[test]
fn an_experiment_of_before_is_reported_by_the_keys_of_its_cells() {
    let (keys, _) = FORMER.split_once("[world]").unwrap();
    let (_, arms) = FORMER.split_once("[[arm]]").unwrap();
    assert_eq!(
        key(&format!("{keys}[[arm]]{arms}")),
        r#"{"steps":8,"universe":{"hidden":16,"plain":8,"passing":null,"world":{"split":"held_out","fewest_tools":3,"most_tools":5,"invented_nouns":0.05,"hidden":0.8,"given":[25,50,25,0,0],"foreign_words":0.0,"wording":"needs"}}}"#
    );
    assert_eq!(
        key(FORMER),
        r#"{"steps":8,"universe":{"hidden":4,"plain":8,"passing":{"share":0.6,"kind":null},"world":{"split":"held_out","fewest_tools":3,"most_tools":4,"invented_nouns":0.05,"hidden":0.8,"given":[25,50,25,0,0],"foreign_words":0.0,"wording":"needs"}}}"#
    );
    let file = read(FORMER, true).unwrap();
    assert_eq!(file.plan.positions(), [0, 3, 6, 10]);
    assert_eq!(
        file.plan.conditions.world,
        "toolworld with 4 hidden contracts and 8 plain tools, at most 8 steps an attempt"
    );
    let refused = file.settings.world.open().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
}

#[test]
fn an_experiment_of_before_is_not_run() {
    let refused = planned(FORMER).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid);
    assert!(refused.message().contains("no tasks"), "{refused}");
    assert_eq!(refused.fact("line"), Some("6"), "{refused}");
    let hint = refused.hint_text().unwrap();
    for said in [
        "`tasks`",
        "[world]",
        "services.toml",
        "`--report --any-build`",
    ] {
        assert!(hint.contains(said), "{hint}");
    }
}

#[test]
fn what_is_wrong_with_an_experiment_of_before_is_refused_with_its_line() {
    for (from, to, line, message) in [
        ("hidden = 4", "hiden = 4", "10", "no such field"),
        ("stream = 10", "stream = 0", "7", "out of range"),
        ("seeds = 3", "seeds = 3\nstream = 9", "7", "no tasks"),
        ("stream = 10", "program = \"python3\"", "6", "no tasks"),
    ] {
        assert!(FORMER.contains(from));
        let refused = read(&FORMER.replacen(from, to, 1), true).unwrap_err();
        assert!(refused.message().contains(message), "{refused}");
        assert_eq!(refused.fact("line"), Some(line), "{refused}");
    }
}
