//! What the benches share: medians, and one JSON line a figure.
//!
//! ```text
//! {"bench":"embedded_start","unit":"ms","value":0.3,"limit":0.1,"ratio":3.0,"runs":21}
//! ```
//! `limit` is the raw mechanism, measured in the same run, and `ratio` is `value / limit`: above 1 is slower than the
//! mechanism where the unit is a time, faster where it is a rate.

use std::time::{Duration, Instant};

use serde::Serialize;

/// One figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// Its name.
    pub bench: &'static str,
    /// What `value` and `limit` count.
    pub unit: &'static str,
    /// The median of the runs.
    pub value: f64,
    /// The median of the raw mechanism, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// `value / limit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// How often it was measured.
    pub runs: usize,
}

impl Figure {
    /// The median of `values`, beside that of `limits`.
    pub fn new(bench: &'static str, unit: &'static str, values: &[f64], limits: &[f64]) -> Self {
        let value = median(values);
        let limit = (!limits.is_empty()).then(|| median(limits));
        Self { bench, unit, value, limit, ratio: limit.map(|limit| value / limit), runs: values.len() }
    }

    /// Prints it as one line.
    pub fn print(&self) {
        match serde_json::to_string(self) {
            Ok(line) => println!("{line}"),
            Err(error) => eprintln!("{self:?} could not be written as JSON: {error}"),
        }
    }
}

/// The middle of the values; of an even number, the mean of the two in the middle.
///
/// # Panics
/// There are no values.
pub fn median(values: &[f64]) -> f64 {
    assert!(!values.is_empty(), "a median of nothing");
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (below, above) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
    f64::midpoint(below, above)
}

/// Milliseconds since `start`.
pub fn ms_since(start: Instant) -> f64 {
    ms(start.elapsed())
}

/// A duration in milliseconds.
pub fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    //! Medians by hand, and the line's shape.

    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(&[7.0]), 7.0);
    }

    #[test]
    fn a_figure_is_one_line_of_json() {
        let figure = Figure::new("x", "ms", &[2.0, 4.0, 6.0], &[2.0]);
        let line = serde_json::to_string(&figure).unwrap();
        assert_eq!(line, r#"{"bench":"x","unit":"ms","value":4.0,"limit":2.0,"ratio":2.0,"runs":3}"#);
        let bare = serde_json::to_string(&Figure::new("y", "ms", &[1.0], &[])).unwrap();
        assert_eq!(bare, r#"{"bench":"y","unit":"ms","value":1.0,"runs":1}"#);
    }
}
