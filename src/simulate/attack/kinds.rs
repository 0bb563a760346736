//! Kinds of attack by name.

use super::AttackError;

/// Domains that an attacker may spread over.
pub(crate) const DOMAINS: std::ops::RangeInclusive<u32> = 10..=1000;
/// Shares of the log, in percent, that an attacker's own queries may have.
pub(crate) const LOG_PERCENT: std::ops::RangeInclusive<u32> = 1..=50;
/// Every kind as it is written, and what it does. In brackets is what may be left out: a domain for each page.
pub(crate) const ATTACKS: [(&str, &str); 13] = [
    ("control", "as many odd pages that aim at no query, to hold the others against"),
    ("newcomers[:N]", "the same on N new domains, 10 to 1000"),
    ("anchor-stuffing", "anchors that hold many queries lead to junk"),
    ("url-stuffing", "URLs of junk are made of queries"),
    ("link-farm:N", "N domains link to junk with queries as anchors"),
    ("bait-and-switch", "a site begins with pages that answer queries and goes on with junk"),
    ("sybil[:N]", "junk on N new domains, each link to it repeated with 30 queries as anchors"),
    ("sybil-bait[:N]", "the same with texts that hold the queries"),
    ("hijack[:N]", "sybils whose links are planted on honest pages that answer the query"),
    ("mimic[:N]", "the same with URLs like those of honest hosts"),
    ("fresh", "sybils that move on to a new domain in every cycle"),
    (
        "query-log:P",
        "P percent of the queries, 1 to 50, are the attacker's and answered by its pages",
    ),
    ("quality[:N]", "aimless pages on N new domains that a model of quality likes"),
];

/// A way to be fetched more than one deserves (Gyöngyi and Garcia-Molina, "Web spam taxonomy",
/// `AIRWeb` 2005: anchor text spam, URL spam, spam farms; Douceur, "The Sybil attack", IPTPS 2002;
/// all posted as comments on honest pages). Numbers are of domains, a page on each where there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AttackKind {
    /// Nothing is aimed at.
    Control,
    /// Nothing is aimed at, from new domains.
    Newcomers(Option<u32>),
    /// Anchors hold many queries.
    AnchorStuffing,
    /// URLs are made of queries.
    UrlStuffing,
    /// So many domains link to the targets.
    LinkFarm(u32),
    /// A good site turns bad.
    BaitAndSwitch,
    /// Many new domains, and many anchors a link.
    Sybil(Option<u32>),
    /// The same with texts to match.
    SybilBait(Option<u32>),
    /// Links are on pages that answer the query.
    Hijack(Option<u32>),
    /// The same with URLs like those of honest hosts.
    Mimic(Option<u32>),
    /// A domain for each cycle.
    Fresh,
    /// So many percent of the queries are the attacker's own.
    QueryLog(u32),
    /// Pages look good to a model of quality.
    Quality(Option<u32>),
}

impl AttackKind {
    /// One of every kind, the smallest farm and the smallest share of the log among them.
    pub(crate) const ALL: [Self; ATTACKS.len()] = [
        Self::Control,
        Self::Newcomers(None),
        Self::AnchorStuffing,
        Self::UrlStuffing,
        Self::LinkFarm(*DOMAINS.start()),
        Self::BaitAndSwitch,
        Self::Sybil(None),
        Self::SybilBait(None),
        Self::Hijack(None),
        Self::Mimic(None),
        Self::Fresh,
        Self::QueryLog(*LOG_PERCENT.start()),
        Self::Quality(None),
    ];

    /// Parses a name of [`ATTACKS`].
    ///
    /// # Errors
    /// There is no such kind, or its number is not given or out of range.
    pub(crate) fn parse(given: &str) -> Result<Self, AttackError> {
        let (name, number) =
            given.split_once(':').map_or((given, None), |(name, number)| (name, Some(number)));
        let within = |range: &std::ops::RangeInclusive<u32>, number: &str| {
            number.parse().ok().filter(|n| range.contains(n))
        };
        let wrong = || AttackError::Number { given: given.to_owned() };
        let domains =
            || number.map(|number| within(&DOMAINS, number).ok_or_else(wrong)).transpose();
        let unknown = || AttackError::Unknown { given: given.to_owned() };
        match name {
            "newcomers" => domains().map(Self::Newcomers),
            "link-farm" => domains()?.ok_or_else(wrong).map(Self::LinkFarm),
            "sybil" => domains().map(Self::Sybil),
            "sybil-bait" => domains().map(Self::SybilBait),
            "hijack" => domains().map(Self::Hijack),
            "mimic" => domains().map(Self::Mimic),
            "quality" => domains().map(Self::Quality),
            "query-log" => {
                let percent = number.and_then(|number| within(&LOG_PERCENT, number));
                percent.ok_or_else(wrong).map(Self::QueryLog)
            }
            _ if number.is_some() => Err(unknown()),
            "control" => Ok(Self::Control),
            "anchor-stuffing" => Ok(Self::AnchorStuffing),
            "url-stuffing" => Ok(Self::UrlStuffing),
            "bait-and-switch" => Ok(Self::BaitAndSwitch),
            "fresh" => Ok(Self::Fresh),
            _ => Err(unknown()),
        }
    }

    /// As it is written.
    pub(crate) fn label(self) -> String {
        let (name, number) = match self {
            Self::Control => ("control", None),
            Self::Newcomers(domains) => ("newcomers", domains),
            Self::AnchorStuffing => ("anchor-stuffing", None),
            Self::UrlStuffing => ("url-stuffing", None),
            Self::LinkFarm(domains) => ("link-farm", Some(domains)),
            Self::BaitAndSwitch => ("bait-and-switch", None),
            Self::Sybil(domains) => ("sybil", domains),
            Self::SybilBait(domains) => ("sybil-bait", domains),
            Self::Hijack(domains) => ("hijack", domains),
            Self::Mimic(domains) => ("mimic", domains),
            Self::Fresh => ("fresh", None),
            Self::QueryLog(percent) => ("query-log", Some(percent)),
            Self::Quality(domains) => ("quality", domains),
        };
        number.map_or_else(|| name.to_owned(), |number| format!("{name}:{number}"))
    }

    /// The label as the name of a folder.
    pub(crate) fn folder(self) -> String {
        self.label().replace(':', "-")
    }

    /// Pages that it cannot do without.
    pub(super) fn least_pages(self) -> usize {
        match self {
            Self::LinkFarm(domains) => 2 * domains as usize,
            Self::BaitAndSwitch => 2,
            Self::Newcomers(domains)
            | Self::Sybil(domains)
            | Self::SybilBait(domains)
            | Self::Hijack(domains)
            | Self::Mimic(domains)
            | Self::Quality(domains) => domains.map_or(1, |domains| domains as usize),
            _ => 1,
        }
    }

    /// Share of the queries that are the attacker's own.
    pub(crate) fn share_of_log(self) -> f64 {
        if let Self::QueryLog(percent) = self { f64::from(percent) / 100.0 } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_and_written_alike() {
        let more = [AttackKind::LinkFarm(1000), AttackKind::Sybil(Some(100))];
        for kind in AttackKind::ALL.into_iter().chain(more) {
            assert_eq!(AttackKind::parse(&kind.label()).unwrap(), kind);
            assert!(!kind.folder().contains(':'));
        }
        let wrong = ["9", "1001", "", "x"].map(|number| format!("link-farm:{number}"));
        let more = ["link-farm", "sybil:9", "mimic:x", "query-log", "query-log:0", "query-log:51"];
        for given in wrong.iter().map(String::as_str).chain(more) {
            let error = AttackKind::parse(given).unwrap_err();
            assert!(matches!(error, AttackError::Number { .. }), "{given}: {error}");
        }
    }

    #[test]
    fn a_kind_that_there_is_not_is_answered_with_those_there_are() {
        for given in ["stuffing", "", "url-stuffing:3", "fresh:10"] {
            let message = AttackKind::parse(given).unwrap_err().to_string();
            assert!(ATTACKS.iter().all(|(name, _)| message.contains(name)), "{message}");
        }
    }
}
