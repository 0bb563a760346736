//! Visibility: how likely a searcher looks at a rank of a result list, V(r) of Pandey and Olston (WSDM
//! 2008, section 2).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How visibility falls with the rank. Behind the list it is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Visibility {
    /// Every place of the list is seen alike: V(r) = 1.
    #[default]
    Top,
    /// `V(r) = 1 / log2(r + 1)`, the discount of DCG (Järvelin and Kekäläinen, TOIS 2002).
    Log,
    /// `V(r) = p^(r - 1)`: who looked at a rank looks at the next one with this chance, the persistence
    /// of RBP (Moffat and Zobel, TOIS 2008).
    Geometric(f64),
}

/// Persistence where none is given.
const PERSISTENCE: f64 = 0.8;

impl Visibility {
    /// Whether it is the one that is used where nothing is said.
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Its name, where it is not the one that is used where nothing is said.
    pub(crate) fn named(&self) -> Option<String> {
        (!self.is_default()).then(|| self.to_string())
    }

    /// Visibility of a rank, from 1, in a list however long.
    fn at(self, rank: usize) -> f64 {
        match self {
            Self::Top => 1.0,
            Self::Log => 1.0 / (rank as f64 + 1.0).log2(),
            Self::Geometric(persistence) => persistence.powi(rank as i32 - 1),
        }
    }
}

impl fmt::Display for Visibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Top => f.write_str("top"),
            Self::Log => f.write_str("log"),
            Self::Geometric(persistence) => write!(f, "geometric:{persistence}"),
        }
    }
}

impl FromStr for Visibility {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let there_are = "top, log, geometric and, for another persistence below 1, geometric:0.9";
        let wrong = || format!("{text:?} is no visibility; there are {there_are}");
        match text.split_once(':') {
            None if text == "top" => Ok(Self::Top),
            None if text == "log" => Ok(Self::Log),
            None if text == "geometric" => Ok(Self::Geometric(PERSISTENCE)),
            Some(("geometric", given)) => {
                let persistence: f64 = given.parse().map_err(|_| wrong())?;
                let is_chance = persistence > 0.0 && persistence < 1.0;
                is_chance.then_some(Self::Geometric(persistence)).ok_or_else(wrong)
            }
            _ => Err(wrong()),
        }
    }
}

impl TryFrom<String> for Visibility {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Visibility> for String {
    fn from(visibility: Visibility) -> Self {
        visibility.to_string()
    }
}

/// The places of a result list, and how visible each is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Places {
    /// How many: K.
    pub(crate) k: usize,
    /// How visible.
    pub(crate) visibility: Visibility,
}

impl From<usize> for Places {
    /// As many places, all seen alike.
    fn from(k: usize) -> Self {
        Self { k, visibility: Visibility::default() }
    }
}

impl Places {
    /// Visibility of a rank, from 1; 0 behind the last place.
    pub(crate) fn at(self, rank: usize) -> f64 {
        if rank > self.k { 0.0 } else { self.visibility.at(rank) }
    }

    /// Where visibility falls, as ranks with what is lost behind them, so that the visibility of a rank is the
    /// sum of what is lost from there on: expectations of a visibility are sums of chances to be
    /// among so many.
    pub(crate) fn steps(self) -> impl Iterator<Item = (usize, f64)> {
        let step = move |rank| (rank, self.at(rank) - self.at(rank + 1));
        (1..=self.k).map(step).filter(|(_, lost)| *lost > 0.0)
    }

    /// Mean visibility of the places.
    pub(crate) fn mean(self) -> f64 {
        (1..=self.k).map(|rank| self.at(rank)).sum::<f64>() / self.k as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(k: usize, visibility: &str) -> Places {
        Places { k, visibility: visibility.parse().unwrap() }
    }

    #[test]
    fn ranks_are_as_visible_as_their_definitions_say() {
        let of = |visibility| [1, 2, 3, 4].map(|rank| places(3, visibility).at(rank));
        assert_eq!(of("top"), [1.0, 1.0, 1.0, 0.0]);
        assert_eq!(of("log"), [1.0, 1.0 / 3.0_f64.log2(), 0.5, 0.0]);
        assert_eq!(of("geometric:0.5"), [1.0, 0.5, 0.25, 0.0]);
        assert_eq!(of("geometric"), [1.0, 0.8, 0.8 * 0.8, 0.0]);
    }

    #[test]
    fn what_is_lost_behind_ranks_adds_up_to_visibility() {
        assert_eq!(places(10, "top").steps().collect::<Vec<_>>(), [(10, 1.0)]);
        for name in ["log", "geometric:0.9"] {
            let places = places(7, name);
            for rank in 1..=8 {
                let sum: f64 =
                    places.steps().filter(|(at, _)| *at >= rank).map(|(_, lost)| lost).sum();
                assert!((sum - places.at(rank)).abs() < 1e-12, "{name} {rank}");
            }
        }
        assert_eq!(places(10, "top").mean(), 1.0);
        assert_eq!(places(3, "geometric:0.5").mean(), 1.75 / 3.0);
    }

    #[test]
    fn names_come_back_and_others_are_refused() {
        for name in ["top", "log", "geometric:0.85"] {
            assert_eq!(name.parse::<Visibility>().unwrap().to_string(), name);
        }
        for name in
            ["", "Top", "geometric:1", "geometric:0", "geometric:x", "log:2", "geometric:NaN"]
        {
            let error = name.parse::<Visibility>().unwrap_err();
            assert!(error.starts_with(&format!("{name:?} is no visibility")), "{error}");
        }
    }
}
