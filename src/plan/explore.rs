//! Exploration: a part of the batch is drawn at random, with probabilities that are known exactly, so
//! that models do not only see their own choices and another plan can be valued by the same outcomes.
//!
//! Draws come from two pools. [`Pool::Near`] holds the URLs that follow the greedy picks in the
//! ranking, as many as the budget: they cost little, and other weights would pick many of them.
//! [`Pool::Far`] holds all the rest, of which greedy never learns anything.
//!
//! Three draws of four come from the near pool. Within a pool every URL has the same chance, but
//! where caps leave a host, domain or site fewer places: there the chances of its URLs shrink to
//! what it may still take. A share of the budget that is no whole number of URLs is rounded up, and
//! what is too much goes to the first of the near pool, the URL that greedy would have picked.
//!
//! The draw is systematic (Madow, 1949): chances are laid end to end and a comb with teeth one apart
//! is dropped on them at random, so each URL is hit with just its chance. URLs lie in random order,
//! but those of a domain, a host and a site side by side; a group whose chances sum up to no more
//! than a whole number of places is then never hit more often, and no draw has to be taken back.

use std::collections::HashMap;

use prospect_index::page::UrlId;
use prospect_index::url_table::UrlTable;
use rayon::prelude::*;
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::caps::CapCounter;

/// Share of a batch that is explored unless something else is asked for.
pub(crate) const EXPLORE: f64 = 0.02;
/// Share of the draws that come from the near pool.
const NEAR_SHARE: f64 = 0.75;
/// Halvings of the interval in which the common factor lies.
const HALVINGS: u32 = 60;

/// Where a pick comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Pool {
    /// The best under the caps.
    Greedy,
    /// Drawn from those that follow the greedy picks, as many as the budget.
    Near,
    /// Drawn from all the rest.
    Far,
    /// Fetched before: picked to be fetched again.
    Revisit,
}

impl Pool {
    /// All of them, in order.
    pub(crate) const ALL: [Self; 4] = [Self::Greedy, Self::Near, Self::Far, Self::Revisit];

    /// As it is written.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Greedy => "greedy",
            Self::Near => "near",
            Self::Far => "far",
            Self::Revisit => "revisit",
        }
    }

    /// Whether it was drawn at random.
    pub(crate) fn is_drawn(self) -> bool {
        matches!(self, Self::Near | Self::Far)
    }

    /// The pool of a name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|pool| pool.name() == name)
    }
}

/// What is drawn from.
pub(super) struct DrawMembers<'a> {
    /// URLs, the near pool first.
    pub(super) urls: &'a [UrlId],
    /// Size of the near pool.
    pub(super) near: usize,
}

/// How many are drawn: a share of a budget is hardly ever a whole number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Draws {
    /// Draws, as a whole number.
    pub(super) count: usize,
    /// Chance of the first member before any other weight: the part of a draw that is too much is
    /// given back to the one that greedy would have picked next.
    first: f64,
}

impl Draws {
    /// A share of a budget.
    pub(super) fn of(share: f64, budget: usize) -> Self {
        let exact = share * budget as f64;
        // A share such as 0.07 of 100 is meant as 7.
        let count = (exact - 1e-9).ceil().max(0.0);
        Self { count: count as usize, first: (count - exact).max(0.0) }
    }
}

impl DrawMembers<'_> {
    /// In what proportion chances stand to each other, in the near pool and in the far one.
    fn weights(&self) -> [f64; 2] {
        let far = self.urls.len() - self.near;
        let near_share = if far == 0 { 1.0 } else { NEAR_SHARE };
        [near_share / self.near.max(1) as f64, (1.0 - near_share) / far.max(1) as f64]
    }

    /// The pool of a member.
    pub(super) fn pool(&self, member: usize) -> Pool {
        if member < self.near { Pool::Near } else { Pool::Far }
    }
}

/// The chance of each member to be drawn, and which were.
pub(super) struct Draw {
    /// By member: its class of groups.
    of: Vec<u32>,
    chances: Chances,
    /// Members drawn, ascending.
    pub(super) drawn: Vec<usize>,
}

impl Draw {
    /// Chance of a member, in [0, 1].
    pub(super) fn chance(&self, member: usize) -> f64 {
        self.chances.of(member, self.of[member])
    }
}

/// Draws so many members, fewer if caps do not leave as many. The counter knows what is taken. Costs two passes over the
/// members, in any order behind the near pool.
pub(super) fn draw(
    members: &DrawMembers<'_>,
    draws: Draws,
    seed: u64,
    urls: &UrlTable,
    counter: &CapCounter<'_>,
) -> Draw {
    let key = |&url: &UrlId| xxh3_64_with_seed(urls.url(url).as_bytes(), seed);
    let keys: Vec<u64> = members.urls.par_iter().map(key).collect();
    let groups = Groups::new(members.urls, counter, seed);
    let chances = groups.chances(members, draws);
    // A number in [0, 1) with the bits that a double has.
    let start = (xxh3_64_with_seed(&[], seed) >> 11) as f64 / (1_u64 << 53) as f64;
    let mut drawn = Comb { groups: &groups, keys: &keys, chances: &chances }.hit(start);
    drawn.sort_unstable();
    // Of groups that do not lie within one another one may have been drawn from once too often.
    let mut counter = counter.clone();
    drawn.retain(|&at| counter.take(members.urls[at]).is_ok());
    Draw { of: groups.of, chances, drawn }
}

/// Chances by class of groups: members of one pool and class have the same.
struct Chances {
    /// Of the first member, which is one by itself.
    first: f64,
    /// By class, in the near pool and in the far one.
    of_class: Vec<[f64; 2]>,
    /// Size of the near pool.
    near: usize,
}

impl Chances {
    /// Chance of a member of a class.
    fn of(&self, member: usize, class: u32) -> f64 {
        match member {
            0 => self.first,
            _ => self.of_class[class as usize][usize::from(member >= self.near)],
        }
    }
}

/// Members of a bucket, about: enough that there are few buckets, few enough that one is soon put in order.
const BUCKET: usize = 32;

/// The comb, and what it is dropped on: members by group, and within a group by their keys. Only buckets that a tooth hits are
/// put in order, so that the whole never is.
struct Comb<'a> {
    groups: &'a Groups,
    keys: &'a [u64],
    chances: &'a Chances,
}

impl Comb<'_> {
    /// Members that teeth hit, the first of which lies so far before the whole number.
    fn hit(&self, start: f64) -> Vec<usize> {
        if self.keys.is_empty() {
            return Vec::new();
        }
        let first_bucket = self.first_buckets();
        let bucket = |member: usize| self.bucket(&first_bucket, member);
        let count = first_bucket.last().map_or(0, |&(first, bits)| (first + (1 << bits)) as usize);
        // By bucket: members of the near pool and of the far one but for the first member, and their class.
        let mut sizes = vec![([0_u32; 2], 0_u32); count];
        for member in 0..self.keys.len() {
            let (size, class) = &mut sizes[bucket(member)];
            *class = self.groups.of[member];
            if member > 0 {
                size[usize::from(member >= self.chances.near)] += 1;
            }
        }
        let (mut sum, mut teeth) = (start, 0.0);
        let first = bucket(0);
        // Buckets that are hit: the sum before each, and the teeth before and behind it.
        let (mut hit, mut is_hit) = (Vec::new(), vec![false; count]);
        for (at, &([near, far], class)) in sizes.iter().enumerate() {
            let [of_near, of_far] = self.chances.of_class[class as usize];
            let own = if first == at { self.chances.first } else { 0.0 };
            let behind = sum + f64::from(near) * of_near + f64::from(far) * of_far + own;
            // Sums that should be whole fall a hair short in binary.
            let passed = (behind + 1e-9).floor();
            if passed > teeth {
                hit.push((sum, teeth, passed));
                is_hit[at] = true;
            }
            (sum, teeth) = (behind, passed);
        }
        let with_bucket = |member| (bucket(member), self.keys[member], member);
        let all = (0..self.keys.len()).into_par_iter().map(with_bucket);
        let mut members: Vec<(usize, u64, usize)> = all.filter(|(at, ..)| is_hit[*at]).collect();
        members.sort_unstable();
        let buckets = members.chunk_by(|a, b| a.0 == b.0).zip(hit);
        buckets.flat_map(|(members, hit)| self.hit_within(members, hit)).collect()
    }

    /// Members of a bucket that teeth hit: the sum before it, and the teeth before and behind it.
    fn hit_within(
        &self,
        members: &[(usize, u64, usize)],
        (mut sum, mut teeth, behind): (f64, f64, f64),
    ) -> Vec<usize> {
        let mut hit = Vec::new();
        for (left, &(.., member)) in (0..members.len()).rev().zip(members) {
            sum += self.chances.of(member, self.groups.of[member]);
            // Sums of a bucket at once and one by one may differ by a hair.
            let passed = if left == 0 { behind } else { (sum + 1e-9).floor().min(behind) };
            if passed > teeth {
                hit.push(member);
            }
            teeth = passed;
        }
        hit
    }

    /// By class: its first bucket, and how many bits of a key tell its buckets apart.
    fn first_buckets(&self) -> Vec<(u32, u32)> {
        let mut sizes = vec![0_usize; self.groups.count];
        for &class in &self.groups.of {
            sizes[class as usize] += 1;
        }
        let mut next = 0;
        let buckets = sizes.into_iter().map(|size| {
            let (first, bits) = (next, (size / BUCKET).max(1).ilog2());
            next += 1 << bits;
            (first, bits)
        });
        buckets.collect()
    }

    /// The bucket of a member.
    fn bucket(&self, first: &[(u32, u32)], member: usize) -> usize {
        let (first, bits) = first[self.groups.of[member] as usize];
        let within = self.keys[member].checked_shr(64 - bits).unwrap_or(0);
        first as usize + within as usize
    }
}

/// Groups that caps count, by classes of URLs that count for the same, in the order in which classes are laid end to end;
/// without caps there is one class.
struct Groups {
    /// By member: its class.
    of: Vec<u32>,
    /// How many classes there are.
    count: usize,
    /// Kinds of groups, the smallest first.
    levels: Vec<Level>,
}

#[derive(Default)]
struct Level {
    /// By class: its group.
    of: Vec<u32>,
    /// By group: places left.
    left: Vec<f64>,
}

/// Members of one pool and class of groups, which have the same chance.
struct Class {
    weight: f64,
    /// Chance before any other weight.
    first: f64,
    group: usize,
    members: f64,
}

impl Class {
    /// Without members.
    fn empty(weight: f64, group: usize) -> Self {
        Self { weight, first: 0.0, group, members: 0.0 }
    }
}

/// What classes are put in order by: numbers drawn for the names of the groups of one, the largest group first.
fn drawn_for(counter: &CapCounter<'_>, class: u32, seed: u64) -> Vec<u64> {
    let names = counter.left(class).map(|(_, name, _)| name);
    let mut drawn: Vec<u64> = names.map(|name| xxh3_64_with_seed(name.as_bytes(), seed)).collect();
    drawn.reverse();
    drawn
}

impl Groups {
    /// Of members.
    fn new(members: &[UrlId], counter: &CapCounter<'_>, seed: u64) -> Self {
        let count = counter.groups.class_count();
        let mut classes: Vec<u32> = (0..count).collect();
        classes.sort_by_cached_key(|&class| drawn_for(counter, class, seed));
        let mut levels: Vec<Level> = Vec::new();
        let mut numbers = HashMap::new();
        let mut place = vec![0_u32; count as usize];
        for (at, &class) in (0..).zip(&classes) {
            place[class as usize] = at;
            for (at, (group, _, left)) in counter.left(class).enumerate() {
                if levels.len() == at {
                    levels.push(Level::default());
                }
                let level = &mut levels[at];
                level.of.push(*numbers.entry(group).or_insert_with(|| {
                    level.left.push(left as f64);
                    level.left.len() as u32 - 1
                }));
            }
        }
        let of = members.iter().map(|&url| place[counter.groups.class(url) as usize]).collect();
        Self { of, count: count as usize, levels }
    }

    /// The chances in proportion to the weights, but for what caps and certainty hold down, that sum
    /// up to `draws`, or to as many as there can be.
    fn chances(&self, members: &DrawMembers<'_>, draws: Draws) -> Chances {
        let classes = self.classes(members, draws);
        let some = classes.iter().filter(|class| class.members > 0.0);
        let lightest = some.map(|class| class.weight).fold(f64::INFINITY, f64::min);
        let (mut low, mut high) = (0.0, 1.0 / lightest);
        let sum = |factor: f64| self.expected_draws(&classes, factor);
        if sum(high) <= draws.count as f64 {
            low = high;
        } else {
            for _ in 0..HALVINGS {
                let middle = f64::midpoint(low, high);
                if sum(middle) > draws.count as f64 {
                    high = middle;
                } else {
                    low = middle;
                }
            }
        }
        let scaled = self.scaled(&classes, low);
        let first = scaled.first().copied().unwrap_or(0.0);
        let of_class = scaled[scaled.len().min(1)..].chunks_exact(2).map(|pair| [pair[0], pair[1]]);
        Chances { first, of_class: of_class.collect(), near: members.near }
    }

    /// How many members are drawn in expectation with the weights times a factor.
    fn expected_draws(&self, classes: &[Class], factor: f64) -> f64 {
        let chances = self.scaled(classes, factor);
        classes.iter().zip(chances).map(|(class, chance)| class.members * chance).sum()
    }

    /// The first member by itself, if there is one; then by class the other members of the near pool and those of the far one.
    fn classes(&self, members: &DrawMembers<'_>, draws: Draws) -> Vec<Class> {
        let [near, far] = members.weights();
        let Some((&first, others)) = self.of.split_first() else { return Vec::new() };
        let weight = if members.near == 0 { far } else { near };
        let of_first =
            Class { first: draws.first, members: 1.0, ..Class::empty(weight, first as usize) };
        let of_group = |group| [Class::empty(near, group), Class::empty(far, group)];
        let mut classes = vec![of_first];
        classes.extend((0..self.count).flat_map(of_group));
        for (at, &group) in (1..).zip(others) {
            classes[1 + 2 * group as usize + usize::from(at >= members.near)].members += 1.0;
        }
        classes
    }

    /// By class: weights times a factor, more for the first member, at most 1, scaled down in groups
    /// that have fewer places, the smallest first.
    fn scaled(&self, classes: &[Class], factor: f64) -> Vec<f64> {
        let chance = |class: &Class| (factor * class.weight + class.first).min(1.0);
        let mut chances: Vec<f64> = classes.iter().map(chance).collect();
        for level in &self.levels {
            let mut sums = vec![0.0; level.left.len()];
            for (class, chance) in classes.iter().zip(&chances) {
                sums[level.of[class.group] as usize] += class.members * chance;
            }
            for (class, chance) in classes.iter().zip(&mut chances) {
                let group = level.of[class.group] as usize;
                let (sum, left) = (sums[group], level.left[group]);
                if sum > left {
                    *chance *= left / sum;
                }
            }
        }
        chances
    }
}

#[cfg(test)]
mod tests {
    use super::super::caps::{CapGroups, Caps, SoFar};
    use super::*;

    /// 40 URLs of one host, 20 of a second one of the same domain, 10 of another domain.
    fn members() -> (UrlTable, Vec<UrlId>) {
        let mut urls = UrlTable::default();
        let hosts = [("a.x.test", 40), ("b.x.test", 20), ("c.y.test", 10)];
        for (host, pages) in hosts {
            for page in 0..pages {
                urls.insert(&format!("https://{host}/{page}"), "");
            }
        }
        let ids = urls.ids().collect();
        (urls, ids)
    }

    fn whole(count: usize) -> Draws {
        Draws { count, first: 0.0 }
    }

    fn of_host<T>(urls: &UrlTable, ids: &[UrlId], host: &str, of: impl Fn(usize) -> T) -> Vec<T> {
        let within = ids.iter().enumerate().filter(|(_, id)| urls.url(**id).contains(host));
        within.map(|(at, _)| of(at)).collect()
    }

    #[test]
    fn urls_are_drawn_as_often_as_their_chances_say() {
        let (urls, ids) = members();
        let caps =
            [Caps::default(), Caps { per_host: Some(5), per_domain: Some(8), ..Caps::default() }];
        for caps in caps {
            let trials = 4_000;
            let (mut times, mut chances) = (vec![0; ids.len()], Vec::new());
            for seed in 0..trials {
                let groups = CapGroups::new(caps, &ids, SoFar::start(&urls));
                let counter = groups.counter(12);
                let drawn =
                    draw(&DrawMembers { urls: &ids, near: 30 }, whole(12), seed, &urls, &counter);
                assert_eq!(drawn.drawn.len(), 12);
                for &at in &drawn.drawn {
                    times[at] += 1;
                }
                chances = (0..ids.len()).map(|member| drawn.chance(member)).collect();
            }
            assert!((chances.iter().sum::<f64>() - 12.0).abs() < 1e-6);
            for (times, chance) in times.iter().zip(&chances) {
                // Five standard deviations.
                let error = 5.0 * (chance * (1.0 - chance) / trials as f64).sqrt() + 1e-9;
                assert!((f64::from(*times) / trials as f64 - chance).abs() < error);
            }
        }
    }

    #[test]
    fn caps_hold_for_every_draw_and_leave_the_chances_to_others() {
        let (urls, ids) = members();
        let caps = Caps { per_host: Some(5), per_domain: Some(8), ..Caps::default() };
        for seed in 0..500 {
            let groups = CapGroups::new(caps, &ids, SoFar::start(&urls));
            let counter = groups.counter(12);
            let drawn =
                draw(&DrawMembers { urls: &ids, near: 70 }, whole(12), seed, &urls, &counter);
            let is_drawn = |at: usize| usize::from(drawn.drawn.contains(&at));
            let count = |host| of_host(&urls, &ids, host, is_drawn).iter().sum::<usize>();
            assert!(count("a.x.test") <= 5 && count("b.x.test") <= 5 && count("c.y.test") <= 5);
            assert!(count(".x.test") <= 8);
            // 8 of the one domain leave 4 for the other, and both are needed for 12.
            let sum = |host| of_host(&urls, &ids, host, |at| drawn.chance(at)).iter().sum::<f64>();
            assert!((sum(".x.test") - 8.0).abs() < 1e-6 && (sum("c.y.test") - 4.0).abs() < 1e-6);
        }
    }

    #[test]
    fn no_more_is_drawn_than_caps_leave() {
        let (urls, ids) = members();
        let caps = Caps { per_host: Some(3), ..Caps::default() };
        let groups = CapGroups::new(caps, &ids, SoFar::start(&urls));
        let mut counter = groups.counter(12);
        counter.take(ids[0]).unwrap();
        let members = DrawMembers { urls: &ids, near: 30 };
        assert_eq!(draw(&members, whole(12), 1, &urls, &counter).drawn.len(), 8);
    }

    /// How many of so many draws are from a near pool of this size, and from the far one.
    fn split(draws: usize, near: usize) -> (usize, usize) {
        let (urls, ids) = members();
        let groups = CapGroups::new(Caps::default(), &ids, SoFar::start(&urls));
        let members = DrawMembers { urls: &ids, near };
        let drawn = draw(&members, whole(draws), 1, &urls, &groups.counter(12)).drawn;
        let from_near = drawn.iter().filter(|at| members.pool(**at) == Pool::Near).count();
        (from_near, drawn.len() - from_near)
    }

    #[test]
    fn a_pool_that_is_too_small_leaves_its_draws_to_the_other() {
        assert_eq!(split(20, 10), (10, 10));
        assert_eq!(split(20, 70), (20, 0));
        assert_eq!(split(90, 10), (10, 60));
        assert_eq!(split(20, 0), (0, 20));
    }

    #[test]
    fn a_part_of_a_draw_is_a_draw_now_and_then() {
        assert_eq!(Draws::of(0.05, 400), whole(20));
        assert_eq!(Draws::of(0.07, 100), whole(7));
        assert_eq!(Draws::of(0.0, 400), whole(0));
        let (urls, ids) = members();
        let groups = CapGroups::new(Caps::default(), &ids, SoFar::start(&urls));
        let counter = groups.counter(12);
        let draws = Draws::of(0.05, 5);
        let first = (0..2_000).filter(|&seed| {
            let found = draw(&DrawMembers { urls: &ids, near: 5 }, draws, seed, &urls, &counter);
            assert_eq!(found.drawn.len(), 1);
            let others: f64 = (1..ids.len()).map(|member| found.chance(member)).sum();
            assert!((others - 0.25).abs() < 0.04 && (found.chance(0) + others - 1.0).abs() < 1e-9);
            found.drawn == [0]
        });
        // Three of four, and its share of the pool.
        let times = first.count();
        assert!((1_500..1_680).contains(&times), "{times}");
    }
}
