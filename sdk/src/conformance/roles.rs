//! The rules of [`Roles`].

use super::report::{Report, Shortfall, Tried, contained, require, require_error, skip};
use crate::{
    contract::{FailedAnswer, GenerateRequest, RoleAnswer, RoleRequest, RoleTask, Roles},
    domain::{Role, RoleRule},
    error::{ErrorKind, Result},
    id::Seed,
};

/// The inputs for checking roles.
#[derive(Clone, Debug)]
pub struct RolesFixture {
    /// Requests to the supported roles; one of them a summary.
    pub played: Vec<RoleSample>,
    /// A request to a role that is not supported.
    pub unplayed: Vec<RoleTask>,
}

/// A request to a role, with possible answers.
#[derive(Clone, Debug)]
pub struct RoleSample {
    /// The request.
    pub task: RoleTask,
    /// Answers that must be read.
    pub readable: Vec<String>,
    /// Answers that must be refused; the suite adds garbage of its own.
    pub unreadable: Vec<String>,
}

impl RoleSample {
    fn request(&self) -> RoleRequest<'_> {
        RoleRequest {
            task: &self.task,
            seed: Seed(11),
            failed: None,
        }
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
            return skip("nothing was given that is asked");
        }
        (fixture.played.iter()).try_for_each(|sample| rule(roles, sample))
    };
    report.case("pure", each(pure));
    report.case("garbage", each(garbage));
    report.case("fits", each(fits));
    report.case("repair", each(repair));
    report.case("fallback", fallback(roles, fixture));
    report.case("unknown", unknown(roles, fixture));
    report
}

/// The rules of the contract for any answer.
fn sound(task: &RoleTask, answer: &RoleAnswer) -> Tried {
    let role = task.role();
    let fits = match answer {
        RoleAnswer::Draft(_) | RoleAnswer::Nothing(_) => matches!(
            role,
            Role::Summarize | Role::Extract | Role::Refactor | Role::Refine
        ),
        RoleAnswer::Credit { .. } => role == Role::Attribute,
        RoleAnswer::Cases(_) => role == Role::Bundle,
        RoleAnswer::Rules(_) => role == Role::Evolve,
    };
    require(fits, || {
        format!("{role} was given an answer of another role")
    })?;
    match (answer, task) {
        (RoleAnswer::Draft(draft), _) => {
            let length = draft.description.chars().count();
            require((1..=1_024).contains(&length), || {
                format!("the description has {length} characters")
            })?;
            require(!draft.body.trim().is_empty(), || {
                "the body is empty".to_owned()
            })
        }
        (RoleAnswer::Cases(cases), RoleTask::Bundle { attempt, .. }) => {
            let steps = attempt.trajectory.steps.len();
            require(cases.iter().all(|case| case.from < steps), || {
                "a case begins at no step of the attempt".to_owned()
            })
        }
        (RoleAnswer::Rules(rules), _) => {
            let short = |rule: &RoleRule| rule.as_str().chars().count() <= RoleRule::MAX;
            require(rules.len() <= RoleRule::MOST, || {
                format!("there are {} rules", rules.len())
            })?;
            require(rules.iter().all(short), || "a rule is too long".to_owned())
        }
        _ => Ok(()),
    }
}

/// Reads an answer; a panic fails the case.
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
                "{}: the same request gave another prompt",
                sample.task.role()
            )
        })?;
    }
    let request = sample.request();
    for text in sample.readable.iter().chain(&sample.unreadable) {
        let (first, second) = (read(roles, &request, text)?, read(roles, &request, text)?);
        require(first == second, || {
            format!("{}: the same text gave another answer", sample.task.role())
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
    // A lenient reader may accept the garbage, but the accepted answer must keep the rules.
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
    let error = require_error(refused, &[ErrorKind::Model], "an unreadable answer")?;
    require(!error.message().trim().is_empty(), || {
        "the error does not say what was wrong".to_owned()
    })
}

fn fits(roles: &dyn Roles, sample: &RoleSample) -> Tried {
    if sample.readable.is_empty() {
        return skip("a role was given no readable answer");
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
        format!("{}: the repair asks the same once more", sample.task.role())
    })
}

fn fallback(roles: &dyn Roles, fixture: &RolesFixture) -> Tried {
    let mut summaries = 0;
    for sample in &fixture.played {
        let RoleTask::Summarize { attempts } = &sample.task else {
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
            let task = RoleTask::Summarize { attempts };
            let Some(answer) = roles.fallback(&task) else {
                return Err(Shortfall::Failed("a summary has no fallback".to_owned()));
            };
            require(matches!(answer, RoleAnswer::Draft(_)), || {
                "the fallback of a summary is no draft".to_owned()
            })?;
            sound(&task, &answer)?;
        }
        summaries += 1;
    }
    match summaries {
        0 => skip("no summary was given"),
        _ => Ok(()),
    }
}

fn unknown(roles: &dyn Roles, fixture: &RolesFixture) -> Tried {
    if fixture.unplayed.is_empty() {
        return skip("no role was given that is not played");
    }
    for task in &fixture.unplayed {
        let request = RoleRequest {
            task,
            seed: Seed(11),
            failed: None,
        };
        let what = "the prompt of a role that is not played";
        require_error(roles.prompt(&request), &[ErrorKind::Unsupported], what)?;
        let mut played = fixture.played.iter();
        let of_another = !played.any(|one| one.task.role() == task.role());
        require(!(of_another && roles.plays(task.role())), || {
            "`plays` affirms a role whose prompt is `Unsupported`".to_owned()
        })?;
    }
    let unsaid = fixture
        .played
        .iter()
        .find(|one| !roles.plays(one.task.role()));
    require(unsaid.is_none(), || {
        "`plays` denies a role that is played".to_owned()
    })
}
