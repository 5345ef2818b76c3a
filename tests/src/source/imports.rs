//! Which file of a crate imports which, and the circles among them.

use std::collections::{BTreeMap, BTreeSet};

use super::{blank_tests, mask};

/// The path of a module within its crate; empty for the crate's root.
type Module = Vec<String>;

/// How deep re-exports are followed.
const DEEPEST: usize = 16;

/// A file, masked and without its tests.
#[derive(Debug)]
struct File {
    path: String,
    code: String,
    /// What it re-exports: names, each with its path.
    exports: Vec<(String, Vec<String>)>,
}

/// The files of a crate that import each other.
#[derive(Debug)]
pub struct Imports {
    files: BTreeMap<Module, File>,
}

impl Imports {
    /// The imports among sources, each with its path below the crate's `src` folder. Files of tests are left out.
    pub fn of<'a>(sources: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut files = BTreeMap::new();
        for (path, text) in sources {
            let mut module: Module = path
                .trim_end_matches(".rs")
                .split('/')
                .map(str::to_owned)
                .collect();
            if module.iter().any(|name| name == "tests") {
                continue;
            }
            if matches!(
                module.last().map(String::as_str),
                Some("mod" | "lib" | "main")
            ) {
                module.pop();
            }
            let (code, _) = blank_tests(&mask(text));
            let exports = uses(&code)
                .filter(|(is_public, _)| *is_public)
                .flat_map(|(_, tree)| expanded(tree))
                .collect();
            let path = path.to_owned();
            files.insert(
                module,
                File {
                    path,
                    code,
                    exports,
                },
            );
        }
        Self { files }
    }

    /// The groups of files of which each imports each other one, if only by way of others. Re-exports are no imports.
    pub fn circles(&self) -> Vec<Vec<&str>> {
        let edges: BTreeMap<&Module, BTreeSet<&Module>> = self
            .files
            .iter()
            .map(|(module, file)| (module, self.imported(module, file)))
            .collect();
        let reached: BTreeMap<&Module, BTreeSet<&Module>> = edges
            .keys()
            .map(|module| (*module, reachable(module, &edges)))
            .collect();
        let mut circles: BTreeSet<Vec<&str>> = BTreeSet::new();
        for (module, all) in &reached {
            if all.contains(*module) {
                let members = all
                    .iter()
                    .filter(|other| reached[**other].contains(*module));
                let paths = members.filter_map(|other| Some(self.files.get(*other)?.path.as_str()));
                circles.insert(paths.collect());
            }
        }
        circles.into_iter().collect()
    }

    fn imported(&self, module: &Module, file: &File) -> BTreeSet<&Module> {
        let own = uses(&file.code).filter(|(is_public, _)| !is_public);
        let own = own
            .flat_map(|(_, tree)| expanded(tree))
            .map(|(_, path)| path);
        let trees = uses(&file.code).map(|(_, tree)| tree);
        let rest = trees.fold(file.code.clone(), |rest, tree| rest.replace(tree, ""));
        let written = written(&rest);
        let paths = own.chain(written);
        let targets = paths.filter_map(|path| self.resolve(module, &path, 0));
        let known = targets.filter_map(|target| Some(self.files.get_key_value(&target)?.0));
        known.filter(|target| *target != module).collect()
    }

    /// The module whose file defines what a path names.
    fn resolve(&self, from: &Module, path: &[String], depth: usize) -> Option<Module> {
        let (mut base, mut rest): (Module, &[String]) = match path.first().map(String::as_str)? {
            "crate" => (Module::new(), &path[1..]),
            "self" => (from.clone(), &path[1..]),
            "super" => {
                let up = path.iter().take_while(|name| *name == "super").count();
                let keep = from.len().checked_sub(up)?;
                (from[..keep].to_vec(), &path[up..])
            }
            name => {
                let below = [from.as_slice(), &[name.to_owned()]].concat();
                let is_export = self
                    .files
                    .get(from)?
                    .exports
                    .iter()
                    .any(|(one, _)| one == name);
                if !self.files.contains_key(&below) && !is_export {
                    return None;
                }
                (from.clone(), path)
            }
        };
        if depth > DEEPEST {
            return None;
        }
        while let Some((name, more)) = rest.split_first() {
            let below = [base.as_slice(), std::slice::from_ref(name)].concat();
            if self.files.contains_key(&below) {
                (base, rest) = (below, more);
                continue;
            }
            let exports = &self.files.get(&base)?.exports;
            let export = exports.iter().find(|(one, _)| one == name);
            return match export {
                Some((_, path)) if *path != [name.clone()] => {
                    let path = [path.as_slice(), more].concat();
                    self.resolve(&base, &path, depth + 1)
                }
                _ => Some(base),
            };
        }
        Some(base)
    }
}

fn reachable<'a>(
    from: &'a Module,
    edges: &BTreeMap<&'a Module, BTreeSet<&'a Module>>,
) -> BTreeSet<&'a Module> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&Module> = edges[from].iter().copied().collect();
    while let Some(next) = open.pop() {
        if reached.insert(next) {
            open.extend(edges.get(next).into_iter().flatten());
        }
    }
    reached
}

/// The trees of `use` items, and whether they are re-exports.
fn uses(code: &str) -> impl Iterator<Item = (bool, &str)> {
    code.match_indices("use ").filter_map(|(at, word)| {
        let before = code[..at].trim_end();
        let is_item = code[..at].ends_with(|c: char| c.is_whitespace()) || at == 0;
        let is_public = before.ends_with("pub")
            || (before.ends_with(')')
                && before.rfind("pub(").is_some_and(|from| {
                    before[from..].len() < 40 && !before[from..].contains('\n')
                }));
        let tree = &code[at + word.len()..];
        let tree = &tree[..tree.find(';')?];
        is_item.then_some((is_public, tree))
    })
}

/// The paths of a `use` tree, each with the name that it brings in.
fn expanded(tree: &str) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    expand(tree, &[], &mut found);
    found
}

fn expand(tree: &str, before: &[String], found: &mut Vec<(String, Vec<String>)>) {
    let tree = tree.trim();
    if let Some(group) = tree
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'))
    {
        let (mut depth, mut from) = (0_usize, 0);
        for (at, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    expand(&group[from..at], before, found);
                    from = at + 1;
                }
                _ => {}
            }
        }
        expand(&group[from..], before, found);
    } else if let Some((name, rest)) = tree.split_once("::") {
        let before = [before, &[name.trim().to_owned()]].concat();
        expand(rest, &before, found);
    } else if !tree.is_empty() {
        let (name, alias) = tree.split_once(" as ").unwrap_or((tree, tree));
        let path = match name.trim() {
            "self" => before.to_vec(),
            name => [before, &[name.to_owned()]].concat(),
        };
        let own = path.last().cloned().unwrap_or_default();
        let alias = if alias.trim() == "self" {
            own
        } else {
            alias.trim().to_owned()
        };
        found.push((alias, path));
    }
}

/// The paths outside `use` items that begin with `crate`, `self` or `super`.
fn written(code: &str) -> impl Iterator<Item = Vec<String>> + use<'_> {
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    code.split(move |c| !is_path(c)).filter_map(|text| {
        let path: Vec<String> = text.split("::").map(str::to_owned).collect();
        let root = path.first().map(String::as_str);
        let is_own = matches!(root, Some("crate" | "self" | "super")) && path.len() > 1;
        is_own.then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sources: &[(&str, &str)], expect: &[&[&str]]) {
        let imports = Imports::of(sources.iter().copied());
        assert_eq!(imports.circles(), expect);
    }

    #[test]
    fn circles_are_found_through_re_exports() {
        check(
            &[
                ("lib.rs", "pub mod a; mod b; pub use a::A;"),
                ("a.rs", "use crate::b::{self, B};"),
                ("b.rs", "use super::A;"),
            ],
            &[&["a.rs", "b.rs"]],
        );
        check(
            &[
                ("lib.rs", "mod a; mod b; pub use a::A;"),
                (
                    "a/mod.rs",
                    "mod one; mod two; pub(crate) use one::A; use two::B;",
                ),
                ("a/one.rs", "struct A;"),
                ("a/two.rs", "use super::{one::A, one};"),
                ("b.rs", "use crate::{A, a::A as Other};"),
            ],
            &[],
        );
    }

    #[test]
    fn a_path_in_the_code_is_an_import_and_one_in_a_test_is_none() {
        check(
            &[
                ("a.rs", "fn a() { crate::b::b() }"),
                ("b.rs", "fn b() { super::a::a() }"),
            ],
            &[&["a.rs", "b.rs"]],
        );
        check(
            &[
                ("a.rs", "fn a() { crate::b::b() }"),
                (
                    "b.rs",
                    "fn b() {}\n#[cfg(test)]\nmod tests {\n    use crate::a;\n}\n",
                ),
                ("b/tests.rs", "use crate::a;"),
            ],
            &[],
        );
    }
}
