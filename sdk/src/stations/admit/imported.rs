//! Import of skills and libraries from other systems. Their own claims about trust, state and history are dropped.

use crate::{
    domain::{LibraryChange, Origin, Provenance, Skill, Source, State, Taint, Trust},
    error::Result,
    id::{SkillId, Version, sha256_hex},
    library::{SkillLibrary, format::SkillMd},
};

/// Prepares a skill of another system for [`LibraryChange::Add`]: version 1, origin `Imported`, no parents, runs, tasks or
/// model that it was proven on, and tainted unless the host trusts the source. A skill that was on offer there becomes
/// active, and the library's fold then quarantines it; any other state is kept.
///
/// The id is a hash of the source and the skill, so a second import of the same skill from the same source changes
/// nothing.
///
/// # Errors
/// `Invalid` for a skill that no SKILL.md can hold: hidden characters, lengths, sizes.
///
/// ```
/// use journeyman::{stations::admit::imported, domain::{Origin, Source, State, Trust}, testing::sample};
///
/// let theirs = sample::skill("brew");
/// assert_eq!(theirs.provenance.origin, Origin::Human);
/// let source = Source::new("a friend", Trust::Untrusted);
/// let ours = imported(theirs, &source)?;
/// assert_eq!(ours.provenance.origin, Origin::Imported);
/// assert_ne!(ours.id.as_str(), "brew");
/// # Ok::<(), journeyman::Error>(())
/// ```
pub fn imported(mut skill: Skill, source: &Source) -> Result<Skill> {
    skill.version = Version(1);
    skill.parents.clear();
    skill.provenance = Provenance {
        origin: Origin::Imported,
        runs: Vec::new(),
        tasks: Vec::new(),
    };
    skill.taint = match source.trust {
        Trust::Trusted => Taint::Clean,
        Trust::Untrusted => Taint::Tainted,
    };
    if skill.state.is_offered() {
        skill.state = State::Active;
    }
    let file = SkillMd::from(&skill);
    file.skill()?;
    let mut content = format!("{}\0{}", source.name, file.write()?);
    for (path, file) in &skill.files {
        content.push_str(&format!("\0{path}\0{}", file.sha256));
    }
    let hash = sha256_hex(content);
    skill.id = SkillId::new(format!("in-{}", &hash[..16]));
    Ok(skill)
}

/// The changes that add another library's skills: those on offer there now, each [`imported`]. The other library's
/// evidence, states and history are left out.
///
/// # Errors
/// As [`imported`].
///
/// ```
/// use journeyman::{
///     stations::admit::offered,
///     domain::{LibraryChange, Source, State, Trust},
///     library::SkillLibrary,
///     testing::sample,
/// };
///
/// let add = |skill| LibraryChange::Add(Box::new(skill));
/// let mut retired = sample::skill("grind");
/// retired.state = State::Archived;
/// let changes = vec![add(sample::skill("brew")), add(retired)];
/// let theirs = SkillLibrary::replay(&[sample::committed(1, changes)])?;
///
/// let source = Source::new("a friend", Trust::Untrusted);
/// assert_eq!(offered(&theirs, &source)?.len(), 1);
/// # Ok::<(), journeyman::Error>(())
/// ```
pub fn offered(library: &SkillLibrary, source: &Source) -> Result<Vec<LibraryChange>> {
    library
        .entries()
        .filter(|entry| entry.skill.state.is_offered())
        .map(|entry| {
            let skill = imported(entry.skill.clone(), source)?;
            Ok(LibraryChange::Add(Box::new(skill)))
        })
        .collect()
}
