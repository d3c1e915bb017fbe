// Joints as small glyphs by type, the hatched ground, springs and distances.

import * as THREE from "three";
import type { Force, Joint, Place, Vec3 } from "../data";
import { ACCENT, axisOf, GROUND, held, METAL, type Draft } from "./draft";
import type { Owner } from "./merge";
import { addBar, addBox, addCylinder, addRod, addSphere, frameOf, vec } from "./shapes";

export function drawJoints(d: Draft): void {
  const driven = new Set((d.model.drives ?? []).map((v) => v.joint));
  const symbols: THREE.Vector3[] = [];
  (d.model.joints ?? []).forEach((j, k) => {
    if (!j.bodies) return;
    const base = d.body(j.bodies[0]), moving = d.body(j.bodies[1]);
    const color = driven.has(j.name) ? new THREE.Color(ACCENT) : METAL;
    drawGlyph(d, j, d.owner(base, d.jointId(k), color), d.owner(moving, d.jointId(k), color));
    const grounded = base < 0 ? vec(j.base?.at ?? [0, 0, 0]) : moving < 0 ? vec(j.moving?.at ?? [0, 0, 0]) : null;
    if (!grounded) return;
    const o = d.owner(-1, d.jointId(k), GROUND), axis = vec(axisOf(base < 0 ? j.base : j.moving));
    if (base < 0 && (j.type === "prismatic" || j.type === "cylindrical" || j.type === "screw")) drawGuide(d, j, o);
    else if (symbols.every((s) => s.distanceTo(grounded) > d.bar)) {
      symbols.push(grounded);
      drawGround(d, grounded, axis, o);
    }
  });
  (d.model.forces ?? []).forEach((f, k) => {
    for (const p of f.via ?? []) addSphere(d.merge, vec(p.at), unit(d) * 0.6, d.owner(d.body(p.body), d.forceId(k), METAL));
    for (const p of held(f)) {
      const at = vec(p.at);
      if (d.body(p.body) >= 0 || symbols.some((s) => s.distanceTo(at) <= d.bar)) continue;
      symbols.push(at);
      const o = d.owner(-1, d.forceId(k), GROUND);
      drawGround(d, at, d.normal ?? frameX(d.up), o);
      if (!f.via?.includes(p)) addSphere(d.merge, at, unit(d) * 0.5, o);
    }
  });
}

/** Planes and outlines that bodies may touch, each once; balls are what the bodies themselves show. */
export function drawContacts(d: Draft): void {
  const seen = new Set<string>();
  (d.model.forces ?? []).forEach((f, k) => (f.spots ?? []).forEach(([, side]) => {
    const key = JSON.stringify([side.body, side.at, side.normal, side.outline?.length]);
    if (seen.has(key)) return;
    seen.add(key);
    const o = d.owner(d.body(side.body), d.forceId(k), GROUND), at = vec(side.at), u = unit(d);
    if (side.normal) {
      // A thin patch whose upper face is the plane.
      const n = vec(side.normal).normalize(), wide = d.body(side.body) < 0 ? 30 * u : 8 * u, thick = 0.3 * u;
      addBox(d.merge, at.addScaledVector(n, -thick / 2), frameOf(n), new THREE.Vector3(wide, wide, thick), o);
    }
    const points = (side.outline ?? []).map(vec), last = side.closed ? points.length : points.length - 1;
    for (let i = 0; i < last; i++) addRod(d.merge, points[i]!, points[(i + 1) % points.length]!, 0.2 * u, o);
  }));
}

/** Half the size of a glyph. */
const unit = (d: Draft): number => (d.normal ? d.bar : d.rod * 1.6);

function drawGlyph(d: Draft, j: Joint, base: Owner, moving: Owner): void {
  const m = d.merge, u = unit(d), at = vec(j.moving?.at ?? [0, 0, 0]);
  const axis = vec(axisOf(j.moving)).normalize();
  const pin = (half: number, radius: number, o = moving, dir = axis, p = at) =>
    addCylinder(m, p.clone().addScaledVector(dir, -half), p.clone().addScaledVector(dir, half), radius, o);
  switch (j.type) {
    case "revolute": {
      if (!d.normal) return pin(u * 1.7, u * 0.95);
      // From the lower of the two bars up to the front of the drawing, where it is always seen.
      const n = d.inBody(moving.body - 1, d.normal), low = Math.min(...j.bodies!.map((name) => d.layerOf(d.body(name)))) - d.thickness * 0.8;
      return addCylinder(m, at.clone().addScaledVector(n, low), at.clone().addScaledVector(n, d.depth / 2), u * 0.52, moving);
    }
    case "spherical": return addSphere(m, at, u * 1.15, moving);
    case "universal": {
      addSphere(m, at, u * 0.85, moving);
      pin(u * 2, u * 0.5);
      return pin(u * 2, u * 0.5, base, vec(axisOf(j.base)).normalize(), vec(j.base?.at ?? [0, 0, 0]));
    }
    case "fixed": return addBox(m, at, new THREE.Quaternion(), new THREE.Vector3(u, u, u).multiplyScalar(1.5), moving);
    case "prismatic": case "cylindrical": {
      // The block itself is drawn with its body; here the mark that it slides, and turns.
      const q = frameOf(axis, d.normal ? d.inBody(d.body(j.bodies![1]), d.normal) : undefined);
      if (j.type === "cylindrical") pin(u * 2.7, u * 0.9);
      const a = (x: number, y: number, z: number) => new THREE.Vector3(x * u, y * u, z * u).applyQuaternion(q).add(at);
      return m.segments([a(0, 2, -2), a(0, 2, 2), a(0, 2, 2), a(0, 1.8, 1.5), a(0, 2, 2), a(0, 2.2, 1.5), a(0, 2, -2), a(0, 1.8, -1.5), a(0, 2, -2), a(0, 2.2, -1.5)], moving);
    }
    case "screw": {
      pin(u * 2.4, u * 0.8);
      const q = frameOf(axis), turns: THREE.Vector3[] = [];
      for (let k = 0; k < 72; k++) for (const s of [k, k + 1]) {
        const angle = (s / 72) * 8 * Math.PI;
        turns.push(new THREE.Vector3(u * 0.85 * Math.cos(angle), u * 0.85 * Math.sin(angle), u * 4.4 * (s / 72 - 0.5)).applyQuaternion(q).add(at));
      }
      return m.segments(turns, moving);
    }
    case "planar": case "point-on-plane": {
      const q = frameOf(vec(axisOf(j.base))), p = vec(j.base?.at ?? [0, 0, 0]);
      addBox(m, p, q, new THREE.Vector3(u * 8, u * 8, u * 0.15), base);
      return addSphere(m, at, u * 0.8, moving);
    }
    case "point-on-line": {
      const [lo, hi] = d.travel(j), dir = vec(axisOf(j.base)).normalize(), p = vec(j.base?.at ?? [0, 0, 0]);
      addRod(m, p.clone().addScaledVector(dir, lo - 3 * u), p.clone().addScaledVector(dir, hi + 3 * u), u * 0.25, base);
      return addSphere(m, at, u * 0.8, moving);
    }
    case "point-on-curve": {
      const line = (j.curve ?? []).map((p) => vec(p)), pairs: THREE.Vector3[] = [];
      for (let k = 0; k + (j.closed ? 0 : 1) < line.length; k++) pairs.push(line[k]!, line[(k + 1) % line.length]!);
      m.segments(pairs, base);
      if (!j.radius) return addSphere(m, at, u * 0.8, moving);
      // A roller, seen from the side: a disk in the plane of the curve.
      return pin(u * 0.6, j.radius);
    }
    case "distance": {
      addSphere(m, at, u * 0.6, moving);
      return addSphere(m, vec(j.base?.at ?? [0, 0, 0]), u * 0.6, base);
    }
    case "angle": case "gear": case "rack": return;
    default: return addSphere(m, at, u * 0.6, moving);
  }
}

/** The ground symbol of a technical drawing: a bracket standing on a hatched line. */
function drawGround(d: Draft, at: THREE.Vector3, axis: THREE.Vector3, o: Owner): void {
  const u = unit(d), up = d.up;
  const n = d.normal ?? (Math.abs(axis.clone().normalize().dot(up)) < 0.7 ? axis : frameX(up));
  const face = n.clone().addScaledVector(up, -n.dot(up)).normalize(), side = up.clone().cross(face).normalize();
  const back = d.layerOf(-1);
  const p = (x: number, y: number, z = 0) => at.clone().addScaledVector(side, x * u).addScaledVector(up, y * u).addScaledVector(face, back + z * u);
  addBar(d.merge, [p(0, 0), p(-1.5, -2.6), p(1.5, -2.6)], face, u * 0.35, d.normal ? d.thickness * 0.5 : u * 0.9, o);
  hatch(d, p(-3, -3), p(3, -3), up, face, d.normal ? 0 : 2.2, o);
}

/** A guide along the axis of a sliding joint, as long as the travel, hatched on the side of the ground. */
function drawGuide(d: Draft, j: Joint, o: Owner): void {
  const u = unit(d), axis = vec(axisOf(j.base)).normalize(), at = vec(j.base?.at ?? [0, 0, 0]);
  const [lo, hi] = d.travel(j);
  const a = at.clone().addScaledVector(axis, lo - 4 * u), b = at.clone().addScaledVector(axis, hi + 4 * u);
  if (j.type !== "prismatic") {
    addCylinder(d.merge, a, b, u * 0.4, o);
    for (const end of [a, b]) drawGround(d, end, axis, o);
    return;
  }
  let up = d.up.clone().addScaledVector(axis, -d.up.dot(axis));
  if (up.length() < 0.3) up = d.normal ? d.normal.clone().cross(axis) : frameX(axis);
  up.normalize();
  const face = d.normal ?? axis.clone().cross(up);
  const drop = (v: THREE.Vector3) => v.addScaledVector(up, -1.75 * u);
  hatch(d, drop(a), drop(b), up, face, d.normal ? 0 : 2.2, o);
}

/** A line with slanted strokes below it; with a width, the edge of a thin pad. */
function hatch(d: Draft, a: THREE.Vector3, b: THREE.Vector3, up: THREE.Vector3, face: THREE.Vector3, width: number, o: Owner): void {
  const u = unit(d), dir = b.clone().sub(a), length = dir.length();
  dir.normalize();
  const middle = a.clone().add(b).multiplyScalar(0.5);
  const q = new THREE.Quaternion().setFromRotationMatrix(new THREE.Matrix4().makeBasis(dir, up, dir.clone().cross(up)));
  addBox(d.merge, middle.clone().addScaledVector(up, -0.12 * u), q, new THREE.Vector3(length, 0.24 * u, Math.max(width * 2 * u, d.thickness * 0.3)), o);
  const strokes: THREE.Vector3[] = [], count = Math.max(5, Math.min(60, Math.round(length / u)));
  for (const z of width > 0 ? [-width, width] : [0]) for (let k = 0; k < count; k++) {
    const top = a.clone().addScaledVector(dir, ((k + 0.9) * length) / count).addScaledVector(up, -0.24 * u).addScaledVector(face, z * u);
    strokes.push(top, top.clone().addScaledVector(dir, -0.9 * u).addScaledVector(up, -1.1 * u));
  }
  d.merge.segments(strokes, { ...o, color: GROUND });
}

function frameX(axis: THREE.Vector3): THREE.Vector3 {
  return new THREE.Vector3(1, 0, 0).applyQuaternion(frameOf(axis));
}

/** A rope: its length, the places that it runs over from end to end, and where the shader finds how slack it is. */
export interface Rope { length: number; places: { body: number; at: Vec3 }[]; texel: number }

/** The ropes of a mechanism; their data for the shader follow the poses. */
export function ropesOf(d: Draft): Map<Force, Rope> {
  const ropes = (d.model.forces ?? []).filter((f) => f.between && f.length !== undefined);
  return new Map(ropes.map((f, k) => [f, { length: f.length!, places: held(f).map((p) => ({ body: d.body(p.body), at: p.at })), texel: 2 * (d.model.bodies.length + 1) + k }]));
}

/** Springs, bushings, ropes and distances: lines between places on bodies, stretched by the shader; ropes hang through where slack. */
export function drawTies(d: Draft, ropes: Map<Force, Rope>): THREE.BufferGeometry {
  const position: number[] = [], first: number[] = [], second: number[] = [], tint: number[] = [], id: number[] = [], slack: number[] = [];
  const gravity = new THREE.Vector3(...(d.model.gravity ?? [0, 0, 0])).normalize();
  const add = (a: Place, b: Place, who: number, color: THREE.Color, path: Vec3[], rope = 0) => {
    for (let k = 0; k + 1 < path.length; k++) for (const p of [path[k]!, path[k + 1]!]) {
      position.push(...p);
      first.push(...a.at, d.body(a.body) + 1);
      second.push(...b.at, d.body(b.body) + 1);
      tint.push(color.r, color.g, color.b);
      id.push(who);
      slack.push(gravity.x, gravity.y, gravity.z, rope);
    }
  };
  const u = unit(d);
  (d.model.forces ?? []).forEach((f, k) => {
    if (!f.between) return;
    const rope = ropes.get(f);
    if (rope) {
      const line = Array.from({ length: 25 }, (_, s): Vec3 => [0, 0, s / 24]), places = held(f);
      for (let i = 0; i + 1 < places.length; i++) add(places[i]!, places[i + 1]!, d.forceId(k), new THREE.Color("#7a6a9a"), line, rope.texel);
      return;
    }
    const path: Vec3[] = [[0, 0, 0], [0, 0, 0.12]];
    const turns = 9, radius = u * 1.5;
    for (let s = 0; s <= turns * 16; s++) {
      const angle = (s / 16) * 2 * Math.PI, grow = Math.min(1, s / 8, (turns * 16 - s) / 8);
      path.push([radius * grow * Math.cos(angle), radius * grow * Math.sin(angle), 0.12 + (0.76 * s) / (turns * 16)]);
    }
    path.push([0, 0, 0.88], [0, 0, 1]);
    add(f.between[0], f.between[1], d.forceId(k), new THREE.Color("#7a6a9a"), path);
  });
  (d.model.joints ?? []).forEach((j, k) => {
    if (j.type !== "distance" || !j.bodies) return;
    const place = (i: 0 | 1): Place => ({ body: j.bodies![i], at: (i === 0 ? j.base : j.moving)?.at ?? [0, 0, 0] });
    add(place(0), place(1), d.jointId(k), GROUND, [[0, 0, 0], [0, 0, 1]]);
  });
  const g = new THREE.BufferGeometry();
  g.setAttribute("position", new THREE.Float32BufferAttribute(position, 3));
  g.setAttribute("first", new THREE.Float32BufferAttribute(first, 4));
  g.setAttribute("second", new THREE.Float32BufferAttribute(second, 4));
  g.setAttribute("tint", new THREE.Float32BufferAttribute(tint, 3));
  g.setAttribute("id", new THREE.Float32BufferAttribute(id, 1));
  g.setAttribute("slack", new THREE.Float32BufferAttribute(slack, 4));
  return g;
}
