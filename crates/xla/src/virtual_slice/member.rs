//! The shell of the rendezvous: seats with arrays, waits with deadlines, and the one launch.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::error::{LaunchError, MemberError, SliceError};
use super::rendezvous::{Command, ProgramLabel, Rendezvous};
use super::{Shared, VirtualSlice};
use crate::array::Array;
use crate::client::{Client, Device};
use crate::executable::{CompileError, Executable, RunFailure};
use crate::mesh::{Mesh, MeshError};
use crate::program::Program;

/// What a wait ends with.
type Answer = Result<Vec<Array>, MemberError>;

/// The state machine, and what waits beside it.
pub(super) struct Gathering {
    rendezvous: Rendezvous,
    /// For each host that waits, what it brought. A seat is taken exactly while the host waits.
    seats: Vec<Option<Seat>>,
}

/// What a host brought.
struct Seat {
    executable: Executable,
    arguments: Vec<Array>,
    answer: oneshot::Sender<Answer>,
}

impl Gathering {
    /// Nobody waits.
    pub(super) fn new(host_count: usize) -> Gathering {
        let seats = (0..host_count).map(|_| None).collect();
        Gathering { rendezvous: Rendezvous::new(host_count), seats }
    }

    /// Performs the commands of one event.
    fn perform(&mut self, commands: Vec<Command>, shared: &Arc<Shared>) {
        for command in commands {
            match command {
                Command::Launch { launch } => {
                    let seats = self.seats.iter_mut().map_while(Option::take).collect::<Vec<_>>();
                    assert_eq!(seats.len(), self.seats.len(), "a launch with a seat that is empty (VS-1)");
                    launch_all(launch, seats, shared);
                }
                Command::Answer { host, verdict } => {
                    let seat = self.seats[host].take().expect("a host that is answered has a seat (VS-3)");
                    let error = MemberError::new(LaunchError::from_verdict(verdict), seat.arguments);
                    // Whoever waited may have gone.
                    drop(seat.answer.send(Err(error)));
                }
            }
        }
    }
}

/// Puts the shards of all hosts together and launches once, on the client's thread.
fn launch_all(launch: u64, seats: Vec<Seat>, shared: &Arc<Shared>) {
    let owner = Arc::clone(shared);
    shared.client.raw().submit(move || {
        let mut answers = Vec::with_capacity(seats.len());
        let mut brought = Vec::with_capacity(seats.len());
        let mut executable = None;
        for seat in seats {
            answers.push(seat.answer);
            brought.push(seat.arguments);
            executable.get_or_insert(seat.executable);
        }
        let Some(executable) = executable else { return };
        match launch_joined(&executable, &brought) {
            Ok(outputs) => {
                // Before anybody is told, so that what a launch consumed is gone when it returns.
                drop(brought);
                for (host, answer) in answers.into_iter().enumerate() {
                    let own = outputs.iter().map(|output| output.restricted_to(owner.devices_of(host)));
                    let own =
                        own.collect::<Result<Vec<_>, _>>().expect("outputs have the shards of all devices");
                    drop(answer.send(Ok(own)));
                }
            }
            Err(failure) => {
                for (answer, arguments) in answers.into_iter().zip(brought) {
                    let error = LaunchError::Failed { launch, failure: failure.clone() };
                    drop(answer.send(Err(MemberError::new(error, arguments))));
                }
            }
        }
    });
}

/// The launch itself.
fn launch_joined(executable: &Executable, brought: &[Vec<Array>]) -> Result<Vec<Array>, RunFailure> {
    let count = executable.arguments().len();
    let mut arguments = Vec::with_capacity(count);
    for index in 0..count {
        let parts: Vec<Array> = brought.iter().map(|arguments| arguments[index].clone()).collect();
        arguments.push(Array::join(&parts).map_err(|source| RunFailure::Join { index, source })?);
    }
    let launched = executable.launch(arguments);
    launched.map(|(outputs, _)| outputs).map_err(|error| error.into_parts().0)
}

/// One host's place in a virtual slice. Dropping it tells those who wait for it that it is gone.
pub struct Member {
    shared: Arc<Shared>,
    host: usize,
}

impl Member {
    /// Takes the place of `host`.
    pub(super) fn join(shared: Arc<Shared>, host: usize) -> Result<Member, SliceError> {
        let host_count = shared.host_count();
        if host >= host_count {
            return Err(SliceError::NoHost { host, host_count });
        }
        let joined = shared.gathering().rendezvous.on_join(host);
        joined.map_err(|_| SliceError::MemberTaken { host })?;
        Ok(Member { shared, host })
    }

    /// Which host of the slice this is.
    pub fn host(&self) -> usize {
        self.host
    }

    /// The devices of this host.
    pub fn devices(&self) -> &[Device] {
        self.shared.devices_of(self.host)
    }

    /// The whole slice.
    pub fn slice(&self) -> VirtualSlice {
        VirtualSlice(Arc::clone(&self.shared))
    }

    /// The client with the devices of all hosts.
    pub fn client(&self) -> &Client {
        &self.shared.client
    }

    /// Lays axes (slowest first) over the devices of all hosts.
    ///
    /// # Errors
    /// See [`MeshError`].
    pub fn mesh<N: Into<Arc<str>>>(
        &self,
        axes: impl IntoIterator<Item = (N, usize)>,
    ) -> Result<Mesh, MeshError> {
        Mesh::new(self.shared.devices.clone(), axes)
    }

    /// Compiles a program for a mesh, once for all members that ask for the same.
    ///
    /// # Errors
    /// See [`CompileError`].
    ///
    /// # Cancel safety
    /// Dropping the future lets the compiler finish in the background; the next one compiles again.
    pub async fn compile(&self, program: &Program, mesh: &Mesh) -> Result<Executable, CompileError> {
        self.shared.compile(program, mesh).await
    }

    /// Brings this host's shards to the next launch, and waits for the others at most for `deadline`.
    ///
    /// Each argument holds exactly the shards of this host's devices. When all hosts have come, the program
    /// is launched once and the outputs are returned, with the shards of this host's devices; they become
    /// ready later.
    ///
    /// # Errors
    /// [`MemberError`], with the arguments; see the table in the [module](crate::virtual_slice). When the
    /// error is [`LaunchError::Failed`], arguments that the launch consumed are among them.
    ///
    /// # Cancel safety
    /// Dropping the future before all hosts have come withdraws the arrival: the next `run` is for the same
    /// launch. Dropping it later loses the outputs of this launch.
    pub async fn run(
        &mut self,
        executable: &Executable,
        arguments: Vec<Array>,
        deadline: Duration,
    ) -> Result<Vec<Array>, MemberError> {
        if let Err(error) = self.check(executable, &arguments) {
            self.shared.gathering().rendezvous.on_refuse(self.host, &error.to_string());
            return Err(MemberError::new(error, arguments));
        }
        let (answer, mut answered) = oneshot::channel();
        let now = Instant::now();
        // A deadline beyond what the clock can count is none.
        let until = now.checked_add(deadline).unwrap_or_else(|| now + FOREVER);
        let seat = Seat { executable: executable.clone(), arguments, answer };
        let wait = Wait::begin(&self.shared, self.host, seat, now, until);
        tokio::select! {
            biased;
            answer = &mut answered => return answer.unwrap_or_else(|_| Err(ended())),
            () = tokio::time::sleep_until(until) => wait.tick(Instant::now()),
        }
        // The tick answered, or the launch is under way and will.
        answered.await.unwrap_or_else(|_| Err(ended()))
    }

    /// Checks what this host brings before it counts.
    fn check(&self, executable: &Executable, arguments: &[Array]) -> Result<(), LaunchError> {
        let on_slice = executable.mesh().devices();
        let all = &self.shared.devices;
        if on_slice.len() != all.len() || !all.iter().all(|device| on_slice.contains(device)) {
            let ids = |devices: &[Device]| devices.iter().map(Device::id).collect();
            return Err(LaunchError::Devices { expected: ids(all), got: ids(on_slice) });
        }
        executable.check(arguments, Some(self.devices())).map_err(LaunchError::Refused)
    }
}

/// Thirty years: as good as no deadline.
const FOREVER: Duration = Duration::from_secs(30 * 365 * 24 * 3600);

/// The answer when the client's thread lost the question.
fn ended() -> MemberError {
    MemberError::new(LaunchError::Ended, Vec::new())
}

impl Drop for Member {
    fn drop(&mut self) {
        let mut gathering = self.shared.gathering();
        let commands = gathering.rendezvous.on_leave(self.host, Instant::now().into_std());
        gathering.perform(commands, &self.shared);
    }
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Member(host {} of {})", self.host, self.shared.host_count())
    }
}

/// A wait of a host; dropping it withdraws the arrival unless it was answered.
struct Wait<'a> {
    shared: &'a Arc<Shared>,
    host: usize,
}

impl<'a> Wait<'a> {
    fn begin(shared: &'a Arc<Shared>, host: usize, seat: Seat, now: Instant, until: Instant) -> Wait<'a> {
        let program =
            ProgramLabel { name: seat.executable.name().to_owned(), digest: seat.executable.digest() };
        let mut gathering = shared.gathering();
        gathering.seats[host] = Some(seat);
        let commands = gathering.rendezvous.on_arrive(host, &program, now.into_std(), until.into_std());
        gathering.perform(commands, shared);
        Wait { shared, host }
    }

    /// Tells the state machine that the deadline has passed.
    fn tick(&self, now: Instant) {
        let mut gathering = self.shared.gathering();
        let commands = gathering.rendezvous.on_tick(now.into_std());
        gathering.perform(commands, self.shared);
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        let mut gathering = self.shared.gathering();
        if let Some(seat) = gathering.seats[self.host].take() {
            gathering.rendezvous.on_withdraw(self.host);
            drop(gathering);
            // Arrays are dropped outside the lock.
            drop(seat);
        }
    }
}
