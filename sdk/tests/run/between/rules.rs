//! Rules that roles learn and keep to (algorithm 5).

use super::*;

#[test]
fn rules_are_learnt_and_given_to_the_role() {
    let mut recipe = hisme();
    if let Some(evolve) = &mut recipe.maintenance.evolve {
        evolve.rows = 1;
    }
    let (_, library, prompts, _) = learn_with(recipe.clone(), Script::default(), 12);
    let rules: Vec<&str> = library
        .rules(Role::Extract)
        .iter()
        .map(|rule| rule.0.as_str())
        .collect();
    assert_eq!(rules, ["Leave out what nobody asked for."]);
    let prompts = prompts.lock().unwrap();
    let extracting = prompts
        .iter()
        .filter(|prompt| prompt.starts_with("role: extract"));
    let ruled = extracting.filter(|prompt| prompt.contains("rule: Leave out what nobody"));
    assert!(ruled.count() > 0);
    // What cannot be read changes nothing.
    let silent = Script {
        evolve: "",
        ..Script::default()
    };
    let (_, library, ..) = learn_with(recipe.clone(), silent, 12);
    assert!(library.rules(Role::Extract).is_empty());
    recipe.maintenance.evolve = None;
    let (_, library, ..) = learn_with(recipe, Script::default(), 12);
    assert!(
        library.rules(Role::Extract).is_empty(),
        "HiSME-static learns none"
    );
}

#[test]
fn what_cannot_be_read_leaves_the_rules_that_are_there() {
    let mut recipe = hisme();
    if let Some(evolve) = &mut recipe.maintenance.evolve {
        evolve.rows = 1;
    }
    let (backends, prompts) = parts(Script {
        evolve: "",
        ..Script::default()
    });
    let given = vec![RoleRule("Keep it short.".to_owned())];
    block_on(async {
        let journeyman = Journeyman::open(backends, recipe, Options::new("test", Seed(7))).await;
        let journeyman = journeyman.expect("it opens");
        let set = journeyman.set_rules(Role::Extract, given.clone(), "by hand");
        set.await.expect("they are set");
        journeyman.learn(tasks(12)).await.expect("it learns");
        let library = journeyman.library().await.expect("a library");
        assert_eq!(library.rules(Role::Extract), given);
    });
    let prompts = prompts.lock().unwrap();
    assert!(
        prompts
            .iter()
            .any(|prompt| prompt.starts_with("role: evolve"))
    );
}

#[test]
fn a_role_is_shown_each_text_once_with_all_that_came_of_it() {
    let mut recipe = hisme();
    if let Some(evolve) = &mut recipe.maintenance.evolve {
        evolve.rows = 1;
    }
    let (_, library, prompts, _) = learn_with(recipe, Script::default(), 12);
    let prompts = prompts.lock().unwrap();
    let mut asked = prompts
        .iter()
        .filter(|prompt| prompt.starts_with("role: evolve\nof: extract"));
    let last = asked.next_back().expect("it was asked");
    let rows: Vec<&str> = last
        .lines()
        .filter(|line| line.starts_with("made: "))
        .collect();
    let distinct: std::collections::BTreeSet<&str> = rows.iter().copied().collect();
    assert_eq!(rows.len(), distinct.len(), "{rows:?}");
    assert_eq!(rows.len(), library.entries().count());
    assert!(rows.iter().all(|row| row.contains("helpful")), "{rows:?}");
}

#[test]
fn rules_of_one_run_start_another_and_stay_frozen() {
    let mut recipe = hisme();
    recipe.maintenance.evolve = None;
    let (backends, prompts) = parts(Script::default());
    let rule = |words: &str| RoleRule(words.to_owned());
    block_on(async {
        let journeyman = Journeyman::open(backends, recipe, Options::new("test", Seed(7))).await;
        let journeyman = journeyman.expect("it opens");
        let given = vec![rule("Keep it short.")];
        let set = journeyman.set_rules(Role::Extract, given.clone(), "from another run");
        set.await.expect("they are set");
        journeyman.learn(tasks(6)).await.expect("it learns");
        let library = journeyman.library().await.expect("a library");
        assert_eq!(library.rules(Role::Extract), given);
        let many = vec![rule("a"); RoleRule::MOST + 1];
        let refused = journeyman.set_rules(Role::Extract, many, "too many").await;
        assert_eq!(refused.expect_err("refused").kind(), ErrorKind::Invalid);
    });
    let prompts = prompts.lock().unwrap();
    let mut extracting = prompts
        .iter()
        .filter(|prompt| prompt.starts_with("role: extract"));
    assert!(extracting.all(|prompt| prompt.contains("rule: Keep it short.")));
}
