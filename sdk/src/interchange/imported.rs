//! What comes from elsewhere: no word of its own about trust, state or history is taken over.

use crate::{
    domain::{LibraryChange, Origin, Provenance, Skill, Source, State, Taint, Trust},
    error::Result,
    format::SkillMd,
    id::{SkillId, Version, sha256_hex},
    library::SkillLibrary,
};

/// A skill from elsewhere as it may be added: in version 1, imported, without parents, runs or a model it was proven on,
/// tainted unless the host trusts the source. One that is offered there is active, so that the fold quarantines it; one
/// that is not stays as it is.
///
/// Its id follows from the source and the skill, so adding the same thing of the same source a second time changes
/// nothing.
///
/// # Errors
/// `Invalid` for a skill that no SKILL.md can hold: hidden characters, lengths, sizes.
///
/// ```
/// use journeyman::{
///     domain::{Origin, Source, State, Trust},
///     interchange::imported,
///     testing::sample,
/// };
///
/// let theirs = sample::skill("brew");
/// assert_eq!(theirs.provenance.origin, Origin::Human);
/// let source = Source { name: "a friend".into(), trust: Trust::Untrusted };
/// let ours = imported(theirs, &source)?;
/// assert_eq!(ours.provenance.origin, Origin::Imported);
/// assert_ne!(ours.id.as_str(), "brew");
/// # Ok::<(), journeyman::Error>(())
/// ```
pub fn imported(mut skill: Skill, source: &Source) -> Result<Skill> {
    skill.version = Version(1);
    skill.parents.clear();
    skill.proven_on = None;
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
    file.parts()?;
    let mut content = format!("{}\0{}", source.name, file.write()?);
    for (path, file) in &skill.files {
        content.push_str(&format!("\0{path}\0{}", file.sha256));
    }
    let hash = sha256_hex(content);
    skill.id = SkillId::new(format!("in-{}", &hash[..16]));
    Ok(skill)
}

/// What a library from elsewhere would bring: its skills that are offered now, [`imported`]. Nothing of its evidence,
/// states or history comes along.
///
/// # Errors
/// As [`imported`].
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
