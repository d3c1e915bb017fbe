//! Random mechanisms by family, for tests: textbook mechanisms of random size, pose and proportions.
//!
//! Unlike [`crate::mechanism`], which joins bodies at random, a family has a fixed structure (a six-bar, an RUSR loop, a delta robot, a
//! planetary gear ...) and everything else is random: lengths, axes, masses over several decades, springs, bushings, friction, actuators
//! with expressions, drives, times of the study, place and orientation in the world. Loops are closed by construction; some of those
//! without couplings are then drawn inexactly, with exact frames, so that assembly has to close them. The same seed gives the same
//! mechanism.

mod forces;
mod parallel;
mod planar;
mod sketch;

pub use sketch::Draw;
mod spatial;
mod transmission;
mod tree;

use fourbar::spec::ModelSpec;
use sketch::Sketch;

/// A kind of mechanism.
#[derive(Clone, Copy)]
pub struct Family {
    /// Its name.
    pub name: &'static str,
    /// Draws bodies and joints.
    draw: fn(&mut Sketch),
}

impl std::fmt::Debug for Family {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

const fn family(name: &'static str, draw: fn(&mut Sketch)) -> Family {
    Family { name, draw }
}

static FAMILIES: &[Family] = &[
    family("four-bar", planar::four_bar),
    family("slider-crank", planar::slider_crank),
    family("geared-five-bar", planar::geared_five_bar),
    family("stephenson", planar::stephenson),
    family("watt", planar::watt),
    family("parallelograms", planar::parallelograms),
    family("3-rrr", planar::three_rrr),
    family("scotch-yoke", planar::scotch_yoke),
    family("rusr", |s| spatial::ring(s, "RUSR")),
    family("rssr", |s| spatial::ring(s, "RSSR")),
    family("rscr", |s| spatial::ring(s, "RSCR")),
    family("cccr", |s| spatial::ring(s, "CCCR")),
    family("rpsc", |s| spatial::ring(s, "RPSC")),
    family("upur", |s| spatial::ring(s, "UPUR")),
    family("ruur", |s| spatial::ring(s, "RUUR")),
    family("7r", |s| spatial::ring(s, "RRRRRRR")),
    family("ring", spatial::any_ring),
    family("bennett", spatial::bennett),
    family("sarrus", spatial::sarrus),
    family("table", spatial::table),
    family("stewart", parallel::stewart),
    family("delta", parallel::delta),
    family("3-rps", parallel::three_rps),
    family("screw", transmission::screw),
    family("rack", transmission::rack),
    family("gears", transmission::gears),
    family("planetary", transmission::planetary),
    family("tree", tree::tree),
    family("rolling", tree::rolling),
];

/// All families.
pub fn families() -> &'static [Family] {
    FAMILIES
}

/// The family of a seed: consecutive seeds cycle through all families.
pub fn family_of(seed: u64) -> &'static Family {
    &FAMILIES[(seed % FAMILIES.len() as u64) as usize]
}

/// The mechanism of a seed, of the family given by [`family_of`].
pub fn mechanism(seed: u64) -> ModelSpec {
    of_family(family_of(seed), seed)
}

/// The mechanism of a seed in a family.
pub fn of_family(family: &Family, seed: u64) -> ModelSpec {
    let mut s = Sketch::new(seed, family.name);
    (family.draw)(&mut s);
    forces::add(&mut s);
    s.finish()
}
