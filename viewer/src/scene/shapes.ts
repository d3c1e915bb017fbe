// Solids in a body frame: the shapes that a model may give, and the few that the default drawing is made of.

import * as THREE from "three";
import { unpack, type Shape, type Vec3 } from "../data";
import type { Merge, Owner } from "./merge";

export const vec = (v: Vec3): THREE.Vector3 => new THREE.Vector3(v[0], v[1], v[2]);
const Y = new THREE.Vector3(0, 1, 0);
const Z = new THREE.Vector3(0, 0, 1);

// Unit solids, scaled into place, so that a chain shares one geometry. A thousand bodies get by with fewer sides.
const unitSolids = (sides: number) => ({
  cylinder: new THREE.CylinderGeometry(1, 1, 1, sides, 1), sphere: new THREE.SphereGeometry(1, sides, Math.ceil(sides * 0.6)),
  cap: new THREE.SphereGeometry(1, Math.ceil(sides * 0.7), Math.ceil(sides * 0.25), 0, Math.PI * 2, 0, Math.PI / 2),
  tube: new THREE.CylinderGeometry(1, 1, 1, Math.ceil(sides * 0.7), 1, true), box: new THREE.BoxGeometry(1, 1, 1),
});
let unit = unitSolids(28), wheel = unit.cylinder, fine = 0.22;
export function setDetail(bodies: number): void {
  unit = unitSolids(bodies > 300 ? 10 : bodies > 100 ? 16 : bodies > 40 ? 20 : 32);
  // A disk wider than it is long is a wheel, which the eye wants round.
  wheel = new THREE.CylinderGeometry(1, 1, 1, bodies > 300 ? 24 : 96, 1);
  fine = bodies > 100 ? 0.22 : bodies > 40 ? 0.16 : 0.1;
}

function along(from: THREE.Vector3, to: THREE.Vector3): THREE.Quaternion {
  const d = to.clone().sub(from);
  return d.lengthSq() === 0 ? new THREE.Quaternion() : new THREE.Quaternion().setFromUnitVectors(Y, d.normalize());
}

export function addCylinder(m: Merge, from: THREE.Vector3, to: THREE.Vector3, radius: number, o: Owner): void {
  const length = Math.max(from.distanceTo(to), radius * 1e-3);
  const mid = from.clone().add(to).multiplyScalar(0.5);
  m.solid(2 * radius > length ? wheel : unit.cylinder, new THREE.Matrix4().compose(mid, along(from, to), new THREE.Vector3(radius, length, radius)), o);
}

/** A rod with round ends. */
export function addRod(m: Merge, from: THREE.Vector3, to: THREE.Vector3, radius: number, o: Owner): void {
  const length = Math.max(from.distanceTo(to), radius * 1e-3);
  const mid = from.clone().add(to).multiplyScalar(0.5);
  const q = along(from, to), back = along(to, from), r = new THREE.Vector3(radius, radius, radius);
  m.solid(unit.tube, new THREE.Matrix4().compose(mid, q, new THREE.Vector3(radius, length, radius)), o, false);
  m.solid(unit.cap, new THREE.Matrix4().compose(to, q, r), o, false);
  m.solid(unit.cap, new THREE.Matrix4().compose(from, back, r), o, false);
}

export function addSphere(m: Merge, at: THREE.Vector3, radius: number, o: Owner): void {
  m.solid(unit.sphere, new THREE.Matrix4().compose(at, new THREE.Quaternion(), new THREE.Vector3(radius, radius, radius)), o, false);
}

export function addBox(m: Merge, at: THREE.Vector3, q: THREE.Quaternion, size: THREE.Vector3, o: Owner): void {
  m.solid(unit.box, new THREE.Matrix4().compose(at, q, size), o);
}

/** Turns the z axis to `axis`, the x axis near `near` where it may. */
export function frameOf(axis: THREE.Vector3, near?: THREE.Vector3): THREE.Quaternion {
  const z = axis.clone().normalize();
  let x = near ? near.clone().addScaledVector(z, -near.dot(z)) : new THREE.Vector3();
  if (x.lengthSq() < 1e-8) {
    x = Math.abs(z.x) < 0.8 ? new THREE.Vector3(1, 0, 0) : new THREE.Vector3(0, 1, 0);
    x.addScaledVector(z, -x.dot(z));
  }
  x.normalize();
  const y = z.clone().cross(x);
  return new THREE.Quaternion().setFromRotationMatrix(new THREE.Matrix4().makeBasis(x, y, z));
}

/** Convex hull in the plane, counter-clockwise (monotone chain). */
export function hull(points: THREE.Vector2[]): THREE.Vector2[] {
  const p = [...points].sort((a, b) => a.x - b.x || a.y - b.y);
  const turn = (a: THREE.Vector2, b: THREE.Vector2, c: THREE.Vector2) => (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
  const half = (list: THREE.Vector2[]) => {
    const out: THREE.Vector2[] = [];
    for (const q of list) {
      while (out.length > 1 && turn(out[out.length - 2]!, out[out.length - 1]!, q) <= 0) out.pop();
      out.push(q);
    }
    out.pop();
    return out;
  };
  const low = half(p), high = half(p.reverse());
  const all = low.concat(high);
  return all.length ? all : p.slice(0, 1);
}

/** A flat bar: the hull of the points widened by `radius`, with round corners, of the given thickness about its plane. */
export function addBar(m: Merge, points: THREE.Vector3[], normal: THREE.Vector3, radius: number, thickness: number, o: Owner): void {
  // The first side is the x axis: bars of the same length then have the same outline.
  const first = points[0]!, q = frameOf(normal, points[1]?.clone().sub(first)), back = q.clone().invert();
  const flat = points.map((p) => p.clone().sub(first).applyQuaternion(back));
  const corners = hull(flat.map((p) => new THREE.Vector2(p.x, p.y)));
  const depth = flat.reduce((s, p) => s + p.z, 0) / flat.length;
  const outline: THREE.Vector2[] = [];
  const n = corners.length;
  corners.forEach((c, i) => {
    const before = corners[(i + n - 1) % n]!, after = corners[(i + 1) % n]!;
    const a0 = n === 1 ? 0 : Math.atan2(c.y - before.y, c.x - before.x) - Math.PI / 2;
    let a1 = n === 1 ? 2 * Math.PI : Math.atan2(after.y - c.y, after.x - c.x) - Math.PI / 2;
    while (a1 < a0 - 1e-9) a1 += 2 * Math.PI;
    const steps = Math.max(2, Math.ceil((a1 - a0) / fine));
    for (let k = 0; k <= steps; k++) {
      const a = a0 + ((a1 - a0) * k) / steps;
      outline.push(new THREE.Vector2(c.x + radius * Math.cos(a), c.y + radius * Math.sin(a)));
    }
  });
  prism(m, outline, thickness, new THREE.Matrix4().compose(first.clone().add(Z.clone().multiplyScalar(depth - thickness / 2).applyQuaternion(q)), q, new THREE.Vector3(1, 1, 1)), o);
}

// Chains repeat the same few outlines. Those of the last mechanisms are kept.
const prisms = new Map<string, THREE.BufferGeometry>();
function prism(m: Merge, outline: THREE.Vector2[], thickness: number, place: THREE.Matrix4, o: Owner): void {
  const size = Math.max(thickness, ...outline.map((p) => Math.max(Math.abs(p.x), Math.abs(p.y)))), of = (x: number) => Math.round((1e7 * x) / size);
  const key = `${size.toPrecision(8)} ${of(thickness)} ${outline.map((p) => `${of(p.x)},${of(p.y)}`).join(" ")}`;
  let g = prisms.get(key);
  if (!g) {
    g = new THREE.ExtrudeGeometry(new THREE.Shape(outline), { depth: thickness, bevelEnabled: false, curveSegments: 1 });
    if (prisms.size >= MOST_PRISMS) prisms.delete(prisms.keys().next().value!);
    prisms.set(key, g);
  }
  m.solid(g, place, o);
}
const MOST_PRISMS = 100;

/** A shape of the model file. */
export function addShape(m: Merge, s: Shape, o: Owner): void {
  const turn = (q?: number[]) => (q ? new THREE.Quaternion(q[1], q[2], q[3], q[0]).normalize() : new THREE.Quaternion());
  const at = (v?: Vec3) => (v ? vec(v) : new THREE.Vector3());
  switch (s.type) {
    case "box": return addBox(m, at(s.at), turn(s.orientation), vec(s.size), o);
    case "sphere": return addSphere(m, at(s.at), s.radius, o);
    case "cylinder": return addCylinder(m, vec(s.from), vec(s.to), s.radius, o);
    case "rod": return addRod(m, vec(s.from), vec(s.to), s.radius, o);
    case "plate": {
      const p = s.points.map(vec);
      if (p.length < 3) throw new Error("a plate needs three points");
      const normal = new THREE.Vector3();
      // Newell's sum: right for any flat outline, convex or not.
      p.forEach((a, i) => {
        const b = p[(i + 1) % p.length]!;
        normal.add(new THREE.Vector3((a.y - b.y) * (a.z + b.z), (a.z - b.z) * (a.x + b.x), (a.x - b.x) * (a.y + b.y)));
      });
      const q = frameOf(normal), back = q.clone().invert();
      const outline = p.map((v) => v.clone().sub(p[0]!).applyQuaternion(back)).map((v) => new THREE.Vector2(v.x, v.y));
      const low = p[0]!.clone().add(new THREE.Vector3(0, 0, -s.thickness / 2).applyQuaternion(q));
      return prism(m, outline, s.thickness, new THREE.Matrix4().compose(low, q, new THREE.Vector3(1, 1, 1)), o);
    }
    case "mesh": {
      const g = new THREE.BufferGeometry();
      g.setAttribute("position", new THREE.BufferAttribute(Float32Array.from(unpack(s.vertices)), 3));
      g.setIndex(Array.from(unpack(s.triangles)));
      // Flat normals: files of this kind seldom say which edges are meant to be round.
      const split = g.toNonIndexed();
      split.computeVertexNormals();
      m.solid(split, new THREE.Matrix4().compose(at(s.at), turn(s.orientation), new THREE.Vector3(1, 1, 1)), o);
      return;
    }
  }
}
