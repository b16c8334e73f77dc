//! Compiled programs.
//!
//! # A launch
//! [`Executable::run`] checks its arguments (type, shape, sharding, completeness, mesh, donation) and hands
//! them to the client's thread, which launches one program after the other; it returns when the program is
//! *launched*, with arrays that can be passed on at once and whose [`Array::ready`] tells when they hold
//! their values. Nothing is launched that lacks a shard: inside XLA a collective that misses a device is no
//! error, it aborts the process after a minute.
//!
//! # Donation
//! Arguments that the program marks are *consumed* by a launch: their memory becomes that of outputs, and
//! every array that shares it can no longer be used ([`crate::array::TransferError::Donated`], [`RunError`]).
//! Arguments that are not marked are left alone, whatever the compiler thinks.

mod bind;
mod error;
mod hlo;
mod options;

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Weak};

pub use error::{ArgumentError, CompileError, RunError, RunFailure, SignatureMismatch};

use crate::array::{Array, Cell, Held};
use crate::client::Device;
use crate::dtype::TensorType;
use crate::mesh::Mesh;
use crate::pjrt::{Buffer, Completion, Launched, LoadedExecutable};
use crate::program::{Program, ProgramDigest};
use crate::sharding::{Sharding, Slice};

/// One argument of an executable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// Element type and whole shape.
    pub tensor: TensorType,
    /// How it must be spread over the executable's mesh.
    pub sharding: Sharding,
    /// Whether a launch consumes it.
    pub donated: bool,
}

/// One output of an executable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Element type and whole shape.
    pub tensor: TensorType,
    /// How it is spread over the executable's mesh.
    pub sharding: Sharding,
}

/// A program compiled for the devices of a mesh. Cheap to clone.
#[derive(Clone)]
pub struct Executable(Arc<Inner>);

struct Inner {
    name: String,
    digest: ProgramDigest,
    mesh: Mesh,
    arguments: Vec<Port<Argument>>,
    outputs: Vec<Port<Output>>,
    loaded: LoadedExecutable,
    /// For each list of a launch, where its device lies in the mesh.
    order: Vec<usize>,
}

/// An argument or output with the part of each device.
struct Port<T> {
    spec: T,
    slices: Arc<[Slice]>,
}

/// Numbers launches; the same number on all devices of one launch, and never zero
/// (`LoadedExecutable::execute`).
static LAUNCHES: AtomicI32 = AtomicI32::new(1);

/// The next launch id: positive, and new for the next thousand million launches.
fn next_launch_id() -> i32 {
    (LAUNCHES.fetch_add(1, Ordering::Relaxed) & 0x3fff_ffff) + 1
}

impl Executable {
    /// Compiles `program` for the devices of `mesh`, on a thread for blocking work.
    ///
    /// # Errors
    /// [`CompileError::Mesh`] and [`CompileError::Partitions`] when the program is written for another mesh;
    /// [`CompileError::Rejected`] with the compiler's words, and line and column where it gives them; see
    /// [`CompileError`].
    ///
    /// # Cancel safety
    /// Dropping the future lets the compiler finish in the background.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn compile(program: &Program, mesh: &Mesh) -> Result<Executable, CompileError> {
        let (program, mesh) = (program.clone(), mesh.clone());
        let compiled = tokio::task::spawn_blocking(move || bind::compile(&program, &mesh)).await;
        compiled.map_err(|_| CompileError::Ended)?
    }

    /// The program's name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The digest of the program and of the mesh it is compiled for.
    pub fn digest(&self) -> ProgramDigest {
        self.0.digest
    }

    /// The devices it runs on.
    pub fn mesh(&self) -> &Mesh {
        &self.0.mesh
    }

    /// The arguments in order.
    pub fn arguments(&self) -> impl ExactSizeIterator<Item = &Argument> {
        self.0.arguments.iter().map(|port| &port.spec)
    }

    /// The outputs in order.
    pub fn outputs(&self) -> impl ExactSizeIterator<Item = &Output> {
        self.0.outputs.iter().map(|port| &port.spec)
    }

    /// A handle that does not keep the executable.
    pub(crate) fn downgrade(&self) -> WeakExecutable {
        WeakExecutable(Arc::downgrade(&self.0))
    }

    /// Launches the program with complete arrays.
    ///
    /// Returns when the program is launched; the outputs become ready later. Launches of one client start in
    /// the order in which these futures are first polled.
    ///
    /// # Errors
    /// [`RunError`], with the arguments: nothing was launched. [`RunFailure::Argument`] names the argument,
    /// what was expected and what came.
    ///
    /// # Cancel safety
    /// Once polled, the launch happens even when the future is dropped: donated arguments are consumed,
    /// outputs are dropped.
    pub async fn run(&self, arguments: Vec<Array>) -> Result<Vec<Array>, RunError> {
        if let Err(failure) = self.check(&arguments, None) {
            return Err(RunError::new(failure, arguments));
        }
        let executable = self.clone();
        let launch = move || executable.launch(arguments);
        match self.0.mesh.client().raw().run(launch).await {
            Some(Ok((outputs, launched))) if self.0.outputs.is_empty() => {
                // Without outputs there is nothing to wait for later.
                for completion in launched {
                    if let Err(error) = completion.await {
                        return Err(RunError::new(RunFailure::Plugin(error), Vec::new()));
                    }
                }
                Ok(outputs)
            }
            Some(Ok((outputs, _))) => Ok(outputs),
            Some(Err(error)) => Err(error),
            None => Err(RunError::new(RunFailure::Ended, Vec::new())),
        }
    }

    /// Checks arguments: complete ones, or those that hold exactly the shards of `devices`.
    pub(crate) fn check(&self, arguments: &[Array], devices: Option<&[Device]>) -> Result<(), RunFailure> {
        let expected = self.0.arguments.len();
        if arguments.len() != expected {
            return Err(RunFailure::ArgumentCount { expected, got: arguments.len() });
        }
        let mut consumed: HashSet<*const Cell> = HashSet::new();
        for (index, (port, array)) in self.0.arguments.iter().zip(arguments).enumerate() {
            let wrong = |source| RunFailure::Argument { index, source };
            self.check_one(port, array, devices).map_err(wrong)?;
            if port.spec.donated && !array.held().iter().all(|held| consumed.insert(Arc::as_ptr(&held.cell)))
            {
                return Err(wrong(ArgumentError::SharedDonation));
            }
        }
        for (index, (port, array)) in self.0.arguments.iter().zip(arguments).enumerate() {
            let shared = array.held().iter().any(|held| consumed.contains(&Arc::as_ptr(&held.cell)));
            if !port.spec.donated && shared {
                return Err(RunFailure::Argument { index, source: ArgumentError::SharedDonation });
            }
        }
        Ok(())
    }

    fn check_one(
        &self,
        port: &Port<Argument>,
        array: &Array,
        devices: Option<&[Device]>,
    ) -> Result<(), ArgumentError> {
        let spec = &port.spec;
        if *array.tensor() != spec.tensor {
            let (expected, got) = (spec.tensor.clone(), array.tensor().clone());
            return Err(ArgumentError::Type { expected, got });
        }
        if !array.mesh().has_devices_of(&self.0.mesh) {
            let ids = |mesh: &Mesh| mesh.devices().iter().map(Device::id).collect();
            return Err(ArgumentError::Devices { expected: ids(&self.0.mesh), got: ids(array.mesh()) });
        }
        if !Arc::ptr_eq(array.slices(), &port.slices) && array.slices() != &port.slices {
            return Err(ArgumentError::Sharding {
                expected: format!("{} over {}", spec.sharding, self.0.mesh.shape()),
                got: format!("{} over {}", array.sharding(), array.mesh().shape()),
            });
        }
        let held: Vec<i32> = array.shards().map(|shard| shard.device().id()).collect();
        let wanted: Vec<i32> = match devices {
            None => self.0.mesh.devices().iter().map(Device::id).collect(),
            Some(devices) => {
                let own = |device: &&Device| devices.contains(device);
                self.0.mesh.devices().iter().filter(own).map(Device::id).collect()
            }
        };
        if held != wanted {
            return Err(ArgumentError::Shards { expected: wanted, got: held });
        }
        if array.is_donated() {
            return Err(ArgumentError::Donated);
        }
        Ok(())
    }

    /// Launches on the client's thread; the arguments are checked and complete.
    pub(crate) fn launch(
        &self,
        arguments: Vec<Array>,
    ) -> Result<(Vec<Array>, Vec<Completion<()>>), RunError> {
        // Only this thread consumes memory, so what is alive now stays alive until the call (`PJ-4`).
        if let Some(index) = arguments.iter().position(Array::is_donated) {
            let failure = RunFailure::Argument { index, source: ArgumentError::Donated };
            return Err(RunError::new(failure, arguments));
        }
        let inner = &*self.0;
        let lists: Vec<Vec<_>> = inner
            .order
            .iter()
            .map(|position| arguments.iter().map(|array| array.held()[*position].cell.buffer()).collect())
            .collect();
        let kept: Vec<i64> = (0_i64..)
            .zip(&inner.arguments)
            .filter(|(_, port)| !port.spec.donated)
            .map(|(index, _)| index)
            .collect();
        let launched = inner.loaded.execute(&lists, &kept, next_launch_id());
        let consumed = inner.arguments.iter().zip(&arguments).filter(|(port, _)| port.spec.donated);
        for held in consumed.flat_map(|(_, array)| array.held()) {
            // A launch that failed may have consumed some of them: ask.
            if launched.is_ok() || held.cell.buffer().is_deleted().unwrap_or(true) {
                held.cell.set_donated();
            }
        }
        match launched {
            Ok(Launched { outputs, completions }) => Ok((self.collect(outputs), completions)),
            Err(error) => Err(RunError::new(RunFailure::Plugin(error), arguments)),
        }
    }

    /// Arrays of the buffers that a launch gave, one list for each device.
    fn collect(&self, lists: Vec<Vec<Buffer>>) -> Vec<Array> {
        let inner = &*self.0;
        let mut held: Vec<Vec<Held>> = inner.outputs.iter().map(|_| Vec::new()).collect();
        for (position, list) in inner.order.iter().zip(lists) {
            for (held, buffer) in held.iter_mut().zip(list) {
                held.push(Held { position: *position, cell: Cell::new(buffer) });
            }
        }
        let arrays = inner.outputs.iter().zip(held);
        arrays
            .map(|(port, held)| {
                let Output { tensor, sharding } = port.spec.clone();
                Array::assemble(inner.mesh.clone(), tensor, sharding, Arc::clone(&port.slices), held)
            })
            .collect()
    }
}

impl fmt::Debug for Executable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Executable({} {} over {})", self.0.name, self.0.digest, self.0.mesh.shape())
    }
}

/// See [`Executable::downgrade`].
#[derive(Clone)]
pub(crate) struct WeakExecutable(Weak<Inner>);

impl WeakExecutable {
    /// The executable, when somebody still holds it.
    pub(crate) fn upgrade(&self) -> Option<Executable> {
        self.0.upgrade().map(Executable)
    }
}
