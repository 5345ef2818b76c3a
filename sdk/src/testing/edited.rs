//! A value with some of its fields changed, as an expression.

/// Changes of fields within an expression, for tests. A host sets the fields, which are public.
///
/// ```
/// use journeyman::{domain::State, testing::{Edited, sample}};
///
/// let skill = sample::skill("brew").edited(|it| it.state = State::Trial);
/// assert_eq!(skill.state, State::Trial);
/// ```
pub trait Edited: Sized {
    /// The value after `change`.
    #[must_use]
    fn edited(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

impl<T> Edited for T {}
