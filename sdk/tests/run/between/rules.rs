//! Rules that roles learn and keep to (algorithm 5).

use super::*;

#[test]
fn rules_are_learnt_and_given_to_the_role() {
    let mut recipe = hisme();
    learns_rules_at_once(&mut recipe);
    let (_, library, prompts, _) = learn_with(recipe.clone(), Script::default(), 12);
    let rules: Vec<&str> = library
        .rules(Role::Extract)
        .iter()
        .map(|rule| rule.as_str())
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
    across(&mut recipe, |parts| parts.evolve = None);
    let (_, library, ..) = learn_with(recipe, Script::default(), 12);
    assert!(
        library.rules(Role::Extract).is_empty(),
        "HiSME-static learns none"
    );
}

#[test]
fn what_cannot_be_read_leaves_the_rules_that_are_there() {
    let mut recipe = hisme();
    learns_rules_at_once(&mut recipe);
    let (components, prompts) = parts(Script {
        evolve: "",
        ..Script::default()
    });
    let given = vec![RoleRule::new("Keep it short.").unwrap()];
    block_on(async {
        let journeyman = Journeyman::open(components, recipe, Options::new("test", Seed(7))).await;
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
    learns_rules_at_once(&mut recipe);
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
fn what_nobody_could_keep_to_is_not_set() {
    let (components, _) = parts(Script::default());
    block_on(async {
        let journeyman = Journeyman::open(components, hisme(), Options::new("test", Seed(7))).await;
        let journeyman = journeyman.expect("it opens");
        let many = vec![RoleRule::new("a").unwrap(); RoleRule::MOST + 1];
        let refused = journeyman.set_rules(Role::Extract, many, "too many").await;
        assert_eq!(refused.expect_err("refused").kind(), ErrorKind::Invalid);
    });
}

/// The roles that learn rules.
const LEARNING: [Role; 3] = [Role::Extract, Role::Refactor, Role::Refine];

/// Each role's rules.
fn rules(library: &SkillLibrary) -> [Vec<RoleRule>; 3] {
    LEARNING.map(|role| library.rules(role).to_vec())
}

/// What all three roles have to do with: a skill that says a word too many and is mended, and attempts that share something.
fn for_all(evolve: &'static str) -> Script {
    Script {
        extract: |words| format!("skill {words}: How to say {words}.\nsay: oops {words}"),
        attribute: "neutral: it made no difference",
        refine: "better: Says what is due.\nsay: one two",
        refactor: "shared: Says one two, and no more.\nsay: one two",
        evolve,
    }
}

#[test]
fn rules_of_one_run_start_another_and_stay_frozen() {
    let mut learning = hisme();
    learning.select.selector = top(1);
    let mut frozen = learning.clone();
    across(&mut frozen, |parts| parts.evolve = None);
    learns_rules_at_once(&mut learning);
    let (_, library, ..) = learn_with(learning, for_all("What {of} was taught."), 12);
    let learnt = rules(&library);
    let taught =
        LEARNING.map(|role| vec![RoleRule::new(format!("What {role} was taught.")).unwrap()]);
    assert_eq!(learnt, taught);
    // Another library, which begins with them.
    let (components, prompts) = parts(for_all("Something else."));
    let library = block_on(async {
        let options = Options::new("another", Seed(8));
        let journeyman = Journeyman::open(components, frozen, options).await;
        let journeyman = journeyman.expect("it opens");
        for (role, rules) in LEARNING.into_iter().zip(&learnt) {
            let set = journeyman.set_rules(role, rules.clone(), "what another run taught");
            set.await.expect("they are set");
        }
        journeyman.learn(tasks(12)).await.expect("it learns");
        journeyman.library().await.expect("a library")
    });
    assert_eq!(rules(&library), learnt);
    let prompts = prompts.lock().unwrap();
    for role in LEARNING {
        let opening = format!("role: {role}\n");
        let asked = prompts.iter().filter(|text| text.starts_with(&opening));
        let asked: Vec<_> = asked.collect();
        assert!(!asked.is_empty(), "{role} is never asked");
        let own = format!("What {role} was taught.");
        for prompt in asked {
            let lines = prompt.lines();
            let shown: Vec<&str> = lines
                .filter_map(|line| line.strip_prefix("rule: "))
                .collect();
            assert_eq!(shown, [own.as_str()], "{prompt}");
        }
    }
}
