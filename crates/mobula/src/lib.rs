//! An embedded actor runtime for accelerator slices.
//!
//! TPU chips are wired into *slices*; a model that spans hosts must sit on exactly one whole slice. Declare a topology, and
//! placement reserves whole healthy slices, spawns one actor for each host on one mesh, and answers with a reason when
//! it cannot:
//!
//! ```
//! use mobula::prelude::*;
//!
//! #[derive(Actor)]
//! struct Worker(RankContext);
//!
//! #[remote]
//! impl RemoteActor for Worker {
//!     type Init = ();
//!     async fn build(_: (), at: &SpawnContext) -> Result<Self, BoxError> {
//!         Ok(Worker(at.rank()?))
//!     }
//! }
//!
//! #[derive(Clone, Serialize, Deserialize)]
//! struct Hello;
//!
//! #[remote]
//! impl Message<Hello> for Worker {
//!     type Reply = String;
//!     async fn handle(&mut self, _: Hello, _: &mut Context<Self, String>) -> String {
//!         format!("rank {} of {}", self.0.rank, self.0.world_size)
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), BoxError> {
//! let runtime = Runtime::builder().virtual_slice("v6e", "4x4").start().await?;
//! let group = runtime.slice_placement_group("v6e", "4x4").reserve().await?;
//! let gang = group.spawn::<Worker>(()).await?;
//! let hellos = gang.ask_all(Hello).await;
//! assert_eq!(hellos[3].as_deref().ok(), Some("rank 3 of 4"));
//! # Ok(()) }
//! ```
//!
//! This crate only gathers the layers; each has its own documentation.
//!
//! | module | feature | what it is |
//! |---|---|---|
//! | [`core`] | | nodes, actors, messages, transport |
//! | [`placement`] | | topologies, reservations, gangs, meshes of actors |
//! | [`xla`] | | PJRT plugins, devices, sharded arrays, programs |
//! | `data` | `data` | datasets and device batches |
//! | `train` | `train` | training on slices |
//! | `serve` | `serve` | deployments on slices |

// The macros name this crate as the user's code sees it.
extern crate self as mobula;

pub use mobula_core as core;
#[cfg(feature = "data")]
pub use mobula_data as data;
pub use mobula_macros::{Actor, Reply, main, remote};
pub use mobula_placement as placement;
#[cfg(feature = "serve")]
pub use mobula_serve as serve;
#[cfg(feature = "train")]
pub use mobula_train as train;
pub use mobula_xla as xla;

pub use mobula_core::actor::BoxError;
pub use mobula_core::{
    ActorId, ActorRef, AskError, Death, Handle, HostEvent, HostInfo, HostSpec, HostState, LossCause, NodeId,
    RemoteActor, RemoteMessage, Runtime, RuntimeBuilder, ShutdownError, SpawnContext, SpawnError, StartError,
    TellError, actor, kameo, limits,
};

pub mod prelude {
    //! What a program that uses mobula wants to have in scope.

    pub use mobula_core::actor::{BoxError, Context, Message};
    pub use mobula_core::{
        ActorRef, AskError, HostSpec, LossCause, RemoteActor, Runtime, SpawnContext, TellError,
    };
    pub use mobula_macros::{Actor, Reply, remote};
    pub use mobula_placement::{
        ActorMesh, Place as _, PlacementGroup, RankContext, Ranked as _, VirtualSlices as _,
    };
    pub use serde::{Deserialize, Serialize};
}
