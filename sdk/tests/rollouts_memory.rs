//! What 256 rollouts on a large library hold in memory while all of them are under way: counted in bytes that are allocated, and in
//! skills that are shared.
#![allow(clippy::expect_used, clippy::print_stdout, missing_docs)]
// An allocator that counts is the only way to say how much memory the rollouts take.
#![allow(unsafe_code)]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    future::poll_fn,
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering},
    },
    task::Poll,
};

use futures::executor::block_on;
use journeyman::{
    Result, Seed,
    agent::{EnvironmentJudge, MemoryStore},
    async_trait,
    contract::{Attempt, Components, Episode, Executor, Retriever, SkillStore},
    domain::{
        Action, Candidate, IndexUpdate, LibraryChange, Query, Revision, Role, SkillRef, Trajectory,
    },
    library::SkillLibrary,
    papers::skillos::Rollouts,
    recipe,
    run::{Journeyman, Options},
    testing::{
        LargeLibrary, Play, ScriptedEnvironment, ScriptedExecutor, ScriptedModel, ScriptedRoles,
        sample,
    },
};

const SKILLS: usize = 2_000;
const ROLLOUTS: usize = 256;

struct Counting;

static LIVE: AtomicIsize = AtomicIsize::new(0);

// SAFETY: the system's allocator does the work; this only counts.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size() as isize, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn live() -> usize {
    usize::try_from(LIVE.load(Ordering::Relaxed)).unwrap_or_default()
}

/// An index that holds nothing and finds the first skills that may be found, so that only the rollouts themselves are counted.
#[derive(Debug)]
struct First;

#[async_trait]
impl Retriever for First {
    async fn watermark(&self) -> Result<Revision> {
        Ok(Revision(0))
    }

    async fn refresh(&self, _: &IndexUpdate) -> Result<()> {
        Ok(())
    }

    async fn search(&self, query: &Query) -> Result<Vec<Candidate>> {
        let ids = query.among.iter().flatten().take(query.limit);
        let found = ids.map(|id| {
            Candidate::new(
                SkillRef {
                    id: id.clone(),
                    version: journeyman::Version(1),
                },
                1.0,
            )
        });
        Ok(found.collect())
    }
}

/// An agent whose attempts wait for each other at the last task, and note what is allocated once all are there.
#[derive(Debug)]
struct Meeting {
    agent: ScriptedExecutor,
    there: AtomicUsize,
    met: AtomicBool,
    held: AtomicUsize,
}

#[async_trait]
impl Executor for Meeting {
    async fn execute(&self, attempt: Attempt<'_>, episode: &mut dyn Episode) -> Result<Trajectory> {
        if attempt.task.id.as_str() == "last" {
            if self.there.fetch_add(1, Ordering::SeqCst) + 1 == ROLLOUTS {
                self.held.store(live(), Ordering::SeqCst);
                self.met.store(true, Ordering::SeqCst);
            }
            poll_fn(|context| match self.met.load(Ordering::SeqCst) {
                true => Poll::Ready(()),
                false => {
                    context.waker().wake_by_ref();
                    Poll::Pending
                }
            })
            .await;
        }
        self.agent.execute(attempt, episode).await
    }
}

#[test]
fn hundreds_of_rollouts_share_the_library_that_they_do_not_change() {
    let store = Arc::new(MemoryStore::new());
    let add = |skill| LibraryChange::Add(Box::new(skill));
    let skills = LargeLibrary::new(SKILLS, Seed(1)).skills();
    let start = sample::commit(0, "start", skills.into_iter().map(add).collect());
    block_on(store.commit(&start)).expect("it commits");
    let committed = block_on(store.load()).expect("it loads").committed;
    let before = live();
    let library = SkillLibrary::replay(&committed).expect("it folds");
    let one_library = live() - before;
    drop((library, committed));

    let agent = ScriptedExecutor::acting(|attempt, steps| {
        let due = attempt.task.payload.get(steps.len());
        let word = due.and_then(|word| word.as_str()).map(str::to_owned);
        Play::Give(word.map(Action::Message))
    });
    let meeting = Arc::new(Meeting {
        agent,
        there: AtomicUsize::new(0),
        met: AtomicBool::new(false),
        held: AtomicUsize::new(0),
    });
    let insert = r#"{"tool": "insert_skill", "arguments": {"name": "new", "description": "New.", "body": "New."}}"#;
    let world = Arc::new(ScriptedEnvironment::words());
    let executor = Arc::clone(&meeting) as Arc<dyn Executor>;
    let components = Components::new(executor, world, Arc::new(EnvironmentJudge))
        .with_store(store)
        .with_model(Arc::new(ScriptedModel::always(insert)))
        .with_roles(Arc::new(ScriptedRoles::only([Role::Curate])));
    let rollouts = Rollouts::new(NonZeroU32::new(ROLLOUTS as u32).expect("not 0"))
        .with_retriever(|| Ok(Arc::new(First)));
    let group = ["first", "last"]
        .map(|id| sample::task(id, &["hello"]))
        .to_vec();
    let (rolled, before) = block_on(async {
        let options = Options::new("group", Seed(7));
        let journeyman = Journeyman::open(components, recipe::skillos(), options).await?;
        let before = live();
        let rolled = journeyman.roll_out(group, &rollouts).await?;
        Ok::<_, journeyman::Error>((rolled, before))
    })
    .expect("it rolls out");
    let rolled: Vec<_> = rolled
        .into_iter()
        .map(|one| one.expect("a rollout"))
        .collect();
    assert_eq!(rolled.len(), ROLLOUTS);

    // All were under way at once, each with its own skill.
    let held = meeting.held.load(Ordering::SeqCst) - before;
    let each = held / ROLLOUTS;
    println!("one library: {one_library} bytes; {ROLLOUTS} rollouts: {held} bytes, {each} each");
    assert!(
        held < 10 * one_library,
        "{held} bytes for {ROLLOUTS} rollouts, {one_library} for a library"
    );

    // Of two rollouts' libraries, only the skills that were inserted or credited are not the very same ones.
    let first = rolled.first().expect("there are some").fork.library();
    let apart = |library: &SkillLibrary| library.changed_from(first).count();
    for one in &rolled {
        let library = one.fork.library();
        assert_eq!(library.entries().count(), SKILLS + 1);
        assert!(apart(library) <= 4, "{} skills are copies", apart(library));
    }
}
