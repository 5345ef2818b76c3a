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
    /// `Invalid` for a recipe without a gate, and for a gate by another score.
    pub fn calibrate(&mut self, fitted: &GateCalibration) -> Result<()> {
        let Some(mut gate) = self.gate() else {
            return Err(self
                .without_gate("Recipe::calibrate")
                .hint("leave out the calibration, or choose the selector `gate` (`GatePolicy`)"));
        };
        fitted.apply(&mut gate)?;
        self.set_gate(gate)
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
        error::ErrorKind,
        papers::skillrl::{BankGate, BankSelector},
        policy::Policy,
        recipe::{skillrl, standard},
        stations::select::First,
    };

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
