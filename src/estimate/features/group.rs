//! Groups of evidence that estimates can be made without, to see what each is worth.
//!
//! A feature of a group that is left out is 0 for every model, when it is fitted and when it
//! predicts. A part of the estimate that is left out is 0 and weighs nothing, and its work is not
//! done. Groups are those of the learned reading.

use serde::{Deserialize, Serialize};

/// Between names of groups, as people write several.
pub(crate) const SEPARATOR: char = '.';

/// What the group of the text around links was called in format 1.
const OLD_LINK_CONTEXT: &str = "around";
/// A group of earlier versions that plans in a store may have been made without.
const TAKEN_OUT: &str = "fit";

/// A group of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FeatureGroup {
    /// Shares of the query in the URL.
    Url,
    /// Shares of the query in anchors.
    Anchors,
    /// Scores of parents for the query.
    ParentScores,
    /// Words of the query in the text around links.
    LinkContext,
    /// Similarity of sentence embeddings.
    Embedding,
    /// Matches of a part of the query.
    Partial,
    /// Candidates that the answers of a query link to.
    Inherited,
    /// Competition of candidates that are not known yet.
    Unseen,
    /// All estimates by query.
    Pairs,
    /// Number of links to a page, and the first one.
    PageLinks,
    /// Shape of the page's URL.
    PageUrl,
    /// What parents of a page are worth.
    PageParents,
    /// What pages of the same regions are worth.
    Regions,
    /// Quality expected of a page, as a feature.
    PageQuality,
    /// The page model.
    Page,
    /// The part of importance.
    Importance,
    /// The part of quality.
    Quality,
    /// The part of discovery.
    Discovery,
}

use FeatureGroup::{
    Anchors, Discovery, Embedding, Importance, Inherited, LinkContext, Page, PageLinks,
    PageParents, PageQuality, PageUrl, Pairs, ParentScores, Partial, Quality, Regions, Unseen, Url,
};

/// Every group with its name and its meaning, in the order of [`FeatureGroup`].
const GROUPS: [(FeatureGroup, &str, &str); 18] = [
    (Url, "url", "pair features: shares of the query in the URL"),
    (Anchors, "anchors", "pair features: shares of the query in anchors"),
    (ParentScores, "parent-scores", "pair features: scores of parents for the query"),
    (LinkContext, "link-context", "pair features: words of the query in the text around links"),
    (Embedding, "embedding", "pair features, and candidates: similarity by an embedding model"),
    (Partial, "partial", "candidates that hold a part of the query only"),
    (Inherited, "inherited", "candidates that the answers of a query link to: the part locality"),
    (Unseen, "unseen", "competition of candidates that no link has shown yet"),
    (Pairs, "pairs", "every estimate by query: the parts query and locality"),
    (PageLinks, "page-links", "page features: number of links, place and age of the first one"),
    (PageUrl, "page-url", "page features: shape of the URL"),
    (PageParents, "page-parents", "page features: impact of parents, and queries they serve"),
    (Regions, "regions", "page features: impact of host, section, directory and pattern"),
    (PageQuality, "page-quality", "page features: expected quality"),
    (Page, "page", "the page model: the part page"),
    (Importance, "importance", "the part importance"),
    (Quality, "quality", "the part quality"),
    (Discovery, "discovery", "what a page leads to: the part discovery"),
];

impl FeatureGroup {
    /// All of them.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        GROUPS.into_iter().map(|(group, ..)| group)
    }

    /// As people write it.
    pub(crate) fn name(self) -> &'static str {
        GROUPS[self as usize].1
    }

    /// What is in it.
    pub(crate) fn meaning(self) -> &'static str {
        GROUPS[self as usize].2
    }
}

/// A set of groups; as JSON, a list of their names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<&'static str>")]
pub struct FeatureGroups(u32);

impl FeatureGroups {
    /// The groups of these names.
    ///
    /// # Errors
    /// A name is that of no group.
    pub(crate) fn named<'n>(names: impl Iterator<Item = &'n str>) -> Result<Self, String> {
        let mut groups = Self::default();
        for name in names {
            let current = if name == OLD_LINK_CONTEXT { LinkContext.name() } else { name };
            let Some(group) = FeatureGroup::all().find(|group| group.name() == current) else {
                let known: Vec<&str> = FeatureGroup::all().map(FeatureGroup::name).collect();
                return Err(format!("there is no group {name:?}; there are {}", known.join(", ")));
            };
            groups.0 |= 1 << group as u32;
        }
        Ok(groups)
    }

    /// Whether there is none.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde asks")]
    pub(crate) fn is_empty(&self) -> bool {
        self.0 == 0
    }

    /// Whether a group is among them.
    pub(crate) fn contains(self, group: FeatureGroup) -> bool {
        self.0 >> group as u32 & 1 == 1
    }
}

impl TryFrom<Vec<String>> for FeatureGroups {
    type Error = String;

    fn try_from(names: Vec<String>) -> Result<Self, String> {
        Self::named(names.iter().map(String::as_str).filter(|name| *name != TAKEN_OUT))
    }
}

impl From<FeatureGroups> for Vec<&'static str> {
    fn from(groups: FeatureGroups) -> Self {
        FeatureGroup::all()
            .filter(|&group| groups.contains(group))
            .map(FeatureGroup::name)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_stands_at_its_own_place() {
        for (at, group) in FeatureGroup::all().enumerate() {
            assert_eq!(group as usize, at, "{}", group.name());
        }
    }

    #[test]
    fn a_set_is_a_list_of_names_as_json() {
        let groups = FeatureGroups::named(["regions", "url"].into_iter()).unwrap();
        let json = serde_json::to_string(&groups).unwrap();
        assert_eq!(json, "[\"url\",\"regions\"]");
        assert_eq!(serde_json::from_str::<FeatureGroups>(&json).unwrap(), groups);
        assert!(groups.contains(Url) && !groups.contains(Anchors));
        let error = serde_json::from_str::<FeatureGroups>("[\"charm\"]").unwrap_err().to_string();
        assert!(error.starts_with("there is no group \"charm\"; there are url, "), "{error}");
    }
}
