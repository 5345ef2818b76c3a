//! Tags of tasks by a role (SkillOS, preprocessing; row K3).

use futures::{StreamExt, stream};

use crate::{
    contract::{RoleAnswer, RoleTask},
    domain::{Role, Task, Usage},
    error::{Error, ErrorKind, Result},
    id::{RunId, TaskId},
    policy::Answer,
    run::{
        host::{journeyman::Journeyman, withheld::Withheld},
        machine::Effect,
    },
};

/// Tasks with their tags.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaggedTasks {
    /// All tasks, in order.
    pub tasks: Vec<Task>,
    /// The tasks that have no tags: the role could not be played, its answer could not be read, or the task's id or category holds
    /// a secret.
    pub untagged: Vec<UntaggedTask>,
    /// Tokens used by the role, failed calls included.
    pub usage: Usage,
}

/// A task that has no tags.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct UntaggedTask {
    /// The task.
    pub task: TaskId,
    /// Why.
    pub error: Error,
}

impl Journeyman {
    /// Has the role `tag` name the skills that each task needs, as the task's tags ([`Task::tags`]); a task that has tags keeps
    /// them. [`Grouping`](crate::papers::skillos::Grouping) puts tasks with similar tags into groups. The role sees no secrets, and nothing
    /// is stored.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use journeyman::{
    ///     Seed,
    ///     contract::Components,
    ///     domain::{Role, Task},
    ///     papers::skillos::Grouping,
    ///     recipe,
    ///     run::{Journeyman, Options},
    ///     testing::{ScriptedModel, ScriptedRoles},
    /// };
    ///
    /// # futures::executor::block_on(async {
    /// let components = Components::own_loop()
    ///     .with_model(Arc::new(ScriptedModel::always("cleaning\nkitchen")))
    ///     .with_roles(Arc::new(ScriptedRoles::only([Role::Tag])));
    /// let journeyman = Journeyman::open(components, recipe::skillos(), Options::new("tags", Seed(7))).await?;
    ///
    /// let tasks = vec![
    ///     Task::new("mug", "clean the mug"),
    ///     Task::new("lamp", "turn on the lamp").with_tags(["light"]),
    ///     Task::new("plate", "clean the plate"),
    /// ];
    /// let tagged = journeyman.tag(tasks).await?;
    /// assert_eq!(tagged.tasks[0].tags, ["cleaning", "kitchen"]);
    /// assert_eq!(tagged.tasks[1].tags, ["light"], "a task keeps the tags that it has");
    /// let groups = Grouping::default().groups(tagged.tasks)?;
    /// assert_eq!(groups.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1]);
    /// # Ok::<_, journeyman::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// `Unsupported` where the host gave no model or no roles, or roles that do not play `tag`. A task whose id or category
    /// holds a secret is not tagged ([`TaggedTasks::untagged`]).
    pub async fn tag(&self, tasks: Vec<Task>) -> Result<TaggedTasks> {
        let session = &self.session;
        if !session.components.plays(Role::Tag) {
            return Err(Error::unsupported(
                "Journeyman::tag",
                "the host has no model that plays the role tag",
            )
            .hint("set `Components::model` and `Components::roles`, or tag the tasks yourself"));
        }
        let run = session.next_run("tag");
        let _withheld = Withheld {
            journeyman: self,
            run: run.clone(),
        };
        let asked = tasks.into_iter().map(|task| self.tags(&run, task));
        let mut asked = stream::iter(asked).buffered(session.options.in_flight.get());
        let mut tagged = TaggedTasks::default();
        while let Some(one) = asked.next().await {
            tagged.push(one?);
        }
        Ok(tagged)
    }

    /// # Errors
    /// Those of parts that end a call.
    async fn tags(&self, run: &RunId, mut task: Task) -> Result<OneTagged> {
        if !task.tags.is_empty() {
            return Ok(OneTagged {
                task,
                error: None,
                usage: Usage::default(),
            });
        }
        let session = &self.session;
        let seen = match session.performer.withhold(run, task.clone()) {
            Ok(seen) => seen,
            Err(error) => {
                return Ok(OneTagged {
                    task,
                    error: Some(error),
                    usage: Usage::default(),
                });
            }
        };
        let seed = session.options.seed.derive("tag", 0);
        let effect = Effect::Role {
            ask: Box::new(RoleTask::Tag {
                task: Box::new(seen),
            }),
            seed: seed.derive(task.id.as_str(), 0),
        };
        let answer = session.performer.perform(effect).await?;
        let usage = answer.usage().total();
        let error = match answer {
            Answer::Played(Ok(Some(played))) => match played.answer {
                RoleAnswer::Tags(tags) => {
                    task.tags = distinct(tags);
                    None
                }
                _ => Some(unreadable_tags("the role's answer has no tags")),
            },
            Answer::Played(Err(failed)) => Some(failed.error),
            _ => Some(unreadable_tags("the role gave no answer")),
        };
        let nothing = || Some(unreadable_tags("the role named no tag"));
        let error = error.or_else(|| nothing().filter(|_| task.tags.is_empty()));
        Ok(OneTagged { task, error, usage })
    }
}

/// A task after its role was asked.
struct OneTagged {
    task: Task,
    error: Option<Error>,
    usage: Usage,
}

impl TaggedTasks {
    fn push(&mut self, one: OneTagged) {
        self.usage.add(one.usage);
        self.untagged.extend(one.error.map(|error| UntaggedTask {
            task: one.task.id.clone(),
            error,
        }));
        self.tasks.push(one.task);
    }
}

/// The tags without outer spaces, each once, in order.
fn distinct(tags: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for tag in tags.iter().map(|tag| tag.trim()) {
        if !tag.is_empty() && !kept.iter().any(|known| known == tag) {
            kept.push(tag.to_owned());
        }
    }
    kept
}

fn unreadable_tags(message: &'static str) -> Error {
    Error::new(ErrorKind::Model, "Journeyman::tag", message)
}
