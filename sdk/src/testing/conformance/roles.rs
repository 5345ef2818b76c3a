//! The conformance suite of [`Roles`].

mod answers;

use self::answers::sound;
use super::report::{Report, Tried, contained, require, require_error, skip};
use crate::{
    contract::{FailedAnswer, GenerateRequest, RoleAnswer, RoleRequest, RoleTask, Roles},
    domain::{Action, RoleRule},
    error::{ErrorKind, Result},
    id::Seed,
};

/// The inputs for checking roles.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct RolesFixture {
    /// Tasks of supported roles, with sample answers; one of them a `Summarize`.
    pub played: Vec<RoleSample>,
    /// Tasks of roles that are not supported.
    pub unplayed: Vec<RoleTask>,
}

impl RolesFixture {
    /// Tasks of supported roles, with sample answers.
    pub fn new(played: Vec<RoleSample>) -> Self {
        Self {
            played,
            unplayed: Vec::new(),
        }
    }

    /// The same with tasks of roles that are not supported.
    #[must_use]
    pub fn with_unplayed(mut self, unplayed: Vec<RoleTask>) -> Self {
        self.unplayed = unplayed;
        self
    }
}

/// A task of a role, with sample outputs of a model.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct RoleSample {
    /// The task.
    pub task: RoleTask,
    /// Outputs that the role's parser must accept.
    pub readable: Vec<String>,
    /// Outputs that the role's parser must refuse; the suite adds malformed ones.
    pub unreadable: Vec<String>,
}

impl RoleSample {
    /// A task without sample outputs.
    pub fn new(task: RoleTask) -> Self {
        Self {
            task,
            readable: Vec::new(),
            unreadable: Vec::new(),
        }
    }

    /// The same with outputs that the parser must accept.
    #[must_use]
    pub fn with_readable(mut self, readable: Vec<String>) -> Self {
        self.readable = readable;
        self
    }

    /// The same with outputs that the parser must refuse.
    #[must_use]
    pub fn with_unreadable(mut self, unreadable: Vec<String>) -> Self {
        self.unreadable = unreadable;
        self
    }
}

impl RoleSample {
    fn request(&self) -> RoleRequest<'_> {
        RoleRequest::new(&self.task, Seed(11))
    }

    fn repair(&self) -> RoleRequest<'_> {
        RoleRequest {
            failed: Some(FailedAnswer {
                text: "what was written",
                reason: "what was wrong",
            }),
            ..self.request()
        }
    }
}

/// Checks roles.
pub async fn check(roles: &dyn Roles, fixture: &RolesFixture) -> Report {
    let mut report = Report::new("Roles");
    let each = |rule: fn(&dyn Roles, &RoleSample) -> Tried| {
        if fixture.played.is_empty() {
            return skip("the fixture has no tasks of supported roles");
        }
        (fixture.played.iter()).try_for_each(|sample| rule(roles, sample))
    };
    report.case("pure", each(pure));
    report.case("garbage", each(garbage));
    report.case("fits", each(fits));
    report.case("repair", each(repair));
    report.case("fallback", fallback(roles, fixture));
    report.case("room", each(room));
    report.case("unknown", unknown(roles, fixture));
    report
}

/// Parses a model's output; a panic fails the case.
fn read(roles: &dyn Roles, request: &RoleRequest<'_>, text: &str) -> Tried<Result<RoleAnswer>> {
    let what = || {
        let shown: String = text.chars().take(30).collect();
        format!("{}: reading {shown:?}", request.task.role())
    };
    contained(what, || roles.read(request, text))
}

fn same(first: &GenerateRequest, second: &GenerateRequest) -> bool {
    first.prompt == second.prompt
        && first.sampling == second.sampling
        && first.max_tokens == second.max_tokens
        && first.stop == second.stop
        && first.time_limit == second.time_limit
        && first.json_schema == second.json_schema
}

fn pure(roles: &dyn Roles, sample: &RoleSample) -> Tried {
    for request in [sample.request(), sample.repair()] {
        let (first, second) = (roles.prompt(&request)?, roles.prompt(&request)?);
        require(same(&first, &second), || {
            format!(
                "{}: expected equal prompts for equal requests, found different ones",
                sample.task.role()
            )
        })?;
    }
    let request = sample.request();
    for text in sample.readable.iter().chain(&sample.unreadable) {
        let (first, second) = (read(roles, &request, text)?, read(roles, &request, text)?);
        require(first == second, || {
            format!(
                "{}: expected equal answers for the same text, found {first:?}, then {second:?}",
                sample.task.role()
            )
        })?;
    }
    Ok(())
}

fn garbage_texts() -> Vec<String> {
    let fixed = [
        "",
        " \n\t",
        "\0\u{1}\u{202e}\u{feff}",
        "{",
        "}",
        "null",
        "[[[[[[[[",
        "{\"name\": NaN}",
        "{\"name\": 1, \"description\": [], \"body\": {}}",
        "{\"cases\": [{\"kind\": \"unit\", \"from\": -1, \"about\": \"x\"}]}",
        "{\"cases\": [{\"kind\": \"unit\", \"from\": 18446744073709551615, \"about\": \"x\"}]}",
        "---\nname: [\n---\n",
        "```json\n```",
        "\u{65e5}\u{672c}\u{8a9e}\u{1f469}\u{200d}\u{1f680}\u{301}",
    ];
    let deep = "{\"a\":".repeat(5_000);
    let long = "word ".repeat(200_000);
    let many = "a rule\n".repeat(RoleRule::MOST + 1);
    (fixed.into_iter().map(str::to_owned))
        .chain([deep, long, many])
        .collect()
}

fn garbage(roles: &dyn Roles, sample: &RoleSample) -> Tried {
    let request = sample.request();
    // A lenient parser may accept a malformed text, but the parsed answer must keep the rules.
    for text in garbage_texts() {
        match read(roles, &request, &text)? {
            Ok(answer) => sound(&sample.task, &answer)?,
            refused => says_why(refused)?,
        }
    }
    for text in &sample.unreadable {
        says_why(read(roles, &request, text)?)?;
    }
    Ok(())
}

fn says_why(refused: Result<RoleAnswer>) -> Tried {
    let error = require_error(
        refused,
        &[ErrorKind::Model],
        "`read` of a text that is not an answer",
    )?;
    require(!error.message().trim().is_empty(), || {
        "expected an error that says what was wrong, found an empty message".to_owned()
    })
}

fn fits(roles: &dyn Roles, sample: &RoleSample) -> Tried {
    if sample.readable.is_empty() {
        return skip("the fixture has a role without readable answers");
    }
    let request = sample.request();
    for text in &sample.readable {
        sound(&sample.task, &read(roles, &request, text)??)?;
    }
    Ok(())
}

fn repair(roles: &dyn Roles, sample: &RoleSample) -> Tried {
    let (first, again) = (
        roles.prompt(&sample.request())?,
        roles.prompt(&sample.repair())?,
    );
    require(!same(&first, &again), || {
        format!(
            "{}: expected a repair to differ from the first request, found an equal one",
            sample.task.role()
        )
    })
}

fn room(roles: &dyn Roles, sample: &RoleSample) -> Tried {
    let whole = sample.request();
    let length = |request: &RoleRequest<'_>| -> Tried<usize> {
        Ok(roles.prompt(request)?.prompt.text().chars().count())
    };
    let before = length(&whole)?;
    let mut last = before;
    for part in [1, 2, 4, 8, usize::MAX] {
        let room = Some(before / part);
        let narrow = RoleRequest { room, ..whole };
        let after = length(&narrow)?;
        require(after <= last, || {
            format!(
                "{}: expected a prompt of at most {last} characters in a room of {}, found {after}",
                sample.task.role(),
                before / part
            )
        })?;
        last = after;
    }
    Ok(())
}

fn fallback(roles: &dyn Roles, fixture: &RolesFixture) -> Tried {
    let mut summaries = 0;
    for sample in &fixture.played {
        let RoleTask::Summarize {
            attempts,
            shown_chars,
            keeps_reasoning,
        } = &sample.task
        else {
            if let Some(answer) = roles.fallback(&sample.task) {
                sound(&sample.task, &answer)?;
            }
            continue;
        };
        let mut wordy = attempts.clone();
        for attempt in &mut wordy {
            attempt.task.instruction = "long ".repeat(1_000);
        }
        let alone = attempts.iter().map(|attempt| vec![attempt.clone()]);
        for attempts in alone.chain([attempts.clone(), wordy]) {
            let task = RoleTask::Summarize {
                attempts,
                shown_chars: *shown_chars,
                keeps_reasoning: *keeps_reasoning,
            };
            let Some(answer) = roles.fallback(&task) else {
                let mut steps = (task.attempts().iter()).flat_map(|one| &one.trajectory.steps);
                let calls = steps.any(|step| matches!(step.action, Action::Call(_)));
                let why = || "expected a fallback for `Summarize`, found none".to_owned();
                require(!calls, why)?;
                continue;
            };
            require(matches!(answer, RoleAnswer::Draft(_)), || {
                format!("expected a draft as the fallback for `Summarize`, found {answer:?}")
            })?;
            sound(&task, &answer)?;
        }
        summaries += 1;
    }
    match summaries {
        0 => skip("the fixture has no `Summarize`"),
        _ => Ok(()),
    }
}

fn unknown(roles: &dyn Roles, fixture: &RolesFixture) -> Tried {
    if fixture.unplayed.is_empty() {
        return skip("the fixture has no unsupported roles");
    }
    for task in &fixture.unplayed {
        let request = RoleRequest::new(task, Seed(11));
        let what = "`prompt` for a role that is not supported";
        require_error(roles.prompt(&request), &[ErrorKind::Unsupported], what)?;
        let mut played = fixture.played.iter();
        let of_another = !played.any(|one| one.task.role() == task.role());
        require(!(of_another && roles.plays(task.role())), || {
            format!(
                "expected `plays({})` to be false, because `prompt` is `Unsupported`, found true",
                task.role()
            )
        })?;
    }
    let unsaid = fixture
        .played
        .iter()
        .find(|one| !roles.plays(one.task.role()));
    require(unsaid.is_none(), || {
        let role = unsaid.map(|one| one.task.role().to_string());
        format!(
            "expected `plays({})` to be true for a supported role, found false",
            role.unwrap_or_default()
        )
    })
}
