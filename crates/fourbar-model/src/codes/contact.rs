//! Pages of the codes of contacts.

use super::Page;

const fn page(code: &'static str, title: &'static str, text: &'static str) -> Page {
    Page { code, title, text }
}

pub(crate) const PAGES: &[Page] = &[
    page(
        "M150",
        "Shapes that have no contact",
        "No gap function is available for the two sides of this contact. The supported pairs are: balls and points on planes, balls, hollow balls, curves and convex polygons; corners and boxes on planes, curves and polygons; polygons on planes and polygons; rims of disks on planes; curves on planes and on curves. Any of these except planes may be inside a hollow box, `{box: [1, 1, 1], inside: true}`, which is six planes.\n\nA box touches only with its corners. The edge of a polygon is not supported on a curve: use a `plane` for a flat edge, or `corners` if only corners touch. For a face against a round body, give the face as a `plane` of its body and the round body as a ball.",
    ),
    page(
        "M151",
        "A contact without bodies",
        "A name or pattern of a contact matches no body, or too few. `ball*` matches all bodies whose names begin with `ball`. `among` needs at least two balls.",
    ),
    page(
        "M152",
        "A number that a contact cannot have",
        "Restitution lies between 0 and 1, and is at least 0.01 if the contact is compliant: a compliant contact cannot stop a body without some rebound. Stiffness, exponent and speeds are positive, and the exponent is at least 1. Coefficients of friction are not negative, and static friction is at least sliding friction. A ball inside a hollow ball must be the smaller one. One contact may have 200,000 pairs of places; `among` has no such limit.",
    ),
    page(
        "M153",
        "A polygon that is not convex and flat",
        "A polygon of a contact has three or more corners, in order, in one plane, and no re-entrant corner. Divide other outlines into convex parts, each with a separate contact, or define a smooth outline as a curve.",
    ),
    page(
        "M154",
        "A key of compliant contact on a rigid one",
        "`exponent`, `law` and `speed` define the force of a compliant contact as a function of the overlap. A contact without `stiffness` is rigid: bodies do not overlap, and impacts are instantaneous.",
    ),
    page(
        "S320",
        "A rigid contact in a method that does not support it",
        "A contact without `stiffness` is rigid: velocities jump on impact. If its places are few and known, every formulation except `natural` handles them as events. Balls `among` each other have changing contact places, and the normal of a polygon jumps at its corners: these require time stepping, `--formulation ra --integrator moreau`, which needs a fixed step and is of first order. With a `stiffness` a contact is a force, which every formulation supports. An evaluation at a single state does not determine which contacts are closed, so it rejects rigid ones.\n\n    contacts:\n      foot: {between: [{body: leg, radius: 10 mm}, {plane: {normal: [0, 1, 0]}}], restitution: 0.1, stiffness: 1e7}",
    ),
    page(
        "S321",
        "A contact that natural coordinates do not support",
        "The formulation `natural` uses Taylor series. A force that grows with a power such as 1.5 of the overlap has no series where bodies begin to touch, and the contact place on a curve, a polygon or among many balls is found by a search, which has no series. Give the contact an integer exponent, or use another formulation: all others support it.",
    ),
    page(
        "S322",
        "Time stepping lost a body or a contact",
        "A step of `moreau` gave numbers that are not finite, or bodies penetrated each other by more than the size of their contact. Choose a smaller step with `--step`: bodies should move by no more than a tenth of their radius in a step.",
    ),
    page(
        "S323",
        "A contact that jams",
        "Where bodies slide, friction is proportional to the normal force. If a body is inclined against its motion, friction rotates it into the floor: a larger normal force accelerates it further into the floor, and no normal force is large enough. This is Painleve's paradox; chalk pushed over a board hops for this reason. Rigid bodies with Coulomb's law then have no consistent acceleration. Give the contact a `stiffness`, which makes the motion unique, or less friction; or use time stepping, `--formulation ra --integrator moreau`, in which an impulse stops the slip instantaneously.",
    ),
    page(
        "W320",
        "Bodies overlap at the start",
        "The bodies of a contact overlap in the drawn position. A compliant contact pushes them apart with a force of more than a hundred times the weight of the mechanism; a rigid one prevents further approach but does not remove the overlap. Draw them apart or just touching. The small overlap of a compliant contact that supports a weight gives no warning.",
    ),
    page(
        "W321",
        "Rigid bodies overlap",
        "In time stepping an impact occurs somewhere inside a step, so that rigid bodies overlap by up to one step at their approach speed. The warning gives the largest overlap of the run if it is more than a twentieth of the size of the bodies. It is proportional to the step size: choose a smaller `--step`.",
    ),
    page(
        "W322",
        "Contact forces not solved to the tolerance",
        "The impulses of many contacts are solved for by sweeps, whose maximum number is the option `sweeps`. In some steps it was reached before the residual of the contact conditions was below the tolerance. The motion is bounded, but individual contact forces are inaccurate there. Choose a smaller step, or more sweeps with `--option sweeps=1000`.",
    ),
    page(
        "W323",
        "Forces at several places that are not unique",
        "A body is supported at more places than necessary, like a table on four feet: infinitely many distributions of the weight give the same motion. The forces of minimum norm are given; their sum and the motion are unique. Sliding friction depends on each individual force; if the places of a body slide in different directions, the distribution also affects the motion, and a contact with `stiffness` makes it unique.",
    ),
    page(
        "W324",
        "A contact with two motions",
        "Friction is so large that sliding bodies may either separate or stay in contact with a positive normal force: both motions satisfy Coulomb's law. Here the bodies separate. This is Painleve's paradox; with a `stiffness` the motion of the contact is unique.",
    ),
];
