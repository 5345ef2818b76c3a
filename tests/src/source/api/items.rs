//! The lines of one item and of one `impl` block.

use std::iter;

use syn::{
    Fields, FnArg, Generics, ImplItem, Item, ItemImpl, ItemStruct, ItemTrait, Pat, Signature,
    TraitItem, Variant,
};

use super::{
    modules::{attributes, is_public},
    print::{Needs, conditions, marks, printed},
};

/// A line of the list, before it is written.
pub(super) struct Line {
    pub(super) path: String,
    pub(super) what: String,
    /// The item's own conditions, without those around it.
    pub(super) needs: Needs,
}

/// The lines of an item and of what is declared in it. Its own conditions are not in them.
pub(super) fn lines_of(item: &Item, path: &str) -> Vec<Line> {
    let marks = marks(attributes(item));
    let whole = |what: String| Line {
        path: path.to_owned(),
        what: format!("{marks}{what}"),
        needs: Needs::new(),
    };
    match item {
        Item::Const(item) => vec![whole(format!("const: {}", printed(&item.ty)))],
        Item::Static(item) => vec![whole(format!("static: {}", printed(&item.ty)))],
        Item::Fn(item) => vec![whole(signature(&item.sig))],
        Item::Type(item) => {
            let left = generics(&item.generics);
            vec![whole(format!("type{left} = {}", printed(&item.ty)))]
        }
        Item::Struct(item) => {
            let first = whole(structure(item));
            iter::once(first)
                .chain(fields(&item.fields, path))
                .collect()
        }
        Item::Enum(item) => {
            let first = whole(format!("enum{}", generics(&item.generics)));
            let variants = item.variants.iter();
            let variants = variants.filter_map(|one| variant(one, path));
            iter::once(first).chain(variants).collect()
        }
        Item::Trait(item) => {
            let first = whole(header(item));
            let items = item.items.iter();
            let items = items.filter_map(|one| trait_item(one, path));
            iter::once(first).chain(items).collect()
        }
        Item::Macro(item) => {
            let name = printed(&item.mac.path);
            vec![whole(format!("made by {name}!, not read"))]
        }
        _ => vec![whole("an item of another kind".to_owned())],
    }
}

/// The public functions and constants of an `impl` block without a trait.
pub(super) fn lines_of_impl(block: &ItemImpl, path: &str) -> Vec<Line> {
    let bounds = match generics(&block.generics) {
        none if none.is_empty() => none,
        bounds => format!(" in impl{bounds}"),
    };
    let lines = block.items.iter().filter_map(|item| {
        let (attributes, visibility, name, what) = match item {
            ImplItem::Fn(item) => {
                let what = signature(&item.sig);
                (&item.attrs, &item.vis, &item.sig.ident, what)
            }
            ImplItem::Const(item) => {
                let what = format!("const: {}", printed(&item.ty));
                (&item.attrs, &item.vis, &item.ident, what)
            }
            _ => return None,
        };
        let needs = conditions(attributes).filter(|_| is_public(visibility))?;
        Some(Line {
            path: format!("{path}::{name}"),
            what: format!("{}{what}{bounds}", marks(attributes)),
            needs,
        })
    });
    lines.collect()
}

fn structure(item: &ItemStruct) -> String {
    let kind = match &item.fields {
        Fields::Named(_) => "struct",
        Fields::Unnamed(_) => "tuple struct",
        Fields::Unit => "unit struct",
    };
    let is_open = item.fields.iter().all(|field| is_public(&field.vis));
    let rest = if is_open { "" } else { " with private fields" };
    format!("{kind}{}{rest}", generics(&item.generics))
}

/// The public fields of a struct.
fn fields(fields: &Fields, path: &str) -> Vec<Line> {
    let fields = fields.iter().enumerate();
    let fields = fields.filter(|(_, field)| is_public(&field.vis));
    fields
        .filter_map(|(place, field)| {
            let name = field.ident.as_ref().map(ToString::to_string);
            let name = name.unwrap_or_else(|| place.to_string());
            Some(Line {
                path: format!("{path}::{name}"),
                what: format!("field {}", printed(&field.ty)),
                needs: conditions(&field.attrs)?,
            })
        })
        .collect()
}

fn variant(variant: &Variant, path: &str) -> Option<Line> {
    let fields = variant.fields.iter().map(|field| {
        let name = field.ident.as_ref();
        let name = name.map(|name| format!("{name}: ")).unwrap_or_default();
        format!("{name}{}", printed(&field.ty))
    });
    let fields = fields.collect::<Vec<_>>().join(", ");
    let fields = match &variant.fields {
        Fields::Named(_) => format!(" {{ {fields} }}"),
        Fields::Unnamed(_) => format!("({fields})"),
        Fields::Unit => fields,
    };
    Some(Line {
        path: format!("{path}::{}", variant.ident),
        what: format!("{}variant{fields}", marks(&variant.attrs)),
        needs: conditions(&variant.attrs)?,
    })
}

fn header(item: &ItemTrait) -> String {
    let safety = item.unsafety.map(|_| "unsafe ").unwrap_or_default();
    let above = match printed(&item.supertraits) {
        none if none.is_empty() => none,
        above => format!(": {above}"),
    };
    let (parameters, clause) = (printed(&item.generics), clause(&item.generics));
    format!("{safety}trait{parameters}{above}{clause}")
}

fn trait_item(item: &TraitItem, path: &str) -> Option<Line> {
    let (attributes, name, what) = match item {
        TraitItem::Fn(item) => {
            let kind = match item.default {
                Some(_) => "provided",
                None => "required",
            };
            let what = format!("{kind} {}", signature(&item.sig));
            (&item.attrs, &item.sig.ident, what)
        }
        TraitItem::Type(item) => {
            let bounds = match printed(&item.bounds) {
                none if none.is_empty() => none,
                bounds => format!(": {bounds}"),
            };
            let what = format!("type{}{bounds}", generics(&item.generics));
            (&item.attrs, &item.ident, what)
        }
        TraitItem::Const(item) => {
            let what = format!("const: {}", printed(&item.ty));
            (&item.attrs, &item.ident, what)
        }
        _ => return None,
    };
    Some(Line {
        path: format!("{path}::{name}"),
        what: format!("{}{what}", marks(attributes)),
        needs: conditions(attributes)?,
    })
}

/// A function's signature as its callers see it: without the `mut` of an argument.
fn signature(signature: &Signature) -> String {
    let mut signature = signature.clone();
    signature.inputs.pop_punct();
    for input in &mut signature.inputs {
        match input {
            FnArg::Receiver(own) => {
                own.attrs.clear();
                if own.reference.is_none() {
                    own.mutability = None;
                }
            }
            FnArg::Typed(argument) => {
                argument.attrs.clear();
                if let Pat::Ident(name) = &mut *argument.pat {
                    name.mutability = None;
                }
            }
        }
    }
    printed(&signature)
}

fn generics(generics: &Generics) -> String {
    format!("{}{}", printed(generics), clause(generics))
}

fn clause(generics: &Generics) -> String {
    match printed(&generics.where_clause) {
        none if none.is_empty() => none,
        clause => format!(" {clause}"),
    }
}
