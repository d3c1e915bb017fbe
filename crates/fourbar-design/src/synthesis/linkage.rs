//! A planar four-bar linkage: positions, range, transmission angle, cognates, and its mechanism file.

use super::Complex;
use std::f64::consts::TAU;

/// A planar four-bar linkage with a point on its coupler, lengths in metres.
#[derive(Clone, Debug, PartialEq)]
pub struct FourBar {
    /// Fixed pins: of the crank, of the rocker.
    pub ground: [Complex; 2],
    /// Length of the crank.
    pub crank: f64,
    /// Length of the coupler between its pins.
    pub coupler: f64,
    /// Length of the rocker.
    pub rocker: f64,
    /// The coupler point, measured from the crank's moving pin, along and across the coupler.
    pub point: Complex,
    /// +1: the pin of the rocker is to the left of the line from the crank's moving pin to the rocker's fixed pin; -1: to the right.
    pub mode: f64,
}

/// Positions of the moving points at a crank angle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position {
    /// Moving pin of the crank.
    pub A: Complex,
    /// Moving pin of the rocker.
    pub B: Complex,
    /// The coupler point.
    pub P: Complex,
}

impl FourBar {
    /// Distance of the fixed pins.
    pub fn base(&self) -> f64 {
        (self.ground[1] - self.ground[0]).abs()
    }

    /// The position at a crank angle, measured from the x axis of the world; `None` if the linkage cannot be closed.
    pub fn position(&self, crank: f64) -> Option<Position> {
        let A = self.ground[0] + Complex::at(crank).scaled(self.crank);
        let d = self.ground[1] - A;
        let (d2, length) = (d.square(), d.abs());
        let x = (self.coupler * self.coupler - self.rocker * self.rocker + d2) / (2.0 * length);
        let h2 = self.coupler * self.coupler - x * x;
        if !(h2 >= 0.0 && length > 0.0) {
            return None;
        }
        let u = (Complex::new(x, self.mode * h2.sqrt()) * d).scaled(1.0 / (length * self.coupler));
        Some(Position { A, B: A + u.scaled(self.coupler), P: A + u * self.point })
    }

    /// Whether the crank rotates fully (Grashof's condition with the crank or the base as shortest link).
    pub fn crank_turns(&self) -> bool {
        let mut links = [self.base(), self.crank, self.coupler, self.rocker];
        links.sort_by(f64::total_cmp);
        links[0] + links[3] <= links[1] + links[2] && (self.crank <= links[0] || self.base() <= links[0])
    }

    /// The smallest angle between coupler and rocker, from 0 to 90 degrees in radians, over a whole turn of the crank; zero if the crank
    /// cannot rotate fully. Values far from 90 degrees transmit force badly.
    pub fn transmission(&self) -> f64 {
        let mut least = std::f64::consts::FRAC_PI_2;
        for k in 0..720 {
            let Some(p) = self.position(TAU * k as f64 / 720.0) else { return 0.0 };
            let (c, r) = (p.B - p.A, p.B - self.ground[1]);
            let angle = c.cross(r).abs().atan2((c.re * r.re + c.im * r.im).abs());
            least = least.min(angle);
        }
        least
    }

    /// The other two linkages whose coupler point draws the same curve (Roberts and Chebyshev); `None` if this one cannot be closed.
    ///
    /// With the triangle of the coupler `z = (P - A)/(B - A)` the third fixed pin is `O3 = O1 + z (O2 - O1)`. Since `z (B - A) = P - A`,
    /// `O3 = D + z (A - O1) + z (O2 - B)` with `D = O1 + (P - A)`: links of lengths `|P - A|`, `|z|` crank and `|z|` rocker close between `O1`
    /// and `O3`, and `P` is fixed to the middle one. The other cognate comes in the same way from `B` and `1 - z`; its link at `O3` turns as
    /// the crank does, so that it is its crank.
    pub fn cognates(&self) -> Option<[FourBar; 2]> {
        let one = Complex::new(1.0, 0.0);
        let z = self.point.scaled(1.0 / self.coupler);
        let rest = one - z;
        let [O1, O2] = self.ground;
        let O3 = O1 + z * (O2 - O1);
        let at = (0..360).find_map(|k| self.position(TAU * k as f64 / 360.0))?;
        if z.abs() < 1e-12 || rest.abs() < 1e-12 {
            return None;
        }
        let side = |d: Complex, u: Complex| if d.cross(u) >= 0.0 { 1.0 } else { -1.0 };
        let D = O1 + at.P - at.A;
        let E = D + z * (at.A - O1);
        let left = Self {
            ground: [O1, O3],
            crank: self.point.abs(),
            coupler: z.abs() * self.crank,
            rocker: z.abs() * self.rocker,
            point: one.over(z).scaled(z.abs() * self.crank),
            mode: side(O3 - D, E - D),
        };
        let D = O2 + at.P - at.B;
        let E = D + rest * (at.B - O2);
        let coupler = rest.abs() * self.rocker;
        let right = Self {
            ground: [O3, O2],
            crank: rest.abs() * self.crank,
            coupler,
            rocker: rest.abs() * self.coupler,
            point: (one - one.over(rest)).scaled(coupler),
            mode: side(O2 - E, D - E),
        };
        Some([right, left])
    }

    /// Crank angles for passing given angles in order, without jumps by whole turns; `None` if the crank cannot go from one to the next in
    /// this assembly mode. A fully rotating crank goes in the direction that passes them within one turn.
    pub fn way(&self, angles: &[f64]) -> Option<Vec<f64>> {
        let mut way = vec![*angles.first()?];
        if self.crank_turns() {
            let on = |sense: f64| {
                let mut way = way.clone();
                for pair in angles.windows(2) {
                    way.push(way[way.len() - 1] + sense * (sense * (pair[1] - pair[0])).rem_euclid(TAU));
                }
                way
            };
            let [more, less] = [on(1.0), on(-1.0)];
            let total = |w: &[f64]| (w[w.len() - 1] - w[0]).abs();
            return Some(if total(&less) < total(&more) { less } else { more });
        }
        const LOOKS: usize = 256;
        for pair in angles.windows(2) {
            let from = way[way.len() - 1];
            let turn = (pair[1] - pair[0]).rem_euclid(TAU);
            let closes = |d: &f64| (0..LOOKS).all(|k| self.position(from + d * (k as f64 + 0.5) / LOOKS as f64).is_some());
            let mut ways = [turn, turn - TAU];
            ways.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
            way.push(from + ways.into_iter().find(closes)?);
        }
        Some(way)
    }

    /// The drive of the crank through angles in one second: the parameter of the drive with its comment, and the angle relative to the
    /// first.
    fn drive(&self, angles: &[f64]) -> (String, String) {
        let round = |sign: &str| (format!("turn: {sign}2*pi                      # speed of the crank, rad/s"), "turn*t".to_string());
        let Some(way) = self.way(angles) else { return round("") };
        let first = way[0];
        if self.crank_turns() {
            return round(if way[way.len() - 1] < first { "-" } else { "" });
        }
        // Angles at which it reverses, and the first one.
        let mut stops = vec![first];
        for (k, x) in way.iter().enumerate().skip(1) {
            let back = way.get(k + 1).is_none_or(|next| (next - x) * (x - way[k - 1]) < 0.0);
            if back && *x != stops[stops.len() - 1] {
                stops.push(*x);
            }
        }
        if let [_, end] = stops[..] {
            let swing = end - first;
            return (
                format!("swing: {swing:?}                # of the crank, rad: there and back in a second"),
                "swing*(1 - cos(2*pi*t))/2".into(),
            );
        }
        stops.push(first);
        let legs = (stops.len() - 1) as f64;
        let mut text = String::new();
        for (k, pair) in stops.windows(2).enumerate() {
            let (a, b) = (k as f64 / legs, (k as f64 + 1.0) / legs);
            let sign = if text.is_empty() { "" } else { " + " };
            text += &format!("{sign}swing*({:?})*smoothstep(t, {a:?}, {b:?})", pair[1] - pair[0]);
        }
        ("swing: 1                        # fraction of the crank's travel through the given angles and back".into(), format!("'{text}'"))
    }

    /// The mechanism file of the linkage, driven by its crank through angles in order: full rotation, or back and forth if the crank does
    /// not rotate fully.
    pub fn file(&self, title: &str, angles: &[f64]) -> String {
        let turn = (self.ground[1] - self.ground[0]).arg();
        let start = angles.first().copied().unwrap_or(0.0);
        let (parameter, angle) = self.drive(angles);
        let n = |x: f64| format!("{x:?}");
        let sign = if self.mode > 0.0 { "" } else { "-" };
        format!(
            "# {title}: found by `fourbar synthesize`.\n\
             fourbar: 1\n\
             title: {title}\n\
             parameters:\n\
             \x20 ground_x: {gx}                  # fixed pin of the crank, metres\n\
             \x20 ground_y: {gy}\n\
             \x20 ground_length: {base}\n\
             \x20 tilt: {turn}                    # of the line of the fixed pins, rad\n\
             \x20 crank_length: {crank}\n\
             \x20 coupler_length: {coupler}\n\
             \x20 rocker_length: {rocker}\n\
             \x20 Px: {px}                        # the coupler point, along and across the coupler\n\
             \x20 Py: {py}\n\
             \x20 {parameter}\n\
             \x20 start: {start}                  # crank angle as drawn, rad\n\
             \x20 bar: 1                          # kg per metre of bar\n\
             \x20 Cx: ground_x + ground_length*cos(tilt)\n\
             \x20 Cy: ground_y + ground_length*sin(tilt)\n\
             \x20 Ax: ground_x + crank_length*cos(start)\n\
             \x20 Ay: ground_y + crank_length*sin(start)\n\
             \x20 reach: sqrt((Cx - Ax)^2 + (Cy - Ay)^2)\n\
             \x20 along: (reach^2 + coupler_length^2 - rocker_length^2)/(2*reach)\n\
             \x20 across: {sign}sqrt(coupler_length^2 - along^2)\n\
             \x20 Bx: Ax + (along*(Cx - Ax) - across*(Cy - Ay))/reach\n\
             \x20 By: Ay + (along*(Cy - Ay) + across*(Cx - Ax))/reach\n\
             \x20 coupler_angle: atan2(By - Ay, Bx - Ax)\n\
             \x20 rocker_angle: atan2(By - Cy, Bx - Cx)\n\
             gravity: [0, -9.81, 0]\n\
             bodies:\n\
             \x20 crank: {{mass: bar*crank_length, inertia: [bar*crank_length^3/300, bar*crank_length^3/12, bar*crank_length^3/12], at: [ground_x, ground_y, 0], orientation: {{axis: [0, 0, 1], angle: start}}, com: [crank_length/2, 0, 0]}}\n\
             \x20 coupler: {{mass: bar*coupler_length, inertia: [bar*coupler_length^3/300, bar*coupler_length^3/12, bar*coupler_length^3/12], at: [Ax, Ay, 0], orientation: {{axis: [0, 0, 1], angle: coupler_angle}}, com: [coupler_length/2, 0, 0]}}\n\
             \x20 rocker: {{mass: bar*rocker_length, inertia: [bar*rocker_length^3/300, bar*rocker_length^3/12, bar*rocker_length^3/12], at: [Cx, Cy, 0], orientation: {{axis: [0, 0, 1], angle: rocker_angle}}, com: [rocker_length/2, 0, 0]}}\n\
             joints:\n\
             \x20 O: {{type: revolute, bodies: [ground, crank], at: [ground_x, ground_y, 0], axis: [0, 0, 1]}}\n\
             \x20 A: {{type: revolute, bodies: [crank, coupler], at: [Ax, Ay, 0], axis: [0, 0, 1]}}\n\
             \x20 B: {{type: revolute, bodies: [coupler, rocker], at: [Bx, By, 0], axis: [0, 0, 1]}}\n\
             \x20 C: {{type: revolute, bodies: [ground, rocker], at: [Cx, Cy, 0], axis: [0, 0, 1]}}\n\
             drives:\n\
             \x20 motor: {{joint: O, angle: {angle}}}\n\
             points:\n\
             \x20 P: {{body: coupler, at: [Px, Py, 0]}}\n\
             study: {{analysis: kinematics, t_end: 1, output_step: 5 ms}}\n\
             view: {{trace: [P]}}\n",
            gx = n(self.ground[0].re),
            gy = n(self.ground[0].im),
            base = n(self.base()),
            turn = n(turn),
            crank = n(self.crank),
            coupler = n(self.coupler),
            rocker = n(self.rocker),
            px = n(self.point.re),
            py = n(self.point.im),
            start = n(start),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linkage() -> FourBar {
        FourBar {
            ground: [Complex::new(0.2, 0.1), Complex::new(1.2, 0.4)],
            crank: 0.42,
            coupler: 0.91,
            rocker: 0.6,
            point: Complex::new(0.37, 0.4),
            mode: 1.0,
        }
    }

    #[test]
    fn links_keep_their_lengths() {
        let l = linkage();
        for k in 0..50 {
            let p = l.position(0.13 * k as f64).expect("it is a crank-rocker");
            assert!(((p.A - l.ground[0]).abs() - l.crank).abs() < 1e-14);
            assert!(((p.B - p.A).abs() - l.coupler).abs() < 1e-14);
            assert!(((p.B - l.ground[1]).abs() - l.rocker).abs() < 1e-14);
            assert!(((p.P - p.A).abs() - l.point.abs()).abs() < 1e-14);
        }
        assert!(l.crank_turns());
    }

    /// Angles in any order and shifted by whole turns: the crank passes them all, the linkage closes all along, and fully rotating cranks
    /// turn once.
    #[test]
    fn the_crank_finds_its_way_through_angles() {
        let mut random = fourbar::random::Random(20_261_120);
        let (mut whole, mut part) = (0, 0);
        while whole < 40 || part < 40 {
            let mut length = || 0.8 + 0.6 * random.number();
            let l = FourBar { crank: length(), coupler: length(), rocker: length(), ..linkage() };
            let step = 0.3 * random.number();
            let first = 3.0 * random.number();
            let truth: Vec<f64> = if l.crank_turns() {
                (0..4).map(|k| first + (0.4 + step) * f64::from(k) * if step > 0.0 { 1.0 } else { -1.0 }).collect()
            } else {
                vec![first, first + step, first + 0.4 * random.number()]
            };
            let closes = |a: f64, b: f64| (0..=500).all(|k| l.position(a + (b - a) * f64::from(k) / 500.0).is_some());
            if !truth.windows(2).all(|w| closes(w[0], w[1])) {
                continue;
            }
            let given: Vec<f64> = truth.iter().map(|x| x + TAU * (2.0 * random.number()).round()).collect();
            let way = l.way(&given).expect("there is one");
            if l.crank_turns() {
                whole += 1;
                assert!((way[3] - way[0]).abs() < TAU && ((way[3] - way[0]) - (truth[3] - truth[0])).abs() < 1e-9, "{truth:?} {way:?}");
            } else {
                part += 1;
                for k in 1..3 {
                    assert!(((way[k] - way[0]) - (truth[k] - truth[0])).abs() < 1e-9, "{truth:?} {way:?}");
                }
            }
        }
    }

    #[test]
    fn cognates_draw_the_same_curve() {
        for mode in [1.0, -1.0] {
            let l = FourBar { mode, ..linkage() };
            let [right, left] = l.cognates().expect("there are two");
            let curve: Vec<Complex> = (0..7200).filter_map(|k| l.position(TAU * k as f64 / 7200.0)).map(|p| p.P).collect();
            let off = |p: Complex| curve.iter().map(|q| (p - *q).abs()).fold(f64::INFINITY, f64::min);
            let mut seen = 0;
            for k in 0..90 {
                let angle = TAU * k as f64 / 90.0;
                let p = right.position(angle).expect("its crank turns as the first one");
                assert!(off(p.P) < 1e-3, "{angle}: {}", off(p.P));
                // The curve of the other linkage may need either mode.
                let both = [1.0, -1.0].map(|mode| FourBar { mode, ..left.clone() }.position(angle).map(|p| off(p.P)));
                if let [Some(a), Some(b)] = both {
                    seen += usize::from(a.min(b) < 1e-3);
                }
            }
            assert!(seen > 5, "{seen}");
        }
    }
}
