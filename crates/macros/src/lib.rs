//! The macros of mobula. Use them through the `mobula` crate (or `mobula-core`), which they find in the manifest of the
//! crate that uses them, whatever name it has there.
//!
//! | macro | on | does |
//! |---|---|---|
//! | `#[main]` | `async fn main` | lets the process be a worker of a runtime, or runs `main` on a tokio runtime |
//! | `#[remote]` | `impl RemoteActor for A` | names and registers the actor type |
//! | `#[remote]` | `impl Message<M> for A` | names and registers the message |
//! | `#[derive(Actor)]` | an actor without hooks | implements kameo's `Actor`, starting from the value itself |
//! | `#[derive(Reply)]` | a reply type | implements kameo's `Reply` |
//!
//! What these macros must never do: give out ids by order or address, or need a name that the user could not write by hand.

use proc_macro::TokenStream;

mod derive;
mod entry;
mod paths;
mod remote;

/// Makes an `async fn main` the entry of a program whose process may also be started as a worker.
///
/// A worker joins the runtime that started it and never runs the function's body. Otherwise the body runs on a new
/// multi-threaded tokio runtime. `#[main(worker_threads = N)]` sets the number of its threads.
#[proc_macro_attribute]
pub fn main(arguments: TokenStream, item: TokenStream) -> TokenStream {
    entry::expand(arguments.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Names and registers an actor type (on `impl RemoteActor for A`) or a message (on `impl Message<M> for A`).
///
/// The name is `package::A` for the actor and the last part of `M`'s path for the message; `#[remote(name = "...")]`
/// gives another, which must then never change while old and new builds may meet.
#[proc_macro_attribute]
pub fn remote(arguments: TokenStream, item: TokenStream) -> TokenStream {
    remote::expand(arguments.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Implements kameo's `Actor` for a type that starts as the value it is given and has no hooks.
#[proc_macro_derive(Actor)]
pub fn derive_actor(item: TokenStream) -> TokenStream {
    derive::actor(item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Implements kameo's `Reply` for a type that is always a success.
#[proc_macro_derive(Reply)]
pub fn derive_reply(item: TokenStream) -> TokenStream {
    derive::reply(item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
