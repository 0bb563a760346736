//! Answers, computed one per thread, and the last ones kept: a page asks for several views of one. So is what the pages
//! of the store lack.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use tokio::sync::Semaphore;

use super::{Hint, Reopen, ServeSettings};
use crate::campaign::CampaignError;
use crate::campaign::assessment::Assessment;
use crate::campaign::questions::{Answered, Questions};
use crate::planner::settings::PlanSettings;
use crate::whatif::scenario::Scenario;

/// Answers that are kept.
const KEPT: usize = 4;

/// A store that answers, many at a time.
pub(super) struct AnswerPool {
    questions: RwLock<Questions>,
    /// What all scenarios stand on, and the settings of the base: known without waiting for anyone.
    shared: Scenario,
    settings: PlanSettings,
    reopen: Option<Reopen>,
    /// Held by who opens the store anew.
    reopening: Mutex<()>,
    pub(super) write_token: Option<String>,
    pub(super) hint: Hint,
    pub(super) carry_out: String,
    kept: Mutex<VecDeque<(String, Arc<Answered>)>>,
    /// What the pages lack, once somebody asked, until the store is changed.
    assessed: Mutex<Option<Arc<Assessment>>>,
    /// Places for answers that are computed side by side.
    fast: Arc<Semaphore>,
    slow: Arc<Semaphore>,
}

impl AnswerPool {
    pub(super) fn new(questions: Questions, settings: &ServeSettings) -> Self {
        Self {
            shared: questions.shared.clone(),
            settings: questions.whatif_base.base.settings.clone(),
            questions: RwLock::new(questions),
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

    /// Asks the store.
    pub(super) fn ask<T>(&self, act: impl FnOnce(&Questions) -> T) -> T {
        act(&self.questions.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes the store.
    pub(super) fn change<T>(&self, act: impl FnOnce(&mut Questions) -> T) -> T {
        let mut questions = self.questions.write().unwrap_or_else(PoisonError::into_inner);
        // Nobody reads the store now, so nobody is about to keep what was found in it.
        *self.assessed() = None;
        act(&mut questions)
    }

    /// Goes over to what the store has committed last. While one does so, others are answered by what was before.
    pub(super) fn catch_up(&self) {
        let Some(reopen) = &self.reopen else { return };
        let Ok(_alone) = self.reopening.try_lock() else { return };
        let generation = self.ask(|questions| questions.open.store.manifest().generation);
        if let Some(newer) = reopen(generation) {
            self.change(|questions| *questions = newer);
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
    }

    /// What the pages of the store lack. Who asks first waits for it, in the [place](Self::run) of slow answers.
    pub(super) fn assessment(
        &self,
        questions: &Questions,
    ) -> Result<Arc<Assessment>, CampaignError> {
        let known = self.assessed().clone();
        if let Some(known) = known {
            return Ok(known);
        }
        let found = Arc::new(questions.assessment()?);
        *self.assessed() = Some(Arc::clone(&found));
        Ok(found)
    }

    /// Whether that is known.
    pub(super) fn is_assessed(&self) -> bool {
        self.assessed().is_some()
    }

    fn assessed(&self) -> MutexGuard<'_, Option<Arc<Assessment>>> {
        self.assessed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether all pairs have to be estimated again for a scenario.
    pub(super) fn is_slow(&self, scenario: &Scenario) -> bool {
        scenario.on(&self.shared).is_slow(&self.settings)
    }

    /// The plan under a scenario: one of the last, or a new one.
    pub(super) fn answer(
        &self,
        questions: &Questions,
        scenario: &Scenario,
    ) -> Result<Arc<Answered>, CampaignError> {
        // A name changes nothing.
        let unnamed = Scenario { name: String::new(), ..scenario.clone() };
        let key = serde_json::to_string(&unnamed)?;
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let known =
            kept().iter().find(|(other, _)| *other == key).map(|(_, answer)| Arc::clone(answer));
        if let Some(answer) = known {
            return Ok(answer);
        }
        let answer = Arc::new(questions.answer(scenario)?);
        let mut kept = kept();
        kept.push_back((key, Arc::clone(&answer)));
        if kept.len() > KEPT {
            kept.pop_front();
        }
        Ok(answer)
    }
}
