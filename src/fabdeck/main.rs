//! The program's entry point.

fn main() -> std::process::ExitCode {
    fabdeck::app::run()
}
