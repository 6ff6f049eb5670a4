//! Python's operators, the same for arrays and expressions.

/// The methods of a class: its own, and its operators, which call `operated`.
///
/// `a * b`, for one, becomes
///
/// ```text
/// fn __mul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
///     operated(functions::MUL, &[slf.as_any(), other])
/// }
/// fn __rmul__(...) // with its operands the other way round
/// ```
macro_rules! class_with_operators {
    ($class:ident { $($own:tt)* }) => {
        class_with_operators! { @ $class { $($own)* }
            __add__ __radd__ ADD
            __sub__ __rsub__ SUB
            __mul__ __rmul__ MUL
            __floordiv__ __rfloordiv__ F_DIV
            __mod__ __rmod__ F_MOD
            __divmod__ __rdivmod__ F_DIVMOD
            __lshift__ __rlshift__ MUL_2EXP
            __rshift__ __rrshift__ F_DIV_2EXP
            __and__ __rand__ BIT_AND
            __or__ __ror__ BIT_OR
            __xor__ __rxor__ BIT_XOR
        }
    };
    (@ $class:ident { $($own:tt)* } $($method:ident $reflected:ident $function:ident)*) => {
        #[pymethods]
        impl $class {
            $(
                fn $method<'py>(
                    slf: &Bound<'py, Self>,
                    other: &Bound<'py, PyAny>,
                ) -> PyResult<Bound<'py, PyAny>> {
                    operated(functions::$function, &[slf.as_any(), other])
                }

                fn $reflected<'py>(
                    slf: &Bound<'py, Self>,
                    other: &Bound<'py, PyAny>,
                ) -> PyResult<Bound<'py, PyAny>> {
                    operated(functions::$function, &[other, slf.as_any()])
                }
            )*

            fn __pow__<'py>(
                slf: &Bound<'py, Self>,
                exponent: &Bound<'py, PyAny>,
                modulus: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyAny>> {
                match modulus {
                    Some(modulus) => operated(functions::POWMOD, &[slf.as_any(), exponent, modulus]),
                    None => operated(functions::POW, &[slf.as_any(), exponent]),
                }
            }

            fn __rpow__<'py>(
                slf: &Bound<'py, Self>,
                base: &Bound<'py, PyAny>,
                modulus: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyAny>> {
                match modulus {
                    Some(modulus) => operated(functions::POWMOD, &[base, slf.as_any(), modulus]),
                    None => operated(functions::POW, &[base, slf.as_any()]),
                }
            }

            fn __neg__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
                operated(functions::NEG, &[slf.as_any()])
            }

            fn __pos__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
                slf.clone()
            }

            fn __abs__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
                operated(functions::ABS, &[slf.as_any()])
            }

            fn __invert__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
                operated(functions::BIT_NOT, &[slf.as_any()])
            }

            /// NumPy leaves operators with its arrays to this class.
            #[classattr]
            fn __array_ufunc__() -> Option<u8> {
                None
            }

            $($own)*
        }
    };
}
