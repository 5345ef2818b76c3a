//! Tools by the types of their arguments.

#[cfg(feature = "schemars")]
use journeyman::domain::ToolDefinition;
use journeyman::{Error, Result, domain::ToolCall};
#[cfg(feature = "schemars")]
use schemars::{JsonSchema, Schema, generate::SchemaSettings, transform::RecursiveTransform};
use serde::de::DeserializeOwned;
use serde_json::Value;
#[cfg(feature = "schemars")]
use serde_json::json;

/// The definition of a tool whose arguments are the fields of a struct, with the JSON Schema of that struct. Comments of the
/// fields are descriptions that the model reads. With the feature `schemars`.
///
/// A tool that takes no arguments has the type `()`. Any other type whose JSON is no object is refused by the environment. The names
/// of Rust's integers (`format: uint32`) are left out; their bounds stay.
///
/// ```
/// use journeyman_local::{ToolCallExt, journeyman::domain::ToolCall, tool};
/// use serde_json::json;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Refund {
///     /// Such as T-17.
///     ticket: String,
///     cents: u32,
/// }
///
/// let refund = tool::<Refund>("refund", "Refunds a ticket.");
/// assert_eq!(refund.input_schema["required"], json!(["ticket", "cents"]));
/// assert_eq!(refund.input_schema["properties"]["ticket"]["description"], "Such as T-17.");
///
/// let call = ToolCall::new("refund", json!({"ticket": "T-17", "cents": 250}));
/// let arguments: Refund = call.read_arguments()?;
/// assert_eq!((arguments.ticket.as_str(), arguments.cents), ("T-17", 250));
/// # Ok::<(), journeyman::Error>(())
/// ```
#[cfg(feature = "schemars")]
pub fn tool<A: JsonSchema>(
    name: impl Into<String>,
    description: impl Into<String>,
) -> ToolDefinition {
    // Grammars and templates read a schema in one piece; the name of the Rust type and of the standard are words to no model.
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let settings = settings.with_transform(RecursiveTransform(without_integer_names));
    let mut schema = settings.into_generator().into_root_schema_for::<A>();
    schema.remove("title");
    let takes_none = schema.get("type").is_some_and(|kind| kind == "null");
    let schema = match takes_none {
        true => json!({"type": "object"}),
        false => schema.to_value(),
    };
    ToolDefinition::new(name, description, schema)
}

/// Removes the format of a schema where it is the name of an integer type.
#[cfg(feature = "schemars")]
fn without_integer_names(schema: &mut Schema) {
    let format = schema.get("format").and_then(Value::as_str);
    if format.is_some_and(|name| name.starts_with("int") || name.starts_with("uint")) {
        schema.remove("format");
    }
}

/// Reads the arguments of a [`ToolCall`] into a type of the host's.
///
/// ```
/// use journeyman_local::{ToolCallExt, journeyman::domain::ToolCall};
/// use serde_json::json;
///
/// #[derive(serde::Deserialize)]
/// struct Refund {
///     ticket: String,
/// }
///
/// let call = ToolCall::new("refund", json!({"ticket": "T-17"}));
/// assert_eq!(call.read_arguments::<Refund>()?.ticket, "T-17");
/// assert!(ToolCall::new("refund", json!({})).read_arguments::<Refund>().is_err());
/// # Ok::<(), journeyman::Error>(())
/// ```
pub trait ToolCallExt {
    /// The arguments as a value of this type. Those that obey the schema of `tool` for the same type can be read, apart from numbers
    /// that the schema allows and the type cannot hold. No arguments are read as null where the type takes no object, as `()` does.
    /// Returned from the function of a
    /// [`FnEnvironment`](journeyman::agent::FnEnvironment), the error is a refusal that the agent reads.
    ///
    /// # Errors
    /// `Invalid` where they do not have the type's form. It names a field that is missing, and repeats no argument; the error of
    /// `serde_json` is the source.
    fn read_arguments<A: DeserializeOwned>(&self) -> Result<A>;
}

impl ToolCallExt for ToolCall {
    fn read_arguments<A: DeserializeOwned>(&self) -> Result<A> {
        let read = serde_json::from_value(Value::Object(self.arguments.clone()));
        let read = read.or_else(|error| match self.arguments.is_empty() {
            true => serde_json::from_value(Value::Null).map_err(|_| error),
            false => Err(error),
        });
        read.map_err(|source| {
            let lacks = missing(&source.to_string())
                .map_or_else(String::new, |field| format!(": `{field}` is missing"));
            Error::invalid(
                "ToolCallExt::read_arguments",
                format!("the arguments of `{}` cannot be read{lacks}", self.tool),
            )
            .hint("give each argument in the form and range that the tool's schema names")
            .source_from(source)
        })
    }
}

/// The field that serde misses, by its error. Serde's other errors may repeat a value.
fn missing(error: &str) -> Option<&str> {
    let field = error.strip_prefix("missing field `")?.strip_suffix('`')?;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    field.chars().all(is_name).then_some(field)
}
