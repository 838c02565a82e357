//! Calls of the C library on a device of ib_umad and on the files that describe adapters.
//!
//! The calls go through the C library's functions `open`, `read`, `write`, `ioctl`, `poll` and `close` by these names,
//! because a preloaded library (ibsim's, or that of a test) replaces these alone: std opens files by `open64`, and
//! rustix calls the kernel itself. The number of a simulated device is no descriptor, so no `OwnedFd` holds it.

#![allow(unsafe_code, reason = "the calls of the C library have to keep their names")]

use std::ffi::{CStr, CString, c_int};
use std::io::{self, Read};
use std::os::fd::{FromRawFd, OwnedFd};

use super::packet::{Envelope, MAX_DATA_BYTES, RawPacket};
use rustix::ioctl::{Opcode, opcode};

/// Of `linux/rdma/ib_user_mad.h`.
const MAGIC: u8 = 0x1b;
const REGISTER_AGENT: Opcode = opcode::read_write::<RegisterRequest>(MAGIC, 1);
const UNREGISTER_AGENT: Opcode = opcode::write::<u32>(MAGIC, 2);
const ENABLE_PKEY: Opcode = opcode::none(MAGIC, 3);

/// `struct ib_user_mad_reg_req`: registers a class.
#[repr(C)]
#[derive(Debug)]
pub struct RegisterRequest {
    id: u32,
    /// One bit for each of 128 methods, in words of the kernel's `long`.
    method_mask: [u32; 4],
    queue_pair: u8,
    class: u8,
    class_version: u8,
    oui: [u8; 3],
    rmpp_version: u8,
}

impl RegisterRequest {
    pub fn new(class: u8, class_version: u8, method: Option<u8>) -> Self {
        /// The classes of subnet management, which queue pair 0 carries.
        const SUBNET_CLASSES: [u8; 2] = [0x01, 0x81];
        let mut method_mask = [0; 4];
        if let Some(method) = method {
            method_mask = mask_words(method);
        }
        let queue_pair = u8::from(!SUBNET_CLASSES.contains(&class));
        Self { id: 0, method_mask, queue_pair, class, class_version, oui: [0; 3], rmpp_version: 0 }
    }
}

/// The mask with the bit of one method.
fn mask_words(method: u8) -> [u32; 4] {
    let bit = u32::from(method) % libc::c_ulong::BITS;
    let word = ((1 as libc::c_ulong) << bit).to_ne_bytes();
    let at = usize::from(method) / libc::c_ulong::BITS as usize * word.len();
    let mut bytes = [0_u8; 16];
    for (to, from) in bytes.iter_mut().skip(at).zip(word) {
        *to = from;
    }
    let (words, _) = bytes.as_chunks::<4>();
    std::array::from_fn(|at| words.get(at).map_or(0, |word| u32::from_ne_bytes(*word)))
}

/// The content of a file of the kernel.
pub fn read_text(path: &str) -> io::Result<String> {
    let path = CString::new(path)?;
    // SAFETY: the path ends with a zero.
    let number = check(unsafe { libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) })?;
    // SAFETY: the descriptor was opened just now, and nothing else has it.
    let file = std::fs::File::from(unsafe { OwnedFd::from_raw_fd(number) });
    let mut bytes = Vec::new();
    file.take(4096).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The result of a call, which is negative where errno has the error.
fn check(result: c_int) -> io::Result<c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// An open device of ib_umad.
#[derive(Debug)]
pub struct KernelFile(c_int);

impl KernelFile {
    pub fn open(path: &CStr) -> io::Result<Self> {
        let flags = libc::O_RDWR | libc::O_NONBLOCK | libc::O_CLOEXEC;
        // SAFETY: the path ends with a zero.
        check(unsafe { libc::open(path.as_ptr(), flags) }).map(Self)
    }

    /// Asks for the header with the index of the P_Key.
    pub fn enable_pkey(&self) -> io::Result<()> {
        // SAFETY: this request has no argument.
        check(unsafe { libc::ioctl(self.0, ENABLE_PKEY as _) }).map(drop)
    }

    /// Registers a class, and returns the number of the agent.
    pub fn register(&self, mut request: RegisterRequest) -> io::Result<u32> {
        // SAFETY: the request has the layout that its number states, and lives as long as the call.
        check(unsafe { libc::ioctl(self.0, REGISTER_AGENT as _, &raw mut request) })?;
        Ok(request.id)
    }

    pub fn unregister(&self, mut agent: u32) -> io::Result<()> {
        // SAFETY: the argument has the size that the number of the request states, and lives as long as the call.
        check(unsafe { libc::ioctl(self.0, UNREGISTER_AGENT as _, &raw mut agent) }).map(drop)
    }

    /// Sends a packet with this number of bytes of data.
    pub fn write(&self, packet: &RawPacket, data_bytes: usize) -> io::Result<()> {
        let bytes = size_of::<Envelope>() + data_bytes.min(MAX_DATA_BYTES);
        // SAFETY: the packet has at least this number of bytes, without padding.
        let written = unsafe { libc::write(self.0, (&raw const *packet).cast(), bytes) };
        match usize::try_from(written) {
            Ok(written) if written == bytes => Ok(()),
            Ok(_) => Err(io::ErrorKind::WriteZero.into()),
            Err(_) => Err(io::Error::last_os_error()),
        }
    }

    /// Reads a packet, and returns the number of bytes of its data.
    pub fn read(&self, packet: &mut RawPacket) -> io::Result<usize> {
        // SAFETY: the packet has this size, and any bytes are a packet.
        let read = unsafe { libc::read(self.0, (&raw mut *packet).cast(), size_of::<RawPacket>()) };
        let read = match read {
            0.. => read.cast_unsigned(),
            -1 => return Err(io::Error::last_os_error()),
            // ibsim's library returns the negative number of the error instead, and leaves errno as it was.
            _ => {
                return Err(io::Error::from_raw_os_error(
                    i32::try_from(read.unsigned_abs()).unwrap_or(i32::MAX),
                ));
            }
        };
        read.checked_sub(size_of::<Envelope>()).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// Waits until a packet can be read, at most for `wait_ms`.
    pub fn wait(&self, wait_ms: c_int) {
        let mut wanted = libc::pollfd { fd: self.0, events: libc::POLLIN, revents: 0 };
        // SAFETY: there is one entry, as stated, and it lives as long as the call.
        unsafe { libc::poll(&raw mut wanted, 1, wait_ms) };
    }
}

impl Drop for KernelFile {
    fn drop(&mut self) {
        // SAFETY: the number is that of the opened device, and is not used again.
        unsafe { libc::close(self.0) };
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::mem::offset_of;
    use std::process::Command;

    use super::*;

    /// Prints what the kernel's header says of requests.
    const PROGRAM: &str = r#"
        #include <stddef.h>
        #include <stdio.h>
        #include <rdma/ib_user_mad.h>
        #define AT(field) printf(#field " %zu\n", offsetof(struct ib_user_mad_reg_req, field))
        int main(void) {
            printf("size %zu\n", sizeof(struct ib_user_mad_reg_req));
            AT(id); AT(method_mask); AT(qpn); AT(mgmt_class); AT(mgmt_class_version); AT(oui); AT(rmpp_version);
            printf("register %lu\n", (unsigned long)IB_USER_MAD_REGISTER_AGENT);
            printf("unregister %lu\n", (unsigned long)IB_USER_MAD_UNREGISTER_AGENT);
            printf("enable %lu\n", (unsigned long)IB_USER_MAD_ENABLE_PKEY);
            return 0;
        }
    "#;

    #[test]
    fn requests_are_those_of_the_kernels_header() {
        let folder = tempfile::tempdir().unwrap();
        let (source, program) = (folder.path().join("requests.c"), folder.path().join("requests"));
        std::fs::write(&source, PROGRAM).unwrap();
        let built =
            Command::new("cc").arg(&source).arg("-o").arg(&program).output().expect("cc (Debian: gcc)");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let printed = String::from_utf8(Command::new(&program).output().unwrap().stdout).unwrap();
        let line =
            |line: &str| line.split_once(' ').map(|(name, value)| (name.to_owned(), value.parse().unwrap()));
        let header: BTreeMap<String, u64> = printed.lines().filter_map(line).collect();
        let own = [
            ("size", size_of::<RegisterRequest>() as u64),
            ("id", offset_of!(RegisterRequest, id) as u64),
            ("method_mask", offset_of!(RegisterRequest, method_mask) as u64),
            ("qpn", offset_of!(RegisterRequest, queue_pair) as u64),
            ("mgmt_class", offset_of!(RegisterRequest, class) as u64),
            ("mgmt_class_version", offset_of!(RegisterRequest, class_version) as u64),
            ("oui", offset_of!(RegisterRequest, oui) as u64),
            ("rmpp_version", offset_of!(RegisterRequest, rmpp_version) as u64),
            ("register", u64::from(REGISTER_AGENT)),
            ("unregister", u64::from(UNREGISTER_AGENT)),
            ("enable", u64::from(ENABLE_PKEY)),
        ];
        assert_eq!(header, own.map(|(name, value)| (name.to_owned(), value)).into());
    }

    #[test]
    fn a_method_is_one_bit_of_the_mask() {
        let bits = |method| mask_words(method).map(u32::count_ones).iter().sum::<u32>();
        assert!((0..128).all(|method| bits(method) == 1));
        if cfg!(target_endian = "little") {
            assert_eq!(mask_words(0x06), [1 << 6, 0, 0, 0]);
            assert_eq!(mask_words(0x41), [0, 0, 1 << 1, 0]);
        }
    }

    #[test]
    fn subnet_management_has_queue_pair_0() {
        let queue_pair = |class| RegisterRequest::new(class, 1, None).queue_pair;
        assert_eq!([0x01, 0x81, 0x03, 0x04].map(queue_pair), [0, 0, 1, 1]);
    }
}
