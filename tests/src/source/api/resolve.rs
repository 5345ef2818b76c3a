//! Paths followed to the items and modules that they name.

use std::collections::BTreeMap;

use proc_macro2::TokenTree;
use syn::{Item, ItemImpl, Path, Type};

use super::{
    modules::{Import, Module, Modules, Place, below, named},
    print::Needs,
};

/// How many imports are followed one after the other.
const DEEPEST: usize = 8;

/// An item that a crate defines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Definition {
    pub(super) place: Place,
    /// Its index in the module's items. A macro's call stands for every item that it makes.
    pub(super) index: usize,
    pub(super) name: String,
}

/// An item or a module that a path names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    Module(Place),
    Item(Definition),
}

/// An `impl` block of a type of the crate.
#[derive(Clone, Copy)]
pub(super) struct Implementation<'m> {
    pub(super) place: &'m Place,
    /// The conditions of its module.
    pub(super) needs: &'m Needs,
    pub(super) block: &'m ItemImpl,
}

/// The `impl` blocks of each type.
pub(super) type Implementations<'m> = BTreeMap<Definition, Vec<Implementation<'m>>>;

/// The targets of a path that is written in a module: a type and a function may share a name. Empty for items of other
/// crates.
pub(super) fn resolve(modules: &Modules, from: &Place, path: &[String]) -> Vec<Target> {
    let mut targets = follow(modules, from, path, 0);
    targets.sort();
    targets.dedup();
    targets
}

/// The segments of a path, without their arguments.
pub(super) fn segments(path: &Path) -> Vec<String> {
    let segments = path.segments.iter();
    segments.map(|segment| segment.ident.to_string()).collect()
}

/// The `impl` blocks of the crate's own types.
pub(super) fn implementations(modules: &Modules) -> Implementations<'_> {
    let mut found = Implementations::new();
    for (place, module) in modules {
        for item in &module.items {
            let Item::Impl(block) = item else { continue };
            let Type::Path(own) = &*block.self_ty else {
                continue;
            };
            for target in resolve(modules, place, &segments(&own.path)) {
                let Target::Item(definition) = target else {
                    continue;
                };
                found.entry(definition).or_default().push(Implementation {
                    place,
                    needs: &module.needs,
                    block,
                });
            }
        }
    }
    found
}

fn follow(modules: &Modules, from: &Place, path: &[String], depth: usize) -> Vec<Target> {
    let first = path.first().map(String::as_str);
    let (mut base, mut rest) = match first {
        Some("crate") => (Place::new(), &path[1..]),
        Some("self") => (from.clone(), &path[1..]),
        Some("super") => {
            let up = path.iter().take_while(|name| *name == "super").count();
            let keep = from.len().saturating_sub(up);
            (from[..keep].to_vec(), &path[up..])
        }
        _ => (from.clone(), path),
    };
    while let Some((name, more)) = rest.split_first() {
        let found = look_up(modules, &base, name, depth);
        if more.is_empty() {
            return found;
        }
        // The rest of the path leads through a module; what is below a type is no item.
        let module = found.into_iter().find_map(|target| match target {
            Target::Module(place) => Some(place),
            Target::Item(_) => None,
        });
        let Some(module) = module else {
            return Vec::new();
        };
        (base, rest) = (module, more);
    }
    vec![Target::Module(base)]
}

/// The targets of a name in a module: its definitions and imports by name, else items that macros make, else imports by `*`.
fn look_up(modules: &Modules, place: &Place, name: &str, depth: usize) -> Vec<Target> {
    let Some(module) = modules.get(place).filter(|_| depth <= DEEPEST) else {
        return Vec::new();
    };
    let mut found = defined(module, place, name, |item| {
        named(item).is_some_and(|(_, own)| own == name)
    });
    if module.children.iter().any(|child| child.name == name) {
        found.push(Target::Module(below(place, name)));
    }
    let imports = |name: Option<&str>| {
        let imports = module.imports.iter();
        let imports = imports.filter(|import| import.name.as_deref() == name);
        imports.collect::<Vec<&Import>>()
    };
    for import in imports(Some(name)) {
        found.extend(follow(modules, place, &import.path, depth + 1));
    }
    if found.is_empty() {
        found = defined(module, place, name, |item| makes(item, name));
    }
    if found.is_empty() {
        for import in imports(None) {
            for target in follow(modules, place, &import.path, depth + 1) {
                if let Target::Module(place) = target {
                    found.extend(look_up(modules, &place, name, depth + 1));
                }
            }
        }
    }
    found
}

fn defined(
    module: &Module,
    place: &Place,
    name: &str,
    is_it: impl Fn(&Item) -> bool,
) -> Vec<Target> {
    let items = module.items.iter().enumerate();
    let items = items.filter(|(_, item)| is_it(item));
    items
        .map(|(index, _)| {
            Target::Item(Definition {
                place: place.clone(),
                index,
                name: name.to_owned(),
            })
        })
        .collect()
}

/// Whether an item is a macro's call with the name in it.
fn makes(item: &Item, name: &str) -> bool {
    let Item::Macro(call) = item else {
        return false;
    };
    let mut tokens = call.mac.tokens.clone().into_iter();
    // With a name of its own, it is the macro's definition.
    call.ident.is_none()
        && tokens.any(|token| matches!(token, TokenTree::Ident(ident) if ident == name))
}
