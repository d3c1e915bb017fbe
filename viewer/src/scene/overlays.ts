// What is laid over the mechanism: traces of points, arrows of reactions, velocities and applied forces.

import * as THREE from "three";
import { Line2 } from "three/examples/jsm/lines/Line2.js";
import { LineGeometry } from "three/examples/jsm/lines/LineGeometry.js";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import type { Side, Vec3 } from "../data";
import { interval, type Column, type Motion } from "../motion";
import { ACCENT } from "./draft";
import { curveLook, dotLook } from "./material";
import { frameOf, vec } from "./shapes";
import { RESULT_COLORS, type Stage } from "./stage";
import { meeting, type World } from "./touch";

/** A point that can be traced: a named one, a joint, or a centre of mass. */
export interface Tracer { name: string; body: number; at: Vec3 }

export function tracers(stage: Stage): Tracer[] {
  const d = stage.draft, out: Tracer[] = [];
  for (const p of d.model.points ?? []) out.push({ name: p.name, body: d.body(p.body), at: p.at });
  for (const j of d.model.joints ?? []) {
    const moving = j.bodies ? d.body(j.bodies[1]) : -1, base = j.bodies ? d.body(j.bodies[0]) : -1;
    // A hinge on the ground does not move; a slide on the ground does.
    if (moving >= 0 && j.moving?.at && (base >= 0 || j.type === "prismatic" || j.type === "cylindrical")) out.push({ name: j.name, body: moving, at: j.moving.at });
  }
  d.model.bodies.forEach((b, i) => out.push({ name: b.name, body: i, at: b.com ?? [0, 0, 0] }));
  return out;
}

const MOST_POINTS = 1500;

class Trace {
  readonly group = new THREE.Group();
  private readonly past: Line2;
  private readonly dot: THREE.Mesh;
  private readonly t: Float64Array;

  // In a flat drawing the curve lies on top; in space it passes behind the bodies, and only its dot shines through.
  constructor(readonly tracer: Tracer, readonly motion: Motion, color: string, size: number, depthTest: boolean) {
    const n = motion.t.length, stride = Math.max(1, Math.ceil(n / MOST_POINTS)), points: number[] = [], times: number[] = [];
    // Coarse samples are joined by the same curves that the bodies follow.
    const parts = Math.max(1, Math.min(8, Math.floor(MOST_POINTS / n)));
    const add = (t: number) => { times.push(t); points.push(...motion.place(tracer.body, tracer.at, t)); };
    for (let k = 0; k < n - 1; k += stride) {
      const a = motion.t[k]!, b = motion.t[Math.min(k + stride, n - 1)]!;
      for (let i = 0; i < parts; i++) add(a + ((b - a) * i) / parts);
    }
    add(motion.end);
    this.t = Float64Array.from(times);
    const line = (linewidth: number, opacity: number) => {
      const l = new Line2(new LineGeometry().setPositions(points), curveLook(color, linewidth, opacity, depthTest));
      l.frustumCulled = false;
      l.renderOrder = 2;
      this.group.add(l);
      return l;
    };
    line(1.2, 0.45);
    this.past = line(2.2, 1);
    this.dot = new THREE.Mesh(new THREE.SphereGeometry(size, 16, 10), dotLook(color));
    this.dot.renderOrder = 3;
    this.group.add(this.dot);
  }

  set(time: number): void {
    this.dot.position.copy(vec(this.motion.place(this.tracer.body, this.tracer.at, time)));
    this.past.geometry.instanceCount = this.t.length < 2 || time <= this.t[0]! ? 0 : interval(this.t, time) + 1;
  }

  dispose(): void {
    this.group.traverse((o) => { const m = o as THREE.Mesh; m.geometry?.dispose(); (m.material as THREE.Material | undefined)?.dispose(); });
  }
}

/** Many arrows in two draw calls. */
class Arrows {
  readonly group = new THREE.Group();
  private readonly shaft: THREE.InstancedMesh;
  private readonly head: THREE.InstancedMesh;
  private count = 0;

  constructor(most: number, color: string, private readonly thick: number) {
    // Drawn over everything: many forces run along the rod that carries them.
    const material = new THREE.MeshBasicMaterial({ color, depthTest: false, transparent: true });
    this.shaft = new THREE.InstancedMesh(new THREE.CylinderGeometry(1, 1, 1, 10).translate(0, 0.5, 0), material, most);
    this.head = new THREE.InstancedMesh(new THREE.ConeGeometry(1, 1, 14).translate(0, 0.5, 0), material, most);
    for (const m of [this.shaft, this.head]) { m.frustumCulled = false; m.renderOrder = 4; m.count = 0; this.group.add(m); }
  }

  begin(): void { this.count = 0; }
  add(at: THREE.Vector3, arrow: THREE.Vector3): void {
    const length = arrow.length();
    if (!(length > this.thick * 0.5) || this.count >= this.shaft.instanceMatrix.count) return;
    const head = Math.min(this.thick * 6, length * 0.6);
    const q = new THREE.Quaternion().setFromUnitVectors(UP, arrow.clone().divideScalar(length));
    this.shaft.setMatrixAt(this.count, M.compose(at, q, new THREE.Vector3(this.thick, length - head * 0.9, this.thick)));
    this.head.setMatrixAt(this.count, M.compose(at.clone().addScaledVector(arrow, (length - head) / length), q, new THREE.Vector3(head * 0.38, head, head * 0.38)));
    this.count++;
  }
  end(): void {
    for (const m of [this.shaft, this.head]) { m.count = this.count; m.visible = this.count > 0; m.instanceMatrix.needsUpdate = true; }
  }
  get shown(): number { return this.count; }
}

/** Torques as arcs about their axes, three quarters of a turn at their largest, with a head that says which way. */
class Turns {
  readonly group = new THREE.Group();
  private readonly arcs: { line: Line2; head: THREE.Mesh }[] = [];
  private count = 0;

  constructor(most: number, color: string, thick: number, private readonly radius: number) {
    for (let k = 0; k < most; k++) {
      const line = new Line2(new LineGeometry().setPositions(arc(0.75 * 2 * Math.PI)), new LineMaterial({ color, linewidth: 2.4, depthTest: false, transparent: true }));
      const head = new THREE.Mesh(new THREE.ConeGeometry(thick * 2.4, thick * 6, 14), new THREE.MeshBasicMaterial({ color, depthTest: false, transparent: true }));
      for (const m of [line, head]) { m.frustumCulled = false; m.renderOrder = 4; m.visible = false; this.group.add(m); }
      this.arcs.push({ line, head });
    }
  }

  begin(): void { this.count = 0; }
  /** `turn` is along the axis, by the right hand, of length 1 where the torque is largest. */
  add(at: THREE.Vector3, turn: THREE.Vector3): void {
    const share = Math.min(1, turn.length()), a = this.arcs[this.count];
    if (!a || share < 0.02) return;
    this.count++;
    const q = frameOf(turn), angle = 0.75 * 2 * Math.PI * share, r = this.radius * 0.3;
    a.line.position.copy(at);
    a.line.quaternion.copy(q);
    a.line.scale.setScalar(r);
    a.line.geometry.instanceCount = Math.max(1, Math.round(ARC * share));
    a.head.position.set(r * Math.cos(angle), r * Math.sin(angle), 0).applyQuaternion(q).add(at);
    a.head.quaternion.setFromUnitVectors(UP, new THREE.Vector3(-Math.sin(angle), Math.cos(angle), 0).applyQuaternion(q));
  }
  end(): void { this.arcs.forEach((a, k) => { a.line.visible = a.head.visible = k < this.count; }); }
}

/** Segments of a full arc. */
const ARC = 48;
function arc(angle: number): number[] {
  return Array.from({ length: ARC + 1 }, (_, k) => [Math.cos((angle * k) / ARC), Math.sin((angle * k) / ARC), 0]).flat();
}

const LOAD = "#7a4fd0";
const CONTACT = "#0f8a6b";
/** Contact forces beyond this share of all rows, such as impacts of a step, are drawn no longer than it. */
const USUAL = 0.98;
const UP = new THREE.Vector3(0, 1, 0);
const M = new THREE.Matrix4();
export const UNSURE = "#b08a00";

export interface Legend { text: string; color: string }

export class Overlays {
  private traces: Trace[] = [];
  private readonly reactions: { body: number; at: Vec3; columns: Column[]; sure: boolean }[] = [];
  private readonly sure: Arrows;
  private readonly unsure: Arrows;
  private readonly speed: Arrows;
  private readonly applied: Arrows;
  private readonly turning: Turns;
  private readonly loads: { body: number; at: Vec3; columns: Column[]; turns: boolean }[] = [];
  private readonly largestLoad: [number, number] = [0, 0];
  private readonly pushing: Arrows;
  private readonly contacts: { spots: [Side, Side][]; normal: Column; along: Column[] }[] = [];
  private usualPush = 0;
  /** Length of the arrow of a usual contact force: about a link, and never so long that it leaves the scene. */
  private get pushLength(): number { return Math.min(this.stage.draft.link * 1.2, this.stage.sceneRadius * 0.35); }
  private speedScale = 0;
  largestForce = 0;
  largestSpeed = 0;
  showLoads = true;
  showReactions = false;
  showVelocities = false;

  constructor(private readonly stage: Stage, private readonly lengthUnit: string) {
    const d = stage.draft, joints = d.model.joints ?? [], thick = stage.sceneRadius * 0.006;
    const columns = new Map(stage.motions[0]!.columns.map((c) => [c.name, c]));
    for (const j of joints) {
      const c = ["x", "y", "z"].map((a) => columns.get(`${j.name}.force.${a}`));
      if (!j.bodies || c.some((v) => !v)) continue;
      this.reactions.push({ body: d.body(j.bodies[1]), at: j.moving?.at ?? [0, 0, 0], columns: c as Column[], sure: j.unique !== false });
    }
    this.sure = new Arrows(this.reactions.length, ACCENT, thick);
    this.unsure = new Arrows(this.reactions.length, UNSURE, thick);
    this.speed = new Arrows(d.model.bodies.length, "#2a7f9e", thick * 0.8);
    this.applied = new Arrows(d.model.forces?.length ?? 0, LOAD, thick);
    this.turning = new Turns(d.model.forces?.length ?? 0, LOAD, thick, stage.draft.link);
    for (const f of d.model.forces ?? []) {
      const normal = columns.get(`${f.name}.normal`), along = ["x", "y", "z"].map((a) => columns.get(`${f.name}.tangential.${a}`));
      if (f.spots?.length && normal && along.every((c) => c)) this.contacts.push({ spots: f.spots, normal, along: along as Column[] });
    }
    this.pushing = new Arrows(this.contacts.length, CONTACT, thick);
    const pushes = this.contacts.flatMap((c) => Array.from(c.normal.y).filter((x) => x > 0)).sort((a, b) => a - b);
    this.usualPush = pushes.length ? pushes[Math.floor(USUAL * (pushes.length - 1))]! : 0;
    stage.overlay.add(this.sure.group, this.unsure.group, this.speed.group, this.applied.group, this.turning.group, this.pushing.group);
    for (const f of d.model.forces ?? []) {
      if (f.type !== "force" && f.type !== "torque") continue;
      const turns = f.type === "torque", name = f.on?.body ?? f.body, body = name === undefined ? -1 : d.body(name);
      const c = ["x", "y", "z"].map((a) => columns.get(`${f.name}.${f.type}.${a}`));
      if (body < 0 || c.some((v) => !v)) continue;
      this.loads.push({ body, at: f.on?.at ?? d.model.bodies[body]!.com ?? [0, 0, 0], columns: c as Column[], turns });
      const [x, y, z] = c as [Column, Column, Column], k = turns ? 1 : 0;
      for (let i = 0; i < x.y.length; i++) this.largestLoad[k] = Math.max(this.largestLoad[k], Math.hypot(x.y[i]!, y.y[i]!, z.y[i]!) || 0);
    }
    for (const r of this.reactions) {
      const [x, y, z] = r.columns as [Column, Column, Column];
      for (let k = 0; k < x.y.length; k++) {
        const f = Math.hypot(x.y[k]!, y.y[k]!, z.y[k]!);
        if (f > this.largestForce) this.largestForce = f;
      }
    }
  }
  private get forceScale(): number { return this.largestForce > 0 ? (this.stage.sceneRadius * 0.5) / this.largestForce : 0; }

  get hasReactions(): boolean { return this.reactions.length > 0; }
  get contactCount(): number { return this.pushing.shown; }
  get reactionCount(): number { return this.sure.shown + this.unsure.shown; }
  get traced(): string[] { return this.traces.filter((t) => t.motion === this.stage.motions[0]).map((t) => t.tracer.name); }

  trace(chosen: Tracer[]): void {
    for (const t of this.traces) { this.stage.overlay.remove(t.group); t.dispose(); }
    this.traces = [];
    const size = this.stage.draft.bar * (this.stage.draft.normal ? 0.42 : 0.34);
    this.stage.motions.forEach((m, r) => {
      if (!this.stage.casts[r]!.group.visible) return;
      for (const tracer of chosen) this.traces.push(new Trace(tracer, m, this.stage.motions.length === 1 ? ACCENT : RESULT_COLORS[r % RESULT_COLORS.length]!, size, !this.stage.draft.normal));
    });
    for (const t of this.traces) this.stage.overlay.add(t.group);
    this.remark();
    this.set(this.stage.time);
  }

  private marks: THREE.Group | null = null;
  private marked: number[] = [];
  /** Marks the traced points where they are at some times: singular positions. */
  mark(times: number[]): void {
    this.marked = times;
    this.remark();
    this.stage.touch();
  }
  private remark(): void {
    if (this.marks) {
      this.stage.overlay.remove(this.marks);
      this.marks.traverse((o) => { const m = o as THREE.Mesh; m.geometry?.dispose(); (m.material as THREE.Material | undefined)?.dispose(); });
    }
    this.marks = null;
    if (!this.marked.length || !this.traces.length) return;
    this.marks = new THREE.Group();
    const size = this.stage.draft.bar * (this.stage.draft.normal ? 0.5 : 0.4);
    for (const t of this.traces) for (const time of this.marked) {
      const m = new THREE.Mesh(new THREE.OctahedronGeometry(size), new THREE.MeshBasicMaterial({ color: "#1d7fd1", depthTest: false, transparent: true }));
      m.position.copy(vec(t.motion.place(t.tracer.body, t.tracer.at, time)));
      m.renderOrder = 3;
      this.marks.add(m);
    }
    this.stage.overlay.add(this.marks);
  }

  set(time: number): void {
    const d = this.stage.draft, motion = this.stage.motions[0]!;
    for (const t of this.traces) t.set(time);
    for (const a of [this.sure, this.unsure, this.speed, this.applied, this.turning, this.pushing]) a.begin();
    // Reactions of the moment may be larger than any of the recording.
    if (motion.isLive) for (const r of this.reactions) {
      const f = Math.hypot(...r.columns.map((c) => motion.value(c, time)));
      if (f > this.largestForce) this.largestForce = f;
    }
    if (this.showReactions) for (const r of this.reactions) {
      const f = new THREE.Vector3(...r.columns.map((c) => motion.value(c, time)) as Vec3).multiplyScalar(this.forceScale);
      if (Number.isFinite(f.x + f.y + f.z)) (r.sure ? this.sure : this.unsure).add(vec(motion.place(r.body, r.at, time)), f);
    }
    if (this.showVelocities) {
      if (this.largestSpeed === 0) this.measureSpeed();
      d.model.bodies.forEach((_, i) => this.speed.add(vec(motion.pose(i, time).r), vec(motion.velocity(i, time)).multiplyScalar(this.speedScale)));
    }
    if (this.showLoads) for (const l of this.loads) {
      const largest = this.largestLoad[l.turns ? 1 : 0], f = new THREE.Vector3(...l.columns.map((c) => motion.value(c, time)) as Vec3);
      if (!(largest > 0) || !Number.isFinite(f.x + f.y + f.z)) continue;
      const at = vec(motion.place(l.body, l.at, time));
      if (l.turns) this.turning.add(at, f.divideScalar(largest));
      else this.applied.add(at, f.multiplyScalar((this.stage.draft.link * 1.2) / largest));
    }
    if (this.showLoads) this.push(time);
    // A result without columns of forces still shows the constant ones.
    if (this.showLoads && !this.loads.length) for (const f of d.model.forces ?? []) {
      if (!f.on || !f.vector || f.type !== "force") continue;
      const body = d.body(f.on.body), dir = vec(f.vector);
      if (f.frame === "body" && body >= 0) {
        const p = motion.pose(body, time).p;
        dir.applyQuaternion(new THREE.Quaternion(p[1], p[2], p[3], p[0]));
      }
      if (dir.lengthSq() > 0) this.applied.add(vec(motion.place(body, f.on.at, time)), dir.setLength(this.stage.sceneRadius * 0.35));
    }
    for (const a of [this.sure, this.unsure, this.speed, this.applied, this.turning, this.pushing]) a.end();
    this.stage.touch();
  }

  /** Contact forces on the first side of each contact, where the sides touch. */
  private push(time: number): void {
    const d = this.stage.draft, motion = this.stage.motions[0]!;
    const world: World = {
      place: (body, at) => motion.place(d.body(body), at, time),
      direction: (body, v) => {
        const i = d.body(body);
        if (i < 0) return v;
        const p = motion.pose(i, time).p;
        return vec(v).applyQuaternion(new THREE.Quaternion(p[1], p[2], p[3], p[0])).toArray() as Vec3;
      },
    };
    for (const c of this.contacts) {
      const normal = motion.value(c.normal, time);
      if (!(normal > 0)) continue;
      if (motion.isLive) this.usualPush = Math.max(this.usualPush, normal);
      const t = meeting(c.spots, world, 1e-4 * this.stage.sceneRadius), side = c.spots[0]![0].swapped ? 1 : -1;
      if (!t) continue;
      const f = vec(t.n).multiplyScalar(normal).addScaledVector(new THREE.Vector3(...c.along.map((k) => motion.value(k, time)) as Vec3), side);
      this.pushing.add(vec(t.at), f.multiplyScalar(this.pushLength / this.usualPush).clampLength(0, this.pushLength * 1.5));
    }
  }

  private measureSpeed(): void {
    const d = this.stage.draft, motion = this.stage.motions[0]!;
    for (const t of d.sampleTimes(120)) for (let i = 0; i < d.model.bodies.length; i++) {
      this.largestSpeed = Math.max(this.largestSpeed, Math.hypot(...motion.velocity(i, t)));
    }
    this.speedScale = this.largestSpeed > 0 ? (this.stage.sceneRadius * 0.45) / this.largestSpeed : 0;
  }

  legend(format: (x: number) => string): Legend[] {
    const out: Legend[] = [], [force, torque] = this.largestLoad;
    if (this.showLoads && force > 0) out.push({ text: `applied force, longest ${format(force)} N`, color: LOAD });
    if (this.showLoads && torque > 0) out.push({ text: `applied torque, largest ${format(torque)} N m`, color: LOAD });
    if (this.showLoads && this.usualPush > 0) out.push({ text: `contact force, an arrow of the length of a link is ${format((this.usualPush * this.stage.draft.link) / this.pushLength)} N`, color: CONTACT });
    if (this.showReactions) {
      out.push({ text: this.hasReactions ? `reaction on the moving body, longest ${format(this.largestForce)} N` : "this result has no reactions", color: ACCENT });
      if (this.reactions.some((r) => !r.sure)) out.push({ text: "reaction not unique (smallest one shown)", color: UNSURE });
    }
    if (this.showVelocities) out.push({ text: `velocity, longest ${format(this.largestSpeed)} ${this.lengthUnit}/s`, color: "#2a7f9e" });
    return out;
  }
}
