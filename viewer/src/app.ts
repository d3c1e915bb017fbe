// The page: puts scene, time line, plots, diagnosis, switches and exports together, and answers the keyboard.

import { Catalogue } from "./catalogue";
import { Clock } from "./clock";
import type { PageData } from "./data";
import { diagnosisPanel, warningCount } from "./diagnosis";
import { Exporter, exportPanel } from "./export/panel";
import { Motion } from "./motion";
import { PlotPanel } from "./plots/panel";
import { DARK_CURVES, LIGHT_CURVES, type ChartLook } from "./plots/chart";
import { Hover, Labels } from "./scene/labels";
import { Overlays, tracers, type Tracer } from "./scene/overlays";
import { RESULT_COLORS, Stage, type Theme, type View } from "./scene/stage";
import { showHelp } from "./help";
import { switchPanel, type Switch } from "./switches";
import { Timeline } from "./timeline";
import { button, el, format } from "./ui";

const LOOKS: Record<"light" | "dark", ChartLook & { stage: Theme }> = {
  light: {
    ink: "#1d2730", soft: "#5b6772", grid: "#e6eaed", paper: "#ffffff", accent: "#d1451f", curves: LIGHT_CURVES,
    stage: { paper: "#fbfbf9", ink: "#1d2730", pen: "#1d2730", grid: "#e4e7e6" },
  },
  dark: {
    ink: "#e4e9ed", soft: "#98a4af", grid: "#2b343c", paper: "#1a2026", accent: "#ff8560", curves: DARK_CURVES,
    stage: { paper: "#14191e", ink: "#05080a", pen: "#7d8993", grid: "#262e36" },
  },
};

export class App {
  readonly motions: Motion[];
  readonly stage: Stage;
  readonly clock: Clock;
  readonly overlays: Overlays;
  readonly plots: PlotPanel;
  readonly catalogue: Catalogue;
  readonly tracers: Tracer[];
  readonly exporter = new Exporter(this);
  readonly scene = el("div", { class: "scene" });
  private readonly root: HTMLElement;
  private readonly notes = el("div", { class: "notes" });
  private readonly timeline: Timeline;
  private readonly labels: Labels;
  private readonly tabs = new Map<string, { head: HTMLButtonElement; body: HTMLElement }>();
  private theme: "light" | "dark" = "light";
  private chosen: string[];
  frozen = false;
  readonly switches: Record<"traces" | "reactions" | "velocities" | "ghost" | "labels" | "grid" | "perspective", Switch>;

  constructor(readonly page: PageData, root: HTMLElement) {
    this.root = root;
    const model = page.model;
    document.title = `${model.title} \u00b7 Fourbar`;
    this.motions = page.results.map((r) => new Motion(r, model.bodies));
    const start = Math.min(...this.motions.map((m) => m.start)), end = Math.max(...this.motions.map((m) => m.end));
    const canvas = el("canvas", { "aria-label": "The mechanism in motion", tabindex: "0" });
    this.scene.append(canvas);
    this.stage = new Stage(canvas, this.motions, model);
    this.overlays = new Overlays(this.stage, model.length_unit ?? "m");
    this.tracers = tracers(this.stage);
    this.chosen = model.view?.trace ?? (model.points ?? []).map((p) => p.name);
    this.clock = new Clock(this.motions[0]!.t, start, end, () => this.onTime());
    this.timeline = new Timeline(this.clock, page.diagnosis ?? []);
    this.catalogue = new Catalogue(this.motions, model);
    this.plots = new PlotPanel({
      catalogue: this.catalogue, labels: this.motions.map((m) => m.label), title: model.title, shown: (r) => this.stage.casts[r]!.group.visible,
      look: () => LOOKS[this.theme], span: [start, end], time: () => this.clock.time, jump: (t) => this.jump(t),
    }, this.catalogue.defaults(model));
    this.labels = new Labels(this.stage, this.scene);
    new Hover(this.stage, this.scene);
    const s = (label: string, key: string, on: boolean, set: (on: boolean) => void): Switch => ({ label, key, on, set });
    this.switches = {
      traces: s("Traces of the chosen points", "t", this.chosen.length > 0, () => this.retrace()),
      reactions: s("Reaction forces", "r", false, (on) => { this.overlays.showReactions = on; }),
      velocities: s("Velocities", "v", false, (on) => { this.overlays.showVelocities = on; }),
      ghost: s("Ghost of the start", "g", false, (on) => this.stage.showGhost(on)),
      labels: s("Names", "n", false, (on) => this.labels.show(on)),
      grid: s("Grid", "#", true, (on) => this.stage.showGrid(on)),
      perspective: s("Perspective", "p", !this.stage.isFlat, (on) => this.stage.setFlat(!on)),
    };
    this.build();
    this.setTheme(window.matchMedia?.("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    document.addEventListener("keydown", (e) => this.onKey(e));
    // Space plays, also just after a click on a button, which would otherwise take it; Enter still presses buttons.
    document.addEventListener("keyup", (e) => { if (e.key === " " && (e.target as HTMLElement).closest("button")) e.preventDefault(); });
    new ResizeObserver(() => this.resize()).observe(this.scene);
    this.resize();
    this.retrace();
    this.clock.set(start);
    const frame = (now: number) => {
      if (!this.frozen) { this.keepPace(now); this.clock.tick(now); this.stage.render(); }
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  private lastFrame = 0;
  private slowness = 0;
  // A machine that draws in software plays at a lower resolution rather than in jerks; standing still is always sharp.
  private keepPace(now: number): void {
    const dt = now - this.lastFrame;
    this.lastFrame = now;
    if (!this.clock.playing) { this.slowness = 0; this.stage.setSharpness(1); return; }
    if (dt > 1000) return;
    this.slowness += 0.1 * (dt - this.slowness);
    const s = this.stage.currentSharpness;
    if (this.slowness > 45 && s > 0.6) { this.stage.setSharpness(s * 0.7); this.slowness = 20; }
  }

  private build(): void {
    const model = this.page.model, first = this.page.results[0]!;
    const how = this.motions.length > 1 ? `${this.motions.length} results: ${this.motions.map((m) => m.label).join(", ")}`
      : [first.formulation, first.integrator].filter(Boolean).join(" \u00b7 ") || first.label;
    const header = el("header", {}, el("h1", { title: model.title }, model.title), el("span", { class: "sub" }, how),
      button("", "Light or dark (d)", () => this.setTheme(this.theme === "light" ? "dark" : "light"), "theme"),
      button("", "Panel on or off (Tab key stays for moving between buttons)", () => this.togglePanel(), "panel"),
      button("?", "Keys and help (?)", () => showHelp()));
    const views: [string, View, string][] = [["Front", "front", "1"], ["Right", "right", "2"], ["Top", "top", "3"], ["Iso", "iso", "4"]];
    this.scene.append(
      el("div", { class: "views" }, button("Fit", "Show everything (f)", () => this.stage.fit()), ...views.map(([t, v, k]) => button(t, `View: ${v} (${k})`, () => this.stage.view(v)))),
      el("div", { class: "toggles" }, ...(["traces", "reactions", "velocities", "ghost", "labels"] as const).map((k) => {
        const w = this.switches[k], b = button({ traces: "traces", reactions: "reactions", velocities: "velocities", ghost: "start", labels: "names" }[k], `${w.label} (${w.key})`, () => this.toggle(k));
        w.show = [...(w.show ?? []), (on) => b.classList.toggle("on", on)];
        b.classList.toggle("on", w.on);
        return b;
      })), this.notes);
    const nav = el("nav", { role: "tablist" }), aside = el("aside", {}, nav);
    const tab = (name: string, body: HTMLElement, count = 0) => {
      const head = el("button", { type: "button", role: "tab", onclick: () => this.openTab(name) }, name, count > 0 && el("span", { class: "count", title: `${count} warnings` }, String(count)));
      const pane = el("div", { class: "tab", role: "tabpanel", hidden: true }, body);
      this.tabs.set(name, { head, body: pane });
      nav.append(head);
      aside.append(pane);
    };
    const sections = this.page.diagnosis ?? [];
    tab("Plots", this.plots.root);
    tab("Diagnosis", diagnosisPanel(sections, { jump: (t) => this.jump(t), highlight: (names) => this.highlight(names) }), warningCount(sections));
    tab("Show", switchPanel(this));
    tab("Export", exportPanel(this));
    this.root.replaceChildren(header, this.scene, aside, this.timeline.root);
    // With a single pose there is nothing to plot.
    this.openTab(this.clock.end > this.clock.start ? "Plots" : "Diagnosis");
  }

  openTab(name: string): void {
    for (const [k, t] of this.tabs) {
      t.head.classList.toggle("on", k === name);
      t.head.setAttribute("aria-selected", String(k === name));
      t.body.hidden = k !== name;
    }
    if (name === "Plots") this.plots.draw();
  }

  toggle(name: keyof App["switches"], on = !this.switches[name].on): void {
    const w = this.switches[name];
    w.on = on;
    w.set(on);
    for (const f of w.show ?? []) f(on);
    this.onTime();
  }

  get tracedNames(): string[] { return this.chosen; }
  chooseTraces(names: string[]): void {
    this.chosen = names;
    this.toggle("traces", names.length > 0);
  }

  private retrace(): void {
    // Asked for traces with nothing chosen: the centres of mass are a fair guess.
    if (this.switches.traces.on && !this.chosen.length) this.chosen = this.page.model.bodies.slice(0, 8).map((b) => b.name);
    this.overlays.trace(this.switches.traces.on ? this.tracers.filter((t) => this.chosen.includes(t.name)) : []);
  }

  /** Told when a result is shown or hidden. */
  readonly onShown: ((result: number, on: boolean) => void)[] = [];
  showResult(result: number, on: boolean): void {
    const cast = this.stage.casts[result]!;
    cast.group.visible = on;
    for (const f of this.onShown) f(result, on);
    cast.set(this.clock.time);
    this.retrace();
    this.plots.draw();
    this.onTime();
  }

  jump(time: number): void {
    this.clock.playing = false;
    this.clock.set(time);
  }

  highlight(names: string[]): void {
    const d = this.stage.draft, joints = d.model.joints ?? [], ids: number[] = [];
    for (const name of names) {
      const j = joints.findIndex((v) => v.name === name), b = d.body(name);
      if (j >= 0) ids.push(d.jointId(j)); else if (b >= 0) ids.push(d.bodyId(b));
    }
    this.stage.highlight(ids);
  }

  private onTime(): void {
    if (!this.timeline) return;
    this.stage.setTime(this.clock.time);
    this.overlays.set(this.clock.time);
    this.timeline.update();
    this.plots.cursor();
    this.writeNotes();
  }

  private lastNotes = "";
  private writeNotes(): void {
    const lines: { text: string; color: string; result?: number; shown?: boolean }[] = this.overlays.legend((x) => format(x, 3));
    if (this.motions.length > 1) this.motions.forEach((m, k) => {
      lines.push({ text: k === 0 ? `${m.label} (in full)` : m.label, color: RESULT_COLORS[k % RESULT_COLORS.length]!, result: k, shown: this.stage.casts[k]!.group.visible });
    });
    if (this.switches.grid.on) lines.push({ text: `grid ${format(this.stage.gridStep)} ${this.page.model.length_unit ?? "m"}`, color: "" });
    const key = JSON.stringify(lines);
    if (key === this.lastNotes) return;
    this.lastNotes = key;
    this.notes.replaceChildren(...lines.map((l) => {
      const i = el("i", {});
      i.style.background = l.color;
      if (l.result === undefined) return el("div", {}, l.color ? i : null, l.text);
      const shown = this.stage.casts[l.result]!.group.visible;
      const b = button(l.text, shown ? "Hide this result" : "Show this result", () => this.showResult(l.result!, !shown));
      b.prepend(i);
      b.classList.toggle("off", !shown);
      return b;
    }));
  }

  setTheme(theme: "light" | "dark"): void {
    this.theme = theme;
    document.documentElement.dataset["theme"] = theme;
    this.stage.setTheme(LOOKS[theme].stage);
    this.plots.draw();
  }

  togglePanel(show = this.root.classList.contains("wide")): void {
    this.root.classList.toggle("wide", !show);
    this.resize();
    if (show) this.plots.draw();
  }

  private resize(): void {
    const w = this.scene.clientWidth, h = this.scene.clientHeight;
    if (w === 0 || h === 0) return;
    this.stage.resize(w, h);
    this.plots.draw();
  }

  private onKey(e: KeyboardEvent): void {
    const target = e.target as HTMLElement;
    if (e.ctrlKey || e.metaKey || e.altKey || target.closest("select, input:not([type=range]):not([type=checkbox])")) return;
    if (e.key === " " && target.closest("input[type=checkbox]")) return;
    const c = this.clock, many = e.shiftKey ? 10 : 1;
    const keys: Record<string, () => void> = {
      " ": () => c.play(), ArrowLeft: () => c.step(-many), ArrowRight: () => c.step(many), ArrowUp: () => c.faster(1), ArrowDown: () => c.faster(-1),
      Home: () => this.jump(c.start), End: () => this.jump(c.end), t: () => this.toggle("traces"), r: () => this.toggle("reactions"), v: () => this.toggle("velocities"),
      g: () => this.toggle("ghost"), n: () => this.toggle("labels"), "#": () => this.toggle("grid"), p: () => this.toggle("perspective"), f: () => this.stage.fit(),
      l: () => { c.loop = !c.loop; this.onTime(); }, d: () => this.setTheme(this.theme === "light" ? "dark" : "light"), m: () => this.togglePanel(),
      1: () => this.stage.view("front"), 2: () => this.stage.view("right"), 3: () => this.stage.view("top"), 4: () => this.stage.view("iso"), "?": () => showHelp(),
    };
    const act = keys[e.key];
    if (!act) return;
    e.preventDefault();
    act();
  }
}
