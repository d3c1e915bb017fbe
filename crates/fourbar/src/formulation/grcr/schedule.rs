//! The fixed order of the front recursion: the accelerations and rows in the front of each node, and the front's destination.
//!
//! Nodes are eliminated in the reverse order of growth. The front of a node is a function of its own acceleration and of those of its
//! carriers: the bodies that rows of already eliminated nodes still refer to (the base bodies of open loops in [Critchley03, section 5]).
//! After the node's columns are eliminated its acceleration becomes the parent's, and the front is passed to the node of its list that is
//! eliminated next.

use super::loop_rows::Closings;
use super::tree::Tree;

/// Treatment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Eliminated by inertia.
    Independent,
    /// Eliminated by a constraint.
    Dependent,
    /// Known as a function of time.
    Prescribed,
}

/// Rows of a closing that enter at a node.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The closing.
    pub closing: usize,
    /// First row in the front.
    pub row: usize,
    /// For each node of the closing, its variable in the front.
    pub variables: Vec<usize>,
}

/// A front that arrives at a node.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// The node it comes from.
    pub from: usize,
    /// First row it occupies.
    pub row: usize,
    /// For each of its variables, the variable here; `None` for the ground.
    pub map: Vec<Option<usize>>,
}

/// The front of a node.
#[derive(Clone, Debug, Default)]
pub struct Front {
    /// Nodes whose accelerations it holds; the first is its own.
    pub variables: Vec<usize>,
    /// Rows before the node's columns are eliminated.
    pub rows_in: usize,
    /// Rows after.
    pub rows_out: usize,
    /// Destination; `None` if nothing remains.
    pub holder: Option<usize>,
    /// Fronts that arrive, in the order of their elimination.
    pub arrivals: Vec<Arrival>,
    /// Closing rows that enter.
    pub entries: Vec<Entry>,
}

impl Front {
    /// Width: six per variable.
    pub fn w(&self) -> usize {
        6 * self.variables.len()
    }
    /// Whether it contains only its own acceleration and no rows.
    pub fn is_plain(&self) -> bool {
        self.variables.len() == 1 && self.rows_in == 0
    }
}

/// Fronts of all nodes; the first is the ground's and contains the rows that could not be eliminated.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// Fronts by node.
    pub fronts: Vec<Front>,
    /// Role of each column.
    pub roles: Vec<Role>,
    /// Whether there are any rows.
    pub loops: bool,
}

impl Schedule {
    /// The schedule of a tree with its active rows and roles of columns.
    pub fn new(tree: &Tree, closings: &Closings, roles: Vec<Role>) -> Self {
        Self::within(tree, closings, roles, f64::INFINITY).0
    }

    /// The same, abandoned if the operations on the accelerations alone exceed `limit`; their number is returned.
    pub fn within(tree: &Tree, closings: &Closings, roles: Vec<Role>, limit: f64) -> (Self, f64) {
        let n = tree.nodes.len();
        let mut least = 0.0;
        // The last front that contains a node as a variable, and its place there.
        let mut placed = vec![(0, 0); n];
        let mut fronts: Vec<Front> = vec![Front::default(); n];
        let mut entering: Vec<Vec<usize>> = vec![Vec::new(); n];
        for (k, c) in closings.list.iter().enumerate() {
            if let Some(first) = c.nodes.first() {
                entering[first.0].push(k);
            }
        }
        for k in (1..n).rev() {
            let mut front = std::mem::take(&mut fronts[k]);
            let mut variables = vec![k];
            placed[k] = (k, 0);
            let mut place = |variables: &mut Vec<usize>, node: usize| {
                if placed[node].0 != k {
                    placed[node] = (k, variables.len());
                    variables.push(node);
                }
                placed[node].1
            };
            let mut rows = 0;
            for a in &mut front.arrivals {
                let from = &fronts[a.from];
                let own = tree.nodes[a.from].parent;
                a.row = rows;
                rows += from.rows_out;
                a.map = from
                    .variables
                    .iter()
                    .enumerate()
                    .map(|(i, &v)| if i == 0 { own } else { v })
                    .map(|v| (v != 0).then(|| place(&mut variables, v)))
                    .collect();
            }
            for &c in &entering[k] {
                let closing = &closings.list[c];
                let places = closing.nodes.iter().map(|&(node, _)| place(&mut variables, node)).collect();
                front.entries.push(Entry { closing: c, row: rows, variables: places });
                rows += closing.active;
            }
            let node = &tree.nodes[k];
            let roles = &roles[node.u..node.u + node.kind.speeds()];
            let w = 6.0 * variables.len() as f64;
            least += roles.iter().map(|r| 12.0 * w + if *r == Role::Prescribed { 0.0 } else { w * (w + 1.0) }).sum::<f64>();
            let pivots = roles.iter().filter(|r| **r == Role::Dependent).count();
            front.rows_in = rows;
            front.rows_out = rows.saturating_sub(pivots);
            // Remaining variables after the node's own acceleration has become the parent's.
            let next = variables[1..].iter().copied().chain([node.parent]).max().filter(|v| *v != 0);
            front.holder = match next {
                Some(v) => Some(v),
                None if front.rows_out > 0 => Some(0),
                None => None,
            };
            if let Some(h) = front.holder {
                fronts[h].arrivals.push(Arrival { from: k, row: 0, map: Vec::new() });
            }
            front.variables = variables;
            fronts[k] = front;
            if least > limit {
                break;
            }
        }
        let mut ground = std::mem::take(&mut fronts[0]);
        for a in &mut ground.arrivals {
            a.row = ground.rows_in;
            a.map = vec![None; fronts[a.from].variables.len()];
            ground.rows_in += fronts[a.from].rows_out;
        }
        ground.rows_out = ground.rows_in;
        fronts[0] = ground;
        (Self { fronts, roles, loops: !closings.list.is_empty() }, least)
    }

    /// Floating-point operations of the inward pass, as counted in comparisons of trees.
    pub fn cost(&self, tree: &Tree) -> f64 {
        let mut sum = 0.0;
        for (k, f) in self.fronts.iter().enumerate().skip(1) {
            let (w, mut r) = (f.w() as f64, f.rows_in as f64);
            let node = &tree.nodes[k];
            for c in node.u..node.u + node.kind.speeds() {
                sum += match self.roles[c] {
                    Role::Prescribed => 12.0 * w,
                    Role::Independent => 12.0 * w + w * (w + 1.0) + r * (12.0 + 2.0 * w) + r * r,
                    Role::Dependent => {
                        let cost = 12.0 * w + 2.0 * w * (w + 1.0) + 4.0 * r * w + 4.0 * r * r;
                        r = (r - 1.0).max(0.0);
                        cost
                    }
                };
            }
        }
        sum
    }

    /// Largest number of carriers of a front.
    pub fn carriers(&self) -> usize {
        self.fronts.iter().skip(1).map(|f| f.variables.len() - 1).max().unwrap_or(0)
    }
}
