//! The page on roles says what the code has: all roles, which recipes ask them, how their prompts begin, and answers that are read.

use std::{collections::BTreeSet, sync::Arc};

use futures::executor::block_on;
use journeyman::{
    Seed,
    agent::role::GeneralRoles,
    contract::{Components, RoleRequest, RoleTask, Roles},
    domain::Role,
    recipe::{self, Recipe},
    run::{Journeyman, Options},
    testing::{ScriptedModel, ScriptedRoles, sample},
};

const PAGE: &str = include_str!("../../../docs/reference/roles.md");
const ASKED: &str = "\n## Who asks which\n";
const ANSWERS: &str = "\n## What each answers\n";

/// A recipe, by the name of its function.
type Shipped = (&'static str, fn() -> Recipe);

/// The recipes as shipped.
const RECIPES: [Shipped; 7] = [
    ("standard", recipe::standard),
    ("arise", recipe::arise),
    ("scribe", recipe::scribe),
    ("skillos", recipe::skillos),
    ("hisme", recipe::hisme),
    ("hisme_robust", recipe::hisme_robust),
    ("skillrl", recipe::skillrl),
];

/// A row of a table: its role, and its cells.
type Row = (Role, Vec<&'static str>);

/// The rows of the first table behind a text of the page.
fn rows(behind: &str) -> Vec<Row> {
    let (_, rest) = PAGE.split_once(behind).expect("the page has it");
    let lines = rest.lines().skip_while(|line| !line.starts_with("| "));
    let rows = lines.take_while(|line| line.starts_with("| ")).skip(2);
    let cells = rows.map(|row| row.trim_matches('|').split('|').map(str::trim));
    cells
        .map(|cells| {
            let cells: Vec<&str> = cells.collect();
            let name = cells[0].split([',', ' ']).next().expect("a name");
            (Role::named(name).expect("a role")[0], cells)
        })
        .collect()
}

/// The spans of code in a cell.
fn spans(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// The roles that a recipe asks: those that a session says nobody plays, where nobody plays any.
fn asked(recipe: Recipe) -> BTreeSet<Role> {
    let parts = Components::own_loop()
        .with_model(Arc::new(ScriptedModel::always("")))
        .with_roles(Arc::new(ScriptedRoles::only([])));
    let opened = Journeyman::open(parts, recipe, Options::new("page", Seed(7)));
    let findings = block_on(opened).expect("it opens").findings();
    let reasons = findings.iter().map(|one| one.reason.as_str());
    let unplayed = reasons.filter_map(|one| one.strip_prefix("the host's roles do not play "));
    let names = unplayed.flat_map(|names| {
        let names = names.trim_start_matches("the recipe's writer, ");
        names.split(", ")
    });
    names
        .map(|name| Role::named(name).expect("a role")[0])
        .collect()
}

#[test]
fn each_table_has_every_role() {
    for behind in ["# Roles\n", ASKED, ANSWERS] {
        let listed: BTreeSet<Role> = rows(behind).into_iter().map(|(role, _)| role).collect();
        assert_eq!(listed, BTreeSet::from(Role::ALL), "{behind}");
    }
}

#[test]
fn the_page_says_which_recipes_ask_each_role() {
    let mut expect = BTreeSet::new();
    for (name, recipe) in RECIPES {
        let asked = asked(recipe());
        assert!(!asked.is_empty(), "{name}");
        expect.extend(asked.into_iter().map(|role| (role, name)));
    }
    // Its program does without this one, so no finding names it.
    expect.insert((Role::DistilBank, "skillrl"));
    let mut listed = BTreeSet::new();
    for (role, cells) in rows(ASKED) {
        let recipes = spans(cells[1]).filter(|span| !span.contains("::"));
        listed.extend(recipes.map(|recipe| (role, recipe)));
    }
    assert_eq!(listed, expect);
}

#[test]
fn the_prompts_begin_as_the_page_says_and_its_answers_are_read() {
    let roles = GeneralRoles::shipped().expect("they are there");
    let mut prompts = Vec::new();
    for (role, cells) in rows(ANSWERS) {
        let mut task = sample::role_task(role);
        let is_whole = cells[0].contains("role-refine-whole");
        if let RoleTask::Refine { whole, .. } = &mut task {
            *whole = is_whole;
        }
        let request = RoleRequest::new(&task, Seed(7));
        let prompt = roles.prompt(&request).expect("a prompt").prompt.text();
        let begins = spans(cells[1]).next().expect("a beginning");
        prompts.push((role, begins, prompt));
        let answer = spans(cells[3]).last().expect("an answer");
        let answer = roles.read(&request, answer).expect(answer);
        let variant = format!("{answer:?}");
        let variant = variant.split(|c: char| !c.is_alphanumeric()).next();
        let mut named = spans(cells[2]);
        assert!(named.any(|one| Some(one) == variant), "{role}: {answer:?}");
    }
    // A scripted model can tell a role by its beginning alone.
    for (role, begins, _) in &prompts {
        let begun = prompts
            .iter()
            .filter(|(_, _, prompt)| prompt.starts_with(*begins));
        let begun: BTreeSet<Role> = begun.map(|(role, _, _)| *role).collect();
        assert_eq!(begun, BTreeSet::from([*role]), "{begins}");
    }
}
