//! The priority of threads that compute for the console.

/// By how much computing threads stand behind the one that draws.
#[cfg(target_os = "linux")]
const COMPUTATION_NICE: i32 = 5;

/// Lets other threads go before this one and those that it starts. Only Linux has a priority for each thread; elsewhere
/// nothing happens.
pub fn lower_thread_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(COMPUTATION_NICE) {
        tracing::debug!("a computing thread keeps its priority: {error}");
    }
}
