//! Tables for people.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// An empty table: the first column to the left, figures to the right.
pub fn new<const N: usize>(header: [&str; N]) -> Table {
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
