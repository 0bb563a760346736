//! What an option may hold: how it is read from what people give, and told to them.

use serde::Serialize;
use serde_json::{Value, json};

use crate::estimate::features::group::{FeatureGroup, FeatureGroups, SEPARATOR};
use crate::plan::caps::Caps;
use crate::plan::revisits::RevisitShare;
use crate::sketch::need::Needy;
use crate::sketch::visibility::Visibility;

/// What lifts a cap, and takes back what another option may name.
pub(crate) const NONE: &str = "none";

/// Names of choices that were given up, and what they are called now.
const OLD_NAMES: [(&str, &str); 1] = [("lasting", "learned")];

/// Largest number of an option that has no bound of its own; what reaches as far is told as unbounded.
pub(super) const MOST: f64 = 1e9;

/// A place in the settings, with what it may hold.
pub(super) enum Field<'a> {
    /// A number from the first to the second.
    Number(&'a mut f64, f64, f64),
    /// A whole number from the first to the second.
    Whole(&'a mut usize, usize, usize),
    /// Any whole number.
    Seed(&'a mut u64),
    /// Most URLs.
    Cap(&'a mut Option<usize>, usize),
    /// Largest share. All is as good as no cap.
    ShareCap(&'a mut Option<f64>),
    /// Most seconds.
    TimeCap(&'a mut Option<f64>),
    /// One of some names.
    Choice(Box<dyn Named + 'a>),
    /// How many queries, or a share of them.
    Needy(&'a mut Option<Needy>),
    /// How visible ranks are.
    Visibility(&'a mut Visibility),
    /// Groups of evidence.
    Groups(&'a mut FeatureGroups),
    /// How much is for pages that were fetched before.
    Revisit(&'a mut RevisitShare),
}

/// What an option may hold, for those who offer it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// A number within bounds.
    Number {
        /// The smallest.
        least: f64,
        /// The largest.
        most: f64,
    },
    /// A whole number within bounds.
    Whole {
        /// The smallest.
        least: u64,
        /// The largest.
        most: u64,
    },
    /// One of these names.
    Choice(Vec<&'static str>),
    /// Text.
    Text {
        /// What it is made of.
        form: String,
        /// One that fits, and is not the default.
        example: &'static str,
    },
}

impl Kind {
    /// What a value must be, for a message.
    pub(super) fn must(&self) -> String {
        match self {
            Self::Number { least, most } => format!("must lie between {least} and {most}"),
            Self::Whole { least, most } => format!("must be a whole number from {least} to {most}"),
            Self::Choice(_) | Self::Text { .. } => format!("must be {}", self.range()),
        }
    }

    /// What a value may be, for a list of options.
    pub(crate) fn range(&self) -> String {
        match self {
            Self::Number { least, most } if *most < MOST => format!("{least} to {most}"),
            Self::Number { least, .. } => format!("{least} or more"),
            Self::Whole { least, most } if *most < MOST as u64 => format!("{least} to {most}"),
            Self::Whole { least, .. } => format!("{least} or more"),
            Self::Choice(names) => match names.split_last() {
                Some((last, [])) => (*last).to_owned(),
                Some((last, others)) => format!("{} or {last}", others.join(", ")),
                None => String::new(),
            },
            Self::Text { form, .. } => form.clone(),
        }
    }
}

impl<'a> Field<'a> {
    /// One of some names.
    pub(super) fn one_of<T: Copy + PartialEq + 'a>(
        place: &'a mut T,
        names: impl Into<Vec<(&'static str, T)>>,
    ) -> Self {
        Self::Choice(Box::new(OneOf { place, names: names.into() }))
    }

    /// What it may hold.
    pub(super) fn kind(&self) -> Kind {
        let text = |form: &str, example| Kind::Text { form: form.to_owned(), example };
        match self {
            Self::Number(_, least, most) => Kind::Number { least: *least, most: *most },
            Self::Whole(_, least, most) => Kind::Whole { least: *least as u64, most: *most as u64 },
            Self::Seed(_) => Kind::Whole { least: 0, most: u64::MAX },
            Self::Cap(_, most) => Kind::Whole { least: 1, most: *most as u64 },
            Self::ShareCap(_) => Kind::Number { least: 0.0, most: 1.0 },
            Self::TimeCap(_) => Kind::Number { least: 0.0, most: MOST },
            Self::Choice(names) => Kind::Choice(names.names()),
            Self::Needy(_) => text("a number of queries, or a share below 1", "0.1"),
            Self::Visibility(_) => text("top, log, or geometric:P with P below 1", "log"),
            Self::Groups(_) => text(&groups(), "url.anchors"),
            Self::Revisit(_) => text("auto, or a share from 0 to 1", "auto"),
        }
    }

    /// Whether [`NONE`] fits.
    pub(super) fn lifts(&self) -> bool {
        self.is_cap() || matches!(self, Self::Needy(_) | Self::Groups(_))
    }

    /// Whether it is a cap, which 0 lifts, too.
    pub(super) fn is_cap(&self) -> bool {
        matches!(self, Self::Cap(..) | Self::ShareCap(_) | Self::TimeCap(_))
    }

    /// What it holds.
    pub(super) fn value(&self) -> Value {
        match self {
            Self::Number(number, ..) => json!(number),
            Self::Whole(number, ..) => json!(number),
            Self::Seed(number) => json!(number),
            Self::Cap(cap, _) => cap.map_or(json!(NONE), |most| json!(most)),
            Self::ShareCap(cap) | Self::TimeCap(cap) => cap.map_or(json!(NONE), |most| json!(most)),
            Self::Choice(names) => json!(names.name()),
            Self::Needy(needy) => needy.map_or(json!(NONE), |needy| json!(needy)),
            Self::Visibility(visibility) => json!(visibility),
            Self::Revisit(share) => json!(share),
            Self::Groups(groups) if groups.is_empty() => json!(NONE),
            Self::Groups(groups) => {
                let names: Vec<&str> = (**groups).into();
                json!(names.join(&SEPARATOR.to_string()))
            }
        }
    }

    /// Takes a value as text; `None`, and nothing is taken, if it does not fit.
    pub(super) fn set(self, text: &str) -> Option<()> {
        match self {
            Self::Number(place, least, most) => *place = number(text, least, most)?,
            Self::Whole(place, least, most) => {
                *place = text.parse().ok().filter(|given| (least..=most).contains(given))?;
            }
            Self::Seed(place) => *place = text.parse().ok()?,
            Self::Cap(place, most) => {
                let given = if text == NONE { 0 } else { text.parse().ok()? };
                *place = (given <= most).then_some((given > 0).then_some(given))?;
            }
            Self::ShareCap(place) | Self::TimeCap(place) if text == NONE => *place = None,
            Self::TimeCap(place) => {
                *place = Some(number(text, 0.0, MOST)?).filter(|seconds| *seconds > 0.0);
            }
            Self::ShareCap(place) => *place = Caps::share(number(text, 0.0, 1.0)?),
            Self::Choice(mut names) => return names.choose(current(text)),
            Self::Needy(place) if text == NONE => *place = None,
            Self::Needy(place) => *place = Some(needy(text)?),
            Self::Visibility(place) => *place = text.parse().ok()?,
            Self::Revisit(place) => *place = text.parse().ok()?,
            Self::Groups(place) if text == NONE => *place = FeatureGroups::default(),
            Self::Groups(place) => *place = FeatureGroups::named(text.split(SEPARATOR)).ok()?,
        }
        Some(())
    }
}

/// What a name that was given up is called today.
fn current(name: &str) -> &str {
    let found = OLD_NAMES.iter().find(|(old, _)| *old == name);
    found.map_or(name, |(_, new)| new)
}

fn number(text: &str, least: f64, most: f64) -> Option<f64> {
    text.parse().ok().filter(|given| (least..=most).contains(given))
}

fn needy(text: &str) -> Option<Needy> {
    if let Ok(count) = text.parse::<usize>() {
        return (count > 0).then_some(Needy::Count(count));
    }
    Some(Needy::Share(number(text, f64::MIN_POSITIVE, 1.0)?))
}

fn groups() -> String {
    let names: Vec<&str> = FeatureGroup::all().map(FeatureGroup::name).collect();
    format!("some of {}, with `{SEPARATOR}` between", names.join(", "))
}

/// A place that holds one of some values that have names.
pub(super) trait Named {
    fn names(&self) -> Vec<&'static str>;
    fn name(&self) -> &'static str;
    fn choose(&mut self, name: &str) -> Option<()>;
}

struct OneOf<'a, T> {
    place: &'a mut T,
    names: Vec<(&'static str, T)>,
}

impl<T: Copy + PartialEq> Named for OneOf<'_, T> {
    fn names(&self) -> Vec<&'static str> {
        self.names.iter().map(|(name, _)| *name).collect()
    }

    fn name(&self) -> &'static str {
        let held = self.names.iter().find(|(_, value)| value == self.place);
        held.map_or("", |(name, _)| name)
    }

    fn choose(&mut self, name: &str) -> Option<()> {
        *self.place = self.names.iter().find(|(other, _)| *other == name)?.1;
        Some(())
    }
}
