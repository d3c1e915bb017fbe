//! The assembly modes that can be reached from the drawn pose.

use super::curve::Point;
use fourbar::analysis::assembly::modes::Mode;
use fourbar::analysis::assembly::{Bound, pull};
use fourbar::analysis::independent::{Swept, distance, held_rows};
use fourbar::model::Model;
use fourbar::state::Configuration;

/// Decides which modes a motion passes; `whole` states that the motion was followed until it closed.
pub fn reach(model: &Model, found: &mut [Mode], at: &Configuration, list: &[Swept], points: &[Point], whole: bool) {
    let Bound { held, mut rows, .. } = Bound::new(model, at, true);
    rows.extend(held_rows(model, list, at));
    for m in found.iter_mut().skip(1) {
        let near = points.iter().min_by(|a, b| {
            let far = |p: &Point| distance(model, &p.q, &m.configuration.q);
            far(a).total_cmp(&far(b))
        });
        let Some(near) = near else { continue };
        // One step along the motion is a tenth of the characteristic length.
        let passes = distance(model, &near.q, &m.configuration.q) < 0.15 * model.length && {
            let pulled = pull(model, &rows, &held, &near.q, &Configuration { q: near.q.clone(), ..m.configuration.clone() });
            pulled.closed && distance(model, &pulled.q, &m.configuration.q) < 0.02 * model.length
        };
        m.reachable = if passes {
            Some(true)
        } else if whole {
            Some(false)
        } else {
            None
        };
    }
}
