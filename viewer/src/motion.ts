// A result ready to be shown at any time: poses between samples (cubic in position, slerp in orientation) and columns.

import { unpack, type PackedColumn, type PackedResult, type Body, type Vec3, type Quat } from "./data";

export interface Column { name: string; unit: string; t: Float64Array; y: Float64Array; lo?: Float64Array; hi?: Float64Array }

/** Index of the last sample not after `time`, at most `n - 2`. */
export function interval(t: Float64Array, time: number): number {
  let lo = 0, hi = t.length - 1;
  while (hi - lo > 1) {
    const mid = (lo + hi) >> 1;
    if (t[mid]! <= time) lo = mid; else hi = mid;
  }
  return lo;
}

export function valueAt(c: Column, time: number): number {
  const n = c.t.length;
  if (n === 0) return NaN;
  if (n === 1 || time <= c.t[0]!) return c.y[0]!;
  if (time >= c.t[n - 1]!) return c.y[n - 1]!;
  const k = interval(c.t, time);
  const s = (time - c.t[k]!) / (c.t[k + 1]! - c.t[k]!);
  return s === 0 ? c.y[k]! : c.y[k]! * (1 - s) + c.y[k + 1]! * s;
}

export class Pose {
  r: Vec3 = [0, 0, 0];
  p: Quat = [1, 0, 0, 0];
}

export function rotate(p: Quat, v: Vec3): Vec3 {
  const [w, x, y, z] = p;
  const tx = 2 * (y * v[2] - z * v[1]), ty = 2 * (z * v[0] - x * v[2]), tz = 2 * (x * v[1] - y * v[0]);
  return [v[0] + w * tx + y * tz - z * ty, v[1] + w * ty + z * tx - x * tz, v[2] + w * tz + x * ty - y * tx];
}

export class Motion {
  readonly label: string;
  t: Float64Array;
  readonly columns: Column[];
  readonly difference: Column[];
  private r: Float64Array[];
  private p: Float64Array[];
  private live: { row: Float64Array; index: Map<string, number>; at: number[] } | null = null;

  constructor(result: PackedResult, readonly bodies: Body[]) {
    this.label = result.label;
    const times = result.times.map(unpack);
    const clock = (k: number | undefined): Float64Array => {
      const t = times[k ?? 0];
      if (!t || t.length === 0) throw new Error(`result ${result.label} has no times number ${k ?? 0}`);
      return t;
    };
    this.t = clock(result.poses.time);
    const packed = (list: Packed3, width: number, what: string) => bodies.map((b, i) => {
      const values = list[i] ? unpack(list[i]!) : new Float64Array();
      if (values.length !== width * this.t.length) {
        throw new Error(`${what} of ${b.name} in ${result.label}: ${values.length} numbers, expected ${width * this.t.length}`);
      }
      return values;
    });
    this.r = packed(result.poses.r, 3, "positions");
    this.p = packed(result.poses.p, 4, "quaternions");
    this.p.forEach(makeContinuous);
    const column = (c: PackedColumn): Column => {
      const t = clock(c.time), y = unpack(c.data);
      if (y.length !== t.length) throw new Error(`column ${c.name} in ${result.label}: ${y.length} numbers, expected ${t.length}`);
      return { name: c.name, unit: c.unit ?? "", t, y, ...(c.lo && c.hi ? { lo: unpack(c.lo), hi: unpack(c.hi) } : {}) };
    };
    this.columns = (result.columns ?? []).map(column);
    this.difference = (result.difference ?? []).map(column);
  }

  /** A live instant replaces the samples until null is given; `index` gives the position of a column in the row. */
  setLive(row: Float64Array | null, index?: Map<string, number>): void {
    if (!row || !index) { this.live = null; return; }
    const at = this.live?.index === index ? this.live.at : this.bodies.map((b) => index.get(`${b.name}.r.x`) ?? -1);
    this.live = { row, index, at };
  }
  get isLive(): boolean { return this.live !== null; }

  /** The value of a column at a time, or now. */
  value(c: Column, time: number): number {
    const k = this.live?.index.get(c.name);
    return k === undefined ? valueAt(c, time) : this.live!.row[k]!;
  }

  /** Takes rows in place of the samples: what was recorded while the engine ran. */
  adopt(rows: Float64Array[], index: Map<string, number>): void {
    if (rows.length < 2) return;
    const pick = (k: number) => Float64Array.from(rows, (row) => row[k] ?? NaN);
    this.t = pick(index.get("t")!);
    const several = (name: string, parts: string[]) => {
      const at = parts.map((p) => index.get(`${name}.${p}`)!), out = new Float64Array(rows.length * parts.length);
      rows.forEach((row, i) => at.forEach((k, c) => { out[i * at.length + c] = row[k]!; }));
      return out;
    };
    this.r = this.bodies.map((b) => several(b.name, ["r.x", "r.y", "r.z"]));
    this.p = this.bodies.map((b) => several(b.name, ["p.0", "p.1", "p.2", "p.3"]));
    this.p.forEach(makeContinuous);
    for (const c of this.columns) {
      const k = index.get(c.name);
      if (k === undefined) continue;
      c.t = this.t;
      c.y = pick(k);
      delete c.lo;
      delete c.hi;
    }
  }

  get start(): number { return this.t[0]!; }
  get end(): number { return this.t[this.t.length - 1]!; }

  /** Pose of one body at `time`: `r` is the centre of mass. */
  pose(body: number, time: number, out = new Pose()): Pose {
    const now = this.live, first = now ? now.at[body]! : -1;
    if (now && first >= 0) {
      for (let c = 0; c < 3; c++) out.r[c] = now.row[first + c]!;
      for (let c = 0; c < 4; c++) out.p[c] = now.row[first + 3 + c]!;
      return out;
    }
    const t = this.t, n = t.length, r = this.r[body]!, p = this.p[body]!;
    const k = n < 2 ? 0 : interval(t, time);
    const h = n < 2 ? 1 : t[k + 1]! - t[k]!;
    // An event leaves two rows at its time; where they are the last ones, what came after it is shown.
    const s = n < 2 ? 0 : h > 0 ? Math.min(1, Math.max(0, (time - t[k]!) / h)) : 1;
    const end = n < 2 ? 0 : k + 1;
    // Cubic Hermite with slopes from the neighbours: links of a fast crank keep their length between samples. Slopes do not pass events:
    // beside them, and at the ends, the curve is a parabola.
    const left = k > 0 && t[k]! > t[k - 1]!, right = end + 1 < n && t[end + 1]! > t[end]!;
    for (let c = 0; c < 3; c++) {
      const a = r[3 * k + c]!, b = r[3 * end + c]!;
      let ma = left ? ((b - r[3 * (k - 1) + c]!) / (t[end]! - t[k - 1]!)) * h : b - a;
      const mb = right ? ((r[3 * (end + 1) + c]! - a) / (t[end + 1]! - t[k]!)) * h : 2 * (b - a) - ma;
      if (!left) ma = 2 * (b - a) - mb;
      const u = s - 1;
      out.r[c] = (1 + 2 * s) * u * u * a + s * u * u * ma + s * s * (3 - 2 * s) * b + s * s * u * mb;
    }
    slerp(p, 4 * k, 4 * end, s, out.p);
    return out;
  }

  /** Origin of the body frame, from the centre of mass. */
  origin(body: number, pose: Pose): Vec3 {
    const com = this.bodies[body]!.com;
    if (!com) return [pose.r[0], pose.r[1], pose.r[2]];
    const d = rotate(pose.p, com);
    return [pose.r[0] - d[0], pose.r[1] - d[1], pose.r[2] - d[2]];
  }

  /** World place of a point given in the frame of a body; -1 is the ground. */
  place(body: number, at: Vec3, time: number, pose = new Pose()): Vec3 {
    if (body < 0) return [...at];
    this.pose(body, time, pose);
    const o = this.origin(body, pose), d = rotate(pose.p, at);
    return [o[0] + d[0], o[1] + d[1], o[2] + d[2]];
  }

  /** Velocity of the centre of mass: the slope of what is drawn. */
  velocity(body: number, time: number): Vec3 {
    if (this.t.length < 2) return [0, 0, 0];
    const h = (this.end - this.start) / (this.t.length - 1) / 4;
    const a = Math.max(this.start, time - h), b = Math.min(this.end, time + h);
    const ra = this.pose(body, a).r, rb = this.pose(body, b).r;
    return [(rb[0] - ra[0]) / (b - a), (rb[1] - ra[1]) / (b - a), (rb[2] - ra[2]) / (b - a)];
  }

  /** One component of the poses as a column, which the page does not store twice. */
  poseColumn(body: number, kind: "r" | "p", component: number, unit: string): Column {
    const width = kind === "r" ? 3 : 4, source = (kind === "r" ? this.r : this.p)[body]!;
    const y = new Float64Array(this.t.length);
    for (let k = 0; k < y.length; k++) y[k] = source[width * k + component]!;
    const name = `${this.bodies[body]!.name}.${kind}.${kind === "r" ? "xyz"[component]! : component}`;
    return { name, unit: kind === "r" ? unit : "1", t: this.t, y };
  }
}

type Packed3 = PackedResult["poses"]["r"];

function makeContinuous(p: Float64Array): void {
  for (let k = 0; k < p.length; k += 4) {
    const norm = Math.hypot(p[k]!, p[k + 1]!, p[k + 2]!, p[k + 3]!) || 1;
    const dot = k === 0 ? 1 : p[k]! * p[k - 4]! + p[k + 1]! * p[k - 3]! + p[k + 2]! * p[k - 2]! + p[k + 3]! * p[k - 1]!;
    const f = (dot < 0 ? -1 : 1) / norm;
    for (let c = 0; c < 4; c++) p[k + c]! *= f;
  }
}

function slerp(p: Float64Array, a: number, b: number, s: number, out: Quat): void {
  const dot = Math.min(1, p[a]! * p[b]! + p[a + 1]! * p[b + 1]! + p[a + 2]! * p[b + 2]! + p[a + 3]! * p[b + 3]!);
  let fa = 1 - s, fb = s;
  if (dot < 0.9999999) {
    const angle = Math.acos(dot), d = Math.sin(angle);
    fa = Math.sin((1 - s) * angle) / d;
    fb = Math.sin(s * angle) / d;
  }
  for (let c = 0; c < 4; c++) out[c] = fa * p[a + c]! + fb * p[b + c]!;
  const norm = Math.hypot(out[0], out[1], out[2], out[3]) || 1;
  for (let c = 0; c < 4; c++) out[c]! /= norm;
}
