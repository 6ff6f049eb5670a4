//! Integers go into every type that holds them and come out as they were: adversarial numbers,
//! nulls, empty and sliced columns; and where nothing is copied the memory is the same.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BinaryArray, DictionaryArray, FixedSizeBinaryArray, Float64Array, Int32Array,
    LargeBinaryArray, LargeStringArray, NullArray, StringArray, StringViewArray, UInt64Array,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use bigint_arrow::{Any, Column, Error, Fixed, Order, Sign, any, batch, fixed, read, text};
use bigint_host::expression::Expression;
use bigint_host::{BigInt, Engine, Integers, Layout, Operation, Shape};

/// 0, 1, all ones, powers of two and their neighbours, of either sign, up to so many bits.
fn adversarial(bits: u32, signed: bool) -> Vec<BigInt> {
    let mut numbers = vec![BigInt::ZERO];
    let one = BigInt::from(1);
    let most = bits - u32::from(signed);
    for k in (0..most).filter(|k| k % 31 < 3 || most - k < 3) {
        let power = &one << k;
        numbers.extend([&power - 1, power.clone(), power + 1]);
    }
    numbers.push((&one << most) - 1);
    numbers.retain(|number| number.bits() <= u64::from(most));
    if signed {
        numbers.extend(numbers.clone().iter().map(|number| -number));
        numbers.push(-(one << most));
    }
    numbers
}

/// With every fifth row null.
fn column(numbers: &[BigInt], with_nulls: bool) -> Column {
    let nulls = with_nulls.then(|| (0..numbers.len()).map(|row| row % 5 != 2).collect());
    Column::new(Integers::from_bigints(numbers).unwrap(), nulls).unwrap()
}

/// The rows, `None` where they are null.
fn rows(column: &Column) -> Vec<Option<BigInt>> {
    let numbers = column.numbers().to_bigints().unwrap().into_iter();
    let row = |(row, number)| (!column.is_null(row)).then_some(number);
    numbers.enumerate().map(row).collect()
}

fn fixed_field(bytes: i32, order: Order, sign: Sign) -> Field {
    Fixed { order, sign }.field("n", bytes, true)
}

/// Fields, the bits of their numbers, and whether those have signs.
fn fields() -> Vec<(Field, u32, bool)> {
    use DataType::*;
    let plain = |data_type| Field::new("n", data_type, true);
    let mut fields = vec![
        (plain(Int8), 8, true),
        (plain(Int16), 16, true),
        (plain(Int32), 32, true),
        (plain(Int64), 64, true),
        (plain(UInt8), 8, false),
        (plain(UInt16), 16, false),
        (plain(UInt32), 32, false),
        (plain(UInt64), 64, false),
        (plain(Decimal32(9, 0)), 30, true),
        (plain(Decimal64(18, 0)), 60, true),
        (plain(Decimal128(38, 0)), 127, true),
        (plain(Decimal256(76, 0)), 253, true),
        (plain(Utf8), 3000, true),
        (plain(LargeUtf8), 3000, true),
        (plain(Utf8View), 3000, true),
        (plain(Binary), 3000, false),
        (plain(LargeBinary), 3000, false),
        (plain(BinaryView), 3000, false),
        (plain(FixedSizeBinary(32)), 256, false),
        (Any::field("n", true), 3000, true),
        (Any::field("n", true), 3000, false),
    ];
    for bytes in [1, 3, 4, 7, 8, 32, 128] {
        for order in [Order::Little, Order::Big] {
            for sign in [Sign::Unsigned, Sign::TwosComplement] {
                let field = fixed_field(bytes, order, sign);
                fields.push((field, 8 * bytes as u32, sign == Sign::TwosComplement));
            }
        }
    }
    fields
}

#[test]
fn every_type_gives_back_what_it_was_given_whole_and_sliced_with_nulls_and_without() {
    for (field, bits, signed) in fields() {
        for with_nulls in [false, true] {
            let numbers = adversarial(bits, signed);
            let given = column(&numbers, with_nulls);
            let array = given.to_array(&field).unwrap();
            assert_eq!(array.data_type(), field.data_type());
            let back = read(array.clone(), &field).unwrap();
            assert_eq!(rows(&back), rows(&given), "{field:?}");
            for (start, length) in [(0, 0), (1, 7), (9, numbers.len() - 9), (8, 16)] {
                let length = length.min(numbers.len() - start);
                let slice = read(array.slice(start, length), &field).unwrap();
                assert_eq!(rows(&slice), rows(&given)[start..start + length]);
                // What was sliced is written again as any other column is.
                let again = read(slice.to_array(&field).unwrap(), &field).unwrap();
                assert_eq!(rows(&again), rows(&slice));
            }
            let none = column(&[], with_nulls).to_array(&field).unwrap();
            assert!(read(none, &field).unwrap().is_empty());
        }
    }
}

#[test]
fn a_number_that_a_type_cannot_hold_is_an_error_of_its_row() {
    let one = BigInt::from(1);
    for (field, bits, signed) in fields() {
        let most: BigInt = match field.data_type() {
            DataType::Decimal32(digits, _)
            | DataType::Decimal64(digits, _)
            | DataType::Decimal128(digits, _)
            | DataType::Decimal256(digits, _) => BigInt::from(10).pow(u32::from(*digits)) - 1,
            _ if bits == 3000 => continue,
            _ => (&one << (bits - u32::from(signed))) - 1,
        };
        let least = match (signed, field.data_type()) {
            (false, _) => BigInt::ZERO,
            (true, data_type) if data_type.is_decimal() => -most.clone(),
            (true, _) => -&most - 1,
        };
        for (number, fits) in [
            (most.clone(), true),
            (most + 1, false),
            (least.clone(), true),
            (least - 1, false),
        ] {
            let given = column(&[one.clone(), number.clone()], false);
            match given.to_array(&field) {
                Ok(array) => {
                    assert!(fits, "{number} in {field:?}");
                    assert_eq!(rows(&read(array, &field).unwrap()), rows(&given));
                }
                Err(Error::Row { column, row, .. }) => {
                    assert!(!fits, "{number} in {field:?}");
                    assert_eq!((&*column, row), ("n", 1));
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
    let negative = column(&[-one], false);
    let field = Field::new("n", DataType::LargeBinary, true);
    assert!(matches!(
        negative.to_array(&field),
        Err(Error::Row { row: 0, .. })
    ));
}

#[test]
fn what_others_write_is_read() {
    let field = |data_type: &DataType| Field::new("price", data_type.clone(), true);
    let read = |array: ArrayRef| read(array.clone(), &field(array.data_type()));
    let shown = |array: ArrayRef| read(array).unwrap().to_string();
    let texts = vec![
        Some(" -0xFf "),
        None,
        Some("00012"),
        Some("340282366920938463463374607431768211456"),
    ];
    let told = "[-255, null, 12, 340282366920938463463374607431768211456]";
    assert_eq!(shown(Arc::new(StringArray::from(texts.clone()))), told);
    assert_eq!(shown(Arc::new(LargeStringArray::from(texts.clone()))), told);
    assert_eq!(shown(Arc::new(StringViewArray::from(texts.clone()))), told);
    // A number of chain data, of 32 bytes: most significant first.
    let mut word = [0; 32];
    (word[31], word[30]) = (5, 1);
    let words = FixedSizeBinaryArray::try_from_iter([word].into_iter()).unwrap();
    assert_eq!(shown(Arc::new(words)), "[261]");
    assert_eq!(
        shown(Arc::new(BinaryArray::from_vec(vec![&[1, 0, 0], &[]]))),
        "[65536, 0]"
    );
    assert_eq!(shown(Arc::new(NullArray::new(2))), "[null, null]");
    // Keys of nothing, values that are null, values that occur again.
    let values: ArrayRef = Arc::new(StringArray::from(vec![Some("7"), None, Some("0x8")]));
    let keys = Int32Array::from(vec![Some(2), Some(1), None, Some(0), Some(2)]);
    let dictionary = DictionaryArray::<Int32Type>::new(keys, values);
    assert_eq!(shown(Arc::new(dictionary.clone())), "[8, null, null, 7, 8]");
    assert_eq!(shown(Arc::new(dictionary.slice(1, 3))), "[null, null, 7]");
    let hexadecimal = text(&read(Arc::new(StringArray::from(texts))).unwrap(), true).unwrap();
    assert_eq!(hexadecimal.value(0), "-0xff");
    assert!(hexadecimal.is_null(1));
}

#[test]
fn what_is_no_integer_is_told_by_column_and_row() {
    let told = |array: ArrayRef, field: &Field| read(array, field).unwrap_err().to_string();
    let texts = StringArray::from(vec![Some("1"), None, Some("12z")]);
    let field = Field::new("price", DataType::Utf8, true);
    let expected = "column \"price\", row 2: a digit must stand at byte 2 of \"12z\"";
    assert!(told(Arc::new(texts.clone()), &field).starts_with(expected));
    let keys = Int32Array::from(vec![Some(0), None, Some(1), Some(2)]);
    let dictionary = DictionaryArray::<Int32Type>::new(keys, Arc::new(texts));
    let field = field.with_data_type(dictionary.data_type().clone());
    let expected = "column \"price\", row 3: a digit must stand at byte 2";
    assert!(told(Arc::new(dictionary), &field).starts_with(expected));
    let field = Field::new("price", DataType::Float64, true);
    let floats = Arc::new(Float64Array::from(vec![1.0]));
    assert!(told(floats, &field).starts_with("column \"price\" is of type Float64"));
    // Zeros on top, a half limb, a sign that is none, a negative zero.
    for bytes in [
        &[1, 0, 0, 0, 0, 0, 0, 0][..],
        &[1, 1],
        &[1, 0, 0, 0, 2],
        &[1],
    ] {
        let good: &[u8] = &[1, 0, 0, 0];
        let array = LargeBinaryArray::from_vec(vec![good, bytes]);
        let expected = "column \"n\", row 1: not written as bigint.any is";
        assert!(told(Arc::new(array), &Any::field("n", true)).starts_with(expected));
    }
    let field = Any::field("n", true).with_data_type(DataType::FixedSizeBinary(4));
    let words = FixedSizeBinaryArray::try_from_iter([[0; 4]].into_iter()).unwrap();
    assert!(read(Arc::new(words), &field).is_err());
}

#[test]
fn extension_types_are_what_they_say_in_the_schema() {
    let field = fixed_field(32, Order::Big, Sign::TwosComplement);
    assert_eq!(field.extension_type_name(), Some("bigint.fixed"));
    let metadata = r#"{"order":"big","sign":"twos_complement"}"#;
    assert_eq!(field.extension_type_metadata(), Some(metadata));
    let read: Fixed = field.try_extension_type().unwrap();
    assert_eq!((read.order, read.sign), (Order::Big, Sign::TwosComplement));
    assert_eq!(
        Any::field("n", true).extension_type_name(),
        Some("bigint.any")
    );
}

#[test]
fn numbers_that_arrow_reads_where_they_are_have_one_address() {
    let engine = Engine::cpu();
    let numbers = Integers::from_bigints(&adversarial(3000, false)).unwrap();
    let array = any(&Column::from(numbers.clone()));
    assert_eq!(array.value_data().as_ptr(), numbers.limbs().as_ptr().cast());
    assert_eq!(array.value_offsets().as_ptr(), numbers.offsets().as_ptr());
    let shape = Shape::new(3, 8, Layout::Contiguous);
    let numbers = engine.batch_from_limbs((0..24).collect(), shape).unwrap();
    let array = fixed(&numbers, None).unwrap();
    let rows = numbers.rows().unwrap();
    assert_eq!(array.value_data().as_ptr(), rows.as_ptr().cast());
    assert_eq!((array.len(), array.value_length()), (3, 32));
    // Arrow's hold on them outlives the batch.
    let memory = rows.as_ptr();
    drop(numbers);
    assert_eq!(array.value_data().as_ptr(), memory.cast());
    let field = Fixed::default().field("n", 32, false);
    let (back, nulls) = batch(&engine, Arc::new(array), &field).unwrap();
    assert_eq!(
        back.magnitude().rows().unwrap(),
        (0..24).collect::<Vec<_>>()
    );
    assert!(nulls.is_none());
    // Interleaved rows are put together.
    let shape = Shape::new(3, 8, Layout::Interleaved);
    let numbers = engine
        .batch_from_limbs(vec![7; shape.limbs()], shape)
        .unwrap();
    assert_eq!(
        fixed(&numbers, None).unwrap().value_data(),
        [7, 0, 0, 0].repeat(24)
    );
}

#[test]
fn numbers_that_the_engine_takes_over_have_one_address() {
    let (values, offsets) = (vec![7_u32, 0, 1], vec![0_i64, 4, 4, 12]);
    let limbs = values.as_ptr();
    let offsets = ScalarBuffer::<i64>::from(offsets);
    let binary = LargeBinaryArray::new(OffsetBuffer::new(offsets), Buffer::from_vec(values), None);
    let field = Any::field("n", false);
    let kept: ArrayRef = Arc::new(binary.clone());
    let column = read(Arc::new(binary), &field).unwrap();
    assert_eq!(column.to_string(), "[7, 0, 4294967296]");
    // Somebody else has them as well.
    assert_eq!(column.numbers().limbs().as_ptr(), limbs);
    // Of a slice only the rows that are in it.
    let slice = read(kept.slice(1, 2), &field).unwrap();
    assert_eq!(slice.numbers().limbs().as_ptr(), limbs.wrapping_add(1));
    assert_eq!(slice.numbers().limbs().len(), 2);
    // The numbers keep them.
    drop(kept);
    assert_eq!(column.to_string(), "[7, 0, 4294967296]");
    assert_eq!(slice.to_string(), "[0, 4294967296]");
    // To be added to, they are copied.
    let mut more = slice.into_parts().0;
    more.push(true, &[5]).unwrap();
    assert_eq!(
        more,
        Integers::from_texts(["0", "4294967296", "-5"]).unwrap()
    );
    assert_eq!(column.numbers().limbs(), [7, 0, 1]);

    let engine = Engine::cpu();
    let values: Vec<u32> = (0..24).collect();
    let memory = values.as_ptr();
    let nulls = NullBuffer::from(vec![true, false, true]);
    let array = FixedSizeBinaryArray::new(32, Buffer::from_vec(values), Some(nulls));
    let field = Fixed::default().field("n", 32, true);
    let slice: ArrayRef = Arc::new(array.slice(1, 2));
    let (sliced, _) = batch(&engine, slice, &field).unwrap();
    assert_eq!(
        *sliced.magnitude().rows().unwrap(),
        (8..24).collect::<Vec<_>>()
    );
    let (numbers, nulls) = batch(&engine, Arc::new(array), &field).unwrap();
    assert_eq!(numbers.magnitude().rows().unwrap().as_ptr(), memory);
    assert!(nulls.is_some_and(|nulls| nulls.is_null(1)));
    // Of another type the batch is made of what is read.
    let words: ArrayRef = Arc::new(UInt64Array::from(vec![1 << 40, 3]));
    let field = Field::new("n", DataType::UInt64, false);
    let (numbers, _) = batch(&engine, words.clone(), &field).unwrap();
    assert_eq!(
        numbers.to_bigints().unwrap(),
        [BigInt::from(1_u64 << 40), 3.into()]
    );
    assert_eq!(
        words
            .as_primitive::<arrow_array::types::UInt64Type>()
            .value(1),
        3
    );
}

#[test]
fn no_operation_refuses_a_row_with_a_null() {
    let given = |numbers: [i32; 4], valid: [bool; 4]| {
        let numbers: Vec<BigInt> = numbers.into_iter().map(BigInt::from).collect();
        let nulls = NullBuffer::from(valid.to_vec());
        Column::new(Integers::from_bigints(&numbers).unwrap(), Some(nulls)).unwrap()
    };
    // Divisors, moduli and exponents that nothing can be done with, where rows are null.
    let a = given([17, 3, -9, 6], [true, false, true, true]);
    let b = given([5, 0, 0, -4], [true, true, false, false]);
    let (numbers, nulls) = Column::prepared(&[&a, &b]).unwrap();
    let [x, y] = [0, 1].map(|column| Expression::from(&numbers[column]));
    let two = |operation| Expression::apply(operation, [x.clone(), y.clone()]);
    let power = Expression::apply(Operation::PowMod, [x.clone(), y.clone(), y.clone()]);
    let results = [
        &x + &y,
        &x - &y,
        &x * &y,
        two(Operation::Div),
        two(Operation::Rem),
        two(Operation::Gcd),
        x.clone().pow(y.clone()),
        power,
        two(Operation::InvMod),
    ];
    let engine = Engine::cpu();
    let expected = [22, 12, 85, 3, 2, 1, 1_419_857, 2, 3];
    for (result, expected) in results.iter().zip(expected) {
        let result = Column::new(engine.eval(result).unwrap(), nulls.clone()).unwrap();
        assert_eq!(
            result.to_string(),
            format!("[{expected}, null, null, null]")
        );
    }
    assert_eq!(
        a.present().unwrap().decimals().collect::<Vec<_>>(),
        ["17", "-9", "6"]
    );
    assert!(matches!(
        Column::prepared(&[&a, &Column::from(Integers::new())]),
        Err(Error::Lengths { a: 4, b: 0 })
    ));
}
