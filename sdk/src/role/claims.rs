//! Field names that claim more than a role may decide.

/// Words in a field name that claim more than a role may decide: a skill's identity, permissions or state.
const NO_SAY: [&str; 49] = [
    "activate",
    "active",
    "allow",
    "allowed",
    "archive",
    "delete",
    "deleted",
    "demote",
    "disable",
    "disabled",
    "enable",
    "enabled",
    "erase",
    "file",
    "files",
    "forget",
    "grant",
    "id",
    "ids",
    "install",
    "license",
    "merge",
    "meta",
    "metadata",
    "origin",
    "overwrite",
    "permission",
    "permissions",
    "promote",
    "provenance",
    "quarantine",
    "release",
    "released",
    "remove",
    "rename",
    "replace",
    "script",
    "scripts",
    "skills",
    "state",
    "status",
    "taint",
    "tainted",
    "tier",
    "tools",
    "trust",
    "trusted",
    "utility",
    "version",
];

/// Such names written without a gap between words.
const CLAIMS: [&str; 5] = [
    "allowedtools",
    "skillid",
    "skillids",
    "deleteskill",
    "deleteskills",
];
/// Fields that a refined skill keeps and that the role refine cannot change.
const RENAMES: [&str; 7] = [
    "name",
    "title",
    "kind",
    "type",
    "scope",
    "skill_name",
    "new_name",
];

/// Whether a field claims more than the role may decide. Other fields, such as `confidence` or `notes`, are ignored.
pub(super) fn has_no_say(key: &str, fields: &[&str]) -> bool {
    let mends = fields.contains(&"change");
    let renames = mends && RENAMES.contains(&key);
    let claims = |word: &str| NO_SAY.contains(&word);
    renames || key.split('_').any(claims) || CLAIMS.contains(&key.replace('_', "").as_str())
}
