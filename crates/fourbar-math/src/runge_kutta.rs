//! The order of a Runge-Kutta method, by the conditions of Butcher's rooted trees.
//!
//! A method `(a, b)` has order `p` where `sum_i b_i g_i(T) = 1 / gamma(T)` for every rooted tree `T` of at most `p` nodes. A tree that
//! joins `T_1 ... T_k` at a new root has `g_i = prod_m (a g(T_m))_i` and `gamma = n prod_m gamma(T_m)` with its `n` nodes; the single node
//! has `g = 1`, `gamma = 1`.

/// Trees of more nodes are not examined: 200 conditions up to this order, 486 up to the next.
pub const HIGHEST: usize = 8;
/// A condition holds if its error is at most this fraction of the sum of its terms.
const HOLDS: f64 = 1e-10;

/// The result of the order conditions of a method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Order {
    /// The order, at most [`HIGHEST`]; zero if the sum of the weights is not one.
    pub order: usize,
    /// Number of conditions that hold up to that order.
    pub conditions: usize,
    /// The largest error of these conditions, relative to the terms of the condition.
    pub error: f64,
    /// The largest error of the conditions of the next order; `None` if that order is not examined.
    pub next: Option<f64>,
}

/// A tree: `a g`, the same with absolute values, and `gamma`.
struct Tree {
    ag: Vec<f64>,
    size: Vec<f64>,
    gamma: f64,
}

/// The order of the method with the square matrix `a`, by rows, and the weights `b`.
pub fn order(a: &[Vec<f64>], b: &[f64]) -> Order {
    let mut known: Vec<Vec<Tree>> = Vec::new();
    let mut found = Order { order: 0, conditions: 0, error: 0.0, next: None };
    for nodes in 1..=HIGHEST {
        let (mut trees, mut worst) = (Vec::new(), 0.0_f64);
        let mut branches = Vec::new();
        joined(&known, nodes - 1, (0, 0), &mut branches, &mut |branches| {
            let mut g = vec![1.0; b.len()];
            let mut size = g.clone();
            let mut gamma = nodes as f64;
            for &(order, k) in branches {
                let tree = &known[order][k];
                gamma *= tree.gamma;
                g.iter_mut().zip(&tree.ag).for_each(|(g, x)| *g *= x);
                size.iter_mut().zip(&tree.size).for_each(|(g, x)| *g *= x);
            }
            let sum: f64 = b.iter().zip(&g).map(|(b, g)| b * g).sum();
            let terms: f64 = b.iter().zip(&size).map(|(b, g)| (b * g).abs()).sum::<f64>().max(1.0 / gamma);
            let error = (sum - 1.0 / gamma).abs() / terms;
            // A NaN must not be lost in a maximum.
            worst = if error.is_nan() { f64::INFINITY } else { worst.max(error) };
            let times = |x: &[f64], sign: fn(f64) -> f64| -> Vec<f64> {
                a.iter().map(|row| row.iter().zip(x).map(|(a, x)| sign(*a) * x).sum()).collect()
            };
            trees.push(Tree { ag: times(&g, |a| a), size: times(&size, f64::abs), gamma });
        });
        if worst > HOLDS {
            found.next = Some(worst);
            return found;
        }
        found = Order { order: nodes, conditions: found.conditions + trees.len(), error: found.error.max(worst), next: None };
        known.push(trees);
    }
    found
}

/// A subtree: its number of nodes less one, and its index among those of that size.
type Branch = (usize, usize);

/// Every set of known trees with `left` nodes in all, as (nodes - 1, number), none before `from`.
fn joined(known: &[Vec<Tree>], left: usize, from: (usize, usize), branches: &mut Vec<Branch>, found: &mut dyn FnMut(&[Branch])) {
    if left == 0 {
        return found(branches);
    }
    for order in from.0..left {
        let first = if order == from.0 { from.1 } else { 0 };
        for k in first..known[order].len() {
            branches.push((order, k));
            joined(known, left - order - 1, (order, k), branches, found);
            branches.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_conditions_is_that_of_rooted_trees() {
        // The (implicit) Gauss-Legendre method with four stages has order eight: 1 + 1 + 2 + 4 + 9 + 20 + 48 + 115 conditions.
        let (x, w) = gauss_4();
        let c: Vec<f64> = x.iter().map(|x| 0.5 * (1.0 + x)).collect();
        let b: Vec<f64> = w.iter().map(|w| 0.5 * w).collect();
        // a_ij is the integral of the j-th Lagrange polynomial up to c_i.
        let a: Vec<Vec<f64>> = (0..4).map(|i| (0..4).map(|j| integral(&c, j, c[i])).collect()).collect();
        let told = order(&a, &b);
        assert_eq!((told.order, told.conditions, told.next), (8, 200, None));
        assert!(told.error < 1e-13, "{told:?}");
    }

    #[test]
    fn classical_methods_have_their_orders_and_no_more() {
        let third = 1.0 / 3.0;
        let rk4 = vec![vec![0.0; 4], vec![0.5, 0.0, 0.0, 0.0], vec![0.0, 0.5, 0.0, 0.0], vec![0.0, 0.0, 1.0, 0.0]];
        let told = order(&rk4, &[third / 2.0, third, third, third / 2.0]);
        assert_eq!((told.order, told.conditions), (4, 8));
        assert!(told.next.unwrap() > 1e-3);
        // Midpoint, Euler, and weights that do not add up to one.
        assert_eq!(order(&[vec![0.0, 0.0], vec![0.5, 0.0]], &[0.0, 1.0]).order, 2);
        assert_eq!(order(&[vec![0.0]], &[1.0]).order, 1);
        assert_eq!(order(&[vec![0.0]], &[0.9]).order, 0);
        assert_eq!(order(&[vec![f64::NAN]], &[1.0]).order, 1);
        assert_eq!(order(&[vec![0.0]], &[f64::NAN]).order, 0);
    }

    fn gauss_4() -> ([f64; 4], [f64; 4]) {
        let (p, q) = (3.0 / 7.0, 2.0 / 7.0 * (6.0f64 / 5.0).sqrt());
        let (s, l) = ((p - q).sqrt(), (p + q).sqrt());
        let (big, small) = ((18.0 + 30f64.sqrt()) / 36.0, (18.0 - 30f64.sqrt()) / 36.0);
        ([-l, -s, s, l], [small, big, big, small])
    }

    /// Integral from zero to `to` of the polynomial that is one at `c[j]` and zero at the others.
    fn integral(c: &[f64], j: usize, to: f64) -> f64 {
        let mut p = vec![1.0];
        for (m, x) in c.iter().enumerate().filter(|(m, _)| *m != j) {
            let _ = m;
            let mut next = vec![0.0; p.len() + 1];
            for (k, v) in p.iter().enumerate() {
                next[k + 1] += v / (c[j] - x);
                next[k] -= v * x / (c[j] - x);
            }
            p = next;
        }
        p.iter().enumerate().map(|(k, v)| v * to.powi(k as i32 + 1) / (k + 1) as f64).sum()
    }
}
