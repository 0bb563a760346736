//! `prospect serve`: a store in the browser.

use std::io::Write;
use std::net::SocketAddr;

use super::Global;
use super::hints::WayOut;
use super::open;
use super::output::{Failure, say};
use super::whatif::{StoreArgs, questions};
use crate::serve::{ServeError, ServeSettings, serve};
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
    /// Allow the page to write a plan to the store.
    #[arg(long)]
    allow_write: bool,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    let open = if args.allow_write { open::to_change } else { open::to_ask_for_long };
    let questions = questions(&args.store, Scenario::default(), (open, "prospect serve"), global)?;
    let settings = ServeSettings {
        listen: args.listen.clone(),
        allow_write: args.allow_write,
        threads: rayon::current_num_threads(),
        hint: ServeError::way_out,
        carry_out: args.store.plan_command(),
    };
    let ready = |address| say_ready(address, args.allow_write, global);
    Ok(serve(questions, &settings, ready)?)
}

fn say_ready(address: SocketAddr, holds: bool, global: &Global) {
    // For scripts, too: nothing else goes to standard output.
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "listening on http://{address}/").and_then(|()| out.flush());
    let until = if holds {
        "The store is in use until then"
    } else {
        "It shows what was committed until now; others can work on the store"
    };
    say(global, &format!("open it in a browser; Ctrl-C ends it. {until}"));
}
