//! How a recipe names a policy, and the options of ours.

use std::{num::NonZeroU64, sync::Arc};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeOwned, Error as _},
};
use serde_json::Value;

use crate::error::{Error, Result};

/// A policy as a recipe names it: one of ours, or one that the host registered in
/// [`Policies`](super::Policies). A journal holds the recipe, so a run that is resumed has the same policy with the same
/// options.
///
/// The options of ours are structs that become a policy by `into()` ([`PolicyOptions`]):
///
/// ```
/// use std::num::NonZeroUsize;
///
/// use journeyman::{policy::Policy, recipe, stations::select::Top};
/// use serde_json::json;
///
/// let limit = NonZeroUsize::new(3).expect("not 0");
/// let mut recipe = recipe::standard();
/// recipe.select.selector = Top::new(limit).into();
/// assert_eq!(recipe.select.selector, Policy::new("top").with_options(json!({ "limit": 3 })));
/// assert_eq!(recipe.select.selector.read::<Top>()?, Some(Top::new(limit)));
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Policy {
    /// The name under which it is registered.
    pub name: String,
    /// What it is made with; null for none. Options of ours that are left out have their defaults, where there are any. It is kept
    /// in the journal as it is: no secrets.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub options: Value,
    /// Why the options that it was made of are refused: they cannot be written as JSON, or a value is out of range. The JSON may
    /// hide it: NaN is null there.
    #[serde(skip)]
    fault: Option<Box<Error>>,
}

/// The options of one of our policies: what a [`Policy`] of this name is made with.
pub trait PolicyOptions: Serialize + DeserializeOwned {
    /// The name under which recipes have the policy.
    const NAME: &'static str;

    /// Checks every number.
    ///
    /// # Errors
    /// `Invalid`, naming the field.
    fn validate(&self) -> Result<()> {
        Ok(())
    }
}

impl Policy {
    /// A policy without options.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            options: Value::Null,
            fault: None,
        }
    }

    /// With these options. [`Recipe::resolve`](crate::recipe::Recipe::resolve) refuses a policy whose options cannot be written
    /// as JSON, such as a map whose keys are no texts. NaN and the infinities become null here; those in options of ours that
    /// become a policy by `into()` are refused.
    #[must_use]
    pub fn with_options(mut self, options: impl Serialize) -> Self {
        (self.options, self.fault) = match serde_json::to_value(options) {
            Ok(options) => (sorted(options), None),
            Err(error) => {
                let message = "the options cannot be written as JSON";
                let fault = Error::invalid("Policy::with_options", message);
                let fault = fault.with("policy", &self.name).source_from(error);
                (Value::Null, Some(Box::new(fault)))
            }
        };
        self
    }

    /// Whether this is the policy of ours that has these options.
    pub fn is<O: PolicyOptions>(&self) -> bool {
        self.name == O::NAME
    }

    /// The options of one of our policies; `None` where this is another policy.
    ///
    /// # Errors
    /// `Invalid` for options that are not those of this policy.
    pub fn read<O: PolicyOptions>(&self) -> Result<Option<O>> {
        match self.is::<O>() {
            true => read_options(&self.options).map(Some),
            false => Ok(None),
        }
    }

    /// Checks that the options which it was made of were valid, and could be written.
    ///
    /// # Errors
    /// `Invalid`, with the reason.
    pub(crate) fn usable(&self) -> Result<()> {
        self.fault
            .as_deref()
            .map_or(Ok(()), |fault| Err(fault.clone()))
    }

    /// Checks the options, where this is the policy of ours that has them.
    ///
    /// # Errors
    /// `Invalid` for options that are not those of this policy, and for a value out of range.
    pub(crate) fn check<O: PolicyOptions>(&self) -> Result<()> {
        self.usable()?;
        self.read::<O>()?
            .map_or(Ok(()), |options| options.validate())
    }
}

impl<O: PolicyOptions> From<O> for Policy {
    fn from(options: O) -> Self {
        let mut policy = Self::new(O::NAME).with_options(&options);
        if let Err(error) = options.validate() {
            policy.fault = Some(Box::new(error));
        }
        policy
    }
}

/// Reads the options of one of our policies. No options may be written as null and as `{}`, whichever form the policy's have.
///
/// # Errors
/// `Invalid` for options of another policy.
fn read_options<O: PolicyOptions>(options: &Value) -> Result<O> {
    let is_empty = options.as_object().is_some_and(serde_json::Map::is_empty);
    let read = match is_empty || options.is_null() {
        true => O::deserialize(&Value::Object(serde_json::Map::new()))
            .or_else(|error| O::deserialize(&Value::Null).map_err(|_| error)),
        false => O::deserialize(options),
    };
    read.map_err(|error| {
        Error::invalid("Policy::read", "these are not the options of this policy")
            .with("policy", O::NAME)
            .source_from(error)
    })
}

/// Reads the options of one of our policies, and checks them.
///
/// # Errors
/// `Invalid` for options of another policy, and for a value out of range.
pub(crate) fn checked_options<O: PolicyOptions>(options: &Value) -> Result<O> {
    let options: O = read_options(options)?;
    options.validate()?;
    Ok(options)
}

/// Makes one of our policies of its options.
///
/// # Errors
/// `Invalid` for options of another policy, and for a value out of range.
pub(crate) fn make<O: PolicyOptions>(options: &Value) -> Result<Arc<O>> {
    checked_options(options).map(Arc::new)
}

/// Reads `{"name": …, "options": …}`.
impl<'de> Deserialize<'de> for Policy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Fields {
            name: String,
            #[serde(default)]
            options: Value,
        }

        let value = Value::deserialize(deserializer)?;
        if value.get("name").is_none() {
            return Err(D::Error::custom(FORM));
        }
        let fields = Fields::deserialize(value);
        let Fields { name, options } =
            fields.map_err(|error| D::Error::custom(format!("{error}; {FORM}")))?;
        Ok(Self::new(name).with_options(options))
    }
}

const FORM: &str = r#"a policy is {"name": "top", "options": {"limit": 3}}"#;

/// Options in an order of their own: a recipe has the same JSON whether or not another crate of the program turns
/// `serde_json/preserve_order` on.
fn sorted(mut options: Value) -> Value {
    options.sort_all_objects();
    options
}

/// A maintenance program, and when it runs.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScheduledProgram {
    /// Number of tasks between two runs; `None` for as many as the program says
    /// ([`MaintenanceProgram::every`](super::MaintenanceProgram::every)).
    #[serde(default)]
    pub every: Option<NonZeroU64>,
    /// Number of tasks before a first run beside these; `None` for no other run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<NonZeroU64>,
    /// The program.
    pub program: Policy,
}

impl ScheduledProgram {
    /// A program that runs after each so many tasks.
    pub fn new(every: NonZeroU64, program: impl Into<Policy>) -> Self {
        Self {
            every: Some(every),
            ..Self::of(program)
        }
    }

    /// A program that runs as often as it says itself.
    pub fn of(program: impl Into<Policy>) -> Self {
        Self {
            every: None,
            first: None,
            program: program.into(),
        }
    }

    /// Whether the program, whose number of tasks is resolved, is due, where `before` and `now` count the tasks that were learned from.
    pub(crate) fn is_due(&self, before: u64, now: u64) -> bool {
        let passed = |every: NonZeroU64| now / every > before / every;
        let is_first = |first: NonZeroU64| before < first.get() && first.get() <= now;
        self.every.is_some_and(passed) || self.first.is_some_and(is_first)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::error::ErrorKind;

    /// Options of a policy that is not there.
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Kettle {
        litres: u32,
    }

    impl PolicyOptions for Kettle {
        const NAME: &'static str = "kettle";

        fn validate(&self) -> Result<()> {
            match self.litres {
                0 => Err(Error::invalid("Kettle::validate", "litres must not be 0")),
                _ => Ok(()),
            }
        }
    }

    /// Options that no JSON can hold: its keys are texts.
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Unwritable(std::collections::BTreeMap<Vec<u8>, u8>);

    impl PolicyOptions for Unwritable {
        const NAME: &'static str = "unwritable";
    }

    #[test]
    fn options_become_a_policy_and_are_read_from_it() {
        let policy = Policy::from(Kettle { litres: 2 });
        assert_eq!(
            policy,
            Policy::new("kettle").with_options(json!({ "litres": 2 }))
        );
        assert!(policy.is::<Kettle>() && !policy.is::<Unwritable>());
        assert_eq!(policy.read().unwrap(), Some(Kettle { litres: 2 }));
        assert_eq!(policy.read::<Unwritable>().unwrap(), None);
    }

    #[test]
    fn options_of_another_policy_are_refused_with_the_name_and_the_reason() {
        for options in [
            json!({ "cups": 2 }),
            json!({ "litres": 2, "cups": 2 }),
            Value::Null,
        ] {
            let policy = Policy::new("kettle").with_options(options);
            let error = policy.read::<Kettle>().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid);
            assert!(error.to_string().contains("kettle"), "{error}");
            assert!(std::error::Error::source(&error).is_some());
            assert!(policy.check::<Kettle>().is_err());
            assert!(checked_options::<Kettle>(&policy.options).is_err());
            // Another policy's options are that policy's matter.
            assert!(policy.check::<Unwritable>().is_ok());
        }
    }

    #[test]
    fn options_that_cannot_be_written_are_refused_for_every_policy() {
        let unwritable = || Unwritable([(vec![1], 2)].into());
        let mine = Policy::new("mine").with_options(unwritable());
        for policy in [Policy::from(unwritable()), mine.clone()] {
            assert_eq!(policy.options, Value::Null);
            let error = policy.usable().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid);
            assert!(error.to_string().contains(&policy.name), "{error}");
            assert!(std::error::Error::source(&error).is_some());
            assert!(policy.check::<Unwritable>().is_err());
        }
        // Other options take their place.
        assert!(mine.with_options(json!({})).usable().is_ok());
    }

    #[test]
    fn no_options_may_be_null_or_empty_and_some_leave_the_others_at_their_defaults() {
        #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        struct Pot {
            litres: u32,
            lid: bool,
        }
        impl PolicyOptions for Pot {
            const NAME: &'static str = "pot";
        }
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        struct Spoon;
        impl PolicyOptions for Spoon {
            const NAME: &'static str = "spoon";
        }
        for none in [Value::Null, json!({})] {
            let pot = Policy::new("pot").with_options(&none);
            assert_eq!(pot.read().unwrap(), Some(Pot::default()));
            let spoon = Policy::new("spoon").with_options(&none);
            assert_eq!(spoon.read().unwrap(), Some(Spoon));
        }
        let pot = Policy::new("pot").with_options(json!({ "lid": true }));
        assert_eq!(
            pot.read().unwrap(),
            Some(Pot {
                litres: 0,
                lid: true
            })
        );
        let pot = Policy::new("pot").with_options(json!({ "lids": 2 }));
        assert!(pot.read::<Pot>().is_err());
        let spoon = Policy::new("spoon").with_options(json!({ "lid": true }));
        assert!(spoon.read::<Spoon>().is_err());
    }

    #[test]
    fn ranges_are_checked() {
        assert!(Policy::from(Kettle { litres: 1 }).check::<Kettle>().is_ok());
        let empty = Policy::from(Kettle { litres: 0 });
        assert!(empty.read::<Kettle>().is_ok());
        assert!(empty.check::<Kettle>().is_err());
        assert!(checked_options::<Kettle>(&empty.options).is_err());
    }

    #[test]
    fn a_number_that_json_does_not_have_is_refused() {
        #[derive(Serialize, Deserialize)]
        struct Spoon {
            grams: Option<f64>,
        }
        impl PolicyOptions for Spoon {
            const NAME: &'static str = "spoon";

            fn validate(&self) -> Result<()> {
                match self.grams {
                    Some(grams) if !grams.is_finite() => {
                        Err(Error::invalid("Spoon::validate", "grams must be finite"))
                    }
                    _ => Ok(()),
                }
            }
        }
        let spoon = |grams| Policy::from(Spoon { grams });
        assert!(spoon(Some(1.0)).check::<Spoon>().is_ok());
        assert!(spoon(None).check::<Spoon>().is_ok());
        let none = spoon(Some(f64::NAN));
        assert!(none.check::<Spoon>().is_err() && none.usable().is_err());
    }

    #[test]
    fn json_has_the_name_and_the_options_or_is_refused_with_the_form() {
        let json = r#"{"name":"kettle","options":{"litres":2}}"#;
        let policy: Policy = serde_json::from_str(json).unwrap();
        assert_eq!(policy, Kettle { litres: 2 }.into());
        assert_eq!(serde_json::to_string(&policy).unwrap(), json);
        let plain = r#"{"name":"plain"}"#;
        assert_eq!(serde_json::to_string(&Policy::new("plain")).unwrap(), plain);
        let read: Policy = serde_json::from_str(plain).unwrap();
        assert_eq!(read, Policy::new("plain"));
        for other in [
            r#""first""#,
            r#"{"kettle":{"litres":2}}"#,
            r#"{"own":{"name":"mine"}}"#,
            r#"{"name":"kettle","parameters":{"litres":2}}"#,
            r#"{"name":"kettle","litres":2}"#,
            r#"{"name":7}"#,
            "7",
        ] {
            let error = serde_json::from_str::<Policy>(other).unwrap_err();
            assert!(error.to_string().contains(FORM), "{error}");
        }
    }

    #[test]
    fn a_program_is_due_after_each_so_many_tasks_and_once_before() {
        let count = |number| NonZeroU64::new(number).unwrap();
        let mut scheduled = ScheduledProgram {
            every: Some(count(5)),
            first: None,
            program: Policy::new("one"),
        };
        let due = |one: &ScheduledProgram| -> Vec<u64> {
            (1..=12).filter(|now| one.is_due(now - 1, *now)).collect()
        };
        assert_eq!(due(&scheduled), [5, 10]);
        scheduled.first = Some(count(3));
        assert_eq!(due(&scheduled), [3, 5, 10]);
        // A batch of tasks passes several at once.
        assert!(scheduled.is_due(2, 4) && scheduled.is_due(4, 11) && !scheduled.is_due(5, 9));
    }
}
