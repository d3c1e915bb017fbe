//! Saving and restoring a run so that it continues with bitwise the same results.

use super::switch::Switch;
use super::watch::{Found, Watch, Watched};
use super::{Eventful, Friction};
use crate::diagnostic::Diagnostic;
use crate::event::Mode;
use crate::model::JointCoordinate;
use crate::motion::{Instant, bad_checkpoint, numbers};
use crate::state::Configuration;
use serde_json::{Value, json};
use std::sync::Arc;

use super::piece::Piece;

impl Eventful {
    /// All data needed to continue from the present.
    pub fn save(&self) -> Value {
        let friction = |f: &(usize, Friction)| match f.1 {
            Friction::Slides(d) => d,
            Friction::Sticks => 0.0,
            Friction::Off => 2.0,
        };
        let known =
            |(mode, piece, built): &(Mode, Piece, Configuration)| json!([mode, built.save(), piece.with_dependent(|_, e| e.turn())]);
        let watch = |w: &Watch| json!([w.what, w.known_zero, w.offset]);
        json!({
            "fourbar-checkpoint": 3,
            "now": self.now.t, "looked": self.looked,
            "joints": self.joints, "drives": self.drives, "forces": self.forces,
            "locks": self.locks.iter().map(|(j, c, y)| json!([j, *c == JointCoordinate::Angle, y])).collect::<Vec<_>>(),
            "closed": self.closed, "since": self.since, "doing": self.doing,
            "frictions": self.frictions.iter().map(friction).collect::<Vec<_>>(), "stuck_at": self.stuck_at, "parts": self.parts,
            "switches": self.switches.iter().map(|s| json!([s.pieces.to_vec(), s.loose, s.times])).collect::<Vec<_>>(),
            "count": self.count, "armed": self.armed, "sizes": self.sizes, "lost": self.lost, "ended": self.ended,
            "happened": self.happened,
            "bodies": self.base.bodies.len(),
            "idle": self.idle, "modes": self.modes, "residual": [self.residual, self.overlap],
            "from": self.from.save(),
            "found": self.found.as_ref().map(|f| json!([f.t, f.what])),
            "watched": self.watched.iter().map(watch).collect::<Vec<_>>(),
            "zeros": self.zeros, "pressed": self.pressed,
            "mode": self.mode, "built": self.built.save(),
            "placed": self.piece.borrow().model().placed_drives().map(|i| i.save()).collect::<Vec<_>>(),
            "engine": self.piece.borrow().with_dependent(|_, e| e.save()),
            "known": self.pieces.iter().map(known).collect::<Vec<_>>(),
        })
    }

    /// Continues from the result of [`Eventful::save`] for the same mechanism and study.
    pub fn restore(&mut self, v: &Value) -> Result<(), Diagnostic> {
        let misfit = || bad_checkpoint("its sizes do not fit");
        let flags = |key: &str, n: usize| -> Option<Vec<bool>> {
            let list: Option<Vec<bool>> = v[key].as_array()?.iter().map(Value::as_bool).collect();
            list.filter(|l| l.len() == n)
        };
        let (joints, drives, forces) = (self.joints.len(), self.drives.len(), self.forces.len());
        self.joints = flags("joints", joints).ok_or_else(misfit)?;
        self.drives = flags("drives", drives).ok_or_else(misfit)?;
        self.forces = flags("forces", forces).ok_or_else(misfit)?;
        self.closed = flags("closed", self.limits.len()).ok_or_else(misfit)?;
        self.doing = read(&v["doing"])?;
        if self.doing.len() != self.limits.len() {
            return Err(misfit());
        }
        self.armed = flags("armed", self.base.events.len()).ok_or_else(misfit)?;
        self.sizes = read(&v["sizes"])?;
        if self.sizes.len() != self.base.events.len() {
            return Err(misfit());
        }
        self.since = read(&v["since"])?;
        self.happened = read(&v["happened"])?;
        self.count = read(&v["count"])?;
        self.idle = read(&v["idle"])?;
        self.modes = read(&v["modes"])?;
        self.looked = read(&v["looked"])?;
        [self.residual, self.overlap] = read(&v["residual"])?;
        let lock = |l: &Value| {
            let which = if l[1].as_bool()? { JointCoordinate::Angle } else { JointCoordinate::Distance };
            Some((l[0].as_u64()? as usize, which, l[2].as_f64()?)).filter(|l| l.0 < joints)
        };
        self.locks = v["locks"].as_array().and_then(|l| l.iter().map(lock).collect()).ok_or_else(misfit)?;
        let frictions = numbers(&v["frictions"]);
        self.stuck_at = numbers(&v["stuck_at"]);
        if frictions.len() != self.frictions.len() || self.stuck_at.len() != frictions.len() || self.since.len() != self.closed.len() {
            return Err(misfit());
        }
        for (f, x) in self.frictions.iter_mut().zip(frictions) {
            f.1 = if x == 0.0 {
                Friction::Sticks
            } else if x.abs() == 1.0 {
                Friction::Slides(x)
            } else {
                Friction::Off
            };
        }
        self.restore_switches(&v["switches"])?;
        self.lost = v["lost"].as_f64().ok_or_else(misfit)?;
        self.ended = v["ended"].as_bool().ok_or_else(misfit)?;
        let state = |v: &Value| Configuration::restored(&self.base, v).ok_or_else(misfit);
        let fits = |mode: &Mode| {
            let sizes = [mode.joints.len(), mode.drives.len(), mode.forces.len(), mode.slides.len()] == [joints, drives, forces, forces];
            let held = mode.held.iter().all(|h| h.joint < joints && self.base.joints[h.joint].coordinate(h.coordinate).is_some());
            let same =
                |a: &(crate::switching::Switching, Vec<i64>)| self.switches.iter().any(|s| s.of == a.0 && s.pieces.len() == a.1.len());
            let spot = |t: &crate::event::Touching| {
                let own = |l: &crate::event::Limit| l.spot.as_ref().is_some_and(|s| (s.contact, s.number) == (t.contact, t.number));
                self.limits.iter().any(own)
            };
            let touching = mode.touching.is_none() == self.stepped && mode.touching.iter().flatten().all(spot);
            sizes && held && touching && mode.pieces.iter().all(same)
        };
        // The stored engines, restored at the states at which they were created.
        let mut known = Vec::new();
        for k in v["known"].as_array().into_iter().flatten().chain([&json!([v["mode"], v["built"]])]) {
            let (mode, built): (Mode, _) = (read(&k[0])?, state(&k[1])?);
            if !fits(&mode) {
                return Err(misfit());
            }
            let mut piece = Piece::of_mode(&self.base, &mode, &self.study, self.analysis, &built)?;
            let turn = k[2].as_u64().unwrap_or(0) as usize;
            piece.with_dependent_mut(|_, e| e.set_turn(turn));
            known.push((mode, piece, built));
        }
        let (mode, piece, built) = known.pop().ok_or_else(misfit)?;
        (self.mode, self.built, self.pieces) = (mode, built, known.into());
        self.acting = Arc::clone(piece.model());
        *self.piece.get_mut() = piece;
        let (present, by) = self.present_mode();
        if present != self.mode {
            return Err(misfit());
        }
        self.held_by = by;
        self.kept = self.base.drives_of(&self.mode);
        self.touched = self.touched_in(&self.mode);
        for (k, i) in self.piece.borrow().model().placed_drives().enumerate() {
            i.restore(&numbers(&v["placed"][k])).ok_or_else(misfit)?;
        }
        self.piece.get_mut().with_dependent_mut(|_, e| e.restore(&v["engine"]))?;
        self.from = {
            let model = self.piece.borrow().model().clone();
            let mut from = Instant::new(&model, &self.built);
            from.restore(&model, &v["from"]).ok_or_else(misfit)?;
            from
        };
        let watched: Vec<(Watched, bool, f64)> = read(&v["watched"])?;
        let parts: Vec<super::share::Part> = read(&v["parts"])?;
        if !parts.iter().all(|p| p.fits(self.held_by.len(), self.limits.len(), self.frictions.len())) {
            return Err(misfit());
        }
        self.parts = parts;
        self.watched = watched.into_iter().map(|(what, known_zero, offset)| Watch { what, known_zero, offset, endless: false }).collect();
        self.margins.forget();
        self.zeros = read(&v["zeros"])?;
        self.pressed = read(&v["pressed"])?;
        let found: Option<(f64, Vec<Watched>)> = read(&v["found"])?;
        self.found = found.filter(|f| !f.1.is_empty()).map(|(t, what)| Found { t, what });
        let all: Vec<Watched> = self.watched.iter().map(|w| w.what).chain(self.zeros.iter().copied()).collect();
        if !all.iter().chain(self.found.iter().flat_map(|f| &f.what)).all(|w| self.exists(*w)) {
            return Err(misfit());
        }
        let now = self.engine_at(v["now"].as_f64().ok_or_else(misfit)?)?;
        self.now = self.in_file(now);
        Ok(())
    }

    fn restore_switches(&mut self, v: &Value) -> Result<(), Diagnostic> {
        let list: Vec<(Vec<i64>, bool, Vec<f64>)> = read(v)?;
        let fresh = if self.stepped { Vec::new() } else { Switch::all(&self.base) };
        if list.len() != fresh.len() {
            return Err(bad_checkpoint("its sizes do not fit"));
        }
        for ((s, (pieces, loose, times)), was) in fresh.into_iter().zip(list).zip(&mut self.switches) {
            if pieces.len() != was.pieces.len() {
                return Err(bad_checkpoint("its sizes do not fit"));
            }
            *was = Switch { pieces: pieces.into_iter().collect(), loose, times, ..s };
        }
        Ok(())
    }

    /// Whether a monitored function belongs to this mechanism.
    fn exists(&self, what: Watched) -> bool {
        match what {
            Watched::Event(k) => k < self.base.events.len(),
            Watched::Gap(k) | Watched::Effort(k) | Watched::Slip(k) | Watched::Hold(k) => k < self.limits.len(),
            Watched::Slide(k) | Watched::Bound(k) => k < self.frictions.len(),
            Watched::Guard(n, g) => self.switches.get(n).is_some_and(|s| g < 2 * s.pieces.len()),
        }
    }
}

/// A value of a checkpoint.
fn read<T: serde::de::DeserializeOwned>(v: &Value) -> Result<T, Diagnostic> {
    serde_json::from_value(v.clone()).map_err(|_| bad_checkpoint("its sizes do not fit"))
}
