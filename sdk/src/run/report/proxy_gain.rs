//! The proxy of information gain (ARISE D.3, Eq. 15; row A11).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    domain::SkillRef,
    error::{Error, Result},
    id::{SkillId, Version},
};

/// Running averages of reward and success, of all attempts and of those with each version of a skill.
///
/// The proxy of a skill is half the difference between the mean reward of its attempts and of all attempts, plus half
/// the same difference in the rate of success. Its unit is the reward's. A positive proxy means that the attempts with
/// the skill went better than average; the proxy is a correlation and no proof of an effect. The exact gain (Eq. 14)
/// needs a scorer.
///
/// ```
/// use journeyman::{Version, domain::SkillRef, run::report::ProxyGain};
///
/// let skill = SkillRef { id: "s1".into(), version: Version(1) };
/// let mut gain = ProxyGain::default();
/// gain.record(&[skill.clone()], 2.0, true)?;
/// gain.record(&[], 0.0, false)?;
/// assert_eq!(gain.of(&skill), Some(0.5 * (2.0 - 1.0) + 0.5 * (1.0 - 0.5)));
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProxyGain {
    all: Averages,
    skills: BTreeMap<SkillId, BTreeMap<Version, Averages>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Averages {
    attempts: u64,
    successes: u64,
    reward: f64,
}

impl Averages {
    fn add(&mut self, reward: f64, success: bool) {
        self.attempts += 1;
        self.successes += u64::from(success);
        self.reward += (reward - self.reward) / self.attempts as f64;
    }

    fn success_rate(&self) -> f64 {
        self.successes as f64 / self.attempts as f64
    }
}

impl ProxyGain {
    /// Counts an attempt that reached a verdict. A skill that is named twice counts once.
    ///
    /// # Errors
    /// `Invalid` where the reward is not finite; nothing is counted.
    pub fn record(&mut self, exposed: &[SkillRef], reward: f64, success: bool) -> Result<()> {
        if !reward.is_finite() {
            return Err(Error::invalid(
                "ProxyGain::record",
                format!("the reward must be finite, and is {reward}"),
            ));
        }
        self.all.add(reward, success);
        for (index, skill) in exposed.iter().enumerate() {
            if !exposed[..index].contains(skill) {
                self.skills
                    .entry(skill.id.clone())
                    .or_default()
                    .entry(skill.version)
                    .or_default()
                    .add(reward, success);
            }
        }
        Ok(())
    }

    /// The versions of skills that attempts were given, by id.
    pub fn skills(&self) -> impl Iterator<Item = SkillRef> {
        self.skills.iter().flat_map(|(id, versions)| {
            versions.keys().map(|version| SkillRef {
                id: id.clone(),
                version: *version,
            })
        })
    }

    /// The proxy of a skill's version (Eq. 15); `None` where no attempt was given it.
    pub fn of(&self, skill: &SkillRef) -> Option<f64> {
        let own = self.skills.get(&skill.id)?.get(&skill.version)?;
        let reward = own.reward - self.all.reward;
        let success = own.success_rate() - self.all.success_rate();
        Some(0.5 * reward + 0.5 * success)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(id: &str, version: u64) -> SkillRef {
        SkillRef {
            id: id.into(),
            version: Version(version),
        }
    }

    #[test]
    fn eq_15() {
        let mut gain = ProxyGain::default();
        let (helps, harms) = (skill("helps", 1), skill("harms", 1));
        gain.record(&[helps.clone(), helps.clone()], 2.0, true)
            .unwrap();
        gain.record(std::slice::from_ref(&harms), 0.0, false)
            .unwrap();
        gain.record(&[], 1.0, true).unwrap();
        gain.record(&[], 1.0, true).unwrap();
        // All: mean reward 1, success 3/4.
        let check = |skill: &SkillRef, expect| assert_eq!(gain.of(skill), expect);
        check(&helps, Some(0.5 * 1.0 + 0.5 * 0.25));
        check(&harms, Some(-0.5 - 0.5 * 0.75));
        check(&skill("helps", 2), None);
        check(&skill("unknown", 1), None);
        assert_eq!(gain.skills().collect::<Vec<_>>(), [harms, helps]);
    }

    #[test]
    fn refuses_what_is_not_finite_and_survives_json() {
        let mut gain = ProxyGain::default();
        gain.record(&[skill("s", 1)], 0.1, true).unwrap();
        let before = gain.clone();
        assert!(gain.record(&[skill("s", 1)], f64::NAN, true).is_err());
        assert_eq!(gain, before);
        let json = serde_json::to_string(&gain).unwrap();
        assert_eq!(serde_json::from_str::<ProxyGain>(&json).unwrap(), gain);
    }
}
