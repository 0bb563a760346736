//! `prospect stream`: a planner beside a running crawler. What was fetched comes on standard input, what to fetch next
//! goes to standard output.
//!
//! Here are the loop, the clock and the pipes; what a round does is `campaign/stream.rs`.

mod incoming;
mod outgoing;
mod signals;
mod summary;

use std::collections::HashSet;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use prospect_index::ingest::{PreparedPage, prepare};
use prospect_index::manifest::InFlightFor;
use prospect_index::page::PageRecord;
use rayon::prelude::*;

use super::Global;
use super::bounds::{self, BoundOptions};
use super::ingest::{SkippedItem, open_store, prepared};
use super::model::{StoreQuality, StoreQualityOptions};
use super::options::{OfStream, OptionFlags};
use super::output::{self, Failure, say};
use super::plan::in_flight_for;
use crate::campaign::stream::{Asked, InFlight, Planned, Planning, Stream};
use crate::ingest::stream::{self, StreamLine};
use crate::plan::pace::Pace;
use crate::planner::retries::TRIES;
use crate::report::number::with_noun;
use incoming::{Every, Incoming};
use outgoing::Outgoing;
use summary::{End, Summary};

/// URLs in flight beyond which a number is a mistake.
const MOST_IN_FLIGHT: i64 = 1_000_000;
/// Turns of a queue that there is time for in what is in flight, where nothing is said: so many that a queue has work while
/// a plan is made, and so few that what is in flight is of many hosts.
const TURNS: f64 = 10.0;
/// What records are said to come from.
const INPUT: &str = "standard input";

/// Arguments of `prospect stream`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {
    /// The store; made if it is missing.
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
    /// The queries: TSV, CSV, JSON or TREC topics.
    #[arg(long, value_name = "FILE")]
    workload: PathBuf,
    /// URLs that are asked for and not reported, at most: what is missing of them is planned after each group of
    /// records.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=MOST_IN_FLIGHT))]
    in_flight: u32,
    /// Take records in when so many have come, or so long after the first of them (500ms, 1s, 2m); at once when as many
    /// have come as are in flight.
    #[arg(long, value_name = "N|TIME", default_value = "50", value_parser = Every::parse)]
    every: Every,
    /// Plan so many URLs in this run, at most; what is asked for again when it starts does not count.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    budget: Option<u32>,
    #[command(flatten)]
    options: OptionFlags<OfStream>,
    #[command(flatten)]
    quality: StoreQualityOptions,
    /// How long URLs are in flight after the last record of their plan, and are not planned again: so many groups of
    /// records without one, or a time such as 90s, 30m, 2h or 1d by the `fetched_at` of records. Without it, until they
    /// are reported.
    #[arg(long, value_name = "N|TIME", value_parser = in_flight_for)]
    in_flight_for: Option<InFlightFor>,
    #[command(flatten)]
    bounds: BoundOptions,
    /// End with an error after the first group of records that has a bad one; what was good of it is stored.
    #[arg(long)]
    strict: bool,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    if args.workload == Path::new("-") {
        let error =
            anyhow::anyhow!("the workload cannot come on standard input, where records come");
        return Err(Failure::input(error, "name a file with --workload"));
    }
    let mut settings = args.options.settings()?;
    let workload = bounds::workload(&args.workload, global)?;
    args.bounds.add_queues(&mut settings)?;
    let quality = args.quality.load(global)?;
    let stream = Stream::new(open_store(&args.store, "prospect stream")?)?;
    bounds::asked(&stream.open, &workload)?;
    output::say_refreshes(global, &stream.open.refreshes);
    settings.scope = args.bounds.scope(&stream.open, global)?;
    let within = args.bounds.within(&mut settings, &stream.open.known, global)?;
    let caps = &mut settings.selection.caps;
    // Plans of a few URLs each would have none.
    caps.count_in_flight = caps.any_of_urls();
    let time = &mut caps.time;
    if time.seconds.is_none() && time.delay > 0.0 {
        (time.seconds, time.fewest) = (Some(TURNS * time.delay), 1);
    }
    let pace = Pace::new(settings.selection.caps.time, settings.queues.clone());
    // Without a bound a plan is open until all of it was reported.
    let in_flight_for = args.in_flight_for.unwrap_or(InFlightFor::Ingests(u32::MAX));
    let planning = Planning { workload, within, settings, in_flight_for };
    // All that was asked for may be reported before the first plan is made.
    let ahead = stream.in_flight()?.urls.max(args.in_flight as usize);
    let session = Session {
        args,
        global,
        planning,
        quality,
        incoming: Incoming::start(args.every, ahead),
        outgoing: Outgoing::new(pace),
        summary: Summary::default(),
        rounds: 0,
        in_vain: 0,
        bad: None,
    };
    session.run(stream)
}

/// A stream at work.
struct Session<'a> {
    args: &'a Args,
    global: &'a Global,
    planning: Planning,
    quality: Option<StoreQuality>,
    incoming: Incoming,
    outgoing: Outgoing,
    summary: Summary,
    rounds: u64,
    /// Plans in a row of what waits, made before its time since nothing else was left, that brought no page.
    in_vain: u32,
    /// The first bad record, where that is an error.
    bad: Option<String>,
}

/// What came with a group of records.
#[derive(Default)]
struct Group {
    records: usize,
    /// When it was whole.
    at: Option<Instant>,
}

impl Session<'_> {
    fn run(mut self, mut stream: Stream) -> Result<(), Failure> {
        if stream.is_empty() {
            let directory = self.args.store.display();
            let line = format!(
                "the store knows no URL yet: waiting for records on standard input; `prospect seeds --store {directory} \
                 FILE…` makes URLs known without one"
            );
            say(self.global, &line);
        }
        let again = stream.resume(&self.planning)?;
        self.summary.asked_again = again.len();
        if !again.is_empty() {
            let again = with_noun(again.len(), "URL");
            say(self.global, &format!("asked for again, as in flight of open plans: {again}"));
        }
        self.outgoing.asked_before(&again);
        let mut end = self.ask(&again)?;
        let mut group = Group { records: 0, at: Some(Instant::now()) };
        while end.is_none() {
            let (in_flight, idle) = self.plan(&mut stream, &group)?;
            let lines = match idle {
                None => self.incoming.group(in_flight).map_err(unreadable)?,
                Some(End::Output) => Vec::new(),
                // Somebody may have fetched what nobody planned.
                Some(_) => self.incoming.rest().map_err(unreadable)?,
            };
            if lines.is_empty() && idle.is_some() {
                end = idle;
            } else {
                (stream, group) = self.take_in(stream, &lines)?;
                end = self.ended();
            }
        }
        let end = end.unwrap_or(End::Input);
        self.finish(stream, end)
    }

    /// Whether a group was the last.
    fn ended(&self) -> Option<End> {
        if self.bad.is_some() {
            return Some(End::Strict);
        }
        if self.incoming.was_stopped {
            return Some(End::Signal);
        }
        self.incoming.has_ended.then_some(End::Input)
    }

    /// Plans what is missing, asks for it and tells of the round. Gives what is in flight then, or why there is nothing
    /// to do any more.
    fn plan(
        &mut self,
        stream: &mut Stream,
        group: &Group,
    ) -> Result<(usize, Option<End>), Failure> {
        let before = stream.in_flight()?;
        let left = self
            .args
            .budget
            .map_or(usize::MAX, |budget| (budget as usize).saturating_sub(self.summary.asked));
        let missing = (self.args.in_flight as usize).saturating_sub(before.urls).min(left);
        let planned = stream.plan(&self.planning, missing, self.in_vain < TRIES)?;
        self.in_vain += u32::from(planned.is_early);
        self.summary.asked += planned.asked.len();
        self.summary.plans += usize::from(!planned.asked.is_empty());
        let in_flight = before.urls + planned.asked.len();
        if let Some(end) = self.ask(&planned.asked)? {
            return Ok((in_flight, Some(end)));
        }
        self.tell(group, before, &planned);
        let is_idle = in_flight == 0 && !stream.is_empty();
        let end = is_idle.then(|| match planned.waits {
            _ if left == 0 => End::Budget,
            waits if waits.is_empty() => End::Frontier,
            waits => End::Waits(waits),
        });
        Ok((in_flight, end))
    }

    /// Writes URLs to fetch; tells if nobody reads them.
    fn ask(&mut self, asked: &[Asked]) -> Result<Option<End>, Failure> {
        if asked.is_empty() {
            return Ok(None);
        }
        match self.outgoing.ask(asked) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Some(End::Output)),
            written => Ok(written.map(|()| None)?),
        }
    }

    /// Stores what is good of a group of lines, and tells of the rest.
    fn take_in(
        &mut self,
        stream: Stream,
        lines: &[StreamLine],
    ) -> Result<(Stream, Group), Failure> {
        let at = Some(Instant::now());
        let name: Arc<str> = INPUT.into();
        let items: Vec<Result<PreparedPage, SkippedItem>> =
            stream::items(lines, &name).into_par_iter().map(prepared).collect();
        let mut pages = Vec::with_capacity(items.len());
        let mut asked = Vec::new();
        for (item, line) in items.into_iter().zip(lines) {
            match item {
                Ok(page) => pages.push(page),
                Err(skipped) => {
                    self.skip(&skipped);
                    asked.extend(line.asked());
                }
            }
        }
        if !asked.is_empty() {
            let failed = unreadable_answers(&stream, asked, &pages)?;
            pages.extend(failed);
        }
        let (mut stream, taken) = stream.take_in(pages, &stream::fingerprint(lines))?;
        if let Some(error) = &taken.not_merged {
            say(self.global, &format!("small files could not be merged: {error}"));
        }
        let counts = &taken.counts;
        if counts.pages + counts.moved + counts.unchanged > 0 {
            self.in_vain = 0;
        }
        self.summary.add(counts, taken.closed.len());
        if let Some(quality) = &self.quality {
            quality.score(&mut stream.open, &Global { quiet: true, ..self.global.clone() })?;
        }
        Ok((stream, Group { records: counts.records as usize, at }))
    }

    fn skip(&mut self, SkippedItem { reason, example, .. }: &SkippedItem) {
        say(self.global, &format!("skipped {example} ({reason})"));
        self.summary.skip();
        if self.args.strict {
            self.bad.get_or_insert_with(|| format!("{example} ({reason})"));
        }
    }

    /// A line for a round in which something happened.
    fn tell(&mut self, group: &Group, before: InFlight, planned: &Planned) {
        let (records, asked) = (group.records, planned.asked.len());
        if records + asked == 0 {
            return;
        }
        self.rounds += 1;
        let (round, urls) = (self.rounds, before.urls + asked);
        let plans = before.plans + usize::from(asked > 0);
        let millis = group.at.map_or(0, |at| at.elapsed().as_millis());
        let line = format!(
            "round {round}: {}, {asked} planned, {urls} in flight of {}, {millis} ms",
            with_noun(records, "record"),
            with_noun(plans, "plan"),
        );
        say(self.global, &line);
    }

    /// Takes in what came meanwhile, and tells what it all came to.
    fn finish(mut self, stream: Stream, end: End) -> Result<(), Failure> {
        let rest = self.incoming.rest().map_err(unreadable)?;
        let (stream, _) = self.take_in(stream, &rest)?;
        let in_flight = stream.in_flight()?;
        say(self.global, &format!("{}: the stream ends", end.told()));
        say(self.global, &self.summary.told(in_flight));
        if self.global.json && end != End::Output {
            self.outgoing.end(&self.summary.json(end, in_flight))?;
        }
        match self.bad {
            Some(bad) => {
                let hint = "what was good is stored; without --strict bad records are told, skipped and counted";
                Err(Failure::input(anyhow::anyhow!("{bad}"), hint))
            }
            None => Ok(()),
        }
    }
}

/// Of URLs with records that are none, those that are in flight and of which no page tells: what came of them will not be
/// told in another way, so they failed.
fn unreadable_answers(
    stream: &Stream,
    asked: Vec<String>,
    pages: &[PreparedPage],
) -> Result<Vec<PreparedPage>, Failure> {
    let told: HashSet<&str> = pages.iter().map(PreparedPage::asked).collect();
    let in_flight = stream.urls_in_flight()?;
    let failed = |url| PageRecord { url, status: Some(0), ..PageRecord::default() };
    let failed = asked.into_iter().filter_map(|url| prepare(failed(url)).ok());
    let is_left =
        |page: &PreparedPage| in_flight.contains(page.asked()) && !told.contains(page.asked());
    Ok(failed.filter(is_left).collect())
}

fn unreadable(error: io::Error) -> Failure {
    let error = anyhow::Error::new(error).context("standard input cannot be read");
    Failure::input(error, "what was stored stays; start the stream again")
}
