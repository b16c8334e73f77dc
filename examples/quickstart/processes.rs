//! The gang as four processes: who is where, and what a lost one looks like.

use std::time::{Duration, Instant};

use mobula::BoxError;
use mobula::prelude::*;

use crate::screen;

/// A member that only says where it is.
#[derive(Actor)]
struct Greeter(RankContext);

#[remote]
impl RemoteActor for Greeter {
    type Init = ();

    async fn build(_: (), at: &SpawnContext) -> Result<Self, BoxError> {
        Ok(Self(at.rank()?))
    }
}

/// Asks for the process and its chips.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Ping;

#[remote]
impl Message<Ping> for Greeter {
    type Reply = (u32, String);

    async fn handle(&mut self, _: Ping, _: &mut Context<Self, Self::Reply>) -> Self::Reply {
        let chips: Vec<_> =
            self.0.chips.iter().map(|chip| format!("({},{})", chip.at.x, chip.at.y)).collect();
        (std::process::id(), chips.join(" "))
    }
}

pub async fn show() -> Result<(), BoxError> {
    let started = Instant::now();
    let runtime = Runtime::builder().virtual_slice("v6e", "4x4").processes().start().await?;
    let group = runtime.slice_placement_group("v6e", "4x4").named("quickstart").reserve().await?;
    screen::draw(&group);
    let gang = group.spawn::<Greeter>(()).await?;
    let pongs = gang.ask_all(Ping).await;
    screen::say(format_args!("four processes and a gang of four after {} ms", started.elapsed().as_millis()));
    for (place, pong) in gang.ranks().iter().zip(pongs) {
        let (pid, chips) = pong.map_err(AskError::without_message)?;
        screen::say(format_args!(
            "rank {} is process {pid} on {} with chips {chips}",
            place.rank, place.host
        ));
    }

    let victim = gang.ranks()[2].host.clone();
    screen::say(format_args!("killing the process of {victim}"));
    let killed = Instant::now();
    runtime.kill_host(&victim)?;
    let loss = tokio::time::timeout(Duration::from_secs(10), gang.lost()).await?;
    screen::say(format_args!("the gang knows after {} ms: {loss}", killed.elapsed().as_millis()));
    for (place, pong) in gang.ranks().iter().zip(gang.ask_all(Ping).await) {
        match pong {
            Ok((pid, _)) => screen::say(format_args!("rank {} is still process {pid}", place.rank)),
            Err(error) => {
                screen::say(format_args!("rank {}: failed to {}", place.rank, error.without_message()));
            }
        }
    }
    drop(gang);
    runtime.shutdown().await?;
    Ok(())
}
