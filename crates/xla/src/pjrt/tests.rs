//! The layouts against the header.
//!
//! The constants below were printed by a C compiler: for each call, the slot computed from
//! `offsetof(PJRT_Api, ..)`, then `sizeof` and `offsetof` of the struct of its arguments, with the
//! `pjrt_c_api.h` of version 0.81 that ships in the wheel `xla-cpu-pjrt==0.0.1`. None of these calls got a
//! field since.

use std::mem::offset_of;

use super::abi::*;

/// Slot, name, size and the offsets behind `struct_size` and `extension_start`, as of 0.81.
const HEADER: &[(usize, &str, usize, &[usize])] = &[
    (0, "Error_Destroy", 24, &[16]),
    (1, "Error_Message", 40, &[16, 24, 32]),
    (2, "Error_GetCode", 32, &[16, 24]),
    (3, "Plugin_Initialize", 16, &[]),
    (5, "Event_Destroy", 24, &[16]),
    (9, "Event_OnReady", 40, &[16, 24, 32]),
    (10, "Client_Create", 88, &[16, 24, 32, 40, 48, 56, 64, 72, 80]),
    (11, "Client_Destroy", 24, &[16]),
    (12, "Client_PlatformName", 40, &[16, 24, 32]),
    (14, "Client_PlatformVersion", 40, &[16, 24, 32]),
    (16, "Client_AddressableDevices", 40, &[16, 24, 32]),
    (20, "Client_Compile", 56, &[16, 24, 32, 40, 48]),
    (22, "Client_BufferFromHostBuffer", 120, &[16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112]),
    (23, "DeviceDescription_Id", 32, &[16, 24]),
    (24, "DeviceDescription_ProcessIndex", 32, &[16, 24]),
    (26, "DeviceDescription_Kind", 40, &[16, 24, 32]),
    (29, "Device_GetDescription", 32, &[16, 24]),
    (40, "Executable_Destroy", 24, &[16]),
    (44, "Executable_NumOutputs", 32, &[16, 24]),
    (48, "Executable_OptimizedProgram", 32, &[16, 24]),
    (50, "LoadedExecutable_Destroy", 24, &[16]),
    (51, "LoadedExecutable_GetExecutable", 32, &[16, 24]),
    (52, "LoadedExecutable_AddressableDevices", 40, &[16, 24, 32]),
    (55, "LoadedExecutable_Execute", 80, &[16, 24, 32, 40, 48, 56, 64, 72]),
    (58, "Buffer_Destroy", 24, &[16]),
    (68, "Buffer_IsDeleted", 32, &[16, 24]),
    (70, "Buffer_ToHostBuffer", 56, &[16, 24, 32, 40, 48]),
    (72, "Buffer_ReadyEvent", 32, &[16, 24]),
    (91, "Executable_OutputDimensions", 48, &[16, 24, 32, 40]),
    (90, "Executable_OutputElementTypes", 40, &[16, 24, 32]),
];

#[test]
fn calls_have_the_slots_and_layouts_of_the_header() {
    assert_eq!(LAYOUTS.len(), HEADER.len());
    for (slot, name, size, offsets) in HEADER {
        let ours = LAYOUTS.iter().find(|layout| layout.1 == *name).expect(name);
        assert_eq!(ours.0, *slot, "{name}");
        assert_eq!(ours.3[..offsets.len()], **offsets, "{name}");
        assert_eq!((ours.2, ours.3.len()), (*size, offsets.len()), "{name}");
    }
}

#[test]
fn other_structs_have_the_layouts_of_the_header() {
    assert_eq!(size_of::<ExtensionBase>(), 24);
    assert_eq!(size_of::<ApiVersion>(), 24);
    assert_eq!(size_of::<Table>(), 40);
    assert_eq!((size_of::<Program>(), offset_of!(Program, code), offset_of!(Program, format)), (48, 16, 32));
    assert_eq!(
        (size_of::<NamedInt>(), offset_of!(NamedInt, kind), offset_of!(NamedInt, value)),
        (56, 32, 40)
    );
    assert_eq!(offset_of!(NamedInt, value_size), 48);
    assert_eq!((size_of::<TiledLayout>(), offset_of!(TiledLayout, kind)), (80, 72));
    assert_eq!(offset_of!(TiledLayout, tiled_struct_size) + TILED_SIZE, offset_of!(TiledLayout, kind));
    // 112 bytes in 0.81; 0.97 and later added what comes behind `incarnation_ids`.
    assert_eq!(offset_of!(ExecuteOptions, launch_id), 48);
    assert_eq!(offset_of!(ExecuteOptions, non_donatable), 56);
    assert_eq!(offset_of!(ExecuteOptions, context), 72);
    assert_eq!(offset_of!(ExecuteOptions, incarnation_ids), 104);
    assert_eq!(offset_of!(ExecuteOptions, multi_slice_config), 112);
    assert_eq!(size_of::<ExecuteOptions>(), 144);
    // `pjrt_c_api_shardings_extension.h`.
    assert_eq!((size_of::<ShardingsExtension>(), offset_of!(ShardingsExtension, outputs)), (40, 32));
    assert_eq!((size_of::<ExecutableShardings>(), offset_of!(ExecutableShardings, sharding_sizes)), (48, 40));
}

#[test]
fn structs_start_with_their_own_size() {
    assert_eq!(ClientCreate::default().struct_size, size_of::<ClientCreate>());
    assert_eq!(ExecuteOptions::default().struct_size, 144);
}
