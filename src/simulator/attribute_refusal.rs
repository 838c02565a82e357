//! Why an agent answers without the attribute, and the status that says so.

/// Why an answer comes without the attribute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AttributeRefusal {
    UnsupportedMethod,
    UnsupportedAttribute,
    InvalidField,
    UnsupportedClass,
    /// AccessRegister knows no such register.
    UnsupportedRegister,
}

impl AttributeRefusal {
    /// The status field of the answer.
    pub fn status(self) -> u16 {
        match self {
            Self::UnsupportedMethod => 2 << 2,
            Self::UnsupportedAttribute => 3 << 2,
            Self::InvalidField => 7 << 2,
            Self::UnsupportedClass => 1 << 2,
            Self::UnsupportedRegister => 0x14,
        }
    }
}
