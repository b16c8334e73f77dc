//! A client and the thread that owns it.
//!
//! The thread creates the client, runs its jobs (launches) one after the other, and destroys it when the last
//! handle is gone (`PJ-3`, `PJ-4`). All other calls may come from any thread.
#![expect(unsafe_code, reason = "creates, asks and destroys a client of the plugin")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::thread;

use tokio::sync::oneshot;

use super::exit::{self, Busy};
use super::gate::Gate;
use super::live::Counters;
use super::{Api, Context, Kind, LiveHandles, PjrtError, abi, copy_list, copy_text};

/// Why no client came up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The plugin refused; without hardware this is where an accelerator's plugin says so.
    #[error("create a client: {0}")]
    Plugin(#[from] PjrtError),
    /// The number of devices is outside what a client may have.
    #[error("create a client of {got} devices: expected between 1 and {limit}")]
    DeviceCount {
        /// What was asked for.
        got: usize,
        /// The largest number.
        limit: usize,
    },
    /// The plugin made another number of devices than it was asked for.
    #[error("create a client of {expected} devices: the plugin made {got}")]
    DeviceCountMade {
        /// What was asked for.
        expected: usize,
        /// What the plugin has.
        got: usize,
    },
    /// The system gave no thread.
    #[error("start the client's thread: {0}")]
    Thread(#[from] std::io::Error),
    /// The client's thread panicked while it created the client: an error of this crate.
    #[error("create a client: its thread ended early")]
    ThreadEnded,
}

/// What the client's thread is told.
enum Message {
    /// Work, in the order in which it is sent.
    Run(Box<dyn FnOnce() + Send>),
    /// The last handle is gone; the end of the process waits until the client is destroyed.
    Close(Busy),
}

/// A device of a client; valid as long as the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DeviceHandle(abi::Handle);

// SAFETY: devices are immutable and may be used from any thread.
unsafe impl Send for DeviceHandle {}
// SAFETY: as above.
unsafe impl Sync for DeviceHandle {}

impl DeviceHandle {
    /// The handle `raw` of a device.
    pub(super) fn from_raw(raw: abi::Handle) -> DeviceHandle {
        DeviceHandle(raw)
    }

    /// The pointer for a call.
    pub(super) fn raw(self) -> abi::Handle {
        self.0
    }
}

/// What is known about a device.
#[derive(Debug, Clone)]
pub(crate) struct DeviceInfo {
    /// The handle for calls.
    pub(crate) handle: DeviceHandle,
    /// Unique among all devices of the platform.
    pub(crate) id: i32,
    /// The process that can address it.
    pub(crate) process_index: i32,
    /// The vendor's name of the kind of device.
    pub(crate) kind: String,
}

/// A shared handle to a client (`PJ-2`).
#[derive(Clone)]
pub(crate) struct Client(Arc<Shared>);

struct Shared {
    raw: abi::Handle,
    context: Context,
    platform_name: String,
    platform_version: String,
    devices: Vec<DeviceInfo>,
    gate: Arc<Gate>,
    messages: mpsc::Sender<Message>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        // The thread receives until it is told this.
        drop(self.messages.send(Message::Close(Busy::count())));
    }
}

// SAFETY: the C API may be called on a client from any thread; the other fields are `Send` and `Sync`.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

/// The client's own end: lives on its thread and destroys it there.
struct Owned {
    raw: abi::Handle,
    context: Context,
}

impl Drop for Owned {
    fn drop(&mut self) {
        let mut args = abi::ClientDestroy { client: self.raw, ..Default::default() };
        // SAFETY: every object of the client is gone: each held a handle, and the last one is dropped
        // (`PJ-2`).
        if let Err(error) = unsafe { self.context.api.call(&mut args) } {
            tracing::warn!(%error, "a client was not destroyed");
        }
    }
}

impl Client {
    /// Creates a client on a thread of its own; `options` are the plugin's integer options.
    ///
    /// # Cancel safety
    /// Dropping the future lets the thread create the client and destroy it again.
    pub(crate) async fn create(api: Api, options: Vec<(&'static str, i64)>) -> Result<Client, ClientError> {
        let (ready, created) = oneshot::channel();
        thread::Builder::new().name("mobula-xla-client".into()).spawn(move || own(api, &options, ready))?;
        created.await.unwrap_or(Err(ClientError::ThreadEnded))
    }

    /// The pointer for a call.
    pub(super) fn raw(&self) -> abi::Handle {
        self.0.raw
    }

    /// The table and the counters.
    pub(super) fn context(&self) -> &Context {
        &self.0.context
    }

    /// Lets launches in, a limited number at a time.
    pub(super) fn gate(&self) -> &Arc<Gate> {
        &self.0.gate
    }

    /// The platform, such as `cpu`.
    pub(crate) fn platform_name(&self) -> &str {
        &self.0.platform_name
    }

    /// The platform's version, in the plugin's words.
    pub(crate) fn platform_version(&self) -> &str {
        &self.0.platform_version
    }

    /// The devices that this process can use, in the plugin's order.
    pub(crate) fn devices(&self) -> &[DeviceInfo] {
        &self.0.devices
    }

    /// What this client has alive.
    pub(crate) fn live(&self) -> LiveHandles {
        self.0.context.live.snapshot()
    }

    /// The counters, which outlive the client.
    pub(crate) fn counters(&self) -> Arc<Counters> {
        Arc::clone(&self.0.context.live)
    }

    /// Whether both are handles to one client.
    pub(crate) fn is_same(&self, other: &Client) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Runs `job` on the client's thread, behind all earlier ones. `None` when the job panicked.
    ///
    /// # Cancel safety
    /// Once polled, the job runs even if the future is dropped; its result is dropped then.
    pub(crate) async fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let (done, result) = oneshot::channel();
        self.submit(move || drop(done.send(job())));
        result.await.ok()
    }

    /// Lets the client's thread run `job` behind all earlier ones.
    pub(crate) fn submit(&self, job: impl FnOnce() + Send + 'static) {
        let message = Message::Run(Box::new(job));
        self.0.messages.send(message).expect("the client's thread receives as long as there are handles");
    }
}

/// The client's thread.
fn own(api: Api, options: &[(&'static str, i64)], ready: oneshot::Sender<Result<Client, ClientError>>) {
    let context = Context { api, live: Arc::default() };
    let _counted = context.live.count(Kind::Client);
    let busy = Busy::begin();
    let (owned, messages) = match create(&context, options) {
        Ok((owned, client, messages)) => {
            exit::wait_at_exit();
            // Nobody may wait any more; then the client goes with the value that could not be sent.
            drop(ready.send(Ok(client)));
            (owned, messages)
        }
        Err(error) => {
            drop(ready.send(Err(error.into())));
            return;
        }
    };
    drop(busy);
    let mut closing = None;
    while let Ok(message) = messages.recv() {
        match message {
            Message::Run(job) => run_job(job),
            Message::Close(busy) => {
                closing = Some(busy);
                break;
            }
        }
    }
    // Nobody holds the client, but the plugin may still work on what it was asked for (`PJ-7`).
    context.live.wait_for_events();
    drop(owned);
    drop(closing);
}

/// Runs one job; what a panic takes with it is told to whoever waits.
fn run_job(job: Box<dyn FnOnce() + Send>) {
    let _busy = Busy::begin();
    if catch_unwind(AssertUnwindSafe(job)).is_err() {
        tracing::error!("a job on the client's thread panicked");
    }
}

/// Creates the client and reads what never changes about it.
fn create(
    context: &Context,
    options: &[(&'static str, i64)],
) -> Result<(Owned, Client, mpsc::Receiver<Message>), PjrtError> {
    let options: Vec<abi::NamedInt> = options
        .iter()
        .map(|(name, value)| abi::NamedInt {
            struct_size: size_of::<abi::NamedInt>(),
            extension: std::ptr::null_mut(),
            name: name.as_ptr().cast(),
            name_size: name.len(),
            kind: abi::NAMED_INT64,
            value: *value,
            value_size: 1,
        })
        .collect();
    let (api, num_options) = (context.api, options.len());
    let mut args = abi::ClientCreate { options: options.as_ptr(), num_options, ..Default::default() };
    // SAFETY: the options and their names live until the call returns.
    unsafe { api.call(&mut args)? };
    let raw = args.client;
    let owned = Owned { raw, context: context.clone() };
    let mut name = abi::ClientPlatformName { client: raw, ..Default::default() };
    let mut version = abi::ClientPlatformVersion { client: raw, ..Default::default() };
    let mut devices = abi::ClientAddressableDevices { client: raw, ..Default::default() };
    // SAFETY: the client is alive; texts and lists live as long as it does and are copied.
    let (platform_name, platform_version, handles) = unsafe {
        api.call(&mut name)?;
        api.call(&mut version)?;
        api.call(&mut devices)?;
        let platform_name = copy_text(name.text, name.text_size);
        let platform_version = copy_text(version.text, version.text_size);
        (platform_name, platform_version, copy_list(devices.devices, devices.num_devices))
    };
    let devices = handles.into_iter().map(|raw| describe(api, raw)).collect::<Result<_, _>>()?;
    let (messages, receiver) = mpsc::channel();
    let context = context.clone();
    let gate = Arc::default();
    let shared = Shared { raw, context, platform_name, platform_version, devices, gate, messages };
    Ok((owned, Client(Arc::new(shared)), receiver))
}

/// Reads what is known about a device of a client that is alive.
fn describe(api: Api, device: abi::Handle) -> Result<DeviceInfo, PjrtError> {
    let mut description = abi::DeviceGetDescription { device, ..Default::default() };
    // SAFETY: the device is one of a client that is alive.
    unsafe { api.call(&mut description)? };
    let description = description.description;
    let mut id = abi::DeviceDescriptionId { description, ..Default::default() };
    let mut process = abi::DeviceDescriptionProcessIndex { description, ..Default::default() };
    let mut kind = abi::DeviceDescriptionKind { description, ..Default::default() };
    // SAFETY: the description lives as long as the device; the text is copied.
    unsafe {
        api.call(&mut id)?;
        api.call(&mut process)?;
        api.call(&mut kind)?;
        let kind = copy_text(kind.text, kind.text_size);
        let handle = DeviceHandle::from_raw(device);
        Ok(DeviceInfo { handle, id: id.id, process_index: process.index, kind })
    }
}
