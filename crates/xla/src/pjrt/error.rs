//! An error that the plugin returned, copied out.

use std::fmt;

/// An error of the plugin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("PJRT_{call}: {code}: {message}")]
pub struct PjrtError {
    /// The function of the C API, without `PJRT_`.
    pub call: &'static str,
    /// What kind of error it is.
    pub code: Code,
    /// The plugin's own words.
    pub message: String,
}

impl PjrtError {
    /// The error for a function that the plugin's table does not have.
    pub(super) fn missing(call: &'static str, version: (i32, i32)) -> PjrtError {
        let message = format!("the plugin (C API {}.{}) does not have this function", version.0, version.1);
        PjrtError { call, code: Code::Unimplemented, message }
    }
}

/// The kind of a [`PjrtError`].
///
/// Source: abseil's status codes, which the C API copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// The work was cancelled.
    Cancelled,
    /// The plugin does not say.
    Unknown,
    /// An argument is wrong whatever the state of the device.
    InvalidArgument,
    /// A deadline of the plugin passed.
    DeadlineExceeded,
    /// Something that was named does not exist.
    NotFound,
    /// Something that was to be made exists.
    AlreadyExists,
    /// The caller may not do this.
    PermissionDenied,
    /// Memory or another resource is used up.
    ResourceExhausted,
    /// The state of the device or of the machine does not allow it.
    FailedPrecondition,
    /// The work was stopped.
    Aborted,
    /// A value lies outside its range.
    OutOfRange,
    /// The plugin cannot do this.
    Unimplemented,
    /// An invariant of the plugin is broken.
    Internal,
    /// Something the plugin needs is not reachable now.
    Unavailable,
    /// Data was lost.
    DataLoss,
    /// The caller is not known.
    Unauthenticated,
    /// A code that this crate does not know.
    Other(i32),
}

impl Code {
    /// The code with the number `raw` in the C API.
    pub(super) fn from_raw(raw: i32) -> Code {
        match raw {
            1 => Code::Cancelled,
            2 => Code::Unknown,
            3 => Code::InvalidArgument,
            4 => Code::DeadlineExceeded,
            5 => Code::NotFound,
            6 => Code::AlreadyExists,
            7 => Code::PermissionDenied,
            8 => Code::ResourceExhausted,
            9 => Code::FailedPrecondition,
            10 => Code::Aborted,
            11 => Code::OutOfRange,
            12 => Code::Unimplemented,
            13 => Code::Internal,
            14 => Code::Unavailable,
            15 => Code::DataLoss,
            16 => Code::Unauthenticated,
            other => Code::Other(other),
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Code::Cancelled => "cancelled",
            Code::Unknown => "unknown",
            Code::InvalidArgument => "invalid argument",
            Code::DeadlineExceeded => "deadline exceeded",
            Code::NotFound => "not found",
            Code::AlreadyExists => "already exists",
            Code::PermissionDenied => "permission denied",
            Code::ResourceExhausted => "resource exhausted",
            Code::FailedPrecondition => "failed precondition",
            Code::Aborted => "aborted",
            Code::OutOfRange => "out of range",
            Code::Unimplemented => "unimplemented",
            Code::Internal => "internal",
            Code::Unavailable => "unavailable",
            Code::DataLoss => "data loss",
            Code::Unauthenticated => "unauthenticated",
            Code::Other(code) => return write!(f, "code {code}"),
        };
        f.write_str(text)
    }
}
