//! The one table of parts: an estimate is a weighted sum of them, and everything that lists parts (settings,
//! records, plans, explanations, the page) reads it here.

use std::ops::{Index, IndexMut};

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::features::group::FeatureGroup;

/// A part of an estimate, in impact units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Impact on the queries that the URL or its anchors match.
    Query,
    /// Impact on other queries, whose best pages link to it, or which are near to it in meaning.
    Locality,
    /// Impact that a model of pages expects, whatever is asked.
    Page,
    /// Impact expected from importance alone.
    Importance,
    /// Impact expected from quality alone.
    Quality,
    /// Impact, above the mean page's, of the pages that it will be the first to link to.
    Discovery,
}

/// What is said of a part.
struct Row {
    name: &'static str,
    column: &'static str,
    meaning: &'static str,
    /// Its weight where none is given. The page model knows of importance, so that importance alone says little
    /// more than the order of pages before there is a model (docs/ablation.md).
    weight: f64,
    /// Without this evidence it is 0.
    group: FeatureGroup,
}

const TABLE: [Row; Part::COUNT] = [
    Row {
        name: "query",
        column: "query_impact",
        meaning: "impact on the queries that a URL or its anchors match",
        weight: 0.9,
        group: FeatureGroup::Pairs,
    },
    Row {
        name: "locality",
        column: "locality_impact",
        meaning: "impact on other queries, whose best pages link to it",
        weight: 0.05,
        group: FeatureGroup::Pairs,
    },
    Row {
        name: "page",
        column: "page_impact",
        meaning: "impact that the page model expects",
        weight: 0.05,
        group: FeatureGroup::Page,
    },
    Row {
        name: "importance",
        column: "importance_impact",
        meaning: "impact expected from importance",
        weight: 0.01,
        group: FeatureGroup::Importance,
    },
    Row {
        name: "quality",
        column: "quality_impact",
        meaning: "impact expected from quality",
        weight: 0.05,
        group: FeatureGroup::Quality,
    },
    Row {
        name: "discovery",
        column: "discovery_impact",
        meaning: "impact of pages that a URL is the first to link to, above the mean page's",
        weight: 0.1,
        group: FeatureGroup::Discovery,
    },
];

impl Part {
    /// Number of parts.
    pub(crate) const COUNT: usize = 6;
    /// All parts, in the order in which they are summed.
    pub(crate) const ALL: [Self; Self::COUNT] =
        [Self::Query, Self::Locality, Self::Page, Self::Importance, Self::Quality, Self::Discovery];
    /// Those that say what the page itself is worth, which come first. Earlier versions had no others.
    pub(crate) const OF_THE_PAGE: [Self; Self::COUNT - 1] =
        [Self::Query, Self::Locality, Self::Page, Self::Importance, Self::Quality];

    /// As people write it.
    pub(crate) fn name(self) -> &'static str {
        TABLE[self as usize].name
    }

    /// Its column in tables of plans and records.
    pub(crate) fn column(self) -> &'static str {
        TABLE[self as usize].column
    }

    /// What it is.
    pub(crate) fn meaning(self) -> &'static str {
        TABLE[self as usize].meaning
    }

    /// The part of a name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.name() == name)
    }

    /// The part that a candidate pair adds to.
    pub(crate) fn of_pair(matches: bool) -> Self {
        if matches { Self::Query } else { Self::Locality }
    }

    /// The evidence without which it is 0.
    pub(super) fn group(self) -> FeatureGroup {
        TABLE[self as usize].group
    }
}

/// A number for every part: its value, or its weight.
///
/// ```
/// use prospect::estimate::parts::{Part, Parts};
///
/// let mut parts = Parts::default();
/// parts[Part::Query] = 2.0;
/// parts[Part::Page] = 1.0;
/// assert_eq!(parts[Part::Quality], 0.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Parts([f64; Part::COUNT]);

impl Parts {
    /// Weights where none are given.
    pub(crate) const DEFAULT: Self = {
        let mut weights = [0.0; Part::COUNT];
        let mut at = 0;
        while at < Part::COUNT {
            weights[at] = TABLE[at].weight;
            at += 1;
        }
        Self(weights)
    };

    /// A number of each part.
    pub(crate) fn of(value: impl FnMut(Part) -> f64) -> Self {
        Self(Part::ALL.map(value))
    }

    /// The parts with their numbers, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Part, f64)> + use<> {
        Part::ALL.into_iter().zip(self.0)
    }

    /// The sum of products with the numbers of `other`, in the order of the parts, which is part of the
    /// result.
    pub(crate) fn dot(&self, other: &Self) -> f64 {
        self.0.iter().zip(other.0).fold(0.0, |sum, (own, other)| sum + own * other)
    }

    /// The same, with what the page leads to left out: what is said of the page itself.
    pub(super) fn of_the_page(mut self) -> Self {
        self[Part::Discovery] = 0.0;
        self
    }

    /// From a list that may be shorter: parts that are not in it are 0.
    ///
    /// # Errors
    /// It is no list of numbers, or has more of them than there are parts.
    pub(super) fn padded<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let numbers = Vec::<f64>::deserialize(deserializer)?;
        if numbers.len() > Part::COUNT {
            return Err(D::Error::invalid_length(numbers.len(), &"a number of each part"));
        }
        Ok(Self(std::array::from_fn(|at| numbers.get(at).copied().unwrap_or(0.0))))
    }

    /// As a map from [`Part::column`], for records that others read.
    ///
    /// # Errors
    /// The serializer fails.
    pub(crate) fn by_column<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(Part::COUNT))?;
        for (part, value) in self.iter() {
            map.serialize_entry(part.column(), &value)?;
        }
        map.end()
    }
}

impl From<[f64; Part::COUNT]> for Parts {
    fn from(numbers: [f64; Part::COUNT]) -> Self {
        Self(numbers)
    }
}

impl Index<Part> for Parts {
    type Output = f64;

    fn index(&self, part: Part) -> &f64 {
        &self.0[part as usize]
    }
}

impl IndexMut<Part> for Parts {
    fn index_mut(&mut self, part: Part) -> &mut f64 {
        &mut self.0[part as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_versions_with_fewer_parts_are_read() {
        let read = |text| Parts::padded(&mut serde_json::Deserializer::from_str(text));
        let found = read("[0.9, 0.05, 0.05, 0.01, 0.05]").unwrap();
        assert_eq!(found, Parts::DEFAULT.of_the_page());
        assert!(read("[1, 2, 3, 4, 5, 6, 7]").is_err());
    }

    #[test]
    fn a_part_stands_at_its_own_place() {
        for (at, part) in Part::ALL.into_iter().enumerate() {
            assert_eq!((part as usize, Part::named(part.name())), (at, Some(part)));
            assert_eq!(part.column(), format!("{}_impact", part.name()));
        }
        assert_eq!(Part::ALL[..Part::COUNT - 1], Part::OF_THE_PAGE);
    }
}
