// The page: puts scene, time line, plots, diagnosis, switches and exports together, and answers the keyboard.

import { Catalogue } from "./catalogue";
import { Clock } from "./clock";
import type { Happened, PageData, Section } from "./data";
import { diagnosisPanel, warningCount } from "./diagnosis";
import { absent, eventTables } from "./events";
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
  page!: PageData;
  motions!: Motion[];
  stage!: Stage;
  clock!: Clock;
  overlays!: Overlays;
  plots!: PlotPanel;
  catalogue!: Catalogue;
  tracers!: Tracer[];
  readonly exporter = new Exporter(this);
  readonly scene = el("div", { class: "scene" });
  /** Called before every frame, with its time in milliseconds. */
  onFrame: ((now: number) => void) | null = null;
  /** Called when the reader asks for another time: what is shown live gives way to the recording. */
  onAsked: (() => void) | null = null;
  private readonly canvas = el("canvas", { "aria-label": "The mechanism in motion", tabindex: "0" });
  private readonly title = el("h1", {});
  private readonly sub = el("span", { class: "sub" });
  private readonly nav = el("nav", { role: "tablist" });
  private readonly aside = el("aside", {}, this.nav);
  private notes = el("div", { class: "notes" });
  private timeline!: Timeline;
  private labels!: Labels;
  private ended = new AbortController();
  private readonly tabs = new Map<string, { head: HTMLButtonElement; body: HTMLElement }>();
  private theme: "light" | "dark" = "light";
  private themeChosen = false;
  private chosen: string[] = [];
  frozen = false;
  switches!: Record<"traces" | "reactions" | "loads" | "velocities" | "ghost" | "labels" | "grid" | "perspective", Switch>;

  constructor(page: PageData, private readonly root: HTMLElement) {
    const header = el("header", {}, this.title, this.sub,
      button("", "Light or dark (d)", () => this.chooseTheme(), "theme"),
      button("", "Open or close the panel (m)", () => this.togglePanel(), "panel"),
      button("?", "Keys and help (?)", () => showHelp()));
    for (const name of ["Plots", "Diagnosis", "Show", "Export"]) this.addTab(name);
    this.root.replaceChildren(header, this.scene, this.aside, el("footer", {}));
    this.show(page);
    // With a single pose there is nothing to plot.
    this.openTab(this.clock.end > this.clock.start ? "Plots" : "Diagnosis");
    const dark = window.matchMedia?.("(prefers-color-scheme: dark)");
    this.setTheme(dark?.matches ? "dark" : "light");
    // Until the reader chooses, the page follows the system.
    dark?.addEventListener("change", (e) => { if (!this.themeChosen) this.setTheme(e.matches ? "dark" : "light"); });
    document.addEventListener("keydown", (e) => this.onKey(e));
    // Space plays, also just after a click on a button, which would otherwise take it; Enter still presses buttons.
    document.addEventListener("keyup", (e) => { if (e.key === " " && (e.target as HTMLElement).closest("button")) e.preventDefault(); });
    new ResizeObserver(() => this.resize()).observe(this.scene);
    const frame = (now: number) => {
      if (!this.frozen) { this.keepPace(now); this.onFrame?.(now); this.clock.tick(now); this.stage.render(); }
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  /** Shows other data in place of those before: switches, camera, plots and time stay as far as they fit. */
  show(page: PageData): void {
    const before = this.stage as Stage | undefined, model = page.model;
    const camera = before?.cameraState, flat = before?.draft.normal !== null, time = before ? this.clock.time : null;
    const kept = before ? Object.entries(this.switches).map(([k, w]) => [k, w.on] as const) : [], plots = before ? this.plots.choice : null;
    const speed = before ? { speed: this.clock.speed, loop: this.clock.loop } : null, playing = before ? this.clock.playing : false;
    this.ended.abort();
    this.ended = new AbortController();
    before?.dispose();
    this.page = page;
    document.title = `${model.title} \u00b7 Fourbar`;
    this.title.textContent = this.title.title = model.title;
    this.motions = page.results.map((r) => new Motion(r, model.bodies));
    const start = Math.min(...this.motions.map((m) => m.start)), end = Math.max(...this.motions.map((m) => m.end));
    this.notes = el("div", { class: "notes" });
    this.lastNotes = "";
    this.scene.replaceChildren(this.canvas);
    this.stage = new Stage(this.canvas, this.motions, model, before ?? null);
    this.overlays = new Overlays(this.stage, model.length_unit ?? "m");
    this.tracers = tracers(this.stage);
    this.chosen = model.view?.trace ?? (model.points ?? []).map((p) => p.name);
    this.clock = new Clock(this.motions[0]!.t, start, end, () => this.onTime());
    if (speed) Object.assign(this.clock, speed);
    this.timeline = new Timeline(this.clock, page.diagnosis ?? [], this.events());
    this.catalogue = new Catalogue(this.motions, model);
    const usual = this.catalogue.defaults(model), same = plots?.filter((p) => p.names.length > 0 && p.names.every((n) => this.catalogue.get(n, 0)));
    this.plots = new PlotPanel({
      catalogue: this.catalogue, labels: this.motions.map((m) => m.label), title: model.title, shown: (r) => this.stage.casts[r]!.group.visible,
      look: () => LOOKS[this.theme], span: () => [this.clock.start, this.clock.end], time: () => this.clock.time, jump: (t) => this.jump(t),
    }, same?.length ? same : usual);
    this.labels = new Labels(this.stage, this.scene);
    new Hover(this.stage, this.scene, this.ended.signal);
    const s = (label: string, key: string, on: boolean, set: (on: boolean) => void): Switch => ({ label, key, on, set });
    this.switches = {
      traces: s("Traces of the chosen points", "t", this.chosen.length > 0, () => this.retrace()),
      reactions: s("Reaction forces", "r", false, (on) => { this.overlays.showReactions = on; }),
      loads: s("Applied forces and torques", "a", true, (on) => { this.overlays.showLoads = on; }),
      velocities: s("Velocities", "v", false, (on) => { this.overlays.showVelocities = on; }),
      ghost: s("Ghost of the start", "g", false, (on) => this.stage.showGhost(on)),
      labels: s("Names", "n", false, (on) => this.labels.show(on)),
      grid: s("Grid", "#", true, (on) => this.stage.showGrid(on)),
      perspective: s("Perspective", "p", !this.stage.isFlat, (on) => this.stage.setFlat(!on)),
    };
    this.build();
    this.stage.setTheme(LOOKS[this.theme].stage);
    for (const f of this.onShow) f(this.ended.signal);
    this.resize();
    this.retrace();
    if (!this.stage.renderer) this.scene.append(el("p", { class: "nogl" }, "This browser does not offer WebGL, which draws the mechanism. Plots, diagnosis and export work without it. To see the motion, use another browser or enable hardware acceleration."));
    this.clock.set(time ?? start);
    const follow = model.view?.follow === undefined ? -1 : model.bodies.findIndex((b) => b.name === model.view!.follow);
    if (follow >= 0) this.stage.follow(follow);
    for (const [k, on] of kept) if (this.switches[k as keyof App["switches"]].on !== on && k !== "perspective") this.toggle(k as keyof App["switches"], on);
    if (camera && flat === (this.stage.draft.normal !== null)) this.stage.takeCamera(camera);
    if (playing) this.clock.play(true);
  }
  /** Called for every page that is shown, with the signal that ends it. */
  readonly onShow: ((signal: AbortSignal) => void)[] = [];

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
    const first = this.page.results[0]!;
    this.sub.textContent = this.motions.length > 1 ? `${this.motions.length} results: ${this.motions.map((m) => m.label).join(", ")}`
      : first.integrator === "newton" ? "kinematics" : [first.formulation, first.integrator].filter(Boolean).join(" \u00b7 ") || first.label;
    const views: [string, View, string][] = [["Front", "front", "1"], ["Right", "right", "2"], ["Top", "top", "3"], ["Iso", "iso", "4"]];
    this.scene.append(
      el("div", { class: "views" }, button("Fit", "Show everything (f)", () => this.stage.fit()), ...views.map(([t, v, k]) => button(t, `View: ${v} (${k})`, () => this.stage.view(v)))),
      el("div", { class: "toggles" }, ...(["traces", "reactions", "velocities", "ghost", "labels"] as const).map((k) => {
        const w = this.switches[k], b = button({ traces: "traces", reactions: "reactions", velocities: "velocities", ghost: "start", labels: "names" }[k], `${w.label} (${w.key})`, () => this.toggle(k));
        w.show = [...(w.show ?? []), (on) => b.classList.toggle("on", on)];
        b.classList.toggle("on", w.on);
        return b;
      })), this.notes);
    this.fillTab("Plots", this.plots.root);
    this.showDiagnosis(this.page.diagnosis ?? []);
    this.onShown.length = 0;
    this.fillTab("Show", switchPanel(this));
    this.fillTab("Export", exportPanel(this));
    this.root.querySelector("footer")!.replaceWith(this.timeline.root);
  }

  /** Rows in place of the samples of the result: what the live page recorded. */
  adopt(rows: Float64Array[], index: Map<string, number>, events: Happened[]): void {
    this.motions[0]!.adopt(rows, index);
    this.clock.adopt(this.motions[0]!.t);
    // The page that was given stays as it is: a reset shows it again.
    this.page = { ...this.page, results: [{ ...this.page.results[0]!, events }] };
    this.timeline.mark(this.sections.map((s) => ({ ...s, lines: s.lines.filter((l) => l.time === undefined) })), events);
    this.catalogue.refresh();
    this.plots.draw();
    this.retrace();
  }

  /** `times` are marked on the traces. */
  showDiagnosis(sections: Section[], times: number[] = []): void {
    const count = warningCount(sections), head = this.tabs.get("Diagnosis")!.head;
    head.replaceChildren("Diagnosis", ...(count > 0 ? [el("span", { class: "count", title: `${count} warnings` }, String(count))] : []));
    const host = { jump: (t: number) => this.jump(t), highlight: (names: string[]) => this.highlight(names) }, panel = diagnosisPanel(sections, host);
    panel.prepend(...eventTables(this.page.results.map((r) => ({ label: r.label, events: r.events ?? [] })), host));
    this.fillTab("Diagnosis", panel);
    this.sections = sections;
    this.timeline.mark(sections, this.events());
    this.overlays.mark(times);
  }
  private sections: Section[] = [];
  /** What happened in all results, in the order of time. */
  private events(): Happened[] { return this.page.results.flatMap((r) => r.events ?? []).sort((a, b) => a.t - b.t); }

  /** A tab of the panel; `before` names the one it is inserted before. */
  addTab(name: string, body?: HTMLElement, before?: string): void {
    const head = el("button", { type: "button", role: "tab", onclick: () => this.openTab(name) }, name);
    const pane = el("div", { class: "tab", role: "tabpanel", hidden: true }, body);
    this.tabs.set(name, { head, body: pane });
    this.nav.insertBefore(head, before ? this.tabs.get(before)!.head : null);
    this.aside.append(pane);
  }
  private fillTab(name: string, body: HTMLElement): void { this.tabs.get(name)!.body.replaceChildren(body); }

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
    this.onAsked?.();
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

  /** Draws the current time again. */
  refresh(): void { this.onTime(); }
  private onTime(): void {
    if (!this.timeline || !this.switches) return;
    const open = (this.page.model.joints ?? []).filter((j) => j.open).map((j) => j.name);
    this.page.results.forEach((r, k) => { this.stage.setAbsent(k, absent(open, r.events ?? [], this.clock.time)); });
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

  chooseTheme(theme: "light" | "dark" = this.theme === "light" ? "dark" : "light"): void {
    this.themeChosen = true;
    this.setTheme(theme);
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
    if (e.ctrlKey || e.metaKey || e.altKey || target.closest("select, textarea, input:not([type=range]):not([type=checkbox])")) return;
    if (e.key === " " && target.closest("input[type=checkbox]")) return;
    // Sliders other than the time bar take the keys that move them.
    if (/^(Arrow|Home|End|Page)/.test(e.key) && target.closest("input[type=range]") && !target.closest("footer")) return;
    const c = this.clock, many = e.shiftKey ? 10 : 1;
    const keys: Record<string, () => void> = {
      " ": () => c.play(), ArrowLeft: () => c.step(-many), ArrowRight: () => c.step(many), ArrowUp: () => c.faster(1), ArrowDown: () => c.faster(-1),
      Home: () => this.jump(c.start), End: () => this.jump(c.end), t: () => this.toggle("traces"), a: () => this.toggle("loads"), r: () => this.toggle("reactions"), v: () => this.toggle("velocities"),
      g: () => this.toggle("ghost"), n: () => this.toggle("labels"), "#": () => this.toggle("grid"), p: () => this.toggle("perspective"), f: () => this.stage.fit(),
      l: () => { c.loop = !c.loop; this.onTime(); }, d: () => this.chooseTheme(), m: () => this.togglePanel(),
      1: () => this.stage.view("front"), 2: () => this.stage.view("right"), 3: () => this.stage.view("top"), 4: () => this.stage.view("iso"), "?": () => showHelp(),
    };
    const act = keys[e.key];
    if (!act) return;
    e.preventDefault();
    act();
  }
}
