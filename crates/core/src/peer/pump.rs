//! The two tasks of a connection: one writes what waits in the outbox, one reads frames and hands them to the node.

use std::io;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

use super::calls::Outcome;
use super::{Link, Peer};
use crate::actor::deliver::Answer;
use crate::actor::spawn::SpawnRequest;
use crate::host::LossCause;
use crate::limits;
use crate::node::Node;
use crate::wire::{self, Failure, Frame, FrameDecoder, Header};

/// Writes frames until the outbox or the connection ends, gathering what waits into one write.
pub(crate) async fn write(
    mut frames: mpsc::Receiver<Vec<u8>>,
    mut writer: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    let mut batch = BytesMut::with_capacity(limits::WRITE_BATCH_BYTES);
    while let Some(frame) = frames.recv().await {
        batch.extend_from_slice(&frame);
        while batch.len() < limits::WRITE_BATCH_BYTES {
            let Ok(frame) = frames.try_recv() else { break };
            batch.extend_from_slice(&frame);
        }
        writer.write_all(&batch).await?;
        writer.flush().await?;
        batch.clear();
        if batch.capacity() > 4 * limits::WRITE_BATCH_BYTES {
            batch = BytesMut::with_capacity(limits::WRITE_BATCH_BYTES);
        }
    }
    Ok(())
}

/// Reads frames until the connection ends, and says why it did.
pub(crate) async fn read(
    node: Node,
    peer: Arc<Peer>,
    link: Arc<Link>,
    mut reader: impl AsyncRead + Unpin,
) -> LossCause {
    let mut decoder = FrameDecoder::new(limits::FRAME_BYTES_MAX);
    loop {
        match decoder.next_frame() {
            Ok(Some(frame)) => {
                if let Err(cause) = handle(&node, &peer, &link, frame) {
                    return cause;
                }
                continue;
            }
            Ok(None) => {}
            Err(error) => return LossCause::Protocol(error.to_string()),
        }
        let read = tokio::select! {
            read = reader.read_buf(decoder.buffer()) => read,
            () = link.ended() => return LossCause::ShuttingDown,
        };
        match read {
            // The stream ended: the connection's own end tells more than the stream's.
            Ok(0) | Err(_) => return link.broken().await,
            Ok(_) => {}
        }
    }
}

/// Acts on one frame, without waiting: what takes time gets a task of its own.
fn handle(node: &Node, peer: &Arc<Peer>, link: &Arc<Link>, frame: Frame) -> Result<(), LossCause> {
    let Frame { header, payload } = frame;
    let answer = |call, actor, wants_reply| Answer {
        node: node.clone(),
        link: Arc::clone(link),
        call,
        actor,
        wants_reply,
    };
    match header {
        Header::Ask { call, actor, message } => deliver(node, message, payload, answer(call, actor, true)),
        Header::Tell { call, actor, message } => deliver(node, message, payload, answer(call, actor, false)),
        Header::Spawn { call, actor_type, request } => {
            let request = SpawnRequest { header: request, init: payload };
            let answer = answer(call, 0, true);
            match node.registry().spawn(actor_type, node.clone(), request) {
                Some(spawn) => drop(tokio::spawn(async move {
                    match spawn.await {
                        Ok(index) => answer.value(&index).await,
                        Err(failure) => answer.failure(failure).await,
                    }
                })),
                None => answer.failure_later(Failure::NotRegistered),
            }
        }
        Header::End { call, actor, kill } => {
            let (node, answer) = (node.clone(), answer(call, actor, false));
            tokio::spawn(async move {
                node.actors().end(actor, kill).await;
                answer.done().await;
            });
        }
        Header::Done { call } => {
            if let Some(orphan) = link.finish(call, Outcome::Done(payload)) {
                end_orphan(link, orphan);
            }
        }
        Header::Failed { call, failure } => drop(link.finish(call, Outcome::Failed(failure))),
        Header::Hosts { hosts, addresses } => {
            node.check_authority(peer.id())?;
            node.merge_hosts(hosts, addresses);
        }
        Header::NodeLost { node: lost, cause } => {
            node.check_authority(peer.id())?;
            node.lose_node(lost, &cause);
        }
        Header::Goodbye => return Err(LossCause::Left),
    }
    Ok(())
}

fn deliver(node: &Node, message: u64, payload: Bytes, answer: Answer) {
    let Some(deliver) = node.registry().deliver(message) else {
        return answer.failure_later(Failure::NotRegistered);
    };
    match node.actors().slot(answer.actor) {
        Some(slot) => slot.offer(deliver, payload, answer),
        None => drop(tokio::spawn(async move {
            let death = answer.node.actors().death(answer.actor).await;
            answer.failure(Failure::Died { death, unhandled: true }).await;
        })),
    }
}

/// An actor was spawned for a caller who had given up: it must not live on unseen.
fn end_orphan(link: &Arc<Link>, actor: u64) {
    // Nobody reads the answer to this number; it is past every number that a call will reach.
    let header = Header::End { call: u64::MAX, actor, kill: true };
    if let Ok(frame) = wire::bare(&header) {
        let link = Arc::clone(link);
        tokio::spawn(async move { link.send(frame).await });
    }
}
