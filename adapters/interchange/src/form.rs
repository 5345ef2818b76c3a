//! The name and the version of a form that lines are exported in.

use journeyman::{Error, Result};

/// Refuses a line whose form or version is another one than is read here.
///
/// # Errors
/// `Unsupported`, naming both.
pub(super) fn known_form(
    operation: &'static str,
    found: (&str, u32),
    own: (&str, u32),
) -> Result<()> {
    if found == own {
        return Ok(());
    }
    let message = format!(
        "this is {} {}, and {} {} is read here",
        found.0, found.1, own.0, own.1
    );
    Err(Error::unsupported(operation, message).hint("export it again with this version"))
}
