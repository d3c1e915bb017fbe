// Every column that can be plotted, by name and result: those of the file, the poses, magnitudes, and differences of results.

import type { Model } from "./data";
import { Pose, valueAt, type Column, type Motion } from "./motion";

export interface Entry { name: string; unit: string }
/** Marks the difference to the first result. */
export const DELTA = "\u0394 ";
/** A plot to start with: its columns, and the column of its horizontal axis where that is not time. */
export interface PlotChoice { names: string[]; over: string | null }
/** Values are noise below this share of the largest value of their unit, and below this number of their SI unit. */
const NOISE_SHARE = 1e-11, NOISE_FLOOR = 1e-13;
const MAGNITUDES = ["force", "torque", "v", "omega", "a", "alpha"];

export class Catalogue {
  readonly entries: Entry[] = [];
  private readonly maps: Map<string, Column>[];
  private readonly made: Map<string, Column | undefined>[];
  private readonly bodies = new Map<string, number>();

  constructor(private readonly motions: Motion[], model: Model) {
    this.unit = model.length_unit ?? "m";
    this.points = model.points ?? [];
    model.bodies.forEach((b, i) => this.bodies.set(b.name, i));
    this.maps = motions.map((m) => new Map(m.columns.map((c) => [c.name, c])));
    this.made = motions.map(() => new Map());
    this.sizes = motions.map(() => new Map());
    this.named = [...(model.points ?? []), ...(model.joints ?? []), ...(model.forces ?? [])].map((v) => v.name);
    const seen = new Set<string>();
    const add = (name: string, unit: string) => { if (!seen.has(name)) { seen.add(name); this.entries.push({ name, unit }); } };
    for (const m of motions) for (const c of m.columns) {
      if (c.name.endsWith(".x") && MAGNITUDES.includes(c.name.split(".").at(-2) ?? "")) add(c.name.slice(0, -2), c.unit);
      add(c.name, c.unit);
    }
    for (const p of this.points) for (const a of ["x", "y", "z"]) add(`${p.name}.${a}`, this.unit);
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
  private readonly points: NonNullable<Model["points"]>;

  /** Discards what was computed from samples. */
  refresh(): void {
    for (const m of this.made) m.clear();
    for (const s of this.sizes) s.clear();
  }

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
    // A point that the result has no column of is seen from its body.
    const point = this.points.find((p) => last.length === 1 && "xyz".includes(last) && name === `${p.name}.${last}`);
    if (point) {
      const c = "xyz".indexOf(last), on = this.bodies.get(point.body) ?? -1, pose = new Pose();
      return { name, unit: this.unit, t: motion.t, y: motion.t.map((t) => motion.place(on, point.at, t, pose)[c]!) };
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

  /** The floor below which a whole column lies, or 0: such values are rounding errors, not results. Errors of the solution are
   *  of interest however small. */
  noise(name: string, result: number): number {
    const column = this.get(name, result);
    if (!column || /^error\./.test(name) || name.startsWith(DELTA)) return 0;
    const floor = Math.max(NOISE_FLOOR, NOISE_SHARE * this.largest(column.unit, result)), most = size(column.y);
    return most > 0 && most < floor ? floor : 0;
  }

  /** The largest value of all stored columns of a unit. */
  private largest(unit: string, result: number): number {
    const known = this.sizes[result]!;
    if (!known.size) for (const c of this.motions[result]!.columns) if (!c.name.startsWith("error.")) known.set(c.unit, Math.max(known.get(c.unit) ?? 0, size(c.y)));
    return known.get(unit) ?? 0;
  }
  private readonly sizes: Map<string, number>[];

  /** Columns that may serve as a horizontal axis without a search: coordinates of joints and points. */
  shown(): string[] {
    return this.entries.map((e) => e.name).filter((n) => this.named.some((p) => n.startsWith(`${p}.`)) && /\.(x|y|z|angle|distance|length)$/.test(n)).slice(0, 60);
  }
  private readonly named: string[];

  /** Names that contain every word of the query. */
  search(query: string): Entry[] {
    const words = query.toLowerCase().split(/[\s*]+/).filter(Boolean);
    return this.entries.filter((e) => words.every((w) => e.name.toLowerCase().includes(w)));
  }

  /** The plots a reader wants first: those of the file, else what its author gave names to, each plot in one unit. */
  defaults(model: Model): PlotChoice[] {
    const has = (name: string) => this.motions.some((_, r) => this.get(name, r) !== undefined);
    const wished = (model.view?.plots ?? []).map((p): PlotChoice => (Array.isArray(p) ? { names: this.whole(p), over: null } : { names: this.whole(p.y), over: p.x }));
    const found = wished.map((p) => ({ names: p.names.filter(has), over: p.over !== null && has(p.over) ? p.over : null })).filter((p) => p.names.length > 0);
    if (found.length) return found;
    const out: PlotChoice[] = [];
    // A column that is rounding noise, or that never changes, says nothing at first sight.
    const stroke = (name: string) => { const y = this.get(name, 0)?.y; return y?.length ? y.reduce((a, v) => Math.max(a, Math.abs(v - y[0]!)), 0) : 0; };
    const unitOf = (name: string) => this.get(name, 0)?.unit ?? "";
    const add = (names: string[]) => {
      const ok = names.filter((n) => has(n) && this.noise(n, 0) === 0);
      for (const unit of new Set(ok.map(unitOf))) out.push({ names: ok.filter((n) => unitOf(n) === unit), over: null });
    };
    const moving = (stem: string) => {
      const all = ["x", "y", "z"].map((a) => `${stem}.${a}`), most = Math.max(...all.map(stroke)), live = all.filter((n) => stroke(n) > 1e-6 * most);
      return live.length ? live : all;
    };
    const joints = model.joints ?? [], forces = model.forces ?? [], points = model.points ?? [];
    const coordinate = (j: string) => [`${j}.angle`, `${j}.distance`];
    if (this.motions.length > 1) out.push({ names: [`${DELTA}position`, `${DELTA}rotation`], over: null });
    for (const p of points.slice(0, 2)) add(moving(p.name));
    const drives = (model.drives ?? []).slice(0, 3);
    add(drives.flatMap((d) => coordinate(d.joint)));
    add(drives.map((d) => `${d.name}.effort`));
    add(forces.map((f) => `${f.name}.tension`).filter(has).slice(0, 4));
    if (!drives.length) add(joints.flatMap((j) => coordinate(j.name)).filter((n) => has(n) && stroke(n) > 0).slice(0, 3));
    if (!out.length) for (const b of model.bodies.slice(-1)) add(moving(`${b.name}.r`));
    add(["energy.kinetic", "energy.potential", "energy.total"]);
    add(joints.map((j) => `${j.name}.force`).filter(has).slice(0, 4));
    if (!out.length) out.push({ names: this.entries.slice(0, 1).map((e) => e.name), over: null });
    return out;
  }

  /** Names as used in a file: `tracer` means all of `tracer.x`, `tracer.y`, `tracer.z`. */
  private whole(names: string[]): string[] {
    return names.flatMap((n) => (this.get(n, 0) ? [n] : ["x", "y", "z"].map((a) => `${n}.${a}`)));
  }
}

/** The largest value of a column, without its sign. */
function size(y: Float64Array): number {
  let most = 0;
  for (const v of y) if (Math.abs(v) > most) most = Math.abs(v);
  return most;
}

/** Plots of these start on a logarithmic axis: their size matters over many decades. */
export function wantsLog(names: string[]): boolean {
  return names.length > 0 && names.every((n) => n.startsWith("error.") || n.startsWith(DELTA));
}
