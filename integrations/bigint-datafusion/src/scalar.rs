//! Functions of rows.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

use bigint_arrow::{Any, Column, text};
use bigint_host::expression::Function;
use bigint_host::{Integers, Operation};
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewBuilder, BooleanArray, Int8Array, LargeStringArray,
    LargeStringBuilder,
};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, exec_err, internal_err, plan_err};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

use crate::joined::Joined;
use crate::key;
use crate::value::{Operands, failed, nulls, operands, read, refuse_others, result, written};

/// What a function makes of integers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// An integer, which the engine computes.
    Number(Function),
    /// Whether a number is a prime.
    IsPrime,
    /// -1, 0 or 1.
    Compare,
    /// Whether two numbers are in an order.
    Order(fn(Ordering) -> bool),
    /// An integer of any type as `bigint.any`.
    Big,
    /// Of text in hexadecimal digits, with or without `0x`.
    FromHex,
    /// Of text in decimal digits.
    FromDec,
    /// Of bytes without a type: unsigned, most significant first.
    FromBytes,
    /// Text, hexadecimal after `0x` or decimal.
    Text { hexadecimal: bool },
    /// Bytes that are ordered as the numbers are.
    Key,
    /// These bytes in hexadecimal digits, for what orders text alone.
    KeyHex,
    /// An integer of the type that the second operand names, as Arrow writes it.
    Cast,
}

/// A function's name, the number of its operands, and what it does.
pub(crate) type Row = (&'static str, usize, Kind);

const fn number(operation: Operation) -> Kind {
    Kind::Number(Function::Operation(operation))
}

/// All functions of rows.
pub(crate) const FUNCTIONS: &[Row] = &[
    ("big_add", 2, number(Operation::Add)),
    ("big_sub", 2, number(Operation::Sub)),
    ("big_mul", 2, number(Operation::Mul)),
    ("big_div", 2, number(Operation::Div)),
    ("big_mod", 2, number(Operation::Rem)),
    ("big_pow", 2, Kind::Number(Function::Power)),
    ("big_neg", 1, Kind::Number(Function::Negate)),
    ("big_abs", 1, Kind::Number(Function::Absolute)),
    ("big_powmod", 3, number(Operation::PowMod)),
    ("big_invmod", 2, number(Operation::InvMod)),
    ("big_gcd", 2, number(Operation::Gcd)),
    ("big_lcm", 2, number(Operation::Lcm)),
    ("big_isqrt", 1, number(Operation::Isqrt)),
    ("big_iroot", 2, number(Operation::Iroot)),
    ("big_jacobi", 2, number(Operation::Jacobi)),
    ("big_shl", 2, number(Operation::Shl)),
    ("big_shr", 2, number(Operation::Shr)),
    ("big_bits", 1, number(Operation::BitLength)),
    ("big_least", 2, number(Operation::Min)),
    ("big_greatest", 2, number(Operation::Max)),
    ("big_next_prime", 1, Kind::Number(Function::NextPrime)),
    ("big_is_prime", 1, Kind::IsPrime),
    ("big_cmp", 2, Kind::Compare),
    ("big_eq", 2, Kind::Order(Ordering::is_eq)),
    ("big_ne", 2, Kind::Order(Ordering::is_ne)),
    ("big_lt", 2, Kind::Order(Ordering::is_lt)),
    ("big_le", 2, Kind::Order(Ordering::is_le)),
    ("big_gt", 2, Kind::Order(Ordering::is_gt)),
    ("big_ge", 2, Kind::Order(Ordering::is_ge)),
    ("big", 1, Kind::Big),
    ("big_any", 1, Kind::Big),
    ("big_from_hex", 1, Kind::FromHex),
    ("big_from_dec", 1, Kind::FromDec),
    ("big_from_bytes", 1, Kind::FromBytes),
    ("big_to_hex", 1, Kind::Text { hexadecimal: true }),
    ("big_to_dec", 1, Kind::Text { hexadecimal: false }),
    ("big_key", 1, Kind::Key),
    ("big_key_hex", 1, Kind::KeyHex),
    ("big_cast", 2, Kind::Cast),
];

/// A function of rows, which an engine computes.
#[derive(Clone)]
pub(crate) struct Scalar {
    name: &'static str,
    /// The engine's own name, where it is another.
    aliases: Vec<String>,
    kind: Kind,
    signature: Signature,
    engine: Arc<Joined>,
}

impl Scalar {
    pub fn new(&(name, operands, kind): &Row, engine: &Arc<Joined>) -> Self {
        let alias = match name {
            "big_powmod" => Some("big_pow_mod"),
            "big_invmod" => Some("big_inv_mod"),
            _ => None,
        };
        Scalar {
            name,
            aliases: alias.into_iter().map(str::to_owned).collect(),
            kind,
            signature: Signature::any(operands, Volatility::Immutable),
            engine: Arc::clone(engine),
        }
    }
}

// A name is one function, whoever computes it.
impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Scalar {}

impl Hash for Scalar {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl std::fmt::Debug for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl ScalarUDFImpl for Scalar {
    fn name(&self) -> &str {
        self.name
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        internal_err!("{}: its type is that of its field", self.name)
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let fields = arguments.arg_fields;
        let of_integers = match self.kind {
            Kind::Cast => &fields[..1],
            _ => fields,
        };
        for field in of_integers {
            refuse_others(self.name, field)?;
        }
        let nullable = fields.iter().any(|field| field.is_nullable());
        let data_type = match self.kind {
            Kind::IsPrime | Kind::Order(_) => DataType::Boolean,
            Kind::Compare => DataType::Int8,
            Kind::Text { .. } | Kind::KeyHex => DataType::LargeUtf8,
            Kind::Key => DataType::BinaryView,
            Kind::Cast => match arguments.scalar_arguments[1].and_then(|name| name.try_as_str()) {
                Some(Some(name)) => DataType::from_str(name)?,
                _ => return plan_err!("big_cast: its second operand is the name of a type"),
            },
            _ => return Ok(Arc::new(Any::field(self.name, nullable))),
        };
        Ok(Arc::new(Field::new(self.name, data_type, nullable)))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        self.computed(&arguments)
            .map_err(|error| error.context(self.name))
    }
}

impl Scalar {
    fn computed(&self, arguments: &ScalarFunctionArgs) -> Result<ColumnarValue> {
        let values = &arguments.args[..];
        let array = match self.kind {
            Kind::Number(function) => {
                return self.of_numbers(arguments, |numbers, nulls| {
                    written(self.engine.eval(function, numbers).map_err(failed)?, nulls)
                });
            }
            Kind::IsPrime => {
                return self.of_numbers(arguments, |numbers, nulls| {
                    let told = self.engine.is_prime(numbers).map_err(failed)?;
                    Ok(Arc::new(BooleanArray::new(told.into(), nulls)))
                });
            }
            Kind::Compare => {
                return self.of_numbers(arguments, |numbers, nulls| {
                    let orders = self.orders(numbers)?;
                    let orders: Vec<i8> = orders.iter().map(|&order| order as i8).collect();
                    Ok(Arc::new(Int8Array::new(orders.into(), nulls)))
                });
            }
            Kind::Order(is) => {
                return self.of_numbers(arguments, |numbers, nulls| {
                    let orders = self.orders(numbers)?;
                    let told: Vec<bool> = orders.into_iter().map(is).collect();
                    Ok(Arc::new(BooleanArray::new(told.into(), nulls)))
                });
            }
            Kind::Big => {
                let (numbers, nulls) = self.only(arguments)?.into_parts();
                written(numbers, nulls)?
            }
            Kind::FromHex | Kind::FromDec => {
                let array = one(&values[0])?;
                let texts = self.texts(&cast(&array, &DataType::LargeUtf8)?)?;
                let field = Field::new(arguments.arg_fields[0].name(), DataType::LargeUtf8, true);
                let (numbers, nulls) = read(Arc::new(texts), &field)?.into_parts();
                written(numbers, nulls)?
            }
            Kind::FromBytes => {
                let array = one(&values[0])?;
                let field = Field::new(arguments.arg_fields[0].name(), DataType::Binary, true);
                let bytes = match array.data_type() {
                    DataType::FixedSizeBinary(_) | DataType::LargeBinary | DataType::BinaryView => {
                        cast(&array, &DataType::Binary)?
                    }
                    _ => array,
                };
                let field = field.with_data_type(bytes.data_type().clone());
                let (numbers, nulls) = read(bytes, &field)?.into_parts();
                written(numbers, nulls)?
            }
            Kind::Text { hexadecimal } => {
                let column = self.only(arguments)?;
                Arc::new(text(&column, hexadecimal).map_err(failed)?)
            }
            Kind::Key => {
                let mut keys = BinaryViewBuilder::new();
                each_key(&self.only(arguments)?, |key| keys.append_option(key));
                Arc::new(keys.finish())
            }
            Kind::KeyHex => {
                let mut keys = LargeStringBuilder::new();
                let digits = |key: &[u8]| key.iter().map(|byte| format!("{byte:02x}")).collect();
                each_key(&self.only(arguments)?, |key| {
                    keys.append_option(key.map(|key| -> String { digits(key) }));
                });
                Arc::new(keys.finish())
            }
            Kind::Cast => {
                let column = self.only(arguments)?;
                column.to_array(&arguments.return_field).map_err(failed)?
            }
        };
        result(array, values)
    }

    /// What `compute` makes of numbers; null where an operand is.
    fn of_numbers(
        &self,
        arguments: &ScalarFunctionArgs,
        compute: impl FnOnce(&[Integers], Option<NullBuffer>) -> Result<ArrayRef>,
    ) -> Result<ColumnarValue> {
        match operands(&arguments.args, &arguments.arg_fields)? {
            Operands::Null => nulls(arguments.return_field.data_type(), &arguments.args),
            Operands::Numbers(numbers, nulls) => result(compute(&numbers, nulls)?, &arguments.args),
        }
    }

    fn orders(&self, numbers: &[Integers]) -> Result<Vec<Ordering>> {
        self.engine.compare(numbers).map_err(failed)
    }

    /// The first operand.
    fn only(&self, arguments: &ScalarFunctionArgs) -> Result<Column> {
        read(one(&arguments.args[0])?, &arguments.arg_fields[0])
    }

    /// Texts as [`read`] takes them: hexadecimal ones after `0x`, others without.
    fn texts(&self, texts: &dyn Array) -> Result<LargeStringArray> {
        let texts = texts.as_string::<i64>();
        let mut row = 0..;
        let texts = texts.iter().map(|text| {
            let row = row.next().unwrap_or(0);
            let Some(text) = text else { return Ok(None) };
            let (sign, digits) = match text.strip_prefix(['-', '+']) {
                Some(digits) => (&text[..1], digits),
                None => ("", text),
            };
            let prefix = digits.get(..2).filter(|p| p.eq_ignore_ascii_case("0x"));
            match (self.kind, prefix) {
                (Kind::FromHex, _) => {
                    let digits = prefix.map_or(digits, |prefix| &digits[prefix.len()..]);
                    Ok(Some(format!("{sign}0x{digits}")))
                }
                (_, Some(_)) => exec_err!("row {row}: {text:?} is no decimal number"),
                (_, None) => Ok(Some(text.to_owned())),
            }
        });
        texts.collect()
    }
}

/// The rows of a value; one of a constant.
fn one(value: &ColumnarValue) -> Result<ArrayRef> {
    match value {
        ColumnarValue::Array(array) => Ok(Arc::clone(array)),
        ColumnarValue::Scalar(constant) => constant.to_array(),
    }
}

fn each_key(column: &Column, mut take: impl FnMut(Option<&[u8]>)) {
    let (numbers, mut bytes) = (column.numbers(), Vec::new());
    for row in 0..column.len() {
        bytes.clear();
        key::write(numbers.magnitude(row), numbers.is_negative(row), &mut bytes);
        take((!column.is_null(row)).then_some(&bytes));
    }
}
