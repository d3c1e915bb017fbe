// Every column that can be plotted, by name and result: those of the file, the poses, magnitudes, and differences of results.

import type { Model } from "./data";
import { Pose, valueAt, type Column, type Motion } from "./motion";

export interface Entry { name: string; unit: string }
/** Marks the difference to the first result. */
export const DELTA = "\u0394 ";
const MAGNITUDES = ["force", "torque", "v", "omega", "a", "alpha"];

export class Catalogue {
  readonly entries: Entry[] = [];
  private readonly maps: Map<string, Column>[];
  private readonly made: Map<string, Column | undefined>[];
  private readonly bodies = new Map<string, number>();

  constructor(private readonly motions: Motion[], model: Model) {
    this.unit = model.length_unit ?? "m";
    model.bodies.forEach((b, i) => this.bodies.set(b.name, i));
    this.maps = motions.map((m) => new Map(m.columns.map((c) => [c.name, c])));
    this.made = motions.map(() => new Map());
    const seen = new Set<string>();
    const add = (name: string, unit: string) => { if (!seen.has(name)) { seen.add(name); this.entries.push({ name, unit }); } };
    for (const m of motions) for (const c of m.columns) {
      if (c.name.endsWith(".x") && MAGNITUDES.includes(c.name.split(".").at(-2) ?? "")) add(c.name.slice(0, -2), c.unit);
      add(c.name, c.unit);
    }
    for (const b of model.bodies) {
      for (const a of ["x", "y", "z"]) add(`${b.name}.r.${a}`, this.unit);
      for (const a of ["0", "1", "2", "3"]) add(`${b.name}.p.${a}`, "1");
    }
    if (motions.length > 1) {
      const plain = [...this.entries];
      add(`${DELTA}position`, this.unit);
      add(`${DELTA}rotation`, "rad");
      for (const m of motions) for (const c of m.difference) add(DELTA + c.name, c.unit);
      for (const e of plain) add(DELTA + e.name, e.unit);
    }
  }
  private readonly unit: string;

  get(name: string, result: number): Column | undefined {
    const direct = this.maps[result]?.get(name);
    if (direct) return direct;
    const made = this.made[result];
    if (!made) return undefined;
    if (!made.has(name)) made.set(name, this.make(name, result));
    return made.get(name);
  }

  private make(name: string, result: number): Column | undefined {
    const motion = this.motions[result]!;
    if (name.startsWith(DELTA)) return result === 0 ? undefined : this.difference(name.slice(DELTA.length), result);
    const parts = name.split("."), kind = parts.at(-2), last = parts.at(-1)!;
    const body = this.bodies.get(parts.slice(0, -2).join("."));
    if (body !== undefined && (kind === "r" || kind === "p")) {
      const c = kind === "r" ? "xyz".indexOf(last) : Number(last);
      if (c >= 0 && c < (kind === "r" ? 3 : 4)) return motion.poseColumn(body, kind, c, this.unit);
    }
    const xyz = ["x", "y", "z"].map((a) => this.maps[result]!.get(`${name}.${a}`));
    const [x, y, z] = xyz;
    if (x && y && z && MAGNITUDES.includes(last)) {
      return { name, unit: x.unit, t: x.t, y: x.y.map((v, k) => Math.hypot(v, y.y[k]!, z.y[k]!)) };
    }
    return undefined;
  }

  private difference(name: string, result: number): Column | undefined {
    const exact = this.motions[result]!.difference.find((c) => c.name === name);
    if (exact) return { ...exact, name: DELTA + name };
    if (name === "position" || name === "rotation") return this.poseDifference(name, result);
    const a = this.get(name, 0), b = this.get(name, result);
    if (!a || !b) return undefined;
    return { name: DELTA + name, unit: b.unit, t: b.t, y: b.y.map((v, k) => v - valueAt(a, b.t[k]!)) };
  }

  /** The largest over all bodies, from the poses of the page. */
  private poseDifference(kind: "position" | "rotation", result: number): Column {
    const a = this.motions[0]!, b = this.motions[result]!, pa = new Pose(), pb = new Pose();
    const y = b.t.map((t) => {
      let most = 0;
      for (let i = 0; i < b.bodies.length; i++) {
        a.pose(i, t, pa);
        b.pose(i, t, pb);
        const d = kind === "position"
          ? Math.hypot(pa.r[0] - pb.r[0], pa.r[1] - pb.r[1], pa.r[2] - pb.r[2])
          : 2 * Math.acos(Math.min(1, Math.abs(pa.p[0] * pb.p[0] + pa.p[1] * pb.p[1] + pa.p[2] * pb.p[2] + pa.p[3] * pb.p[3])));
        most = Math.max(most, d);
      }
      return most;
    });
    return { name: DELTA + kind, unit: kind === "position" ? this.unit : "rad", t: b.t, y };
  }

  /** Whether a difference comes from the full data or from the rounded ones of the page. */
  isExact(name: string, result: number): boolean {
    return !name.startsWith(DELTA) || this.motions[result]!.difference.some((c) => DELTA + c.name === name);
  }

  /** Names that contain every word of the query. */
  search(query: string): Entry[] {
    const words = query.toLowerCase().split(/[\s*]+/).filter(Boolean);
    return this.entries.filter((e) => words.every((w) => e.name.toLowerCase().includes(w)));
  }

  /** The plots a reader wants first. */
  defaults(model: Model): string[][] {
    const has = (name: string) => this.motions.some((_, r) => this.get(name, r) !== undefined);
    const wished = (model.view?.plots ?? []).map((p) => p.filter(has)).filter((p) => p.length > 0);
    if (wished.length) return wished;
    const out: string[][] = [];
    const add = (names: string[]) => { const ok = names.filter(has); if (ok.length) out.push(ok); };
    if (this.motions.length > 1) out.push([`${DELTA}position`, `${DELTA}rotation`]);
    const joints = model.joints ?? [], coordinate = (j: string) => [`${j}.angle`, `${j}.distance`];
    const driven = (model.drives ?? []).slice(0, 2).flatMap((d) => coordinate(d.joint));
    const before = out.length;
    add(driven);
    if (out.length === before) add(joints.flatMap((j) => coordinate(j.name)).filter(has).slice(0, 3));
    // A coordinate that never changes tells nothing, such as the third one of a planar mechanism.
    const stroke = (name: string) => { const y = this.get(name, 0)?.y; return y?.length ? y.reduce((a, v) => Math.max(a, Math.abs(v - y[0]!)), 0) : 0; };
    for (const stem of [...(model.points ?? []).slice(0, 1).map((p) => p.name), ...model.bodies.slice(-1).map((b) => `${b.name}.r`)]) {
      const all = ["x", "y", "z"].map((a) => `${stem}.${a}`), most = Math.max(...all.map(stroke)), moving = all.filter((n) => stroke(n) > 1e-6 * most);
      if (out.length === before) add(moving.length ? moving : all);
    }
    add((model.drives ?? []).slice(0, 2).map((d) => `${d.name}.effort`));
    add(["energy.kinetic", "energy.potential", "energy.total"]);
    add(["error.position", "error.velocity", "error.acceleration"]);
    add(joints.map((j) => `${j.name}.force`).filter(has).slice(0, 4));
    return out;
  }
}

/** Plots of these start on a logarithmic axis: their size matters over many decades. */
export function wantsLog(names: string[]): boolean {
  return names.length > 0 && names.every((n) => n.startsWith("error.") || n.startsWith(DELTA));
}
