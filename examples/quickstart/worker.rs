//! The gang's members: one a host, with its chips, its rows and its part of every launch.

use std::path::PathBuf;
use std::time::Duration;

use mobula::prelude::*;
use mobula::xla::array::Array;
use mobula::xla::executable::Executable;
use mobula::xla::mesh::Mesh;
use mobula::xla::plugin::Plugin;
use mobula::xla::program::Program;
use mobula::xla::sharding::Sharding;
use mobula::xla::virtual_slice::{Member, VirtualSlice};
use ndarray::{Array1, Dimension};
use tokio::sync::OnceCell;

use crate::digits::{self, Rows, Split};

/// Rows of a step, over all devices; as in `programs/digits.py`.
const BATCH: usize = 256;
/// Rows of the evaluation, over all devices: the held-out ones and padding.
const EVALUATED: usize = 368;
/// Arrays that the step carries on: four weights and their momenta.
const STATE: usize = 8;
/// How long a host waits for the others before a launch.
const RENDEZVOUS: Duration = Duration::from_secs(30);

/// What a member is built from.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Job {
    pub plugin: PathBuf,
    pub data: PathBuf,
    pub seed: u32,
}

/// The virtual slice of this process, made by the first member that needs it. The driver never touches a device.
#[derive(Default)]
struct Slice(OnceCell<VirtualSlice>);

/// One host of the gang.
#[derive(Actor)]
pub struct Worker {
    rank: RankContext,
    seed: u32,
    member: Member,
    mesh: Mesh,
    step: Executable,
    evaluate: Executable,
    train: Rows,
    held_out: Rows,
    /// Weights and momenta, replicated: this host's copies.
    state: Vec<Array>,
}

#[remote]
impl RemoteActor for Worker {
    type Init = Job;

    async fn build(job: Job, at: &SpawnContext) -> Result<Self, BoxError> {
        let rank = at.rank()?;
        let (host, hosts) = (rank.host_index as usize, rank.hosts_per_slice as usize);
        let shared = at.handle().extensions().find_or_init(Slice::default);
        let slice = shared.0.get_or_try_init(async || {
            let plugin = Plugin::load(&job.plugin)?;
            Ok::<_, BoxError>(VirtualSlice::create(&plugin, hosts, rank.chips.len()).await?)
        });
        let mut member = slice.await?.member(host)?;
        let mesh = member.mesh([("data", hosts * rank.chips.len())])?;
        let init = member.compile(&Program::from_text(include_str!("programs/init.mlir"))?, &mesh).await?;
        let step = member.compile(&Program::from_text(include_str!("programs/step.mlir"))?, &mesh).await?;
        let evaluate =
            member.compile(&Program::from_text(include_str!("programs/evaluate.mlir"))?, &mesh).await?;
        let path = job.data;
        let read = tokio::task::spawn_blocking(move || {
            let of = |split| digits::read(&path, split, host, hosts);
            Ok::<_, BoxError>((of(Split::Train)?, of(Split::HeldOut)?))
        });
        let (train, held_out) = read.await??;
        let seed = ndarray::arr0(job.seed);
        let seed = Array::from_block(&mesh, &Sharding::replicated(), &[], member.devices(), seed).await?;
        let state = member.run(&init, vec![seed], RENDEZVOUS).await?;
        Ok(Self { rank, seed: job.seed, member, mesh, step, evaluate, train, held_out, state })
    }
}

impl Worker {
    /// This host's rows of an array whose rows are split over all devices.
    async fn rows<T: mobula::xla::dtype::Element, D: Dimension>(
        &self,
        all: usize,
        own: ndarray::Array<T, D>,
    ) -> Result<Array, BoxError> {
        let mut shape = own.shape().to_vec();
        shape[0] = all;
        let split = Sharding::over([["data"]]);
        Ok(Array::from_block(&self.mesh, &split, &shape, self.member.devices(), own).await?)
    }

    async fn epoch(&mut self, epoch: u32) -> Result<Vec<f32>, BoxError> {
        let own = BATCH / self.rank.world_size as usize;
        let order = digits::shuffled(self.train.len(), self.seed, epoch, self.rank.rank);
        let mut losses = Vec::new();
        // All hosts take as many steps as the one with the fewest rows can.
        for numbers in order.chunks_exact(own).take(self.steps_of_an_epoch()) {
            let batch = self.train.choose(numbers);
            let mut arguments = std::mem::take(&mut self.state);
            arguments.push(self.rows(BATCH, batch.pixels).await?);
            arguments.push(self.rows(BATCH, batch.labels).await?);
            self.state = self.member.run(&self.step, arguments, RENDEZVOUS).await?;
            let loss = self.state.pop().ok_or("the step gave no loss")?;
            losses.push(scalar(&loss).await?);
        }
        Ok(losses)
    }

    /// `rows / hosts`, rounded down, is what every host has at least.
    fn steps_of_an_epoch(&self) -> usize {
        let hosts = self.rank.world_size as usize;
        // Hosts differ by one row at most; the first has the most.
        let fewest = self.train.len() - usize::from(self.rank.rank == 0);
        fewest / (BATCH / hosts)
    }

    async fn evaluate(&mut self) -> Result<(f32, usize), BoxError> {
        let own = EVALUATED / self.rank.world_size as usize;
        let rows = self.held_out.padded(own);
        let real = self.held_out.len();
        let counts = Array1::from_shape_fn(own, |row| if row < real { 1.0f32 } else { 0.0 });
        let mut arguments: Vec<Array> = self.state[..STATE / 2].to_vec();
        arguments.push(self.rows(EVALUATED, rows.pixels).await?);
        arguments.push(self.rows(EVALUATED, rows.labels).await?);
        arguments.push(self.rows(EVALUATED, counts).await?);
        let right = self.member.run(&self.evaluate, arguments, RENDEZVOUS).await?;
        Ok((scalar(&right[0]).await?, real))
    }
}

/// The value of a replicated scalar.
async fn scalar(array: &Array) -> Result<f32, BoxError> {
    let shard = array.shard(0).ok_or("an output without shards")?;
    Ok(shard.to_host::<f32>().await?.sum())
}

/// How many rows a member has read.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CountRows;

#[remote]
impl Message<CountRows> for Worker {
    type Reply = (usize, usize);

    async fn handle(&mut self, _: CountRows, _: &mut Context<Self, Self::Reply>) -> Self::Reply {
        (self.train.len(), self.held_out.len())
    }
}

/// Takes part in one pass over the rows, and gives the loss of each step.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Epoch(pub u32);

#[remote]
impl Message<Epoch> for Worker {
    type Reply = Result<Vec<f32>, String>;

    async fn handle(&mut self, Epoch(epoch): Epoch, _: &mut Context<Self, Self::Reply>) -> Self::Reply {
        self.epoch(epoch).await.map_err(|error| error.to_string())
    }
}

/// Takes part in the evaluation: gives how many held-out rows are right over all hosts, and how many this host has.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Evaluate;

#[remote]
impl Message<Evaluate> for Worker {
    type Reply = Result<(f32, usize), String>;

    async fn handle(&mut self, _: Evaluate, _: &mut Context<Self, Self::Reply>) -> Self::Reply {
        self.evaluate().await.map_err(|error| error.to_string())
    }
}
