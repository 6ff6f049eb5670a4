//! The enum of operations, and the declaration of each as a constant, expanded from the
//! declarations.

use super::{Cost, Declaration, Flag, Property, Row, Signs, Syntax, Width};
use crate::algorithm::{Algorithm, Level};
use crate::shape::Layout;
use crate::specialization::Family;

/// A list of a declaration, in brackets or braces, as a slice; with `is_one_text`, whether it
/// stands in braces.
macro_rules! list {
    ([$($one:literal)*]) => { &[$($one),*] };
    ({$($one:literal)*}) => { &[$($one),*] };
    ([$($layout:ident)*]) => { &[$(Layout::named(stringify!($layout))),*] };
    ({$($layout:ident)*}) => { &[$(Layout::named(stringify!($layout))),*] };
    (is_one_text [$($one:tt)*]) => { false };
    (is_one_text {$($one:tt)*}) => { true };
}

/// The value that a declaration states, or the default where it states none.
macro_rules! or {
    ($said:expr; $else:expr) => {
        $said
    };
    (; $else:expr) => {
        $else
    };
}

macro_rules! operations {
    ($(
        $(#[$doc:meta])*
        $variant:ident $name:ident ($($operand:ident),*) -> ($($result:ident),*) {
            exact: [$($exact:ident($limbs:literal)),*],
            flag: $flag:ident,
            methods: $method:ident [$($wrapping:ident)?] [$($overflowing:ident)?],
            syntax: $syntax:ident$(($symbol:literal))?,
            $(signs: $signs:ident,)?
            $(cost: $cost:ident,)?
            $(properties: [$($property:ident)*],)?
            kernels: {$(
                $algorithm:ident $level:ident $lanes:tt $layouts:tt
                $(: $family:ident)? $(@ $blocks:literal)? $(= $text:ident $by:ident)?
            )*}
        }
    )*) => {
        /// An operation on batches, number by number.
        ///
        /// Every operation takes operands of any widths, and results of any width `w`. It
        /// computes the exact value modulo 2^(32 w). Exact forms have a result that is wide
        /// enough for every value; wrapping forms have a narrower one.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Operation {
            $($(#[$doc])* $variant,)*
        }

        impl Operation {
            /// Every operation, in the order of their declarations.
            pub const ALL: [Operation; [$(stringify!($variant)),*].len()] =
                [$(Operation::$variant),*];

            /// Whether the operation's one result is a single limb. (It is a constant for each
            /// operation, so that kernels, which must not contain the declarations, can use it.)
            #[inline(always)]
            pub const fn makes_one_limb(self) -> bool {
                match self {
                    $(Operation::$variant => const {
                        matches!(&[$(Width::$exact($limbs)),*] as &[Width], [Width::Limbs(1)])
                    },)*
                }
            }

            /// The operation's declaration.
            pub const fn declaration(self) -> &'static Declaration {
                match self {
                    $(Operation::$variant => const { &Declaration {
                        name: stringify!($name),
                        operands: &[$(stringify!($operand)),*],
                        results: &[$(stringify!($result)),*],
                        exact: &[$(Width::$exact($limbs)),*],
                        flag: Flag::$flag,
                        wraps: !<[&str]>::is_empty(&[$(stringify!($wrapping))?]),
                        syntax: Syntax::$syntax$(($symbol))?,
                        signs: or!($(Signs::$signs)?; Signs::Natural),
                        cost: or!($(Cost::$cost)?; Cost::Linear),
                        properties: &[$($(Property::$property),*)?],
                        rows: &[$(Row {
                            algorithm: Algorithm::named(stringify!($algorithm)),
                            level: Level::named(stringify!($level)),
                            lanes: list!($lanes),
                            is_one_text: list!(is_one_text $lanes),
                            layouts: list!($layouts),
                            family: or!($(Family::$family)?; Family::None),
                            blocks: or!($(Some($blocks))?; None),
                            text: or!(
                                $(Some((stringify!($text), Algorithm::named(stringify!($by)))))?;
                                None
                            ),
                        }),*],
                    } },)*
                }
            }
        }
    };
}
crate::for_each_operation!(operations);
