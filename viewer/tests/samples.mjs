// Mechanisms made from formulas, so that the tests of the page need nothing else: a four-bar linkage compared with a slightly
// wrong one, a show of every shape and joint, a chain of a thousand bodies, and a large result that must stay small as a page.

import { f32, f64, i16, linear, quaternions, u32 } from "./pack.mjs";

const LINKS = { ground: 0.4, crank: 0.12, coupler: 0.42, rocker: 0.3 };
export const HOSTILE = "<script>alert(1)</script>";

/** Angles of coupler and rocker of a four-bar linkage at a crank angle: the circles about crank pin and rocker pin meet, on either side. */
function closeLoop(a, side) {
  const { ground: d, crank: r, coupler: l, rocker: s } = LINKS;
  const px = r * Math.cos(a), py = r * Math.sin(a), dx = d - px, dy = -py, h = Math.hypot(dx, dy);
  const along = (l * l - s * s + h * h) / (2 * h), off = side * Math.sqrt(l * l - along * along);
  const qx = px + (along * dx - off * dy) / h, qy = py + (along * dy + off * dx) / h;
  return { px, py, qx, qy, coupler: Math.atan2(qy - py, qx - px), rocker: Math.atan2(qy, qx - d) };
}

const turnZ = (a) => [Math.cos(a / 2), 0, 0, Math.sin(a / 2)];

/** Poses (centre of mass, quaternion) of the three links; `slip` falsifies the crank angle, `side` -1 is the other way to assemble them. */
export function fourBarPoses(t, slip = 0, side = 1) {
  const a = 2 * Math.PI * t + slip * Math.sin(3 * t), c = closeLoop(a, side), { ground, crank, coupler, rocker } = LINKS;
  const bar = (x, y, angle, length) => ({ r: [x + (length / 2) * Math.cos(angle), y + (length / 2) * Math.sin(angle), 0], p: turnZ(angle) });
  return { crank: bar(0, 0, a, crank), coupler: bar(c.px, c.py, c.coupler, coupler), rocker: bar(ground, 0, c.rocker, rocker), angle: a };
}

const NAMES = ["crank", "coupler", "rocker"];

function fourBarResult(label, slip, side = 1) {
  const step = 0.005, n = 401, t = Array.from({ length: n }, (_, k) => k * step), poses = t.map((s) => fourBarPoses(s, slip, side));
  const column = (name, unit, f, extra = {}) => ({ name, unit, data: f32(t.map(f)), ...extra });
  const columns = [
    column("pin_a.angle", "rad", (_, k) => poses[k].angle), column("motor.effort", "N m", (s) => 0.4 * Math.sin(2 * Math.PI * s)),
    column("energy.kinetic", "J", (s) => 1 + 0.3 * Math.cos(4 * Math.PI * s)), column("energy.potential", "J", (s) => 2 - 0.3 * Math.cos(4 * Math.PI * s)), column("energy.total", "J", () => 3),
    column("error.position", "m", (s) => 1e-13 * 10 ** (3 * s)), column("error.velocity", "m/s", (s) => 1e-10 * (1 + s)),
  ];
  // Numbers of the right kind, to have something to draw.
  ["pin_a", "pin_b", "pin_c", "pin_d"].forEach((pin, j) => ["x", "y", "z"].forEach((axis, c) => columns.push(column(`${pin}.force.${axis}`, "N", (s) => (c === 2 ? 0 : 8 * Math.cos(2 * Math.PI * s + j + 1.3 * c))))));
  // A spike between two kept samples: the page must show it as a band.
  columns.push({ name: "coupler.a.x", unit: "m/s2", data: f32(t.map((s) => Math.sin(9 * s))), lo: f32(t.map((s) => Math.sin(9 * s) - 0.1)), hi: f32(t.map((s, k) => Math.sin(9 * s) + (k === 200 ? 4 : 0.1))) });
  return {
    label, formulation: label, integrator: "gen-alpha", times: [linear(0, step, n)],
    poses: { time: 0, r: NAMES.map((b) => i16(poses.flatMap((p) => p[b].r), 3)), p: NAMES.map((b) => quaternions(poses.flatMap((p) => p[b].p))) }, columns,
  };
}

export function fourBar({ title = "Four-bar linkage", compare = false, modes = false } = {}) {
  const joint = (name, type, base, moving, at, there) => ({ name, type, bodies: [base, moving], base: { at, axis: [0, 0, 1] }, moving: { at: there, axis: [0, 0, 1] } });
  const { ground, crank, coupler, rocker } = LINKS, results = [fourBarResult("ra", 0)];
  if (compare) {
    const other = fourBarResult("dca", 0.15), t = Array.from({ length: 401 }, (_, k) => k * 0.005);
    other.difference = [{ name: "crank.r.x", unit: "m", data: f64(t.map((s) => 1e-9 * Math.sin(s))) }];
    results.push(other);
  }
  if (modes) results.push(fourBarResult("mode 2", 0, -1));
  return {
    fourbar: 1, generator: "samples",
    model: {
      title, length_unit: "m", length: ground, gravity: [0, -9.81, 0], planar_normal: [0, 0, 1],
      bodies: [{ name: "crank", com: [crank / 2, 0, 0] }, { name: "coupler", com: [coupler / 2, 0, 0] }, { name: "rocker", com: [rocker / 2, 0, 0] }],
      joints: [
        joint("pin_a", "revolute", "ground", "crank", [0, 0, 0], [0, 0, 0]), joint("pin_b", "revolute", "crank", "coupler", [crank, 0, 0], [0, 0, 0]),
        joint("pin_c", "revolute", "coupler", "rocker", [coupler, 0, 0], [rocker, 0, 0]), { ...joint("pin_d", "revolute", "ground", "rocker", [ground, 0, 0], [0, 0, 0]), unique: false },
      ],
      forces: [{ name: "spring", type: "spring", between: [{ body: "rocker", at: [0.15, 0, 0] }, { body: "ground", at: [0.62, 0.18, 0] }] }],
      points: [{ name: "tip", body: "coupler", at: [0.21, 0.16, 0] }], drives: [{ name: "motor", joint: "pin_a", kind: "angle" }], view: { trace: ["tip"] },
    },
    results,
    diagnosis: [
      { title: "Mechanism", lines: [{ text: "3 bodies, 4 joints, 1 loop" }, { text: "mobility 1 by rank, \u22122 by count", level: "warn" }] },
      { title: "Redundant constraints", lines: [{ text: "3 constraints of pin_a, pin_b, pin_c, pin_d say nothing new", names: ["pin_a", "pin_b", "pin_c", "pin_d"], level: "warn" }] },
      { title: "Singular configurations", lines: [{ text: "crank and coupler in line", time: 0.75, names: ["pin_b"] }] },
      { title: "Work", lines: [{ text: "400 steps, 1,203 iterations", level: "good" }] },
    ],
  };
}

/** The trajectory of the sample as the program would write it, in full digits and finer than the page. */
export function fourBarCsv() {
  const lines = [["t", ...NAMES.flatMap((b) => ["r.x", "r.y", "r.z", "p.0", "p.1", "p.2", "p.3"].map((c) => `${b}.${c}`))].join(",")];
  for (let k = 0; k <= 2000; k++) {
    const pose = fourBarPoses(k / 1000);
    lines.push([k / 1000, ...NAMES.flatMap((b) => [...pose[b].r, ...pose[b].p])].join(","));
  }
  return `${lines.join("\n")}\n`;
}

/** Markup in every text. */
export function hostile() {
  const data = fourBar({ title: HOSTILE }), result = data.results[0];
  Object.assign(result, { label: HOSTILE, formulation: HOSTILE, integrator: "<img src=x onerror=alert(2)>" });
  for (const c of result.columns) if (c.name === "motor.effort") c.unit = HOSTILE;
  data.diagnosis[0].lines.push({ text: `</script>${HOSTILE}<img src=x onerror=alert(3)>`, time: 1 });
  return data;
}

/** The comparison value that the page must show: in full digits, not from rounded poses. */
export const exactDifference = (t) => 1e-9 * Math.sin(t);

const SHAPES = [
  [{ type: "box", size: [0.2, 0.1, 0.06] }], [{ type: "cylinder", from: [0, 0, -0.1], to: [0, 0, 0.1], radius: 0.05 }], [{ type: "sphere", radius: 0.09 }],
  [{ type: "rod", from: [-0.1, 0, 0], to: [0.1, 0, 0], radius: 0.03 }], [{ type: "plate", points: [[-0.1, -0.1, 0], [0.1, -0.1, 0], [0.02, 0, 0], [0.1, 0.1, 0], [-0.1, 0.1, 0]], thickness: 0.03 }],
  [{ type: "mesh", vertices: f32([0, 0, 0.12, 0.1, 0, -0.05, -0.05, 0.09, -0.05, -0.05, -0.09, -0.05]), triangles: u32([0, 1, 2, 0, 2, 3, 0, 3, 1, 1, 3, 2]), color: "#bb8844" }],
];
const KINDS = ["revolute", "prismatic", "cylindrical", "screw", "spherical", "universal", "fixed", "planar", "point-on-line", "point-on-plane", "distance", "gear"];

/** Every shape and every joint on one page, all bodies swinging. */
export function zoo() {
  const n = 61, bodies = [], joints = [], r = [], p = [];
  const add = (name, shapes, x, y) => {
    bodies.push(shapes ? { name, shapes } : { name, com: [0.16, 0, 0] });
    r.push(f32(Array.from({ length: n }, (_, k) => [x + (shapes ? 0 : 0.16), y, 0.03 * Math.sin(k / 5)]).flat()));
    p.push(quaternions(Array.from({ length: n }, (_, k) => turnZ(0.4 * Math.sin(k / 10))).flat()));
  };
  SHAPES.forEach((s, k) => add(s[0].type, s, 0.4 * k, 0.5));
  KINDS.forEach((type, k) => {
    const name = `b_${type.replaceAll("-", "_")}`;
    add(name, null, 0.4 * (k % 6), -0.4 * Math.floor(k / 6));
    if (type === "gear") joints.push({ name: "j_gear", type, joints: ["j_revolute", "j_spherical"] });
    else joints.push({ name: `j_${type.replaceAll("-", "_")}`, type, bodies: ["ground", name], base: { at: [0.4 * (k % 6), -0.4 * Math.floor(k / 6), 0], axis: [0, 1, 0] }, moving: { at: type === "distance" ? [0.1, 0.1, 0] : [0, 0, 0], axis: [0, 1, 0] } });
  });
  return { fourbar: 1, model: { title: "Every shape and joint", gravity: [0, 0, -9.81], length: 1, bodies, joints }, results: [{ label: "sample", times: [linear(0, 0.05, n)], poses: { r, p } }] };
}

/** A mechanism that was only assembled: one pose, no columns. */
export function still() {
  const data = fourBar({ title: "Assembled only" }), pose = fourBarPoses(0.1);
  data.results = [{ label: "assembly", times: [[0]], poses: { r: NAMES.map((b) => pose[b].r), p: NAMES.map((b) => pose[b].p) } }];
  data.diagnosis = data.diagnosis.slice(0, 2);
  return data;
}

/** A chain whose links follow a travelling wave; joints stay closed because each link starts where the last one ends. */
export function chain(count, samples, { columns = 0, pack = f32 } = {}) {
  const length = 0.1, bodies = [], joints = [], times = linear(0, 10 / (samples - 1), samples);
  const r = Array.from({ length: count }, () => new Float32Array(3 * samples)), p = Array.from({ length: count }, () => new Float32Array(4 * samples));
  for (let k = 0; k < samples; k++) {
    let x = 0, z = 0;
    for (let i = 0; i < count; i++) {
      const a = 0.9 * Math.sin(i / 14 - (k * 20) / (samples - 1)) * Math.min(1, i / 20), c = Math.cos(a), s = Math.sin(a);
      r[i].set([x + (length / 2) * c, 0, z + (length / 2) * s], 3 * k);
      p[i].set([Math.cos(a / 2), 0, -Math.sin(a / 2), 0], 4 * k);
      x += length * c;
      z += length * s;
    }
  }
  for (let i = 0; i < count; i++) {
    bodies.push({ name: `link${i + 1}` });
    joints.push({ name: `hinge${i + 1}`, type: "revolute", bodies: [i ? `link${i}` : "ground", `link${i + 1}`], base: { at: i ? [length / 2, 0, 0] : [0, 0, 0], axis: [0, 1, 0] }, moving: { at: [-length / 2, 0, 0], axis: [0, 1, 0] } });
  }
  const list = [];
  for (let k = 0; k < columns; k++) {
    const what = [["v", "m/s"], ["omega", "rad/s"], ["a", "m/s2"], ["alpha", "rad/s2"]][Math.floor(k / 3) % 4];
    const values = Array.from({ length: samples }, (_, s) => Math.sin(s / 40 + k) * (1 + (k % 7)) + 0.1 * Math.sin(s * k));
    list.push({ name: `link${1 + (Math.floor(k / 12) % count)}.${what[0]}.${"xyz"[k % 3]}${k >= 12 * count ? k : ""}`, unit: what[1], data: pack(values) });
  }
  return {
    fourbar: 1, model: { title: `Chain of ${count} links`, gravity: [0, 0, -9.81], length, bodies, joints },
    results: [{ label: "dca", formulation: "dca", integrator: "rk4", times: [times], poses: { r: r.map((v) => i16(v, 3)), p: p.map((v) => quaternions(v)) }, columns: list }],
  };
}

/** Ten seconds of fifty bodies with all columns, packed as DATA.md advises: 19 columns a body less the pose, 7 a joint. */
export const fifty = () => chain(50, 1251, { columns: 50 * 12 + 50 * 7, pack: i16 });

/** A ball that falls on a limit and bounces, by its closed form: two rows at every impact, and the last two at the end. */
/** A body that leaves its pin after 25 ms, and moves away to the right; its names are long. */
export function cut() {
  const t = [0, 0.0125, 0.025, 0.025, 0.0375, 0.05], x = [0, 0, 0, 0, 0.5, 1], pin = "a_pin_with_a_name_that_is_far_too_long_for_the_picture_it_stands_in";
  return {
    fourbar: 1,
    model: {
      title: "A title that goes on and on, as titles of reports do, and then goes on a bit further still, and further", length: 1, planar_normal: [0, 0, 1],
      bodies: [{ name: "bob", shapes: [{ type: "box", size: [0.05, 0.05, 0.05], at: [0.5, 0, 0] }] }],
      joints: [{ name: pin, type: "revolute", bodies: ["ground", "bob"], base: { at: [0, 0, 0], axis: [0, 0, 1] }, moving: { at: [0, 0, 0], axis: [0, 0, 1] } }],
      view: { plots: [[`${pin}.force.x`, `${pin}.force.y`]] },
    },
    results: [{
      label: "grcr", times: [t], poses: { r: [f32(x.flatMap((v) => [v, 0, 0]))], p: [quaternions(Array(6).fill([1, 0, 0, 0]).flat())] },
      columns: ["x", "y"].map((a) => ({ name: `${pin}.force.${a}`, unit: "N", data: f32(x.map((v) => v + (a === "x" ? 1e6 : 0))) })), events: [{ t: 0.025, name: "cut", kind: "event", off: [pin] }],
    }],
  };
}

export function bouncing() {
  const g = 9.81, e = 0.6, h0 = 0.5, t = [], z = [], v = [], events = [];
  let start = 0, speed = 0, height = h0;
  const row = (time, y, w) => { t.push(time); z.push(y); v.push(w); };
  for (let k = 0; k < 12; k++) {
    const end = start + (speed + Math.sqrt(speed * speed + 2 * g * height)) / g, n = 8;
    for (let i = 0; i <= n; i++) { const s = ((end - start) * i) / n; row(start + s, i === n ? 0 : height + speed * s - 0.5 * g * s * s, speed - g * s); }
    const before = speed - g * (end - start), after = -e * before;
    events.push({ t: end, name: "guide.min", kind: "impact", impulse: after - before, lost: 0.5 * (before * before - after * after), speed: [before, after] });
    [start, speed, height] = [end, after, 0];
  }
  events.push({ t: start, name: "guide.min", kind: "rest" }, { t: start, name: "end of it", kind: "event" });
  row(start, 0, 0);
  const n = t.length;
  return {
    fourbar: 1,
    model: { title: "Bouncing ball", gravity: [0, 0, -9.81], length: 0.5, bodies: [{ name: "ball", shapes: [{ type: "sphere", radius: 0.05, at: [0, 0, 0] }] }], joints: [{ name: "guide", type: "prismatic", bodies: ["ground", "ball"], base: { at: [0, 0, 0], axis: [0, 0, 1] }, moving: { at: [0, 0, 0], axis: [0, 0, 1] } }] },
    results: [{ label: "grcr", times: [t], poses: { r: [f32(z.flatMap((y) => [0, 0, y]))], p: [quaternions(Array(n).fill([1, 0, 0, 0]).flat())] }, columns: [{ name: "ball.v.z", unit: "m/s", data: f32(v) }], events }],
  };
}
