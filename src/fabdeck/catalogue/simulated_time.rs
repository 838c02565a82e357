//! Times of the simulator as texts: `43ns`, `500us`, `2ms`, `1s`.

/// The nanoseconds of a time with its unit; `None` if it is none.
pub fn read_nanoseconds(text: &str) -> Option<f64> {
    let at = text.find(|sign: char| sign.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(at);
    let nanoseconds = match unit {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    number.trim().parse::<f64>().ok().map(|number| number * nanoseconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit() {
        let read = ["43ns", "0.5us", "2 ms", "1s", "7", "1m", "s", "xs"].map(read_nanoseconds);
        assert_eq!(read, [Some(43.0), Some(500.0), Some(2e6), Some(1e9), None, None, None, None]);
    }
}
