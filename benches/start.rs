//! How long it takes until something runs.
//!
//! - `embedded_start`: a runtime with 4 virtual hosts. Limit: four bare kameo actors that answer.
//! - `process_gang_start`: four processes, a slice on them, and a gang of four that has answered. Limit: four bare
//!   processes of this program, started and waited for.

use std::time::Instant;

use mobula::BoxError;
use mobula::prelude::*;
use mobula_benches::{Figure, ms_since};

const RUNS: usize = 21;

/// A member that answers.
#[derive(Actor)]
struct Echo;

#[remote]
impl RemoteActor for Echo {
    type Init = ();

    async fn build((): (), _: &SpawnContext) -> Result<Self, BoxError> {
        Ok(Self)
    }
}

#[derive(Clone, Serialize, Deserialize)]
struct Ping;

#[remote]
impl Message<Ping> for Echo {
    type Reply = u32;

    async fn handle(&mut self, _: Ping, _: &mut Context<Self, u32>) -> u32 {
        std::process::id()
    }
}

/// As first argument: a process that does nothing.
const BARE: &str = "--bare";

fn main() -> Result<(), BoxError> {
    if std::env::args().nth(1).is_some_and(|argument| argument == BARE) {
        return Ok(());
    }
    run()
}

#[mobula::main]
async fn run() -> Result<(), BoxError> {
    let (mut starts, mut actors) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        starts.push(embedded_start().await?);
        actors.push(bare_actors().await?);
    }
    Figure::new("embedded_start", "ms", &starts, &actors).print();

    let (mut gangs, mut processes) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        gangs.push(process_gang_start().await?);
        processes.push(bare_processes()?);
    }
    Figure::new("process_gang_start", "ms", &gangs, &processes).print();
    Ok(())
}

async fn embedded_start() -> Result<f64, BoxError> {
    let start = Instant::now();
    let runtime = Runtime::builder().virtual_slice("v6e", "4x4").start().await?;
    let took = ms_since(start);
    assert_eq!(runtime.hosts().len(), 4);
    runtime.shutdown().await?;
    Ok(took)
}

async fn bare_actors() -> Result<f64, BoxError> {
    use mobula::kameo::actor::Spawn;
    let start = Instant::now();
    let actors: Vec<_> = (0..4).map(|_| Echo::spawn(Echo)).collect();
    for actor in &actors {
        actor.ask(Ping).await.map_err(|error| error.to_string())?;
    }
    Ok(ms_since(start))
}

async fn process_gang_start() -> Result<f64, BoxError> {
    let start = Instant::now();
    let runtime = Runtime::builder().virtual_slice("v6e", "4x4").processes().start().await?;
    let group = runtime.slice_placement_group("v6e", "4x4").reserve().await?;
    let gang = group.spawn::<Echo>(()).await?;
    let pids: Result<std::collections::BTreeSet<u32>, _> = gang.ask_all(Ping).await.into_iter().collect();
    let took = ms_since(start);
    assert_eq!(pids.map_err(AskError::without_message)?.len(), 4, "four processes answered");
    drop(gang);
    runtime.shutdown().await?;
    Ok(took)
}

fn bare_processes() -> Result<f64, BoxError> {
    let start = Instant::now();
    let program = std::env::current_exe()?;
    let children: Result<Vec<_>, _> =
        (0..4).map(|_| std::process::Command::new(&program).arg(BARE).spawn()).collect();
    for mut child in children? {
        child.wait()?;
    }
    Ok(ms_since(start))
}
