//! Starting one actor on each host of a group: all of them, or none.

use std::time::Duration;

use futures::future::{Either, select_all};
use mobula_core::actor::SpawnOptions;
use mobula_core::{ActorRef, RemoteActor, SpawnError};
use tokio::time::Instant;

use crate::group::{Loss, PlacementGroup};
use crate::mesh::ActorMesh;
use crate::rank::{self, RankContext};

/// How long a gang may take to start where nothing else is said.
pub const SPAWN_DEADLINE: Duration = Duration::from_secs(60);

/// Failed to start a gang. No member is left; the group is given back.
#[derive(Debug, thiserror::Error)]
#[error("spawn a gang of {world_size} for {}: {cause}", group.id())]
pub struct GangError {
    /// The group, still held.
    pub group: Box<PlacementGroup>,
    /// How many members there were to be.
    pub world_size: u32,
    /// Why.
    pub cause: GangCause,
}

/// Why a gang did not start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GangCause {
    /// A member did not start.
    #[error("rank {rank} on {host}: failed to {error}")]
    Member {
        /// Its rank.
        rank: u32,
        /// Its host.
        host: String,
        /// Why.
        error: SpawnError,
    },
    /// Some members had not started by the deadline.
    #[error("not started within {within:?}: {}", Ranks(missing))]
    Timeout {
        /// Ranks and hosts of those that are missing.
        missing: Vec<(u32, String)>,
        /// The time that was given.
        within: Duration,
    },
    /// A host of the group was lost before or meanwhile.
    #[error("{0}")]
    Lost(Loss),
    /// The value that tells a member its place does not encode.
    #[error("{0}")]
    Context(String),
}

struct Ranks<'a>(&'a [(u32, String)]);

impl std::fmt::Display for Ranks<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, (rank, host)) in self.0.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}rank {rank} on {host}")?;
        }
        Ok(())
    }
}

impl PlacementGroup {
    /// Starts one `A` on each host, in rank order, each from a clone of `init`.
    ///
    /// # Errors
    /// [`GangError`], with the group; no member is left.
    ///
    /// # Cancel safety
    /// Dropping the future leaves no member behind and gives the slices back.
    pub async fn spawn<A: RemoteActor<Init: Clone>>(self, init: A::Init) -> Result<ActorMesh<A>, GangError> {
        self.spawn_with(SPAWN_DEADLINE, |_| init.clone()).await
    }

    /// Starts one `A` on each host within `deadline`, each from what `init` makes of its place.
    ///
    /// # Errors
    /// As [`spawn`](Self::spawn).
    ///
    /// # Cancel safety
    /// As [`spawn`](Self::spawn).
    pub async fn spawn_with<A: RemoteActor>(
        self,
        deadline: Duration,
        mut init: impl FnMut(&RankContext) -> A::Init,
    ) -> Result<ActorMesh<A>, GangError> {
        let ranks = rank::plan(self.assignment());
        let inits: Vec<_> = ranks.iter().map(&mut init).collect();
        match self.start_all::<A>(deadline, &ranks, inits).await {
            Ok(members) => Ok(ActorMesh::new(self, ranks, members)),
            Err(cause) => Err(GangError { group: Box::new(self), world_size: ranks.len() as u32, cause }),
        }
    }

    /// All members, or none of them and why.
    async fn start_all<A: RemoteActor>(
        &self,
        within: Duration,
        ranks: &[RankContext],
        inits: Vec<A::Init>,
    ) -> Result<Vec<ActorRef<A>>, GangCause> {
        if let Some(loss) = self.losses().into_iter().next() {
            return Err(GangCause::Lost(loss));
        }
        let handle = self.hold.placement.handle();
        let mut started = Started(vec![None; ranks.len()]);
        let mut starting = Vec::with_capacity(ranks.len());
        for (place, init) in ranks.iter().zip(inits) {
            let options = SpawnOptions::new().host(&place.host).deadline(within).context(rank::ENTRY, place);
            let options = options.map_err(|error| GangCause::Context(error.to_string()))?;
            let rank = place.rank as usize;
            starting.push(Box::pin(async move { (rank, handle.spawn_with::<A>(init, options).await) }));
        }
        // A member that starts exactly at the deadline is told so by its own node; this one is for nodes that do not answer.
        let late = tokio::time::sleep_until(Instant::now() + within);
        tokio::pin!(late);
        let lost = self.lost();
        tokio::pin!(lost);
        while !starting.is_empty() {
            let next = select_all(std::mem::take(&mut starting));
            let done = tokio::select! {
                biased;
                ((rank, spawned), _, rest) = next => { starting = rest; Either::Left((rank, spawned)) }
                loss = &mut lost => Either::Right(GangCause::Lost(loss)),
                () = &mut late => Either::Right(GangCause::Timeout { missing: started.missing(ranks), within }),
            };
            match done {
                Either::Left((rank, Ok(member))) => started.0[rank] = Some(member),
                Either::Left((rank, Err(SpawnError::Timeout { .. }))) if ranks.len() > 1 => {
                    let mut missing = started.missing(ranks);
                    missing.sort_by_key(|(other, _)| *other as usize != rank);
                    return Err(GangCause::Timeout { missing, within });
                }
                Either::Left((rank, Err(error))) => {
                    let place = &ranks[rank];
                    return Err(GangCause::Member { rank: place.rank, host: place.host.clone(), error });
                }
                Either::Right(cause) => return Err(cause),
            }
        }
        Ok(started.keep())
    }
}

/// Members that have started, and are ended should the gang not become whole.
struct Started<A: RemoteActor>(Vec<Option<ActorRef<A>>>);

impl<A: RemoteActor> Started<A> {
    fn missing(&self, ranks: &[RankContext]) -> Vec<(u32, String)> {
        let waiting = self.0.iter().zip(ranks).filter(|(member, _)| member.is_none());
        waiting.map(|(_, place)| (place.rank, place.host.clone())).collect()
    }

    fn keep(mut self) -> Vec<ActorRef<A>> {
        std::mem::take(&mut self.0).into_iter().flatten().collect()
    }
}

impl<A: RemoteActor> Drop for Started<A> {
    fn drop(&mut self) {
        let members: Vec<_> = std::mem::take(&mut self.0).into_iter().flatten().collect();
        crate::mesh::end_later(members, None);
    }
}
