//! What can be wrong with a generation, a shape, or a part of one.

use std::fmt;

use super::generation::Generation;
use super::shape::Topology;

const EXCERPT_LEN_MAX: usize = 40;

/// The beginning of a text that came from outside, short enough to be shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Excerpt(String);

impl Excerpt {
    pub(crate) fn of(text: &str) -> Self {
        let mut excerpt: String = text.chars().take(EXCERPT_LEN_MAX).collect();
        if excerpt.len() < text.len() {
            excerpt.push_str("...");
        }
        Self(excerpt)
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Escaped, because the text came from outside and ends in logs.
        write!(f, "\"{}\"", self.0.escape_debug())
    }
}

impl fmt::Debug for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Shapes or numbers as a list: `4x4, 2x8`.
pub(crate) fn list<T: fmt::Display>(items: &[T]) -> String {
    let items: Vec<_> = items.iter().map(ToString::to_string).collect();
    if items.is_empty() { "none".to_owned() } else { items.join(", ") }
}

/// Why a text is no topology. Never worth a retry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseTopologyError {
    /// More text than a topology can need.
    #[error("read the topology {input}: it has {len} bytes, at most {len_max} are read")]
    TooLong {
        /// The beginning of what came.
        input: Excerpt,
        /// How long it was, in bytes.
        len: usize,
        /// How long it may be.
        len_max: usize,
    },
    /// One axis, or more than three.
    #[error("read the topology {input}: expected 2 or 3 axes like 4x4 or 2x2x4, got {got} or more")]
    Axes {
        /// What came.
        input: Excerpt,
        /// How many axes were found before reading stopped.
        got: usize,
    },
    /// Something between the `x` that is not a number.
    #[error("read the topology {input}: expected a number of chips, got {part}")]
    NotANumber {
        /// What came.
        input: Excerpt,
        /// The part that is no number.
        part: Excerpt,
    },
    /// An extent of 0, or beyond every machine.
    #[error("read the topology {input}: an extent lies between 1 and {max}, got {part}")]
    Extent {
        /// What came.
        input: Excerpt,
        /// The extent as written.
        part: Excerpt,
        /// The largest extent.
        max: u16,
    },
}

/// Why a text names no generation. Never worth a retry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseGenerationError {
    /// More text than a name can need.
    #[error("read the generation {input}: it has {len} bytes, at most {len_max} are read")]
    TooLong {
        /// The beginning of what came.
        input: Excerpt,
        /// How long it was, in bytes.
        len: usize,
        /// How long it may be.
        len_max: usize,
    },
    /// A name that is not in the table.
    #[error("read the generation {input}: expected one of {}", list(&Generation::ALL))]
    Unknown {
        /// What came.
        input: Excerpt,
    },
}

/// Why a text is no pod type. Never worth a retry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParsePodTypeError {
    /// Not of the form `v6e-16`.
    #[error("read the pod type {input}: expected a generation and a count like v6e-16 or v4-32")]
    Format {
        /// What came.
        input: Excerpt,
    },
    /// A count that is 0, too large, or does not divide into chips.
    #[error("read the pod type {input}: {generation} counts {cores_per_chip} a chip, got {count}")]
    Count {
        /// What came.
        input: Excerpt,
        /// The generation named.
        generation: Generation,
        /// What one chip adds to the count.
        cores_per_chip: u32,
        /// The count named.
        count: u32,
    },
}

/// Why a generation and a topology make no slice. Never worth a retry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// The generation could not be read.
    #[error(transparent)]
    Generation(#[from] ParseGenerationError),
    /// The topology could not be read.
    #[error(transparent)]
    Topology(#[from] ParseTopologyError),
    /// Two axes for a generation of three, or the reverse.
    #[error(
        "shape a {generation} slice as {topology}: its mesh has {expected} axes, got {}; nearest: {}",
        topology.dims(),
        list(nearest)
    )]
    Dims {
        /// The generation asked for.
        generation: Generation,
        /// The topology asked for.
        topology: Topology,
        /// How many axes the generation has.
        expected: u8,
        /// Valid shapes, nearest first.
        nearest: Vec<Topology>,
    },
    /// A shape the generation does not come in.
    #[error("shape a {generation} slice as {topology}: no such slice exists; nearest: {}", list(nearest))]
    Shape {
        /// The generation asked for.
        generation: Generation,
        /// The topology asked for.
        topology: Topology,
        /// Valid shapes, nearest first.
        nearest: Vec<Topology>,
    },
    /// A pod type whose count is not that of the topology beside it.
    #[error("shape a slice of {expected} chips ({pod_type}) as {topology}: that has {got} chips")]
    PodType {
        /// The pod type as understood.
        pod_type: String,
        /// Chips by the pod type.
        expected: u32,
        /// The topology asked for.
        topology: Topology,
        /// Chips by the topology.
        got: u32,
    },
    /// A number of chips a host that the shape does not come with.
    #[error(
        "give a host of a {generation} {topology} slice {got} chips: it comes with {} a host",
        list(valid)
    )]
    ChipsPerHost {
        /// The generation asked for.
        generation: Generation,
        /// The topology asked for.
        topology: Topology,
        /// Chips a host that were asked for.
        got: u32,
        /// Chips a host that are possible.
        valid: Vec<u32>,
    },
}

/// Why a slice has no such part, or a host no such place in it. Never worth a retry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SubSliceError {
    /// A shape that does not lie in the slice edge to edge.
    #[error("cut a {generation} {slice} slice into {asked}: the parts that fit are {}", list(fitting))]
    DoesNotFit {
        /// The generation of the slice.
        generation: Generation,
        /// The topology of the slice.
        slice: Topology,
        /// The part asked for.
        asked: Topology,
        /// The parts that fit.
        fitting: Vec<Topology>,
    },
    /// A part past the last.
    #[error("take part {index} of a {slice} slice cut into {shape}: there are {len}")]
    NoSuchPart {
        /// The topology of the slice.
        slice: Topology,
        /// The shape of the parts.
        shape: Topology,
        /// The part asked for.
        index: u32,
        /// How many there are.
        len: u32,
    },
    /// A coordinate outside the slice.
    #[error("place chip {chip} in a {topology} slice: out of bounds")]
    OutOfBounds {
        /// The coordinate.
        chip: super::grid::Coord,
        /// The topology of the slice.
        topology: Topology,
    },
    /// Chips that are not exactly one host block.
    #[error(
        "place a host of {got} chips from {first} in a {topology} slice: expected one aligned {block} block"
    )]
    NotAHostBlock {
        /// The topology of the slice.
        topology: Topology,
        /// The shape of a host of the slice.
        block: Topology,
        /// The smallest coordinate of the host.
        first: super::grid::Coord,
        /// How many chips came.
        got: usize,
    },
}
