use super::*;
use nalgebra::{DMatrix, DVector};

/// A repeatable stream of numbers in (-1, 1).
fn numbers(seed: u64) -> impl FnMut() -> f64 {
    let mut s = seed;
    move || {
        s = s.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (s >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

fn graph(n: usize, kind: usize) -> Vec<Vec<u32>> {
    let mut g = vec![Vec::new(); n];
    let mut edge = |a: usize, b: usize| {
        if a != b && b < n && !g[a].contains(&(b as u32)) {
            g[a].push(b as u32);
            g[b].push(a as u32);
        }
    };
    for i in 0..n {
        match kind {
            0 => edge(i, i + 1),
            1 => edge(0, i),
            _ => {
                edge(i, i + 1);
                edge(i, i + 4);
                edge(i, (i * 7 + 3) % n);
            }
        }
    }
    g
}

/// Rows and columns of a grid.
fn grid(side: usize) -> Vec<Vec<u32>> {
    let mut g = vec![Vec::new(); side * side];
    for i in 0..side * side {
        let right = (i % side + 1 < side).then_some(i + 1);
        let down = (i + side < side * side).then_some(i + side);
        for j in right.into_iter().chain(down) {
            g[i].push(j as u32);
            g[j].push(i as u32);
        }
    }
    g
}

#[test]
fn lists_of_blocks_grow_no_faster_than_the_factor() {
    // The number of pairs of rows of a clique grows with the third power of its size.
    for n in [50, 400] {
        let clique: Vec<Vec<u32>> = (0..n).map(|i| (0..n as u32).filter(|&j| j != i as u32).collect()).collect();
        let pattern = BlockPattern::new(&vec![1; n], &clique);
        assert!(pattern.listed() <= 2 * pattern.values(), "{n}: {} of {}", pattern.listed(), pattern.values());
    }
    for side in [20, 60] {
        let pattern = BlockPattern::new(&vec![1; side * side], &grid(side));
        assert!(pattern.listed() <= 5 * pattern.values(), "{side}: {} of {}", pattern.listed(), pattern.values());
    }
}

#[test]
fn what_a_node_takes_up_stands_right_before_it() {
    // Distance in memory from a column to the first column that it changes: a few columns for most of them, regardless of the size.
    for side in [20, 60] {
        let pattern = BlockPattern::new(&vec![1; side * side], &grid(side));
        let n = side * side;
        let jumps = |k: &usize| pattern.start[*k] < pattern.start[k + 1] && pattern.below[pattern.start[*k]] as usize > k + 8;
        let far = (0..n).filter(jumps).count();
        assert!(far * 4 < n, "{side}: {far} of {n}");
    }
}

#[test]
fn it_solves_like_a_dense_cholesky_on_chains_stars_and_meshes() {
    let mut random = numbers(7);
    for kind in 0..3 {
        let sizes: Vec<usize> = (0..17).map(|i| [5, 3, 1, 6, 2, 4, 8][(i * 3 + kind) % 7]).collect();
        let g = graph(sizes.len(), kind);
        let total: usize = sizes.iter().sum();
        let starts: Vec<usize> = sizes
            .iter()
            .scan(0, |s, m| {
                let r = *s;
                *s += m;
                Some(r)
            })
            .collect();
        let mut A = DMatrix::<f64>::zeros(total, total);
        for i in 0..sizes.len() {
            for &j in g[i].iter().filter(|&&j| (j as usize) < i) {
                for a in 0..sizes[i] {
                    for b in 0..sizes[j as usize] {
                        let x = random();
                        A[(starts[i] + a, starts[j as usize] + b)] = x;
                        A[(starts[j as usize] + b, starts[i] + a)] = x;
                    }
                }
            }
        }
        for i in 0..total {
            A[(i, i)] = 1.0 + A.row(i).iter().map(|x| x.abs()).sum::<f64>();
        }
        let mut solver = BlockSolver::new(BlockPattern::new(&sizes, &g));
        let mut places = Vec::new();
        for i in 0..sizes.len() {
            for j in g[i].iter().map(|&j| j as usize).chain([i]).filter(|&j| j <= i) {
                places.push((i, j, solver.pattern().block(i, j)));
            }
        }
        let a = solver.clear();
        for (i, j, (at, rows_first)) in places {
            for p in 0..sizes[i] {
                for q in 0..sizes[j] {
                    let k = if rows_first { p * sizes[j] + q } else { q * sizes[i] + p };
                    a[at + k] = A[(starts[i] + p, starts[j] + q)];
                }
            }
        }
        solver.factor();
        let b = DVector::from_fn(total, |_, _| random());
        let mut x = b.as_slice().to_vec();
        solver.solve(&mut x);
        let exact = A.cholesky().expect("diagonally dominant").solve(&b);
        assert!((DVector::from_vec(x) - exact).amax() < 1e-13, "kind {kind}");
        assert!(solver.pivots().iter().all(|&p| p > 0.0 && p <= 1.0));
    }
}

#[test]
fn a_dependent_row_shows_as_a_vanishing_pivot() {
    // Two nodes: the second repeats the first.
    let mut solver = BlockSolver::new(BlockPattern::new(&[2, 2], &[vec![1], vec![0]]));
    let S = [[2.0, 0.5], [0.5, 1.0]];
    let places = [(0, 0), (0, 1), (1, 1)].map(|(i, j)| solver.pattern().block(i, j).0);
    let a = solver.clear();
    for at in places {
        for p in 0..2 {
            for q in 0..2 {
                a[at + 2 * p + q] = S[p][q];
            }
        }
    }
    solver.shift(1e-10);
    solver.factor();
    assert_eq!(solver.pivots().iter().filter(|&&p| p < 1e-8).count(), 2);
}

#[test]
fn a_node_with_a_negative_pivot_stands_for_a_full_term() {
    // Forty nodes of three rows, all of them joined by `B B^T` with two columns; the diagonal of the last one comes only from that term, so
    // it is eliminated later.
    let (n, m, wide) = (40, 3, 2);
    let mut random = numbers(11);
    let mut sizes = vec![m; n];
    sizes.push(wide);
    let mut neighbours = vec![vec![n as u32]; n];
    neighbours.push((0..n as u32).collect());
    let mut before = vec![Vec::new(); n + 1];
    before[n] = (0..n as u32 - 1).collect();
    before[n - 1] = vec![n as u32];
    let mut solver = BlockSolver::new(BlockPattern::with_negative(&sizes, &neighbours, &before, 1));
    assert_eq!(solver.pattern().values(), n * m * (m + wide) + wide * wide);
    let B = DMatrix::from_fn(n * m, wide, |_, _| random());
    let mu = 1e-3;
    let mut S = &B * B.transpose();
    let places: Vec<_> = (0..n).map(|i| (solver.pattern().block(i, i).0, solver.pattern().block(i, n))).collect();
    let own = solver.pattern().block(n, n).0;
    let a = solver.clear();
    (0..wide).for_each(|j| a[own + j * wide + j] = -1.0);
    for (i, (at, (coupling, rows_first))) in places.into_iter().enumerate() {
        for p in 0..m {
            if i + 1 < n {
                let x = 1.0 + random().abs();
                a[at + p * m + p] = x;
                S[(i * m + p, i * m + p)] += x;
            }
            for j in 0..wide {
                a[coupling + if rows_first { p * wide + j } else { j * m + p }] = B[(i * m + p, j)];
            }
            S[(i * m + p, i * m + p)] += mu;
        }
    }
    let hidden: Vec<f64> = (0..n * m).map(|r| B.row(r).norm_squared()).collect();
    solver.shift(mu);
    solver.factor_beside(&hidden);
    assert!(solver.pivots().iter().all(|&p| p > 0.0));
    assert!(solver.pivots()[..n * m].iter().all(|&p| p <= 1.0));
    let b = DVector::from_fn(n * m, |_, _| random());
    let mut x = b.as_slice().to_vec();
    x.extend([0.0; 2]);
    solver.solve(&mut x);
    let exact = S.cholesky().expect("positive definite").solve(&b);
    let error = (DVector::from_column_slice(&x[..n * m]) - &exact).amax();
    assert!(error < 1e-11 * exact.amax(), "{error:e}");
}

#[test]
fn the_fill_of_a_chain_stays_linear() {
    let n = 1000;
    let pattern = BlockPattern::new(&vec![5; n], &graph(n, 0));
    assert_eq!(pattern.values(), 25 * (2 * n - 1));
}
