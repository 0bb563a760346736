//! Kinds of attack by name.

use super::AttackError;

/// Domains that a farm may have.
pub(crate) const FARM_DOMAINS: std::ops::RangeInclusive<u32> = 10..=1000;
/// Every kind as it is written, and what it does.
pub(crate) const ATTACKS: [(&str, &str); 5] = [
    ("control", "as many odd pages that aim at no query, to hold the others against"),
    ("anchor-stuffing", "anchors that hold many queries lead to junk"),
    ("url-stuffing", "URLs of junk are made of queries"),
    ("link-farm:N", "N domains, 10 to 1000, link to junk with queries as anchors"),
    ("bait-and-switch", "a site begins with pages that answer queries and goes on with junk"),
];

/// A way to be fetched more than one deserves (Gyöngyi and Garcia-Molina, "Web spam taxonomy",
/// `AIRWeb` 2005: anchor text spam, URL spam, spam farms; all posted as comments on honest pages).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AttackKind {
    /// Nothing is aimed at.
    Control,
    /// Anchors hold many queries.
    AnchorStuffing,
    /// URLs are made of queries.
    UrlStuffing,
    /// So many domains link to the targets.
    LinkFarm(u32),
    /// A good site turns bad.
    BaitAndSwitch,
}

impl AttackKind {
    /// One of every kind, the smallest farm among them.
    pub(crate) const ALL: [Self; 5] = [
        Self::Control,
        Self::AnchorStuffing,
        Self::UrlStuffing,
        Self::LinkFarm(*FARM_DOMAINS.start()),
        Self::BaitAndSwitch,
    ];

    /// Parses a name of [`ATTACKS`].
    ///
    /// # Errors
    /// There is no such kind, or a farm's domains are not given or out of range.
    pub(crate) fn parse(given: &str) -> Result<Self, AttackError> {
        match given.split_once(':').unwrap_or((given, "")) {
            ("control", "") => Ok(Self::Control),
            ("anchor-stuffing", "") => Ok(Self::AnchorStuffing),
            ("url-stuffing", "") => Ok(Self::UrlStuffing),
            ("bait-and-switch", "") => Ok(Self::BaitAndSwitch),
            ("link-farm", domains) => {
                let parsed = domains.parse().ok().filter(|n| FARM_DOMAINS.contains(n));
                let error = || AttackError::Domains { given: domains.to_owned() };
                parsed.map(Self::LinkFarm).ok_or_else(error)
            }
            _ => Err(AttackError::Unknown { given: given.to_owned() }),
        }
    }

    /// As it is written.
    pub(crate) fn label(self) -> String {
        match self {
            Self::Control => "control".to_owned(),
            Self::AnchorStuffing => "anchor-stuffing".to_owned(),
            Self::UrlStuffing => "url-stuffing".to_owned(),
            Self::LinkFarm(domains) => format!("link-farm:{domains}"),
            Self::BaitAndSwitch => "bait-and-switch".to_owned(),
        }
    }

    /// The label as the name of a folder.
    pub(crate) fn folder(self) -> String {
        self.label().replace(':', "-")
    }

    /// Pages that it cannot do without.
    pub(super) fn least_pages(self) -> usize {
        match self {
            Self::Control | Self::AnchorStuffing | Self::UrlStuffing => 1,
            Self::LinkFarm(domains) => 2 * domains as usize,
            Self::BaitAndSwitch => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_and_written_alike() {
        for kind in AttackKind::ALL.into_iter().chain([AttackKind::LinkFarm(1000)]) {
            assert_eq!(AttackKind::parse(&kind.label()).unwrap(), kind);
            assert!(!kind.folder().contains(':'));
        }
        for given in ["link-farm:9", "link-farm:1001", "link-farm:", "link-farm", "link-farm:x"] {
            let error = AttackKind::parse(given).unwrap_err();
            assert!(matches!(error, AttackError::Domains { .. }), "{given}: {error}");
        }
    }

    #[test]
    fn a_kind_that_there_is_not_is_answered_with_those_there_are() {
        for given in ["stuffing", "", "url-stuffing:3"] {
            let message = AttackKind::parse(given).unwrap_err().to_string();
            assert!(ATTACKS.iter().all(|(name, _)| message.contains(name)), "{message}");
        }
    }
}
