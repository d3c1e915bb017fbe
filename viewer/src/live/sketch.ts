// Drawing a planar linkage with the mouse: points, bars, pins on the ground, a motor, a point to trace. It writes a mechanism file.

import { button, el } from "../ui";

interface Joint { x: number; y: number; ground: boolean; motor: boolean }
interface Bar { ends: [number, number]; tracer: { x: number; y: number } | null }
export interface Drawing { joints: Joint[]; bars: Bar[] }

/** Places snap to this, m. */
const GRID = 0.01;
const NS = "http://www.w3.org/2000/svg";
const letter = (k: number): string => (k < 26 ? String.fromCharCode(65 + k) : `P${k}`);
const round = (x: number): number => Number((Math.round(x / GRID) * GRID).toFixed(4));

/** The file of a drawing; a complaint in words where it is not a linkage yet. */
export function fileOf(d: Drawing): { text: string } | { missing: string } {
  if (!d.bars.length) return { missing: "Draw a bar: press at one end, drag to the other." };
  const held = d.joints.some((j, k) => j.ground && d.bars.some((b) => b.ends.includes(k)));
  if (!held) return { missing: "Nothing is connected to the ground yet: choose Ground, then click an end of a bar." };
  const used = d.joints.map((_, k) => k).filter((k) => d.bars.some((b) => b.ends.includes(k)));
  const n = (x: number) => String(Number(x.toPrecision(9))), name = (k: number) => letter(k);
  const lines = ["fourbar: 1", "title: A sketch", "# Ends of the bars as drawn; with other numbers the linkage is assembled again.", "parameters:"];
  for (const k of used) lines.push(`  ${name(k)}x: ${n(d.joints[k]!.x)}`, `  ${name(k)}y: ${n(d.joints[k]!.y)}`);
  if (d.joints.some((j) => j.motor)) lines.push("  turn: 3                                   # speed of the motor, rad/s");
  lines.push("gravity: [0, -9.81, 0]", "bodies:");
  d.bars.forEach((b, i) => {
    const [a, c] = b.ends.map(name), [p, q] = b.ends.map((k) => d.joints[k]!), l = Math.hypot(p!.x - q!.x, p!.y - q!.y), m = Number((2 * l).toPrecision(3));
    // A bar of 2 kg per metre; its inertia about the plane of the drawing, and a little about the others.
    lines.push(`  bar${i + 1}: {mass: ${m}, inertia: [${n((m * l * l) / 12)}, ${n((m * l * l) / 12)}, ${n((m * l * l) / 12)}], com: [(${a}x + ${c}x)/2, (${a}y + ${c}y)/2, 0]}`);
  });
  lines.push("joints:");
  const drives: string[] = [];
  for (const k of used) {
    const bars = d.bars.map((b, i) => ({ b, i })).filter(({ b }) => b.ends.includes(k)).map(({ i }) => `bar${i + 1}`), j = d.joints[k]!;
    const pairs = j.ground ? bars.map((bar) => ["ground", bar]) : bars.slice(1).map((bar) => [bars[0]!, bar]);
    pairs.forEach(([base, moving], i) => {
      const joint = pairs.length > 1 ? `${name(k)}${i + 1}` : name(k);
      lines.push(`  ${joint}: {type: revolute, bodies: [${base}, ${moving}], at: [${name(k)}x, ${name(k)}y, 0], axis: [0, 0, 1]}`);
      if (j.motor && i === 0) drives.push(`  motor_${name(k)}: {joint: ${joint}, angle: turn*t}`);
    });
  }
  if (drives.length) lines.push("drives:", ...drives);
  const points = d.bars.flatMap((b, i) => (b.tracer ? [`  tracer${i + 1}: {body: bar${i + 1}, at: [${n(b.tracer.x)}, ${n(b.tracer.y)}, 0]}`] : []));
  if (points.length) lines.push("points:", ...points, `view: {trace: [${d.bars.flatMap((b, i) => (b.tracer ? [`tracer${i + 1}`] : [])).join(", ")}]}`);
  lines.push("study: {t_end: 3, output_step: 10 ms}", "");
  return { text: lines.join("\n") };
}

type Tool = "bar" | "ground" | "motor" | "tracer" | "move" | "delete";
const TOOLS: [Tool, string, string][] = [
  ["bar", "Bar", "press at one end, drag to the other; ends close to each other become one pin; grid squares are 50 mm"], ["ground", "Ground", "click a pin to fix it on the ground"],
  ["motor", "Motor", "click a pin to drive its first bar"], ["tracer", "Tracer", "click near a bar to trace that point of it"],
  ["move", "Move", "drag a pin"], ["delete", "Delete", "click a pin or a bar"],
];

export class Sketch {
  readonly root = el("div", { class: "sketch", hidden: true });
  readonly drawing: Drawing = { joints: [], bars: [] };
  private readonly svg = document.createElementNS(NS, "svg");
  private readonly hint = el("p", { class: "hint", "aria-live": "polite" });
  private tool: Tool = "bar";
  private from: number | null = null;
  private to: { x: number; y: number } | null = null;

  constructor(private readonly done: (text: string) => void) {
    const tools = TOOLS.map(([tool, text, what]) => {
      const b = button(text, what, () => { this.tool = tool; tools.forEach((o) => o.classList.toggle("on", o === b)); this.hint.textContent = what; });
      return b;
    });
    tools[0]!.classList.add("on");
    this.hint.textContent = TOOLS[0]![2];
    this.svg.setAttribute("viewBox", "-0.35 -0.3 0.9 0.6");
    this.root.append(el("div", { class: "cardtools" }, ...tools, button("Clear", "Remove everything", () => { this.drawing.joints.length = this.drawing.bars.length = 0; this.paint(); }),
      button("Start the motion", "Write the file and assemble it", () => this.finish()), button("", "Back without changes", () => { this.root.hidden = true; }, "close")), this.hint, this.svg);
    this.svg.addEventListener("pointerdown", (e) => this.down(e));
    this.svg.addEventListener("pointermove", (e) => this.move(e));
    this.svg.addEventListener("pointerup", (e) => this.up(e));
    this.paint();
  }

  open(): void { this.root.hidden = false; this.paint(); }
  finish(): void {
    const made = fileOf(this.drawing);
    if ("missing" in made) { this.hint.textContent = made.missing; return; }
    this.root.hidden = true;
    this.done(made.text);
  }

  private at(e: PointerEvent): { x: number; y: number } {
    const m = this.svg.getScreenCTM()!.inverse();
    return { x: m.a * e.clientX + m.e, y: -(m.d * e.clientY + m.f) };
  }
  /** The pin near a place, or none. */
  private pin(p: { x: number; y: number }, reach = 0.018): number | null {
    let best: number | null = null, least = reach;
    this.drawing.joints.forEach((j, k) => { const d = Math.hypot(j.x - p.x, j.y - p.y); if (d < least) { least = d; best = k; } });
    return best;
  }
  private pinOrNew(p: { x: number; y: number }): number {
    const found = this.pin(p);
    if (found !== null) return found;
    return this.drawing.joints.push({ x: round(p.x), y: round(p.y), ground: false, motor: false }) - 1;
  }
  private bar(p: { x: number; y: number }, reach = 0.08): number | null {
    let best: number | null = null, least = reach;
    this.drawing.bars.forEach((b, k) => {
      const [u, v] = b.ends.map((i) => this.drawing.joints[i]!), dx = v!.x - u!.x, dy = v!.y - u!.y, s = Math.min(1, Math.max(0, ((p.x - u!.x) * dx + (p.y - u!.y) * dy) / (dx * dx + dy * dy || 1)));
      const d = Math.hypot(u!.x + s * dx - p.x, u!.y + s * dy - p.y);
      if (d < least) { least = d; best = k; }
    });
    return best;
  }

  private down(e: PointerEvent): void {
    const p = this.at(e), d = this.drawing, pin = this.pin(p);
    this.svg.setPointerCapture(e.pointerId);
    if (this.tool === "bar") { this.from = this.pinOrNew(p); this.to = p; }
    else if (this.tool === "move") this.from = pin;
    else if (this.tool === "ground" && pin !== null) { d.joints[pin]!.ground = !d.joints[pin]!.ground; if (!d.joints[pin]!.ground) d.joints[pin]!.motor = false; }
    else if (this.tool === "motor" && pin !== null) { d.joints[pin]!.motor = !d.joints[pin]!.motor; if (d.joints[pin]!.motor) d.joints[pin]!.ground = true; }
    else if (this.tool === "tracer") { const k = this.bar(p); if (k !== null) d.bars[k]!.tracer = { x: round(p.x), y: round(p.y) }; }
    else if (this.tool === "delete") this.remove(pin, this.bar(p, 0.015));
    this.paint();
  }
  private move(e: PointerEvent): void {
    if (this.from === null) return;
    const p = this.at(e);
    if (this.tool === "move") Object.assign(this.drawing.joints[this.from]!, { x: round(p.x), y: round(p.y) });
    else this.to = p;
    this.paint();
  }
  private up(e: PointerEvent): void {
    if (this.tool === "bar" && this.from !== null) {
      const p = this.at(e), start = this.drawing.joints[this.from]!;
      if (Math.hypot(p.x - start.x, p.y - start.y) > 0.02) {
        const end = this.pinOrNew(p), from = this.from;
        if (end !== from && !this.drawing.bars.some((b) => b.ends.includes(from) && b.ends.includes(end))) this.drawing.bars.push({ ends: [from, end], tracer: null });
      }
      this.tidy();
    }
    this.from = this.to = null;
    this.paint();
  }
  private remove(pin: number | null, bar: number | null): void {
    const d = this.drawing;
    if (pin !== null) d.bars = d.bars.filter((b) => !b.ends.includes(pin));
    else if (bar !== null) d.bars.splice(bar, 1);
    this.tidy();
  }
  /** Pins without a bar go. */
  private tidy(): void {
    const d = this.drawing, keep = d.joints.map((_, k) => d.bars.some((b) => b.ends.includes(k))), place = keep.map((_, k) => keep.slice(0, k).filter(Boolean).length);
    d.joints = d.joints.filter((_, k) => keep[k]);
    for (const b of d.bars) b.ends = [place[b.ends[0]]!, place[b.ends[1]]!];
  }

  private paint(): void {
    const d = this.drawing, out: SVGElement[] = [];
    const add = (tag: string, attributes: Record<string, string | number>) => {
      const e = document.createElementNS(NS, tag);
      for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, String(v));
      out.push(e);
    };
    for (let k = -30; k <= 60; k += 5) { add("line", { x1: k / 100, x2: k / 100, y1: -0.5, y2: 0.5, stroke: "var(--line)", "stroke-width": 0.0006 }); add("line", { x1: -0.5, x2: 0.8, y1: k / 100, y2: k / 100, stroke: "var(--line)", "stroke-width": 0.0006 }); }
    d.bars.forEach((b) => {
      const [u, v] = b.ends.map((k) => d.joints[k]!);
      if (b.tracer) { add("polygon", { points: `${u!.x},${-u!.y} ${v!.x},${-v!.y} ${b.tracer.x},${-b.tracer.y}`, fill: "#44aa9933", stroke: "#44aa99", "stroke-width": 0.002 }); add("circle", { cx: b.tracer.x, cy: -b.tracer.y, r: 0.005, fill: "var(--accent)" }); }
      add("line", { x1: u!.x, y1: -u!.y, x2: v!.x, y2: -v!.y, stroke: "#4477aa", "stroke-width": 0.011, "stroke-linecap": "round" });
    });
    if (this.from !== null && this.to && this.tool === "bar") add("line", { x1: d.joints[this.from]!.x, y1: -d.joints[this.from]!.y, x2: this.to.x, y2: -this.to.y, stroke: "#4477aa88", "stroke-width": 0.008 });
    for (const j of d.joints) {
      if (j.ground) add("path", { d: `M${j.x} ${-j.y}l-.014 .024h.028zM${j.x - 0.02} ${-j.y + 0.026}h.04`, fill: "var(--soft)", stroke: "var(--soft)", "stroke-width": 0.002 });
      add("circle", { cx: j.x, cy: -j.y, r: 0.007, fill: j.motor ? "var(--accent)" : "var(--panel)", stroke: "var(--ink)", "stroke-width": 0.002 });
    }
    this.svg.replaceChildren(...out);
  }
}
