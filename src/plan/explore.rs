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
/// Steps towards the common factor, at most.
const STEPS: u32 = 100;
/// Draws that are as good as none.
const NOTHING: f64 = 1e-10;

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
/// members, in any order behind the near pool, and the URLs of the classes that are drawn from.
pub(super) fn draw(
    members: &DrawMembers<'_>,
    draws: Draws,
    seed: u64,
    urls: &UrlTable,
    counter: &CapCounter<'_>,
) -> Draw {
    let groups = Groups::new(members, counter, urls, seed);
    let chances = groups.chances(members, draws);
    // A number in [0, 1) with the bits that a double has.
    let start = (xxh3_64_with_seed(&[], seed) >> 11) as f64 / (1_u64 << 53) as f64;
    let address = |member: usize| urls.url(members.urls[member]).as_bytes();
    let key = |member| xxh3_64_with_seed(address(member), seed);
    let mut drawn = Comb { groups: &groups, chances: &chances, key }.hit(start);
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
            _ => self.of_class[class as usize][self.pool(member)],
        }
    }

    /// Sum of the chances of so many members of a class in each pool, beside the first.
    fn sum(&self, class: u32, [near, far]: [u32; 2]) -> f64 {
        let [of_near, of_far] = self.of_class[class as usize];
        f64::from(near) * of_near + f64::from(far) * of_far
    }

    /// Which of the two pools a member is in.
    fn pool(&self, member: usize) -> usize {
        usize::from(member >= self.near)
    }
}

/// The comb, and what it is dropped on: members by class of groups, and within a class by their keys. Keys are asked for in
/// classes that a tooth hits, and halves of these are parted by them as long as one hits, so that the whole is never put in
/// order.
struct Comb<'a, K> {
    groups: &'a Groups,
    chances: &'a Chances,
    /// Key of a member.
    key: K,
}

/// Members that stand side by side, and are hit.
#[derive(Clone, Copy)]
struct Hit {
    /// Sum of the chances before them.
    sum: f64,
    /// Teeth before them.
    teeth: f64,
    /// Teeth before those behind them.
    passed: f64,
}

/// Lays members end to end whose chances sum up to this, and tells if a tooth hits them.
fn lay((sum, teeth): &mut (f64, f64), chances: f64) -> Option<Hit> {
    let before = (*sum, *teeth);
    *sum += chances;
    // Sums that should be whole fall a hair short in binary.
    *teeth = (*sum + 1e-9).floor().max(*teeth);
    (*teeth > before.1).then_some(Hit { sum: before.0, teeth: before.1, passed: *teeth })
}

impl<K: Fn(usize) -> u64 + Sync> Comb<'_, K> {
    /// Members that teeth hit, the first of which lies so far before the whole number.
    fn hit(&self, start: f64) -> Vec<usize> {
        let Groups { of, sizes, .. } = self.groups;
        let Some(&of_first) = of.first() else { return Vec::new() };
        let mut at = (start, 0.0);
        let classes = (0..).zip(sizes).map(|(class, &sizes)| {
            let first = if class == of_first { self.chances.first } else { 0.0 };
            lay(&mut at, first + self.chances.sum(class, sizes))
        });
        let hit: Vec<Option<Hit>> = classes.collect();
        let members =
            of.par_iter().enumerate().filter(|(_, class)| hit[**class as usize].is_some());
        let keyed = members.map(|(member, &class)| (class, (self.key)(member), member));
        let mut keyed: Vec<(u32, u64, usize)> = keyed.collect();
        keyed.par_sort_unstable_by_key(|(class, ..)| *class);
        let mut found = Vec::new();
        for members in keyed.chunk_by_mut(|a, b| a.0 == b.0) {
            if let Some(hit) = hit[members[0].0 as usize] {
                self.hit_within(members, hit, &mut found);
            }
        }
        found
    }

    /// The same of members of one class.
    fn hit_within(&self, members: &mut [(u32, u64, usize)], hit: Hit, found: &mut Vec<usize>) {
        if let [(.., member)] = members {
            found.push(*member);
            return;
        }
        let middle = members.len() / 2;
        members.select_nth_unstable(middle);
        let (left, right) = members.split_at_mut(middle);
        let (mut sizes, mut first) = ([0; 2], 0.0);
        for (.., member) in &*left {
            match *member {
                0 => first = self.chances.first,
                member => sizes[self.chances.pool(member)] += 1,
            }
        }
        let mut at = (hit.sum, hit.teeth);
        let hit_left = lay(&mut at, first + self.chances.sum(left[0].0, sizes));
        // Sums of all at once and of halves may differ by a hair.
        let teeth = at.1.min(hit.passed);
        if hit_left.is_some() && teeth > hit.teeth {
            self.hit_within(left, Hit { passed: teeth, ..hit }, found);
        }
        if hit.passed > teeth {
            self.hit_within(right, Hit { sum: at.0, teeth, ..hit }, found);
        }
    }
}

/// Groups that caps count, by classes of URLs that count for the same, in the order in which classes are laid end to end;
/// without caps there is one class.
struct Groups {
    /// By member: its class.
    of: Vec<u32>,
    /// By class: members of the near pool and of the far one, beside the first.
    sizes: Vec<[u32; 2]>,
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

/// Where a function is 0, between a number at which it is below and one at which it is above; that one, if it is below there,
/// too. By secants of which an end that stays twice counts half (the Illinois method: Dowell and Jarratt, "A modified
/// regula falsi method", 1971).
fn root(of: impl Fn(f64) -> f64, least: f64, most: f64) -> f64 {
    let (mut low, mut below) = (least, of(least));
    if below >= -NOTHING {
        return low;
    }
    let (mut high, mut above) = (2.0 * low.max(f64::MIN_POSITIVE), 0.0);
    while above <= 0.0 {
        high = high.min(most);
        above = of(high);
        if above.abs() <= NOTHING || high == most && above < 0.0 {
            return high;
        }
        if above < 0.0 {
            (low, below, high) = (high, above, 2.0 * high);
        }
    }
    let mut moved = 0.0;
    for _ in 0..STEPS {
        let middle = low + (high - low) * below / (below - above);
        let found = of(middle);
        if found.abs() <= NOTHING || middle <= low || middle >= high {
            return middle;
        }
        // Whether the same end moves as before.
        let stays = if found * moved > 0.0 { 0.5 } else { 1.0 };
        moved = found;
        if found < 0.0 {
            (low, below, above) = (middle, found, stays * above);
        } else {
            (high, above, below) = (middle, found, stays * below);
        }
    }
    low
}

impl Groups {
    /// Of members.
    fn new(
        members: &DrawMembers<'_>,
        counter: &CapCounter<'_>,
        urls: &UrlTable,
        seed: u64,
    ) -> Self {
        let count = counter.groups.class_count();
        // By group: a number drawn for its name. Classes are in the order of these, that of the largest group first.
        let names = counter.groups.names(urls);
        let drawn: Vec<u64> = names.map(|name| xxh3_64_with_seed(name.as_bytes(), seed)).collect();
        let within = |class: &u32| counter.groups.within(*class).iter().rev();
        let drawn_for = |class: &u32| within(class).map(|&group| drawn[group as usize]);
        let mut classes: Vec<u32> = (0..count).collect();
        classes.par_sort_by(|a, b| drawn_for(a).cmp(drawn_for(b)));
        let mut levels: Vec<Level> = Vec::new();
        let mut numbers = vec![u32::MAX; drawn.len()];
        let mut place = vec![0_u32; count as usize];
        for (at, &class) in (0..).zip(&classes) {
            place[class as usize] = at;
            for (at, (group, left)) in counter.left(class).enumerate() {
                if levels.len() == at {
                    levels.push(Level::default());
                }
                let (level, number) = (&mut levels[at], &mut numbers[group as usize]);
                if *number == u32::MAX {
                    *number = level.left.len() as u32;
                    level.left.push(left as f64);
                }
                level.of.push(*number);
            }
        }
        let class = |&url: &UrlId| place[counter.groups.class(url) as usize];
        let of: Vec<u32> = members.urls.par_iter().map(class).collect();
        let mut sizes = vec![[0; 2]; count as usize];
        for (member, &class) in of.iter().enumerate().skip(1) {
            sizes[class as usize][usize::from(member >= members.near)] += 1;
        }
        Self { of, sizes, levels }
    }

    /// The chances in proportion to the weights, but for what caps and certainty hold down, that sum
    /// up to `draws`, or to as many as there can be.
    fn chances(&self, members: &DrawMembers<'_>, draws: Draws) -> Chances {
        let classes = self.classes(members, draws);
        let some = classes.iter().filter(|class| class.members > 0.0);
        let lightest = some.map(|class| class.weight).fold(f64::INFINITY, f64::min);
        let beyond = |factor| self.expected_draws(&classes, factor) - draws.count as f64;
        // Weights sum up to 1, of which caps and certainty only take away.
        let least = (draws.count as f64 - draws.first).min(1.0 / lightest);
        let factor = root(beyond, least, 1.0 / lightest);
        let scaled = self.scaled(&classes, factor);
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
        let Some(&first) = self.of.first() else { return Vec::new() };
        let weight = if members.near == 0 { far } else { near };
        let of_first =
            Class { first: draws.first, members: 1.0, ..Class::empty(weight, first as usize) };
        let mut classes = vec![of_first];
        for (class, sizes) in self.sizes.iter().enumerate() {
            let of_pool =
                |(weight, size)| Class { members: f64::from(size), ..Class::empty(weight, class) };
            classes.extend([near, far].into_iter().zip(*sizes).map(of_pool));
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
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

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
    fn chances_that_caps_hold_down_add_up_to_the_draws() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        for trial in 0..200 {
            let (hosts, urls) = (random.random_range(1..30), random.random_range(1..400));
            let mut table = UrlTable::default();
            let ids: Vec<UrlId> = (0..urls)
                .map(|at| {
                    let host = random.random_range(0..hosts);
                    table.insert(&format!("https://h{host}.d{}.test/{at}", host % 4), "")
                })
                .collect();
            let (per_host, per_domain) = (random.random_range(1..9), random.random_range(1..30));
            let caps =
                Caps { per_host: Some(per_host), per_domain: Some(per_domain), ..Caps::default() };
            let groups = CapGroups::new(caps, &ids, SoFar::start(&table));
            let counter = groups.counter(usize::MAX);
            let members = DrawMembers { urls: &ids, near: random.random_range(0..=urls) };
            let draws = Draws::of(1.0, random.random_range(1..60));
            let most = groups.most_urls().min(draws.count) as f64;
            let drawn = draw(&members, draws, trial, &table, &counter);
            let sum: f64 = (0..urls).map(|member| drawn.chance(member)).sum();
            assert!((sum - most).abs() < 1e-6, "{sum} of {most}");
            assert!(drawn.drawn.len() as f64 >= most - 1.0);
        }
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
