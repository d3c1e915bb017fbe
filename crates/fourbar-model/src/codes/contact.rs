//! Pages of the codes of contacts.

use super::Page;

const fn page(code: &'static str, title: &'static str, text: &'static str) -> Page {
    Page { code, title, text }
}

pub(crate) const PAGES: &[Page] = &[
    page(
        "M150",
        "Shapes that have no contact",
        "The two sides of a contact are a pair for which no gap is known. Known pairs are: balls and points on planes, balls, hollow balls, curves and convex polygons; corners and boxes on planes, curves and polygons; polygons on planes, curves and polygons; rims of disks on planes; curves on planes and on curves. Any of these but planes may be inside a hollow box, `{box: [1, 1, 1], inside: true}`, which is six planes.\n\nA box touches by its corners only. For a face against a round body, give the face as a `plane` of its body and the round body as a ball.",
    ),
    page(
        "M151",
        "A contact without bodies",
        "A name or pattern of a contact means no body, or too few. `ball*` means all bodies whose names begin with `ball`. Balls `among` each other are at least two.",
    ),
    page(
        "M152",
        "A number that a contact cannot have",
        "Restitution lies between 0 and 1, and is at least 0.01 where the contact is compliant: the force of a compliant contact cannot stop a body without giving some of its speed back. Stiffness, exponent and speeds are positive, the exponent is at least 1. Coefficients of friction are not negative, and friction at rest is at least that of sliding. The ball in a hollow is the smaller one. One contact may have 200,000 pairs of places; `among` has no such bound.",
    ),
    page(
        "M153",
        "A polygon that is not convex and flat",
        "A polygon of a contact has three corners or more, in order, in one plane, and no corner that points inwards. Cut other outlines into convex parts, each with a contact of its own, or draw a smooth outline as a curve.",
    ),
    page(
        "M154",
        "A key of compliant contact on a rigid one",
        "`exponent`, `law` and `speed` say how the force of a compliant contact follows from the overlap. A contact without `stiffness` is rigid: bodies do not overlap, and an impact is over at once.",
    ),
    page(
        "S320",
        "A rigid contact in a method that does not support it",
        "A contact without `stiffness` is rigid: velocities jump when bodies meet. Where its places are few and known, every formulation but `natural` meets them as events. Balls `among` each other have places that come and go, and the normal of a polygon jumps at its corners: they are for the time stepping, `--formulation ra --integrator moreau`, which needs a fixed step and is of first order. With a `stiffness` a contact is a force that every formulation carries. An evaluation at a state has no contact that is closed or open, so it refuses rigid ones.\n\n    contacts:\n      foot: {between: [{body: leg, radius: 10 mm}, {plane: {normal: [0, 1, 0]}}], restitution: 0.1, stiffness: 1e7}",
    ),
    page(
        "S321",
        "A contact that natural coordinates do not support",
        "Natural coordinates are solved by Taylor series. A force that grows with a power such as 1.5 of the overlap has no series where bodies begin to touch, and the place of contact on a curve, a polygon or among many balls is searched for, which a series cannot follow. Give the contact a whole exponent, or use another formulation: all others carry it.",
    ),
    page(
        "S322",
        "Time stepping lost a body or a contact",
        "A step of `moreau` gave numbers that are not finite, or bodies went through each other by more than the size of their contact. Choose a smaller step with `--step`: bodies should move by no more than a tenth of their radius in a step.",
    ),
    page(
        "S323",
        "A contact that jams",
        "Where bodies slide, friction comes with the normal force. On a body that leans against its motion friction turns it into the floor: the more the floor presses, the faster the body would sink into it, and no normal force is large enough. This is the paradox of Painleve; chalk that is pushed over a board shows it by hopping. Rigid bodies with Coulomb's law then have no acceleration. Give the contact a `stiffness`, which decides what happens, or less friction; or step through it with `--formulation ra --integrator moreau`, in which an impulse stops the slip at once.",
    ),
    page(
        "W320",
        "Bodies overlap at the start",
        "The bodies of a contact overlap as drawn. A compliant contact pushes them apart with a force beyond a hundred weights of the mechanism; a rigid one does not let them come closer but leaves the overlap as it is. Draw them apart or just touching. A compliant contact that carries a weight overlaps a little by its nature, and is not warned of.",
    ),
    page(
        "W321",
        "Rigid bodies overlap",
        "Time stepping meets the impact somewhere inside a step, so that rigid bodies overlap by up to a step at the speed of approach. The warning gives the largest overlap of the run where it is more than a twentieth of the size of the bodies. It is proportional to the step: choose a smaller `--step`.",
    ),
    page(
        "W322",
        "Contact forces not solved to the tolerance",
        "The impulses of many contacts are solved for in sweeps, of which there are at most as many as the option `sweeps` says. In some steps they ended before the residual of the contact conditions was below the tolerance. The motion is bounded, but single contact forces there are rough. Choose a smaller step, or more sweeps with `--option sweeps=1000`.",
    ),
    page(
        "W323",
        "Forces at several places that are not unique",
        "More places carry a body than are needed, as the four feet of a table do: infinitely many shares of the weight give the same motion. The smallest forces are given, their sum and the motion are unique. Friction that slides follows each force by itself; where the places of a body slide in different directions the shares then decide the motion too, and a contact with `stiffness` says which they are.",
    ),
    page(
        "W324",
        "A contact with two motions",
        "Friction is so large that sliding bodies may part, or stay together with a normal force that makes room for itself: both obey Coulomb's law. The bodies part here. This is the paradox of Painleve; with a `stiffness` the contact decides.",
    ),
];
