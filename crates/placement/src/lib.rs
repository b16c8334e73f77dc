//! Slices, placement groups and gangs: which hosts and chips a piece of work runs on, or why it waits.
//!
//! The middle is pure: [`topology`], [`inventory`], [`ledger`] and [`scheduler`] know no clock, no randomness and no I/O.
//! Around it stand a shell for each runtime ([`Placement`]), requests and guards ([`SliceRequest`], [`PlacementGroup`]),
//! and gangs ([`ActorMesh`]): one actor a host, in the order of ICI coordinates, all or none.
//!
//! What this crate must never know: devices and their libraries (a member is *told* its chips), datasets, training, serving.
//!
//! ```
//! use mobula_core::Runtime;
//! use mobula_placement::{Place, Reservation, VirtualSlice, VirtualSlices};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let runtime = Runtime::builder()
//!     .virtual_slice("v6e", "4x4")
//!     .virtual_slice_with(VirtualSlice::new("v6e", "4x4").without_worker(3))
//!     .start()
//!     .await?;
//! let group = runtime.slice_placement_group("TPU-V6E", "4x4").named("train-7").reserve().await?;
//! assert_eq!(group.slices()[0].slice.as_str(), "slice-0");
//! // The other slice lacks a host, so the next request waits, and says for what.
//! let Reservation::Pending(waits) = runtime.slice_placement_group("v6e", "4x4").submit()? else { panic!() };
//! let reason = waits.reason().to_string();
//! assert!(reason.contains("train-7") && reason.contains("slice-1 lacks worker 3"), "{reason}");
//! drop(group);
//! assert_eq!(waits.wait().await?.slices()[0].slice.as_str(), "slice-0");
//! # Ok(()) }
//! ```

pub mod gang;
pub mod group;
pub mod inventory;
pub mod ledger;
pub mod mesh;
pub mod place;
pub mod rank;
pub mod scheduler;
pub mod topology;
pub mod virtual_slice;

pub use gang::{GangCause, GangError};
pub use group::{Loss, PendingGroup, PlacementGroup, Reservation, ReserveError, SliceRequest};
pub use mesh::ActorMesh;
pub use place::{Place, Placement};
pub use rank::{Chip, Peer, RankContext, Ranked};
pub use virtual_slice::{VirtualSlice, VirtualSlices};
