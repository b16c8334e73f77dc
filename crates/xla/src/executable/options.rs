//! `CompileOptionsProto`, written by hand.
//!
//! Source: `xla/pjrt/proto/compile_options.proto`. Of the many fields only those are set that say for how
//! many devices, for which ones, and by which partitioner.

use crate::program::Partitioner;
use crate::wire::{put_bytes, put_integer, put_packed};

/// What the compiler is told besides the program.
#[derive(Debug, Clone)]
pub(super) struct Options {
    /// The ids of the devices, one for each partition.
    pub(super) devices: Vec<i32>,
    /// How the program is to be partitioned.
    pub(super) partitioner: Partitioner,
}

impl Options {
    /// The serialized message.
    pub(super) fn encode(&self) -> Vec<u8> {
        let partitions = self.devices.len() as u64;
        let mut build = Vec::new();
        // ExecutableBuildOptionsProto: num_replicas, num_partitions, use_spmd_partitioning.
        put_integer(&mut build, 4, 1);
        put_integer(&mut build, 5, partitions);
        if partitions > 1 {
            put_integer(&mut build, 6, 1);
        }
        put_bytes(&mut build, 9, &self.device_assignment());
        if self.partitioner == Partitioner::Shardy {
            // use_shardy_partitioner.
            put_integer(&mut build, 19, 1);
        }
        let mut options = Vec::new();
        // CompileOptionsProto: executable_build_options.
        put_bytes(&mut options, 3, &build);
        options
    }

    /// `DeviceAssignmentProto`: replica_count, computation_count, and for each computation the device of each
    /// replica.
    fn device_assignment(&self) -> Vec<u8> {
        let mut assignment = Vec::new();
        put_integer(&mut assignment, 1, 1);
        put_integer(&mut assignment, 2, self.devices.len() as u64);
        for device in &self.devices {
            let mut computation = Vec::new();
            // Ids are int64 on the wire: negative ones, which no plugin has, would be sign-extended.
            put_packed(&mut computation, 1, [i64::from(*device).cast_unsigned()]);
            put_bytes(&mut assignment, 3, &computation);
        }
        assignment
    }
}
