//! The gate of a recipe: that of our selectors `gate` and `bank`.

use super::{Recipe, of_papers};
use crate::{
    error::{Error, Result},
    stations::select::{GateCalibration, GatePolicy},
};

impl Recipe {
    /// The gate by which the recipe's selector decides: of `gate`, or behind a `bank`. `None` for a selector without one, and for
    /// options that [`resolve`](Self::resolve) refuses. A host's own selector says by
    /// [`SelectProgram::gate`](crate::policy::SelectProgram::gate) whether it has one.
    ///
    /// ```
    /// use journeyman::{recipe, stations::select::Nothing};
    ///
    /// let mut recipe = recipe::standard();
    /// let mut gate = recipe.gate().expect("it decides by one");
    /// gate.absolute = Some(7.0);
    /// recipe.set_gate(gate.clone())?;
    /// assert_eq!(recipe.gate(), Some(gate));
    ///
    /// recipe.select.selector = Nothing.into();
    /// assert_eq!(recipe.gate(), None);
    /// # Ok::<(), journeyman::Error>(())
    /// ```
    pub fn gate(&self) -> Option<GatePolicy> {
        let selector = &self.select.selector;
        if let Some(gate) = selector.read::<GatePolicy>().ok()? {
            return Some(gate);
        }
        of_papers::gate(selector).ok()?
    }

    /// Replaces the gate by which the recipe's selector decides: of `gate`, or behind a `bank`.
    ///
    /// # Errors
    /// `Invalid` for a recipe without a gate, and for options that are not those of its selector.
    pub fn set_gate(&mut self, gate: GatePolicy) -> Result<()> {
        let selector = &mut self.select.selector;
        if selector.read::<GatePolicy>()?.is_some() {
            *selector = gate.into();
            return Ok(());
        }
        match of_papers::set_gate(selector, gate)? {
            true => Ok(()),
            false => Err(self.without_gate("Recipe::set_gate")),
        }
    }

    /// Sets the threshold of the recipe's gate to one that was fitted to the host's model.
    ///
    /// # Errors
    /// `Invalid` for a recipe without a gate, for a gate by another score, and for a calibration on
    /// [`outcomes`](GateCalibration::outcomes) where the gate is behind a `bank`: its bound is for one candidate a task, and a bank injects
    /// each skill that passes.
    pub fn calibrate(&mut self, fitted: &GateCalibration) -> Result<()> {
        let Some(mut gate) = self.gate() else {
            return Err(self
                .without_gate("Recipe::calibrate")
                .hint("leave out the calibration, or choose the selector `gate` (`GatePolicy`)"));
        };
        if fitted.outcomes.is_some() && !self.decides_about_one()? {
            return Err(self.beyond_the_bound());
        }
        fitted.apply(&mut gate)?;
        self.set_gate(gate)
    }

    /// Whether the gate is that of `gate`, which injects the best candidate or none.
    fn decides_about_one(&self) -> Result<bool> {
        let gate = self.select.selector.read::<GatePolicy>()?;
        Ok(gate.is_some())
    }

    fn beyond_the_bound(&self) -> Error {
        let message = "the calibration was fitted on outcomes with one candidate a task, and the recipe's selector may inject several skills";
        Error::invalid("Recipe::calibrate", message)
            .with("recipe", &self.name)
            .with("selector", &self.select.selector.name)
            .hint(
                "choose the selector `gate` (`GatePolicy`), or take a calibration that was not fitted on outcomes (`journeyman model calibrate`)",
            )
    }

    fn without_gate(&self, operation: &'static str) -> Error {
        let message = "the recipe has no gate, so that there is nothing to calibrate";
        Error::invalid(operation, message)
            .with("recipe", &self.name)
            .with("selector", &self.select.selector.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        domain::ScoreKind,
        error::ErrorKind,
        id::Seed,
        papers::skillrl::{BankGate, BankSelector},
        policy::Policy,
        recipe::{skillrl, standard},
        stations::select::{ByOutcomes, First, HarmBound, OutcomeScores},
        testing::ScriptedFormat,
    };

    /// A calibration of 60 tasks that all go better with their candidate.
    fn by_outcomes() -> GateCalibration {
        let tried = |number: u32| OutcomeScores {
            task: format!("task-{number}").as_str().into(),
            score: f64::from(number),
            before: 0.0,
            with: 1.0,
        };
        let tasks: Vec<OutcomeScores> = (0..60).map(tried).collect();
        let of = (&"m".into(), ScoreKind::CardPmi, &ScriptedFormat as _);
        let bound = HarmBound::default();
        match GateCalibration::by_outcomes(&tasks, of, bound, Seed(1)).unwrap() {
            ByOutcomes::Fitted(fitted) => *fitted,
            ByOutcomes::NotYet { more } => unreachable!("{more} more tasks are needed"),
        }
    }

    #[test]
    fn a_bound_on_harm_is_for_a_gate_that_decides_about_one_candidate() {
        let fitted = by_outcomes();
        standard().calibrate(&fitted).unwrap();
        let mut bank = skillrl();
        let gate = BankGate {
            policy: GatePolicy::default(),
            exempt_general: false,
        };
        bank.select.selector = BankSelector {
            gate: Some(gate),
            ..BankSelector::default()
        }
        .into();
        let error = bank.calibrate(&fitted).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.message().contains("one candidate"), "{error}");
        assert!(error.hint_text().unwrap().contains("`gate`"), "{error}");
        // One that was not fitted on outcomes claims nothing of harm.
        let mut other = fitted;
        other.outcomes = None;
        bank.calibrate(&other).unwrap();
        assert_eq!(bank.gate().unwrap().absolute, Some(other.threshold));
    }

    #[test]
    fn a_gate_is_read_and_replaced_where_there_is_one() {
        let other = GatePolicy {
            epsilon: 0.0,
            ..GatePolicy::fits()
        };
        let mut recipe = standard();
        assert_eq!(recipe.gate(), Some(GatePolicy::default()));
        recipe.set_gate(other.clone()).unwrap();
        assert_eq!(recipe.select.selector, other.clone().into());

        let mut bank = skillrl();
        assert_eq!(bank.gate(), None);
        assert!(bank.set_gate(other.clone()).is_err());
        let behind = |policy| BankSelector {
            gate: Some(BankGate {
                policy,
                exempt_general: true,
            }),
            ..BankSelector::default()
        };
        bank.select.selector = behind(GatePolicy::default()).into();
        assert_eq!(bank.gate(), Some(GatePolicy::default()));
        bank.set_gate(other.clone()).unwrap();
        assert_eq!(bank.select.selector, behind(other.clone()).into());

        for without in [First.into(), Policy::new("mine")] {
            recipe.select.selector = without;
            assert_eq!(recipe.gate(), None);
            let error = recipe.set_gate(other.clone()).unwrap_err();
            assert!(error.message().contains("no gate"), "{error}");
        }
        recipe.select.selector = Policy::new("gate").with_options("wrong");
        assert_eq!(recipe.gate(), None);
        let error = recipe.set_gate(other).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.message().contains("not the options"), "{error}");
    }
}
