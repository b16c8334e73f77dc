//! What does not fit together, reported as data.

use super::name::{HostName, SliceName};
use crate::topology::{SliceSpec, SubSliceError};

/// Something in the reports of hosts that does not fit; nothing is guessed from it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Finding {
    /// Two hosts claim one worker id or one seat: the slice is broken until one leaves.
    #[error("worker {worker} of slice {slice} is claimed by {first} and by {second}")]
    DuplicateWorker {
        /// The slice.
        slice: SliceName,
        /// The worker id of the later one.
        worker: u32,
        /// Who came first.
        first: HostName,
        /// Who came later.
        second: HostName,
    },
    /// A member reports another shape than the slice has: the slice is broken until it leaves.
    #[error("{host} says that slice {slice} is {got}, others say {expected}")]
    ShapeContradiction {
        /// The slice.
        slice: SliceName,
        /// Who contradicts.
        host: HostName,
        /// What the slice was known as.
        expected: SliceSpec,
        /// What the host says.
        got: SliceSpec,
    },
    /// A stranger: a worker id that the slice does not have.
    #[error("{host} says it is worker {worker} of slice {slice}, which has {hosts} hosts")]
    WorkerOutOfRange {
        /// The slice.
        slice: SliceName,
        /// The stranger.
        host: HostName,
        /// The worker id it claims.
        worker: u32,
        /// How many hosts the slice has.
        hosts: u32,
    },
    /// A member whose chips are not one host of the slice.
    #[error("{host} of slice {slice} reports chips that cannot be: failed to {error}")]
    ChipsContradiction {
        /// The slice.
        slice: SliceName,
        /// Who contradicts.
        host: HostName,
        /// What is wrong with the chips.
        error: SubSliceError,
    },
    /// The provider's worker id is not the host's place; the coordinates decide, the slice stays whole.
    #[error("{host} is worker {worker} of slice {slice} but its chips lie at place {place}")]
    Displaced {
        /// The slice.
        slice: SliceName,
        /// The host.
        host: HostName,
        /// Its worker id.
        worker: u32,
        /// The place of its chips.
        place: u32,
    },
    /// A host took the seat of a lost one.
    #[error("worker {worker} of slice {slice} is now {new}, in place of {old}, which was lost")]
    Replaced {
        /// The slice.
        slice: SliceName,
        /// The worker id.
        worker: u32,
        /// Who was lost.
        old: HostName,
        /// Who came.
        new: HostName,
    },
    /// A host reports another slice or another seat than before.
    #[error("{host} moved from {} to {}", shown(from.as_ref()), shown(to.as_ref()))]
    Moved {
        /// The host.
        host: HostName,
        /// The slice it was part of.
        from: Option<SliceName>,
        /// The slice it is part of now.
        to: Option<SliceName>,
    },
}

fn shown(slice: Option<&SliceName>) -> String {
    slice.map_or_else(|| "no slice".to_owned(), |slice| format!("slice {slice}"))
}
