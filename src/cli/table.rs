//! Columns that line up.

use std::io::{self, Write};

use crate::config::plain;

/// Rows of text under headings.
#[derive(Debug)]
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new<const N: usize>(headings: [&str; N]) -> Self {
        Self { rows: vec![headings.map(str::to_owned).to_vec()] }
    }

    pub(super) fn push<const N: usize>(&mut self, row: [String; N]) {
        self.rows.push(row.map(|cell| plain(&cell)).into());
    }

    pub(super) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let columns = self.rows[0].len();
        let width = |column: usize| {
            self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
            let line = cells.collect::<Vec<_>>().join("  ");
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}
