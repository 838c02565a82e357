//! Errors of traffic settings.

/// Why a run cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrafficError {
    #[error(
        "FD-4411: traffic needs two hosts with a LID at a switch, and there are {0}; mend the fabric or the marks"
    )]
    FewHosts(usize),
    #[error(
        "FD-4412: {0} cannot send or receive traffic: flows go between connected ports of hosts and switches that \
         have a LID"
    )]
    NoEnd(String),
    #[error(
        "FD-4413: {spots} hot-spots need as many groups of two hosts at least, and there are {hosts} hosts; ask for fewer"
    )]
    ManySpots { spots: u32, hosts: usize },
    #[error(
        "FD-4415: {0} sends by the pattern and cannot send a flow beside it; leave it out of the pattern or of the flows"
    )]
    TwoPatterns(String),
    #[error("FD-4415: a pattern beside another one is no mixed one itself; name its flows instead")]
    NestedPattern,
    #[error("FD-4414: {value} is not possible for {what}; {hint}")]
    Setting { what: &'static str, value: String, hint: &'static str },
}
