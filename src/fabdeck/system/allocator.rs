//! Makes the C library give large pieces of freed memory back to the system.
//!
//! By itself it raises the size from which it does so with each large piece that is freed, up to 32 MB. A reading of a
//! full subnet frees many such pieces, and the holes that they leave were a quarter of a console's memory.

#![allow(unsafe_code, reason = "the setting is a function of the C library")]

/// Sets the size to 1 MiB. Other C libraries than glibc return large pieces anyway.
pub fn return_large_pieces() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        use std::ffi::c_int;

        /// `M_MMAP_THRESHOLD` of `malloc.h`.
        const LARGE_PIECE: c_int = -3;
        const BYTES: c_int = 1 << 20;

        unsafe extern "C" {
            fn mallopt(parameter: c_int, value: c_int) -> c_int;
        }
        // SAFETY: the declaration is that of malloc.h. The function sets a number of the allocator and takes no pointer.
        // It returns 0 for a value that it refuses, and the number stays as it was.
        unsafe { mallopt(LARGE_PIECE, BYTES) };
    }
}
