//! The walk from a crate's root to all that is public.

use std::{collections::BTreeSet, io};

use super::{
    items::{Line, lines_of, lines_of_impl},
    modules::{self, Import, Modules, Place, attributes, below, is_public, named},
    print::{Needs, conditions, derived, last_segment},
    resolve::{
        Definition, Implementation, Implementations, Target, implementations, resolve, segments,
    },
};

/// The public API of a library: a line an item, sorted, that begins with the path as a user writes it. The sources have paths
/// below the crate's `src` folder.
///
/// # Errors
/// When a source cannot be parsed, or a module that is declared has no source.
pub fn public_api<'a>(
    name: &str,
    sources: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> io::Result<Vec<String>> {
    let modules = modules::read(sources)?;
    let mut listing = Listing {
        modules: &modules,
        implementations: implementations(&modules),
        lines: BTreeSet::new(),
        within: Vec::new(),
    };
    listing.module(&Place::new(), name, &Needs::new());
    Ok(listing.lines.into_iter().collect())
}

struct Listing<'m> {
    modules: &'m Modules,
    implementations: Implementations<'m>,
    lines: BTreeSet<String>,
    /// The modules that are being listed, outermost first.
    within: Vec<Place>,
}

impl Listing<'_> {
    /// Lists what is public in a module, under a path that leads to it.
    fn module(&mut self, place: &Place, path: &str, outer: &Needs) {
        let modules = self.modules;
        let Some(module) = modules.get(place) else {
            return;
        };
        // One that re-exports a module around it would be listed without end.
        if self.within.contains(place) {
            return;
        }
        self.within.push(place.clone());
        let needs = outer | &module.needs;
        for child in module.children.iter().filter(|child| child.is_public) {
            let target = Target::Module(below(place, &child.name));
            self.target(&target, &format!("{path}::{}", child.name), &needs);
        }
        for (index, item) in module.items.iter().enumerate() {
            let Some((_, name)) = named(item).filter(|(visibility, _)| is_public(visibility))
            else {
                continue;
            };
            let target = Target::Item(Definition {
                place: place.clone(),
                index,
                name: name.to_string(),
            });
            self.target(&target, &format!("{path}::{name}"), &needs);
        }
        for import in module.imports.iter().filter(|import| import.is_public) {
            self.import(place, import, path, &(&needs | &import.needs));
        }
        self.within.pop();
    }

    fn import(&mut self, place: &Place, import: &Import, path: &str, needs: &Needs) {
        let targets = resolve(self.modules, place, &import.path);
        let foreign = format!("use {}", import.path.join("::"));
        let Some(name) = &import.name else {
            if targets.is_empty() {
                self.line(&format!("{path}::*"), &foreign, needs);
            }
            for target in targets {
                if let Target::Module(place) = target {
                    self.module(&place, path, needs);
                }
            }
            return;
        };
        let path = format!("{path}::{name}");
        if targets.is_empty() {
            self.line(&path, &foreign, needs);
        }
        for target in targets {
            self.target(&target, &path, needs);
        }
    }

    fn target(&mut self, target: &Target, path: &str, needs: &Needs) {
        match target {
            Target::Module(place) => {
                let own = self.modules.get(place).map(|module| &module.needs);
                let own = own.map(|own| needs | own).unwrap_or_default();
                self.line(path, "mod", &own);
                self.module(place, path, needs);
            }
            Target::Item(definition) => self.item(definition, path, needs),
        }
    }

    fn item(&mut self, definition: &Definition, path: &str, outer: &Needs) {
        let modules = self.modules;
        let Some(module) = modules.get(&definition.place) else {
            return;
        };
        let Some(item) = module.items.get(definition.index) else {
            return;
        };
        let own = conditions(attributes(item)).unwrap_or_default();
        let needs = &(outer | &module.needs) | &own;
        self.all(lines_of(item, path), &needs);

        let mut traits: BTreeSet<String> = derived(attributes(item)).into_iter().collect();
        let blocks = self.implementations.get(definition).cloned();
        for one in blocks.unwrap_or_default() {
            let own = conditions(&one.block.attrs).unwrap_or_default();
            let around = &(&needs | one.needs) | &own;
            let Some((_, name, _)) = &one.block.trait_ else {
                self.all(lines_of_impl(one.block, path), &around);
                continue;
            };
            if self.is_open(&one, &segments(name)) {
                let more = written(&(&around - &needs));
                traits.insert(format!("{}{more}", last_segment(name)));
            }
        }
        if !traits.is_empty() {
            let traits = traits.into_iter().collect::<Vec<_>>().join(", ");
            self.line(path, &format!("impls {traits}"), &needs);
        }
    }

    /// Whether the trait of an `impl` block is another crate's, or public.
    fn is_open(&self, block: &Implementation<'_>, name: &[String]) -> bool {
        let targets = resolve(self.modules, block.place, name);
        targets.iter().all(|target| {
            let Target::Item(definition) = target else {
                return true;
            };
            let module = self.modules.get(&definition.place);
            let item = module.and_then(|module| module.items.get(definition.index));
            let named = item.and_then(named);
            named.is_none_or(|(visibility, _)| is_public(visibility))
        })
    }

    fn all(&mut self, lines: Vec<Line>, outer: &Needs) {
        for line in lines {
            self.line(&line.path, &line.what, &(outer | &line.needs));
        }
    }

    fn line(&mut self, path: &str, what: &str, needs: &Needs) {
        self.lines
            .insert(format!("{path} {what}{}", written(needs)));
    }
}

fn written(needs: &Needs) -> String {
    needs.iter().map(|need| format!(" #[{need}]")).collect()
}
