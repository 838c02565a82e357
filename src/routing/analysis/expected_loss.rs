//! Paths that further random failures of links take until the fabric is rerouted (dissertation, 4.2.3.1).

/// The expected losses when further links between switches fail, drawn at random. A link fails in both directions.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ExpectedLoss {
    /// The number of links that fail, at most all.
    pub faults: usize,
    /// The number of links to draw from.
    pub links: usize,
    /// The exact mean over all sets of `faults` links.
    pub mean: f64,
    /// Proposition 4.1 of the dissertation: the mean for one channel of one link.
    pub one_channel: f64,
    /// Proposition 4.2, for both channels of a link: the line that the mean follows for few faults.
    pub linear: f64,
    /// The paths over the least used link.
    pub best: u64,
    /// The paths over the most used link.
    pub worst: u64,
}

/// Computes the expectation from a histogram of path lengths and the paths over each link. A path of h hops crosses
/// h different links, so it survives n failures out of N with probability C(N-h,n) / C(N,n).
pub(super) fn expected_loss(histogram: &[u64], links: &[u64], faults: usize) -> ExpectedLoss {
    let count = links.len();
    let faults = faults.min(count);
    let crossings: f64 = links.iter().map(|paths| *paths as f64).sum();
    let lost = histogram
        .iter()
        .enumerate()
        .map(|(hops, paths)| *paths as f64 * loss_probability(count, hops, faults));
    let per_link = if count == 0 { 0.0 } else { crossings / count as f64 };
    ExpectedLoss {
        faults,
        links: count,
        // An empty sum is -0.0, which would print its sign.
        mean: lost.sum::<f64>() + 0.0,
        one_channel: per_link / 2.0,
        linear: per_link * faults as f64,
        best: links.iter().copied().min().unwrap_or(0),
        worst: links.iter().copied().max().unwrap_or(0),
    }
}

/// 1 - C(N-h,n) / C(N,n), as a product over the hops: none of the h links is among the n that fail.
fn loss_probability(links: usize, hops: usize, faults: usize) -> f64 {
    let survives = |hop: usize| match links.checked_sub(hop) {
        Some(left @ 1..) => left.saturating_sub(faults) as f64 / left as f64,
        _ => 0.0,
    };
    1.0 - (0..hops).map(survives).product::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_that_of_all_sets() {
        // Four links in a row, a path over each stretch of them: twenty ordered pairs of five switches.
        let paths: Vec<std::ops::Range<u32>> = (0..5).flat_map(|a| (a + 1..5).map(move |b| a..b)).collect();
        let mut histogram = vec![0; 5];
        let mut links = vec![0; 4];
        for path in &paths {
            histogram[path.len()] += 2;
            path.clone().for_each(|link| links[link as usize] += 2);
        }
        for faults in 0..=4usize {
            let sets: Vec<u32> = (0..16u32).filter(|set| set.count_ones() as usize == faults).collect();
            let lost = |set: u32| {
                let hit = |path: &&std::ops::Range<u32>| (*path).clone().any(|link| set >> link & 1 == 1);
                paths.iter().filter(hit).count()
            };
            let total: usize = sets.iter().map(|set| 2 * lost(*set)).sum();
            let seen = expected_loss(&histogram, &links, faults);
            assert!((seen.mean - total as f64 / sets.len() as f64).abs() < 1e-9, "{faults}: {seen:?}");
        }
        let one = expected_loss(&histogram, &links, 1);
        assert_eq!((one.mean, one.linear, one.one_channel, one.best, one.worst), (10.0, 10.0, 5.0, 8, 12));
        assert_eq!(expected_loss(&histogram, &links, 9).mean, 20.0);
        assert_eq!(expected_loss(&[4], &[], 3), ExpectedLoss::default());
    }
}
