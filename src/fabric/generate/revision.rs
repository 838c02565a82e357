//! The revision of generated fabrics.

/// The revision of the generator and of the failures that seeds draw. It rises with every change after which a name or a
/// seed means another fabric, so that stored results of the old one are not mistaken for those of the new one.
pub const GENERATOR_REVISION: u32 = 1;
