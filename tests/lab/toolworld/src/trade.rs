//! Services with names of this world: a lexicon that says which verbs go with a noun, and what is checked before.
//!
//! The bundled model copies two kinds of words into a call: those of [`lexicon`](crate::lexicon), and words of two or three
//! times a consonant and a vowel, as `fare`, `visa` and `marina`. With `order` or `deposit` it fails, so the bundled lexicon
//! has neither.

use std::collections::BTreeMap;

use journeyman::{Error, Result};
use serde::Deserialize;

use crate::form::ContractForm;
use crate::lexicon::{ParameterKind, kind_of, takes, value_for};
use crate::seed::Draws;
use crate::tool::{Demand, Service, Setting, Tool, ToolName};
use crate::world::{bare, fill_by};

/// The lexicon of a travel office: cabins, ferries, fares, visas.
const TRAVEL: &str = include_str!("travel.json");
/// Fewest values of a parameter that takes words: a task and its contract name at most five different ones.
const FEWEST_VALUES: usize = 6;
/// Fewest checks of a noun: a contract needs at most two.
const FEWEST_CHECKS: usize = 2;
/// Fewest parameters: a tool has at most seven.
const FEWEST_PARAMETERS: usize = 7;
/// Fewest parameters that take a number: a contract may ask for one, and another for a result.
const FEWEST_NUMBERS: usize = 2;

/// A lexicon of services.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trade {
    offers: Vec<Offer>,
    /// The parameters by name, each with the words that it takes; none for a parameter that takes a number from 1 to 99.
    parameters: BTreeMap<String, Vec<String>>,
}

/// A noun with the verbs of its tools.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Offer {
    noun: String,
    verbs: Vec<String>,
    /// What may have to be called before one of its tools, each as verb and noun.
    checks: Vec<String>,
}

impl Trade {
    /// The bundled lexicon. Each of its tools is on the held-out side of the split
    /// ([`Split::HeldOut`](crate::split::Split::HeldOut)).
    ///
    /// # Errors
    /// `Invalid` for a lexicon with a fault; never for the lexicon as it is.
    pub fn travel() -> Result<Self> {
        Self::read(TRAVEL)
    }

    /// Reads a lexicon in the JSON form of `travel.json`, and checks it.
    ///
    /// # Errors
    /// `Invalid` for another form, for a name that is not in small letters, for a noun with fewer than two checks, for fewer than
    /// seven parameters or two that take a number, and for a parameter or a value that toolworld does not have.
    fn read(text: &str) -> Result<Self> {
        let trade: Self = serde_json::from_str(text).map_err(|error| {
            refuse("the lexicon is not JSON of offers and parameters").source_from(error)
        })?;
        trade.offers.iter().try_for_each(Offer::check)?;
        trade.check_parameters()?;
        Ok(trade)
    }

    fn check_parameters(&self) -> Result<()> {
        if self.parameters.len() < FEWEST_PARAMETERS {
            return Err(
                refuse("the lexicon has too few parameters").with("least", FEWEST_PARAMETERS)
            );
        }
        let numbers = self.parameters.values().filter(|words| words.is_empty());
        if numbers.count() < FEWEST_NUMBERS {
            return Err(refuse("too few parameters of the lexicon take a number")
                .with("least", FEWEST_NUMBERS));
        }
        for (name, values) in &self.parameters {
            let is_number = kind_of(name) == ParameterKind::Number;
            let fits = match values.as_slice() {
                [] => is_number,
                values => {
                    !is_number
                        && values.len() >= FEWEST_VALUES
                        && values.iter().all(|value| takes(name, value))
                }
            };
            if !fits {
                return Err(
                    refuse("a parameter of the lexicon does not take its values")
                        .with("parameter", name)
                        .with("least_words", FEWEST_VALUES),
                );
            }
        }
        Ok(())
    }

    /// Services that share verbs and nouns, those with hidden demands first, each with the names of the parameters that its tasks
    /// give; `given` weighs their number as [`WorldSpec::given`](crate::world::WorldSpec::given).
    ///
    /// # Errors
    /// `Invalid` where the lexicon has fewer tools.
    pub(crate) fn services(
        &self,
        hidden: usize,
        plain: usize,
        given: &[u32],
        draws: &mut Draws,
    ) -> Result<Vec<(Service, Vec<String>)>> {
        let mut offers: Vec<&Offer> = self.offers.iter().collect();
        draws.shuffle(&mut offers);
        let tools = offers.into_iter().flat_map(Offer::tools);
        let mut tools: Vec<(&Offer, ToolName)> = tools.take(hidden + plain).collect();
        if tools.len() < hidden + plain {
            return Err(refuse("the lexicon has fewer tools than the universe")
                .with("tools", tools.len())
                .with("wanted", hidden + plain));
        }
        draws.shuffle(&mut tools);
        let services = (0..).zip(tools).map(|(number, (offer, name))| {
            let form = match number < hidden {
                true => ContractForm::draw_hidden(draws),
                false => ContractForm::Plain,
            };
            self.service(offer, name, form, given, draws)
        });
        Ok(services.collect())
    }

    fn service(
        &self,
        offer: &Offer,
        name: ToolName,
        form: ContractForm,
        given: &[u32],
        draws: &mut Draws,
    ) -> (Service, Vec<String>) {
        let (before, exact, carried) = form.parts();
        let mut checks: Vec<ToolName> = offer.checks().collect();
        draws.shuffle(&mut checks);
        let mut names: Vec<String> = self.parameters.keys().cloned().collect();
        draws.shuffle(&mut names);
        let (mut contract, mut parameters) = (Vec::new(), Vec::new());
        if let (true, Some(check)) = (before, checks.pop()) {
            contract.push(Demand::Before(check));
        }
        if let (true, Some(parameter)) = (exact, names.pop()) {
            parameters.push(parameter.clone());
            let value = self.value(&parameter, draws);
            contract.push(Demand::Exact(Setting { parameter, value }));
        }
        // What a result gives is a number, as a ticket or a code is.
        let number = |name: &String| kind_of(name) == ParameterKind::Number;
        if let (true, Some(at)) = (carried, names.iter().position(number))
            && let Some(source) = checks.pop()
        {
            let parameter = names.remove(at);
            parameters.push(parameter.clone());
            contract.push(Demand::Carried { parameter, source });
        }
        let count = draws.weighted(given).min(names.len());
        let given: Vec<String> = names.drain(..count).collect();
        parameters.extend(given.iter().cloned());
        if form == ContractForm::Plain || parameters.len() < 3 {
            let further = draws.weighted(&[70, 30]);
            parameters.extend(names.into_iter().take(further));
        }
        draws.shuffle(&mut parameters);
        draws.shuffle(&mut contract);
        let tool = Tool { name, parameters };
        (Service { tool, contract }, given)
    }

    /// A tool that is neither taken nor a member: mostly one that shares the verb or the noun. It has the same parameters wherever
    /// it stands. `None` where no such tool is left.
    pub(crate) fn distractor(
        &self,
        target: &ToolName,
        is_free: impl Fn(&ToolName) -> bool,
        draws: &mut Draws,
    ) -> Option<Service> {
        let tools = self.offers.iter().flat_map(Offer::tools);
        let checks = self.offers.iter().flat_map(Offer::checks);
        let mut free: Vec<(ToolName, bool)> = tools
            .map(|(_, name)| (name, true))
            .chain(checks.map(|name| (name, false)))
            .filter(|(name, _)| is_free(name))
            .collect();
        let is_near = |name: &ToolName| name.verb == target.verb || name.noun == target.noun;
        if draws.chance(0.75) && free.iter().any(|(name, _)| is_near(name)) {
            free.retain(|(name, _)| is_near(name));
        }
        let (name, has_parameters) = draws.pick(&free).cloned()?;
        Some(Service::plain(match has_parameters {
            true => self.tool(name),
            false => bare(name),
        }))
    }

    /// A tool with parameters that its name alone decides.
    fn tool(&self, name: ToolName) -> Tool {
        let mut draws = Draws::new(&format!("tool of a trade: {name}"), &[]);
        let mut parameters: Vec<String> = self.parameters.keys().cloned().collect();
        draws.shuffle(&mut parameters);
        parameters.truncate(draws.weighted(&[40, 30, 20, 10]));
        Tool { name, parameters }
    }

    /// Values for the given parameters, all different from each other and from demanded values.
    pub(crate) fn fill(
        &self,
        given: &[String],
        contract: &[Demand],
        draws: &mut Draws,
    ) -> Vec<Setting> {
        fill_by(
            |parameter, draws| self.value(parameter, draws),
            given,
            contract,
            draws,
        )
    }

    fn value(&self, parameter: &str, draws: &mut Draws) -> String {
        let words = self.parameters.get(parameter);
        match words.and_then(|words| draws.pick(words)) {
            Some(word) => word.clone(),
            None => value_for(parameter, draws),
        }
    }

    /// A noun other than this one.
    pub(crate) fn other_noun(&self, noun: &str, draws: &mut Draws) -> &str {
        let others = self.offers.iter().map(|offer| offer.noun.as_str());
        let others: Vec<&str> = others.filter(|other| *other != noun).collect();
        draws.pick(&others).copied().unwrap_or("map")
    }
}

impl Offer {
    fn tools(&self) -> impl Iterator<Item = (&Self, ToolName)> {
        let verbs = self.verbs.iter();
        verbs.map(move |verb| (self, ToolName::new(verb, &self.noun)))
    }

    fn checks(&self) -> impl Iterator<Item = ToolName> {
        self.checks.iter().filter_map(|line| ToolName::parse(line))
    }

    fn check(&self) -> Result<()> {
        let is_word =
            |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase());
        let is_check = |line: &&String| {
            let words: Vec<&str> = line.split(' ').collect();
            matches!(words.as_slice(), [verb, noun] if is_word(verb) && is_word(noun))
        };
        let has_words = is_word(&self.noun) && self.verbs.iter().all(|verb| is_word(verb));
        let checks = self.checks.iter().filter(is_check).count();
        if has_words && checks == self.checks.len() && checks >= FEWEST_CHECKS {
            return Ok(());
        }
        Err(refuse("a noun of the lexicon lacks words or checks")
            .with("noun", &self.noun)
            .with("least_checks", FEWEST_CHECKS))
    }
}

fn refuse(message: &str) -> Error {
    Error::invalid("Trade::travel", message)
        .hint("write words in small letters, in the form of tests/lab/toolworld/src/travel.json")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;
    use crate::lexicon::{CONSONANTS, NOUNS, VERBS, VOWELS};
    use crate::split::Split;

    /// Two or three times a consonant and a vowel.
    fn is_syllables(word: &str) -> bool {
        let letters: Vec<char> = word.chars().collect();
        let pair = |pair: &[char]| matches!(pair, [one, other] if CONSONANTS.contains(*one) && VOWELS.contains(*other));
        matches!(letters.len(), 4 | 6) && letters.chunks(2).all(pair)
    }

    #[test]
    fn the_bundled_lexicon_has_words_that_the_bundled_model_copies_in_pairs_that_it_never_saw() {
        let trade = Trade::travel().unwrap();
        let tools: Vec<ToolName> = (trade.offers.iter().flat_map(Offer::tools))
            .map(|(_, name)| name)
            .collect();
        let checks: Vec<ToolName> = trade.offers.iter().flat_map(Offer::checks).collect();
        for name in tools.iter().chain(&checks) {
            let ToolName { verb, noun } = name;
            assert!(VERBS.contains(&verb.as_str()), "{name}");
            assert!(
                NOUNS.contains(&noun.as_str()) || is_syllables(noun),
                "{name}"
            );
            assert_eq!(Split::of(verb, noun), Split::HeldOut, "{name}");
        }
        assert!(tools.iter().all(|name| !checks.contains(name)));
        let is_once = |names: &[ToolName]| {
            let mut seen = BTreeSet::new();
            names.iter().all(|name| seen.insert(name))
        };
        assert!(is_once(&tools));
        for offer in &trade.offers {
            let checks: Vec<ToolName> = offer.checks().collect();
            assert!(is_once(&checks), "{}", offer.noun);
        }
        let nouns: BTreeSet<&str> = trade.offers.iter().map(|one| one.noun.as_str()).collect();
        assert_eq!(nouns.len(), trade.offers.len());
        assert!(tools.len() >= 48, "{}", tools.len());
    }

    #[test]
    fn a_lexicon_with_a_fault_is_refused() {
        let whole: serde_json::Value = serde_json::from_str(TRAVEL).unwrap();
        let check = |pointer: &str, to: serde_json::Value, words: &str| {
            let mut other = whole.clone();
            *other.pointer_mut(pointer).unwrap() = to;
            let error = Trade::read(&other.to_string()).unwrap_err();
            assert!(error.message().contains(words), "{error}");
        };
        check("/offers", json!(1), "not JSON");
        check("/offers/0/noun", json!("Ferry"), "lacks words");
        check("/offers/0/checks", json!(["test tide"]), "lacks words");
        check("/offers/0/checks/0", json!("test"), "lacks words");
        check("/parameters", json!({"code": []}), "too few parameters");
        check("/parameters/code", json!(["red"]), "does not take");
        check("/parameters/zone/0", json!("nowhere"), "does not take");
    }
}
