//! Columns of big integers to and from Apache Arrow.
