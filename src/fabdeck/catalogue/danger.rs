//! What an action of the command line or of the console may change.

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Danger {
    /// Nothing.
    None,
    /// Writes a file that the operator names.
    WritesFile,
    /// Writes to the fabric, with a journal, and only after an opt-in.
    WritesFabric,
    /// Runs the program that the operator names, and stores the flows that it moved in a file.
    RunsProgram,
    /// Opens a socket that other processes of the same user can reach.
    OpensSocket,
}

impl Danger {
    pub fn title(self) -> &'static str {
        match self {
            Self::None => "changes nothing",
            Self::WritesFile => "writes the file you name",
            Self::WritesFabric => "writes to the fabric, after an opt-in",
            Self::RunsProgram => "runs the program you name, and stores the moved flows in the state folder",
            Self::OpensSocket => "opens the socket you name for other processes of the same user",
        }
    }
}
