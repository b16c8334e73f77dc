//! Compiled programs and their launches.
#![expect(unsafe_code, reason = "hands argument and output lists to the plugin and destroys executables")]

use std::ffi::c_int;

use super::event::Event;
use super::exit::{self, Busy};
use super::live::Counted;
use super::{Buffer, Client, Code, Completion, DeviceHandle, Kind, PjrtError, abi, copy_list, copy_text};

/// A program that is loaded on the devices of its client.
pub(crate) struct LoadedExecutable {
    client: Client,
    loaded: abi::Handle,
    executable: abi::Handle,
    devices: Vec<DeviceHandle>,
    output_count: usize,
    _counted: Counted,
}

// SAFETY: the C API may be called on an executable from any thread.
unsafe impl Send for LoadedExecutable {}
// SAFETY: as above.
unsafe impl Sync for LoadedExecutable {}

/// What a launch gave.
pub(crate) struct Launched {
    /// One list for each device, with one buffer for each output.
    pub(crate) outputs: Vec<Vec<Buffer>>,
    /// For each device: ready when its part of the program has ended.
    pub(crate) completions: Vec<Completion<()>>,
}

impl LoadedExecutable {
    /// Compiles StableHLO (text or bytecode) with serialized compile options.
    pub(crate) fn compile(
        client: &Client,
        code: &[u8],
        options: &[u8],
    ) -> Result<LoadedExecutable, PjrtError> {
        // The compiler only reads the code, whatever the type of the pointer says.
        let program = abi::Program::new(code.as_ptr().cast_mut().cast(), code.len(), "mlir");
        let mut args = abi::ClientCompile {
            client: client.raw(),
            program: &raw const program,
            options: options.as_ptr().cast(),
            options_size: options.len(),
            ..Default::default()
        };
        let _busy = Busy::begin();
        // SAFETY: the client is alive; program and options are read during the call.
        unsafe { client.context().api.call(&mut args)? };
        let mut loaded = LoadedExecutable {
            client: client.clone(),
            loaded: args.executable,
            executable: std::ptr::null_mut(),
            devices: Vec::new(),
            output_count: 0,
            _counted: client.context().live.count(Kind::Executable),
        };
        loaded.describe()?;
        exit::wait_at_exit();
        Ok(loaded)
    }

    /// Reads the devices and the number of outputs.
    fn describe(&mut self) -> Result<(), PjrtError> {
        let api = self.client.context().api;
        let mut inner = abi::LoadedExecutableGetExecutable { loaded: self.loaded, ..Default::default() };
        // SAFETY: the executable is alive; the handle that is returned is ours to destroy.
        unsafe { api.call(&mut inner)? };
        self.executable = inner.executable;
        let mut outputs = abi::ExecutableNumOutputs { executable: self.executable, ..Default::default() };
        let mut devices =
            abi::LoadedExecutableAddressableDevices { executable: self.loaded, ..Default::default() };
        // SAFETY: both handles are alive; the list is copied.
        let handles = unsafe {
            api.call(&mut outputs)?;
            api.call(&mut devices)?;
            copy_list(devices.devices, devices.num_devices)
        };
        self.output_count = outputs.count;
        self.devices = handles.into_iter().map(DeviceHandle::from_raw).collect();
        Ok(())
    }

    /// The devices in the order of the lists of a launch.
    pub(crate) fn devices(&self) -> &[DeviceHandle] {
        &self.devices
    }

    /// The number of outputs.
    pub(crate) fn output_count(&self) -> usize {
        self.output_count
    }

    /// For each output, the number of its element type in the C API and its extents on one device.
    pub(crate) fn output_types(&self) -> Result<Vec<(i32, Vec<i64>)>, PjrtError> {
        let api = self.client.context().api;
        let mut dtypes =
            abi::ExecutableOutputElementTypes { executable: self.executable, ..Default::default() };
        let mut dims = abi::ExecutableOutputDimensions { executable: self.executable, ..Default::default() };
        // SAFETY: the executable is alive and owns the lists, which are copied.
        unsafe {
            api.call(&mut dtypes)?;
            api.call(&mut dims)?;
            let dtypes = copy_list(dtypes.dtypes, dtypes.num_dtypes);
            let sizes = copy_list(dims.dim_sizes, dims.num_outputs);
            let mut rest = copy_list(dims.dims, sizes.iter().sum());
            let mut types = Vec::with_capacity(dtypes.len());
            for (dtype, size) in dtypes.into_iter().zip(sizes) {
                let tail = rest.split_off(size);
                types.push((dtype, std::mem::replace(&mut rest, tail)));
            }
            Ok(types)
        }
    }

    /// The compiled program as a serialized `HloModuleProtoWithConfig`; `None` where the plugin has another
    /// format or none.
    pub(crate) fn optimized_program(&self) -> Result<Option<Vec<u8>>, PjrtError> {
        const FORMAT: &str = "hlo_with_config";
        let api = self.client.context().api;
        let mut program = abi::Program::new(std::ptr::null_mut(), 0, "");
        let mut args = abi::ExecutableOptimizedProgram {
            executable: self.executable,
            program: &raw mut program,
            ..Default::default()
        };
        // SAFETY: the executable is alive; without a place for code only size and format are told, and the
        // format is the plugin's own text.
        let format = unsafe {
            match api.call(&mut args) {
                Err(error) if error.code == Code::Unimplemented => return Ok(None),
                outcome => outcome?,
            }
            copy_text(program.format, program.format_size)
        };
        if format != FORMAT {
            return Ok(None);
        }
        let mut code = vec![0_u8; program.code_size];
        program.code = code.as_mut_ptr().cast();
        args.program = &raw mut program;
        // SAFETY: there is room for as many bytes as the plugin asked for.
        unsafe { api.call(&mut args)? };
        Ok(Some(code))
    }

    /// The serialized `OpSharding` of each parameter; `None` where the plugin does not tell.
    pub(crate) fn parameter_shardings(&self) -> Result<Option<Vec<Vec<u8>>>, PjrtError> {
        self.shardings("Executable_ParameterShardings", |extension| extension.parameters)
    }

    /// The serialized `OpSharding` of each output; `None` where the plugin does not tell.
    pub(crate) fn output_shardings(&self) -> Result<Option<Vec<Vec<u8>>>, PjrtError> {
        self.shardings("Executable_OutputShardings", |extension| extension.outputs)
    }

    /// Asks one function of the shardings extension.
    fn shardings(
        &self,
        call: &'static str,
        pick: impl Fn(
            &abi::ShardingsExtension,
        ) -> Option<unsafe extern "C" fn(*mut abi::ExecutableShardings) -> abi::Handle>,
    ) -> Result<Option<Vec<Vec<u8>>>, PjrtError> {
        let api = self.client.context().api;
        let Some(extension) = api.extension(abi::SHARDINGS_EXTENSION) else { return Ok(None) };
        // SAFETY: the extension of this kind has this layout since it exists, and its size is checked before
        // use.
        let extension = unsafe {
            if extension.as_ref().struct_size < size_of::<abi::ShardingsExtension>() {
                return Ok(None);
            }
            extension.cast::<abi::ShardingsExtension>().as_ref()
        };
        let Some(function) = pick(extension) else { return Ok(None) };
        let mut args = abi::ExecutableShardings {
            struct_size: size_of::<abi::ExecutableShardings>(),
            extension: std::ptr::null_mut(),
            executable: self.executable,
            count: 0,
            shardings: std::ptr::null(),
            sharding_sizes: std::ptr::null(),
        };
        // SAFETY: the executable is alive; it owns lists and bytes, which are copied.
        unsafe {
            let error = function(&mut args);
            if let Some(error) = api.take_error(error, call) {
                return Err(error);
            }
            if args.shardings.is_null() || args.sharding_sizes.is_null() {
                return Ok(None);
            }
            let texts = copy_list(args.shardings, args.count);
            let sizes = copy_list(args.sharding_sizes, args.count);
            Ok(Some(
                texts.into_iter().zip(sizes).map(|(text, size)| copy_list(text.cast::<u8>(), size)).collect(),
            ))
        }
    }

    /// Launches the program on all its devices; runs on the client's thread (`PJ-4`).
    ///
    /// `arguments` has one list for each device. Arguments in `kept` are not donated, whatever the program
    /// says. A launch id must be new and not zero: devices that are given different ones, or zero, wait for
    /// each other forever.
    pub(crate) fn execute(
        &self,
        arguments: &[Vec<&Buffer>],
        kept: &[i64],
        launch_id: c_int,
    ) -> Result<Launched, PjrtError> {
        assert_eq!(arguments.len(), self.devices.len(), "one list of arguments for each device");
        let count = arguments.first().map_or(0, Vec::len);
        assert!(arguments.iter().all(|list| list.len() == count), "every device has the same arguments");
        let lists: Vec<Vec<abi::Handle>> =
            arguments.iter().map(|list| list.iter().map(|buffer| buffer.raw()).collect()).collect();
        // The C API wants arrays of thin pointers, one array for each device.
        let starts: Vec<*const abi::Handle> = lists.iter().map(Vec::as_ptr).collect();
        let mut outputs = vec![vec![std::ptr::null_mut(); self.output_count]; self.devices.len()];
        let output_starts: Vec<*mut abi::Handle> = outputs.iter_mut().map(Vec::as_mut_ptr).collect();
        let mut events: Vec<abi::Handle> = vec![std::ptr::null_mut(); self.devices.len()];
        let options = abi::ExecuteOptions {
            launch_id,
            non_donatable: kept.as_ptr(),
            num_non_donatable: kept.len(),
            ..Default::default()
        };
        let mut args = abi::LoadedExecutableExecute {
            executable: self.loaded,
            options: &raw const options,
            arguments: starts.as_ptr(),
            num_devices: self.devices.len(),
            num_arguments: count,
            outputs: output_starts.as_ptr(),
            events: events.as_mut_ptr(),
            ..Default::default()
        };
        let context = self.client.context();
        let permit = self.client.gate().enter();
        // SAFETY: executable and buffers are alive; all lists live until the call returns and have the
        // lengths stated.
        unsafe { context.api.call(&mut args)? };
        let completions = events.into_iter().filter(|event| !event.is_null());
        let completions = completions
            .map(|event| {
                Event::new(context, event).with_permit(&permit).complete("LoadedExecutable_Execute", ())
            })
            .collect();
        let outputs = outputs
            .into_iter()
            .map(|list| list.into_iter().map(|raw| Buffer::from_raw(&self.client, raw)).collect())
            .collect();
        Ok(Launched { outputs, completions })
    }
}

impl Drop for LoadedExecutable {
    fn drop(&mut self) {
        let api = self.client.context().api;
        let mut inner = abi::ExecutableDestroy { executable: self.executable, ..Default::default() };
        let mut loaded = abi::LoadedExecutableDestroy { executable: self.loaded, ..Default::default() };
        // SAFETY: both handles are alive (or the inner one was never read) and this is their only owner.
        let outcome = unsafe {
            let inner = if self.executable.is_null() { Ok(()) } else { api.call(&mut inner) };
            inner.and(api.call(&mut loaded))
        };
        if let Err(error) = outcome {
            tracing::warn!(%error, "an executable was not destroyed");
        }
    }
}
