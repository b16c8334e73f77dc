//! What goes in and comes out of a program.

use std::fmt;

use crate::dtype::TensorType;
use crate::mesh::MeshShape;
use crate::sharding::{Sharding, Tiles};

/// How an argument or output is spread, as far as the program says.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ShardingSpec {
    /// Over named axes.
    Axes(Sharding),
    /// In XLA's own notation, which names devices.
    Tiles(Tiles),
    /// Left to the compiler, which is asked after it has chosen.
    Unspecified,
}

impl From<Sharding> for ShardingSpec {
    fn from(sharding: Sharding) -> ShardingSpec {
        ShardingSpec::Axes(sharding)
    }
}

/// One argument of a program.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ArgumentSpec {
    /// Element type and whole shape.
    pub tensor: TensorType,
    /// How it is spread.
    pub sharding: ShardingSpec,
    /// Whether a launch consumes it, so that its memory can hold an output.
    pub donated: bool,
}

/// One output of a program.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OutputSpec {
    /// Element type and whole shape.
    pub tensor: TensorType,
    /// How it is spread.
    pub sharding: ShardingSpec,
}

/// What goes in and comes out of a program, and over how many devices it is written.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Signature {
    /// The mesh that the shardings name; `None` where the program names none.
    pub mesh: Option<MeshShape>,
    /// The number of devices that the program is partitioned for; `None` where it does not say.
    pub partitions: Option<usize>,
    /// The arguments in order.
    pub arguments: Vec<ArgumentSpec>,
    /// The outputs in order.
    pub outputs: Vec<OutputSpec>,
}

impl Signature {
    /// A signature without arguments and outputs, over the axes of `mesh`.
    pub fn new(mesh: Option<MeshShape>) -> Signature {
        Signature { mesh, ..Signature::default() }
    }

    /// Adds an argument that launches leave alone.
    #[must_use]
    pub fn argument(mut self, tensor: TensorType, sharding: impl Into<ShardingSpec>) -> Signature {
        self.arguments.push(ArgumentSpec { tensor, sharding: sharding.into(), donated: false });
        self
    }

    /// Adds an argument that launches consume.
    #[must_use]
    pub fn donated_argument(mut self, tensor: TensorType, sharding: impl Into<ShardingSpec>) -> Signature {
        self.arguments.push(ArgumentSpec { tensor, sharding: sharding.into(), donated: true });
        self
    }

    /// Adds an output.
    #[must_use]
    pub fn output(mut self, tensor: TensorType, sharding: impl Into<ShardingSpec>) -> Signature {
        self.outputs.push(OutputSpec { tensor, sharding: sharding.into() });
        self
    }
}

impl fmt::Display for ShardingSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShardingSpec::Axes(sharding) => sharding.fmt(f),
            ShardingSpec::Tiles(tiles) => tiles.fmt(f),
            ShardingSpec::Unspecified => f.write_str("?"),
        }
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (index, argument) in self.arguments.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            let donated = if argument.donated { " donated" } else { "" };
            write!(f, "{separator}{} {}{donated}", argument.tensor, argument.sharding)?;
        }
        f.write_str(") -> (")?;
        for (index, output) in self.outputs.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{} {}", output.tensor, output.sharding)?;
        }
        f.write_str(")")
    }
}
