//! A slice of virtual chips in one process: many hosts, one client, one launch.
//!
//! On a real slice every host's process launches the program on its own chips, and the chips meet in the
//! collectives. A [`VirtualSlice`] gives embedded hosts the same view with one CPU client that has a device
//! for each chip: each host holds a [`Member`] with its devices, makes arrays that hold only their shards,
//! and calls [`Member::run`]. When all hosts have come, *one* launch covers all devices, and each member gets
//! its shards of the outputs.
//!
//! Nothing is launched before all shards are there: inside XLA a collective that misses a device is no error,
//! it aborts the process after a minute. What happens when hosts do not come, come late, with other programs
//! or with the wrong shards is decided by a pure state machine, whose semantics are in the docs of
//! `virtual_slice/rendezvous.rs` and in short:
//!
//! | what happens | answer |
//! |---|---|
//! | a host does not come by the deadline of one that waits | all who wait: [`LaunchError::Missing`] |
//! | it comes later | at once [`LaunchError::Late`]: which launch, how long ago, why; then the next launch |
//! | hosts come with different programs | all who wait: [`LaunchError::Programs`], naming host and program |
//! | a host's arrays do not fit the program | that host: [`LaunchError::Refused`]; it may come again |
//! | a member is dropped | all who wait: [`LaunchError::MemberLost`], at once |
//! | a `run` is dropped before the launch | the arrival is withdrawn |
//!
//! Every error gives the arrays back. A refusal is told to the others too, if the host does not come with
//! better ones.
//!
//! # Examples
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//!
//! use mobula_xla::array::Array;
//! use mobula_xla::plugin::PluginSearch;
//! use mobula_xla::program::Program;
//! use mobula_xla::sharding::Sharding;
//! use mobula_xla::virtual_slice::VirtualSlice;
//!
//! let plugin = PluginSearch::new().load().await?;
//! let slice = VirtualSlice::create(&plugin, 4, 4).await?;
//! let program = Program::from_file("sum.mlir").await?;
//! for host in 0..slice.host_count() {
//!     let (mut member, program) = (slice.member(host)?, program.clone());
//!     tokio::spawn(async move {
//!         let mesh = member.mesh([("data", 16)])?;
//!         let sum = member.compile(&program, &mesh).await?;
//!         let rows = ndarray::Array1::from_elem(4, member.host() as f32);
//!         let split = Sharding::over([["data"]]);
//!         let rows = Array::from_block(&mesh, &split, &[16], member.devices(), rows).await?;
//!         let outputs = member.run(&sum, vec![rows], Duration::from_secs(10)).await?;
//!         println!("host {}: {}", member.host(), outputs[0].to_ndarray::<f32>().await?);
//!         Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
//!     });
//! }
//! # Ok(())
//! # }
//! ```

mod error;
mod member;
mod rendezvous;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use error::{LaunchError, MemberError, MissingHost, SliceError};
pub use member::Member;
pub use rendezvous::ProgramLabel;

use crate::client::{Client, Device};
use crate::executable::{CompileError, Executable, WeakExecutable};
use crate::mesh::{Mesh, MeshError};
use crate::plugin::Plugin;
use crate::program::{Program, ProgramDigest};
use member::Gathering;

/// The most hosts of a virtual slice.
pub const HOSTS_MAX: usize = 1024;

/// A slice of virtual chips. Cheap to clone.
#[derive(Clone)]
pub struct VirtualSlice(Arc<Shared>);

/// What the slice and its members share.
struct Shared {
    client: Client,
    devices: Vec<Device>,
    devices_per_host: usize,
    gathering: Mutex<Gathering>,
    compiled: tokio::sync::Mutex<Vec<Compiled>>,
}

/// A program that some member compiled.
struct Compiled {
    program: ProgramDigest,
    mesh: Mesh,
    executable: WeakExecutable,
}

impl Shared {
    fn gathering(&self) -> MutexGuard<'_, Gathering> {
        // The state machine is whole between two statements of its own; a panic inside it is an error of this
        // crate.
        self.gathering.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn host_count(&self) -> usize {
        self.devices.len() / self.devices_per_host
    }

    fn devices_of(&self, host: usize) -> &[Device] {
        &self.devices[host * self.devices_per_host..(host + 1) * self.devices_per_host]
    }

    /// Compiles a program once for all members that ask for the same.
    async fn compile(&self, program: &Program, mesh: &Mesh) -> Result<Executable, CompileError> {
        let mut compiled = self.compiled.lock().await;
        compiled.retain(|entry| entry.executable.upgrade().is_some());
        let known = compiled.iter().find(|entry| entry.program == program.digest() && entry.mesh == *mesh);
        if let Some(executable) = known.and_then(|entry| entry.executable.upgrade()) {
            return Ok(executable);
        }
        let executable = Executable::compile(program, mesh).await?;
        let (program, mesh) = (program.digest(), mesh.clone());
        compiled.push(Compiled { program, mesh, executable: executable.downgrade() });
        Ok(executable)
    }
}

impl VirtualSlice {
    /// A slice of `host_count` hosts with `devices_per_host` chips each, on a client of its own.
    ///
    /// # Errors
    /// [`SliceError::Hosts`] when there are no hosts, no chips or too many; [`SliceError::Client`].
    ///
    /// # Cancel safety
    /// Dropping the future creates and destroys the client in the background.
    pub async fn create(
        plugin: &Plugin,
        host_count: usize,
        devices_per_host: usize,
    ) -> Result<VirtualSlice, SliceError> {
        let devices = host_count.checked_mul(devices_per_host).filter(|count| *count > 0);
        let count = devices.filter(|_| host_count <= HOSTS_MAX);
        let count = count.ok_or(SliceError::Hosts { host_count, devices_per_host, limit: HOSTS_MAX })?;
        VirtualSlice::over(Client::cpu(plugin, count).await?, host_count)
    }

    /// A slice over the devices of `client`, in the client's order, the same number for each host.
    ///
    /// # Errors
    /// [`SliceError::Hosts`] when there are no hosts or too many; [`SliceError::Uneven`] when the devices do
    /// not divide.
    pub fn over(client: Client, host_count: usize) -> Result<VirtualSlice, SliceError> {
        let devices = client.devices();
        let devices_per_host = devices.len().checked_div(host_count).unwrap_or(0);
        if devices_per_host == 0 || host_count > HOSTS_MAX {
            return Err(SliceError::Hosts { host_count, devices_per_host, limit: HOSTS_MAX });
        }
        if devices_per_host * host_count != devices.len() {
            return Err(SliceError::Uneven { host_count, device_count: devices.len() });
        }
        let gathering = Mutex::new(Gathering::new(host_count));
        let compiled = tokio::sync::Mutex::default();
        Ok(VirtualSlice(Arc::new(Shared { client, devices, devices_per_host, gathering, compiled })))
    }

    /// The client with all devices.
    pub fn client(&self) -> &Client {
        &self.0.client
    }

    /// How many hosts there are.
    pub fn host_count(&self) -> usize {
        self.0.host_count()
    }

    /// All devices, host by host.
    pub fn devices(&self) -> &[Device] {
        &self.0.devices
    }

    /// Lays axes (slowest first) over all devices, host by host.
    ///
    /// # Errors
    /// See [`MeshError`].
    pub fn mesh<N: Into<Arc<str>>>(
        &self,
        axes: impl IntoIterator<Item = (N, usize)>,
    ) -> Result<Mesh, MeshError> {
        Mesh::new(self.0.devices.clone(), axes)
    }

    /// Compiles a program for a mesh, once for all who ask for the same.
    ///
    /// # Errors
    /// See [`CompileError`].
    ///
    /// # Cancel safety
    /// Dropping the future lets the compiler finish in the background; the next one compiles again.
    pub async fn compile(&self, program: &Program, mesh: &Mesh) -> Result<Executable, CompileError> {
        self.0.compile(program, mesh).await
    }

    /// The member of `host`: one at a time. When it is dropped, another can be taken.
    ///
    /// # Errors
    /// [`SliceError::NoHost`], [`SliceError::MemberTaken`].
    pub fn member(&self, host: usize) -> Result<Member, SliceError> {
        Member::join(Arc::clone(&self.0), host)
    }
}

impl fmt::Debug for VirtualSlice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VirtualSlice({} hosts x {} devices)", self.host_count(), self.0.devices_per_host)
    }
}
