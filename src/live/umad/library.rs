//! A safe interface to the functions of libibumad. It copies everything that it takes from the library, and no pointer
//! leaves it.

#![allow(unsafe_code, reason = "libibumad is a C library")]

use std::error::Error;
use std::ffi::{CString, c_char, c_int, c_long, c_uint, c_void};
use std::os::fd::BorrowedFd;
use std::{fmt, io, ptr};

use super::driver::{UmadAgent, UmadDevice, UmadDriver};
use super::packet::{
    Endpoint, Envelope, MAX_DATA_BYTES, RawPacket, ReceivedPacket, UmadAdapterFacts, UmadPortFacts, wait_ms,
};
use fabdeck_mad::MAD_SIZE;

/// The soname, which is the same in every distribution.
pub const LIBRARY_NAME: &str = "libibumad.so.3";

const NAME_SIZE: usize = 20;
const ADAPTERS_MAX: usize = 32;
const PORTS_MAX: usize = 10;
const PATH_SIZE: usize = 256;

#[repr(C)]
struct RawPort {
    ca_name: [u8; NAME_SIZE],
    portnum: c_int,
    base_lid: c_uint,
    lmc: c_uint,
    sm_lid: c_uint,
    sm_sl: c_uint,
    state: c_uint,
    phys_state: c_uint,
    rate: c_uint,
    capmask: u32,
    gid_prefix: u64,
    port_guid: u64,
    pkeys_size: c_uint,
    pkeys: *mut u16,
    link_layer: [u8; NAME_SIZE],
}

#[repr(C)]
struct RawAdapter {
    ca_name: [u8; NAME_SIZE],
    node_type: c_uint,
    numports: c_int,
    fw_ver: [u8; 20],
    ca_type: [u8; 40],
    hw_ver: [u8; 20],
    node_guid: u64,
    system_guid: u64,
    ports: [*mut RawPort; PORTS_MAX],
}

impl RawAdapter {
    fn empty() -> Self {
        Self {
            ca_name: [0; NAME_SIZE],
            node_type: 0,
            numports: 0,
            fw_ver: [0; 20],
            ca_type: [0; 40],
            hw_ver: [0; 20],
            node_guid: 0,
            system_guid: 0,
            ports: [ptr::null_mut(); PORTS_MAX],
        }
    }
}

/// One bit for each of 128 methods.
type MethodMask = [c_long; METHOD_WORDS];
const METHOD_WORDS: usize = 128 / c_long::BITS as usize;

type Names = [[u8; NAME_SIZE]; ADAPTERS_MAX];

/// The functions in use. The library stays loaded as long as they can be called.
pub struct UmadLibrary {
    get_cas_names: unsafe extern "C" fn(*mut [u8; NAME_SIZE], c_int) -> c_int,
    get_ca: unsafe extern "C" fn(*const c_char, *mut RawAdapter) -> c_int,
    release_ca: unsafe extern "C" fn(*mut RawAdapter) -> c_int,
    get_issm_path: unsafe extern "C" fn(*const c_char, c_int, *mut c_char, c_int) -> c_int,
    open_port: unsafe extern "C" fn(*const c_char, c_int) -> c_int,
    close_port: unsafe extern "C" fn(c_int) -> c_int,
    register: unsafe extern "C" fn(c_int, c_int, c_int, u8, *mut c_long) -> c_int,
    unregister: unsafe extern "C" fn(c_int, c_int) -> c_int,
    size: unsafe extern "C" fn() -> usize,
    send: unsafe extern "C" fn(c_int, c_int, *mut c_void, c_int, c_int, c_int) -> c_int,
    recv: unsafe extern "C" fn(c_int, *mut c_void, *mut c_int, c_int) -> c_int,
    _library: libloading::Library,
}

/// A function by its name, with the type of the field that holds it.
///
/// # Safety
/// `F` is the function's type by the header.
unsafe fn load_function<F: Copy>(library: &libloading::Library, name: &str) -> Result<F, String> {
    // SAFETY: the caller answers for the type; the copy is kept beside the library only.
    unsafe { library.get::<F>(name.as_bytes()).map(|symbol| *symbol).map_err(load_error_text) }
}

/// The message of the loader, since the error itself names only the failed step.
fn load_error_text(e: libloading::Error) -> String {
    e.source().map_or_else(|| e.to_string(), ToString::to_string)
}

impl UmadLibrary {
    /// Loads libibumad. The error is the loader's message.
    pub fn load() -> Result<Self, String> {
        Self::load_from(LIBRARY_NAME)
    }

    pub(crate) fn load_from(name: &str) -> Result<Self, String> {
        // SAFETY: loading runs the library's initialisers; libibumad has none of its own.
        let library = unsafe { libloading::Library::new(name).map_err(load_error_text)? };
        // SAFETY: the types are those of the functions in <infiniband/umad.h>.
        unsafe {
            let init: unsafe extern "C" fn() -> c_int = load_function(&library, "umad_init")?;
            // `umad_init` does nothing in any known version, but the header requires it. It cannot fail.
            init();
            Ok(Self {
                get_cas_names: load_function(&library, "umad_get_cas_names")?,
                get_ca: load_function(&library, "umad_get_ca")?,
                release_ca: load_function(&library, "umad_release_ca")?,
                get_issm_path: load_function(&library, "umad_get_issm_path")?,
                open_port: load_function(&library, "umad_open_port")?,
                close_port: load_function(&library, "umad_close_port")?,
                register: load_function(&library, "umad_register")?,
                unregister: load_function(&library, "umad_unregister")?,
                size: load_function(&library, "umad_size")?,
                send: load_function(&library, "umad_send")?,
                recv: load_function(&library, "umad_recv")?,
                _library: library,
            })
        }
    }
}

impl UmadDriver for UmadLibrary {
    fn adapter_names(&self) -> Vec<String> {
        let mut names: Names = [[0; NAME_SIZE]; ADAPTERS_MAX];
        // SAFETY: there is room for as many names as stated, each of the size that the header states.
        let count = unsafe { (self.get_cas_names)(names.as_mut_ptr(), ADAPTERS_MAX as c_int) };
        let count = usize::try_from(count).unwrap_or(0);
        names.iter().take(count).map(|name| text_until_zero(name)).filter(|name| !name.is_empty()).collect()
    }

    fn adapter(&self, name: &str) -> Option<UmadAdapterFacts> {
        let name = CString::new(name).ok()?;
        let mut raw = RawAdapter::empty();
        // SAFETY: the name ends with a zero, and the structure is the header's.
        if unsafe { (self.get_ca)(name.as_ptr(), &mut raw) } < 0 {
            return None;
        }
        // SAFETY: a pointer that is not null is to a port that the library keeps until it is released below.
        let ports = raw.ports.iter().filter_map(|port| unsafe { port.as_ref() }).map(port_facts).collect();
        let found = UmadAdapterFacts { node_guid: u64::from_be(raw.node_guid), ports };
        // SAFETY: `raw` is as the library filled it, and nothing points into it any more. It cannot fail.
        unsafe { (self.release_ca)(&mut raw) };
        Some(found)
    }

    /// The library only returns the issm file, which a subnet manager opens; the umad file beside it has the same number.
    fn device_path(&self, adapter: &str, port: u8) -> Option<String> {
        let name = CString::new(adapter).ok()?;
        let mut path = [0_u8; PATH_SIZE];
        // SAFETY: the name ends with a zero, and there is room for as many bytes as stated.
        let result = unsafe {
            (self.get_issm_path)(name.as_ptr(), port.into(), path.as_mut_ptr().cast(), PATH_SIZE as c_int)
        };
        if result < 0 {
            return None;
        }
        let path = text_until_zero(&path);
        let (folder, file) = path.rsplit_once('/')?;
        Some(format!("{folder}/umad{}", file.strip_prefix("issm")?))
    }

    fn open(self: Box<Self>, adapter: &str, port: u8) -> io::Result<Box<dyn UmadDevice>> {
        Ok(Box::new(self.open_device(adapter, port)?))
    }
}

impl UmadLibrary {
    fn open_device(self: Box<Self>, adapter: &str, port: u8) -> io::Result<LibraryDevice> {
        let name = CString::new(adapter)?;
        // SAFETY: the name ends with a zero.
        let result = unsafe { (self.open_port)(name.as_ptr(), port.into()) };
        let system = io::Error::last_os_error();
        if result < 0 {
            // Only a device that could not be opened leaves its reason in errno; the other results are the library's
            // numbers.
            let refused = matches!(-result, FAILURE_IN_ERRNO | EIO);
            return Err(if refused { system } else { io::Error::from_raw_os_error(-result) });
        }
        set_close_on_exec(result);
        Ok(LibraryDevice { library: self, id: result, packet: RawPacket::empty() })
    }
}

/// Keeps programs that this process starts (hooks, guards, OpenSM's tools) from sending MADs: libibumad opens devices
/// without `O_CLOEXEC`. The number of a simulated device is no descriptor, so nothing is inherited.
fn set_close_on_exec(id: c_int) {
    // SAFETY: the number is that of a device that was opened just now and is closed by its `Device` alone; it is used here
    // only as long as this call lasts.
    let file = unsafe { BorrowedFd::borrow_raw(id) };
    let _ = rustix::io::fcntl_setfd(file, rustix::io::FdFlags::CLOEXEC);
}

/// The library's numbers for a failure with its reason in errno.
const FAILURE_IN_ERRNO: i32 = 1;
const EIO: i32 = 5;
/// A value that is no status of a packet. The library does not distinguish a read of nothing from a packet without
/// data.
const UNTOUCHED_STATUS: u32 = u32::MAX;

/// The mask with the bit of one method.
fn method_mask(method: u8) -> MethodMask {
    let mut mask: MethodMask = [0; METHOD_WORDS];
    let (word, bit) = (u32::from(method) / c_long::BITS, u32::from(method) % c_long::BITS);
    if let Some(word) = mask.get_mut(word as usize) {
        *word |= 1 << bit;
    }
    mask
}

/// The text up to its terminating zero.
fn text_until_zero(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(bytes.get(..end).unwrap_or(bytes)).into_owned()
}

fn port_facts(port: &RawPort) -> UmadPortFacts {
    UmadPortFacts {
        number: u32::try_from(port.portnum).unwrap_or(0),
        guid: u64::from_be(port.port_guid),
        lid: port.base_lid,
        manager_lid: port.sm_lid,
        state: port.state,
        physical_state: port.phys_state,
        rate_gbps: port.rate,
        capabilities: u32::from_be(port.capmask),
        link_layer: text_until_zero(&port.link_layer),
    }
}

/// An open port. A simulator may invent its number, so only the library may use it.
struct LibraryDevice {
    library: Box<UmadLibrary>,
    id: c_int,
    packet: Box<RawPacket>,
}

impl UmadDevice for LibraryDevice {
    fn has_current_envelope(&self) -> bool {
        // SAFETY: the function takes nothing and returns a number.
        unsafe { (self.library.size)() == size_of::<Envelope>() }
    }

    fn register(&mut self, class: u8, version: u8, method: Option<u8>) -> io::Result<UmadAgent> {
        let mut mask = method.map(method_mask);
        let mask = mask.as_mut();
        let mask = mask.map_or(ptr::null_mut(), |mask| mask.as_mut_ptr());
        // SAFETY: the mask is null, which the library allows for, or of the header's size and lives as long as the call.
        let result = unsafe { (self.library.register)(self.id, class.into(), version.into(), 0, mask) };
        match result {
            0.. => Ok(UmadAgent(result)),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn send(
        &mut self,
        agent: UmadAgent,
        to: Endpoint,
        mad: &[u8; MAD_SIZE],
        timeout_ms: i32,
    ) -> io::Result<()> {
        self.packet.fill(to, mad);
        let packet: *mut RawPacket = &mut *self.packet;
        // SAFETY: the packet has the header's layout (`current` was asked), and more room than the length stated.
        let result =
            unsafe { (self.library.send)(self.id, agent.0, packet.cast(), MAD_SIZE as c_int, timeout_ms, 0) };
        match result {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn receive(&mut self, wait: std::time::Duration) -> io::Result<Option<ReceivedPacket<'_>>> {
        let wait_ms = wait_ms(wait);
        match self.read(wait_ms) {
            // A wait may fail for reasons of its own (a signal, a simulator's false alarm), so the read decides.
            Err(_) if wait_ms > 0 => self.read(0),
            read => read,
        }
        .map(|length| length.map(|length| self.packet.received(length)))
    }

    fn unregister(&mut self, agent: UmadAgent) {
        // SAFETY: both numbers are the library's own. A refusal changes nothing: the device is about to be closed.
        unsafe { (self.library.unregister)(self.id, agent.0) };
    }
}

impl LibraryDevice {
    fn read(&mut self, wait_ms: c_int) -> io::Result<Option<usize>> {
        let mut length = MAX_DATA_BYTES as c_int;
        self.packet.envelope.status = UNTOUCHED_STATUS;
        let packet: *mut RawPacket = &mut *self.packet;
        // SAFETY: behind the envelope there is room for as many bytes as stated.
        let result = unsafe { (self.library.recv)(self.id, packet.cast(), &mut length, wait_ms) };
        let system = io::Error::last_os_error();
        if result >= 0 {
            if length <= 0 && self.packet.envelope.status == UNTOUCHED_STATUS {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            return Ok(Some(usize::try_from(length).unwrap_or(0).min(MAX_DATA_BYTES)));
        }
        let own = io::Error::from_raw_os_error(-result);
        let silent = |e: &io::Error| {
            use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
            matches!(e.kind(), TimedOut | WouldBlock | Interrupted)
        };
        match silent(&own) || silent(&system) {
            true => Ok(None),
            false => Err(if system.raw_os_error() == Some(0) { own } else { system }),
        }
    }
}

impl Drop for LibraryDevice {
    fn drop(&mut self) {
        // SAFETY: the number is the library's own and is not used again.
        unsafe { (self.library.close_port)(self.id) };
    }
}

/// Functions and packets have nothing to show.
impl fmt::Debug for UmadLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Library").finish_non_exhaustive()
    }
}

impl fmt::Debug for LibraryDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").field("id", &self.id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::mem::offset_of;
    use std::process::Command;

    use super::*;

    /// Compares sizes and offsets here with those that a C program prints from the header.
    macro_rules! layout {
        ($($ours:ident = $theirs:ident { $($field:ident = $name:literal),* $(,)? })*) => {{
            let mut here = BTreeMap::new();
            let mut program = String::from("#include <stdio.h>\n#include <stddef.h>\n#include <infiniband/umad.h>\nint main(void) {\n");
            $(
                here.insert(format!("sizeof {}", stringify!($theirs)), size_of::<$ours>());
                program += &format!("printf(\"sizeof {0} %zu\\n\", sizeof({0}));\n", stringify!($theirs));
                $(
                    here.insert(format!("{} {}", stringify!($theirs), $name), offset_of!($ours, $field));
                    program += &format!("printf(\"{0} {1} %zu\\n\", offsetof({0}, {1}));\n", stringify!($theirs), $name);
                )*
            )*
            program += "printf(\"names %d\\n\", UMAD_CA_NAME_LEN);\nprintf(\"ports %d\\n\", UMAD_CA_MAX_PORTS);\n";
            here.insert("names".to_owned(), NAME_SIZE);
            here.insert("ports".to_owned(), PORTS_MAX);
            program += "return 0; }\n";
            (here, program)
        }};
    }

    #[test]
    fn structures_lie_as_the_header_has_them() {
        let (here, program) = layout! {
            RawPort = umad_port_t { ca_name = "ca_name", portnum = "portnum", base_lid = "base_lid", lmc = "lmc",
                sm_lid = "sm_lid", sm_sl = "sm_sl", state = "state", phys_state = "phys_state", rate = "rate",
                capmask = "capmask", gid_prefix = "gid_prefix", port_guid = "port_guid", pkeys_size = "pkeys_size",
                pkeys = "pkeys", link_layer = "link_layer" }
            RawAdapter = umad_ca_t { ca_name = "ca_name", node_type = "node_type", numports = "numports",
                fw_ver = "fw_ver", ca_type = "ca_type", hw_ver = "hw_ver", node_guid = "node_guid",
                system_guid = "system_guid", ports = "ports" }
            Envelope = ib_user_mad_t { agent_id = "agent_id", status = "status", timeout_ms = "timeout_ms",
                retries = "retries", length = "length", qpn = "addr.qpn", qkey = "addr.qkey", lid = "addr.lid",
                sl = "addr.sl", path_bits = "addr.path_bits", grh_present = "addr.grh_present",
                gid_index = "addr.gid_index", hop_limit = "addr.hop_limit", traffic_class = "addr.traffic_class",
                gid = "addr.gid", flow_label = "addr.flow_label", pkey_index = "addr.pkey_index",
                reserved = "addr.reserved" }
        };
        let folder = tempfile::tempdir().unwrap();
        let (source, binary) = (folder.path().join("offsets.c"), folder.path().join("offsets"));
        std::fs::write(&source, program).unwrap();
        let built =
            Command::new("cc").arg(&source).arg("-o").arg(&binary).output().expect("cc (Debian: gcc)");
        let talk = String::from_utf8_lossy(&built.stderr).into_owned();
        assert!(built.status.success(), "headers of libibumad-dev are needed: {talk}");
        let said = String::from_utf8(Command::new(&binary).output().unwrap().stdout).unwrap();
        let line =
            |line: &str| line.rsplit_once(' ').map(|(name, at)| (name.to_owned(), at.parse().unwrap()));
        let there: BTreeMap<String, usize> = said.lines().filter_map(line).collect();
        assert_eq!(here, there);
        assert_eq!(
            offset_of!(RawPacket, data),
            size_of::<Envelope>(),
            "nothing between envelope and datagram"
        );
    }

    /// A substitute library whose devices are `/dev/null`, opened as libibumad opens them.
    const STAND_IN: &str = r#"
        #include <fcntl.h>
        #include <stddef.h>
        #include <unistd.h>
        int umad_init(void) { return 0; }
        int umad_get_cas_names(char n[][20], int m) { return 0; }
        int umad_get_ca(const char *n, void *c) { return -1; }
        int umad_release_ca(void *c) { return 0; }
        int umad_get_issm_path(const char *n, int p, char *t, int m) { return -1; }
        int umad_open_port(const char *n, int p) { return open("/dev/null", O_RDWR | O_NONBLOCK); }
        int umad_close_port(int i) { return close(i); }
        int umad_register(int i, int c, int v, unsigned char r, long *m) { return 0; }
        int umad_unregister(int i, int a) { return 0; }
        size_t umad_size(void) { return 0; }
        int umad_send(int i, int a, void *u, int l, int t, int r) { return 0; }
        int umad_recv(int i, void *u, int *l, int t) { return -1; }
    "#;

    #[test]
    fn child_processes_do_not_inherit_an_open_device() {
        let folder = tempfile::tempdir().unwrap();
        let (source, library) = (folder.path().join("stand_in.c"), folder.path().join("stand_in.so"));
        std::fs::write(&source, STAND_IN).unwrap();
        let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).output();
        let built = built.expect("cc (Debian: gcc)");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let library = UmadLibrary::load_from(library.to_str().unwrap()).unwrap();
        let device = Box::new(library).open_device("mlx5_0", 1).unwrap();
        let entry = format!("/proc/self/fd/{}", device.id);
        assert_eq!(std::fs::read_link(&entry).unwrap().to_str(), Some("/dev/null"));
        // The standard files of the program are pipes and no input, so that the device is the only descriptor of its
        // kind.
        let program = Command::new("test").args(["-e", &entry]).stdin(std::process::Stdio::piped()).output();
        assert_eq!(program.unwrap().status.code(), Some(1), "the program has {entry}");
    }

    #[test]
    fn a_library_that_is_not_there_is_an_error() {
        let e = UmadLibrary::load_from("libibumad-absent.so.3").unwrap_err();
        assert!(e.contains("libibumad-absent.so.3: cannot open"), "{e}");
    }

    #[test]
    fn another_library_is_an_error() {
        // Every Linux process has this library, and it has none of the functions.
        let e = UmadLibrary::load_from("libc.so.6").unwrap_err();
        assert!(e.contains("umad_init"), "{e}");
    }

    #[test]
    fn text_ends_at_its_zero_or_with_its_bytes() {
        assert_eq!(text_until_zero(b"mlx5_0\0\0rest"), "mlx5_0");
        assert_eq!(text_until_zero(b"full"), "full");
        assert_eq!(text_until_zero(b""), "");
    }
}
