//! ARISE: the recipe with the paper's numbers, the measurement of the skills' information gain ([`GainsPolicy`]; D.3,
//! row A11; a run tells the gain by proxy beside it, [`ProxyGain`](crate::run::report::ProxyGain)), and the stages that a written skill
//! passes ([`validate()`]; D.1, row A9). The gate, levels of reward, credit per step and the summarizing writer are stations' own: the
//! default recipe has them too.

mod gains;
pub(crate) mod policies;
mod recipe;
mod validate;

pub use gains::GainsPolicy;
pub use recipe::arise;
pub use validate::validate;
