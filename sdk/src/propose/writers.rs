//! Our writers, and the names under which a recipe names them.

use std::num::{NonZeroU32, NonZeroUsize};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{
    contract::RoleTask,
    domain::{Role, Skill, SkillRef, Verdict},
    error::Result,
    policy::{Ask, PolicyOptions, View, WriteGroup, WriteProgram, Written},
    report::AttemptReport,
};

/// Writes one skill from the successful attempts of the group (ARISE D.1): the writer `summarize`.
///
/// ```
/// use std::num::NonZeroUsize;
///
/// use journeyman::{propose::Summarize, recipe};
///
/// let mut recipe = recipe::standard();
/// recipe.write.by = Summarize { shown_chars: NonZeroUsize::new(800), ..Summarize::default() }.into();
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Summarize {
    /// How much of each attempt the role is shown, in characters; at most what the role itself shows (its `shown-chars`). The
    /// paper, and [`recipe::arise`](crate::recipe::arise): 400. Ours: `None`, as much as the role shows, since an attempt by
    /// native tool calls takes more, and what was refused would be cut off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown_chars: Option<NonZeroUsize>,
    /// Whether an attempt without a call becomes a skill, too, where no answer can be read: the beginning of what the agent wrote, as
    /// the paper has it for mathematics ("Solve by: ..."). It holds the values of its task. Ours: no.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub keeps_reasoning: bool,
}

/// Writes several candidates from the best attempt (HiSME 3.2): the writer `extract`.
///
/// ```
/// use std::num::NonZeroU32;
///
/// use journeyman::{propose::Extract, recipe};
///
/// let mut recipe = recipe::standard();
/// recipe.write.by = Extract { candidates: NonZeroU32::MIN, failures: false }.into();
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extract {
    /// Number of candidates. The paper: 3.
    pub candidates: NonZeroU32,
    /// Whether they are extracted from a failed attempt too, where none of the group succeeded. The paper: yes. Ours: no,
    /// since a failed attempt has no test case that the skill could pass.
    pub failures: bool,
}

/// Has a curator look after the library (SkillOS, architecture): the writer `curate`. After each task the curator is shown an
/// attempt, the judge's verdict on it and the skills that were retrieved, and inserts, updates and deletes skills
/// ([`CurateCall`](crate::propose::CurateCall)). It is asked about failed attempts too, and about those that no judge could
/// decide. Of several attempts it is shown the best. Every call is checked against the library as the calls before it leave it,
/// when it is the task's turn to change the library; [`CurationReport`](crate::report::CurationReport) has the results.
///
/// In the paper the executor judges its own attempt; a host that wants this gives a `role::ModelJudge` of the executor's
/// model, alone or beside its own judge. Departures: a deleted skill is archived, so that nothing is lost.
/// Text of an untrusted source changes no skill that is free of it, and a new skill written from it is quarantined.
///
/// ```
/// use std::num::NonZeroU32;
///
/// use journeyman::{propose::Curate, recipe};
///
/// let mut recipe = recipe::skillos();
/// recipe.write.by = Curate { skills: NonZeroU32::new(5).expect("not 0") }.into();
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curate {
    /// Greatest number of retrieved skills that the curator is shown: the selection's candidates, the best first; where it
    /// has none, such as that of a host's own selector, the skills that were injected. Not published; here 2 in
    /// [`recipe::skillos`](crate::recipe::skillos).
    pub skills: NonZeroU32,
}

impl PolicyOptions for Summarize {
    const NAME: &'static str = "summarize";
}

impl PolicyOptions for Extract {
    const NAME: &'static str = "extract";
}

impl PolicyOptions for Curate {
    const NAME: &'static str = "curate";
}

#[async_trait]
impl WriteProgram for Summarize {
    async fn write(&self, ask: &mut Ask, _: &View, group: &WriteGroup<'_>) -> Result<Written> {
        let summarize = RoleTask::Summarize {
            attempts: group.attempts.to_vec(),
            shown_chars: self.shown_chars,
            keeps_reasoning: self.keeps_reasoning,
        };
        Ok(Written::of_roles(ask.roles(vec![summarize]).await))
    }

    fn roles(&self) -> Vec<Role> {
        vec![Role::Summarize]
    }
}

#[async_trait]
impl WriteProgram for Extract {
    async fn write(&self, ask: &mut Ask, view: &View, group: &WriteGroup<'_>) -> Result<Written> {
        let Some(attempt) = group.attempts.first() else {
            return Ok(Written::default());
        };
        let extract = |candidate| RoleTask::Extract {
            attempt: Box::new(attempt.clone()),
            candidate,
            rules: view.library().rules(Role::Extract).to_vec(),
        };
        let tasks = (0..self.candidates.get()).map(extract).collect();
        Ok(Written::of_roles(ask.roles(tasks).await))
    }

    fn roles(&self) -> Vec<Role> {
        vec![Role::Extract]
    }

    fn takes_failures(&self) -> bool {
        self.failures
    }
}

#[async_trait]
impl WriteProgram for Curate {
    async fn write(&self, ask: &mut Ask, view: &View, group: &WriteGroup<'_>) -> Result<Written> {
        let best = group.attempts.first().zip(group.reports.first());
        let Some((attempt, report)) = best else {
            return Ok(Written::default());
        };
        let curate = RoleTask::Curate {
            correct: correct(report),
            skills: self.retrieved(view, group, report),
            attempt: Box::new(attempt.clone()),
        };
        Ok(Written::of_roles(ask.roles(vec![curate]).await))
    }

    fn roles(&self) -> Vec<Role> {
        vec![Role::Curate]
    }

    fn takes_failures(&self) -> bool {
        true
    }

    fn takes_undecided(&self) -> bool {
        true
    }

    fn most_attempts(&self) -> usize {
        1
    }
}

impl Curate {
    /// The skills that were retrieved for an attempt's task, the best first: the selection's candidates; where there are none, the
    /// injected skills.
    fn retrieved(&self, view: &View, group: &WriteGroup<'_>, report: &AttemptReport) -> Vec<Skill> {
        let found: Vec<&SkillRef> = match group.candidates {
            [] => report.injected.iter().collect(),
            found => found.iter().map(|candidate| &candidate.skill).collect(),
        };
        let entries = found
            .into_iter()
            .filter_map(|skill| view.library().get(&skill.id));
        let skills = entries.map(|entry| entry.skill.clone());
        skills.take(self.skills.get() as usize).collect()
    }
}

/// Whether the attempt did its task: the agent's own word where a judge gives it beside the verdict ([`Verdict::SELF_JUDGED`]), else the verdict.
fn correct(report: &AttemptReport) -> Option<bool> {
    let own = report.parts.get(Verdict::SELF_JUDGED);
    own.map(|own| *own >= 0.5).or(report.success)
}
