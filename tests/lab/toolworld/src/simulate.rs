//! The services of a task as a state machine that answers command lines.

use crate::lexicon::{ParameterKind, kind_of, takes, value_for};
use crate::refusal::Refusal;
use crate::seed::Draws;
use crate::tool::{DEFAULT_SLOT, Demand, Service, Setting, ToolName};
use crate::world::World;

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The call succeeded without finishing the task; with the value that it returned, if any.
    Accepted(Option<Setting>),
    /// It was refused.
    Refused(Refusal),
    /// The task is done.
    Done,
}

/// The answer to one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The answer's text.
    pub text: String,
    /// The outcome that the text states.
    pub outcome: Outcome,
}

/// One run in a world.
#[derive(Debug, Clone)]
pub struct Simulation {
    world: World,
    result: Setting,
    called: Vec<ToolName>,
    calls: usize,
    refusals: usize,
    done: bool,
}

impl Simulation {
    /// Starts a run; the seed determines the values that results return.
    #[must_use]
    pub fn start(world: World, seed: u64) -> Self {
        let result = carried_value(&world, &mut Draws::new("result", &[seed]));
        Self {
            world,
            result,
            called: Vec::new(),
            calls: 0,
            refusals: 0,
            done: false,
        }
    }

    /// The world that is run.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Whether the task is done.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// How many calls were made.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.calls
    }

    /// How many calls were refused.
    #[must_use]
    pub fn refusals(&self) -> usize {
        self.refusals
    }

    /// The number of calls of a run that knows the contract.
    #[must_use]
    pub fn fewest_calls(&self) -> usize {
        let helpers =
            |service: &Service| service.contract.iter().filter_map(Demand::helper).count();
        1 + self.world.target().map_or(0, helpers)
    }

    /// Whether the task was done without any refused or unnecessary call.
    #[must_use]
    pub fn is_first_attempt(&self) -> bool {
        self.done && self.refusals == 0 && self.calls == self.fewest_calls()
    }

    /// Answers a command line. A malformed line is refused; there are no errors.
    pub fn call(&mut self, line: &str) -> Reply {
        self.calls += 1;
        let outcome = self.run(line).unwrap_or_else(Outcome::Refused);
        let text = match &outcome {
            Outcome::Accepted(None) => "ok".to_owned(),
            Outcome::Accepted(Some(setting)) => {
                format!("ok {} {}", setting.parameter, setting.value)
            }
            Outcome::Done => "done".to_owned(),
            Outcome::Refused(refusal) => self.world.wording.refuse(refusal),
        };
        self.refusals += usize::from(matches!(outcome, Outcome::Refused(_)));
        self.done |= outcome == Outcome::Done;
        Reply { text, outcome }
    }

    fn run(&mut self, line: &str) -> Result<Outcome, Refusal> {
        let (name, settings) = parse(line)?;
        let Some(service) = self.world.service(&name) else {
            return Err(Refusal::UnknownTool(name));
        };
        check_types(service, &settings)?;
        if name == self.world.goal.target {
            self.check_contract(service, &settings)?;
            self.check_given(&settings)?;
            return Ok(Outcome::Done);
        }
        self.called.push(name.clone());
        let gives = self.world.target().is_some_and(|target| {
            target
                .contract
                .iter()
                .any(|demand| matches!(demand, Demand::Carried { source, .. } if *source == name))
        });
        Ok(Outcome::Accepted(gives.then(|| self.result.clone())))
    }

    fn check_contract(&self, service: &Service, settings: &[Setting]) -> Result<(), Refusal> {
        for demand in &service.contract {
            match demand {
                Demand::Before(tool) if !self.called.contains(tool) => {
                    return Err(Refusal::NeedsCall(tool.clone()));
                }
                Demand::Exact(wanted) if !settings.contains(wanted) => {
                    return Err(Refusal::NeedsValue(wanted.clone()));
                }
                Demand::Carried { parameter, source }
                    if !self.called.contains(source) || !settings.contains(&self.result) =>
                {
                    return Err(Refusal::NeedsResult {
                        parameter: parameter.clone(),
                        source: source.clone(),
                    });
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn check_given(&self, settings: &[Setting]) -> Result<(), Refusal> {
        match self
            .world
            .goal
            .given
            .iter()
            .find(|wanted| !settings.contains(wanted))
        {
            Some(wanted) => Err(Refusal::WrongValue(wanted.parameter.clone())),
            None => Ok(()),
        }
    }
}

/// Splits a command line into the tool's name and its settings.
///
/// # Errors
/// [`Refusal::Malformed`] when it has fewer than two words or a parameter without a value.
pub fn parse(line: &str) -> Result<(ToolName, Vec<Setting>), Refusal> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let name = ToolName::parse(line).ok_or(Refusal::Malformed)?;
    let mut settings = Vec::new();
    for pair in words.get(2..).unwrap_or_default().chunks(2) {
        let [parameter, value] = pair else {
            return Err(Refusal::Malformed);
        };
        settings.push(Setting {
            parameter: (*parameter).to_owned(),
            value: (*value).to_owned(),
        });
    }
    Ok((name, settings))
}

fn check_types(service: &Service, settings: &[Setting]) -> Result<(), Refusal> {
    for Setting { parameter, value } in settings {
        if !service.tool.parameters.contains(parameter) {
            return Err(Refusal::UnknownParameter {
                tool: service.tool.name.clone(),
                parameter: parameter.clone(),
            });
        }
        if value != DEFAULT_SLOT && !takes(parameter, value) {
            let number = kind_of(parameter) == ParameterKind::Number;
            return Err(Refusal::WrongType {
                parameter: parameter.clone(),
                number,
            });
        }
    }
    Ok(())
}

/// The value that the source of a carried value returns in this run; different from all values that the task or the
/// contract names.
fn carried_value(world: &World, draws: &mut Draws) -> Setting {
    let contract = world
        .target()
        .map(|service| service.contract.as_slice())
        .unwrap_or_default();
    let parameter = contract.iter().find_map(|demand| match demand {
        Demand::Carried { parameter, .. } => Some(parameter.clone()),
        Demand::Before(_) | Demand::Exact(_) => None,
    });
    let parameter = parameter.unwrap_or_default();
    let named = |value: &String| {
        world
            .goal
            .given
            .iter()
            .any(|setting| setting.value == *value)
            || contract
                .iter()
                .any(|demand| matches!(demand, Demand::Exact(setting) if setting.value == *value))
    };
    let mut value = value_for(&parameter, draws);
    while named(&value) {
        value = value_for(&parameter, draws);
    }
    Setting { parameter, value }
}
