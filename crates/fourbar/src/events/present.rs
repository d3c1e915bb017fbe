//! The mechanism in the present mode, for evaluations at a state.

use super::switch::Switch;
use super::{Eventful, HeldBy};
use crate::evaluate::Evaluation;
use crate::event::{Action, Mode};
use crate::model::Model;
use crate::motion::{Instant, Switched};
use crate::report::Kind;
use crate::snapshot::Snapshot;
use crate::state::Configuration;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// A mechanism in the mode that results from events, limits and friction.
///
/// [`InMode::model`] is the model for an [`Evaluation`]: removed joints are open in it, and held coordinates have drives, listed after
/// those of the file. [`InMode::snapshot`] converts the results to the names of the file.
#[derive(Clone, Debug)]
pub struct InMode {
    file: Arc<Model>,
    model: Arc<Model>,
    /// `None` if the mode is that of the file.
    force: Option<InForce>,
}

/// The present mode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct InForce {
    mode: Mode,
    /// Sticking friction: its place among the forces, and among the held coordinates.
    stuck: Vec<(usize, usize)>,
}

impl InMode {
    /// A mechanism in the mode of its file.
    pub fn of_file(model: &Arc<Model>) -> Self {
        Self { file: Arc::clone(model), model: Arc::clone(model), force: None }
    }

    /// The mechanism as in the file.
    pub fn file(&self) -> &Arc<Model> {
        &self.file
    }

    /// The mechanism in the mode.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// The same with separate drives, which are not affected when a simulation continues.
    pub fn with_own_drives(&self) -> Self {
        Self { model: Arc::new(self.model.with_own_drives()), ..self.clone() }
    }

    /// Names of the joints and drives that act here and not in the other mode.
    pub fn acts_beside(&self, other: &Self) -> Vec<&str> {
        let acts = |own: &Self, k: usize| own.force.as_ref().map_or(!own.file.joints[k].open, |f| f.mode.joints[k]);
        let drives = |own: &Self, k: usize| own.force.as_ref().is_none_or(|f| f.mode.drives[k]);
        if self.file.joints.len() != other.file.joints.len() || self.file.drives.len() != other.file.drives.len() {
            return Vec::new();
        }
        let joints = (0..self.file.joints.len()).filter(|k| acts(self, *k) && !acts(other, *k));
        let joints = joints.map(|k| self.file.joints[k].name.as_str());
        let drives = (0..self.file.drives.len()).filter(|k| drives(self, *k) && !drives(other, *k));
        joints.chain(drives.map(|k| self.file.drives[k].name.as_str())).collect()
    }

    /// Results of an evaluation of [`InMode::model`], by the names of the file.
    pub fn snapshot(&self, evaluated: &Evaluation<'_>) -> Snapshot<'_> {
        Snapshot::new(&self.file, Cow::Owned(self.in_file(evaluated.instant())))
    }

    /// Converts an instant of the mechanism in the mode to the terms of the file.
    fn in_file(&self, s: &Instant) -> Instant {
        let Some(InForce { mode, stuck }) = &self.force else { return s.clone() };
        let file = &*self.file;
        let kept = file.drives_of(mode);
        let mut efforts = vec![0.0; file.drives.len()];
        for (k, effort) in kept.iter().zip(&s.efforts) {
            efforts[*k] = *effort;
        }
        let held: Vec<f64> = s.efforts[kept.len()..].to_vec();
        let mut loads = vec![0.0; file.joints.len()];
        s.loads(file, &mut loads);
        let friction = |(k, (_, f)): (usize, &(String, crate::force::Force))| {
            f.sticks()?;
            if let Some((_, place)) = stuck.iter().find(|(force, _)| *force == k) {
                return Some((k, held.get(*place).copied().unwrap_or(0.0), true));
            }
            let slides = mode.slides[k];
            let effort = || f.clone().sliding(slides).values(file, &s.plain(&loads)).first().copied().unwrap_or(0.0);
            Some((k, if slides == 0.0 { 0.0 } else { effort() }, false))
        };
        let switched = Switched {
            acting: file.acting(mode),
            frictions: file.forces.iter().enumerate().filter_map(friction).collect(),
            held: mode.held.iter().zip(&held).map(|(h, e)| (h.joint, h.coordinate, *e)).collect(),
            ..Switched::default()
        };
        let constraints = s.constraints[..file.bare.len() + file.rolling.len()].to_vec();
        Instant { efforts, constraints, switched: Some(Box::new(switched)), ..s.clone() }
    }

    /// The present mode, as a JSON value; null for the mode of the file.
    pub fn save(&self) -> Value {
        serde_json::to_value(&self.force).unwrap_or_default()
    }

    /// Restores the result of [`InMode::save`] for the same mechanism; `None` if it does not fit.
    pub fn restored(file: &Arc<Model>, saved: &Value) -> Option<Self> {
        let force: Option<InForce> = serde_json::from_value(saved.clone()).ok()?;
        let Some(force) = force else { return Some(Self::of_file(file)) };
        let mode = &force.mode;
        let (joints, drives, forces) = (file.joints.len(), file.drives.len(), file.forces.len());
        let sizes = [mode.joints.len(), mode.drives.len(), mode.forces.len(), mode.slides.len()] == [joints, drives, forces, forces];
        let held = mode.held.iter().all(|h| h.joint < joints && file.joints[h.joint].coordinate(h.coordinate).is_some());
        let stuck = force.stuck.iter().all(|(k, place)| *k < forces && *place < mode.held.len());
        let switches = Switch::all_at(file, &Configuration::start(file));
        let pieces = mode.pieces.iter().all(|(of, pieces)| switches.iter().any(|s| s.of == *of && s.pieces.len() == pieces.len()));
        let spots = file.spot_limits();
        let spot = |t: &crate::event::Touching| {
            let own = |l: &crate::event::Limit| l.spot.as_ref().is_some_and(|s| (s.contact, s.number) == (t.contact, t.number));
            spots.iter().any(own)
        };
        let fits = sizes && held && stuck && pieces && mode.touching.iter().flatten().all(spot);
        let model = fits.then(|| Arc::new(file.in_mode(mode)))?;
        Some(Self { file: Arc::clone(file), model, force: Some(force) })
    }
}

impl Eventful {
    /// The mechanism in the present mode.
    pub fn acting(&self) -> &Arc<Model> {
        &self.acting
    }

    /// The same with the data needed to convert results to the names of the file.
    pub fn in_mode(&self) -> InMode {
        let place = |k: usize| self.held_by.iter().position(|h| *h == HeldBy::Friction(k));
        let stuck = self.frictions.iter().enumerate().filter_map(|(k, (force, _))| Some((*force, place(k)?))).collect();
        let force = InForce { mode: self.mode.clone(), stuck };
        InMode { file: Arc::clone(&self.base), model: Arc::clone(&self.acting), force: Some(force) }
    }

    /// The event that has ended the run.
    pub fn ended_by(&self) -> Option<&str> {
        let ends = |name: &str| self.base.events.iter().any(|e| e.name == name && e.actions.iter().any(|a| matches!(a, Action::Stop)));
        let last = self.happened.iter().rev().filter(|h| h.kind == Kind::Event).find(|h| ends(&h.name));
        last.filter(|_| self.ended).map(|h| h.name.as_str())
    }
}
