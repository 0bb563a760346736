//! What robots.txt asks of a crawler's pace.

use texting_robots::Robot;

/// Seconds that a robots.txt asks robots of this name to wait between two requests; none if it does not, or cannot be
/// read.
pub(crate) fn crawl_delay(agent: &str, robots_txt: &[u8]) -> Option<f64> {
    let delay = Robot::new(agent, robots_txt).ok()?.delay?;
    Some(f64::from(delay)).filter(|delay| delay.is_finite() && *delay >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_robot_is_asked_by_its_name_or_as_all_are() {
        let asked =
            b"User-agent: *\nCrawl-delay: 2.5\nDisallow: /x\n\nUser-agent: ours\nCrawl-delay: 10\n";
        let of = |agent| crawl_delay(agent, asked);
        assert_eq!((of("another"), of("ours")), (Some(2.5), Some(10.0)));
        assert_eq!(crawl_delay("ours", b"User-agent: *\nDisallow:\n"), None);
        assert_eq!(crawl_delay("ours", b"\xff\xfe<html>"), None);
    }
}
