//! Signature matrix: the highest derivative of each variable in each equation, found on the compiled tape.

use crate::program::{Program, Row};

/// Sparse rows: entries (column, order) sorted by column.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Signature {
    pub start: Vec<usize>,
    pub entries: Vec<(u32, u32)>,
}

impl Signature {
    pub fn of(program: &Program) -> Self {
        let n_rows = program.rows.len();
        let reached = program.reached_by_equations();
        // The entries of a row are dropped after its last use.
        let mut last_use = vec![0usize; n_rows];
        for v in 0..n_rows {
            last_use[v] = v;
            program.each_arg(v, |a, _| last_use[a] = last_use[a].max(v));
        }
        for &v in &program.equations {
            last_use[v as usize] = usize::MAX;
        }
        let mut maps: Vec<Vec<(u32, u32)>> = vec![Vec::new(); n_rows];
        for v in (0..n_rows).filter(|&v| reached[v]) {
            let mut map: Vec<(u32, u32)> = Vec::new();
            match program.rows[v] {
                Row::Var(j) => map.push((j, 0)),
                // 1 + a^2 depends on nothing beyond a, x^2 + y^2 on nothing beyond x and y.
                Row::Atan(a, _) => map.extend_from_slice(&maps[a as usize]),
                _ => program.each_arg(v, |a, p| map.extend(maps[a].iter().map(|&(j, s)| (j, s + p)))),
            }
            // For each column keep the highest order.
            map.sort_unstable_by_key(|&(j, s)| (j, std::cmp::Reverse(s)));
            map.dedup_by_key(|e| e.0);
            maps[v] = map;
            program.each_arg(v, |a, _| {
                if last_use[a] == v {
                    maps[a] = Vec::new();
                }
            });
        }
        let mut sigma = Self { start: vec![0], entries: Vec::new() };
        for &v in &program.equations {
            sigma.entries.extend_from_slice(&maps[v as usize]);
            sigma.start.push(sigma.entries.len());
        }
        sigma
    }

    pub fn size(&self) -> usize {
        self.start.len() - 1
    }

    pub fn row(&self, i: usize) -> &[(u32, u32)] {
        &self.entries[self.start[i]..self.start[i + 1]]
    }

    pub fn get(&self, i: usize, j: usize) -> Option<u32> {
        let row = self.row(i);
        row.binary_search_by_key(&(j as u32), |e| e.0).ok().map(|k| row[k].1)
    }
}
