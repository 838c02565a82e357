//! The studies of the package: those of the papers, and the one for a fabric of one's own.

/// A study of the package.
#[derive(Clone, Copy, Debug)]
pub struct BuiltInStudy {
    pub name: &'static str,
    pub text: &'static str,
}

macro_rules! built_in {
    ($($name:literal),+ $(,)?) => {
        &[$(BuiltInStudy { name: $name, text: include_str!(concat!("built_in/", $name, ".toml")) }),+]
    };
}

/// The studies, in the order of `study list`.
pub const BUILT_IN_STUDIES: &[BuiltInStudy] = built_in![
    "next-failures",
    "domke-small",
    "domke-small-uniform",
    "domke-large",
    "tsubame2",
    "deimos",
    "lost-4.2",
    "nue-6.2",
    "nue-6.10",
    "nue-6.11",
    "nue-6.12",
    "opt-II",
    "mlid",
    "sample",
];

pub fn find_built_in(name: &str) -> Option<&'static BuiltInStudy> {
    BUILT_IN_STUDIES.iter().find(|study| study.name == name)
}
