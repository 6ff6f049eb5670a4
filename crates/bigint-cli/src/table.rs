//! Tables for people.

use comfy_table::{CellAlignment, ContentArrangement, Row, Table, presets};

/// Makes an empty table: the first column is aligned left, figures right.
pub fn new(header: impl Into<Row>) -> Table {
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}
