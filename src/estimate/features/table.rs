//! The one table of features: what models read of a candidate pair, and of a page. A row has the name of a
//! feature and the group of evidence it belongs to; everything that lists features reads it here.
//!
//! A new feature is a row here and a line where it is computed ([`pair`](super::pair),
//! [`link_context`](super::link_context), [`similarity`](super::similarity), [`page`](super::page)): models
//! size themselves by the table.

use std::ops::{Index, IndexMut};
use std::sync::LazyLock;

use super::group::{FeatureGroup, FeatureGroups};

/// Makes an enumeration of features, and a row of their values.
macro_rules! features {
    (
        $(#[$about:meta])* $feature:ident,
        $(#[$about_row:meta])* $row:ident:
        $($variant:ident $name:literal $group:expr;)+
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $feature {
            $(#[doc = $name] $variant,)+
        }

        impl $feature {
            /// All of them, in the order in which models read them.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// What it is, for people.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The evidence it belongs to.
            #[allow(clippy::unnecessary_wraps, reason = "not every table has a feature without one")]
            pub(crate) fn group(self) -> Option<FeatureGroup> {
                match self { $(Self::$variant => $group,)+ }
            }
        }

        $(#[$about_row])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub(crate) struct $row([f32; $feature::ALL.len()]);

        impl Default for $row {
            fn default() -> Self {
                Self([0.0; $feature::ALL.len()])
            }
        }

        impl Index<$feature> for $row {
            type Output = f32;

            fn index(&self, feature: $feature) -> &f32 {
                &self.0[feature as usize]
            }
        }

        impl IndexMut<$feature> for $row {
            fn index_mut(&mut self, feature: $feature) -> &mut f32 {
                &mut self.0[feature as usize]
            }
        }

        impl $row {
            /// Makes the features of these groups 0.
            pub(crate) fn clear(&mut self, without: FeatureGroups) {
                if without.is_empty() {
                    return;
                }
                for &feature in $feature::ALL {
                    if feature.group().is_some_and(|group| without.contains(group)) {
                        self[feature] = 0.0;
                    }
                }
            }
        }
    };
}

features! {
    /// A feature of a candidate pair of query and URL. Those without a group are read by the published
    /// score tree alone.
    Feature,
    /// Features of one pair.
    FeatureRow:
    UrlShare "url n-gram share" Some(FeatureGroup::Url);
    UrlIdfShare "url idf share" Some(FeatureGroup::Url);
    BestAnchorShare "best anchor n-gram share" Some(FeatureGroup::Anchors);
    BestAnchorIdfShare "best anchor idf share" Some(FeatureGroup::Anchors);
    AllAnchorsShare "all anchors n-gram share" Some(FeatureGroup::Anchors);
    AllAnchorsIdfShare "all anchors idf share" Some(FeatureGroup::Anchors);
    AnchorIsQuery "an anchor is the query" Some(FeatureGroup::Anchors);
    MatchingSites "ln(1 + linking sites with a matching anchor)" Some(FeatureGroup::Anchors);
    Inlinks "ln(1 + in-links)" None;
    PageRank "ln(1 + PageRank * URLs)" None;
    UrlDepth "url depth" None;
    UrlLength "url length" None;
    SiteMean "mean outcome of the site" None;
    BestParent "best parent score" Some(FeatureGroup::ParentScores);
    MeanParent "mean parent score" Some(FeatureGroup::ParentScores);
    ExpectedQuality "expected quality" None;
    BestContext "best share around a link" Some(FeatureGroup::LinkContext);
    ContextOfAnswer "best share around a link times the score of its page" Some(FeatureGroup::LinkContext);
    AllContexts "share around all links" Some(FeatureGroup::LinkContext);
    UrlCosine "cosine with the words of the url" Some(FeatureGroup::Embedding);
    AnchorCosine "cosine with the nearest anchor" Some(FeatureGroup::Embedding);
    TitleCosine "cosine with the nearest title of a linking page" Some(FeatureGroup::Embedding);
}

features! {
    /// A feature of a page, whatever is asked. Impact is in units of the mean impact of fetched pages.
    PageFeature,
    /// Features of one page.
    PageRow:
    Parents "ln(1 + linking pages)" Some(FeatureGroup::PageLinks);
    UrlDepth "url depth" Some(FeatureGroup::PageUrl);
    UrlLength "url length" Some(FeatureGroup::PageUrl);
    UrlDigits "digits in the url" Some(FeatureGroup::PageUrl);
    UrlHasQuery "the url has a query" Some(FeatureGroup::PageUrl);
    FirstLinkPlace "ln(1 + place of the first link on its page)" Some(FeatureGroup::PageLinks);
    FirstLinkCount "ln(1 + links on the page of the first link)" Some(FeatureGroup::PageLinks);
    FirstLinkAge "age of the first link as a share of the crawl" Some(FeatureGroup::PageLinks);
    ParentImpact "mean impact of parents" Some(FeatureGroup::PageParents);
    BestParentImpact "best impact of a parent" Some(FeatureGroup::PageParents);
    ExpectedQuality "expected quality" Some(FeatureGroup::PageQuality);
    ParentDemand "frequency of the queries that a parent is served for" Some(FeatureGroup::PageParents);
    SharedDemand "frequency of the queries that several parents are served for" Some(FeatureGroup::PageParents);
    HostImpact "mean impact of the host" Some(FeatureGroup::Regions);
    HostPages "ln(1 + fetched pages of the host)" Some(FeatureGroup::Regions);
    SectionImpact "mean impact of the section" Some(FeatureGroup::Regions);
    SectionPages "ln(1 + fetched pages of the section)" Some(FeatureGroup::Regions);
    DirectoryImpact "mean impact of the directory" Some(FeatureGroup::Regions);
    DirectoryPages "ln(1 + fetched pages of the directory)" Some(FeatureGroup::Regions);
    PatternImpact "mean impact of the pattern" Some(FeatureGroup::Regions);
    PatternPages "ln(1 + fetched pages of the pattern)" Some(FeatureGroup::Regions);
}

impl FeatureRow {
    /// The values of some features, in their order.
    pub(crate) fn of<'a>(&'a self, features: &'a [Feature]) -> impl Iterator<Item = f32> + 'a {
        features.iter().map(|&feature| self[feature])
    }
}

impl Feature {
    /// What the learned reading fits its model to: all that belongs to a group of evidence.
    pub(crate) fn learned() -> &'static [Self] {
        static LEARNED: LazyLock<Vec<Feature>> = LazyLock::new(|| {
            let all = Feature::ALL.iter().copied();
            all.filter(|feature| feature.group().is_some()).collect()
        });
        &LEARNED
    }
}

/// What models are fitted to, in their order: one that is stored reads another table wrongly.
pub(crate) fn learned_names() -> Vec<String> {
    let of_pairs = Feature::learned().iter().map(|feature| feature.name());
    let of_pages = PageFeature::ALL.iter().map(|feature| feature.name());
    of_pairs.chain(of_pages).map(str::to_owned).collect()
}

impl PageRow {
    /// All values, in the order of the table.
    pub(crate) fn values(&self) -> &[f32] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_that_is_left_out_is_0_and_the_rest_stays() {
        let mut row = FeatureRow::default();
        for (at, &feature) in Feature::ALL.iter().enumerate() {
            row[feature] = 1.0 + at as f32;
        }
        let whole = row;
        row.clear(FeatureGroups::default());
        assert_eq!(row, whole);
        row.clear(FeatureGroups::named(["anchors", "embedding"].into_iter()).unwrap());
        for &feature in Feature::ALL {
            let is_out =
                matches!(feature.group(), Some(FeatureGroup::Anchors | FeatureGroup::Embedding));
            assert_eq!(row[feature] == 0.0, is_out, "{}", feature.name());
            assert!(is_out || row[feature] == whole[feature]);
        }
    }

    #[test]
    fn no_two_features_have_one_name() {
        for names in [
            Feature::ALL.iter().map(|feature| feature.name()).collect::<Vec<_>>(),
            PageFeature::ALL.iter().map(|feature| feature.name()).collect(),
        ] {
            let distinct: std::collections::BTreeSet<&str> = names.iter().copied().collect();
            assert_eq!(distinct.len(), names.len());
        }
    }
}
