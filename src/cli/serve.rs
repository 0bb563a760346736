//! `prospect serve`: a store in the browser.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;

use prospect_index::error::StoreError;
use prospect_index::store::Store;
use rand::TryRng;
use rand::rngs::SysRng;

use super::Global;
use super::hints::WayOut;
use super::open;
use super::output::{Failure, print_failure, say};
use super::plain::stdout;
use super::whatif::{Opening, StoreArgs, questions};
use crate::campaign::questions::Questions;
use crate::serve::{Reopen, ServeError, ServeSettings, serve};
use crate::whatif::scenario::Scenario;

/// Arguments of `prospect serve`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    store: StoreArgs,
    /// Where to listen: an address and a port, 0 for any that is free. Anyone who reaches an address
    /// beyond the loopback can read the store.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7878")]
    listen: String,
    /// Allow the page to write a plan to the store: the one whose address, with a token made for this run, is printed.
    #[arg(long)]
    allow_write: bool,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    let open = if args.allow_write { open::to_change } else { open::to_ask_for_long };
    let questions = questions(&args.store, Scenario::default(), (open, "prospect serve"), global)?;
    let token = args.allow_write.then(token).transpose()?;
    let reopen = (!args.allow_write)
        .then(|| reopening(args.store.clone(), Global { quiet: true, ..global.clone() }));
    let settings = ServeSettings {
        reopen,
        listen: args.listen.clone(),
        write_token: token.clone(),
        threads: rayon::current_num_threads(),
        hint: ServeError::way_out,
        carry_out: args.store.plan_command(),
    };
    let ready = |address| say_ready(address, token.as_deref(), global);
    Ok(serve(questions, &settings, ready)?)
}

/// Opens what the store has committed since some questions were asked. Between two plans they stay those of the last one.
fn reopening(store: StoreArgs, global: Global) -> Reopen {
    Arc::new(move |asked| {
        newer(asked, &store, &global).unwrap_or_else(|failure| {
            print_failure(&failure);
            None
        })
    })
}

/// The same questions of a store that has grown; none where it has not.
fn newer(
    asked: &Questions,
    store: &StoreArgs,
    global: &Global,
) -> Result<Option<Questions>, Failure> {
    const HOLDER: &str = "prospect serve";
    let (generation, has_plan) = Store::read_last(&store.store, |last| {
        let manifest = last.manifest();
        Ok::<_, StoreError>((manifest.generation, !manifest.plans.is_empty()))
    })?;
    if generation == asked.open.store.manifest().generation {
        return Ok(None);
    }
    if has_plan || store.workload.is_some() {
        let open: (Opening, _) = (open::to_ask_for_long, HOLDER);
        return questions(store, Scenario::default(), open, global).map(Some);
    }
    let open = open::to_ask_for_long(&store.store, HOLDER, global)?;
    Ok(Some(asked.of_newer(open)?))
}

/// A secret of 128 bits that nobody can guess.
fn token() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    SysRng.try_fill_bytes(&mut bytes).map_err(|error| {
        Failure::ours(anyhow::anyhow!("the system gives no random numbers for a token: {error}"))
    })?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

fn say_ready(address: SocketAddr, token: Option<&str>, global: &Global) {
    // Browsers send no fragment: the token is in no log and no referrer.
    let fragment = token.map_or_else(String::new, |token| format!("#token={token}"));
    // For scripts, too: nothing else goes to standard output.
    let mut out = stdout();
    let _ = writeln!(out, "listening on http://{address}/{fragment}").and_then(|()| out.flush());
    let until = if token.is_some() {
        "The store is in use until then"
    } else {
        "It shows what was committed when a page is loaded; others can work on the store"
    };
    say(global, &format!("open it in a browser; Ctrl-C ends it. {until}"));
}
