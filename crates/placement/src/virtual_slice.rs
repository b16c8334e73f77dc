//! Slices that are declared rather than found: hosts of this machine that act as the hosts of a slice.
//!
//! A virtual slice is a set of host declarations whose labels say which seat of which slice each one has. The labels are
//! all that the rest of placement sees, so a virtual slice and a real one that joins go the same way.

use mobula_core::{HostInfo, HostSpec, RuntimeBuilder};

use crate::inventory::{HostName, HostReport, NameError, SliceName};
use crate::topology::{Generation, ParseGenerationError, ParseTopologyError, SliceSpec, SpecError, Topology};

/// Label: the slice of a host.
pub const LABEL_SLICE: &str = "mobula.slice.name";
/// Label: the host's worker id in its slice.
pub const LABEL_WORKER: &str = "mobula.slice.worker";
/// Label: the generation of a host's chips.
pub const LABEL_GENERATION: &str = "mobula.slice.generation";
/// Label: the topology of a host's slice.
pub const LABEL_TOPOLOGY: &str = "mobula.slice.topology";
/// Label: chips on the host.
pub const LABEL_CHIPS: &str = "mobula.slice.chips-per-host";
/// Resource: chips on the host.
pub const RESOURCE_TPU: &str = "tpu";

/// A slice to be declared.
#[derive(Debug, Clone)]
pub struct VirtualSlice {
    generation: String,
    topology: String,
    name: Option<String>,
    chips_per_host: Option<u32>,
    absent: Vec<u32>,
}

impl VirtualSlice {
    /// A whole slice of that generation and topology, in any spelling.
    pub fn new(generation: impl Into<String>, topology: impl Into<String>) -> Self {
        Self {
            generation: generation.into(),
            topology: topology.into(),
            name: None,
            chips_per_host: None,
            absent: Vec::new(),
        }
    }

    /// Under this name, instead of `slice-0`, `slice-1`, ... in the order of declaration.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// With so many chips on each host, where the topology leaves a choice.
    #[must_use]
    pub fn chips_per_host(mut self, chips: u32) -> Self {
        self.chips_per_host = Some(chips);
        self
    }

    /// Without one of its hosts, as a slice that is being repaired.
    #[must_use]
    pub fn without_worker(mut self, worker: u32) -> Self {
        self.absent.push(worker);
        self
    }

    fn hosts(&self, index: usize) -> Result<Vec<HostSpec>, VirtualSliceError> {
        let spec = SliceSpec::parse(&self.generation, &self.topology)?;
        let spec = match self.chips_per_host {
            Some(chips) => spec.with_chips_per_host(chips)?,
            None => spec,
        };
        let name = self.name.clone().unwrap_or_else(|| format!("slice-{index}"));
        let name = SliceName::new(&name)?;
        if let Some(&worker) = self.absent.iter().find(|&&worker| worker >= spec.hosts()) {
            return Err(VirtualSliceError::NoSuchWorker { slice: name, worker, hosts: spec.hosts() });
        }
        let present = (0..spec.hosts()).filter(|worker| !self.absent.contains(worker));
        Ok(present.map(|worker| host(&name, spec, worker)).collect())
    }
}

fn host(slice: &SliceName, spec: SliceSpec, worker: u32) -> HostSpec {
    HostSpec::new(format!("{slice}-host-{worker}"))
        .label(LABEL_SLICE, slice.as_str())
        .label(LABEL_WORKER, worker.to_string())
        .label(LABEL_GENERATION, spec.generation().to_string())
        .label(LABEL_TOPOLOGY, spec.topology().to_string())
        .label(LABEL_CHIPS, spec.chips_per_host().to_string())
        .resource(RESOURCE_TPU, u64::from(spec.chips_per_host()))
}

/// Failed to declare a virtual slice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VirtualSliceError {
    /// No such generation, or a shape that it does not come in.
    #[error("declare a virtual slice: failed to {0}")]
    Spec(#[from] SpecError),
    /// The name is none.
    #[error("declare a virtual slice: failed to {0}")]
    Name(#[from] NameError),
    /// It has no such host to be without.
    #[error("declare virtual slice {slice} without worker {worker}: it has {hosts} hosts, counted from 0")]
    NoSuchWorker {
        /// The slice.
        slice: SliceName,
        /// The worker.
        worker: u32,
        /// How many hosts the slice has.
        hosts: u32,
    },
}

/// Declares virtual slices on a [`RuntimeBuilder`].
pub trait VirtualSlices: Sized {
    /// Adds the hosts of a whole virtual slice. A wrong generation or topology is the error of `start`.
    #[must_use = "a declaration does nothing until `start`"]
    fn virtual_slice(self, generation: &str, topology: &str) -> Self {
        self.virtual_slice_with(VirtualSlice::new(generation, topology))
    }

    /// Adds the hosts of a virtual slice that is declared in detail.
    #[must_use = "a declaration does nothing until `start`"]
    fn virtual_slice_with(self, slice: VirtualSlice) -> Self;
}

impl VirtualSlices for RuntimeBuilder {
    fn virtual_slice_with(self, slice: VirtualSlice) -> Self {
        let names = self.declared_hosts().iter().filter_map(|host| host.labels.get(LABEL_SLICE));
        let declared: std::collections::BTreeSet<_> = names.collect();
        match slice.hosts(declared.len()) {
            Ok(hosts) => hosts.into_iter().fold(self, Self::host),
            Err(error) => self.invalid(error),
        }
    }
}

/// What a host's labels say of its seat in a slice.
///
/// # Errors
/// [`ReportError`] when they contradict each other; such a host must not be placed on.
pub(crate) fn report(host: &HostInfo) -> Result<HostReport, ReportError> {
    let labels = &host.spec.labels;
    let name = HostName::new(&host.spec.name)?;
    let mut report = HostReport::new(name, &format!("pid {}", host.pid));
    report.incarnation = host.node.as_u64();
    for (label, value) in labels.iter().filter(|(label, _)| !label.starts_with("mobula.slice.")) {
        report = report.with_label(label, value);
    }
    let Some(slice) = labels.get(LABEL_SLICE) else { return Ok(report) };
    let part = |label: &'static str| labels.get(label).ok_or(ReportError::Missing { label });
    let number = |label: &'static str| -> Result<u32, ReportError> {
        let text = part(label)?;
        text.parse().map_err(|_| ReportError::Number { label, text: text.chars().take(32).collect() })
    };
    let generation: Generation = part(LABEL_GENERATION)?.parse()?;
    let topology: Topology = part(LABEL_TOPOLOGY)?.parse()?;
    let spec = SliceSpec::new(generation, topology)?.with_chips_per_host(number(LABEL_CHIPS)?)?;
    Ok(report.with_membership(SliceName::new(slice)?, number(LABEL_WORKER)?, spec))
}

/// Why the labels of a host make no report.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ReportError {
    #[error("failed to {0}")]
    Name(#[from] NameError),
    #[error("its label {label} is missing")]
    Missing { label: &'static str },
    #[error("its label {label} is {text:?}, which is no number")]
    Number { label: &'static str, text: String },
    #[error("failed to {0}")]
    Generation(#[from] ParseGenerationError),
    #[error("failed to {0}")]
    Topology(#[from] ParseTopologyError),
    #[error("failed to {0}")]
    Spec(#[from] SpecError),
}

#[cfg(test)]
mod tests;
