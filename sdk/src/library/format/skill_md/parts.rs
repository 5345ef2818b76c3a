//! Converts between a skill and its SKILL.md. Counters and evidence stay in the store, so that a person's diff is clean.

use std::collections::BTreeMap;

use crate::{
    domain::{Kind, Scope, Skill, SkillDraft, SkillName},
    error::{Error, Result},
    id::{Category, SkillId, Version},
    library::format::skill_md::{SkillMd, read::ORIGINAL_NAME, write::check_fields},
};

const ID: &str = "journeyman-id";
const KIND: &str = "journeyman-kind";
const SCOPE: &str = "journeyman-scope";
const TRIGGER: &str = "journeyman-trigger";
const SKILL: &str = "SkillMd::skill";
const NEW: &str = "Skill::new";

impl From<&Skill> for SkillMd {
    /// The file of a skill, with `journeyman-id`, and with `journeyman-original-name`, `journeyman-kind`,
    /// `journeyman-scope` (`category:<name>`) and `journeyman-trigger` where they are not the default.
    fn from(skill: &Skill) -> Self {
        let mut metadata = skill.metadata.clone();
        for key in [ORIGINAL_NAME, KIND, SCOPE, TRIGGER] {
            metadata.remove(key);
        }
        let mut put = |key: &str, value: String| metadata.insert(key.to_owned(), value);
        put(ID, skill.id.as_str().to_owned());
        if let Some(name) = &skill.original_name {
            put(ORIGINAL_NAME, name.clone());
        }
        match skill.kind {
            Kind::Workflow => None,
            Kind::Function => put(KIND, "function".to_owned()),
            Kind::Knowledge => put(KIND, "knowledge".to_owned()),
        };
        if let Scope::Category(category) = &skill.scope {
            put(SCOPE, format!("category:{category}"));
        }
        if let Some(trigger) = &skill.trigger {
            put(TRIGGER, trigger.clone());
        }
        Self {
            name: skill.name.clone(),
            description: skill.description.clone(),
            license: skill.license.clone(),
            compatibility: skill.compatibility.clone(),
            metadata,
            allowed_tools: skill.allowed_tools.clone(),
            body: skill.body.clone(),
        }
    }
}

impl Skill {
    /// A skill that a host writes in code: a workflow that applies everywhere, active, in version 1, of
    /// [`Origin::Seed`](crate::domain::Origin::Seed), whose id is its name.
    ///
    /// ```
    /// use journeyman::domain::{Skill, SkillName, State};
    ///
    /// let name = SkillName::new("verify-first")?;
    /// let skill = Skill::new(name, "Verify the customer before closing.", "Call verify, then close.\n")?;
    /// assert_eq!((skill.id.as_str(), skill.state), ("verify-first", State::Active));
    /// # Ok::<(), journeyman::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Invalid`, with the `field`, for what no SKILL.md may hold: a description that has not 1 to 1,024 characters or begins or ends
    /// with blank space, a body of more than 1 MiB or with carriage returns, and hidden characters.
    pub fn new(
        name: SkillName,
        description: impl Into<String>,
        body: impl Into<String>,
    ) -> Result<Self> {
        let file = SkillMd {
            name,
            description: description.into(),
            license: None,
            compatibility: None,
            metadata: BTreeMap::new(),
            allowed_tools: Vec::new(),
            body: body.into(),
        };
        check_fields(&file, NEW)?;
        file.skill()
    }

    /// Makes a skill that a host ships from the text of its SKILL.md: active, of
    /// [`Origin::Seed`](crate::domain::Origin::Seed), without other files. Its id is `journeyman-id` of the metadata, or its
    /// name. Its version is the whole number at the beginning of `version` of the metadata (`"2"`, `"2.1"`), or 1. The file is
    /// read leniently; `read_skills` of journeyman-disk reads folders.
    ///
    /// # Errors
    /// `Invalid`, with the place, for a file that is no SKILL.md.
    ///
    /// ```
    /// use journeyman::domain::Skill;
    ///
    /// let text = "---\nname: verify-first\ndescription: Verify the customer before closing.\n---\nCall verify, then close.\n";
    /// let skill = Skill::from_skill_md(text)?;
    /// assert_eq!(skill.id.as_str(), "verify-first");
    /// assert_eq!(skill.body.trim(), "Call verify, then close.");
    /// # Ok::<(), journeyman::Error>(())
    /// ```
    pub fn from_skill_md(text: &str) -> Result<Self> {
        SkillMd::read(text, None)?.0.skill()
    }
}

impl SkillMd {
    /// The metadata keys that Journeyman reads and writes; it ignores all other `journeyman-` keys.
    pub const OWN_KEYS: [&'static str; 7] = [
        ID,
        ORIGINAL_NAME,
        KIND,
        SCOPE,
        TRIGGER,
        Self::SHIPPED,
        Self::REFUSED,
    ];

    /// The key of the reason why a draft was not released
    /// (`papers::hisme::RefinePolicy::keep_drafts`). It stays in the metadata.
    pub const REFUSED: &'static str = "journeyman-refused";

    /// The key of the version in which a host added the skill ([`Journeyman::add`](crate::run::Journeyman::add)): a library's
    /// own number may be a later one. It stays in the metadata.
    pub const SHIPPED: &'static str = "journeyman-shipped";

    /// The skill's id, where Journeyman wrote the file.
    pub fn id(&self) -> Option<SkillId> {
        self.metadata.get(ID).map(SkillId::new)
    }

    /// Makes a skill of the host's own file ([`Skill::from_skill_md`]). Journeyman's own keys leave the metadata and become fields.
    /// State, provenance and taint are in the store, never in the file.
    ///
    /// # Errors
    /// `Invalid` where one of those keys has a value that no writer gives it.
    pub fn skill(&self) -> Result<Skill> {
        let mut metadata = self.metadata.clone();
        let id = metadata.remove(ID).map(SkillId::new);
        if id.as_ref().is_some_and(|id| id.as_str().is_empty()) {
            return Err(unknown(
                ID,
                "the id that the library gave the skill, or no such key",
            ));
        }
        let kind = match metadata.remove(KIND).as_deref() {
            None | Some("workflow") => Kind::Workflow,
            Some("function") => Kind::Function,
            Some("knowledge") => Kind::Knowledge,
            Some(_) => return Err(unknown(KIND, "`function`, `workflow` or `knowledge`")),
        };
        let scope = match metadata.remove(SCOPE).as_deref() {
            None | Some("general") => Scope::General,
            Some(text) => match text.strip_prefix("category:") {
                Some(category) if !category.is_empty() => Scope::Category(Category::from(category)),
                _ => return Err(unknown(SCOPE, "`general` or `category:<name>`")),
            },
        };
        let title = metadata.remove(ORIGINAL_NAME);
        let trigger = metadata.remove(TRIGGER);
        let version = version_of(&metadata);
        let draft = SkillDraft {
            title: title.unwrap_or_else(|| self.name.as_str().to_owned()),
            description: self.description.clone(),
            kind,
            scope,
            trigger,
            body: self.body.clone(),
            metadata,
        };
        let skill = Skill::of_draft(self.name.clone(), draft);
        let id = id.unwrap_or_else(|| skill.id.clone());
        let mut skill = skill.with_id(id).with_version(version);
        skill.allowed_tools = self.allowed_tools.clone();
        skill.license = self.license.clone();
        skill.compatibility = self.compatibility.clone();
        Ok(skill)
    }
}

/// The whole number at the beginning of `version`, at least 1.
fn version_of(metadata: &BTreeMap<String, String>) -> Version {
    let number = metadata.get("version").map_or("", String::as_str);
    let digits = number.trim_start_matches(['v', ' ']);
    let end = digits.find(|c: char| !c.is_ascii_digit());
    let version = digits[..end.unwrap_or(digits.len())].parse().unwrap_or(1);
    Version(std::cmp::max(version, 1))
}

fn unknown(key: &'static str, wanted: &str) -> Error {
    Error::invalid(SKILL, format!("`{key}` is not understood"))
        .with("field", key)
        .hint(format!("use {wanted}"))
}
