//! Tableaus of explicit Runge-Kutta methods, as data.
//!
//! Sources of the numbers: Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, 2nd ed.: Heun and the classical
//! method in section II.1, Fehlberg 4(5) in II.5, Dormand and Prince 5(4) in II.5 with the interpolant of II.6, and 8(5,3)
//! from the authors' code DOP853 (II.10). Crouch-Grossman of order 3 from Hairer, Lubich and Wanner, Geometric Numerical Integration,
//! IV.8.1; of order 4 from Jackiewicz, Marthinsen and Owren, Construction of Runge-Kutta methods of Crouch-Grossman type of high order
//! (2000); commutator-free methods from Celledoni, Marthinsen and Owren, Commutator-free Lie group methods (2003). Weights are
//! written as (stage, weight), zeros omitted; nodes are row sums. The conditions of each order are checked in the tests.

/// Weights by stage.
pub type Weights = &'static [(usize, f64)];

/// How the local error is estimated.
#[derive(Clone, Copy, Debug)]
pub enum Estimate {
    /// None: fixed steps only.
    None,
    /// By the difference from a second result; `order` is the lower of the two.
    One {
        /// Lower order.
        order: usize,
        /// Weights of the difference.
        e: Weights,
    },
    /// By two differences, the coarse one safeguarding the fine one.
    Two {
        /// Order used in step size control.
        order: usize,
        /// Weights of the fine difference.
        e: Weights,
        /// Weights of the coarse difference.
        coarse: Weights,
    },
}

/// The combined error of a fine and a coarse estimate, the coarse one safeguarding the fine one.
pub fn combined_error(fine: f64, coarse: f64) -> f64 {
    // The squares of smaller numbers underflow, and their ratio is NaN.
    if fine < 1e-150 { fine } else { fine * fine / (fine * fine + 0.01 * coarse * coarse).sqrt() }
}

/// An explicit method.
#[derive(Clone, Copy, Debug)]
pub struct Tableau {
    /// Name on the command line.
    pub name: &'static str,
    /// Order.
    pub order: usize,
    /// Rows from the second stage on; the last row gives the result.
    pub a: &'static [Weights],
    /// Whether the derivative at the result is also a stage, with which the next step begins.
    pub same_last: bool,
    /// Error estimate.
    pub error: Estimate,
    /// Factor on the error estimate. If the lower order is close to the higher one the estimate is too small, and the error of a whole run would
    /// exceed what its tolerance promises; the factors were measured on the shipped models.
    pub caution: f64,
    /// Approximate limit of the product of step and fastest damped rate for stability, if the last stage but one is at the end of the step.
    pub stable: Option<f64>,
    /// Further stages, only for the interpolant; the one before them is the derivative at the end.
    pub extra: &'static [Weights],
    /// Weights of the interpolant beyond the cubic.
    pub dense: &'static [Weights],
    /// For methods that compose a stage of several successive motions: the weights of each, row by row as in `a`, which contains their
    /// sums. Empty for methods of Munthe-Kaas type, which use a single motion.
    pub product: &'static [&'static [Weights]],
}

/// All tableaus.
pub const TABLEAUS: &[Tableau] = &[EULER, HEUN, RK4, RKF45, DOPRI5, DOP853, CG3, CG4, CF3, CF4];

impl Tableau {
    /// The method of a name.
    pub fn named(name: &str) -> Option<&'static Tableau> {
        TABLEAUS.iter().find(|t| t.name == name)
    }
}

/// Euler.
pub const EULER: Tableau = Tableau {
    name: "euler",
    order: 1,
    a: &[&[(0, 1.0)]],
    same_last: false,
    error: Estimate::None,
    caution: 1.0,
    stable: None,
    extra: &[],
    dense: &[],
    product: &[],
};

/// Heun, with embedded Euler.
pub const HEUN: Tableau = Tableau {
    name: "heun",
    order: 2,
    a: &[&[(0, 1.0)], &[(0, 0.5), (1, 0.5)]],
    same_last: false,
    error: Estimate::One { order: 1, e: &[(0, -0.5), (1, 0.5)] },
    caution: 1.0,
    stable: None,
    extra: &[],
    dense: &[],
    product: &[],
};

/// The classical method of order 4.
pub const RK4: Tableau = Tableau {
    name: "rk4",
    order: 4,
    a: &[&[(0, 0.5)], &[(1, 0.5)], &[(2, 1.0)], &[(0, 1.0 / 6.0), (1, 1.0 / 3.0), (2, 1.0 / 3.0), (3, 1.0 / 6.0)]],
    same_last: false,
    error: Estimate::None,
    caution: 1.0,
    stable: None,
    extra: &[],
    dense: &[],
    product: &[],
};

/// Fehlberg 4(5), continued with the result of order 5.
pub const RKF45: Tableau = Tableau {
    name: "rkf45",
    order: 5,
    a: &[
        &[(0, 1.0 / 4.0)],
        &[(0, 3.0 / 32.0), (1, 9.0 / 32.0)],
        &[(0, 1932.0 / 2197.0), (1, -7200.0 / 2197.0), (2, 7296.0 / 2197.0)],
        &[(0, 439.0 / 216.0), (1, -8.0), (2, 3680.0 / 513.0), (3, -845.0 / 4104.0)],
        &[(0, -8.0 / 27.0), (1, 2.0), (2, -3544.0 / 2565.0), (3, 1859.0 / 4104.0), (4, -11.0 / 40.0)],
        &[(0, 16.0 / 135.0), (2, 6656.0 / 12825.0), (3, 28561.0 / 56430.0), (4, -9.0 / 50.0), (5, 2.0 / 55.0)],
    ],
    same_last: false,
    error: Estimate::One {
        order: 4,
        e: &[(0, 1.0 / 360.0), (2, -128.0 / 4275.0), (3, -2197.0 / 75240.0), (4, 1.0 / 50.0), (5, 2.0 / 55.0)],
    },
    caution: 4.0,
    stable: None,
    extra: &[],
    dense: &[],
    product: &[],
};

/// Dormand and Prince 5(4) with its interpolant of order 4.
pub const DOPRI5: Tableau = Tableau {
    name: "dopri5",
    order: 5,
    a: &[
        &[(0, 1.0 / 5.0)],
        &[(0, 3.0 / 40.0), (1, 9.0 / 40.0)],
        &[(0, 44.0 / 45.0), (1, -56.0 / 15.0), (2, 32.0 / 9.0)],
        &[(0, 19372.0 / 6561.0), (1, -25360.0 / 2187.0), (2, 64448.0 / 6561.0), (3, -212.0 / 729.0)],
        &[(0, 9017.0 / 3168.0), (1, -355.0 / 33.0), (2, 46732.0 / 5247.0), (3, 49.0 / 176.0), (4, -5103.0 / 18656.0)],
        &[(0, 35.0 / 384.0), (2, 500.0 / 1113.0), (3, 125.0 / 192.0), (4, -2187.0 / 6784.0), (5, 11.0 / 84.0)],
    ],
    same_last: true,
    error: Estimate::One {
        order: 4,
        e: &[(0, 71.0 / 57600.0), (2, -71.0 / 16695.0), (3, 71.0 / 1920.0), (4, -17253.0 / 339200.0), (5, 22.0 / 525.0), (6, -1.0 / 40.0)],
    },
    caution: 1.3,
    stable: Some(3.25),
    extra: &[],
    dense: &[&[
        (0, -12715105075.0 / 11282082432.0),
        (2, 87487479700.0 / 32700410799.0),
        (3, -10690763975.0 / 1880347072.0),
        (4, 701980252875.0 / 199316789632.0),
        (5, -1453857185.0 / 822651844.0),
        (6, 69997945.0 / 29380423.0),
    ]],
    product: &[],
};

/// Dormand and Prince 8(5,3) with its interpolant of order 7.
pub const DOP853: Tableau = Tableau {
    name: "dop853",
    order: 8,
    a: &[
        &[(0, 0.05260015195876773)],
        &[(0, 0.0197250569845379), (1, 0.0591751709536137)],
        &[(0, 0.02958758547680685), (2, 0.08876275643042054)],
        &[(0, 0.2413651341592667), (2, -0.8845494793282861), (3, 0.924834003261792)],
        &[(0, 0.037037037037037035), (3, 0.17082860872947386), (4, 0.12546768756682242)],
        &[(0, 0.037109375), (3, 0.17025221101954405), (4, 0.06021653898045596), (5, -0.017578125)],
        &[
            (0, 0.03709200011850479),
            (3, 0.17038392571223998),
            (4, 0.10726203044637328),
            (5, -0.015319437748624402),
            (6, 0.008273789163814023),
        ],
        &[
            (0, 0.6241109587160757),
            (3, -3.3608926294469414),
            (4, -0.868219346841726),
            (5, 27.59209969944671),
            (6, 20.154067550477894),
            (7, -43.48988418106996),
        ],
        &[
            (0, 0.47766253643826434),
            (3, -2.4881146199716677),
            (4, -0.590290826836843),
            (5, 21.230051448181193),
            (6, 15.279233632882423),
            (7, -33.28821096898486),
            (8, -0.020331201708508627),
        ],
        &[
            (0, -0.9371424300859873),
            (3, 5.186372428844064),
            (4, 1.0914373489967295),
            (5, -8.149787010746927),
            (6, -18.52006565999696),
            (7, 22.739487099350505),
            (8, 2.4936055526796523),
            (9, -3.0467644718982196),
        ],
        &[
            (0, 2.273310147516538),
            (3, -10.53449546673725),
            (4, -2.0008720582248625),
            (5, -17.9589318631188),
            (6, 27.94888452941996),
            (7, -2.8589982771350235),
            (8, -8.87285693353063),
            (9, 12.360567175794303),
            (10, 0.6433927460157636),
        ],
        &[
            (0, 0.054293734116568765),
            (5, 4.450312892752409),
            (6, 1.8915178993145003),
            (7, -5.801203960010585),
            (8, 0.3111643669578199),
            (9, -0.1521609496625161),
            (10, 0.20136540080403034),
            (11, 0.04471061572777259),
        ],
    ],
    same_last: true,
    error: Estimate::Two {
        order: 7,
        e: &[
            (0, 0.01312004499419488),
            (5, -1.2251564463762044),
            (6, -0.4957589496572502),
            (7, 1.6643771824549864),
            (8, -0.35032884874997366),
            (9, 0.3341791187130175),
            (10, 0.08192320648511571),
            (11, -0.022355307863886294),
        ],
        coarse: &[
            (0, -0.18980075407240762),
            (5, 4.450312892752409),
            (6, 1.8915178993145003),
            (7, -5.801203960010585),
            (8, -0.4226823213237919),
            (9, -0.1521609496625161),
            (10, 0.20136540080403034),
            (11, 0.02265179219836082),
        ],
    },
    caution: 1.0,
    stable: Some(6.1),
    extra: &[
        &[
            (0, 0.056167502283047954),
            (6, 0.25350021021662483),
            (7, -0.2462390374708025),
            (8, -0.12419142326381637),
            (9, 0.15329179827876568),
            (10, 0.00820105229563469),
            (11, 0.007567897660545699),
            (12, -0.008298),
        ],
        &[
            (0, 0.03183464816350214),
            (5, 0.028300909672366776),
            (6, 0.053541988307438566),
            (7, -0.05492374857139099),
            (10, -0.00010834732869724932),
            (11, 0.0003825710908356584),
            (12, -0.00034046500868740456),
            (13, 0.1413124436746325),
        ],
        &[
            (0, -0.42889630158379194),
            (5, -4.697621415361164),
            (6, 7.683421196062599),
            (7, 4.06898981839711),
            (8, 0.3567271874552811),
            (12, -0.0013990241651590145),
            (13, 2.9475147891527724),
            (14, -9.15095847217987),
        ],
    ],
    dense: &[
        &[
            (0, -8.428938276109013),
            (5, 0.5667149535193777),
            (6, -3.0689499459498917),
            (7, 2.38466765651207),
            (8, 2.117034582445028),
            (9, -0.871391583777973),
            (10, 2.2404374302607883),
            (11, 0.6315787787694688),
            (12, -0.08899033645133331),
            (13, 18.148505520854727),
            (14, -9.194632392478356),
            (15, -4.436036387594894),
        ],
        &[
            (0, 10.427508642579134),
            (5, 242.28349177525817),
            (6, 165.20045171727028),
            (7, -374.5467547226902),
            (8, -22.113666853125306),
            (9, 7.733432668472264),
            (10, -30.674084731089398),
            (11, -9.332130526430229),
            (12, 15.697238121770845),
            (13, -31.139403219565178),
            (14, -9.35292435884448),
            (15, 35.81684148639408),
        ],
        &[
            (0, 19.985053242002433),
            (5, -387.0373087493518),
            (6, -189.17813819516758),
            (7, 527.8081592054236),
            (8, -11.57390253995963),
            (9, 6.8812326946963),
            (10, -1.0006050966910838),
            (11, 0.7777137798053443),
            (12, -2.778205752353508),
            (13, -60.19669523126412),
            (14, 84.32040550667716),
            (15, 11.99229113618279),
        ],
        &[
            (0, -25.69393346270375),
            (5, -154.18974869023643),
            (6, -231.5293791760455),
            (7, 357.6391179106141),
            (8, 93.40532418362432),
            (9, -37.45832313645163),
            (10, 104.0996495089623),
            (11, 29.8402934266605),
            (12, -43.53345659001114),
            (13, 96.32455395918828),
            (14, -39.17726167561544),
            (15, -149.72683625798564),
        ],
    ],
    product: &[],
};

/// A method without error estimate whose stages are products of motions.
const fn by_products(name: &'static str, order: usize, a: &'static [Weights], product: &'static [&'static [Weights]]) -> Tableau {
    Tableau { name, order, a, same_last: false, error: Estimate::None, caution: 1.0, stable: None, extra: &[], dense: &[], product }
}

/// Crouch and Grossman, order 3: every motion uses a single stage.
pub const CG3: Tableau = by_products(
    "cg3",
    3,
    &[&[(0, 3.0 / 4.0)], &[(0, 119.0 / 216.0), (1, 17.0 / 108.0)], &[(0, 13.0 / 51.0), (1, -2.0 / 3.0), (2, 24.0 / 17.0)]],
    &[
        &[&[(0, 3.0 / 4.0)]],
        &[&[(0, 119.0 / 216.0)], &[(1, 17.0 / 108.0)]],
        &[&[(0, 13.0 / 51.0)], &[(1, -2.0 / 3.0)], &[(2, 24.0 / 17.0)]],
    ],
);

/// The same of order 4 with five stages.
pub const CG4: Tableau = by_products(
    "cg4",
    4,
    &[
        &[(0, 0.8177227988124852)],
        &[(0, 0.3199876375476427), (1, 0.0659864263556022)],
        &[(0, 0.9214417194464946), (1, 0.4997857776773573), (2, -1.0969984448371582)],
        &[(0, 0.3552358559023322), (1, 0.2390958372307326), (2, 1.3918565724203246), (3, -1.1092979392113465)],
        &[(0, 0.1370831520630755), (1, -0.0183698531564020), (2, 0.739781398537078), (3, -0.1907142565505889), (4, 0.3322195591068374)],
    ],
    &[
        &[&[(0, 0.8177227988124852)]],
        &[&[(0, 0.3199876375476427)], &[(1, 0.0659864263556022)]],
        &[&[(0, 0.9214417194464946)], &[(1, 0.4997857776773573)], &[(2, -1.0969984448371582)]],
        &[&[(0, 0.3552358559023322)], &[(1, 0.2390958372307326)], &[(2, 1.3918565724203246)], &[(3, -1.1092979392113465)]],
        &[
            &[(0, 0.1370831520630755)],
            &[(1, -0.0183698531564020)],
            &[(2, 0.739781398537078)],
            &[(3, -0.1907142565505889)],
            &[(4, 0.3322195591068374)],
        ],
    ],
);

/// Commutator-free, order 3: the result takes two motions.
pub const CF3: Tableau = by_products(
    "cf3",
    3,
    &[&[(0, 1.0 / 3.0)], &[(1, 2.0 / 3.0)], &[(0, 1.0 / 4.0), (2, 3.0 / 4.0)]],
    &[&[&[(0, 1.0 / 3.0)]], &[&[(1, 2.0 / 3.0)]], &[&[(0, 1.0 / 3.0)], &[(0, -1.0 / 12.0), (2, 3.0 / 4.0)]]],
);

/// Commutator-free, order 4, on the classical method: the last stage and the result take two motions.
pub const CF4: Tableau = by_products(
    "cf4",
    4,
    &[&[(0, 0.5)], &[(1, 0.5)], &[(2, 1.0)], &[(0, 1.0 / 6.0), (1, 1.0 / 3.0), (2, 1.0 / 3.0), (3, 1.0 / 6.0)]],
    &[
        &[&[(0, 0.5)]],
        &[&[(1, 0.5)]],
        &[&[(0, 0.5)], &[(0, -0.5), (2, 1.0)]],
        &[
            &[(0, 1.0 / 4.0), (1, 1.0 / 6.0), (2, 1.0 / 6.0), (3, -1.0 / 12.0)],
            &[(0, -1.0 / 12.0), (1, 1.0 / 6.0), (2, 1.0 / 6.0), (3, 1.0 / 4.0)],
        ],
    ],
);
