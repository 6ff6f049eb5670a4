//! Arrow's extension types of integers.

use arrow_schema::extension::ExtensionType;
use arrow_schema::{ArrowError, DataType, Field};
use serde::{Deserialize, Serialize};

/// The extension type `bigint.any`: integers of any lengths in a `LargeBinary` column.
///
/// A value is the magnitude in limbs of 32 bits, least significant byte first, without zero limbs
/// on top; a negative number has one more byte behind them, which is 1. So zero is empty, a
/// number is negative where its length is odd, equal numbers have equal bytes, and a column
/// without negative numbers is laid out as [`Integers`](bigint_host::Integers) are.
///
/// In Python: `int.from_bytes(b[:len(b) // 4 * 4], "little") * (-1 if len(b) % 4 else 1)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Any;

/// The extension type `bigint.fixed`: integers of one width in a `FixedSizeBinary` column. Its
/// metadata are this struct as JSON: `{"order":"little","sign":"unsigned"}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fixed {
    /// Which byte of a number is the first.
    pub order: Order,
    /// Whether numbers can be negative.
    pub sign: Sign,
}

/// Which byte of a number is the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// The least significant.
    #[default]
    Little,
    /// The most significant.
    Big,
}

/// Whether numbers can be negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sign {
    /// They cannot.
    #[default]
    Unsigned,
    /// They can, in two's complement.
    TwosComplement,
}

impl Any {
    /// A column of this type.
    pub fn field(name: impl Into<String>, nullable: bool) -> Field {
        Field::new(name, DataType::LargeBinary, nullable).with_extension_type(Any)
    }
}

impl Fixed {
    /// What a `FixedSizeBinary` or `Binary` column means that has no extension type: unsigned
    /// numbers, most significant byte first, as chain data have them.
    pub const PLAIN: Fixed = Fixed {
        order: Order::Big,
        sign: Sign::Unsigned,
    };

    /// A column of numbers of so many bytes.
    pub fn field(self, name: impl Into<String>, bytes: i32, nullable: bool) -> Field {
        Field::new(name, DataType::FixedSizeBinary(bytes), nullable).with_extension_type(self)
    }
}

fn refused<T>(name: &str, data_type: &DataType) -> Result<T, ArrowError> {
    let what = format!("{name} cannot be stored as {data_type}");
    Err(ArrowError::InvalidArgumentError(what))
}

impl ExtensionType for Any {
    const NAME: &'static str = "bigint.any";
    type Metadata = ();

    fn metadata(&self) -> &() {
        &()
    }

    fn serialize_metadata(&self) -> Option<String> {
        None
    }

    fn deserialize_metadata(_: Option<&str>) -> Result<(), ArrowError> {
        Ok(())
    }

    fn supports_data_type(&self, data_type: &DataType) -> Result<(), ArrowError> {
        match data_type {
            // Some readers of Parquet make one of the others of it.
            DataType::LargeBinary | DataType::Binary | DataType::BinaryView => Ok(()),
            other => refused(Self::NAME, other),
        }
    }

    fn try_new(data_type: &DataType, (): ()) -> Result<Self, ArrowError> {
        Any.supports_data_type(data_type).map(|()| Any)
    }
}

impl ExtensionType for Fixed {
    const NAME: &'static str = "bigint.fixed";
    type Metadata = Fixed;

    fn metadata(&self) -> &Fixed {
        self
    }

    fn serialize_metadata(&self) -> Option<String> {
        serde_json::to_string(self).ok()
    }

    fn deserialize_metadata(metadata: Option<&str>) -> Result<Fixed, ArrowError> {
        let wrong = |what: String| {
            let what = format!("metadata of {}: {what}", Self::NAME);
            ArrowError::InvalidArgumentError(what)
        };
        let metadata = metadata.ok_or_else(|| wrong("there are none".to_owned()))?;
        serde_json::from_str(metadata).map_err(|error| wrong(error.to_string()))
    }

    fn supports_data_type(&self, data_type: &DataType) -> Result<(), ArrowError> {
        match data_type {
            DataType::FixedSizeBinary(1..) => Ok(()),
            other => refused(Self::NAME, other),
        }
    }

    fn try_new(data_type: &DataType, fixed: Fixed) -> Result<Self, ArrowError> {
        fixed.supports_data_type(data_type).map(|()| fixed)
    }
}
