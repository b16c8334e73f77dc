//! The packages that are known to hold a plugin, and the exact ones that may be fetched.

use super::search::Platform;

/// A package that holds a plugin: where its library lies under `site-packages`.
pub(super) struct Known {
    /// What it is for.
    pub(super) platform: Platform,
    /// The library, relative to the folder that packages are installed into.
    pub(super) library: &'static str,
}

/// Packages to look for in an environment, best first.
pub(super) const KNOWN: &[Known] = &[
    Known { platform: Platform::Tpu, library: "libtpu/libtpu.so" },
    Known { platform: Platform::Cuda, library: "jax_plugins/xla_cuda13/xla_cuda_plugin.so" },
    Known { platform: Platform::Cpu, library: "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so" },
    Known { platform: Platform::Cpu, library: "fastatomstruct_xla_cpu/libpjrt_cpu.so" },
    Known { platform: Platform::Cpu, library: "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so" },
];

/// The package that an error recommends.
pub(super) const RECOMMENDED: &str = "lammps-jax-pjrt-cpu==0.11.2";

/// A wheel that may be fetched.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pinned {
    /// Name and version for pip.
    pub(super) requirement: &'static str,
    /// The SHA-256 of the wheel.
    pub(super) wheel_sha256: &'static str,
    /// The library inside the wheel.
    pub(super) library: &'static str,
    /// The SHA-256 of the library.
    pub(super) library_sha256: &'static str,
    /// The size of the library in bytes.
    pub(super) library_bytes: u64,
}

/// CPU plugins for this kind of machine, best first. All are Apache-2.0 and were built by others from XLA's
/// sources.
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
pub(super) const PINNED: &[Pinned] = &[
    Pinned {
        requirement: RECOMMENDED,
        wheel_sha256: "1319390d948b39f69f7dade496b7c385149d9ca6097a6b62114da113216d9ad1",
        library: "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so",
        library_sha256: "ad1309ac822b1b24d51b7f9947c7c9fa9ef5d67f390584cbc3d1fa2428fed9c2",
        library_bytes: 201_600_336,
    },
    Pinned {
        requirement: "fastatomstruct-xla-cpu==2026.6.23",
        wheel_sha256: "88b1c430b341b4bea40a37420311c9c75db6e22b46d2ff95b6986577bee6afe9",
        library: "fastatomstruct_xla_cpu/libpjrt_cpu.so",
        library_sha256: "0a0fe56ca17be9efc7b942e89e534e5e0ad4a0f1e369b66d27b62184509015b9",
        library_bytes: 273_768_800,
    },
];

/// No plugin is pinned for this kind of machine.
#[cfg(not(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")))]
pub(super) const PINNED: &[Pinned] = &[];
