// What the drawing of a mechanism needs to know before the first solid: who is where, how large a link is, which way is up.

import * as THREE from "three";
import type { Force, Frame, Joint, Model, Place, Shape, Vec3 } from "../data";
import { Pose, type Motion } from "../motion";
import { Merge, type Owner } from "./merge";
import { vec } from "./shapes";

// Colours are given as they should appear; nothing in the scene needs linear light. Before the first colour is read.
THREE.ColorManagement.enabled = false;

// Paul Tol's muted scheme without its rose, which is too close to the accent colour; colour-blind readers can distinguish them.
const PALETTE = ["#4477aa", "#44aa99", "#ddcc77", "#aa4499", "#88ccee", "#117733", "#882255", "#999933"];
export const ACCENT = "#e4572e";
export const METAL = new THREE.Color("#e8ebee");
export const GROUND = new THREE.Color("#aab2ba");

export function bodyColor(model: Model, body: number): string {
  return model.bodies[body]?.color ?? PALETTE[body % PALETTE.length]!;
}

export class Draft {
  readonly merge = new Merge();
  readonly up: THREE.Vector3;
  readonly normal: THREE.Vector3 | null;
  /** Median size of a link, half the width of a bar, radius of a round rod. */
  readonly link: number;
  readonly bar: number;
  readonly rod: number;
  /** Everything the mechanism ever touches, in any of the results. */
  readonly box = new THREE.Box3();
  readonly touched: THREE.Vector3[] = [];
  readonly layers: number[];
  readonly layerCount: number;
  private readonly index = new Map<string, number>();

  /** The result that is drawn in full. */
  private readonly motion: Motion;

  constructor(readonly model: Model, private readonly motions: Motion[]) {
    this.motion = motions[0]!;
    model.bodies.forEach((b, i) => this.index.set(b.name, i));
    this.normal = model.planar_normal ? vec(model.planar_normal).normalize() : null;
    this.up = this.chooseUp();
    this.measureBox();
    const sizes = model.bodies.map((_, i) => spread(this.jointPoints(i).concat(vec(model.bodies[i]!.com ?? [0, 0, 0])))).filter((s) => s > 0).sort((a, b) => a - b);
    const extent = Math.max(this.box.getSize(new THREE.Vector3()).length(), 1e-9);
    const median = sizes[sizes.length >> 1] ?? model.length ?? extent;
    this.link = Math.min(Math.max(median, extent * 0.004), extent);
    const least = sizes.find((s) => s > this.link * 0.1) ?? this.link;
    this.bar = Math.min(this.link * 0.06, least * 0.22);
    this.rod = Math.min(this.link * 0.032, least * 0.12);
    this.layers = this.chooseLayers();
    this.layerCount = Math.max(1, ...this.layers.map((l) => Math.floor(l) + 1));
  }

  /** -1 for the ground. */
  body(name: string): number { return this.index.get(name) ?? -1; }

  owner(body: number, id: number, color: THREE.Color): Owner { return { body: body + 1, id, color }; }
  bodyId(body: number): number { return 1 + body; }
  jointId(joint: number): number { return 1 + this.model.bodies.length + joint; }
  forceId(force: number): number { return this.jointId((this.model.joints ?? []).length) + force; }
  name(id: number): { kind: string; name: string } | null {
    const nb = this.model.bodies.length, joints = this.model.joints ?? [], forces = this.model.forces ?? [];
    if (id < 1) return null;
    if (id <= nb) return { kind: "body", name: this.model.bodies[id - 1]!.name };
    const j = joints[id - 1 - nb];
    if (j) return { kind: `${j.type} joint`, name: j.name };
    const f = forces[id - 1 - nb - joints.length];
    return f ? { kind: f.type, name: f.name } : null;
  }

  /** Thickness of a flat bar, and distance of a body from the plane of the drawing. */
  get thickness(): number { return this.bar * 0.8; }
  offset(body: number): number {
    if (body < 0 || !this.normal || this.model.bodies[body]!.shapes?.length) return 0;
    return (this.layers[body]! - (this.layerCount - 1) / 2) * this.thickness * 1.12;
  }
  /** As `offset`, with the ground behind everything. */
  layerOf(body: number): number { return body < 0 && this.normal ? -this.depth / 2 - this.thickness * 0.5 : this.offset(body); }
  get depth(): number { return (this.layerCount * 1.12 + 0.9) * this.thickness; }

  /** A world direction seen from a body at the start. */
  inBody(body: number, direction: THREE.Vector3): THREE.Vector3 {
    if (body < 0) return direction.clone();
    const p = this.motion.pose(body, this.motion.start).p;
    return direction.clone().applyQuaternion(new THREE.Quaternion(p[1], p[2], p[3], p[0]).invert());
  }

  /** The places, in the frame of a body, where joints and ties hold it. */
  jointPoints(body: number): THREE.Vector3[] {
    const name = this.model.bodies[body]!.name, out: THREE.Vector3[] = [];
    for (const j of this.model.joints ?? []) {
      if (j.bodies?.[0] === name && j.base?.at) out.push(vec(j.base.at));
      if (j.bodies?.[1] === name && j.moving?.at) out.push(vec(j.moving.at));
    }
    for (const f of this.model.forces ?? []) for (const p of held(f)) if (p.body === name) out.push(vec(p.at));
    return out;
  }

  /** What the mechanism touches at a time, and a little around it, with the paths of other times seen from a body; what flies off from it is left out. */
  placesAround(body: number, time: number): THREE.Vector3[] {
    const out: THREE.Vector3[] = [], here = vec(this.motion.pose(body, time).r);
    const places = this.model.bodies.map((b, i) => [b.com ?? [0, 0, 0] as Vec3, ...this.jointPoints(i).map((p): Vec3 => [p.x, p.y, p.z])]);
    const first = this.motion.start, seat = vec(this.motion.pose(body, first).r);
    const near = 3 * Math.max(1e-9, ...this.model.bodies.flatMap((_, i) => places[i]!.map((at) => vec(this.motion.place(i, at, first)).distanceTo(seat))));
    for (const t of this.sampleTimes(40)) {
      const shift = here.clone().sub(vec(this.motion.pose(body, t).r));
      this.model.bodies.forEach((b, i) => {
        if (vec(this.motion.place(i, b.com ?? [0, 0, 0], t)).add(shift).distanceTo(here) > near) return;
        for (const at of places[i]!) out.push(vec(this.motion.place(i, at, t)).add(shift));
        for (const s of b.shapes ?? []) for (const [at, reach] of ends(s)) {
          const c = vec(this.motion.place(i, at, t)).add(shift);
          for (let k = 0; k < 6; k++) out.push(c.clone().setComponent(k >> 1, c.getComponent(k >> 1) + (k & 1 ? reach : -reach)));
        }
      });
    }
    return out;
  }

  /** How far a sliding joint travels along its axis, in the frame of its base. */
  travel(j: Joint): [number, number] {
    const base = this.body(j.bodies![0]), moving = this.body(j.bodies![1]);
    const axis = vec(axisOf(j.base)).normalize(), at = vec(j.base?.at ?? [0, 0, 0]);
    let lo = 0, hi = 0;
    for (const m of this.motions) for (const t of this.sampleTimes(200, m)) {
      const p = vec(m.place(moving, j.moving?.at ?? [0, 0, 0], t));
      if (base >= 0) {
        const pose = m.pose(base, t), q = pose.p;
        p.sub(vec(m.origin(base, pose))).applyQuaternion(new THREE.Quaternion(q[1], q[2], q[3], q[0]).invert());
      }
      const s = p.sub(at).dot(axis);
      lo = Math.min(lo, s);
      hi = Math.max(hi, s);
    }
    return [lo, hi];
  }

  sampleTimes(most: number, motion = this.motion): number[] {
    const t = motion.t, stride = Math.max(1, Math.ceil(t.length / most)), out: number[] = [];
    for (let i = 0; i < t.length; i += stride) out.push(t[i]!);
    return out;
  }

  private chooseUp(): THREE.Vector3 {
    const g = vec(this.model.gravity ?? [0, 0, 0]);
    const wish = g.lengthSq() > 0 ? g.normalize().negate() : new THREE.Vector3(0, 0, 1);
    if (!this.normal) return wish;
    for (const d of [wish, new THREE.Vector3(0, 1, 0), new THREE.Vector3(0, 0, 1)]) {
      const inPlane = d.clone().addScaledVector(this.normal, -d.dot(this.normal));
      if (inPlane.length() > 0.5) return inPlane.normalize();
    }
    return wish;
  }

  private measureBox(): void {
    const pose = new Pose();
    const see = (v: THREE.Vector3) => { this.box.expandByPoint(v); this.touched.push(v); };
    const add = (v: Vec3) => see(vec(v));
    const places = this.model.bodies.map((b, i) => [b.com ?? [0, 0, 0] as Vec3, ...this.jointPoints(i).map((p): Vec3 => [p.x, p.y, p.z])]);
    const samples = Math.max(12, Math.min(160, Math.round(8000 / Math.max(1, this.model.bodies.length * this.motions.length))));
    for (const m of this.motions) for (const t of this.sampleTimes(samples, m)) {
      places.forEach((list, i) => list.forEach((at) => add(m.place(i, at, t, pose))));
    }
    for (const j of this.model.joints ?? []) if (j.bodies?.[0] === "ground" && j.base?.at) add(j.base.at);
    for (const f of this.model.forces ?? []) for (const p of held(f)) if (this.body(p.body) < 0) add(p.at);
    for (const p of this.model.points ?? []) for (const m of this.motions) for (const t of this.sampleTimes(80, m)) add(m.place(this.body(p.body), p.at, t, pose));
    for (const b of this.model.bodies) for (const s of b.shapes ?? []) for (const [at, reach] of ends(s)) {
      const i = this.body(b.name);
      for (const m of this.motions) for (const t of this.sampleTimes(20, m)) {
        const c = vec(m.place(i, at, t));
        for (let k = 0; k < 6; k++) see(c.clone().setComponent(k >> 1, c.getComponent(k >> 1) + (k & 1 ? reach : -reach)));
      }
    }
    if (this.box.isEmpty()) see(new THREE.Vector3());
    if (this.box.getSize(new THREE.Vector3()).length() === 0) {
      const reach = this.model.length ?? 0.5, c = this.box.min.clone();
      for (let k = 0; k < 6; k++) see(c.clone().setComponent(k >> 1, c.getComponent(k >> 1) + (k & 1 ? reach : -reach)));
    }
  }

  // Flat bars lie one above the other, as in a real planar mechanism; neighbours never share a layer.
  private chooseLayers(): number[] {
    const n = this.model.bodies.length;
    if (n <= 8) return this.model.bodies.map((_, i) => i);
    const layer = new Array<number>(n).fill(-1);
    const near: number[][] = this.model.bodies.map(() => []);
    for (const j of this.model.joints ?? []) {
      const a = this.body(j.bodies?.[0] ?? "ground"), b = this.body(j.bodies?.[1] ?? "ground");
      if (a >= 0 && b >= 0) { near[a]!.push(b); near[b]!.push(a); }
    }
    for (let i = 0; i < n; i++) {
      const taken = new Set(near[i]!.map((k) => Math.floor(layer[k]!)));
      let l = 0;
      while (taken.has(l)) l++;
      layer[i] = l + (i % 97) * 1e-3;
    }
    return layer;
  }
}

/** The places that a spring or rope joins, in order, with those that it runs over. */
export function held(f: Force): Place[] { return f.between ? [f.between[0], ...(f.via ?? []), f.between[1]] : []; }

export function axisOf(f: Frame | undefined): Vec3 { return f?.axis ?? [0, 0, 1]; }

/** Balls that hold what a shape fills, in the frame of its body. Meshes lie about their joints and need none. */
function ends(s: Shape): [Vec3, number][] {
  switch (s.type) {
    case "box": return [[s.at ?? [0, 0, 0], Math.max(...s.size) / 2]];
    case "sphere": return [[s.at ?? [0, 0, 0], s.radius]];
    case "cylinder": case "rod": return [[s.from, s.radius], [s.to, s.radius]];
    case "plate": return s.points.map((p) => [p, 0]);
    default: return [];
  }
}

/** Largest distance between any two of a few points. */
export function spread(points: THREE.Vector3[]): number {
  let most = 0;
  for (let i = 0; i < points.length; i++) for (let k = 0; k < i; k++) most = Math.max(most, points[i]!.distanceTo(points[k]!));
  return most;
}
