//! Named axes over devices.

use std::fmt;
use std::sync::Arc;

use crate::client::{Client, Device};

/// The most axes that a mesh may have.
pub const AXES_MAX: usize = 8;

/// One axis of a mesh.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Axis {
    /// The name that shardings refer to.
    pub name: Arc<str>,
    /// How many devices lie along it.
    pub extent: usize,
}

/// Why no mesh was made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// There are more axes than a mesh may have.
    #[error("make a mesh of {got} axes: expected at most {limit}")]
    TooManyAxes {
        /// How many were given.
        got: usize,
        /// [`AXES_MAX`].
        limit: usize,
    },
    /// An axis has no devices.
    #[error("make a mesh: axis \"{axis}\" has extent 0")]
    EmptyAxis {
        /// Its name.
        axis: String,
    },
    /// Two axes have one name.
    #[error("make a mesh: there are two axes \"{axis}\"")]
    AxisTwice {
        /// Their name.
        axis: String,
    },
    /// The axes do not span the devices.
    #[error("make a mesh {shape}: its axes span {expected} devices, got {got}")]
    DeviceCount {
        /// The axes.
        shape: MeshShape,
        /// The product of the extents.
        expected: usize,
        /// How many devices were given.
        got: usize,
    },
    /// The product of the extents is out of range.
    #[error("make a mesh: its axes span more devices than can be counted")]
    TooLarge,
    /// A device was given twice.
    #[error("make a mesh: device {device} is in it twice")]
    DeviceTwice {
        /// Its id.
        device: i32,
    },
    /// The devices are not all of one client.
    #[error("make a mesh: device {device} is of another client than the first")]
    OtherClient {
        /// Its id.
        device: i32,
    },
}

/// The axes of a mesh without devices: what a program knows of it. Shown as `(data=4, model=4)`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct MeshShape {
    axes: Vec<Axis>,
}

impl MeshShape {
    /// Axes from the slowest to the fastest.
    ///
    /// # Errors
    /// [`MeshError::TooManyAxes`], [`MeshError::EmptyAxis`], [`MeshError::AxisTwice`] or
    /// [`MeshError::TooLarge`].
    pub fn new<N: Into<Arc<str>>>(
        axes: impl IntoIterator<Item = (N, usize)>,
    ) -> Result<MeshShape, MeshError> {
        let axes: Vec<Axis> =
            axes.into_iter().map(|(name, extent)| Axis { name: name.into(), extent }).collect();
        if axes.len() > AXES_MAX {
            return Err(MeshError::TooManyAxes { got: axes.len(), limit: AXES_MAX });
        }
        for (index, axis) in axes.iter().enumerate() {
            if axis.extent == 0 {
                return Err(MeshError::EmptyAxis { axis: axis.name.to_string() });
            }
            if axes[..index].iter().any(|other| other.name == axis.name) {
                return Err(MeshError::AxisTwice { axis: axis.name.to_string() });
            }
        }
        let count = axes.iter().try_fold(1_usize, |count, axis| count.checked_mul(axis.extent));
        count.filter(|count| i32::try_from(*count).is_ok()).ok_or(MeshError::TooLarge)?;
        Ok(MeshShape { axes })
    }

    /// The axes, slowest first.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// How many devices lie along the axis `name`; `None` when there is no such axis.
    pub fn extent(&self, name: &str) -> Option<usize> {
        self.axes.iter().find(|axis| &*axis.name == name).map(|axis| axis.extent)
    }

    /// How many devices the mesh has: at least one.
    pub fn device_count(&self) -> usize {
        self.axes.iter().map(|axis| axis.extent).product()
    }

    /// The coordinates of the device at `position` in row-major order.
    ///
    /// # Panics
    /// When `position` is not below [`MeshShape::device_count`].
    pub fn coordinates(&self, position: usize) -> Vec<usize> {
        assert!(position < self.device_count(), "position {position} is outside the mesh {self}");
        let mut rest = position;
        let mut coordinates: Vec<usize> = self
            .axes
            .iter()
            .rev()
            .map(|axis| {
                let coordinate = rest % axis.extent;
                rest /= axis.extent;
                coordinate
            })
            .collect();
        coordinates.reverse();
        coordinates
    }

    /// The position in row-major order of the device at `coordinates`; `None` when they lie outside.
    pub fn position(&self, coordinates: &[usize]) -> Option<usize> {
        if coordinates.len() != self.axes.len() {
            return None;
        }
        self.axes.iter().zip(coordinates).try_fold(0, |position, (axis, coordinate)| {
            (*coordinate < axis.extent).then(|| position * axis.extent + coordinate)
        })
    }
}

impl fmt::Display for MeshShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (index, axis) in self.axes.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{}={}", axis.name, axis.extent)?;
        }
        f.write_str(")")
    }
}

/// Named axes over the devices of one client, in row-major order. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Mesh(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    shape: MeshShape,
    devices: Vec<Device>,
}

impl Mesh {
    /// Lays `axes` (slowest first) over `devices`.
    ///
    /// # Errors
    /// See [`MeshError`].
    pub fn new<N: Into<Arc<str>>>(
        devices: impl Into<Vec<Device>>,
        axes: impl IntoIterator<Item = (N, usize)>,
    ) -> Result<Mesh, MeshError> {
        Mesh::with_shape(devices, MeshShape::new(axes)?)
    }

    /// Lays the axes of `shape` over `devices`: the way to run a program on the mesh that it names.
    ///
    /// # Errors
    /// [`MeshError::DeviceCount`], [`MeshError::DeviceTwice`] or [`MeshError::OtherClient`].
    pub fn with_shape(devices: impl Into<Vec<Device>>, shape: MeshShape) -> Result<Mesh, MeshError> {
        let devices = devices.into();
        let (expected, got) = (shape.device_count(), devices.len());
        if expected != got {
            return Err(MeshError::DeviceCount { shape, expected, got });
        }
        for (index, device) in devices.iter().enumerate() {
            if !device.is_of(devices[0].client()) {
                return Err(MeshError::OtherClient { device: device.id() });
            }
            if devices[..index].contains(device) {
                return Err(MeshError::DeviceTwice { device: device.id() });
            }
        }
        Ok(Mesh(Arc::new(Inner { shape, devices })))
    }

    /// The axes without the devices.
    pub fn shape(&self) -> &MeshShape {
        &self.0.shape
    }

    /// The devices in row-major order.
    pub fn devices(&self) -> &[Device] {
        &self.0.devices
    }

    /// The client of the devices.
    pub fn client(&self) -> &Client {
        // A mesh has at least one device: the empty product of extents is one.
        self.0.devices[0].client()
    }

    /// The device at `coordinates`, one for each axis; `None` when they lie outside.
    pub fn device_at(&self, coordinates: &[usize]) -> Option<&Device> {
        self.0.shape.position(coordinates).map(|position| &self.0.devices[position])
    }

    /// Where `device` lies in row-major order; `None` when it is not of this mesh.
    pub fn position_of(&self, device: &Device) -> Option<usize> {
        self.0.devices.iter().position(|other| other == device)
    }

    /// Whether both lay over the same devices in the same order, whatever their axes.
    pub fn has_devices_of(&self, other: &Mesh) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.devices == other.0.devices
    }
}

impl PartialEq for Mesh {
    fn eq(&self, other: &Mesh) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || (self.0.shape == other.0.shape && self.0.devices == other.0.devices)
    }
}

impl Eq for Mesh {}

#[cfg(test)]
mod tests;
