//! The rows from which experts predict others, in a model file: once, however many experts share them.
//!
//! `expert_table` is the number of each expert's table from 1, or 0, and `expert_neighbours` how many of its rows
//! predict one; `table_rows` is how many of the rows in `table_x` and `table_y` are those of each table.

use std::sync::Arc;

use gpfuse::experts::Expert;
use gpfuse::gp::nearest::Table;

use super::{Dim, Reader, spread, var};
use crate::nc::{Data, Var};

/// The tables of the experts that have one.
pub(super) fn write(experts: &[Expert], inputs: usize, dims: &mut Vec<Dim>, vars: &mut Vec<Var>) {
    let mut tables: Vec<(&Arc<Table>, &[usize])> = Vec::new();
    let (mut numbers, mut neighbours) = (vec![0; experts.len()], vec![0; experts.len()]);
    for (k, expert) in experts.iter().enumerate() {
        let Some((gp, columns)) = expert.nearest() else { continue };
        let known = tables.iter().position(|(table, _)| Arc::ptr_eq(table, gp.table()));
        if known.is_none() {
            tables.push((gp.table(), columns));
        }
        numbers[k] = known.map_or(tables.len(), |known| known + 1) as i64;
        neighbours[k] = gp.neighbours() as i64;
    }
    if tables.is_empty() {
        return;
    }
    let rows: Vec<i64> = tables.iter().map(|(table, _)| table.y().len() as i64).collect();
    let x = tables.iter().flat_map(|(table, columns)| {
        table.x().chunks_exact(columns.len()).flat_map(|row| spread(columns, row, inputs))
    });
    let y: Vec<f64> = tables.iter().flat_map(|(table, _)| table.y()).copied().collect();
    dims.extend([("table", tables.len()), ("neighbour", y.len())]);
    vars.extend([
        var("expert_table", &["expert"], Data::I64(numbers)),
        var("expert_neighbours", &["expert"], Data::I64(neighbours)),
        var("table_rows", &["table"], Data::I64(rows)),
        var("table_x", &["neighbour", "input"], Data::F64(x.collect())),
        var("table_y", &["neighbour"], Data::F64(y)),
    ]);
}

/// Tables that were read, some of them used by now.
pub(super) struct Tables<'a> {
    /// The number of each expert's table from 1, or 0.
    numbers: Vec<usize>,
    /// How many of its rows predict one.
    pub(super) neighbours: Vec<usize>,
    /// Inputs and targets.
    parts: Vec<(&'a [f64], &'a [f64])>,
    inputs: usize,
    made: Vec<(usize, Vec<usize>, Arc<Table>)>,
}

/// The tables of `count` experts; files that are older have none.
pub(super) fn read<'a>(
    group: &'a Reader<'_>,
    count: usize,
    inputs: usize,
) -> Result<Tables<'a>, String> {
    let (none, parts) = (vec![0; count], Vec::new());
    let mut tables =
        Tables { numbers: none.clone(), neighbours: none, parts, inputs, made: Vec::new() };
    let Ok(numbers) = group.counts("expert_table") else { return Ok(tables) };
    let (neighbours, sizes) = (group.counts("expert_neighbours")?, group.counts("table_rows")?);
    let (x, y) = (group.numbers("table_x")?, group.numbers("table_y")?);
    let fits = [numbers.len(), neighbours.len()] == [count; 2]
        && numbers.iter().all(|number| *number <= sizes.len())
        && sizes.iter().try_fold(0, |a: usize, n| a.checked_add(*n)) == Some(y.len())
        && y.len().checked_mul(inputs) == Some(x.len());
    if !fits {
        return Err("its tables do not have the shape that they say".into());
    }
    (tables.numbers, tables.neighbours) = (numbers, neighbours);
    let mut start = 0;
    for size in sizes {
        let rows = start..start + size;
        start = rows.end;
        tables.parts.push((&x[rows.start * inputs..rows.end * inputs], &y[rows]));
    }
    Ok(tables)
}

impl Tables<'_> {
    /// The table of expert `k`, which sees some of the inputs, if it has one.
    pub(super) fn of(&mut self, k: usize, columns: &[usize]) -> Result<Option<Arc<Table>>, String> {
        let Some(number) = self.numbers[k].checked_sub(1) else { return Ok(None) };
        let same = |made: &&(usize, Vec<usize>, Arc<Table>)| made.0 == number && made.1 == columns;
        if let Some((_, _, table)) = self.made.iter().find(same) {
            return Ok(Some(table.clone()));
        }
        let (x, y) = self.parts[number];
        let x = x.chunks_exact(self.inputs).flat_map(|row| columns.iter().map(|i| row[*i]));
        let table = Table::new(x.collect(), columns.len(), y.to_vec());
        let table = table.map_err(|e| format!("expert {}: {e}", k + 1))?;
        self.made.push((number, columns.to_vec(), table.clone()));
        Ok(Some(table))
    }
}
