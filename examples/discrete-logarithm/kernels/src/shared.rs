//! What the field of `bigint-curves` stands on.

#[path = "../../../../crates/bigint-curves/src/shared/field.rs"]
#[allow(dead_code)] // Forms that a walk does not need.
pub mod field;
