//! Every bound of this crate in one place, with what it protects.
//!
//! A limit that users may want to move has a method on [`RuntimeBuilder`](crate::RuntimeBuilder); these are its default
//! or its ceiling. Sizes are in bytes.

use std::time::Duration;

/// The largest frame between two nodes; a longer length prefix ends the connection before memory is taken.
pub const FRAME_BYTES_MAX: usize = 64 << 20;
/// The largest frame before the handshake is done, when the peer is not yet known.
pub const HANDSHAKE_BYTES_MAX: usize = 4 << 20;
/// How much is reserved at a time for a frame that is still arriving.
pub const FRAME_RESERVE_BYTES: usize = 256 << 10;
/// Frames that wait to be written on one connection; senders wait beyond it.
pub const OUTBOX_FRAMES_MAX: usize = 1024;
/// Bytes that one write gathers from waiting frames.
pub const WRITE_BATCH_BYTES: usize = 64 << 10;
/// Messages that wait at the receiver's node for room in one actor's mailbox (`MB-2`).
pub const BACKLOG_MESSAGES_MAX: usize = 1024;
/// Bytes of messages that wait at the receiver's node for room in one actor's mailbox (`MB-2`).
pub const BACKLOG_BYTES_MAX: usize = 64 << 20;
/// Deaths of actors that a node remembers (`LD-4`).
pub const DEATHS_REMEMBERED: usize = 4096;
/// Connections whose handshake is under way at once.
pub const HANDSHAKES_MAX: usize = 64;
/// Actors and messages that one build may register.
pub const REGISTRY_ENTRIES_MAX: usize = 16 << 10;
/// Hosts of one runtime.
pub const HOSTS_MAX: usize = 16 << 10;
/// Length of a name (host, actor type, message, label key) in bytes.
pub const NAME_BYTES_MAX: usize = 255;
/// Length of a text that travels in an error (panic text, cause) in bytes; longer ones are cut.
pub const TEXT_BYTES_MAX: usize = 4 << 10;

/// Default capacity of a mailbox, in messages.
pub const MAILBOX_CAPACITY: usize = 256;
/// Default deadline of an `ask` or `tell`.
pub const ASK_DEADLINE: Duration = Duration::from_secs(60);
/// Default deadline of a spawn, until the actor has started.
pub const SPAWN_DEADLINE: Duration = Duration::from_secs(60);
/// Default time in which all child processes must have joined.
pub const START_DEADLINE: Duration = Duration::from_secs(30);
/// Default time in which a shutdown lets actors finish before it kills them.
pub const SHUTDOWN_DEADLINE: Duration = Duration::from_secs(10);
/// Time for one connection to be dialed and shaken hands with.
pub const CONNECT_DEADLINE: Duration = Duration::from_secs(10);
/// Silence after which a connection counts as lost, where the death of the process is not seen directly.
pub const SILENCE_MAX: Duration = Duration::from_secs(10);
/// How often an idle connection says that it is alive.
pub const KEEP_ALIVE: Duration = Duration::from_secs(2);
