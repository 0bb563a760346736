//! What is said of sufficiency, in words that commands and pages share.

use super::assess::WorkloadSufficiency;
use super::strategy::embedding::EmbeddingSummary;
use super::verdict::{
    Exhausted, Gain, QueryClass, SATURATED, Saturation, Signals, StopReason, Verdict,
};

/// Sufficiency and what share of the askings have enough.
pub(crate) fn whole_line(whole: &WorkloadSufficiency, theta: f64) -> String {
    if whole.queries == 0 {
        return "sufficiency is not known: no query was judged".to_owned();
    }
    format!(
        "sufficiency {:.3}, {theta} is enough; {:.1} % of the askings have that",
        whole.sufficiency,
        100.0 * whole.sufficient_share
    )
}

/// How far the impact of new pages has fallen.
pub(crate) fn saturation_line(saturation: Option<Saturation>) -> String {
    match saturation {
        Some(Saturation { mean, low, high }) => format!(
            "saturation {mean:.3} ({low:.3} to {high:.3}): the share by which what pages bring to lists has fallen \
             since the first that brought each query any; saturated when the lower end is {SATURATED}"
        ),
        None => "saturation is not known before two windows of at least 100 pages".to_owned(),
    }
}

/// The verdict with the figures that it rests on.
pub(crate) fn verdict_line(signals: &Signals, verdict: &Verdict) -> String {
    let action = if verdict.stop { "stop" } else { "go on" };
    format!("{action}; {}", why_line(signals, verdict))
}

/// Why to stop, or to go on, with the figures that this rests on.
pub(crate) fn why_line(signals: &Signals, verdict: &Verdict) -> String {
    let told = |reasons: &[StopReason]| joined(reasons, signals);
    let why = if verdict.stop {
        told(&verdict.reasons)
    } else {
        format!("{}; {}", growth_line(signals), gain_line(signals.gain))
    };
    if verdict.signs.is_empty() {
        return why;
    }
    // What a crawl that goes on is told by has its figures before.
    let has_figures = |sign: &StopReason| {
        !verdict.stop && matches!(sign, StopReason::NoGain | StopReason::Settled)
    };
    let (named, told): (Vec<StopReason>, Vec<StopReason>) =
        verdict.signs.iter().partition(|sign| has_figures(sign));
    let named = named.into_iter().map(|sign| sign.name().to_owned());
    let told = told.into_iter().map(|sign| self::why(sign, signals));
    let signs: Vec<String> = named.chain(told).collect();
    format!("{why} (signs that stop nothing by themselves: {})", signs.join("; "))
}

fn joined(reasons: &[StopReason], signals: &Signals) -> String {
    let told: Vec<String> = reasons.iter().map(|reason| why(*reason, signals)).collect();
    told.join("; ")
}

fn why(reason: StopReason, signals: &Signals) -> String {
    match reason {
        StopReason::Exhausted => {
            let what = match signals.exhausted {
                None | Some(Exhausted::Frontier) => "nothing is left in the frontier",
                Some(Exhausted::List) => "nothing is left of the list",
                Some(Exhausted::Scope) => "what is left in the frontier is out of scope",
                Some(Exhausted::Caps) => "caps leave no place for what is left in the frontier",
                Some(Exhausted::Time) => "there is no time for what is left in the frontier",
            };
            format!("exhausted: {what}")
        }
        StopReason::Sufficient => {
            format!("sufficient: {:.3} is at least {}", signals.sufficiency, signals.theta)
        }
        StopReason::Settled => format!("settled: {}", growth_line(signals)),
        StopReason::Learned => {
            let line = signals.learning.as_ref().map_or_else(String::new, embedding_line);
            format!("learned: {line}")
        }
        StopReason::NoGain => format!("no gain: {}", gain_line(signals.gain)),
        StopReason::Saturated => {
            let low = signals.saturation.map_or(0.0, |found| found.low);
            format!("saturated: {low:.3} at least, {SATURATED} is enough")
        }
    }
}

fn growth_line(signals: &Signals) -> String {
    match signals.growth {
        None => "how much better results may become is not known before three windows".to_owned(),
        Some(share) => {
            let as_planned = if signals.planned {
                ""
            } else {
                ", if what comes is like what came: it was not planned"
            };
            format!("best pages may still become {:.1} % better{as_planned}", 100.0 * share)
        }
    }
}

fn gain_line(gain: Option<Gain>) -> String {
    match gain {
        None => "what a batch brings is not foreseen yet".to_owned(),
        Some(Gain { per_page, low, high, floor }) => {
            let little =
                floor.map_or_else(String::new, |f| format!("; less than {f:.3} is too little"));
            format!("{per_page:.3} impact a page expected ({low:.3} to {high:.3}){little}")
        }
    }
}

/// What vectors say of a workload.
pub(crate) fn embedding_line(found: &EmbeddingSummary) -> String {
    let EmbeddingSummary { coverage, confidence, learned, held_out } = found;
    let mut line = format!("nearest pages: mean cosine {coverage:.3}, confidence {confidence:.3}");
    if let Some(learned) = learned {
        line += &format!(", {:+.1} % with the last window of pages", 100.0 * learned);
    }
    if let Some(held_out) = held_out {
        line += &format!(", {held_out:.3} of held-out wordings");
    }
    if found.is_irrelevant() {
        line += "; the pages are off the queries' topics";
    }
    line
}

/// What is said of the queries of a class.
pub(crate) fn meaning(class: QueryClass, theta: f64) -> String {
    match class {
        QueryClass::Sufficient => format!("at least {theta}"),
        QueryClass::Growing => "results are still entering their lists".to_owned(),
        QueryClass::Saturated => format!("entries have fallen by {SATURATED} or more"),
        QueryClass::Hopeless => "nothing in the frontier has a chance: seed these".to_owned(),
    }
}
