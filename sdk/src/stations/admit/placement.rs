//! The place of a drafted skill in the library: a new skill, the next version of one, or none, because it is known.

use crate::{
    domain::{Origin, Skill, SkillDraft, SkillName, SkillRef, State, Taint},
    error::{Error, ErrorKind, Result},
    library::{Entry, SetBy, SkillLibrary},
    policy::Context,
    run::report::{Duplicate, Sameness},
    stations::admit::{
        AdmitPolicy, Duplicates, Identity,
        draft::{DraftSources, revision_of, skill_of},
        identity::{Compared, Meanings},
    },
};

/// The place of a drafted skill in the library.
pub(super) enum Placement {
    /// It enters.
    Enters {
        skill: Box<Skill>,
        /// Whether it is the next version of a known skill.
        revised: bool,
        /// The disabled skill that comes back with it.
        revives: Option<Same>,
    },
    /// It stays out, since this skill of the library, or of the same commit, is the same.
    Known(Same),
}

impl Placement {
    fn new(skill: Skill) -> Self {
        Self::Enters {
            skill: Box::new(skill),
            revised: false,
            revives: None,
        }
    }
}

/// A known skill that a draft is the same as.
#[derive(Debug)]
pub(crate) struct Same {
    skill: SkillRef,
    name: SkillName,
    pub(super) by: Sameness,
}

impl Same {
    fn of(known: &Skill, by: Sameness) -> Self {
        Self {
            skill: known.reference(),
            name: known.name.clone(),
            by,
        }
    }

    /// The known skill in words, as [`known_as`] has it.
    pub(crate) fn known_as(&self, library: &SkillLibrary) -> String {
        known_as(library, &self.skill, &self.name)
    }

    pub(super) fn report(self) -> Duplicate {
        Duplicate {
            skill: self.skill,
            by: self.by,
            confirms: false,
        }
    }
}

/// A drafted skill, compared with known ones.
struct Placing<'a> {
    context: &'a Context<'a>,
    policy: &'a AdmitPolicy,
    sources: &'a DraftSources<'a>,
    coming: &'a [&'a Skill],
    compared: Compared,
    identity: Identity,
}

/// Places the skill that a draft makes, by the policy for duplicates. `coming` are the skills that enter with the same commit.
///
/// # Errors
/// `Model` for a draft that is not [`insert_ready`](super::insert_ready); `Conflict` where a run may not bring the skill back.
pub(super) fn place(
    (context, policy): (&Context<'_>, &AdmitPolicy),
    sources: &DraftSources<'_>,
    draft: &SkillDraft,
    fallback: bool,
    coming: &[&Skill],
) -> Result<Placement> {
    let skill = skill_of(context, policy, sources, draft, fallback)?;
    let placing = Placing {
        context,
        policy,
        sources,
        coming,
        compared: Compared::of_skill(&skill, sources.terms.clone()),
        identity: match policy.identity {
            // An abstracted trace of calls says what was called and no more: a skill that has the same called is the same.
            Identity::Meaning { .. } if fallback && !sources.terms.is_empty() => {
                Identity::Meaning { least: 0.0 }
            }
            identity => identity,
        },
    };
    let library = context.library;
    if let Some(out) = out_by_host(
        library,
        &placing.identity,
        &placing.compared,
        sources.meanings,
    ) {
        return Ok(Placement::Known(out));
    }
    if let Some(retired) = placing.retired(&skill) {
        return Ok(placing.returned(retired, skill));
    }
    if !fallback && let Some(known) = placing.abstracted(&skill) {
        return Ok(Placement::Enters {
            skill: Box::new(revision_of(&known.skill, skill)),
            revised: true,
            revives: None,
        });
    }
    match policy.duplicates {
        // All abstracted traces have the same title, which therefore identifies none of them.
        Duplicates::Add | Duplicates::Revise if fallback => Ok(placing.enter_unless_known(skill)),
        Duplicates::Add => Ok(Placement::new(skill)),
        Duplicates::Distinct => Ok(placing.enter_or_revive(skill)),
        Duplicates::Revise => placing.revise(skill),
    }
}

impl Placing<'_> {
    /// How a known skill is the same as the draft, if it is.
    fn same(&self, known: &Skill) -> Option<Same> {
        let (identity, meanings) = (&self.identity, self.sources.meanings);
        let by = self
            .compared
            .same(identity, meanings, (self.context.library, known))?;
        Some(Same::of(known, by))
    }

    /// The skills that enter with the same commit, then those of the library.
    fn known(&self) -> impl Iterator<Item = &Skill> {
        let entries = self.context.library.entries().map(|entry| &entry.skill);
        self.coming.iter().copied().chain(entries)
    }

    /// The skill that is the same, if the retirement of its run disabled it and no other one is the same.
    fn retired(&self, skill: &Skill) -> Option<(&Entry, Same)> {
        let mut coming = self.coming.iter();
        if coming.any(|known| self.same(known).is_some()) {
            return None;
        }
        let entries = self.context.library.entries();
        let mut retired = None;
        for entry in entries {
            let Some(same) = self.same(&entry.skill) else {
                continue;
            };
            if !entry.is_out_by_retirement() {
                return None;
            }
            if entry.skill.taint <= skill.taint && !self.is_coming(entry) {
                retired = Some((entry, same));
            }
        }
        retired
    }

    /// The abstracted trace whose place a written skill takes: both have the same called, and no written one is the same. Where
    /// skills are compared by bytes, or doubles are let in, there is none.
    fn abstracted(&self, skill: &Skill) -> Option<&Entry> {
        let by_meaning = matches!(self.identity, Identity::Meaning { .. });
        if !by_meaning || self.policy.duplicates == Duplicates::Add || self.sources.terms.is_empty()
        {
            return None;
        }
        let is_trace = |known: &Skill| known.provenance.origin == Origin::TraceAbstract;
        if self
            .known()
            .any(|known| !is_trace(known) && self.same(known).is_some())
        {
            return None;
        }
        let library = self.context.library;
        let of_calls = Identity::Meaning { least: 0.0 };
        library.entries().find(|entry| {
            let known = &entry.skill;
            let compared = || {
                self.compared
                    .same(&of_calls, self.sources.meanings, (library, known))
            };
            is_trace(known)
                && known.state.is_offered()
                && known.taint.max(skill.taint) == Taint::Clean
                && !self.is_coming(entry)
                && compared().is_some()
        })
    }

    /// Whether another draft of the same commit is the next version of this skill.
    fn is_coming(&self, entry: &Entry) -> bool {
        self.coming.iter().any(|known| known.id == entry.skill.id)
    }

    /// Places a skill as the next version of the one that was disabled with its run. What the run had it from does not count.
    fn returned(&self, (known, same): (&Entry, Same), skill: Skill) -> Placement {
        Placement::Enters {
            skill: Box::new(revision_of(&known.skill, skill)),
            revised: true,
            revives: Some(same),
        }
    }

    /// Places a skill as the next version of the skill of its title, if there is one.
    ///
    /// # Errors
    /// `Conflict` if that skill, or one that means the same, was taken out of use.
    fn revise(&self, skill: Skill) -> Result<Placement> {
        let is_out = |known: &Skill| {
            let retired = self.context.library.get(&known.id);
            let retired = retired.is_some_and(Entry::is_out_by_retirement);
            !retired && matches!(known.state, State::Disabled | State::Archived)
        };
        let out = |what: &str, why: String| {
            let message = format!("a skill {what} was taken out of use: {why}");
            Err(Error::new(ErrorKind::Conflict, "admission::place", message))
        };
        if self.policy.identity != Identity::Bytes {
            let known = self.known().filter(|known| known.taint <= skill.taint);
            let same = known.filter_map(|known| Some((is_out(known), self.same(known)?)));
            // One that is in use comes before one that is not.
            match same.min_by_key(|(is_out, _)| *is_out) {
                Some((true, same)) if same.by == Sameness::Meaning => {
                    return out("that means the same", same.known_as(self.context.library));
                }
                Some((_, same)) => return Ok(Placement::Known(same)),
                None => {}
            }
        }
        let Some(known) = same_title(self.context, &skill.name) else {
            return Ok(Placement::new(skill));
        };
        // What a person took out of use stays as it is, and keeps no other skill of its title out.
        let library = self.context.library;
        let known = match library.get(&known.id) {
            Some(entry) if entry.is_out_by_host() => {
                let mut others = library
                    .entries()
                    .filter(|other| other.added_at > entry.added_at);
                let in_use = |other: &&Entry| {
                    other.skill.state.is_offered() && is_numbered(&other.skill, &skill)
                };
                match others.find(in_use) {
                    Some(other) => &other.skill,
                    None => return Ok(self.enter_unless_known(skill)),
                }
            }
            _ => known,
        };
        if let Some(same) = self.same(known) {
            return Ok(Placement::Known(same));
        }
        if is_out(known) {
            return out(
                "of this title",
                known_as(library, &known.reference(), &known.name),
            );
        }
        // A person's skill, a cleaner one and an abstracted trace are not overwritten, nor a tainted one in use, whose next version
        // would wait in quarantine: the new one becomes a skill of its own.
        let origin = known.provenance.origin;
        let keeps = matches!(origin, Origin::Human | Origin::TraceAbstract)
            || known.taint == Taint::Tainted && known.state.is_offered();
        if keeps || self.sources.taint > known.taint {
            return Ok(self.enter_unless_known(skill));
        }
        Ok(Placement::Enters {
            skill: Box::new(revision_of(known, skill)),
            revised: true,
            revives: None,
        })
    }

    /// Places a skill as one of its own, unless a skill of the library or of the same commit is the same. A tainted skill does
    /// not keep a clean one that is the same out.
    fn enter_unless_known(&self, skill: Skill) -> Placement {
        let mut known = self.known().filter(|known| known.taint <= skill.taint);
        match known.find_map(|known| self.same(known)) {
            Some(same) => Placement::Known(same),
            None => Placement::new(skill),
        }
    }

    /// Places a skill as one of its own, unless a skill of the library or of the same commit is the same. If a run disabled that
    /// skill and the draft comes from another task, it is revived as its own next version; if the host disabled it, it stays
    /// disabled.
    fn enter_or_revive(&self, skill: Skill) -> Placement {
        let mut coming = self.coming.iter();
        if let Some(same) = coming.find_map(|known| self.same(known)) {
            return Placement::Known(same);
        }
        let entries = self.context.library.entries();
        let known: Vec<(&Entry, Same)> = entries
            .filter_map(|entry| Some((entry, self.same(&entry.skill)?)))
            .collect();
        let in_use = |(entry, _): &(&Entry, Same)| entry.skill.state.is_offered();
        let first = known.iter().position(in_use).unwrap_or_default();
        let Some((known, same)) = known.into_iter().nth(first) else {
            return Placement::new(skill);
        };
        let earlier = &known.skill.provenance.tasks;
        let mut tasks = skill.provenance.tasks.iter();
        let revive = self.policy.revive && may_be_revived(known) && skill.taint == Taint::Clean;
        if !revive || tasks.all(|task| earlier.contains(task)) {
            return Placement::Known(same);
        }
        let mut revived = revision_of(&known.skill, skill);
        let mut tasks = earlier.clone();
        tasks.append(&mut revived.provenance.tasks);
        revived.provenance.tasks = tasks;
        Placement::Enters {
            skill: Box::new(revived),
            revised: true,
            revives: Some(same),
        }
    }
}

/// How alike a draft has to be to a skill that a person took out of use, so that it counts as that skill. Two texts that call the
/// same tool need a cosine of 0.2 here, and of 0.35 among skills in use ([`Identity::MEANING`]): a refused draft is reported, but
/// nobody would notice a skill that came back.
const OUT: Identity = Identity::Meaning { least: 0.2 };

/// The skill that the host, or a person, took out of use and that means the same, whatever the identity of the recipe: what a
/// person decided does not come back in other words.
pub(crate) fn out_by_host(
    library: &SkillLibrary,
    identity: &Identity,
    compared: &Compared,
    meanings: &Meanings,
) -> Option<Same> {
    let identity = match identity {
        Identity::Meaning { least } if *least < 0.2 => identity,
        _ => &OUT,
    };
    let out = library.entries().filter(|entry| entry.is_out_by_host());
    { out }.find_map(|entry| {
        let by = compared.same(identity, meanings, (library, &entry.skill))?;
        Some(Same::of(&entry.skill, by))
    })
}

/// A known skill for a person: its name, its state, what set it, and how it comes back where it is out of use.
pub(crate) fn known_as(library: &SkillLibrary, skill: &SkillRef, name: &SkillName) -> String {
    let Some(entry) = library.get(&skill.id) else {
        return format!("`{name}`, of the same commit");
    };
    let (name, state) = (&entry.skill.name, entry.skill.state);
    if state.is_offered() {
        return format!("`{name}`, {state}");
    }
    let by = match entry.state_set().map(|set| &set.by) {
        _ if entry.is_out_by_host() => " by the host or a person".to_owned(),
        Some(SetBy::Run(run)) => format!(" by the run {run}"),
        Some(SetBy::Retirement(run)) => format!(" with the retirement of the run {run}"),
        Some(SetBy::Host) | None => String::new(),
    };
    format!("`{name}`, {state}{by}; `journeyman skill release {name} --reason TEXT` brings it back")
}

/// Whether a run disabled the skill and a run may revive it. People decide about skills that a person wrote, that were imported
/// or that are tainted.
fn may_be_revived(entry: &Entry) -> bool {
    let Skill {
        state,
        taint,
        provenance,
        ..
    } = &entry.skill;
    let own = !matches!(provenance.origin, Origin::Human | Origin::Imported);
    let set = entry.state_set().map(|set| &set.by);
    let by_run = matches!(set, Some(SetBy::Run(_))) && !entry.is_out_by_host();
    *state == State::Disabled && by_run && own && *taint == Taint::Clean
}

/// Whether a skill has the name of another with a number behind it, as a skill of the same title gets where the name is taken.
pub(crate) fn is_numbered(known: &Skill, skill: &Skill) -> bool {
    let rest = known.name.as_str().strip_prefix(skill.name.as_str());
    let number = rest.and_then(|rest| rest.strip_prefix('-'));
    number.is_some_and(|number| number.parse::<u8>().is_ok())
        && known.original_name == skill.original_name
}

fn same_title<'a>(context: &Context<'a>, name: &SkillName) -> Option<&'a Skill> {
    context.library.by_name(name).map(|entry| &entry.skill)
}
