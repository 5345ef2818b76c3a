//! The public API of a library, read from its sources: one line an item, sorted.
//!
//! A line is the path as a user writes it, what stands there, and the conditions under which it exists:
//!
//! - `mod`; `fn` with its signature; `const`, `static` and `type` with their types; `use` for what another crate defines;
//! - `struct`, with a line for each public field, and whether there are private ones;
//! - `enum`, with a line for each variant;
//! - `trait`, with a line for each item, `required` or `provided`;
//! - the public functions and constants of a type's `impl` blocks, `in impl<…>` where the block has parameters;
//! - `impls`, the traits that a type derives or that an `impl` block names for it, by their last segment;
//! - `#[non_exhaustive]`, `#[deprecated]`, `#[async_trait]`, and `#[cfg(…)]` with those of the modules around.
//!
//! An item that can be reached by two paths appears at each.
//!
//! Not seen:
//!
//! - Items that macros make. Where a `pub use` names one, a line says so, and functions of `impl` blocks outside the macro
//!   follow.
//!   Exported macros are not listed.
//! - The types behind the names in signatures: signatures are printed as they are written.
//! - Blanket `impl` blocks (`impl<T: A> B for T`) and those for references, tuples, `dyn` and types of other crates; the bounds
//!   and associated types of an `impl` of a trait; auto traits.
//! - The names that a wildcard re-export of another crate brings in. Discriminants, and values of constants.
//!
//! Paths are followed as far as re-exports need it; only the compiler knows whether a program that uses an item compiles.

mod items;
mod listing;
mod modules;
mod print;
mod resolve;

pub use listing::public_api;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sources: &[(&str, &str)], expect: &[&str]) {
        let lines = public_api("sample", sources.iter().copied()).unwrap();
        assert_eq!(lines, expect);
    }

    #[test]
    fn a_struct_has_its_public_fields_functions_and_traits() {
        check(
            &[(
                "lib.rs",
                "#[derive(Clone, Debug)]\n#[non_exhaustive]\npub struct Kettle<T: Copy> {\n    /// Water.\n    pub litres: T,\n    \
                 lid: bool,\n}\n\
                 impl<T: Copy> Kettle<T> {\n    pub async fn pour(&mut self, mut into: Vec<Option<&'static str>>,) -> \
                 Result<(), (u8, T)> { Ok(()) }\n    fn own(&self) {}\n}\n\
                 impl std::fmt::Display for Kettle<u8> {}\n\
                 trait Own {}\nimpl Own for Kettle<u8> {}\n",
            )],
            &[
                "sample::Kettle #[non_exhaustive] struct<T: Copy> with private fields",
                "sample::Kettle impls Clone, Debug, Display",
                "sample::Kettle::litres field T",
                "sample::Kettle::pour async fn pour(&mut self, into: Vec<Option<&'static str>>) -> Result<(), (u8, T)> \
                 in impl<T: Copy>",
            ],
        );
    }

    #[test]
    fn enums_traits_and_the_rest_have_a_line_for_each_part() {
        check(
            &[(
                "lib.rs",
                "pub enum Kind { One, Two(u8, Vec<u8>), Three { a: u8 } }\n\
                 pub trait Pours: Send + Sync {\n    type Into: ?Sized;\n    const MOST: usize;\n    fn pour(&self);\n    \
                 fn rest(self: Box<Self>) where Self: Sized {}\n}\n\
                 pub struct Id(pub u64);\npub struct Unit;\npub const MOST: [u8; 2] = [0; 2];\n\
                 pub type Done<T, E = Id> = Result<T, E>;\n\
                 pub fn boil(kettle: &dyn Fn(u8) -> u8, at: impl Iterator<Item = &'static str> + 'static) {}\n",
            )],
            &[
                "sample::Done type<T, E = Id> = Result<T, E>",
                "sample::Id tuple struct",
                "sample::Id::0 field u64",
                "sample::Kind enum",
                "sample::Kind::One variant",
                "sample::Kind::Three variant { a: u8 }",
                "sample::Kind::Two variant(u8, Vec<u8>)",
                "sample::MOST const: [u8; 2]",
                "sample::Pours trait: Send + Sync",
                "sample::Pours::Into type: ?Sized",
                "sample::Pours::MOST const: usize",
                "sample::Pours::pour required fn pour(&self)",
                "sample::Pours::rest provided fn rest(self: Box<Self>) where Self: Sized",
                "sample::Unit unit struct",
                "sample::boil fn boil(kettle: &dyn Fn(u8) -> u8, at: impl Iterator<Item = &'static str> + 'static)",
            ],
        );
    }

    #[test]
    fn re_exports_are_followed() {
        check(
            &[
                (
                    "lib.rs",
                    "mod inner;\n#[cfg(feature = \"extra\")]\npub mod extra;\npub use inner::{Id, Kind as Sort};\n\
                     pub use serde::Serialize;\n#[cfg(test)]\nmod tests;\n",
                ),
                (
                    "inner/mod.rs",
                    "pub enum Kind {}\npub(crate) struct Hidden;\nids! {\n    /// An id.\n    Id;\n}\n\
                     impl Id { pub fn text(&self) -> &str { \"\" } }\n",
                ),
                (
                    "extra.rs",
                    "pub use crate::inner::*;\npub use super::extra as again;\n",
                ),
            ],
            &[
                "sample::Id made by ids!, not read",
                "sample::Id::text fn text(&self) -> &str",
                "sample::Serialize use serde::Serialize",
                "sample::Sort enum",
                "sample::extra mod #[cfg(feature = \"extra\")]",
                "sample::extra::Kind enum #[cfg(feature = \"extra\")]",
                "sample::extra::again mod #[cfg(feature = \"extra\")]",
            ],
        );
    }
}
