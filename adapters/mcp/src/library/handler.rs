//! The server's answers.

use std::sync::Arc;

use base64::{Engine, prelude::BASE64_STANDARD};
use journeyman::{
    Error, ErrorKind,
    contract::{FinishReason, SkillFiles, ToolChoice},
    domain::{self, Outcome, SkillUse, Task, ToolDefinition},
    library::SkillLibrary,
    run::{GroupStatus, Journeyman},
    text::{ToolCalls, WrittenCall},
};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock,
        GetSkillRequestParams, GetSkillResult, Implementation, ListResourcesResult,
        ListSkillsResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
        ReadResourceResponse, ReadResourceResult, ResourceContents, SKILL_MD, ServerCapabilities,
        ServerConfig, Tool,
    },
    service::RequestContext,
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use super::{
    catalog::{self, Found},
    followed::{names, refuse_others, uri},
    reports::{Kept, Report, Reports},
    tools,
};

/// Entries of one page of a list.
const PAGE: usize = 200;
/// The greatest length of a task's text in bytes.
const TASK_CAP: usize = 16 * 1024;
const INSTRUCTIONS: &str = "A library of skills that learns from outcomes. Before a task, call search_skills with the \
    task in words and follow the skills that it gives. Afterwards call report_outcome with the attempt's id and how it \
    went, whether it went well or not.";

#[derive(Clone, Debug)]
pub(crate) struct Handler {
    pub(crate) journeyman: Arc<Journeyman>,
    pub(crate) files: Option<Arc<dyn SkillFiles>>,
    pub(crate) reports: Arc<Reports>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    task: String,
    #[serde(default)]
    category: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReportedOutcome {
    attempt: String,
    success: bool,
    #[serde(default)]
    score: Option<f64>,
    /// The URIs of the skills that the agent followed; without it nobody knows which.
    #[serde(default)]
    followed: Option<Vec<String>>,
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_skills()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("journeyman", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_skills(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        let library = self.library().await?;
        let (page, next) = page(catalog::listed(&library, self.files.is_some()), request)?;
        let entries: Result<_, Error> = page.into_iter().map(catalog::entry).collect();
        let mut result = ListSkillsResult::with_all_items(entries.map_err(failed)?);
        result.next_cursor = next;
        Ok(result)
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        let library = self.library().await?;
        match catalog::find(&library, &request.uri, self.files.is_some()) {
            Some(Found::SkillMd(skill)) => {
                Ok(GetSkillResult::new(catalog::entry(skill).map_err(failed)?))
            }
            _ => Err(ErrorData::invalid_params(
                "the library has no skill with this URI",
                None,
            )),
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let library = self.library().await?;
        let (page, next) = page(catalog::listed(&library, self.files.is_some()), request)?;
        let resources: Result<_, Error> = page.into_iter().map(catalog::resource).collect();
        let mut result = ListResourcesResult::with_all_items(resources.map_err(failed)?);
        result.next_cursor = next;
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let missing =
            || ErrorData::resource_not_found("the library has no file with this URI", None);
        let library = self.library().await?;
        let contents =
            match catalog::find(&library, &uri, self.files.is_some()).ok_or_else(missing)? {
                Found::SkillMd(skill) => {
                    let text = catalog::skill_md(skill).map_err(failed)?;
                    ResourceContents::text(text, uri).with_mime_type("text/markdown")
                }
                Found::File(file) => {
                    let files = self.files.as_ref().ok_or_else(missing)?;
                    let bytes = files.get(&file.sha256).await.map_err(failed)?;
                    match String::from_utf8(bytes.ok_or_else(missing)?) {
                        Ok(text) => ResourceContents::text(text, uri),
                        Err(error) => {
                            ResourceContents::blob(BASE64_STANDARD.encode(error.as_bytes()), uri)
                        }
                    }
                }
            };
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![
            tools::search_tool(),
            tools::report_tool(),
        ]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        // Arguments that do not fit are the model's fault, and it can mend them: an error of the tool and not of the protocol.
        let result = match request.name.as_ref() {
            "search_skills" => match read(&tools::search_tool(), arguments) {
                Ok(search) => self.search(search).await,
                Err(error) => Err(error),
            },
            "report_outcome" => match read(&tools::report_tool(), arguments) {
                Ok(outcome) => self.report(outcome).await,
                Err(error) => Err(error.hint("the attempt is still open: report again")),
            },
            _ => return Err(ErrorData::invalid_params("there is no such tool", None)),
        };
        Ok(match result {
            Ok(answer) => CallToolResult::structured(answer),
            Err(error) => CallToolResult::error(vec![ContentBlock::text(said(&error))]),
        }
        .into())
    }
}

impl Handler {
    async fn library(&self) -> Result<SkillLibrary, ErrorData> {
        self.journeyman.library().await.map_err(failed)
    }

    /// Begins an attempt, and gives the skills that the recipe selects.
    async fn search(&self, search: Search) -> Result<Value, Error> {
        const OPERATION: &str = "search_skills";
        if search.task.trim().is_empty() || search.task.len() > TASK_CAP {
            return Err(
                Error::invalid(OPERATION, "`task` is empty or longer than 16 KiB")
                    .hint("say in a few sentences what is to be done"),
            );
        }
        let id = format!("mcp-{}", uuid::Uuid::new_v4().simple());
        let mut task = Task::new(id, search.task);
        if let Some(category) = search.category {
            task = task.with_category(category);
        }
        let handle = self.journeyman.begin(task).await?;
        let library = self.journeyman.library().await?;
        let given = handle.injection().skills.iter();
        let skills: Vec<Value> = given
            .map(|one| {
                let skill = library.version(&one.skill);
                json!({
                    "uri": skill.map(|skill| catalog::uri(skill, SKILL_MD)),
                    "name": skill.map(|skill| skill.name.as_str()),
                    "version": one.skill.version.0,
                    "text": one.text,
                })
            })
            .collect();
        Ok(json!({ "attempt": self.reports.open(handle), "skills": skills }))
    }

    /// Ends an attempt with its outcome.
    async fn report(&self, reported: ReportedOutcome) -> Result<Value, Error> {
        const OPERATION: &str = "report_outcome";
        let not = |why: &str| json!({ "counted": false, "reason": why, "skills": [] });
        let success = reported.success;
        let score = reported.score.unwrap_or(f64::from(u8::from(success)));
        if !(0.0..=1.0).contains(&score) {
            return Err(Error::invalid(OPERATION, "`score` is outside [0, 1]")
                .hint("leave it out, or give a number from 0 to 1; the attempt is still open"));
        }
        if self.journeyman.is_read_only() {
            return Ok(not("this server only reads its library"));
        }
        // Read before the attempt is taken: where this fails, the attempt is still open, and the client reports it again.
        let library = self.journeyman.library().await.map_err(again)?;
        if let Some(given) = self.reports.given(&reported.attempt) {
            refuse_others(
                reported.followed.as_deref().unwrap_or_default(),
                &given,
                &library,
            )?;
        }
        let (handle, kept) = match self.reports.take(&reported.attempt) {
            Report::Counts(handle, kept) => (handle, kept),
            Report::Waits(kept) => {
                // This settles the outcomes of other attempts too, whose errors are not this client's.
                if let Err(error) = self.journeyman.settle().await {
                    tracing::warn!(%error, "an outcome that a client reported is not written yet");
                }
                return self.answer(&reported.attempt, &kept, None, &library);
            }
            Report::Capped => {
                return Ok(not(
                    "these skills have had all the outcomes that count from clients",
                ));
            }
            Report::Again => return Ok(not("this attempt was reported before")),
            Report::Unknown => {
                return Err(Error::new(
                    ErrorKind::NotFound,
                    OPERATION,
                    "there is no open attempt with this id",
                )
                .hint("give the id that search_skills gave; after a restart of the server begin another attempt"));
            }
        };
        if let Some(followed) = &reported.followed {
            for skill in &kept.skills {
                let is_followed = followed.iter().any(|said| names(said, skill, &library));
                let used = match is_followed {
                    true => SkillUse::Followed,
                    false => SkillUse::NotFollowed,
                };
                handle.used(skill, used);
            }
        }
        let finished = handle.finish(Outcome::scored(success, score)).await;
        self.answer(&reported.attempt, &kept, finished.err(), &library)
    }

    /// What a reported attempt's group says of its outcome; `failed` is why it may still be waiting.
    fn answer(
        &self,
        attempt: &str,
        kept: &Kept,
        failed: Option<Error>,
        library: &SkillLibrary,
    ) -> Result<Value, Error> {
        match kept.group.status() {
            GroupStatus::Completed => {
                self.reports.close(attempt);
                Ok(counted(library, kept))
            }
            GroupStatus::Failed(error) => {
                self.reports.close(attempt);
                Err(error)
            }
            // The session keeps the outcome: the store or the journal failed, or another call is writing it now.
            _ => {
                let busy = || {
                    Error::new(
                        ErrorKind::Unavailable,
                        "report_outcome",
                        "the outcome is not written yet",
                    )
                };
                Err(again(failed.unwrap_or_else(busy)))
            }
        }
    }
}

/// The error of a report that the client can make again: the attempt is open, or its outcome is kept.
fn again(error: Error) -> Error {
    error.hint("report this attempt again: it is counted once")
}

fn counted(library: &SkillLibrary, kept: &Kept) -> Value {
    let skills = kept.skills.iter().map(|skill| uri(library, skill));
    json!({ "counted": true, "skills": skills.collect::<Vec<_>>() })
}

/// One page of a list that is sorted by name; the cursor is the last name of the page before.
fn page(
    skills: Vec<&domain::Skill>,
    request: Option<PaginatedRequestParams>,
) -> Result<(Vec<&domain::Skill>, Option<String>), ErrorData> {
    let after = request.and_then(|request| request.cursor);
    let from = match &after {
        Some(name) => skills.partition_point(|skill| skill.name.as_str() <= name.as_str()),
        None => 0,
    };
    let page: Vec<_> = skills[from..].iter().take(PAGE).copied().collect();
    let is_last = from + page.len() == skills.len();
    let next = page.last().filter(|_| !is_last);
    let next = next.map(|skill| skill.name.as_str().to_owned());
    Ok((page, next))
}

/// The arguments of a call, as the tool's schema wants them: what is slightly off is put right, such as `"true"` for true.
fn read<T: DeserializeOwned>(tool: &Tool, arguments: Map<String, Value>) -> journeyman::Result<T> {
    const READ: &str = "SkillServer::call_tool";
    let schema = Value::Object((*tool.input_schema).clone());
    let definition = ToolDefinition::new(tool.name.as_ref(), "", schema);
    let written = WrittenCall::new(tool.name.to_string(), Value::Object(arguments).to_string());
    let calls = ToolCalls::new(&[definition], &ToolChoice::Auto)?;
    let mut read = calls.read(vec![written], FinishReason::EndOfText)?;
    let arguments = read.pop().map(|made| made.call.arguments);
    serde_json::from_value(Value::Object(arguments.unwrap_or_default())).map_err(|error| {
        Error::invalid(READ, format!("the arguments do not fit: {error}"))
            .hint("look at the tool's schema")
    })
}

fn failed(error: Error) -> ErrorData {
    tracing::warn!(%error, "a request to the library's server failed");
    ErrorData::internal_error(said(&error), None)
}

/// An error's message with its hint, if it has one.
fn said(error: &Error) -> String {
    let hint = error.hint_text().map(|hint| format!("; {hint}"));
    format!("{}{}", error.message(), hint.unwrap_or_default())
}
