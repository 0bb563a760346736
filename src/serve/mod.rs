//! The local page: a store that answers what-if questions to a browser while its user moves sliders.
//!
//! It listens on the loopback unless told otherwise, sends assets that are embedded in the command,
//! and loads nothing from anywhere else. Requests of other origins, and such for another host name
//! (DNS rebinding), are refused. The store is read; a plan is written only where that is allowed, and by who knows a
//! token that is made anew at every start: other programs and users of the machine reach the address, too.
//!
//! # Limits
//!
//! | What | At most |
//! |---|---|
//! | connections | 256; beyond them the one that has kept its request longest is closed |
//! | a request's head | 32 KiB, 10 seconds |
//! | a request's body | 1 MiB, 20 seconds |
//! | a request | 60 seconds; ten minutes where all pairs are estimated again |
//! | answers computed side by side | one per thread, one slow one |
//! | answers kept | 4, the last ones, and what the pages lack |
//! | what the pages lack | computed once, in the place of slow answers; 500 plans, 20 kinds and 500 queries a request |
//!
//! A page that is loaded shows what the store has committed last: it is opened anew then, beside the state that others are
//! answered from, which takes the memory of two while that lasts.
//!
//! Memory beyond the store's: per answer, kept or computed, about 250 bytes a URL of the frontier, half of
//! it while it is computed; one with new queries, or a slow one, has pairs of its own, up to 28 bytes each. What
//! the pages lack is 4 KB a query (231 MiB for 59,987). On
//! 100,839 URLs with 1,017,338 pairs and two threads 121 MiB became 281 while 64 clients asked 576
//! different questions.

mod answers;
mod connections;
mod enough;
mod guard;
mod page;
mod routes;
pub(crate) mod views;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::campaign::CampaignError;
use crate::campaign::questions::Questions;

/// Longest wait for answers at work once the process is interrupted.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Why nothing is served, or a request is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServeError {
    /// The address cannot be used.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: String,
        /// Why.
        source: std::io::Error,
    },
    /// The threads cannot be started.
    #[error("cannot start")]
    Start(#[source] std::io::Error),
    /// The store.
    #[error(transparent)]
    Campaign(#[from] CampaignError),
    /// A plan is to be written where that is not allowed.
    #[error("this store is only read")]
    ReadOnly,
    /// A plan is to be written by who does not know the token.
    #[error("the request does not know the token that a plan is written with")]
    NoToken,
    /// A scenario that is too long for one answer.
    #[error("the scenario has more than {most} {what}")]
    TooMuch {
        /// What is allowed.
        most: usize,
        /// Of what.
        what: &'static str,
    },
}

/// The next step for the person who reads the page, in the words of whoever serves it.
pub(crate) type Hint = fn(&ServeError) -> Option<String>;

/// Opens the store anew if its generation is another one by now than that of these questions. What goes wrong is told by
/// whoever serves, and the older state stays.
pub(crate) type Reopen = Arc<dyn Fn(&Questions) -> Option<Questions> + Send + Sync>;

/// How to serve.
#[derive(Clone)]
pub(crate) struct ServeSettings {
    /// Is asked where a page is loaded; none where nobody else can change the store.
    pub(crate) reopen: Option<Reopen>,
    /// Where to listen: an address, or a name, and a port; 0 is any that is free.
    pub(crate) listen: String,
    /// What a page must know to write a plan to the store; none: nobody may.
    pub(crate) write_token: Option<String>,
    /// Answers computed side by side.
    pub(crate) threads: usize,
    /// What refusals say beside the error.
    pub(crate) hint: Hint,
    /// What carries out a scenario, in the words of whoever serves; the name of its file comes behind.
    pub(crate) carry_out: String,
}

/// Serves until the process is interrupted. `ready` is told where.
///
/// # Errors
/// The address cannot be used.
pub(crate) fn serve(
    questions: Questions,
    settings: &ServeSettings,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        // A thread for each answer, one for each that waits for its turn to read the last ones, and two for pages that
        // are loaded: one opens the store anew, the other sees that.
        .max_blocking_threads(settings.threads + 4)
        .enable_all()
        .build()
        .map_err(ServeError::Start)?;
    let served = runtime.block_on(async {
        let failed = |source| ServeError::Listen { address: settings.listen.clone(), source };
        let listener = tokio::net::TcpListener::bind(&settings.listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let answers = Arc::new(answers::AnswerPool::new(questions, settings));
        let router = routes::router(answers, guard::Guard::new(&settings.listen, address));
        ready(address);
        connections::accept(listener, router).await;
        Ok(())
    });
    // Answers that nobody waits for any more are left; what is written is whole or not at all.
    runtime.shutdown_timeout(LAST_WORDS);
    served
}
