//! An environment from a list of tools and a function.

mod reply;

use std::{collections::BTreeMap, fmt, sync::Arc};

use async_trait::async_trait;
pub use reply::Reply;
use serde_json::Value;

use crate::{
    contract::{Environment, EnvironmentCapabilities, Episode, ToolChoice},
    domain::{
        Action, Observation, ObservationKind, Source, Task, ToolCall, ToolDefinition, Transition,
    },
    error::{Error, Result},
    id::Seed,
    text::{JsonSchema, ToolCalls},
};

const NEW: &str = "FnEnvironment::new";
const STEP: &str = "Episode::step";
/// The reply to a turn that ends without a call, where the host says nothing else.
const NOT_DONE: &str = "The turn ended, and the task is not done.";
/// The greatest number of tools that a refusal names.
const MOST_NAMED: usize = 20;

type SetUp<S> = dyn Fn(&Task, Seed) -> Result<S> + Send + Sync;
type Act<S> = dyn Fn(&mut S, &ToolCall) -> Reply + Send + Sync;
type EndTurn<S> = dyn Fn(&mut S, &str) -> Reply + Send + Sync;

/// An [`Environment`] from a list of tools and a function that takes their calls.
///
/// Each episode has a state of its own, of the type `S`: the type's default ([`new`](Self::new)), or one that a function makes from the
/// task ([`from_task`](Self::from_task)). The function gets the state and a call, and returns a [`Reply`]: a text, a refusal, or the end.
///
/// - The first observation is the task's instruction, with the tools. All texts are of the source that the host names.
/// - A call of an unknown tool, and one whose arguments do not obey the tool's schema, is refused and never reaches the function.
///   The agent reads why.
/// - Of several calls in one action each is made in order, up to the first that is refused or ends the episode. Their texts are
///   joined by line breaks. Where the order of calls matters, have the agent make one call a step.
/// - A message to the user and [`Action::EndTurn`] end the turn, and with it the episode: the task has failed, unless
///   [`at_end_of_turn`](Self::at_end_of_turn) replies something else.
///
/// The [capabilities](EnvironmentCapabilities) are those of a function of its arguments alone: resettable and deterministic. The
/// function may be called again for the same task: where it changes anything outside its state, give
/// `.with_capabilities(EnvironmentCapabilities::default())`. Where it only reads something else, such as a clock, give
/// `.with_capabilities(EnvironmentCapabilities::resettable())`.
///
/// The function runs on the thread that polls the episode, and must not block it. One that blocks, such as one that reads
/// files, is wrapped in `OnThread` (feature `threads`). A function that panics ends its attempt: the attempt is no
/// evidence about the agent, and the run goes on.
///
/// Only with the feature `json-schema`, since no call may reach the function unchecked.
///
/// ```
/// use journeyman::{
///     Seed,
///     agent::{FnEnvironment, Reply},
///     contract::Environment,
///     domain::{Action, Outcome, Source, Task, ToolDefinition},
/// };
/// use serde_json::json;
///
/// # futures::executor::block_on(async {
/// let tools = ["verify", "close"].map(|name| ToolDefinition::new(name, name, json!({"type": "object"})));
/// let desk = FnEnvironment::new(Source::trusted("desk"), tools, |verified: &mut bool, call| {
///     *verified |= call.tool == "verify";
///     match call.tool == "close" {
///         true if *verified => Reply::done("The ticket is closed."),
///         true => Reply::refused("Verify the customer first."),
///         false => Reply::next("The customer is verified."),
///     }
/// })?;
///
/// let mut episode = desk.reset(&Task::new("t-1", "Close ticket 17."), Seed(7)).await?;
/// let refused = episode.step(&Action::call("close", json!({}))).await?;
/// assert!(refused.is_error && refused.outcome.is_none());
/// episode.step(&Action::call("verify", json!({}))).await?;
/// let last = episode.step(&Action::call("close", json!({}))).await?;
/// assert_eq!(last.outcome, Some(Outcome::success()));
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
pub struct FnEnvironment<S> {
    source: Source,
    tools: Vec<ToolDefinition>,
    schemas: Arc<BTreeMap<String, JsonSchema>>,
    set_up: Arc<SetUp<S>>,
    act: Arc<Act<S>>,
    end_turn: Arc<EndTurn<S>>,
    capabilities: EnvironmentCapabilities,
}

impl<S: Send + 'static> FnEnvironment<S> {
    /// An environment whose episodes begin with the default of their state. The function returns a [`Reply`], or what becomes one: a
    /// text, or a `Result` whose error is a refusal.
    ///
    /// Skills that are learned from an untrusted `source` are quarantined: name one that the host trusts
    /// ([`Source::trusted`]) where its function writes the texts itself.
    ///
    /// # Errors
    /// `Invalid` for no tool, for a tool without a name, for two tools of one name, for a schema that no object fits, and for one
    /// that [`JsonSchema::new`] refuses.
    pub fn new<R: Into<Reply>>(
        source: Source,
        tools: impl IntoIterator<Item = ToolDefinition>,
        act: impl Fn(&mut S, &ToolCall) -> R + Send + Sync + 'static,
    ) -> Result<Self>
    where
        S: Default,
    {
        Self::from_task(source, tools, |_, _| Ok(S::default()), act)
    }

    /// The same with a function that makes the state of an episode from its task and seed. It returns `Invalid` or `NotFound` for a
    /// task that cannot be set up. All chance in the environment comes from the seed.
    ///
    /// ```
    /// use journeyman::{Error, Seed, agent::{FnEnvironment, Reply}, contract::Environment};
    /// use journeyman::domain::{Source, Task, ToolDefinition};
    /// use serde_json::json;
    ///
    /// let say = json!({"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]});
    /// let guessing = FnEnvironment::from_task(
    ///     Source::trusted("guessing"),
    ///     [ToolDefinition::new("say", "Says a word.", say)],
    ///     |task, _seed| {
    ///         let word = task.payload.as_str().map(str::to_owned);
    ///         word.ok_or_else(|| Error::invalid("guessing", "the payload is not a word"))
    ///     },
    ///     |word: &mut String, call| match call.arguments["word"] == word.as_str() {
    ///         true => Reply::done("That is the word."),
    ///         false => Reply::next("That is another word."),
    ///     },
    /// )?;
    /// # futures::executor::block_on(async {
    /// assert!(guessing.reset(&Task::new("t", "Guess."), Seed(7)).await.is_err());
    /// let task = Task::new("t", "Guess.").with_payload("kettle");
    /// assert!(guessing.reset(&task, Seed(7)).await.is_ok());
    /// # });
    /// # Ok::<(), journeyman::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn from_task<R: Into<Reply>>(
        source: Source,
        tools: impl IntoIterator<Item = ToolDefinition>,
        set_up: impl Fn(&Task, Seed) -> Result<S> + Send + Sync + 'static,
        act: impl Fn(&mut S, &ToolCall) -> R + Send + Sync + 'static,
    ) -> Result<Self> {
        let tools: Vec<ToolDefinition> = tools.into_iter().collect();
        Ok(Self {
            source,
            schemas: Arc::new(schemas(&tools)?),
            tools,
            set_up: Arc::new(set_up),
            act: Arc::new(move |state: &mut S, call: &ToolCall| act(state, call).into()),
            end_turn: Arc::new(|_: &mut S, _: &str| Reply::failed(NOT_DONE)),
            capabilities: EnvironmentCapabilities::deterministic(),
        })
    }

    /// The same with a function that replies to the end of a turn: to the agent's message to the user, or to an empty text where it
    /// ended the turn without one. A reply that does not end the episode lets it go on. To a message, such a reply is read as the
    /// user's words ([`ObservationKind::User`]), unless it refuses.
    ///
    /// ```
    /// use journeyman::{agent::{FnEnvironment, Reply}, domain::{Source, ToolDefinition}};
    /// use serde_json::json;
    ///
    /// let tool = ToolDefinition::new("water", "Waters a plant.", json!({"type": "object"}));
    /// let garden = FnEnvironment::new(Source::trusted("garden"), [tool], |watered: &mut u32, _| {
    ///     *watered += 1;
    ///     format!("Watered: {watered}.")
    /// })?
    /// // The agent has to know when it is done.
    /// .at_end_of_turn(|watered, _message| Reply::end("The day is over.", *watered == 3));
    /// # let _ = garden;
    /// # Ok::<(), journeyman::Error>(())
    /// ```
    #[must_use]
    pub fn at_end_of_turn<R: Into<Reply>>(
        mut self,
        end_turn: impl Fn(&mut S, &str) -> R + Send + Sync + 'static,
    ) -> Self {
        self.end_turn = Arc::new(move |state: &mut S, said: &str| end_turn(state, said).into());
        self
    }

    /// The same with other guarantees than those of a function of its arguments alone.
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: EnvironmentCapabilities) -> Self {
        self.capabilities = capabilities;
        self
    }
}

/// The schemas of the arguments by the names of the tools.
fn schemas(tools: &[ToolDefinition]) -> Result<BTreeMap<String, JsonSchema>> {
    if tools.is_empty() {
        return Err(Error::invalid(NEW, "there is no tool")
            .hint("give at least one ToolDefinition: an agent acts by calls of tools alone"));
    }
    for tool in tools {
        if tool.name.trim().is_empty() {
            return Err(Error::invalid(NEW, "a tool has no name")
                .hint("give each ToolDefinition a name: an agent calls it by that"));
        }
        if fits_no_object(&tool.input_schema) {
            let message = format!("the schema of tool `{}`: no object fits it", tool.name);
            return Err(Error::invalid(NEW, message).hint(
                "put the arguments into the fields of a struct: the schema's type is \"object\"",
            ));
        }
    }
    let calls = ToolCalls::new(tools, &ToolChoice::Auto)?;
    let schema = |tool: &ToolDefinition| -> Result<(String, JsonSchema)> {
        let schema = calls.schema(&tool.name).unwrap_or_default();
        Ok((tool.name.clone(), JsonSchema::new(schema)?))
    };
    tools.iter().map(schema).collect()
}

/// Whether no object fits a schema, by its `type` alone.
fn fits_no_object(schema: &Value) -> bool {
    match schema.get("type") {
        Some(Value::String(kind)) => kind != "object",
        Some(Value::Array(kinds)) => !kinds.iter().any(|kind| kind == "object"),
        _ => false,
    }
}

impl<S> fmt::Debug for FnEnvironment<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FnEnvironment")
            .field("source", &self.source)
            .field("tools", &self.schemas.keys())
            .field("capabilities", &self.capabilities)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl<S: Send + 'static> Environment for FnEnvironment<S> {
    fn capabilities(&self) -> EnvironmentCapabilities {
        self.capabilities.clone()
    }

    async fn reset(&self, task: &Task, seed: Seed) -> Result<Box<dyn Episode>> {
        let seen = Observation::new(task.instruction.as_str(), self.source.clone());
        Ok(Box::new(FnEpisode {
            state: (self.set_up)(task, seed)?,
            seen: seen.with_tools(self.tools.clone()),
            is_over: false,
            schemas: Arc::clone(&self.schemas),
            act: Arc::clone(&self.act),
            end_turn: Arc::clone(&self.end_turn),
        }))
    }
}

/// An episode with its own state.
struct FnEpisode<S> {
    state: S,
    seen: Observation,
    is_over: bool,
    schemas: Arc<BTreeMap<String, JsonSchema>>,
    act: Arc<Act<S>>,
    end_turn: Arc<EndTurn<S>>,
}

impl<S> fmt::Debug for FnEpisode<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FnEpisode")
            .field("seen", &self.seen)
            .field("is_over", &self.is_over)
            .finish_non_exhaustive()
    }
}

impl<S> FnEpisode<S> {
    /// Makes calls in order, up to the first that is refused or ends the episode.
    fn call_all(&mut self, calls: &[ToolCall]) -> Reply {
        let mut texts = Vec::new();
        for (made, call) in (1..).zip(calls) {
            let reply = match refusal(&self.schemas, call) {
                Some(why) => Reply::refused(why),
                None => (self.act)(&mut self.state, call),
            };
            texts.push(reply.text.clone());
            if reply.goes_on() {
                continue;
            }
            if reply.is_error && made < calls.len() {
                texts.push("The calls after this one were not made.".to_owned());
            }
            return Reply {
                text: texts.join("\n"),
                ..reply
            };
        }
        match texts.is_empty() {
            true => Reply::refused("No tool was called."),
            false => Reply::next(texts.join("\n")),
        }
    }
}

/// Why a call is not made, in words that the agent can act on. They repeat no value of the call.
fn refusal(schemas: &BTreeMap<String, JsonSchema>, call: &ToolCall) -> Option<String> {
    let Some(schema) = schemas.get(&call.tool) else {
        let names = schemas.keys().take(MOST_NAMED);
        let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
        let more = match schemas.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let names = names.join(", ");
        return Some(format!(
            "There is no tool of this name. The tools are {names}{more}."
        ));
    };
    let faults = schema.faults(&Value::Object(call.arguments.clone()));
    let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
    (!faults.is_empty()).then(|| {
        let (tool, faults) = (&call.tool, faults.join("; "));
        format!("The arguments of `{tool}` do not obey its schema: {faults}.")
    })
}

#[async_trait]
impl<S: Send + 'static> Episode for FnEpisode<S> {
    fn observation(&self) -> &Observation {
        &self.seen
    }

    async fn step(&mut self, action: &Action) -> Result<Transition> {
        if self.is_over {
            return Err(
                Error::invalid(STEP, "the episode is over").hint("begin another one by `reset`")
            );
        }
        let reply = match action {
            Action::Call(calls) => self.call_all(calls),
            Action::Message(said) => (self.end_turn)(&mut self.state, said),
            Action::EndTurn => (self.end_turn)(&mut self.state, ""),
        };
        self.is_over = reply.outcome.is_some();
        self.seen.kind = match matches!(action, Action::Message(_)) && reply.goes_on() {
            true => ObservationKind::User,
            false => ObservationKind::Result,
        };
        self.seen.text = reply.text;
        Ok(Transition {
            observation: self.seen.clone(),
            is_error: reply.is_error,
            outcome: reply.outcome,
        })
    }

    async fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
