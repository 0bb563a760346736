//! Polite time: how long a crawler takes that keeps a queue for each host, domain or address, queues side by side, and on
//! each of its `connections` to a queue sends one request each `delay` (METHODS 5b).
//!
//! `n` requests take `ceil(n / connections) * delay`, so there is time for `connections * floor(T / delay)` of them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;

use prospect_index::url;
use serde::{Deserialize, Serialize};

use crate::estimate::url_parts::host_name;

/// Seconds between two requests to a queue where nothing else is said.
const DELAY: f64 = 1.0;
/// Longest delay, in seconds.
const LONGEST: f64 = 1e6;

/// What a crawler keeps a queue for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum QueueBy {
    /// Each host.
    #[default]
    Host,
    /// Each registrable domain.
    Domain,
    /// Each address, which several hosts may share; a host whose address is not known has a queue of its own.
    Ip,
}

impl QueueBy {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Host, Self::Domain, Self::Ip];

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Domain => "domain",
            Self::Ip => "ip",
        }
    }
}

/// The time that a batch may take.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PoliteTime {
    /// Seconds; none for as long as it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seconds: Option<f64>,
    /// Seconds between two requests to a queue that has no delay of its own.
    #[serde(default = "usual_delay", skip_serializing_if = "is_usual_delay")]
    pub(crate) delay: f64,
    /// What there is a queue for.
    #[serde(default, skip_serializing_if = "is_host")]
    pub(crate) queue_by: QueueBy,
    /// URLs of a queue that there is always time for, however slow it is.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) fewest: usize,
    /// Requests that a queue has under way at once.
    #[serde(default = "one_connection", skip_serializing_if = "is_one")]
    pub(crate) connections: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(fewest: &usize) -> bool {
    *fewest == 0
}

fn one_connection() -> usize {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_one(connections: &usize) -> bool {
    *connections == 1
}

fn usual_delay() -> f64 {
    DELAY
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_usual_delay(delay: &f64) -> bool {
    *delay == DELAY
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_host(queue_by: &QueueBy) -> bool {
    *queue_by == QueueBy::Host
}

impl PoliteTime {
    /// No limit.
    pub(crate) const UNLIMITED: Self =
        Self { seconds: None, delay: DELAY, queue_by: QueueBy::Host, fewest: 0, connections: 1 };
}

impl Default for PoliteTime {
    fn default() -> Self {
        Self::UNLIMITED
    }
}

/// What is known of queues.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Queues {
    /// Delays of those that have one of their own, in seconds, by host, domain or address.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    delays: BTreeMap<String, f64>,
    /// Addresses, by host.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    addresses: BTreeMap<String, String>,
}

impl Queues {
    /// The queues that have a delay of their own.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.delays.keys().map(String::as_str)
    }

    /// Notes that a queue asks for at least this delay.
    pub(crate) fn ask(&mut self, queue: &str, delay: f64) {
        let known = self.delays.entry(queue.to_owned()).or_insert(0.0);
        *known = known.max(delay.min(LONGEST));
    }

    /// Takes others, which count more.
    pub(crate) fn extend(&mut self, others: Self) {
        self.delays.extend(others.delays);
        self.addresses.extend(others.addresses);
    }

    /// Has an address wait as long as the slowest of its hosts, unless it has a delay of its own.
    pub(crate) fn slow_addresses(&mut self) {
        let own: BTreeSet<String> = self.delays.keys().cloned().collect();
        let of_hosts = self.addresses.iter().filter(|(_, address)| !own.contains(*address));
        let of_hosts =
            of_hosts.filter_map(|(host, address)| Some((address, self.delays.get(host)?)));
        let of_hosts: Vec<(String, f64)> =
            of_hosts.map(|(address, delay)| (address.clone(), *delay)).collect();
        for (address, delay) in of_hosts {
            self.ask(&address, delay);
        }
    }

    /// Reads lines of a host or domain and its delay in seconds, parted by white space.
    ///
    /// # Errors
    /// The number of the first line that is none, and what is wrong with it.
    pub(crate) fn parse_delays(text: &str) -> Result<Self, (usize, String)> {
        let mut delays = BTreeMap::new();
        for (at, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                [] => {}
                [first, ..] if first.starts_with('#') => {}
                [first, seconds] => match (host_name(first), seconds.parse::<f64>()) {
                    (Some(name), Ok(delay)) if (0.0..=LONGEST).contains(&delay) => {
                        let before = delays.insert(name, delay);
                        if before.is_some_and(|before| before != delay) {
                            return Err((at + 1, format!("{first:?} has another delay above")));
                        }
                    }
                    (None, _) => return Err((at + 1, format!("{first:?} is no name of a host"))),
                    _ => return Err((at + 1, format!("{seconds:?} is no number of seconds"))),
                },
                _ => return Err((at + 1, format!("{} columns, expected 2", words.len()))),
            }
        }
        Ok(Self { delays, ..Self::default() })
    }

    /// Reads lines of a host and its address, or of an address and its hosts as `/etc/hosts` has them.
    ///
    /// # Errors
    /// The number of the first line that is none, and what is wrong with it.
    pub(crate) fn parse_addresses(text: &str) -> Result<Self, (usize, String)> {
        let address = |word: &str| Some(word.parse::<IpAddr>().ok()?.to_string());
        let mut addresses = BTreeMap::new();
        for (at, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            let words: Vec<&str> = line.split_whitespace().collect();
            let (hosts, address) = match words[..] {
                [] => continue,
                [ref hosts @ .., last] if hosts.len() == 1 && address(hosts[0]).is_none() => {
                    (hosts, address(last))
                }
                [first, ref hosts @ ..] => (hosts, address(first)),
            };
            let address = address.filter(|_| !hosts.is_empty());
            let address = address
                .ok_or_else(|| (at + 1, format!("{line:?} is no host and its IP address")))?;
            for host in hosts {
                let name = host_name(host)
                    .ok_or_else(|| (at + 1, format!("{host:?} is no name of a host")))?;
                addresses.insert(name, address.clone());
            }
        }
        Ok(Self { addresses, ..Self::default() })
    }

    /// Whether there can be queues like this: those by address need addresses.
    pub(crate) fn can_be(&self, by: QueueBy) -> bool {
        by != QueueBy::Ip || !self.addresses.is_empty()
    }
}

/// When the last request of a batch has had its time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Makespan {
    /// Seconds from the first request.
    pub(crate) seconds: f64,
    /// The queue that takes longest; of several the first in the batch.
    pub(crate) queue: String,
    /// Its URLs.
    pub(crate) urls: usize,
    /// Queues.
    pub(crate) queues: usize,
}

impl PoliteTime {
    /// The queue of a URL.
    pub(crate) fn queue<'a>(self, url: &'a str, known: &'a Queues) -> &'a str {
        let host = url::host(url);
        match self.queue_by {
            QueueBy::Host => host,
            QueueBy::Domain => url::registrable_domain(host),
            QueueBy::Ip => known.addresses.get(host).map_or(host, String::as_str),
        }
    }

    /// Seconds between two requests to a queue.
    pub(crate) fn delay_of(self, queue: &str, known: &Queues) -> f64 {
        known.delays.get(queue).copied().unwrap_or(self.delay)
    }

    /// Most URLs of a queue with this delay, counted in whole milliseconds; no limit where there is none to
    /// the time, or no delay.
    pub(crate) fn most(self, delay: f64) -> usize {
        match (self.seconds.map(milliseconds), milliseconds(delay)) {
            (None, _) | (_, 0) => usize::MAX,
            (Some(time), delay) => {
                let turns = usize::try_from(time / delay).unwrap_or(usize::MAX);
                turns.saturating_mul(self.connections).max(self.fewest)
            }
        }
    }

    /// When each of these URLs is asked for, in seconds from now, in the order in which they are given, after
    /// those that are in flight; and when the last has had its time.
    pub(crate) fn schedule<'a>(
        self,
        urls: impl Iterator<Item = &'a str>,
        known: &'a Queues,
        in_flight: impl Iterator<Item = &'a str>,
    ) -> (Vec<f64>, Makespan) {
        let mut busy: HashMap<Cow<'a, str>, u64> = HashMap::new();
        for address in in_flight {
            *busy.entry(self.queue(address, known).into()).or_insert(0) += 1;
        }
        let mut queues: HashMap<Cow<'a, str>, usize> = HashMap::new();
        let (mut starts, mut last) = (Vec::new(), Makespan::default());
        for address in urls {
            let queue = self.queue(address, known);
            let delay = milliseconds(self.delay_of(queue, known));
            let ahead = busy.get(queue).copied().unwrap_or(0);
            let before = queues.entry(queue.into()).or_insert(0);
            let turn = (ahead + *before as u64) / self.connections.max(1) as u64;
            let start = turn.saturating_mul(delay);
            *before += 1;
            let end = start.saturating_add(delay) as f64 / 1e3;
            if end > last.seconds || starts.is_empty() {
                last.seconds = end;
                queue.clone_into(&mut last.queue);
            }
            starts.push(start as f64 / 1e3);
        }
        last.urls = queues.get(last.queue.as_str()).copied().unwrap_or(0);
        last.queues = queues.len();
        (starts, last)
    }
}

pub(super) fn milliseconds(seconds: f64) -> u64 {
    (seconds * 1e3).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const URLS: [&str; 5] = [
        "https://a.one.test/1",
        "https://b.one.test/1",
        "https://a.one.test/2",
        "http://two.test/",
        "https://a.one.test/3",
    ];

    const NONE: std::iter::Empty<&str> = std::iter::empty();

    #[test]
    fn queues_run_side_by_side_at_their_own_delays() {
        let time = PoliteTime::default();
        let (starts, last) = time.schedule(URLS.into_iter(), &Queues::default(), NONE);
        assert_eq!(starts, [0.0, 0.0, 1.0, 0.0, 2.0]);
        let told = Makespan { seconds: 3.0, queue: "a.one.test".into(), urls: 3, queues: 3 };
        assert_eq!(last, told);
        let delays = Queues::parse_delays("# slow\ntwo.test\t7.5\n\nA.one.test 0.5\n").unwrap();
        let (starts, last) = time.schedule(URLS.into_iter(), &delays, NONE);
        assert_eq!(starts, [0.0, 0.0, 0.5, 0.0, 1.0]);
        assert_eq!((last.seconds, last.queue.as_str(), last.urls), (7.5, "two.test", 1));
        let by_domain = PoliteTime { queue_by: QueueBy::Domain, ..time };
        let (starts, last) = by_domain.schedule(URLS.into_iter(), &Queues::default(), NONE);
        assert_eq!(starts, [0.0, 1.0, 2.0, 0.0, 3.0]);
        assert_eq!((last.seconds, last.queues), (4.0, 2));
        let two = PoliteTime { connections: 2, ..time };
        let (starts, last) = two.schedule([URLS[0]; 4].into_iter(), &Queues::default(), NONE);
        assert_eq!(starts, [0.0, 0.0, 1.0, 1.0]);
        assert_eq!((last.seconds, last.urls), (2.0, 4), "those of the last turn, too");
        // What is in flight has its turn first.
        let in_flight = ["https://a.one.test/8", "https://a.one.test/9", "http://three.test/"];
        let (starts, last) =
            time.schedule(URLS.into_iter(), &Queues::default(), in_flight.into_iter());
        assert_eq!(starts, [2.0, 0.0, 3.0, 0.0, 4.0]);
        assert_eq!((last.seconds, last.urls, last.queues), (5.0, 3, 3));
    }

    #[test]
    fn a_queue_takes_what_its_delay_leaves_time_for() {
        let time = |seconds| PoliteTime { seconds, ..PoliteTime::default() };
        assert_eq!(time(Some(60.0)).most(1.0), 60);
        assert_eq!(time(Some(60.0)).most(0.7), 85);
        assert_eq!(time(Some(0.3)).most(0.1), 3, "whole milliseconds");
        assert_eq!(time(Some(1.0)).most(2.0), 0);
        assert_eq!(time(Some(1.0)).most(0.0), usize::MAX);
        assert_eq!(time(None).most(1.0), usize::MAX);
        let two = |seconds| PoliteTime { connections: 2, ..time(Some(seconds)) };
        assert_eq!([7.0, 13.9, 60.0].map(|seconds| two(seconds).most(7.0)), [2, 2, 16]);
        let urls = [URLS[0], URLS[2], URLS[4]];
        let (starts, last) = two(60.0).schedule(urls.into_iter(), &Queues::default(), NONE);
        assert_eq!((starts.as_slice(), last.seconds), ([0.0, 0.0, 1.0].as_slice(), 2.0));
    }

    #[test]
    fn hosts_of_one_address_wait_for_each_other() {
        let text =
            "# shared\na.one.test 192.0.2.7\n192.0.2.7 two.test other.test\n::1 x.test # v6\n";
        let mut known = Queues::parse_addresses(text).unwrap();
        let by_ip = PoliteTime { queue_by: QueueBy::Ip, ..PoliteTime::default() };
        let queues = URLS.map(|url| by_ip.queue(url, &known).to_owned());
        let [one, other] = ["192.0.2.7", "b.one.test"];
        assert_eq!(queues, [one, other, one, one, one], "who has no address is alone");
        // The slowest of its hosts says how long an address waits, unless it has a delay of its own.
        known
            .extend(Queues::parse_delays("a.one.test 2\ntwo.test 3\n::1 0.5\nx.test 9\n").unwrap());
        known.slow_addresses();
        assert_eq!((by_ip.delay_of(one, &known), by_ip.delay_of("::1", &known)), (3.0, 0.5));
        let (starts, last) = by_ip.schedule(URLS.into_iter(), &known, NONE);
        assert_eq!(starts, [0.0, 0.0, 3.0, 6.0, 9.0]);
        assert_eq!((last.seconds, last.queue.as_str(), last.queues), (12.0, one, 2));
        let json = serde_json::to_value(&known).unwrap();
        assert_eq!(serde_json::from_value::<Queues>(json).unwrap(), known);
        for (text, line) in
            [("a.test\n", 1), ("\na.test b.test", 2), ("a.test 1 2", 1), ("1.2.3.4", 1)]
        {
            assert_eq!(Queues::parse_addresses(text).unwrap_err().0, line, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_delay_is_told_with_its_line() {
        let refused = |text| Queues::parse_delays(text).unwrap_err();
        assert_eq!(
            refused("a.test 1\nA.test 1\na.test 2"),
            (3, "\"a.test\" has another delay above".into())
        );
        assert_eq!(refused("a.test 1\nb.test"), (2, "1 columns, expected 2".to_owned()));
        assert_eq!(refused("a.test soon").1, "\"soon\" is no number of seconds");
        assert_eq!(refused("a.test -1").0, 1);
        assert_eq!(refused("a.test:81 1").1, "\"a.test:81\" is no name of a host");
    }

    #[test]
    fn a_delay_is_of_the_host_that_it_names_however_it_is_spelled() {
        let delays =
            Queues::parse_delays("BÜCHER.example. 7\n[::1] 2\n::2 3\n10.0.0.1 4\n").unwrap();
        let names: Vec<&str> = delays.names().collect();
        assert_eq!(names, ["10.0.0.1", "::2", "[::1]", "xn--bcher-kva.example"]);
    }
}
