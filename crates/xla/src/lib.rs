//! PJRT plugins, devices, meshes, sharded arrays and compiled programs.
//!
//! A [`plugin::Plugin`] is a shared library that speaks the PJRT C API: for TPUs, CUDA devices or the
//! processors of this machine. A [`client::Client`] opens its devices. A [`mesh::Mesh`] names axes over them,
//! a [`sharding::Sharding`] says which part of a tensor lies on which, and an [`array::Array`] is such a
//! tensor. A [`program::Program`] is StableHLO, from JAX or written by hand; compiled for a mesh it is an
//! [`executable::Executable`]. A [`virtual_slice::VirtualSlice`] lets many hosts inside one process run such
//! a program together, each with its own devices.
//!
//! What this crate must never know: actors, nodes, hosts' addresses, placement, datasets, training, serving.
//! It depends on none of this project's crates.
//!
//! # Guarantees
//! - No call blocks a thread of an executor: PJRT events become futures, launches and clients have a thread
//!   of their own.
//! - Shapes, types, shardings and the presence of every shard are checked before the plugin is asked; what is
//!   wrong comes back as a typed error that says what was expected and what came. (Inside XLA some of these
//!   mistakes abort the process.)
//! - Nothing is fetched from a network unless [`plugin::PluginSearch::fetch`] allows it.
//! - `unsafe` is confined to the module `pjrt`.
//!
//! # Examples
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use mobula_xla::array::Array;
//! use mobula_xla::client::Client;
//! use mobula_xla::executable::Executable;
//! use mobula_xla::mesh::Mesh;
//! use mobula_xla::plugin::PluginSearch;
//! use mobula_xla::program::Program;
//! use mobula_xla::sharding::Sharding;
//!
//! let plugin = PluginSearch::new().load().await?;
//! let client = Client::cpu(&plugin, 8).await?;
//! let mesh = Mesh::new(client.devices(), [("data", 8)])?;
//! let program = Program::from_file("step.mlir").await?;
//! let step = Executable::compile(&program, &mesh).await?;
//! let batch = Array::from_ndarray(&mesh, &Sharding::over([["data"]]), ndarray::Array2::<f32>::zeros((64,
//! 16))).await?; let outputs = step.run(vec![batch]).await?; println!("{}",
//! outputs[0].to_ndarray::<f32>().await?);
//! # Ok(())
//! # }
//! ```

pub mod array;
pub mod client;
pub mod dtype;
pub mod executable;
pub mod mesh;
mod pjrt;
pub mod plugin;
pub mod program;
pub mod sharding;
pub mod virtual_slice;
mod wire;

pub use pjrt::{Code, LibraryError, LiveHandles, PjrtError};
