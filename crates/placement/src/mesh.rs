//! A gang as one thing to speak to.

use std::fmt;
use std::time::Duration;

use futures::future::join_all;
use mobula_core::actor::{ErrorOf, ReplyOf};
use mobula_core::{ActorRef, AskError, RemoteActor, RemoteMessage, TellError};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::group::{Loss, PlacementGroup};
use crate::rank::RankContext;

/// The actors of a gang, by rank, and the slices that they run on.
///
/// Dropping it kills the members and then gives the slices back.
pub struct ActorMesh<A: RemoteActor> {
    /// `None` only while it is taken apart.
    group: Option<PlacementGroup>,
    ranks: Vec<RankContext>,
    members: Vec<ActorRef<A>>,
}

/// A named axis of a mesh of actors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axis {
    /// `slice` or `host`.
    pub name: &'static str,
    /// How many steps it has.
    pub extent: u32,
}

/// The answer of one member.
pub type Answer<A, M> = Result<ReplyOf<A, M>, AskError<M, ErrorOf<A, M>>>;

impl<A: RemoteActor> ActorMesh<A> {
    pub(crate) fn new(group: PlacementGroup, ranks: Vec<RankContext>, members: Vec<ActorRef<A>>) -> Self {
        Self { group: Some(group), ranks, members }
    }

    /// How many members there are.
    pub fn world_size(&self) -> u32 {
        self.members.len() as u32
    }

    /// The axes, slowest first: `slice`, then `host`.
    pub fn axes(&self) -> [Axis; 2] {
        let first = self.ranks.first();
        let extent = |of: fn(&RankContext) -> u32| first.map_or(0, of);
        [
            Axis { name: "slice", extent: extent(|place| place.slice_count) },
            Axis { name: "host", extent: extent(|place| place.hosts_per_slice) },
        ]
    }

    /// The place of every member, by rank.
    pub fn ranks(&self) -> &[RankContext] {
        &self.ranks
    }

    /// The members, by rank.
    pub fn members(&self) -> &[ActorRef<A>] {
        &self.members
    }

    /// One member.
    pub fn member(&self, rank: u32) -> Option<&ActorRef<A>> {
        self.members.get(rank as usize)
    }

    /// The slices that the gang runs on.
    pub fn group(&self) -> &PlacementGroup {
        self.group.as_ref().expect("a mesh has its group until it is taken apart")
    }

    /// Asks every member the same, at once; the answers are by rank.
    ///
    /// Each answer is that of an `ask` of its own: one member that is lost leaves the others' answers.
    ///
    /// # Cancel safety
    /// As `ask`, for each member.
    pub async fn ask_all<M>(&self, message: M) -> Vec<Answer<A, M>>
    where
        A: RemoteMessage<M>,
        M: Clone + Serialize + DeserializeOwned + Send + 'static,
    {
        join_all(self.members.iter().map(|member| member.ask(message.clone()))).await
    }

    /// [`ask_all`](Self::ask_all) with a deadline.
    ///
    /// # Cancel safety
    /// As `ask`, for each member.
    pub async fn ask_all_within<M>(&self, within: Duration, message: M) -> Vec<Answer<A, M>>
    where
        A: RemoteMessage<M>,
        M: Clone + Serialize + DeserializeOwned + Send + 'static,
    {
        join_all(self.members.iter().map(|member| member.ask_within(within, message.clone()))).await
    }

    /// Tells every member the same, at once; the results are by rank.
    ///
    /// # Cancel safety
    /// As `tell`, for each member.
    pub async fn tell_all<M>(&self, message: M) -> Vec<Result<(), TellError<M>>>
    where
        A: RemoteMessage<M>,
        M: Clone + Serialize + DeserializeOwned + Send + 'static,
    {
        join_all(self.members.iter().map(|member| member.tell(message.clone()))).await
    }

    /// What happened to hosts of the gang since its slices were granted.
    pub fn losses(&self) -> Vec<Loss> {
        self.group().losses()
    }

    /// Waits until something happens to a host of the gang; at once when something has.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub async fn lost(&self) -> Loss {
        self.group().lost().await
    }

    /// Ends the members (each handles its mailbox first, and is killed after `within`) and gives the slices to the caller.
    ///
    /// # Cancel safety
    /// Dropping the future kills what is left and gives the slices back.
    pub async fn stop(mut self, within: Duration) -> PlacementGroup {
        let stops = join_all(self.members.iter().map(ActorRef::stop));
        if tokio::time::timeout(within, stops).await.is_err() {
            // What never awaits cannot be killed; the bound is the runtime's.
            join_all(self.members.iter().map(ActorRef::kill)).await;
        }
        self.members.clear();
        self.group.take().expect("a mesh has its group until it is taken apart")
    }
}

impl<A: RemoteActor> Drop for ActorMesh<A> {
    fn drop(&mut self) {
        end_later(std::mem::take(&mut self.members), self.group.take());
    }
}

/// Kills members, and then gives their slices back: a chip is not given on while someone may still run on it.
pub(crate) fn end_later<A: RemoteActor>(members: Vec<ActorRef<A>>, group: Option<PlacementGroup>) {
    if members.is_empty() {
        return;
    }
    // Without an executor there is no runtime any more, and nothing runs.
    if let Ok(executor) = tokio::runtime::Handle::try_current() {
        executor.spawn(async move {
            join_all(members.iter().map(ActorRef::kill)).await;
            drop(group);
        });
    }
}

impl<A: RemoteActor> fmt::Debug for ActorMesh<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActorMesh")
            .field("axes", &self.axes())
            .field("members", &self.members)
            .finish_non_exhaustive()
    }
}
