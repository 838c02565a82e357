//! Why an adapter cannot be used, and what to do about it.

use std::io;

use super::adapter::{Adapter, PortChoice};
use super::library;
use fabdeck_mad::Class;
use fabdeck_mad::access::{PortError, SourceError};

fn adapter_error(code: &'static str, what: String, hint: impl Into<String>) -> SourceError {
    SourceError::Unreachable { code, what, hint: hint.into() }
}

pub fn no_library(reason: &str) -> SourceError {
    let what = format!("{} cannot be loaded: {reason}", library::LIBRARY_NAME);
    adapter_error(
        "FD-4201",
        what,
        "install it (Debian, Ubuntu: apt-get install libibumad3; RHEL, Rocky: dnf install libibumad), or write mad-library = \
         \"auto\" or \"none\" into the configuration: adapters are then read without it",
    )
}

pub fn no_adapter() -> SourceError {
    adapter_error(
        "FD-4202",
        "this machine has no InfiniBand adapter, or no driver for it".into(),
        "'lspci | grep -i -e infiniband -e mellanox' shows the hardware, 'modprobe mlx5_ib' (mlx4_ib) loads the \
         driver; in a container, give it the host's devices",
    )
}

pub fn no_such_adapter(name: &str, adapters: &[Adapter]) -> SourceError {
    let names: Vec<&str> = adapters.iter().map(|adapter| adapter.name.as_str()).collect();
    adapter_error(
        "FD-4203",
        format!("no adapter is called '{name}'"),
        format!("there are: {}", names.join(", ")),
    )
}

pub fn no_such_port(adapter: Option<&str>, port: Option<u8>, there: &[PortChoice<'_>]) -> SourceError {
    let what = match (adapter, port) {
        (Some(adapter), Some(port)) => format!("{adapter} has no port {port}"),
        (None, Some(port)) => format!("no adapter has a port {port}"),
        (Some(adapter), None) => format!("{adapter} has no port that can be read"),
        (None, None) => "no adapter has a port that can be read".to_owned(),
    };
    let names: Vec<String> = there.iter().map(PortChoice::name).collect();
    let hint = match names.is_empty() {
        true => "the driver may still be starting, or /sys/class/infiniband is not readable here".to_owned(),
        false => format!("there are: {}", names.join(", ")),
    };
    adapter_error("FD-4204", what, hint)
}

pub fn not_infiniband(ports: &[PortChoice<'_>]) -> SourceError {
    let said: Vec<String> =
        ports.iter().map(|port| format!("{} is {}", port.name(), port.port.link_layer)).collect();
    adapter_error(
        "FD-4207",
        said.join(", "),
        "RoCE has no subnet to manage; name an InfiniBand port, or set the port's type with 'mlxconfig set \
         LINK_TYPE_P1=1'",
    )
}

pub fn no_subnet_management(ports: &[PortChoice<'_>]) -> SourceError {
    let names: Vec<String> = ports.iter().map(PortChoice::name).collect();
    adapter_error(
        "FD-4215",
        format!("{} has no subnet management (IsSMDisabled)", names.join(", ")),
        "the driver shows no second device with the same port GUID (smi...) that has it; 'fabdeck sources' lists the \
         devices, a newer driver shows planes",
    )
}

pub fn all_down(ports: &[PortChoice<'_>]) -> SourceError {
    let said: Vec<String> = ports
        .iter()
        .map(|choice| {
            let state = choice.port.state.map_or("in an unknown state", |state| state.word());
            let physical = choice.port.physical_state.map_or(String::new(), |state| format!(" ({state})"));
            format!("{} is {state}{physical}", choice.name())
        })
        .collect();
    adapter_error(
        "FD-4206",
        said.join(", "),
        "no link: check the cable and the port of the switch, or name another port",
    )
}

pub fn no_device(port: &str) -> SourceError {
    adapter_error(
        "FD-4208",
        format!("{port} has no device for management datagrams"),
        "load the kernel module: modprobe ib_umad",
    )
}

pub fn old_kernel(device: &str) -> SourceError {
    adapter_error(
        "FD-4209",
        format!("{device} has the interface of a kernel before 2.6.24"),
        "use a newer kernel, or the ib_umad module of the running kernel",
    )
}

pub fn not_opened(device: &str, port: &str, e: &io::Error) -> SourceError {
    match e.kind() {
        io::ErrorKind::PermissionDenied => adapter_error(
            "FD-4205",
            format!("{device} ({port}) may not be opened: {e}"),
            "give a group access: the udev rule KERNEL==\"umad*\", GROUP=\"rdma\", MODE=\"0660\", then 'udevadm \
             trigger' and 'usermod -aG rdma USER'; or run fabdeck with sudo",
        ),
        io::ErrorKind::NotFound => adapter_error(
            "FD-4210",
            format!("{device} ({port}) does not exist: {e}"),
            "in a container, give it the device (--device); elsewhere udev makes it when ib_umad is loaded",
        ),
        _ => adapter_error(
            "FD-4210",
            format!("{device} ({port}) cannot be opened: {e}"),
            "'dmesg | grep -i umad' shows the kernel's messages; 'modprobe -r ib_umad && modprobe ib_umad' creates \
             the device again",
        ),
    }
}

fn port_error(code: &'static str, what: String, hint: &str) -> PortError {
    PortError::Gone { code, what, hint: hint.to_owned() }
}

pub fn no_agent(place: &str, class: Class, e: &io::Error) -> PortError {
    port_error(
        "FD-4211",
        format!("{place}: the kernel refuses datagrams of class 0x{:02x}: {e}", class.0),
        "ports of virtual machines and of locked-down hosts may not send subnet management MADs: run fabdeck on \
         another host",
    )
}

pub fn not_sent(place: &str, e: &io::Error) -> PortError {
    match e.kind() {
        io::ErrorKind::InvalidInput => port_error(
            "FD-4214",
            format!("{place}: the kernel refuses a datagram: {e}"),
            "a request with this transaction ID is still outstanding, or the address is invalid",
        ),
        _ => port_error(
            "FD-4212",
            format!("{place}: a datagram could not be sent: {e}"),
            "the adapter was removed or reset: 'fabdeck sources' shows what is there; then open it again",
        ),
    }
}

pub fn not_received(place: &str, e: &io::Error) -> PortError {
    port_error(
        "FD-4213",
        format!("{place}: nothing more can be received: {e}"),
        "the adapter was removed or reset: 'fabdeck sources' shows what is there; then open it again",
    )
}
