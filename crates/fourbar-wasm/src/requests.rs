//! What a page may ask for.

use serde::Deserialize;

/// A request; `do` names it.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// Reads a mechanism file and assembles it; parameters in `set` get other values, as `--set` gives them.
    Load {
        /// The file.
        text: String,
        /// Names and values.
        #[serde(default)]
        set: Vec<(String, String)>,
        /// Settings of the study that differ from those of the file, as [`fourbar::study::Study`] has them.
        #[serde(default)]
        study: serde_json::Map<String, serde_json::Value>,
    },
    /// Moves a point of a body after the pointer, joints closed, drives free.
    Drag {
        /// Name of the body.
        body: String,
        /// The point in the frame of the body, m.
        at: [f64; 3],
        /// Where it should go in the world, m.
        to: [f64; 3],
    },
    /// Takes up a pose that a page shows, which is closed to the rounding of the page; joints are closed from there.
    Pose {
        /// Time, s.
        t: f64,
        /// Origins of the body frames in the world, m.
        origins: Vec<[f64; 3]>,
        /// Unit quaternions, scalar part first, body to world.
        quaternions: Vec<[f64; 4]>,
        /// Velocities of bodies, angles of joints and states there, by the names of their columns in SI units. Bodies without a velocity
        /// rest, states that are left out are as at the start.
        #[serde(default)]
        values: Vec<(String, f64)>,
    },
    /// Back to the start.
    Reset {},
    /// Takes up an assembly mode, counted from 0 as `check` lists them.
    Mode {
        /// Which.
        number: usize,
    },
    /// Starts to move from the present state. Motors that did not bring the mechanism to the present pose begin there, at time zero.
    Start {
        /// Whether gravity acts.
        gravity: bool,
        /// Whether the drives do.
        motors: bool,
    },
    /// Moves on by some seconds.
    Advance {
        /// How long, s.
        by: f64,
        /// Where the hand pulls to, while there is one.
        #[serde(default)]
        hand: Option<Hand>,
    },
    /// Sets an input.
    Set {
        /// Its name.
        input: String,
        /// Its value in SI units.
        value: f64,
    },
    /// Runs the study of the file and gives the data of its page.
    Run {},
    /// Runs the study of the file and gives its rows with all digits, at most the given number.
    Rows {
        /// Largest number of rows.
        most: usize,
    },
    /// Gives the data of a page that shows the present pose.
    Still {},
    /// What `fourbar check` says.
    Check {},
}

/// A hand that holds a point of a body by a spring.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hand {
    /// Name of the body.
    pub body: String,
    /// The point in the frame of the body, m.
    pub at: [f64; 3],
    /// Where the hand is, m.
    pub to: [f64; 3],
}
