//! Actors for tests.

use std::time::Duration;

use mobula::BoxError;
use mobula::actor::{Context, Message};
use mobula::{Actor, remote};
use mobula::{ActorRef, RemoteActor, SpawnContext};
use serde::{Deserialize, Serialize};

/// Counts, and does every other thing that a test may want of an actor.
#[derive(Actor)]
pub struct Probe {
    count: u64,
    seen: Vec<u64>,
    host: String,
}

/// How to build a [`Probe`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Start {
    /// With this count.
    At(u64),
    /// Not at all: `build` fails with this text.
    Fail(String),
    /// Not at all: `build` panics with this text.
    Panic(String),
    /// Never.
    Hang,
}

#[remote]
impl RemoteActor for Probe {
    type Init = Start;

    async fn build(start: Start, context: &SpawnContext) -> Result<Self, BoxError> {
        match start {
            Start::At(count) => Ok(Self { count, seen: Vec::new(), host: context.host().to_owned() }),
            Start::Fail(text) => Err(text.into()),
            Start::Panic(text) => panic!("{text}"),
            Start::Hang => std::future::pending().await,
        }
    }
}

/// Adds, and gives the sum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Add(pub u64);

#[remote]
impl Message<Add> for Probe {
    type Reply = u64;

    async fn handle(&mut self, Add(n): Add, _: &mut Context<Self, u64>) -> u64 {
        self.count += n;
        self.count
    }
}

/// Remembers a number; [`Seen`] gives them all, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Note(pub u64);

#[remote]
impl Message<Note> for Probe {
    type Reply = ();

    async fn handle(&mut self, Note(n): Note, _: &mut Context<Self, ()>) {
        self.seen.push(n);
    }
}

/// The noted numbers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Seen;

#[remote]
impl Message<Seen> for Probe {
    type Reply = Vec<u64>;

    async fn handle(&mut self, _: Seen, _: &mut Context<Self, Vec<u64>>) -> Vec<u64> {
        self.seen.clone()
    }
}

/// Where the actor is: its host and the process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Where;

#[remote]
impl Message<Where> for Probe {
    type Reply = Result<(String, u32), String>;

    async fn handle(&mut self, _: Where, _: &mut Context<Self, Self::Reply>) -> Self::Reply {
        Ok((self.host.clone(), std::process::id()))
    }
}

/// Fails with a text.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Fail(pub String);

#[remote]
impl Message<Fail> for Probe {
    type Reply = Result<u64, String>;

    async fn handle(&mut self, Fail(text): Fail, _: &mut Context<Self, Self::Reply>) -> Self::Reply {
        Err(text)
    }
}

/// Panics with a text.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Panic(pub String);

#[remote]
impl Message<Panic> for Probe {
    type Reply = ();

    async fn handle(&mut self, Panic(text): Panic, _: &mut Context<Self, ()>) {
        panic!("{text}");
    }
}

/// Takes this many milliseconds; `u64::MAX` is for ever.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Busy(pub u64);

#[remote]
impl Message<Busy> for Probe {
    type Reply = ();

    async fn handle(&mut self, Busy(millis): Busy, _: &mut Context<Self, ()>) {
        match millis {
            u64::MAX => std::future::pending().await,
            millis => tokio::time::sleep(Duration::from_millis(millis)).await,
        }
    }
}

/// Asks another probe to add, and gives its sum: a reference inside a message.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AddAt(pub ActorRef<Probe>, pub u64);

#[remote]
impl Message<AddAt> for Probe {
    type Reply = Result<u64, String>;

    async fn handle(&mut self, AddAt(other, n): AddAt, _: &mut Context<Self, Self::Reply>) -> Self::Reply {
        other.ask(Add(n)).await.map_err(|error| error.to_string())
    }
}

/// Sends the bytes back.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Echo(pub Vec<u8>);

#[remote]
impl Message<Echo> for Probe {
    type Reply = Vec<u8>;

    async fn handle(&mut self, Echo(bytes): Echo, _: &mut Context<Self, Vec<u8>>) -> Vec<u8> {
        bytes
    }
}
