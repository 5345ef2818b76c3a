//! The policy of one task: select skills, make attempts, judge them, and ask roles about them.

use std::{collections::BTreeMap, sync::Arc, task::Poll};

use futures::future::join;
use serde::{Deserialize, Serialize};

use crate::{
    contract::{RoleAnswer, RoleTask},
    domain::{
        Assessment, AssignedSkill, Assignment, CaseKind, LibraryChange, Mode, Skill, SkillDraft,
        SkillRef, Task, Trace, Trajectory, TurnQuery, Verdict, Withhold,
    },
    error::{Error, Result},
    id::AttemptId,
    policy::{
        Answer, Ask, AssessProgram, Assessed, CallUsage, ChosenSkill, Context, CreditRule,
        GroupAttempt, JudgedAttempt, Played, Questions, ResolvedPolicies, RewardRule, RoleReply,
        Rollout, SkillCredit, View, WriteGroup, WriteProgram, Written, checks, fits,
        program::{Program, QuestionPath, Running},
        unreadable,
        view::Selected,
    },
    run::{
        machine::{
            effect::{Effect, EffectId, Of, RunContext, Station, TurnAsk, effect},
            fold,
        },
        report::{AttemptReport, EventKind, TaskReport},
    },
    stations::{
        admit::{
            AdmitPolicy, Duplicates, curated,
            identity::{Compared, Meanings},
        },
        credit::CreditPolicy,
        maintain::cases::whole_attempt,
        proof::contributions,
        propose::write_policy,
        recipe::Recipe,
        reward::UsedWhen,
        select::candidates::select,
    },
};

/// An attempt, with its verdict if it could be made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TriedAttempt {
    made: Result<Box<Trajectory>>,
    verdict: Option<Result<Verdict>>,
    /// The reward, if it has a verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reward: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) assessment: Option<Box<Assessment>>,
    /// The process score of the assessment, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    process: Option<f64>,
}

/// The result of a task's policy, before the library is changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(crate) selected: Selected,
    tried: Vec<TriedAttempt>,
    /// The indices of the attempts from which roles write skills. Stored, because the decision depends on the library, which
    /// changes later.
    pub(crate) sources: Vec<usize>,
    /// The answers of the roles that were asked about the attempts.
    #[serde(rename = "said")]
    pub(crate) replies: Vec<RoleReply>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) credits: Vec<SkillCredit>,
    /// The embeddings by which the drafts are compared with the library. They are asked for and used in one step.
    #[serde(skip)]
    pub(crate) meanings: Meanings,
}

/// The policy of one task: selects skills, makes attempts with them and has these judged; then roles judge the effect of each
/// skill and write new skills from the best attempts.
pub(crate) async fn one_task(
    mut ask: Ask,
    view: View,
    (recipe, policies): (Recipe, ResolvedPolicies),
    task: Task,
) -> Result<Outcome> {
    let context = view.context();
    let mut outcome = Outcome::default();

    // The environment is not reset yet, so the tools are not known.
    let query = TurnQuery {
        text: task.instruction.clone(),
        tools: Vec::new(),
        category: task.category.clone(),
    };
    let seed = context.step_seed(view.step());
    outcome.selected = select(&mut ask, &view, policies.selector.as_ref(), &query).await;
    if let Some(withhold) = withholding(&context, &recipe) {
        outcome.selected = withhold.applied(outcome.selected, recipe.select.per, seed);
    }
    let events = outcome.selected.events(context.library);
    events.into_iter().for_each(|event| ask.tell(event));

    let task = &task;
    outcome.tried = attempts(&mut ask, &context, task, &outcome.selected).await;
    if let Some(assessor) = &policies.assessor {
        outcome
            .assess(&mut ask, &view, assessor.as_ref(), task)
            .await;
    }
    let skill_use = recipe.reward.skill_use;
    outcome.reward(&context, (skill_use, policies.reward.as_ref()), view.step())?;
    let rollouts = outcome.rollouts(&context, view.step());
    tell_attempts(&mut ask, &rollouts);
    if !outcome.teaches(&context) {
        return Ok(outcome);
    }
    let by = (&recipe.credit, policies.credit.as_ref());
    let credits = credits(&mut ask, &view, (by, task), &rollouts).await?;

    let writer = policies.writer.as_ref();
    let sources = write_policy::sources(&context, (&recipe.write, writer), task, &rollouts);
    let sources = sources.unwrap_or_else(|undue| {
        ask.tell(undue.event());
        Vec::new()
    });
    let judging = fold::asks(&recipe.credit, (seed, task), &rollouts);
    let shown = sources.iter().filter_map(|place| rollouts.get(*place));
    let shown = shown.filter_map(|one| {
        let trace = fold::trace(seed, task, one)?;
        Some((trace, one.report.clone()))
    });
    let (shown, reports): (Vec<Trace>, Vec<AttemptReport>) = shown.unzip();
    let group = WriteGroup::new(&shown, &reports, &outcome.selected.candidates);
    let (mut replies, written) = ask_about(&mut ask, (&view, writer), judging, &group).await;
    let drafts = written.and_then(|written| {
        checks::one_curation(&written)?;
        let (of_roles, drafts) = written.into_parts();
        let of_roles = of_roles.into_iter();
        replies.extend(of_roles.filter(|one| write_policy::is_writer(one.task.role())));
        Ok(drafts)
    });
    let unread = unreadable(&replies).into_iter();
    unread.for_each(|event| ask.tell(event));
    replies.extend(drafted(&shown, drafts));
    outcome.sources = sources;
    outcome.credits = credits;
    outcome.replies = replies;
    Ok(outcome)
}

/// What chance leaves out of attempts: nothing outside of learning.
fn withholding(context: &Context<'_>, recipe: &Recipe) -> Option<Withhold> {
    let learns = context.mode == Mode::Train;
    recipe.select.withhold.filter(|_| learns)
}

/// Asks roles about the skills of a group of attempts, and has the writer write from them, at once. The questions have one scope:
/// those about skills have its first numbers.
async fn ask_about(
    ask: &mut Ask,
    (view, writer): (&View, &dyn WriteProgram),
    judging: Vec<RoleTask>,
    group: &WriteGroup<'_>,
) -> (Vec<RoleReply>, Result<Written>) {
    let asked = ask.each([judging], async |mut ask, judging| {
        let mut first = ask.reserved(judging.len());
        let written = async {
            match group.attempts {
                [] => Ok(Written::default()),
                _ => writer.write(&mut ask, view, group).await,
            }
        };
        join(first.roles(judging), written).await
    });
    let asked = asked.await.pop();
    asked.unwrap_or_else(|| (Vec::new(), Ok(Written::default())))
}

/// Emits an event for each attempt.
fn tell_attempts(ask: &mut Ask, rollouts: &[Rollout<'_>]) {
    for (rollout, each) in (0..).zip(rollouts) {
        ask.tell(EventKind::Attempted {
            rollout,
            report: Box::new(each.report.clone()),
        });
    }
}

/// Makes the attempts of the group concurrently. Each is judged as soon as it is made.
async fn attempts(
    ask: &mut Ask,
    context: &Context<'_>,
    task: &Task,
    selected: &Selected,
) -> Vec<TriedAttempt> {
    let library = context.library;
    let attempts = ask.each(0..context.group, async |mut ask, number| {
        let skills = selected.injected(number).iter();
        let skills = skills.filter_map(|skill| library.get(&skill.id));
        let skills = skills.map(ChosenSkill::from).collect();
        let made = ask.attempt(task, number, skills).await;
        let verdict = match &made {
            Ok(trajectory) if trajectory.is_evidence() => {
                Some(ask.judge(task, trajectory.clone()).await)
            }
            _ => None,
        };
        TriedAttempt {
            made,
            verdict,
            reward: None,
            assessment: None,
            process: None,
        }
    });
    attempts.await
}

/// Converts the drafts that a writer made by itself to the form that admission expects: answers of a role that was given the
/// attempts.
fn drafted(shown: &[Trace], drafts: Result<Vec<SkillDraft>>) -> Vec<RoleReply> {
    let of_role = |reply| RoleReply {
        task: RoleTask::Summarize {
            attempts: shown.to_vec(),
            shown_chars: None,
            keeps_reasoning: false,
        },
        reply,
    };
    match drafts {
        Err(error) => vec![of_role(Err(error))],
        Ok(drafts) => drafts
            .into_iter()
            .map(|draft| of_role(Ok(Some(Played::of(RoleAnswer::Draft(Box::new(draft)))))))
            .collect(),
    }
}

/// For each attempt, what each of its skills brought to the task; empty where the rule does not ask for it. It is measured once for each
/// set of skills, so that attempts with the same skills have the same numbers.
async fn contributed(
    ask: &mut Ask,
    view: &View,
    (rule, task): (&dyn CreditRule, &Task),
    rollouts: &[Rollout<'_>],
) -> Vec<Vec<(SkillRef, f64)>> {
    let Some(orders) = rule.orders() else {
        return Vec::new();
    };
    let mut known: BTreeMap<&[SkillRef], Vec<(SkillRef, f64)>> = BTreeMap::new();
    for rollout in rollouts {
        let injected = rollout.report.injected.as_slice();
        let decided = rollout.report.success.is_some() && !injected.is_empty();
        let trace = fold::trace(view.seed(), task, rollout).filter(|_| decided);
        let (Some(trace), false) = (trace, known.contains_key(injected)) else {
            continue;
        };
        let case = whole_attempt(view.library(), &trace, CaseKind::Integration);
        let skills = injected
            .iter()
            .filter_map(|skill| view.library().version(skill));
        let skills: Vec<Skill> = skills.cloned().collect();
        let brought = contributions(ask, view, orders, (&case, &skills)).await;
        let brought = brought.unwrap_or_else(|error| {
            let reason = format!("no skill is credited for the task: {error}");
            ask.tell(EventKind::Refused { reason });
            Vec::new()
        });
        known.insert(injected, brought);
    }
    let of = |rollout: &Rollout<'_>| {
        let brought = known.get(rollout.report.injected.as_slice());
        brought.cloned().unwrap_or_default()
    };
    rollouts.iter().map(of).collect()
}

/// The credits of a group.
///
/// # Errors
/// The rule's error; `Invalid` for a credit that is not finite, for a skill that the attempt was not given, for a second credit of
/// a skill for the same attempt, and for another number of uses than the group has.
async fn credits(
    ask: &mut Ask,
    view: &View,
    ((policy, rule), task): ((&CreditPolicy, &dyn CreditRule), &Task),
    rollouts: &[Rollout<'_>],
) -> Result<Vec<SkillCredit>> {
    let contributed = contributed(ask, view, (rule, task), rollouts).await;
    let contributed = contributed.into_iter().chain(std::iter::repeat(Vec::new()));
    let group = rollouts
        .iter()
        .zip(contributed)
        .map(|(one, contributed)| GroupAttempt {
            report: one.report.clone(),
            credited: fold::credited_skills(policy, one),
            contributed,
        });
    let group: Vec<GroupAttempt> = group.collect();
    let credits = rule.credits(&group)?;
    checks::finite_credits(&credits)?;
    checks::exposed(&credits, &group)?;
    checks::counted(&credits, &group)?;
    Ok(credits)
}

impl Outcome {
    /// The outcome as it is kept once its drafts are decided about.
    pub(crate) fn without_meanings(self) -> Self {
        Self {
            meanings: Meanings::default(),
            ..self
        }
    }

    /// Assesses each attempt that has a verdict, all at once, if the run learns. Where the assessor fails, an event says why.
    async fn assess(
        &mut self,
        ask: &mut Ask,
        view: &View,
        assessor: &dyn AssessProgram,
        task: &Task,
    ) {
        if view.mode() != Mode::Train {
            return;
        }
        let seed = view.seed();
        let judged = (0..).zip(&self.tried).filter_map(|(place, tried)| {
            let verdict = tried.verdict.as_ref()?.as_ref().ok()?;
            let trajectory = tried.made.as_ref().ok()?;
            Some((place, fold::kept(seed, task, trajectory, Some(verdict))))
        });
        let judged: Vec<(usize, Trace)> = judged.collect();
        let assessed = ask.each(judged, async |mut ask, (place, attempt)| {
            let assessed = assessor.assess(&mut ask, view, &attempt).await;
            let assessed = assessed.and_then(|assessed| {
                let sound = assessed.as_ref().map(|one| checks::assessed(one, &attempt));
                sound.unwrap_or(Ok(())).map(|()| assessed)
            });
            (place, assessed)
        });
        for (place, assessed) in assessed.await {
            let Assessed {
                assessment,
                process,
            } = match assessed {
                Ok(Some(assessed)) => assessed,
                Ok(None) => continue,
                Err(error) => {
                    ask.tell(EventKind::AssessFailed {
                        rollout: u32::try_from(place).unwrap_or(u32::MAX),
                        reason: error.to_string(),
                    });
                    continue;
                }
            };
            let Some(tried) = self.tried.get_mut(place) else {
                continue;
            };
            let assessment = Box::new(assessment);
            tried.process = process;
            ask.tell(EventKind::Assessed {
                rollout: u32::try_from(place).unwrap_or(u32::MAX),
                assessment: assessment.clone(),
                process,
            });
            tried.assessment = Some(assessment);
        }
    }

    /// The assessments of the attempts, as changes.
    pub(crate) fn assessments(&self) -> impl Iterator<Item = LibraryChange> {
        let assessed = self
            .tried
            .iter()
            .filter_map(|tried| tried.assessment.clone());
        assessed.map(LibraryChange::Assess)
    }

    /// What chance gave the attempts at the task, and how those went that a judge decided about, as a change.
    pub(crate) fn assigned(&self, task: &Task, rollouts: &[Rollout<'_>]) -> Option<LibraryChange> {
        let mut drawn = self.selected.selections.iter();
        let selection = drawn.find(|selection| selection.withheld.is_some())?;
        let withheld = selection.withheld.as_ref()?;
        let judged = rollouts.iter().filter_map(|rollout| {
            let success = rollout.verdict?.success()?;
            Some((&rollout.report, rollout.trajectory?, success))
        });
        let judged: Vec<(&AttemptReport, &Trajectory, bool)> = judged.collect();
        let (first, trajectory, _) = *judged.first()?;
        let mean = |value: &dyn Fn(&AttemptReport, bool) -> f64| {
            let values = judged
                .iter()
                .map(|(report, _, success)| value(report, *success));
            values.sum::<f64>() / judged.len() as f64
        };
        let one = |given| {
            move |skill: &SkillRef| AssignedSkill {
                skill: skill.clone(),
                given,
            }
        };
        let given = selection.skills().iter().map(one(true));
        let skills = given.chain(withheld.skills.iter().map(one(false)));
        Some(LibraryChange::Assign(Box::new(Assignment {
            attempt: first.attempt.clone(),
            task: task.id.clone(),
            category: task.category.clone(),
            model: trajectory.model.clone(),
            share: withheld.share,
            without: withheld.all,
            by_skill: withheld.by_skill,
            skills: skills.collect(),
            success: mean(&|_, success| f64::from(u8::from(success))),
            score: mean(&|report, _| report.score),
            steps: mean(&|report, _| f64::from(report.steps)),
            tokens: mean(&|report, _| report.usage.total() as f64),
        })))
    }

    /// Rewards each attempt that has a verdict.
    ///
    /// # Errors
    /// The rule's error; `Invalid` for a reward that is not finite.
    fn reward(
        &mut self,
        context: &Context<'_>,
        (skill_use, rule): (UsedWhen, &dyn RewardRule),
        step: u64,
    ) -> Result<()> {
        let rollouts = self.rollouts(context, step);
        let reward = |one: &Rollout<'_>| {
            let Some(verdict) = one.verdict else {
                return Ok(None);
            };
            let mut attempt = JudgedAttempt::new(&one.report, verdict);
            attempt.warming_up = context.warming_up;
            attempt.used = skill_use.counts(&one.report);
            rule.reward(&attempt)
        };
        let rewards: Vec<Option<f64>> = rollouts.iter().map(reward).collect::<Result<_>>()?;
        for (tried, reward) in self.tried.iter_mut().zip(rewards) {
            reward.map_or(Ok(()), checks::finite_reward)?;
            tried.reward = reward;
        }
        Ok(())
    }

    /// Whether something can be learned: in training, if at least one attempt was made that is evidence.
    pub(crate) fn teaches(&self, context: &Context<'_>) -> bool {
        let is_sound = |tried: &TriedAttempt| {
            let made = tried.made.as_ref();
            made.is_ok_and(|trajectory| trajectory.is_evidence())
        };
        context.mode == Mode::Train && self.tried.iter().any(is_sound)
    }

    /// The attempts with their reports, in order.
    pub(crate) fn rollouts(&self, context: &Context<'_>, step: u64) -> Vec<Rollout<'_>> {
        let tried = (0..).zip(&self.tried).map(|(number, tried)| {
            fold::rollout(
                AttemptId::of(context.run, step, number),
                self.selected.injected(number),
                &tried.made,
                tried.verdict.as_ref(),
                fold::Measured {
                    process: tried.process,
                    reward: tried.reward,
                },
            )
        });
        tried.collect()
    }

    pub(crate) fn report(&self, context: &RunContext<'_>, step: u64, task: &Task) -> TaskReport {
        let (selections, rollouts) = (&self.selected.selections, self.rollouts(context, step));
        fold::task_report(context, step, task, selections, rollouts)
    }
}

// Selection of skills for the later turns of attempts (HiSME appendix B, row H12). Its questions are effects as all others, so
// their answers are in the journal.

/// The turns of unfinished attempts for which skills were requested.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Turns(Vec<Turn>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Turn {
    ask: TurnAsk,
    /// The prefix of the places of its questions: the attempt's place, and the number of this request among the attempt's
    /// requests.
    place: QuestionPath,
    program: Program<Questions, Selected>,
    selected: Option<Result<Selected>>,
}

impl Turn {
    /// The function that starts the selection. The view's step is 0: the randomness comes from the attempt's seed instead.
    fn start<'a>(
        &self,
        run_context: &RunContext<'a>,
    ) -> impl FnOnce(Ask) -> Running<Selected> + use<'a> {
        let (run_context, query) = (self.run_context(run_context), self.ask.query.clone());
        move |mut ask: Ask| {
            let view = run_context.view(0);
            let selector = Arc::clone(&run_context.policies.selector);
            Box::pin(async move { select(&mut ask, &view, selector.as_ref(), &query).await })
        }
    }

    fn run_context<'a>(&self, run_context: &RunContext<'a>) -> RunContext<'a> {
        let seed = self.ask.seed.derive("turn", self.ask.turn.into());
        run_context.with_seed(seed)
    }

    fn go_on(&mut self, run_context: &RunContext<'_>) {
        let start = self.start(run_context);
        if self.selected.is_none()
            && let Poll::Ready(selected) = self.program.poll(start)
        {
            self.selected = Some(selected);
        }
    }

    /// The place of an effect relative to this turn; none if the effect belongs to another turn.
    fn within(&self, id: &EffectId) -> Option<QuestionPath> {
        (id.step == self.ask.attempt.step).then_some(())?;
        id.place.behind(&self.place)
    }

    fn effects(
        &self,
        run_context: &RunContext<'_>,
        wanted: &dyn Fn(&EffectId) -> bool,
    ) -> Vec<(EffectId, Effect)> {
        if self.selected.is_some() {
            return Vec::new();
        }
        let own = self.run_context(run_context);
        self.program
            .questions(self.start(run_context), |place, question| {
                let id = EffectId {
                    step: self.ask.attempt.step,
                    station: Station::Turn,
                    place: self.place.join(place),
                };
                let effect =
                    wanted(&id).then(|| named(effect(&own, 0, Of::Task, place, question), &id));
                effect.map(|effect| (id, effect))
            })
    }
}

/// A test case's attempt is named by the task and the turn that asked for it, so that no two of a run share an id.
fn named(mut effect: Effect, id: &EffectId) -> Effect {
    if let Effect::Case(case) = &mut effect {
        let run = &case.attempt.run;
        case.attempt.attempt = AttemptId::new(format!("{run}/{}/t{}", id.step, id.place));
    }
    effect
}

impl Turns {
    /// Begins the selection for a turn. Does nothing if the same request was made before.
    pub(crate) fn ask(&mut self, run_context: &RunContext<'_>, ask: TurnAsk) {
        if self.0.iter().any(|turn| turn.ask == ask) {
            return;
        }
        let before = self.0.iter();
        let before = before
            .filter(|turn| turn.ask.attempt == ask.attempt)
            .count();
        let number = u32::try_from(before).unwrap_or(u32::MAX);
        let mut turn = Turn {
            place: ask.attempt.place.within(number),
            ask,
            program: Program::new(0),
            selected: None,
        };
        turn.go_on(run_context);
        self.0.push(turn);
    }

    /// The skills for a turn; none while they are not selected.
    ///
    /// # Errors
    /// `Unavailable` where the retriever or scorer failed; the error of the selector.
    pub(crate) fn skills(
        &self,
        run_context: &RunContext<'_>,
        ask: &TurnAsk,
    ) -> Option<Result<Vec<ChosenSkill>>> {
        let turn = self.0.iter().find(|turn| turn.ask == *ask)?;
        let selected = match turn.selected.as_ref()? {
            Ok(selected) => selected,
            Err(error) => return Some(Err(error.clone())),
        };
        if let Some(reason) = selected.unavailable() {
            return Some(Err(Error::unavailable(
                "Guidance::for_turn",
                format!("no skills could be selected: {reason}"),
            )));
        }
        let withhold = withholding(run_context, run_context.recipe);
        let goes_without = withhold
            .is_some_and(|withhold| withhold.takes_all(run_context.step_seed(ask.attempt.step)));
        let chosen = selected.injected(0).iter().filter(|_| !goes_without);
        let entries = chosen.filter_map(|skill| run_context.library.get(&skill.id));
        Some(Ok(entries.map(ChosenSkill::from).collect()))
    }

    /// The open effects whose ids are `wanted`.
    pub(crate) fn effects(
        &self,
        run_context: &RunContext<'_>,
        wanted: &dyn Fn(&EffectId) -> bool,
    ) -> Vec<(EffectId, Effect)> {
        let turns = self.0.iter();
        turns
            .flat_map(|turn| turn.effects(run_context, wanted))
            .collect()
    }

    /// The digest of the open question of an effect.
    pub(crate) fn question(&self, id: &EffectId) -> Option<String> {
        let mut turns = self.0.iter();
        turns.find_map(|turn| turn.program.digest(&turn.within(id)?))
    }

    /// Applies an answer, and returns the tokens of a role or a test case. A second answer to a question, and an answer for a
    /// finished attempt, are ignored, with their tokens.
    ///
    /// # Errors
    /// `Invalid` for an answer without an open question.
    pub(crate) fn answer(
        &mut self,
        run_context: &RunContext<'_>,
        id: &EffectId,
        answer: Answer,
    ) -> Result<CallUsage> {
        let mut turns = self.0.iter_mut();
        let Some((turn, place)) = turns.find_map(|turn| turn.within(id).map(|place| (turn, place)))
        else {
            return Ok(CallUsage::default());
        };
        if turn.selected.is_some() || turn.program.is_past(&place) {
            return Ok(CallUsage::default());
        }
        let usage = answer.usage();
        let asked = turn
            .program
            .questions(turn.start(run_context), |at, question| {
                (*at == place).then(|| fits(question, &answer))
            });
        if asked.first() != Some(&true) || !turn.program.answer(&place, answer) {
            let message = "no open question has this id";
            return Err(Error::invalid("RunMachine::answer", message).with("effect", id));
        }
        turn.go_on(run_context);
        Ok(usage)
    }

    /// Drops the turns of a finished attempt.
    pub(crate) fn forget(&mut self, attempt: &EffectId) {
        self.0.retain(|turn| turn.ask.attempt != *attempt);
    }

    /// Runs the selections of a loaded run over their saved answers.
    pub(crate) fn wake(&mut self, run_context: &RunContext<'_>) {
        self.0.iter_mut().for_each(|turn| turn.go_on(run_context));
    }
}

// The program that compares a task's drafts with the library by meaning, when it is the task's turn to change it.

/// Asks for the embeddings that decide whether the library has a task's drafts already. Few tasks ask: those with a draft that
/// names the same things as a known skill in other words.
pub(super) async fn compare(
    mut ask: Ask,
    view: View,
    policy: AdmitPolicy,
    mut outcome: Outcome,
) -> Result<Outcome> {
    if policy.duplicates != Duplicates::Add {
        let drafts: Vec<Compared> = drafts(&outcome.replies).collect();
        let known = view.library().entries().map(|entry| &entry.skill);
        let texts = policy.identity.unclear(known, &drafts);
        outcome.meanings = Meanings::of(&mut ask, texts).await;
    }
    Ok(outcome)
}

/// The texts for the library that roles wrote.
fn drafts(replies: &[RoleReply]) -> impl Iterator<Item = Compared> {
    let inserted = write_policy::curation(replies).into_iter();
    let written = Compared::of_replies(write_policy::drafts(replies));
    written.chain(inserted.flat_map(curated::compared))
}
