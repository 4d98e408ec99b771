//! One cycle of connections over weighted addresses.

/// Returns the addresses of the connections of one cycle, evenly interleaved: smooth weighted round-robin, as in nginx.
/// After each cycle, every address has had exactly its share. Empty if all weights are equal: a plain rotation does.
pub(crate) fn cycle(weights: &[u32]) -> Box<[u16]> {
    let Some(first) = weights.first() else { return Box::default() };
    if weights.iter().all(|weight| weight == first) {
        return Box::default();
    }
    let divisor = weights.iter().fold(0, |sum, weight| greatest_common_divisor(sum, *weight)).max(1);
    let weights: Vec<i64> = weights.iter().map(|weight| i64::from(weight / divisor)).collect();
    let total: i64 = weights.iter().sum();
    let mut credit = vec![0i64; weights.len()];
    let next = |_| {
        credit.iter_mut().zip(&weights).for_each(|(credit, weight)| *credit += weight);
        // The first of equals, so that the order does not depend on the iterator.
        let mut best = 0;
        for at in 1..credit.len() {
            if credit[at] > credit[best] {
                best = at;
            }
        }
        credit[best] -= total;
        best as u16
    };
    (0..total).map(next).collect()
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::cycle;

    #[test]
    fn a_cycle_has_each_address_as_often_as_its_weight_says() {
        for weights in [vec![3, 1], vec![1, 2, 3], vec![1_000, 1], vec![6, 4, 2], vec![0, 5]] {
            let cycle = cycle(&weights);
            let count = |at: usize| cycle.iter().filter(|one| usize::from(**one) == at).count() as u64;
            let total: u64 = weights.iter().map(|weight| u64::from(*weight)).sum();
            for (at, weight) in weights.iter().enumerate() {
                assert_eq!(
                    count(at) * total,
                    u64::from(*weight) * cycle.len() as u64,
                    "{weights:?}: {cycle:?}"
                );
            }
        }
    }

    #[test]
    fn a_cycle_interleaves_the_addresses() {
        assert_eq!(*cycle(&[3, 1]), [0, 0, 1, 0]);
        assert_eq!(*cycle(&[5, 1, 1]), [0, 0, 1, 0, 2, 0, 0]);
    }

    #[test]
    fn equal_weights_need_no_list() {
        assert!(cycle(&[2, 2, 2]).is_empty() && cycle(&[7]).is_empty() && cycle(&[]).is_empty());
    }
}
