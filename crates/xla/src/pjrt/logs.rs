//! How much XLA writes to the standard error stream.
#![expect(unsafe_code, reason = "sets a variable of the environment while the process has one thread")]

/// Tells XLA, which reads its environment when it is loaded, to log errors only. Does nothing when the user
/// chose a level.
///
/// Returns whether a level is set now: `false` means that this process has several threads already, so that
/// setting a variable would be unsound.
pub fn quiet_logs() -> bool {
    const LEVEL: &str = "TF_CPP_MIN_LOG_LEVEL";
    if std::env::var_os(LEVEL).is_some() {
        return true;
    }
    let threads = std::fs::read_dir("/proc/self/task").map(Iterator::count);
    let alone = matches!(threads, Ok(1));
    if alone {
        // SAFETY: no other thread exists that could read the environment, and only this one could start
        // another.
        unsafe { std::env::set_var(LEVEL, "2") };
    }
    alone
}
