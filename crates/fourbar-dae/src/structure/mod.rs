//! Structural analysis by Pryce's Sigma-method: transversal, offsets, index, degrees of freedom, Jacobian pattern, blocks.

mod assign;
mod sigma;

use crate::Error;
use crate::program::Program;
use sigma::Signature;
use std::fmt;

/// Structural properties of the equations, before numerical values are known.
#[derive(Debug, Clone, PartialEq)]
pub struct Structure {
    pub(crate) sigma: Signature,
    column_of: Vec<usize>,
    c: Vec<usize>,
    d: Vec<usize>,
    /// Block of each equation; blocks are numbered in order of solution.
    block_of: Vec<usize>,
    n_blocks: usize,
    quasilinear: bool,
    equations: Vec<String>,
    variables: Vec<String>,
}

impl Structure {
    pub(crate) fn of(program: &Program, equations: &[String], variables: &[String]) -> Result<Self, Error> {
        let sigma = Signature::of(program);
        let mut occurs = vec![false; variables.len()];
        sigma.entries.iter().for_each(|&(j, _)| occurs[j as usize] = true);
        if let Some(j) = occurs.iter().position(|o| !o) {
            return Err(Error::UnusedVariable(variables[j].clone()));
        }
        let column_of = assign::transversal(&sigma).map_err(|hall| Error::StructurallySingular {
            equations: hall.rows.iter().map(|&i| equations[i].clone()).collect(),
            variables: hall.columns.iter().map(|&j| variables[j].clone()).collect(),
        })?;
        let (c, d) = assign::offsets(&sigma, &column_of);
        let (block_of, n_blocks) = blocks(&sigma, &column_of, &c, &d);
        let quasilinear = crate::plan::linear_from_stage(program, &c) <= 0;
        Ok(Self { sigma, column_of, c, d, block_of, n_blocks, quasilinear, equations: equations.to_vec(), variables: variables.to_vec() })
    }

    /// Highest order of derivative of variable `j` in equation `i`; `None` if it does not occur.
    pub fn sigma(&self, i: usize, j: usize) -> Option<usize> {
        if i < self.c.len() { self.sigma.get(i, j).map(|s| s as usize) } else { None }
    }
    /// Variable paired with each equation by the highest-value transversal.
    pub fn transversal(&self) -> &[usize] {
        &self.column_of
    }
    /// Equation offsets: number of differentiations of each equation.
    pub fn c(&self) -> &[usize] {
        &self.c
    }
    /// Variable offsets: order of the leading derivative of each variable.
    pub fn d(&self) -> &[usize] {
        &self.d
    }
    /// Structural index: largest equation offset, plus one if some variable is purely algebraic.
    pub fn index(&self) -> usize {
        let algebraic = self.d.contains(&0);
        self.c.iter().max().unwrap_or(&0) + usize::from(algebraic)
    }
    /// Degrees of freedom: the number of independent initial values.
    pub fn degrees_of_freedom(&self) -> usize {
        self.d.iter().sum::<usize>() - self.c.iter().sum::<usize>()
    }
    /// Whether the equations are linear in the leading derivatives.
    pub fn is_quasilinear(&self) -> bool {
        self.quasilinear
    }
    /// Pattern of the system Jacobian: pairs (equation, variable) where the leading derivative occurs.
    pub fn jacobian_pattern(&self) -> Vec<(usize, usize)> {
        let row = |i: usize| {
            let leading = move |&&(j, s): &&(u32, u32)| self.d[j as usize] == self.c[i] + s as usize;
            self.sigma.row(i).iter().filter(leading).map(move |&(j, _)| (i, j as usize))
        };
        (0..self.c.len()).flat_map(row).collect()
    }
    /// Block of each equation (and of the variable paired with it), numbered in order of solution.
    pub fn block_of_equation(&self) -> &[usize] {
        &self.block_of
    }
    /// Number of diagonal blocks of the block-triangular form.
    pub fn blocks(&self) -> usize {
        self.n_blocks
    }
}

/// Strongly connected components of the graph equation -> equation that determines a variable it contains. Tarjan's algorithm completes a
/// component after all on which it depends, so its numbering is an order of solution.
fn blocks(sigma: &Signature, column_of: &[usize], c: &[usize], d: &[usize]) -> (Vec<usize>, usize) {
    let n = column_of.len();
    let mut row_of = vec![0; n];
    column_of.iter().enumerate().for_each(|(i, &j)| row_of[j] = i);
    let (mut number, mut low) = (vec![usize::MAX; n], vec![0; n]);
    let (mut block, mut count) = (vec![usize::MAX; n], 0);
    let (mut path, mut calls) = (Vec::new(), Vec::new());
    let mut next = 0;
    for root in 0..n {
        if number[root] != usize::MAX {
            continue;
        }
        calls.push((root, 0));
        while let Some((i, at)) = calls.pop() {
            if at == 0 {
                number[i] = next;
                low[i] = next;
                next += 1;
                path.push(i);
            }
            let row = sigma.row(i);
            let mut at = at;
            let mut descend = None;
            while at < row.len() {
                let (j, s) = (row[at].0 as usize, row[at].1 as usize);
                at += 1;
                if d[j] != c[i] + s {
                    continue;
                }
                let k = row_of[j];
                if number[k] == usize::MAX {
                    descend = Some(k);
                    break;
                }
                if block[k] == usize::MAX {
                    low[i] = low[i].min(number[k]);
                }
            }
            if let Some(k) = descend {
                calls.push((i, at));
                calls.push((k, 0));
                continue;
            }
            if low[i] == number[i] {
                while let Some(k) = path.pop() {
                    block[k] = count;
                    if k == i {
                        break;
                    }
                }
                count += 1;
            }
            if let Some(&(parent, _)) = calls.last() {
                low[parent] = low[parent].min(low[i]);
            }
        }
    }
    (block, count)
}

impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.c.len();
        writeln!(
            f,
            "{n} equations, index {}, {} degrees of freedom, {}quasilinear, {} block{}",
            self.index(),
            self.degrees_of_freedom(),
            if self.quasilinear { "" } else { "not " },
            self.n_blocks,
            if self.n_blocks == 1 { "" } else { "s" },
        )?;
        if n > 30 {
            return Ok(());
        }
        let width = self.equations.iter().map(|e| e.len()).max().unwrap_or(0).max(3);
        let columns: Vec<usize> = self.variables.iter().map(|v| v.len().max(2) + 2).collect();
        write!(f, "{:width$}", "")?;
        for (name, w) in self.variables.iter().zip(&columns) {
            write!(f, "{:>w$}", format!("{name} "), w = *w)?;
        }
        writeln!(f, "   c")?;
        for i in 0..n {
            write!(f, "{:width$}", self.equations[i])?;
            for (j, &w) in columns.iter().enumerate() {
                let cell = match self.sigma(i, j) {
                    None => "- ".to_string(),
                    Some(s) if self.column_of[i] == j => format!("{s}*"),
                    Some(s) => format!("{s} "),
                };
                write!(f, "{cell:>w$}")?;
            }
            writeln!(f, "{:>4}", self.c[i])?;
        }
        write!(f, "{:width$}", "d")?;
        for (d, w) in self.d.iter().zip(&columns) {
            write!(f, "{:>w$}", format!("{d} "), w = *w)?;
        }
        writeln!(f)
    }
}
