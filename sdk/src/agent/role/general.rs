//! The roles for general instruct models.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};

use crate::{
    agent::role::{
        answers,
        filling::fill,
        shown,
        summarize::trace_abstract,
        template::{Purpose, Template},
        visible::Extent,
    },
    contract::{
        FailedAnswer, GenerateRequest, RoleAnswer, RoleRequest, RoleTask, Roles, SubgoalInAttempt,
        ToolChoice,
    },
    domain::{Message, Prompt, Role, Sampling, Speaker},
    error::{Error, ErrorKind, Result},
    library::format::{AriseSchema, ProblemTypes, SkillMd},
    text::{fenced, without_thinking},
};

const PROMPT: &str = "Roles::prompt";
/// The length of the part of an unreadable answer that the repair prompt repeats, in characters.
const FAILED_CHARS: usize = 2_000;
/// The greatest length of the reason in the repair prompt, in characters.
const REASON_CHARS: usize = 500;

/// Options of [`GeneralRoles`] that are not in the roles' skills.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct RoleOptions {
    /// The form of a summary: the host's problem types and the greatest lengths. Default: `general` alone, which accepts any
    /// type that a model writes, and ARISE's lengths. [`ProblemTypes::arise`] has the types of mathematics.
    pub arise: AriseSchema,
    /// Whether each request has the role's JSON Schema. A run constrains the model by it while it writes, where the model can be
    /// constrained ([`ModelCapabilities::json_schema`](crate::contract::ModelCapabilities)); any other model writes freely.
    /// Default: true. Without it every model writes freely, such as one that reasons before it answers.
    pub constrain: bool,
    /// Time limit of an answer. Default: one minute.
    pub time_limit: Duration,
}

impl Default for RoleOptions {
    fn default() -> Self {
        Self {
            arise: AriseSchema::new(ProblemTypes::general()),
            constrain: true,
            time_limit: Duration::from_secs(60),
        }
    }
}

/// The [`Roles`] of a general instruct model, each made of a skill: `role-extract` and so on.
///
/// The skill's body is the prompt, with slots such as `{{attempt}}`. The body's first block of JSON is the schema of the
/// answer and part of the prompt. `temperature`, `top-p`, `max-tokens`, `shown` (the number of attempts, rows, subgoals or
/// findings) and `shown-chars` (the greatest length of each) are in the skill's metadata. `docs/reference/roles.md` lists the slots. To
/// change a role, a host edits a copy of the shipped skill and passes it to [`GeneralRoles::with_skill`].
///
/// The filling of a slot is data in a block that it cannot close (S3, S4), and never a template. Answers are accepted where
/// their meaning is unambiguous: JSON with comments or other quotes ([`first_object`](crate::text::first_object)), an array
/// of one object, a wrapper such as `{"skill": …}`, a list without the object around it, a word in capitals. Fields for
/// comments, such as `notes`, are ignored, and a line that is too long (a rule, a reason, a description) ends behind its last
/// whole sentence or word that fits ([`Roles::notes`]). Whatever the schema says, an answer is refused, with the reason, for a
/// field that claims more than the role may decide, a body that is too long, a hidden character, a text that would end a block
/// of a later prompt, or two different objects. Calls of curate are not checked: they are read as the model wrote them.
///
/// An answer is also validated by the schema of its role's skill, which a host may make stricter with the feature `json-schema`.
/// Without the feature a skill with another schema than the shipped one is refused.
///
/// A prompt that is too long for the model's context is narrowed ([`RoleRequest::room`]): every text is shortened to a
/// quarter of `shown-chars`, where an attempt loses the results of its oldest steps first; then items are left out, those of
/// least use first, and skills beside them; then texts are shortened further. A note stands where something is left out. The
/// skill that is to be mended or reviewed, the rubric and the rules stay whole.
///
/// ```
/// use journeyman::{
///     Seed,
///     contract::{RoleAnswer, RoleRequest, RoleTask, Roles},
///     domain::Role,
///     agent::role::GeneralRoles,
/// };
///
/// let roles = GeneralRoles::shipped()?;
/// let task = RoleTask::Evolve { role: Role::Extract, rules: Vec::new(), rows: Vec::new() };
/// let request = RoleRequest::new(&task, Seed(1));
/// assert_eq!(roles.prompt(&request)?.max_tokens, 1_024);
///
/// let answer = r#"{"analysis": "Vague triggers did harm.", "summary": "Be exact.", "rules": ["1. Name the tool."]}"#;
/// let RoleAnswer::Rules(rules) = roles.read(&request, answer)? else { panic!() };
/// assert_eq!(rules[0].as_str(), "Name the tool.");
/// let error = roles.read(&request, &answer.replace("\"rules\"", "\"delete\": [], \"rules\"")).unwrap_err();
/// assert_eq!(
///     error.message(),
///     "the object has a field that this role has no say in; its fields are analysis, summary, rules"
/// );
///
/// // A role with a prompt of the host's own.
/// let mut mine = roles.skill(Role::Evolve).unwrap().clone();
/// mine.body = mine.body.replace("You improve how skills are made.", "You look after a library of recipes.");
/// let roles = roles.with_skill(&mine)?;
/// assert!(roles.prompt(&request)?.prompt.text().starts_with("You look after"));
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct GeneralRoles {
    templates: BTreeMap<Purpose, Template>,
    options: RoleOptions,
}

impl GeneralRoles {
    /// All roles, from the skills that Journeyman ships.
    ///
    /// # Errors
    /// Only in a broken build, since the skills are compiled in.
    pub fn shipped() -> Result<Self> {
        Self::from_skills(&shipped_skills()?)
    }

    /// Only the roles of these skills. A skill of a library is converted to a [`SkillMd`] by `SkillMd::from(&skill)`.
    ///
    /// # Errors
    /// `Invalid`, with the role: a skill with the name of no role, two skills of one role, an unknown or a missing slot, no
    /// schema or an unusable one, a number that is missing or out of its range.
    /// `Unsupported` for another schema than the shipped one, without the feature `json-schema`.
    pub fn from_skills(skills: &[SkillMd]) -> Result<Self> {
        let mut roles = Self {
            templates: BTreeMap::new(),
            options: RoleOptions::default(),
        };
        for skill in skills {
            if roles.templates.contains_key(&Purpose::of_skill(skill)?) {
                return Err(Error::invalid(
                    "GeneralRoles::from_skills",
                    "two skills are of one role",
                )
                .with("skill", &skill.name)
                .hint("leave one of them out"));
            }
            roles = roles.with_skill(skill)?;
        }
        Ok(roles)
    }

    /// Replaces or adds the role that this skill is named for. `role-refine-whole` is refine's other skill, for tasks that are
    /// `whole` ([`RoleTask::Refine`]); without it `role-refine` serves these, too.
    ///
    /// # Errors
    /// As [`GeneralRoles::from_skills`].
    pub fn with_skill(mut self, skill: &SkillMd) -> Result<Self> {
        let purpose = Purpose::of_skill(skill)?;
        self.templates
            .insert(purpose, Template::new(purpose, skill)?);
        Ok(self)
    }

    /// Sets the options.
    #[must_use]
    pub fn with_options(mut self, options: RoleOptions) -> Self {
        self.options = options;
        self
    }

    /// The skill of a role; `None` for a role that is not supported.
    pub fn skill(&self, role: Role) -> Option<&SkillMd> {
        let template = self.templates.get(&Purpose::Of(role));
        template.map(|template| &template.skill)
    }

    /// The skill of this name, such as `role-refine-whole`; `None` where there is none.
    pub fn skill_named(&self, name: &str) -> Option<&SkillMd> {
        let mut skills = self.templates.values().map(|template| &template.skill);
        skills.find(|skill| skill.name.as_str() == name)
    }

    fn template(&self, operation: &'static str, task: &RoleTask) -> Result<&Template> {
        let found = Purpose::of(task).find_map(|purpose| self.templates.get(&purpose));
        found.ok_or_else(|| {
            Error::unsupported(operation, "there is no skill for this role")
                .with("role", task.role())
                .hint("add the skill by `GeneralRoles::with_skill`, or switch the role off in the recipe")
        })
    }

    /// The prompt, with the extent of what it shows: the greatest one that fits into the request's room, or the least one.
    fn text(&self, template: &Template, request: &RoleRequest<'_>) -> (String, Extent) {
        let whole = Extent::of(template, request.task);
        let written = |extent: Extent| {
            let fill = |slot| fill(extent, &self.options.arise, request.task, slot);
            let mut text = template.render(fill);
            if let Some(failed) = request.failed {
                let most = FAILED_CHARS.min(extent.task / 2);
                text.push_str(&repair(failed, most));
            }
            (text, extent)
        };
        let mut last = written(whole);
        let Some(room) = request.room else {
            return last;
        };
        for extent in whole.narrower(request.task) {
            if last.0.chars().count() <= room {
                break;
            }
            // Notes of what is missing can take more than they save.
            let narrower = written(extent);
            if narrower.0.len() < last.0.len() {
                last = narrower;
            }
        }
        last
    }

    /// The schema that constrains the model.
    fn held_to(&self, template: &Template, role: Role) -> Option<Value> {
        if !self.options.constrain {
            return None;
        }
        let mut schema = template.schema.as_value().clone();
        // The skill cannot have the host's problem types.
        if role == Role::Summarize
            && let Some(types) = schema.pointer_mut("/properties/problem_type")
        {
            *types = json!({ "enum": self.options.arise.problem_types.names() });
        }
        Some(schema)
    }
}

impl Roles for GeneralRoles {
    fn plays(&self, role: Role) -> bool {
        self.templates.contains_key(&Purpose::Of(role))
    }

    fn prompt(&self, request: &RoleRequest<'_>) -> Result<GenerateRequest> {
        let (task, role) = (request.task, request.task.role());
        let template = self.template(PROMPT, task)?;
        complete(task)?;
        let (text, _) = self.text(template, request);
        let seed = match task {
            // Two candidates of one attempt need different seeds, even where the requests have the same one.
            RoleTask::Extract { candidate, .. } => {
                request.seed.derive("candidate", u64::from(*candidate))
            }
            // And so do two judgements of one subgoal.
            RoleTask::Score { repeat, .. } => request.seed.derive("repeat", u64::from(*repeat)),
            _ => request.seed,
        };
        Ok(GenerateRequest {
            prompt: Prompt {
                messages: vec![Message::data(Speaker::User, text)],
                open: Vec::new(),
            },
            sampling: Sampling {
                temperature: template.temperature,
                top_p: template.top_p,
                seed,
            },
            max_tokens: template.max_tokens,
            stop: Vec::new(),
            time_limit: self.options.time_limit,
            adapter: None,
            json_schema: self.held_to(template, role),
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            sink: None,
        })
    }

    fn read(&self, request: &RoleRequest<'_>, text: &str) -> Result<RoleAnswer> {
        const READ: &str = "Roles::read";
        let template = self.template(READ, request.task)?;
        let answer = answers::read(template, request.task, &self.options.arise, text);
        answer.map_err(|refusal| {
            Error::new(ErrorKind::Model, READ, refusal.reason).with("stage", refusal.stage)
        })
    }

    fn left_out(&self, request: &RoleRequest<'_>) -> Option<String> {
        let template = self.template(PROMPT, request.task).ok()?;
        let (_, extent) = self.text(template, request);
        let words = extent.left_out(Extent::of(template, request.task), request.task);
        Some(words).filter(|words| !words.is_empty())
    }

    fn notes(&self, request: &RoleRequest<'_>, text: &str) -> Vec<String> {
        let template = self.template("Roles::notes", request.task).ok();
        template.map_or_else(Vec::new, |template| {
            answers::notes(template, request.task, &self.options.arise, text)
        })
    }

    fn fallback(&self, task: &RoleTask) -> Option<RoleAnswer> {
        match task {
            RoleTask::Summarize {
                attempts,
                keeps_reasoning,
                ..
            } => {
                let (attempt, arise) = (attempts.first()?, &self.options.arise);
                let draft = trace_abstract(attempt, arise, *keeps_reasoning)?;
                Some(RoleAnswer::Draft(Box::new(draft)))
            }
            _ => None,
        }
    }
}

/// Checks that the request has the attempts, skills and subgoals that its role needs.
fn complete(task: &RoleTask) -> Result<()> {
    let within = |one: &SubgoalInAttempt| {
        let steps = one.attempt.trajectory.steps.len();
        one.subgoal.first <= one.subgoal.last && one.subgoal.last < steps
    };
    let lacking = match task {
        RoleTask::Attribute { attempt, skill }
            if *skill >= attempt.trajectory.injection.skills.len() =>
        {
            "the skill that is asked about did not stand in the attempt's prompt"
        }
        RoleTask::Summarize { attempts, .. } | RoleTask::Refine { attempts, .. }
            if attempts.is_empty() =>
        {
            "there is no attempt to show"
        }
        RoleTask::Refactor {
            attempts, skills, ..
        } if attempts.len() + skills.len() < 2 => "there are not two things to compare",
        RoleTask::Segment { attempt, .. } | RoleTask::Lesson { attempt }
            if attempt.trajectory.steps.is_empty() =>
        {
            "the attempt has no step"
        }
        RoleTask::DistilPrototype { members } if members.is_empty() => {
            "there is no subgoal to show"
        }
        RoleTask::DistilPrototype { members } if !members.iter().all(within) => {
            "the steps of a subgoal are not steps of its attempt"
        }
        RoleTask::Route { subgoal, .. } | RoleTask::Score { subgoal, .. } if !within(subgoal) => {
            "the steps of the subgoal are not steps of its attempt"
        }
        RoleTask::Route { prototypes, .. } if prototypes.is_empty() => {
            "there is no prototype to choose from"
        }
        RoleTask::Score {
            rubric: Some(rubric),
            ..
        } if rubric.checklist.is_empty() => "the rubric has no checklist",
        RoleTask::DistilBank { findings, .. } if findings.is_empty() => {
            "there is no pattern and no lesson to show"
        }
        _ => return Ok(()),
    };
    Err(Error::invalid(PROMPT, lacking)
        .with("role", task.role())
        .hint("ask for a role only with what it works on"))
}

/// The end of the prompt after an unreadable answer. The answer is in a block too, since not every model's template
/// separates turns.
fn repair(failed: FailedAnswer<'_>, most: usize) -> String {
    let answer = without_thinking(failed.text);
    let answer: String = answer.trim().chars().take(most).collect();
    let reason = shown::one_line(failed.reason);
    let reason: String = reason.chars().take(REASON_CHARS).collect();
    format!(
        "\n\nYou have answered once:\n{}\nThis answer cannot be used: {reason}\nAnswer again with the whole JSON object and \
         nothing else; be shorter if it was cut off.",
        fenced("answer", &answer)
    )
}

// The skills of roles that Journeyman ships.

/// All of them, in the order of [`Role::ALL`], and behind them the one that refines all of a skill.
///
/// # Errors
/// Only in a broken build, since the skills are compiled in.
pub(super) fn shipped_skills() -> Result<Vec<SkillMd>> {
    let purposes = Role::ALL.map(Purpose::Of).into_iter();
    let purposes = purposes.chain([Purpose::RefineWhole]);
    purposes.map(shipped_skill).collect()
}

fn shipped_skill(purpose: Purpose) -> Result<SkillMd> {
    let name = purpose.skill_name();
    let skill = journeyman_skills::find(&name).ok_or_else(|| {
        let message = "the role's skill is not shipped";
        Error::not_found("GeneralRoles::shipped", message)
            .with("skill", &name)
            .hint("build with the version of journeyman-skills that belongs to this one")
    })?;
    SkillMd::read_strict(skill.text, Some(&name))
}
