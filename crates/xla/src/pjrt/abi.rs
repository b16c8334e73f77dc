//! The memory layouts of the PJRT C API: one `repr(C)` struct for each call that is used.
//!
//! Source: `xla/pjrt/c/pjrt_c_api.h`. Slots of the function table and fields of the structs are only ever
//! appended since 0.57; a caller may send a *larger* struct than the plugin knows, never a smaller one, so
//! these are the layouts of the newest header known (0.114). `pjrt/tests.rs` holds them against constants
//! that a C compiler printed from a header.
#![expect(unsafe_code, reason = "zeroed C structs and the marker trait that ties a struct to its slot")]

use std::ffi::{c_char, c_int, c_void};

/// A pointer to an object that the plugin owns.
pub(super) type Handle = *mut c_void;

/// The head of every entry in the list of extensions.
#[repr(C)]
pub(super) struct ExtensionBase {
    pub(super) struct_size: usize,
    pub(super) kind: c_int,
    pub(super) next: *const ExtensionBase,
}

/// The version that the plugin was built with.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct ApiVersion {
    pub(super) struct_size: usize,
    pub(super) extension: Handle,
    pub(super) major: c_int,
    pub(super) minor: c_int,
}

/// The head of the function table; `struct_size` says how many pointers follow it.
#[repr(C)]
pub(super) struct Table {
    pub(super) struct_size: usize,
    pub(super) extensions: *const ExtensionBase,
    pub(super) version: ApiVersion,
}

/// The extension that tells which shardings the compiler chose (since 0.91).
#[repr(C)]
pub(super) struct ShardingsExtension {
    pub(super) base: ExtensionBase,
    pub(super) parameters: Option<unsafe extern "C" fn(*mut ExecutableShardings) -> Handle>,
    pub(super) outputs: Option<unsafe extern "C" fn(*mut ExecutableShardings) -> Handle>,
}

/// `PJRT_Extension_Type_Shardings`.
pub(super) const SHARDINGS_EXTENSION: c_int = 19;

/// The arguments of both functions of [`ShardingsExtension`].
#[repr(C)]
pub(super) struct ExecutableShardings {
    pub(super) struct_size: usize,
    pub(super) extension: Handle,
    pub(super) executable: Handle,
    pub(super) count: usize,
    pub(super) shardings: *const *const c_char,
    pub(super) sharding_sizes: *const usize,
}

/// `PJRT_NamedValue` with an `int64` in its union, the only kind that is sent.
#[repr(C)]
pub(super) struct NamedInt {
    pub(super) struct_size: usize,
    pub(super) extension: Handle,
    pub(super) name: *const c_char,
    pub(super) name_size: usize,
    pub(super) kind: c_int,
    pub(super) value: i64,
    pub(super) value_size: usize,
}

/// `PJRT_NamedValue_kInt64`.
pub(super) const NAMED_INT64: c_int = 1;

/// `PJRT_Program`.
#[repr(C)]
pub(super) struct Program {
    pub(super) struct_size: usize,
    pub(super) extension: Handle,
    /// Written to by `Executable_OptimizedProgram`, only read by the others.
    pub(super) code: *mut c_char,
    pub(super) code_size: usize,
    pub(super) format: *const c_char,
    pub(super) format_size: usize,
}

impl Program {
    /// A program in `format` with `code_size` bytes at `code`.
    pub(super) fn new(code: *mut c_char, code_size: usize, format: &'static str) -> Program {
        Program {
            struct_size: size_of::<Program>(),
            extension: std::ptr::null_mut(),
            code,
            code_size,
            format: format.as_ptr().cast(),
            format_size: format.len(),
        }
    }
}

/// `PJRT_ExecuteOptions`.
#[repr(C)]
pub(super) struct ExecuteOptions {
    pub(super) struct_size: usize,
    pub(super) extension: Handle,
    pub(super) send_callbacks: Handle,
    pub(super) recv_callbacks: Handle,
    pub(super) num_send_ops: usize,
    pub(super) num_recv_ops: usize,
    pub(super) launch_id: c_int,
    pub(super) non_donatable: *const i64,
    pub(super) num_non_donatable: usize,
    pub(super) context: Handle,
    pub(super) call_location: *const c_char,
    pub(super) num_tasks: usize,
    pub(super) task_ids: Handle,
    pub(super) incarnation_ids: Handle,
    pub(super) multi_slice_config: Handle,
    pub(super) use_major_to_minor_layout_for_callbacks: bool,
    pub(super) output_callbacks: Handle,
    pub(super) num_output_callbacks: usize,
}

impl Default for ExecuteOptions {
    fn default() -> ExecuteOptions {
        // SAFETY: the struct holds integers, a bool and raw pointers; all of them may be zero.
        let mut options: ExecuteOptions = unsafe { std::mem::zeroed() };
        options.struct_size = size_of::<ExecuteOptions>();
        options
    }
}

/// `PJRT_Buffer_MemoryLayout` with the tiled member of its union, the larger one.
#[repr(C)]
pub(super) struct TiledLayout {
    pub(super) struct_size: usize,
    pub(super) extension: Handle,
    pub(super) tiled_struct_size: usize,
    pub(super) tiled_extension: Handle,
    pub(super) minor_to_major: *const i64,
    pub(super) minor_to_major_size: usize,
    pub(super) tile_dims: *const i64,
    pub(super) tile_dim_sizes: *const usize,
    pub(super) num_tiles: usize,
    /// 0: tiled, 1: strides.
    pub(super) kind: c_int,
}

/// The size of `PJRT_Buffer_MemoryLayout_Tiled`, which lies inside [`TiledLayout`].
pub(super) const TILED_SIZE: usize = 56;

/// `PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes`: the plugin reads the host memory until its
/// event fires.
pub(super) const IMMUTABLE_UNTIL_TRANSFER_COMPLETES: c_int = 1;

/// The arguments of one call.
///
/// # Safety
/// The type is the C struct of the arguments of the function in slot `SLOT` of the table, and that function
/// returns a `PJRT_Error*`.
pub(super) unsafe trait Call {
    /// The index of the function pointer behind [`Table`].
    const SLOT: usize;
    /// The name in the header, without `PJRT_`.
    const NAME: &'static str;
}

/// Declares the argument structs: name, slot, name in the header, fields behind `struct_size` and
/// `extension`.
macro_rules! calls {
    ($($name:ident = $slot:literal $c_name:literal { $($field:ident : $type:ty),* $(,)? })*) => {
        $(
            #[doc = concat!("The arguments of `PJRT_", $c_name, "`.")]
            #[repr(C)]
            pub(super) struct $name {
                pub(super) struct_size: usize,
                pub(super) extension: Handle,
                $(pub(super) $field: $type),*
            }

            impl Default for $name {
                fn default() -> $name {
                    // SAFETY: the struct holds integers, bools, raw pointers and optional functions; all may
                    // be zero.
                    let mut args: $name = unsafe { std::mem::zeroed() };
                    args.struct_size = size_of::<$name>();
                    args
                }
            }

            // SAFETY: slot and layout are those of the header; `pjrt/tests.rs` checks both.
            unsafe impl Call for $name {
                const SLOT: usize = $slot;
                const NAME: &'static str = $c_name;
            }
        )*

        /// Slot, name, size and field offsets of every call, for the test that holds them against the header.
        #[cfg(test)]
        pub(super) const LAYOUTS: &[(usize, &str, usize, &[usize])] = &[
            $(($slot, $c_name, size_of::<$name>(), &[$(std::mem::offset_of!($name, $field)),*])),*
        ];
    };
}

calls! {
    ErrorDestroy = 0 "Error_Destroy" { error: Handle }
    ErrorMessage = 1 "Error_Message" { error: Handle, message: *const c_char, message_size: usize }
    ErrorGetCode = 2 "Error_GetCode" { error: Handle, code: c_int }
    PluginInitialize = 3 "Plugin_Initialize" { }
    EventDestroy = 5 "Event_Destroy" { event: Handle }
    EventOnReady = 9 "Event_OnReady" {
        event: Handle,
        callback: Option<unsafe extern "C" fn(Handle, Handle)>,
        user_arg: Handle,
    }
    ClientCreate = 10 "Client_Create" {
        options: *const NamedInt,
        num_options: usize,
        kv_get: Handle,
        kv_get_arg: Handle,
        kv_put: Handle,
        kv_put_arg: Handle,
        client: Handle,
        kv_try_get: Handle,
        kv_try_get_arg: Handle,
    }
    ClientDestroy = 11 "Client_Destroy" { client: Handle }
    ClientPlatformName = 12 "Client_PlatformName" { client: Handle, text: *const c_char, text_size: usize }
    ClientPlatformVersion = 14 "Client_PlatformVersion" {
        client: Handle,
        text: *const c_char,
        text_size: usize,
    }
    ClientAddressableDevices = 16 "Client_AddressableDevices" {
        client: Handle,
        devices: *const Handle,
        num_devices: usize,
    }
    ClientCompile = 20 "Client_Compile" {
        client: Handle,
        program: *const Program,
        options: *const c_char,
        options_size: usize,
        executable: Handle,
    }
    ClientBufferFromHostBuffer = 22 "Client_BufferFromHostBuffer" {
        client: Handle,
        data: *const c_void,
        dtype: c_int,
        dims: *const i64,
        num_dims: usize,
        strides: *const i64,
        num_strides: usize,
        semantics: c_int,
        device: Handle,
        memory: Handle,
        layout: Handle,
        done: Handle,
        buffer: Handle,
    }
    DeviceDescriptionId = 23 "DeviceDescription_Id" { description: Handle, id: c_int }
    DeviceDescriptionProcessIndex = 24 "DeviceDescription_ProcessIndex" { description: Handle, index: c_int }
    DeviceDescriptionKind = 26 "DeviceDescription_Kind" {
        description: Handle,
        text: *const c_char,
        text_size: usize,
    }
    DeviceGetDescription = 29 "Device_GetDescription" { device: Handle, description: Handle }
    ExecutableDestroy = 40 "Executable_Destroy" { executable: Handle }
    ExecutableNumOutputs = 44 "Executable_NumOutputs" { executable: Handle, count: usize }
    ExecutableOptimizedProgram = 48 "Executable_OptimizedProgram" {
        executable: Handle,
        program: *mut Program,
    }
    LoadedExecutableDestroy = 50 "LoadedExecutable_Destroy" { executable: Handle }
    LoadedExecutableGetExecutable = 51 "LoadedExecutable_GetExecutable" { loaded: Handle, executable: Handle }
    LoadedExecutableAddressableDevices = 52 "LoadedExecutable_AddressableDevices" {
        executable: Handle,
        devices: *const Handle,
        num_devices: usize,
    }
    LoadedExecutableExecute = 55 "LoadedExecutable_Execute" {
        executable: Handle,
        options: *const ExecuteOptions,
        arguments: *const *const Handle,
        num_devices: usize,
        num_arguments: usize,
        outputs: *const *mut Handle,
        events: *mut Handle,
        execute_device: Handle,
    }
    BufferDestroy = 58 "Buffer_Destroy" { buffer: Handle }
    BufferIsDeleted = 68 "Buffer_IsDeleted" { buffer: Handle, deleted: bool }
    BufferToHostBuffer = 70 "Buffer_ToHostBuffer" {
        source: Handle,
        layout: *const TiledLayout,
        target: *mut c_void,
        target_size: usize,
        event: Handle,
    }
    BufferReadyEvent = 72 "Buffer_ReadyEvent" { buffer: Handle, event: Handle }
    ExecutableOutputDimensions = 91 "Executable_OutputDimensions" {
        executable: Handle,
        num_outputs: usize,
        dims: *const i64,
        dim_sizes: *const usize,
    }
    ExecutableOutputElementTypes = 90 "Executable_OutputElementTypes" {
        executable: Handle,
        dtypes: *const c_int,
        num_dtypes: usize,
    }
}
