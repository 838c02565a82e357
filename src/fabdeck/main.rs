//! The binary.

fn main() -> std::process::ExitCode {
    fabdeck::app::run()
}
