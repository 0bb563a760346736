//! A scenario as it is read, from TOML or JSON. Its own keys are the fields of [`Scenario`]; all others
//! are options of the planner, by the names of their table. Keys are tried one by one, so that an error of a
//! file tells the line.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;

use super::scenario::Scenario;
use crate::estimate::parts::Part;
use crate::planner::options::{PlannerOption, nearest};

/// Keys that are no options.
const OWN: [&str; 10] = [
    "name",
    "queries",
    "workload",
    "scale",
    "drop",
    "add",
    "exclude-hosts",
    "boost-hosts",
    "fetched",
    "fetched-file",
];
/// Weights by part, as they were written once.
const WEIGHTS: &str = "weights";

/// A key that there is.
enum Key {
    Own(&'static str),
    Option(&'static PlannerOption),
    Weights,
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let given = String::deserialize(input)?;
        if let Some(own) = OWN.into_iter().find(|own| *own == given) {
            return Ok(Self::Own(own));
        }
        if given == WEIGHTS {
            return Ok(Self::Weights);
        }
        PlannerOption::named(&given).map(Self::Option).map_err(|_| {
            let options = PlannerOption::all().iter().map(|option| option.name.as_str());
            let near = nearest(&given, OWN.into_iter().chain(options));
            D::Error::custom(format!("unknown field `{given}`, did you mean `{near}`?"))
        })
    }
}

impl<'de> Deserialize<'de> for Scenario {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_map(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Scenario;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a scenario")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Scenario, M::Error> {
        let mut said = Scenario::default();
        while let Some(key) = map.next_key()? {
            match key {
                Key::Own(key) => own(&mut said, key, &mut map)?,
                Key::Option(option) => give(&mut said, option, map.next_value()?)?,
                Key::Weights => {
                    for (name, weight) in map.next_value::<BTreeMap<String, Value>>()? {
                        give(&mut said, weight_of(&name)?, weight)?;
                    }
                }
            }
        }
        Ok(said)
    }
}

/// Reads the value of a key that is no option.
fn own<'de, M: MapAccess<'de>>(
    said: &mut Scenario,
    key: &str,
    map: &mut M,
) -> Result<(), M::Error> {
    match key {
        "name" => said.name = map.next_value()?,
        "queries" => said.queries = map.next_value()?,
        "workload" => said.workload = map.next_value()?,
        "scale" => said.scale = map.next_value()?,
        "drop" => said.drop = map.next_value()?,
        "add" => said.add = map.next_value()?,
        "exclude-hosts" => said.exclude_hosts = map.next_value()?,
        "boost-hosts" => said.boost_hosts = map.next_value()?,
        "fetched" => said.fetched = map.next_value()?,
        "fetched-file" => said.fetched_file = map.next_value()?,
        _ => return Err(M::Error::custom(format!("the key `{key}` is not read"))),
    }
    Ok(())
}

fn give<E: Error>(
    said: &mut Scenario,
    option: &'static PlannerOption,
    value: Value,
) -> Result<(), E> {
    if said.options.insert(option, value) {
        return Ok(());
    }
    Err(E::custom(format!("`{}` is said twice", option.name)))
}

fn weight_of<E: Error>(part: &str) -> Result<&'static PlannerOption, E> {
    Part::named(part).and_then(PlannerOption::weight).ok_or_else(|| {
        let names = Part::ALL.map(Part::name).join(", ");
        E::custom(format!("there is no part `{part}`: they are {names}"))
    })
}
