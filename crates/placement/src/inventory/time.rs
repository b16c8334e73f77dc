//! Points in time, as the shell hands them in.

use std::fmt;
use std::ops::Add;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A point in time: how long after the start of the runtime. Pure code never asks a clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Timestamp(pub Duration);

impl Timestamp {
    /// The start of the runtime.
    pub const START: Self = Self(Duration::ZERO);

    /// The time this many seconds after the start.
    pub const fn from_secs(secs: u64) -> Self {
        Self(Duration::from_secs(secs))
    }

    /// How long ago `earlier` was; zero when it lies in the future.
    pub const fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for Timestamp {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} after start", Age(self.0))
    }
}

/// A duration for people: `40 s`, `12 min`, `3 h`, `8 d`.
pub(crate) struct Age(pub(crate) Duration);

impl fmt::Display for Age {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secs = self.0.as_secs();
        match secs {
            0 => write!(f, "{} ms", self.0.as_millis()),
            1..120 => write!(f, "{secs} s"),
            120..7_200 => write!(f, "{} min", secs / 60),
            7_200..172_800 => write!(f, "{} h", secs / 3_600),
            _ => write!(f, "{} d", secs / 86_400),
        }
    }
}
