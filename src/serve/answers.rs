//! Answers, computed one per thread, and the last ones kept: a page asks for several views of one. So is what the pages
//! of the store lack.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};

use tokio::sync::Semaphore;

use super::{Hint, Reopen, ServeSettings};
use crate::campaign::CampaignError;
use crate::campaign::assessment::Assessment;
use crate::campaign::questions::{Answered, Questions};
use crate::planner::settings::PlanSettings;
use crate::whatif::scenario::Scenario;

/// Answers that are kept.
const KEPT: usize = 4;

/// A state of the store, and what is known of it without waiting for anyone.
struct Served {
    questions: RwLock<Questions>,
    /// What all scenarios stand on, and the settings of the base.
    shared: Scenario,
    settings: PlanSettings,
}

/// A store that answers, many at a time.
pub(super) struct AnswerPool {
    /// What is asked now; who began with an earlier one ends with it.
    served: RwLock<Arc<Served>>,
    reopen: Option<Reopen>,
    /// Held by who opens the store anew.
    reopening: Mutex<()>,
    pub(super) write_token: Option<String>,
    pub(super) hint: Hint,
    pub(super) carry_out: String,
    kept: Mutex<VecDeque<(String, Arc<Answered>)>>,
    /// What the pages lack, once somebody asked, until the store is changed; of a generation of it.
    assessed: Mutex<Option<(u64, Arc<Assessment>)>>,
    /// Places for answers that are computed side by side.
    fast: Arc<Semaphore>,
    slow: Arc<Semaphore>,
}

impl Served {
    fn new(questions: Questions) -> Self {
        Self {
            shared: questions.shared.clone(),
            settings: questions.whatif_base.base.settings.clone(),
            questions: RwLock::new(questions),
        }
    }
}

impl AnswerPool {
    pub(super) fn new(questions: Questions, settings: &ServeSettings) -> Self {
        Self {
            served: RwLock::new(Arc::new(Served::new(questions))),
            reopen: settings.reopen.clone(),
            reopening: Mutex::default(),
            write_token: settings.write_token.clone(),
            hint: settings.hint,
            carry_out: settings.carry_out.clone(),
            kept: Mutex::default(),
            assessed: Mutex::default(),
            fast: Arc::new(Semaphore::new(settings.threads.max(1))),
            slow: Arc::new(Semaphore::new(1)),
        }
    }

    /// Runs `act` on a thread of its own once it is its turn. Who gives up before that costs nothing.
    pub(super) async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        is_slow: bool,
        act: impl FnOnce(&Self) -> Result<T, CampaignError> + Send + 'static,
    ) -> Option<Result<T, CampaignError>> {
        let places = if is_slow { &self.slow } else { &self.fast };
        let place = Arc::clone(places).acquire_owned().await.ok()?;
        let answers = Arc::clone(self);
        let running = tokio::task::spawn_blocking(move || {
            let done = act(&answers);
            drop(place);
            done
        });
        running.await.ok()
    }

    fn served(&self) -> Arc<Served> {
        Arc::clone(&self.served.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Asks the store.
    pub(super) fn ask<T>(&self, act: impl FnOnce(&Questions) -> T) -> T {
        act(&self.served().questions.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes the store.
    pub(super) fn change<T>(&self, act: impl FnOnce(&mut Questions) -> T) -> T {
        let served = self.served();
        let mut questions = served.questions.write().unwrap_or_else(PoisonError::into_inner);
        // Nobody reads the store now, so nobody is about to keep what was found in it.
        *self.assessed() = None;
        act(&mut questions)
    }

    /// Goes over to what the store has committed last. While one does so, others are answered by what was before.
    pub(super) fn catch_up(&self) {
        let Some(reopen) = &self.reopen else { return };
        let _alone = match self.reopening.try_lock() {
            Err(TryLockError::WouldBlock) => return,
            Err(TryLockError::Poisoned(alone)) => alone.into_inner(),
            Ok(alone) => alone,
        };
        if let Some(newer) = self.ask(|questions| reopen(questions)) {
            let newer = Arc::new(Served::new(newer));
            *self.served.write().unwrap_or_else(PoisonError::into_inner) = newer;
            self.kept().clear();
        }
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<(String, Arc<Answered>)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the pages of the store lack. Who asks first waits for it, in the [place](Self::run) of slow answers.
    pub(super) fn assessment(
        &self,
        questions: &Questions,
    ) -> Result<Arc<Assessment>, CampaignError> {
        let known = self.assessed().clone();
        if let Some((_, known)) = known.filter(|(of, _)| *of == generation(questions)) {
            return Ok(known);
        }
        let found = Arc::new(questions.assessment()?);
        *self.assessed() = Some((generation(questions), Arc::clone(&found)));
        Ok(found)
    }

    /// Whether that is known.
    pub(super) fn is_assessed(&self) -> bool {
        let now = self.ask(generation);
        self.assessed().as_ref().is_some_and(|(of, _)| *of == now)
    }

    fn assessed(&self) -> MutexGuard<'_, Option<(u64, Arc<Assessment>)>> {
        self.assessed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether all pairs have to be estimated again for a scenario.
    pub(super) fn is_slow(&self, scenario: &Scenario) -> bool {
        let served = self.served();
        scenario.on(&served.shared).is_slow(&served.settings)
    }

    /// The plan under a scenario: one of the last, or a new one.
    pub(super) fn answer(
        &self,
        questions: &Questions,
        scenario: &Scenario,
    ) -> Result<Arc<Answered>, CampaignError> {
        // A name changes nothing.
        let unnamed = Scenario { name: String::new(), ..scenario.clone() };
        let key = format!("{} {}", generation(questions), serde_json::to_string(&unnamed)?);
        let kept = self.kept().iter().find(|(other, _)| *other == key).map(|(_, a)| Arc::clone(a));
        if let Some(answer) = kept {
            return Ok(answer);
        }
        let answer = Arc::new(questions.answer(scenario)?);
        let mut kept = self.kept();
        kept.push_back((key, Arc::clone(&answer)));
        if kept.len() > KEPT {
            kept.pop_front();
        }
        Ok(answer)
    }
}

fn generation(questions: &Questions) -> u64 {
    questions.open.store.manifest().generation
}
