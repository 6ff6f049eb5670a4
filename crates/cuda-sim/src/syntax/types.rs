//! The fundamental types and the state spaces of PTX.

/// What the bits of a type mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bits,
    Unsigned,
    Signed,
    Float,
    Predicate,
}

/// A fundamental type: `.u32`, `.f64`, `.pred`, ...
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Type {
    pub kind: Kind,
    /// Width in bits; 1 for a predicate.
    pub bits: u32,
}

impl Type {
    /// The type with this name, without its dot. Types that the simulator has no
    /// arithmetic for (16-bit floats and the like) are not found.
    pub fn named(name: &str) -> Option<Type> {
        if name == "pred" {
            return Some(Type {
                kind: Kind::Predicate,
                bits: 1,
            });
        }
        let kind = match name.as_bytes().first()? {
            b'b' => Kind::Bits,
            b'u' => Kind::Unsigned,
            b's' => Kind::Signed,
            b'f' => Kind::Float,
            _ => return None,
        };
        let bits = match &name[1..] {
            "8" => 8,
            "16" => 16,
            "32" => 32,
            "64" => 64,
            "128" if kind == Kind::Bits => 128,
            _ => return None,
        };
        (kind != Kind::Float || bits >= 32).then_some(Type { kind, bits })
    }

    /// Bytes in memory.
    pub fn bytes(self) -> u32 {
        self.bits.div_ceil(8)
    }

    pub fn is_signed(self) -> bool {
        self.kind == Kind::Signed
    }

    pub fn is_float(self) -> bool {
        self.kind == Kind::Float
    }
}

/// A state space, or the generic one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    Generic,
    Global,
    Constant,
    Shared,
    /// Shared memory of any block of the cluster.
    Cluster,
    Local,
    Param,
}

impl Space {
    /// The space with this name, without its dot and with its sub-qualifier.
    pub fn named(name: &str) -> Option<Space> {
        Some(match name {
            "global" => Space::Global,
            "const" => Space::Constant,
            "shared" | "shared::cta" => Space::Shared,
            "shared::cluster" => Space::Cluster,
            "local" => Space::Local,
            "param" | "param::entry" | "param::func" => Space::Param,
            _ => return None,
        })
    }

    pub fn name(self) -> &'static str {
        match self {
            Space::Generic => "generic",
            Space::Global => "global",
            Space::Constant => "constant",
            Space::Shared => "shared",
            Space::Cluster => "a cluster's shared",
            Space::Local => "local",
            Space::Param => "parameter",
        }
    }
}
