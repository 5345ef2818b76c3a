//! The modules of a crate as its sources declare them.

use std::{collections::BTreeMap, io};

use syn::{Attribute, Ident, Item, ItemMod, ItemUse, UseTree, Visibility};

use super::print::{Needs, conditions};

/// The path of a module within its crate; empty for the crate's root.
pub(super) type Place = Vec<String>;
/// The modules of a crate.
pub(super) type Modules = BTreeMap<Place, Module>;
/// The files of a crate: path below `src`, and text.
type Files<'a> = BTreeMap<Place, (&'a str, &'a str)>;

/// A module, without what exists in tests alone.
#[derive(Default)]
pub(super) struct Module {
    /// Its own items, apart from modules.
    pub(super) items: Vec<Item>,
    pub(super) children: Vec<Child>,
    pub(super) imports: Vec<Import>,
    /// Its conditions, with those of the modules around it.
    pub(super) needs: Needs,
}

/// A module that is declared in another one.
pub(super) struct Child {
    pub(super) name: String,
    pub(super) is_public: bool,
}

/// One path of a `use` item.
pub(super) struct Import {
    pub(super) is_public: bool,
    /// The name that it brings in; `None` for all names (`*`).
    pub(super) name: Option<String>,
    /// The path as it is written; it begins with an empty segment where it was written with `::`.
    pub(super) path: Vec<String>,
    pub(super) needs: Needs,
}

/// Reads the modules of a library from its sources, each with its path below the crate's `src` folder.
pub(super) fn read<'a>(
    sources: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> io::Result<Modules> {
    let files: Files<'a> = sources
        .into_iter()
        .filter(|(path, _)| *path != "main.rs")
        .map(|(path, text)| (place_of(path), (path, text)))
        .collect();
    let mut modules = Modules::new();
    let root = parsed(&Place::new(), &files)?;
    declare(Place::new(), root, Needs::new(), &files, &mut modules)?;
    Ok(modules)
}

/// The place below another one.
pub(super) fn below(place: &Place, name: &str) -> Place {
    let mut below = place.clone();
    below.push(name.to_owned());
    below
}

/// The attributes of an item.
pub(super) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// The visibility and the name of an item that has both.
pub(super) fn named(item: &Item) -> Option<(&Visibility, &Ident)> {
    Some(match item {
        Item::Const(item) => (&item.vis, &item.ident),
        Item::Enum(item) => (&item.vis, &item.ident),
        Item::Fn(item) => (&item.vis, &item.sig.ident),
        Item::Static(item) => (&item.vis, &item.ident),
        Item::Struct(item) => (&item.vis, &item.ident),
        Item::Trait(item) => (&item.vis, &item.ident),
        Item::Type(item) => (&item.vis, &item.ident),
        Item::Union(item) => (&item.vis, &item.ident),
        _ => return None,
    })
}

/// Whether it is `pub` without a restriction.
pub(super) fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn place_of(path: &str) -> Place {
    let path = path.trim_end_matches(".rs");
    let mut place: Place = path.split('/').map(str::to_owned).collect();
    if place
        .last()
        .is_some_and(|last| last == "mod" || last == "lib")
    {
        place.pop();
    }
    place
}

fn parsed(place: &Place, files: &Files<'_>) -> io::Result<Vec<Item>> {
    let Some((path, text)) = files.get(place) else {
        let message = format!("the module {} has no file", place.join("::"));
        return Err(io::Error::other(message));
    };
    let file = syn::parse_file(text);
    let file = file.map_err(|error| io::Error::other(format!("{path}: {error}")))?;
    Ok(file.items)
}

fn declare(
    place: Place,
    items: Vec<Item>,
    needs: Needs,
    files: &Files<'_>,
    modules: &mut Modules,
) -> io::Result<()> {
    let mut module = Module {
        needs,
        ..Module::default()
    };
    for item in items {
        let Some(own) = conditions(attributes(&item)) else {
            continue;
        };
        match item {
            Item::Mod(ItemMod {
                ident,
                vis,
                content,
                ..
            }) => {
                let name = ident.to_string();
                let inner = below(&place, &name);
                let items = match content {
                    Some((_, items)) => items,
                    None => parsed(&inner, files)?,
                };
                declare(inner, items, &module.needs | &own, files, modules)?;
                let is_public = is_public(&vis);
                module.children.push(Child { name, is_public });
            }
            Item::Use(item) => module.imports.extend(imports(&item, &own)),
            item => module.items.push(item),
        }
    }
    modules.insert(place, module);
    Ok(())
}

fn imports(item: &ItemUse, needs: &Needs) -> Vec<Import> {
    let root = item.leading_colon.map(|_| String::new());
    let mut found = Vec::new();
    expand(&item.tree, &Vec::from_iter(root), &mut found);
    let imports = found.into_iter().map(|(name, path)| Import {
        is_public: is_public(&item.vis),
        name,
        path,
        needs: needs.clone(),
    });
    // `use a::Trait as _` brings in no name.
    imports
        .filter(|import| import.name.as_deref() != Some("_"))
        .collect()
}

fn expand(tree: &UseTree, before: &Place, found: &mut Vec<(Option<String>, Vec<String>)>) {
    // `self` in a group is the path before the group.
    let path_of = |name: &Ident| match name == "self" {
        true => before.clone(),
        false => below(before, &name.to_string()),
    };
    match tree {
        UseTree::Path(path) => {
            let before = below(before, &path.ident.to_string());
            expand(&path.tree, &before, found);
        }
        UseTree::Name(name) => {
            let path = path_of(&name.ident);
            found.push((path.last().cloned(), path));
        }
        UseTree::Rename(rename) => {
            let path = path_of(&rename.ident);
            found.push((Some(rename.rename.to_string()), path));
        }
        UseTree::Glob(_) => found.push((None, before.clone())),
        UseTree::Group(group) => {
            for tree in &group.items {
                expand(tree, before, found);
            }
        }
    }
}
