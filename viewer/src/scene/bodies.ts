// The bodies: the shapes that the model gives, or links made from the joints.

import * as THREE from "three";
import { axisOf, bodyColor, GROUND, spread, type Draft } from "./draft";
import type { Owner } from "./merge";
import { addBar, addBox, addCylinder, addRod, addShape, addSphere, frameOf, vec } from "./shapes";

const SLIDING = new Set(["prismatic", "cylindrical", "screw"]);

export function drawBodies(d: Draft): void {
  for (const s of d.model.ground?.shapes ?? []) addShape(d.merge, s, d.owner(-1, 0, new THREE.Color(s.color ?? GROUND)));
  d.model.bodies.forEach((b, i) => {
    if (b.shapes?.length) {
      for (const s of b.shapes) addShape(d.merge, s, d.owner(i, d.bodyId(i), new THREE.Color(s.color ?? bodyColor(d.model, i))));
    } else {
      drawLink(d, i, d.owner(i, d.bodyId(i), new THREE.Color(bodyColor(d.model, i))));
    }
  });
}

/** A body without a shape: what its joints say about it. */
function drawLink(d: Draft, body: number, o: Owner): void {
  const name = d.model.bodies[body]!.name, com = vec(d.model.bodies[body]!.com ?? [0, 0, 0]);
  const normal = d.normal ? d.inBody(body, d.normal) : null;
  const shift = normal ? normal.clone().multiplyScalar(d.offset(body)) : new THREE.Vector3();
  const points: THREE.Vector3[] = [];
  const add = (p: THREE.Vector3) => { if (points.every((q) => q.distanceTo(p) > d.link * 1e-4)) points.push(p); };
  d.jointPoints(body).forEach(add);
  let block = false, hinge: THREE.Vector3 | null = null;
  for (const j of d.model.joints ?? []) {
    if (!SLIDING.has(j.type)) {
      if (j.type === "revolute" && j.bodies?.includes(name)) hinge = vec(axisOf(j.bodies[0] === name ? j.base : j.moving));
      continue;
    }
    if (j.bodies?.[1] === name) {
      drawBlock(d, vec(j.moving?.at ?? [0, 0, 0]).add(shift), vec(axisOf(j.moving)), normal, j.type !== "prismatic", o);
      block = true;
    }
    if (j.bodies?.[0] === name) {
      const [lo, hi] = d.travel(j), axis = vec(axisOf(j.base)).normalize(), at = vec(j.base?.at ?? [0, 0, 0]);
      const a = at.clone().addScaledVector(axis, lo - 3 * d.bar), b = at.clone().addScaledVector(axis, hi + 3 * d.bar);
      addRod(d.merge, a.add(shift), b.add(shift), d.rod * 0.7, o);
    }
  }

  if (points.length >= 2) return drawFrame(d, points, normal, shift, o);
  if (block) return;
  const only = points[0] ?? com, arm = only.distanceTo(com);
  if (points.length === 1 && arm > d.link * 0.02) {
    if (normal) addBar(d.merge, [only, com].map((p) => p.clone().add(shift)), normal, d.bar, d.thickness, o);
    else addRod(d.merge, only, com, d.rod, o);
    addSphere(d.merge, com.clone().add(shift), Math.max(d.bar * 1.7, arm * 0.11), o);
    return;
  }
  // Nothing but a place: a wheel about its hinge, or a small block standing for a free body.
  if (points.length === 1 && hinge) {
    const a = hinge.normalize().multiplyScalar(d.rod * 1.2);
    addCylinder(d.merge, only.clone().sub(a).add(shift), only.clone().add(a).add(shift), d.link * 0.18, o);
  } else {
    const s = d.link * 0.3;
    addBox(d.merge, com.clone().add(shift), new THREE.Quaternion(), new THREE.Vector3(s, s * 0.7, s * 0.45), o);
  }
}

/** Two or more places: a bar, a flat plate, or a star of rods. */
function drawFrame(d: Draft, points: THREE.Vector3[], normal: THREE.Vector3 | null, shift: THREE.Vector3, o: Owner): void {
  if (normal) {
    const flat = points.map((p) => p.clone().addScaledVector(normal, -p.clone().sub(points[0]!).dot(normal)).add(shift));
    return addBar(d.merge, flat, normal, d.bar, d.thickness, o);
  }
  const size = spread(points);
  let a = points[0]!, b = points[1]!;
  for (const p of points) for (const q of points) if (p.distanceTo(q) >= size * (1 - 1e-9)) { a = p; b = q; }
  const line = b.clone().sub(a).normalize();
  const off = points.map((p) => p.clone().sub(a).cross(line).length());
  if (Math.max(...off) < size * 0.02) return addRod(d.merge, a, b, d.rod, o);
  const far = points[off.indexOf(Math.max(...off))]!;
  const plane = far.clone().sub(a).cross(line).normalize();
  if (points.every((p) => Math.abs(p.clone().sub(a).dot(plane)) < size * 0.02)) {
    return addBar(d.merge, points, plane, d.rod * 1.5, d.rod * 1.1, o);
  }
  const middle = points.reduce((s, p) => s.add(p), new THREE.Vector3()).divideScalar(points.length);
  for (const p of points) addRod(d.merge, middle, p, d.rod, o);
}

function drawBlock(d: Draft, at: THREE.Vector3, axis: THREE.Vector3, normal: THREE.Vector3 | null, round: boolean, o: Owner): void {
  const u = normal ? d.bar : d.rod * 1.6, z = axis.clone().normalize();
  if (round && !normal) {
    addCylinder(d.merge, at.clone().addScaledVector(z, -2.4 * u), at.clone().addScaledVector(z, 2.4 * u), 1.5 * u, o);
  } else {
    addBox(d.merge, at, frameOf(z, normal ?? undefined), new THREE.Vector3(normal ? d.thickness : 3 * u, 3 * u, 5 * u), o);
  }
}

