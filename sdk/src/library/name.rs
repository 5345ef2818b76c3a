//! A free name for a skill whose name is taken.

use std::collections::BTreeSet;

use crate::domain::SkillName;

/// `asked` where it is free, else the first free of `asked-2`, `asked-3` and so on, the stem cut so that the
/// whole keeps within [`SkillName::MAX`].
pub(super) fn free_name(asked: &SkillName, taken: &BTreeSet<&str>) -> SkillName {
    if !taken.contains(asked.as_str()) {
        return asked.clone();
    }
    (2_u64..)
        .map(|number| {
            let suffix = format!("-{number}");
            let room = SkillName::MAX - suffix.len();
            let stem: String = asked.as_str().chars().take(room).collect();
            format!("{}{suffix}", stem.trim_end_matches('-'))
        })
        .find(|name| !taken.contains(name.as_str()))
        .and_then(|name| SkillName::new(name).ok())
        .unwrap_or_else(|| asked.clone())
}
