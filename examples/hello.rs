//! The program of the README: a gang on one slice, one member a host.

use mobula::prelude::*;

#[derive(Actor)]
struct Worker(RankContext);

#[remote]
impl RemoteActor for Worker {
    type Init = ();
    async fn build(_: (), at: &SpawnContext) -> Result<Self, BoxError> {
        Ok(Worker(at.rank()?))
    }
}

#[derive(Clone, Serialize, Deserialize)]
struct Hello;

#[remote]
impl Message<Hello> for Worker {
    type Reply = String;
    async fn handle(&mut self, _: Hello, _: &mut Context<Self, String>) -> String {
        format!("rank {} of {} on {}", self.0.rank, self.0.world_size, self.0.host)
    }
}

#[mobula::main]
async fn main() -> Result<(), BoxError> {
    let runtime = Runtime::builder().virtual_slice("v6e", "4x4").start().await?;
    let gang = runtime.slice_placement_group("v6e", "4x4").reserve().await?.spawn::<Worker>(()).await?;
    gang.ask_all(Hello).await.into_iter().for_each(|hello| println!("{hello:?}"));
    Ok(())
}
