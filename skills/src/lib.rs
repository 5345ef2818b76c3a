//! The skills that ship with Journeyman, as texts: each is the SKILL.md of a folder of this crate.
//!
//! [`ROLES`] are the prompts of the roles that a model plays beside the agent's; the crate `journeyman` compiles them in
//! (`agent::role::GeneralRoles::shipped`). [`SEEDS`] are the skills that ARISE starts a library with (its Table 5). The folders
//! themselves can be copied and edited: each is named as its skill.
//!
//! ```
//! let skill = journeyman_skills::find("role-extract").unwrap();
//! assert!(skill.text.starts_with("---\nname: role-extract\n"));
//! assert!(skill.text.contains("{{attempt}}"));
//!
//! // A host writes the seeds into its own folder of skills.
//! # let folder = std::env::temp_dir().join(format!("journeyman-skills-{}", std::process::id()));
//! for seed in journeyman_skills::SEEDS {
//!     let place = folder.join(seed.name);
//!     std::fs::create_dir_all(&place)?;
//!     std::fs::write(place.join("SKILL.md"), seed.text)?;
//! }
//! # assert!(folder.join("equation-setup/SKILL.md").is_file());
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), std::io::Error>(())
//! ```

/// A skill of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShippedSkill {
    /// The name of the skill and of its folder, such as `role-extract`.
    pub name: &'static str,
    /// The text of its SKILL.md.
    pub text: &'static str,
}

/// The skills of the roles: one for each, and `role-refine-whole`, which refine uses where it may change all of a skill.
pub const ROLES: &[ShippedSkill] = &[
    ShippedSkill {
        name: "role-summarize",
        text: include_str!("../role-summarize/SKILL.md"),
    },
    ShippedSkill {
        name: "role-extract",
        text: include_str!("../role-extract/SKILL.md"),
    },
    ShippedSkill {
        name: "role-refactor",
        text: include_str!("../role-refactor/SKILL.md"),
    },
    ShippedSkill {
        name: "role-refine",
        text: include_str!("../role-refine/SKILL.md"),
    },
    ShippedSkill {
        name: "role-attribute",
        text: include_str!("../role-attribute/SKILL.md"),
    },
    ShippedSkill {
        name: "role-bundle",
        text: include_str!("../role-bundle/SKILL.md"),
    },
    ShippedSkill {
        name: "role-evolve",
        text: include_str!("../role-evolve/SKILL.md"),
    },
    ShippedSkill {
        name: "role-segment",
        text: include_str!("../role-segment/SKILL.md"),
    },
    ShippedSkill {
        name: "role-distil-prototype",
        text: include_str!("../role-distil-prototype/SKILL.md"),
    },
    ShippedSkill {
        name: "role-route",
        text: include_str!("../role-route/SKILL.md"),
    },
    ShippedSkill {
        name: "role-score",
        text: include_str!("../role-score/SKILL.md"),
    },
    ShippedSkill {
        name: "role-curate",
        text: include_str!("../role-curate/SKILL.md"),
    },
    ShippedSkill {
        name: "role-tag",
        text: include_str!("../role-tag/SKILL.md"),
    },
    ShippedSkill {
        name: "role-lesson",
        text: include_str!("../role-lesson/SKILL.md"),
    },
    ShippedSkill {
        name: "role-distil-bank",
        text: include_str!("../role-distil-bank/SKILL.md"),
    },
    ShippedSkill {
        name: "role-review",
        text: include_str!("../role-review/SKILL.md"),
    },
    ShippedSkill {
        name: "role-refine-whole",
        text: include_str!("../role-refine-whole/SKILL.md"),
    },
];

/// ARISE's five seeds.
pub const SEEDS: &[ShippedSkill] = &[
    ShippedSkill {
        name: "equation-setup",
        text: include_str!("../equation-setup/SKILL.md"),
    },
    ShippedSkill {
        name: "modular-arithmetic-check",
        text: include_str!("../modular-arithmetic-check/SKILL.md"),
    },
    ShippedSkill {
        name: "case-enumeration",
        text: include_str!("../case-enumeration/SKILL.md"),
    },
    ShippedSkill {
        name: "symmetry-exploitation",
        text: include_str!("../symmetry-exploitation/SKILL.md"),
    },
    ShippedSkill {
        name: "extremal-principle",
        text: include_str!("../extremal-principle/SKILL.md"),
    },
];

/// All skills of this crate.
pub fn all() -> impl Iterator<Item = ShippedSkill> {
    ROLES.iter().chain(SEEDS).copied()
}

/// The skill of this name; `None` where there is none.
pub fn find(name: &str) -> Option<ShippedSkill> {
    all().find(|skill| skill.name == name)
}
