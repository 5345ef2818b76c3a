//! Annotated attempts for training a router, as JSON Lines: attempts with their subgoals, skills, prototypes and scores, split
//! into a training and a test part (SCRIBE 4 and appendix B; row C3).
//!
//! Each line is one [`AnnotatedAttempt`]: the task and the raw steps, which a router is given, and the subgoals, which it has to
//! find. The JSON Schema of a line is [`JSON_SCHEMA`]; `docs/reference/exports.md` explains each field. [`prototypes`] writes the prototypes
//! that the lines name.
//!
//! ```
//! use journeyman::{Seed, domain::{AssessedSubgoal, Assessment, SubgoalScore}, testing::sample};
//! use journeyman_interchange::assessments::{self, Split, SplitPart};
//!
//! let task = sample::task("greet", &["good", "day"]);
//! let attempts: Vec<_> = (0..20).map(|n| sample::trace(&format!("a-{n}"), &task, &["good", "day"], true)).collect();
//! let mut greet = AssessedSubgoal::new(sample::subgoal("greet", 0, 1));
//! greet.score = Some(SubgoalScore::new(3)?);
//! let annotations = attempts.iter().map(|attempt| {
//!     let annotation = Assessment::new(attempt.trajectory.attempt.clone(), task.id.clone()).with_success(true);
//!     annotation.with_subgoals(vec![greet.clone()])
//! });
//! let annotations: Vec<_> = annotations.collect();
//!
//! let exported = assessments::of_assessments(&annotations, &attempts, &Split::new(Seed(7)))?;
//! let test = exported.attempts.iter().filter(|one| one.split == SplitPart::Test);
//! assert_eq!((exported.attempts.len(), test.count()), (20, 2));
//!
//! let lines = assessments::write(&exported.attempts)?;
//! assert_eq!(assessments::read(&lines)?, exported.attempts);
//! # Ok::<(), journeyman::Error>(())
//! ```

mod attempt;
mod lines;
mod schema;
mod split;

pub use attempt::{AnnotatedAttempt, AnnotatedStep, AnnotatedSubgoal};
pub use lines::{
    ExportedAssessments, RefusedAssessment, of_assessments, of_library, prototypes, read, write,
};
pub use schema::JSON_SCHEMA;
pub use split::{Split, SplitBy, SplitPart};
