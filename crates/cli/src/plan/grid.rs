//! Columns that are as wide as what stands in them.

use crate::terminal::Paint;

/// The widths of a table's columns.
pub(crate) struct Grid<const N: usize> {
    head: [String; N],
    widths: [usize; N],
}

impl<const N: usize> Grid<N> {
    /// Columns for these rows.
    pub(crate) fn new(head: [&str; N], rows: &[[String; N]]) -> Grid<N> {
        let head = head.map(str::to_string);
        let width = |column: usize| {
            let rows = std::iter::once(&head).chain(rows);
            rows.map(|row| row[column].chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths = std::array::from_fn(width);
        Grid { head, widths }
    }

    /// A row's cells, each as wide as its column.
    pub(crate) fn line(&self, row: &[String; N]) -> [String; N] {
        std::array::from_fn(|at| format!("{:<width$}", row[at], width = self.widths[at]))
    }

    /// The width of a column.
    pub(crate) fn width(&self, column: usize) -> usize {
        self.widths[column]
    }

    /// The first line.
    pub(crate) fn head(&self, paint: Paint) -> String {
        paint.dim(self.line(&self.head).join("  ").trim_end())
    }

    /// The line below the last row.
    pub(crate) fn rule(&self, paint: Paint) -> String {
        let width = self.widths.iter().sum::<usize>() + 2 * (N - 1);
        paint.dim(&"─".repeat(width))
    }
}
