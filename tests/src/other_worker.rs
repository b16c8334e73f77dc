//! Another build of the tests' worker: it registers one message more.

use mobula::actor::{Context, Message};
use mobula::{Actor, remote};
use mobula::{RemoteActor, SpawnContext, actor::BoxError};
use serde::{Deserialize, Serialize};

#[derive(Actor)]
struct Extra;

#[remote]
impl RemoteActor for Extra {
    type Init = ();

    async fn build((): (), _: &SpawnContext) -> Result<Self, BoxError> {
        Ok(Self)
    }
}

#[derive(Serialize, Deserialize)]
struct Unheard;

#[remote]
impl Message<Unheard> for Extra {
    type Reply = ();

    async fn handle(&mut self, _: Unheard, _: &mut Context<Self, ()>) {}
}

use mobula_tests as _;

#[mobula::main]
async fn main() {}
