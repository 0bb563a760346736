//! What bounds a plan beside the options of the planner's table: which URLs are in scope, and how long hosts ask to be
//! left alone; for the commands that plan.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use prospect_index::page_store::Known;

use super::output::{Failure, SCOPE_WIDTH, say, shown};
use super::{Global, queries};
use crate::campaign::OpenStore;
use crate::campaign::url_list::UrlList;
use crate::estimate::url_parts::host_name;
use crate::plan::polite_time::{PoliteTime, QueueBy, Queues};
use crate::plan::robots::crawl_delay;
use crate::planner::scope::{Scope, ScopeChange, ScopeError};
use crate::planner::settings::PlanSettings;
use crate::workload::{self, Workload, open_lines, open_text};

/// What is read of a robots.txt: what the standard asks for, RFC 9309.
const ROBOTS_BYTES: u64 = 500 << 10;

const AN_ADDRESS: &str = "write a host and its address on each line: a.example 192.0.2.7";

/// Options of scope and pace.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct BoundOptions {
    /// Plan only URLs of this list, one a line.
    #[arg(long, value_name = "FILE")]
    within: Option<PathBuf>,
    /// Plan only URLs that match this regular expression, or one of the file after an `@`, one a line.
    ///
    /// May be given more than once. This, --exclude and --types are kept in the store for all later plans until they
    /// are given anew; an empty one ends it.
    #[arg(long, value_name = "RE|@FILE")]
    include: Vec<String>,
    /// Plan no URL that matches this regular expression, or one of a file.
    #[arg(long, value_name = "RE|@FILE")]
    exclude: Vec<String>,
    /// Plan only URLs of these types, as the endings of their paths tell; `html` is those of pages, and no
    /// ending.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    types: Vec<String>,
    /// Plan only URLs of these hosts, or of the file after an `@`, one a line. Kept in the store like --include.
    #[arg(long, value_name = "LIST|@FILE", value_delimiter = ',')]
    hosts: Vec<String>,
    /// Plan only URLs of these domains: a host of this name and all below it; with --hosts, of either.
    #[arg(long, value_name = "LIST|@FILE", value_delimiter = ',')]
    domains: Vec<String>,
    /// Delays of hosts (of domains or addresses with --queue-by domain or ip) that have one of their own: a name and
    /// seconds on a line.
    #[arg(long, value_name = "FILE")]
    delays: Option<PathBuf>,
    /// Addresses of hosts, for --queue-by ip: a host and its address on a line, or as /etc/hosts has them.
    #[arg(long, value_name = "FILE")]
    addresses: Option<PathBuf>,
    /// A folder of robots.txt files, as HOST/robots.txt, HOST.txt or HOST: a host that asks for a longer
    /// Crawl-delay than --delay has it. What --delays says counts more.
    #[arg(long, value_name = "DIR")]
    robots: Option<PathBuf>,
    /// Name of the crawler, as robots.txt files have it.
    #[arg(long, value_name = "NAME", default_value = "*")]
    agent: String,
}

impl BoundOptions {
    /// Brings what is known of queues into the settings.
    pub(super) fn add_queues(&self, settings: &mut PlanSettings) -> Result<(), Failure> {
        let time = settings.selection.caps.time;
        let robots = self.robots.as_ref();
        let robots = robots.map(|folder| crawl_delays(folder, &self.agent, time)).transpose()?;
        let (addresses, delays) = (self.addresses.as_deref(), self.delays.as_deref());
        settings.queues = queues(time.queue_by, addresses, robots, delays)?;
        Ok(())
    }

    /// The scope of the store, with what is given in the place of what it says of that. Says which hosts, domains and
    /// types of these are none of the store.
    pub(super) fn scope(&self, open: &OpenStore, global: &Global) -> Result<Scope, Failure> {
        let given = |given: &[String]| (!given.is_empty()).then(|| lines(given)).transpose();
        let change = ScopeChange {
            include: given(&self.include)?,
            exclude: given(&self.exclude)?,
            types: (!self.types.is_empty()).then(|| self.types.clone()),
            hosts: given(&self.hosts)?,
            domains: given(&self.domains)?,
        };
        let scope = open.scope()?.with(change).map_err(refused)?;
        let has_names =
            [&self.hosts, &self.domains, &self.types].iter().any(|names| !names.is_empty());
        // A crawl may begin with its scope.
        if has_names && open.known.urls.len() > 0 {
            let compiled = scope.compile().map_err(refused)?;
            let unknown = compiled.unknown_names(&open.known.urls).join(", ");
            if !unknown.is_empty() {
                let told = "no URL is known of a host, domain or type of the scope";
                say(global, &format!("{told}: {}", shown(&unknown, SCOPE_WIDTH)));
            }
        }
        Ok(scope)
    }

    /// The list of URLs that may be planned, if there is one; the settings say which. Says what of it is none of the store.
    pub(super) fn within(
        &self,
        settings: &mut PlanSettings,
        known: &Known,
        global: &Global,
    ) -> Result<Option<UrlList>, Failure> {
        let Some(path) = &self.within else { return Ok(None) };
        let list = UrlList::parse(&open_text(path)?);
        if let Some(told) = list.left_out(known) {
            say(global, &format!("{}: {told}", workload::shown(path)));
        }
        settings.within = Some(list.checksum().to_owned());
        Ok(Some(list))
    }
}

/// Tells where the open plan was held to a list of which nothing is stored, as by versions that had only the pools of draws.
pub(super) fn say_lost_list(settings: &PlanSettings, within: &[bool], global: &Global) {
    if settings.within.is_some() && within.is_empty() {
        say(global, "the open plan was held to a list of URLs that is not stored: all URLs count");
    }
}

/// A scope that cannot be used, and the way out.
fn refused(error: ScopeError) -> Failure {
    let hint = match error {
        ScopeError::Expression(_) => {
            "--include and --exclude take regular expressions: a dot stands for any character, [.] for itself"
        }
        ScopeError::Host(_) => {
            "--hosts and --domains take names: no scheme, port or path, as a.example,b.example"
        }
    };
    Failure::input(anyhow::Error::new(error), hint)
}

/// A workload that can be planned for.
pub(super) fn workload(path: &Path, global: &Global) -> Result<Workload, Failure> {
    let workload = queries::load(path, global)?;
    if workload.for_planning().queries.is_empty() {
        let (file, count) = (workload::shown(path), workload.queries.len());
        let error = anyhow::anyhow!("{file}: none of the {count} queries can be planned for");
        return Err(Failure::input(error, "a query needs a word and a frequency above 0"));
    }
    Ok(workload)
}

/// Refuses a workload that can be planned for, but for the words of a store: none of its own is left.
pub(super) fn asked(open: &OpenStore, workload: &Workload) -> Result<(), Failure> {
    let words = open.known.analyzer.options();
    if words.is_plain() || !open.asked(workload).queries.is_empty() {
        return Ok(());
    }
    let error = anyhow::anyhow!(
        "none of the {} queries has a word in this store, whose words are {words}",
        workload.queries.len()
    );
    Err(Failure::input(error, "a query needs a word that is no stop word"))
}

/// The delays of a file.
fn delays(path: &Path) -> Result<Queues, Failure> {
    Queues::parse_delays(&open_text(path)?).map_err(|(line, what)| {
        let error = anyhow::anyhow!("{}:{line}: {what}", path.display());
        Failure::input(error, "write a host and its delay in seconds on each line: a.example 2.5")
    })
}

/// Queues by address need addresses.
pub(super) fn no_address() -> Failure {
    let error = anyhow::anyhow!("queues by address, and no address is known");
    Failure::input(error, format!("plan with --addresses FILE: {AN_ADDRESS}"))
}

/// What is known of queues: the addresses of a file, what robots.txt files ask for, and the delays of a file, which
/// count more.
pub(super) fn queues(
    by: QueueBy,
    addresses: Option<&Path>,
    robots: Option<Queues>,
    of_delays: Option<&Path>,
) -> Result<Queues, Failure> {
    let mut known = hosts_by_address(by, addresses)?;
    known.extend(robots.unwrap_or_default());
    if let Some(path) = of_delays {
        known.extend(delays(path)?);
    }
    known.slow_addresses();
    Ok(known)
}

/// The addresses of a file, which queues by address need and others have no use for.
fn hosts_by_address(by: QueueBy, addresses: Option<&Path>) -> Result<Queues, Failure> {
    match (by, addresses) {
        (QueueBy::Ip, Some(path)) => {
            Queues::parse_addresses(&open_text(path)?).map_err(|(line, what)| {
                Failure::input(anyhow::anyhow!("{}:{line}: {what}", path.display()), AN_ADDRESS)
            })
        }
        (QueueBy::Ip, None) => Err(no_address()),
        (_, Some(path)) => {
            let error =
                anyhow::anyhow!("{}: addresses, and queues are by {}", path.display(), by.name());
            Err(Failure::input(error, "add --queue-by ip, or leave --addresses out"))
        }
        (_, None) => Ok(Queues::default()),
    }
}

/// What is given, with the lines of files in the places of their names.
fn lines(given: &[String]) -> Result<Vec<String>, Failure> {
    let mut all = Vec::new();
    for expression in given {
        match expression.strip_prefix('@') {
            Some(path) => all.extend(open_lines(Path::new(path))?),
            None if expression.is_empty() => {}
            None => all.push(expression.clone()),
        }
    }
    Ok(all)
}

fn unread(path: &Path, error: io::Error) -> Failure {
    let error = anyhow::Error::new(error).context(format!("{}: cannot be read", path.display()));
    Failure::input(error, "--robots takes a folder of HOST/robots.txt, HOST.txt or HOST files")
}

/// The delays that robots.txt files ask for beyond the usual one.
fn crawl_delays(folder: &Path, agent: &str, time: PoliteTime) -> Result<Queues, Failure> {
    let mut delays = Queues::default();
    for entry in std::fs::read_dir(folder).map_err(|error| unread(folder, error))? {
        let path = entry.map_err(|error| unread(folder, error))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let file = if path.is_dir() { path.join("robots.txt") } else { path };
        if !file.is_file() {
            continue;
        }
        let is_text = name.to_ascii_lowercase().ends_with(".txt");
        let host = if is_text { &name[..name.len() - ".txt".len()] } else { &name };
        let mut content = Vec::new();
        let read =
            File::open(&file).and_then(|file| file.take(ROBOTS_BYTES).read_to_end(&mut content));
        read.map_err(|error| unread(&file, error))?;
        let asked = crawl_delay(agent, &content).filter(|delay| *delay > time.delay);
        if let Some(delay) = asked {
            // Of addresses the hosts are asked for.
            let Some(host) = host_name(host) else { continue };
            let address = format!("https://{host}/");
            delays.ask(time.queue(&address, &Queues::default()), delay);
        }
    }
    Ok(delays)
}
