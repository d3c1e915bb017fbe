//! Saving an integration as plain numbers, and resuming it with identical bits.

use crate::Error;
use crate::integrate::Integrator;

/// Reads numbers from a saved list.
struct Reader<'a>(std::slice::Iter<'a, f64>);

impl Reader<'_> {
    fn next(&mut self) -> Result<f64, Error> {
        self.0
            .next()
            .copied()
            .filter(|x| x.is_finite())
            .ok_or(Error::BadOption { option: "saved", allowed: "what `save` gave for this problem" })
    }
    fn fill(&mut self, out: &mut [f64]) -> Result<(), Error> {
        out.iter_mut().try_for_each(|x| self.next().map(|y| *x = y))
    }
    fn flags(&mut self, out: &mut [bool]) -> Result<(), Error> {
        out.iter_mut().try_for_each(|x| self.next().map(|y| *x = y != 0.0))
    }
}

fn flag(x: bool) -> f64 {
    f64::from(u8::from(x))
}

impl Integrator {
    /// Everything needed to resume, including dense output of the last step. Numbers must be preserved to the bit.
    pub fn save(&self) -> Vec<f64> {
        let e = &self.engine;
        let b = &self.before;
        let w = &self.work;
        let mut out = vec![e.weight.len() as f64, e.width() as f64, e.max_order as f64];
        out.extend([self.t, self.from, self.h, e.taylor.scale, e.order as f64, self.next_order as f64]);
        out.extend([flag(self.started), flag(self.stale), flag(b.valid), b.t, b.h]);
        out.extend([w.steps, w.expansions, w.retries, w.kinks, self.limited_by].map(|x| x as f64));
        for list in [&e.weight, &e.event_size, &e.state, &self.carry, &b.state, &b.carry, &e.taylor.params, &b.params] {
            out.extend_from_slice(list);
        }
        for list in [&self.at_zero, &e.taylor.side, &b.side] {
            out.extend(list.iter().map(|x| flag(*x)));
        }
        self.kinks.save(&mut out);
        for f in e.factors() {
            out.push(f.pivots().len() as f64);
            out.extend(f.pivots().iter().map(|&row| f64::from(row)));
        }
        out
    }

    /// Resumes from the result of [`save`](Self::save), on an integrator created with the same problem and options.
    pub fn restore(&mut self, saved: &[f64]) -> Result<(), Error> {
        let mut r = Reader(saved.iter());
        let e = &self.engine;
        for own in [e.weight.len(), e.width(), e.max_order] {
            if r.next()? != own as f64 {
                return Err(Error::BadOption { option: "saved", allowed: "what `save` gave for this problem" });
            }
        }
        (self.t, self.from, self.h) = (r.next()?, r.next()?, r.next()?);
        let scale = r.next()?;
        let order = (r.next()? as usize).min(self.engine.max_order);
        self.next_order = (r.next()? as usize).min(self.engine.max_order);
        (self.started, self.stale) = (r.next()? != 0.0, r.next()? != 0.0);
        let b = &mut self.before;
        (b.valid, b.t, b.h) = (r.next()? != 0.0, r.next()?, r.next()?);
        let mut counts = [0.0; 5];
        r.fill(&mut counts)?;
        let [steps, expansions, retries, kinks, limited_by] = counts.map(|x| x as usize);
        self.work = crate::Work { steps, expansions, retries, kinks };
        self.limited_by = limited_by.min(self.engine.weight.len() - 1);
        r.fill(&mut self.engine.weight)?;
        r.fill(&mut self.engine.event_size)?;
        let mut state = self.engine.state.clone();
        r.fill(&mut state)?;
        r.fill(&mut self.carry)?;
        r.fill(&mut self.before.state)?;
        r.fill(&mut self.before.carry)?;
        let mut params = self.engine.taylor.params.clone();
        r.fill(&mut params)?;
        r.fill(&mut self.before.params)?;
        r.flags(&mut self.at_zero)?;
        let mut side = self.engine.taylor.side.clone();
        r.flags(&mut side)?;
        r.flags(&mut self.before.side)?;
        self.kinks.restore(&mut || r.next())?;
        for f in self.engine.factors_mut() {
            let count = r.next()? as usize;
            let mut rows = vec![0.0; count.min(r.0.len())];
            r.fill(&mut rows)?;
            f.set_pivots(rows.into_iter().map(|row| row as u32).collect());
        }
        if self.h != 0.0 {
            // Recompute the series of the last step from its initial values, which already satisfied the constraints.
            self.engine.order = order;
            self.engine.state.copy_from_slice(&self.before.state);
            self.engine.taylor.side.copy_from_slice(&self.before.side);
            self.engine.taylor.params.copy_from_slice(&self.before.params);
            self.engine.expand(self.before.t, scale, false)?;
        }
        self.engine.state = state;
        self.engine.taylor.side = side;
        self.engine.taylor.params = params;
        Ok(())
    }
}
