//! Clients and their devices.

use std::fmt;
use std::sync::Arc;

pub use crate::pjrt::ClientError;
use crate::pjrt::{self, LiveHandles};
use crate::plugin::Plugin;

/// The most devices that a CPU client may be asked for.
pub const CPU_DEVICES_MAX: usize = 4096;

/// A connection to the devices of one plugin. Cheap to clone; the devices are released when the last handle,
/// device, array and executable is gone.
#[derive(Clone)]
pub struct Client {
    raw: pjrt::Client,
    devices: Arc<[DeviceEntry]>,
}

type DeviceEntry = Arc<pjrt::DeviceInfo>;

impl Client {
    /// A client of the plugin's own choice of devices: all accelerators of this machine that it can use.
    ///
    /// # Errors
    /// [`ClientError::Plugin`] with the plugin's words, for example when there is no such hardware.
    ///
    /// # Cancel safety
    /// Dropping the future creates and destroys the client in the background.
    pub async fn new(plugin: &Plugin) -> Result<Client, ClientError> {
        Client::create(plugin, Vec::new()).await
    }

    /// A client with `device_count` devices on the processors of this machine.
    ///
    /// # Errors
    /// [`ClientError::DeviceCount`] outside `1..=`[`CPU_DEVICES_MAX`]; [`ClientError::Plugin`] when the
    /// plugin is not one for CPUs.
    ///
    /// # Cancel safety
    /// Dropping the future creates and destroys the client in the background.
    pub async fn cpu(plugin: &Plugin, device_count: usize) -> Result<Client, ClientError> {
        let limit = CPU_DEVICES_MAX;
        let asked = i64::try_from(device_count).ok().filter(|_| (1..=limit).contains(&device_count));
        let asked = asked.ok_or(ClientError::DeviceCount { got: device_count, limit })?;
        let client = Client::create(plugin, vec![("cpu_device_count", asked)]).await?;
        let got = client.devices.len();
        if got != device_count {
            return Err(ClientError::DeviceCountMade { expected: device_count, got });
        }
        Ok(client)
    }

    async fn create(plugin: &Plugin, options: Vec<(&'static str, i64)>) -> Result<Client, ClientError> {
        let raw = pjrt::Client::create(plugin.api(), options).await?;
        let devices = raw.devices().iter().cloned().map(Arc::new).collect();
        Ok(Client { raw, devices })
    }

    /// The devices of this process, in the plugin's order.
    pub fn devices(&self) -> Vec<Device> {
        self.devices.iter().map(|info| Device { client: self.clone(), info: Arc::clone(info) }).collect()
    }

    /// The platform: `cpu`, `tpu`, `cuda`.
    pub fn platform_name(&self) -> &str {
        self.raw.platform_name()
    }

    /// The platform's version in the plugin's words.
    pub fn platform_version(&self) -> &str {
        self.raw.platform_version()
    }

    /// What the client has alive in the plugin.
    pub fn live_handles(&self) -> LiveHandles {
        self.raw.live()
    }

    /// A view of the counters behind [`Client::live_handles`] that outlives the client, to show that all of
    /// it is gone.
    pub fn live_probe(&self) -> impl Fn() -> LiveHandles + Send + Sync + 'static {
        let counters = self.raw.counters();
        move || counters.snapshot()
    }

    /// The handle for calls.
    pub(crate) fn raw(&self) -> &pjrt::Client {
        &self.raw
    }
}

impl PartialEq for Client {
    fn eq(&self, other: &Client) -> bool {
        self.raw.is_same(&other.raw)
    }
}

impl Eq for Client {}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Client({} x {})", self.platform_name(), self.devices.len())
    }
}

/// One device: a chip, a core of one, or a part of the host's processors. Cheap to clone.
#[derive(Clone)]
pub struct Device {
    client: Client,
    info: DeviceEntry,
}

impl Device {
    /// The id, unique among all devices of the platform.
    pub fn id(&self) -> i32 {
        self.info.id
    }

    /// The vendor's name of this kind of device.
    pub fn kind(&self) -> &str {
        &self.info.kind
    }

    /// The number of the process that can address it; zero in a single process.
    pub fn process_index(&self) -> i32 {
        self.info.process_index
    }

    /// The client that the device belongs to.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Whether the device belongs to `client`.
    pub fn is_of(&self, client: &Client) -> bool {
        self.client == *client
    }

    /// The handle for calls.
    pub(crate) fn raw(&self) -> pjrt::DeviceHandle {
        self.info.handle
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Device) -> bool {
        self.info.id == other.info.id && self.client == other.client
    }
}

impl Eq for Device {}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({}:{})", self.client.platform_name(), self.info.id)
    }
}
