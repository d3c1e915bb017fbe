// The live page: the mechanism in the hand, sliders, the file, and what `check` says. The engine computes, the page draws.

import type { App } from "../app";
import type { Happened, PageData } from "../data";
import { changed, words } from "../events";
import { button, el, fileName, format, save } from "../ui";
import { Editor, unitOf, withLineFeeds, written } from "./editor";
import type { Beside, Complaint, Described, Engine, Reply } from "./engine";
import { explanation, valuesOf } from "./explain";
import { holdOn, type Grip } from "./hand";
import { sharedPage } from "./share";

/** The file of a live page, and the shipped models of a playground. */
export interface LiveData {
  file: string; text: string; set?: [string, string][];
  /** Settings of the study that differ from those of the file. */
  study?: Record<string, unknown>;
  run?: boolean; gallery?: Shipped[];
}
/** A shipped model of a playground. */
export interface Shipped { name: string; group?: string; title: string; purpose?: string; text: string }

/** Rows that a recording keeps; a longer one is thinned out. */
const MOST_ROWS = 6000;
/** A study that runs faster than this follows a slider at once; milliseconds. */
const QUICK = 70;
/** Longest time that the engine may take per frame while the mechanism is simulated; milliseconds. */
const FRAME = 30;

/** Makes a slider reach a value. */
const reach = (range: HTMLInputElement, value: number): void => {
  if (value < Number(range.min)) range.min = String(value);
  if (value > Number(range.max)) range.max = String(value);
};

export class Live {
  readonly panel = el("div", { class: "live" });
  readonly editor: Editor;
  private readonly status = el("p", { class: "status", "aria-live": "polite" });
  private readonly sliders = el("div", { class: "sliders" });
  private readonly busyText = el("span", {});
  private readonly stopButton = button("Stop", "Stop computing the motion", () => this.stopRun());
  private readonly againButton = button("Run the study", "Compute the motion of the file", () => { this.againButton.hidden = true; void this.compute(); });
  private readonly busy = el("p", { class: "busy", "aria-live": "polite", hidden: true }, this.busyText, this.stopButton);
  private readonly values = el("div", { class: "values" });
  private readonly goButton = button("Let go", "Dynamics from here: drag to pull by a spring", () => this.toggle());
  private readonly speedBox = el("select", { "aria-label": "Slow motion" }, ...[1, 0.5, 0.2, 0.1, 0.05, 0.02].map((s) => el("option", { value: String(s) }, `${s}\u00d7`)));
  private readonly gravity = el("input", { type: "checkbox", checked: true, onchange: () => this.restart(this.gravity) });
  private readonly motors = el("input", { type: "checkbox", checked: true, onchange: () => this.restart(this.motors) });
  private text: string;
  private set: Map<string, string>;
  private described: Described | null = null;
  private index = new Map<string, number>();
  private original: PageData;
  private rows: Float64Array[] = [];
  private happened: Happened[] = [];
  private running = false;
  private started = false;
  private hand: Grip | null = null;
  private liveTime = 0;
  private lastFrame = 0;
  private lastDraw = 0;
  private lastRun = Infinity;
  private later = 0;
  /** Engines in workers: one runs the study, the other one `check`. The page stays responsive meanwhile. */
  private readonly runner: Beside;
  private readonly checker: Beside;
  private runSince = 0;
  /** Whether the time bar has a motion that the reader started. */
  private adopted = false;
  /** A motion that is computed and waits until the hand lets go. */
  private pending: PageData | null = null;
  private checked: Reply | null = null;
  private checking: Promise<void> | null = null;
  /** Inputs that were set here. */
  private inputs = new Map<string, number>();
  /** A value of a slider that cannot be built; the engine keeps the last good one. */
  private refused: { name: string; value: number; why: string } | null = null;
  /** The last file that could be assembled, with the parameters that were set. */
  private good: { text: string; set: Map<string, string> };
  /** Longest step that fits into a frame, s. */
  private longest = 1 / 480;
  private behind = false;
  private clicked: string | null = null;

  constructor(readonly app: App, private readonly data: LiveData, readonly engine: Engine) {
    this.text = withLineFeeds(data.text);
    this.set = new Map(data.set ?? []);
    this.good = { text: this.text, set: new Map(this.set) };
    this.runner = engine.beside();
    this.checker = engine.beside();
    this.againButton.hidden = true;
    this.original = app.page;
    this.editor = new Editor({ changed: (text) => this.edit(text), save: () => this.saveFile(), share: () => void this.share() });
    this.editor.open(this.text);
    this.goButton.classList.add("go");
    this.panel.append(
      el("div", { class: "cardtools" }, this.goButton, button("Step", "Advance by one frame", () => this.step()), button("Reset", "Back to the start", () => this.reset()), this.speedBox),
      el("div", { class: "switches" }, el("label", {}, this.gravity, "gravity"), el("label", {}, this.motors, "motors")),
      this.status, this.busy, this.againButton, this.values, this.sliders);
    app.addTab("Live", this.panel, "Plots");
    app.addTab("Edit", this.editor.root, "Show");
    app.onShow.push((signal) => this.attach(signal));
    app.onFrame = (now) => this.frame(now);
    app.onAsked = () => this.leave();
    this.attach(new AbortController().signal);
    // A page of many cases gives values that its result was not computed with.
    const why = this.load(this.text, data.run === true);
    if (why === null) this.writeGiven();
    else { this.editor.complain(this.complaints); this.say(`${why}. The page plays its recording`, true); }
    app.openTab("Live");
  }

  // ---- the file ----

  /** Gives the engine a text with the values of the sliders; says why it is not a mechanism, and keeps the one before then. */
  private load(text: string, draw: boolean): string | null {
    const reply = this.engine.ask(this.file(text)) as Described;
    if (!reply.ok) {
      // A new engine knows nothing: give it the last good file again.
      if (reply["broken"]) this.engine.ask(this.file(this.good.text, this.good.set));
      this.complaints = reply.diagnostics ?? [];
      return reply.diagnostics?.[0]?.message ?? "the file is not a mechanism";
    }
    this.editor.complain(reply.diagnostics ?? []);
    this.runner.stop();
    this.checker.stop();
    this.pending = this.checked = this.checking = null;
    this.againButton.hidden = true;
    // Inputs stay what they were set to, as far as the mechanism has them and takes the values.
    for (const [name, value] of this.inputs) {
      const input = reply.inputs.find((i) => i.name === name);
      if (input && this.engine.ask({ do: "set", input: name, value }).ok) input.value = value;
      else this.inputs.delete(name);
    }
    this.text = text;
    this.described = reply;
    if (reply.assembled) this.good = { text, set: new Map(this.set) };
    this.index = new Map(reply.columns.map((c, k) => [c, k]));
    this.running = this.started = false;
    this.showButtons();
    this.buildSliders();
    if (draw) this.redraw();
    this.explainLater();
    const open = reply.diagnostics?.find((d) => !d.warning);
    if (!reply.assembled && open) {
      this.say(open.message, true);
      this.app.highlight(open.names);
    } else this.say(this.hint());
    return null;
  }
  /** The request for a file with values of parameters, under the settings that the page was made with. */
  private file(text: string, set = this.set): Record<string, unknown> { return { do: "load", text, set: [...set], study: this.data.study ?? {} }; }
  /** Values that the page was made with, as by `--set`, are written into the file: whoever saves or edits it has them. */
  private writeGiven(): void {
    const given = [...this.set], before = JSON.stringify(this.described!.parameters);
    let text = this.text;
    // Places behind a value move when it is written: the last one comes first.
    const places = given.map(([name, value]) => ({ at: this.place(name), value })).sort((a, b) => (b.at?.[0] ?? 0) - (a.at?.[0] ?? 0));
    if (!given.length || places.some((p) => !p.at)) return;
    const json = /^\s*\{/.test(text);
    for (const { at, value } of places) {
      const bare = Number.isFinite(Number(value)) || (!json && /^[-+\w.*/^() ]+$/.test(value));
      text = text.slice(0, at![0]) + (bare ? value : JSON.stringify(value)) + text.slice(at![1]);
    }
    const set = this.set;
    this.set = new Map();
    if (this.load(text, false) !== null || JSON.stringify(this.described!.parameters) !== before) { this.set = set; this.load(this.editor.text, false); return; }
    this.editor.open(text);
  }
  /** Location of the value of a parameter in the file, including its quotes. */
  private place(name: string): [number, number] | null {
    const found = this.described?.written.find(([n]) => n === name);
    if (!found) return null;
    const [, from, to] = found, quoted = /["']/.test(this.text[from - 1] ?? "") && this.text[from - 1] === this.text[to];
    return quoted ? [from - 1, to + 1] : [from, to];
  }
  /** What the engine had against the last file it refused. */
  private complaints: Complaint[] = [];

  private hint(): string { return "Drag a part: the joints stay closed. Press Let go for dynamics; click a part to see its values."; }

  private edit(text: string): void {
    const before = this.set;
    this.set = new Map();
    this.refused = null;
    this.lastRun = Infinity;
    const why = this.load(text, true);
    if (why === null) { this.buildSliders(true); return; }
    // The engine keeps the mechanism before, and so do the sliders, which wait until the file is good again.
    this.set = before;
    this.editor.complain(this.complaints);
    this.lock(true);
    this.say(`${why}. The scene shows the last valid file; Reset restores it`, true);
  }

  private saveFile(): void {
    // Lines end as they did in the file that was opened.
    const text = this.data.text.includes("\r\n") ? this.editor.text.replaceAll("\n", "\r\n") : this.editor.text;
    save(this.data.file || fileName(this.described?.title ?? "", ".yaml"), new Blob([text], { type: "text/yaml" }));
  }

  private async share(): Promise<void> {
    const page = (await this.motion()) ?? this.app.page, bad = this.editor.text !== this.text;
    if (page !== this.app.page) this.pending = page;
    const others = ((this.data.study?.["inputs"] ?? []) as [string, unknown][]).filter(([name]) => !this.inputs.has(name));
    const inputs = [...others, ...[...this.inputs].map(([name, value]): [string, unknown] => [name, { value }])];
    const study = { ...this.data.study, ...(inputs.length ? { inputs } : {}) };
    save(fileName(this.described?.title ?? "mechanism", ".html"), new Blob([sharedPage(page, { ...this.data, text: this.text, set: [...this.set], study })], { type: "text/html" }));
    if (bad) this.say("The page was saved with the last valid file: the one in the editor has errors", true);
  }

  /** Another mechanism, such as one of the gallery. */
  open(file: string, text: string): void {
    this.data.file = file;
    this.data.text = text;
    text = withLineFeeds(text);
    delete this.data.study;
    this.inputs.clear();
    this.set = new Map();
    this.refused = null;
    this.lastRun = Infinity;
    this.editor.open(text);
    this.leave();
    const why = this.load(text, true);
    if (why !== null) {
      this.editor.complain(this.complaints);
      this.lock(true);
      this.say(`${why}. The scene shows the previous mechanism`, true);
    } else this.app.stage.view(this.app.stage.draft.normal ? "normal" : "iso");
  }

  // ---- sliders ----

  /** Sliders are disabled while the file of the editor is not the one of the engine. */
  private lock(locked: boolean): void { for (const box of this.sliders.querySelectorAll("input")) box.disabled = locked; }
  /** Marks the slider whose value cannot be built. */
  private mark(): void {
    for (const row of this.sliders.querySelectorAll<HTMLElement>(".slider")) {
      const bad = this.refused !== null && row.querySelector("input")!.dataset["name"] === this.refused.name;
      row.classList.toggle("bad", bad);
      for (const box of row.querySelectorAll("input")) if (bad) box.setAttribute("aria-invalid", "true"); else box.removeAttribute("aria-invalid");
    }
  }
  /** Makes the sliders of the mechanism, or writes their values; `all` of them, or those alone that no one holds. */
  private buildSliders(all = false): void {
    const d = this.described;
    if (!d) return;
    const free = new Set(d.written.map(([n]) => n)), own = d.parameters.filter(([n]) => !d.unused.includes(n) && free.has(n)), known = [...this.sliders.querySelectorAll<HTMLInputElement>("input[type=range]")].map((i) => i.dataset["name"]);
    const wanted = [...own.map(([n]) => n), ...d.inputs.map((i) => i.name)];
    const values = new Map([...d.parameters, ...d.inputs.map((i): [string, number] => [i.name, i.value])]);
    // A slider that is held must stay the same element: only its number is written.
    if (known.join("\n") === wanted.join("\n")) {
      for (const box of this.sliders.querySelectorAll<HTMLInputElement>("input")) {
        const v = values.get(box.dataset["name"]!);
        if (v === undefined || (!all && (box === document.activeElement || box.dataset["name"] === this.refused?.name))) continue;
        if (box.type === "range") reach(box, v);
        box.value = box.type === "number" ? String(Number(v.toPrecision(6))) : String(v);
      }
      this.lock(false);
      this.mark();
      return;
    }
    const row = (name: string, unit: string, value: number, lo: number, hi: number, act: (v: number) => void, done: (v: number) => void) => {
      const range = el("input", { type: "range", min: String(lo), max: String(hi), step: "any", "data-name": name, "aria-label": name });
      range.value = String(value);
      const number = el("input", { type: "number", step: "any", "data-name": name, "aria-label": `${name}, number` });
      number.value = String(Number(value.toPrecision(6)));
      // Round numbers: a slider has some hundred places, and the file should read well.
      const digits = Math.max(0, 3 - Math.floor(Math.log10((hi - lo) || 1))), read = () => Number(Number(range.value).toFixed(Math.min(12, digits)));
      range.addEventListener("input", () => { number.value = String(read()); act(read()); });
      range.addEventListener("change", () => done(read()));
      number.addEventListener("change", () => { const v = Number(number.value); if (Number.isFinite(v) && number.value !== "") { act(v); if (this.refused?.name !== name) reach(range, v); range.value = number.value; done(v); } else number.value = String(Number(Number(range.value).toPrecision(6))); });
      return el("label", { class: "slider" }, el("span", {}, name, unit && unit !== "1" ? el("small", {}, ` ${unit}`) : null), range, number);
    };
    const parameters = own.map(([name, v]) => {
      const half = v === 0 ? 1 : Math.abs(v) * 0.5;
      const at = this.place(name);
      return row(name, at ? unitOf(this.text.slice(...at)) : "", v, v - half, v + half, (x) => this.slide(name, x), (x) => this.settle(name, x));
    });
    const inputs = d.inputs.map((i) => {
      const half = Math.max(Math.abs(i.value), 1);
      return row(i.name, i.unit, i.value, i.range[0] ?? i.value - half, i.range[1] ?? i.value + half, (x) => this.input(i.name, x), () => this.runLater());
    });
    this.sliders.replaceChildren(
      ...(parameters.length ? [el("h2", {}, "Parameters"), ...parameters] : []), ...(inputs.length ? [el("h2", {}, "Inputs"), ...inputs] : []));
  }

  /** A parameter while its slider moves. */
  private slide(name: string, value: number): void {
    const before = new Map(this.set);
    this.set.set(name, String(value));
    this.refused = null;
    const why = this.load(this.text, true);
    if (why === null) return;
    this.set = before;
    this.refused = { name, value, why };
    this.tellRefused();
  }
  /** A parameter whose slider was released: its value is written to the file, or the last one that could be built. */
  private settle(name: string, value: number): void {
    const refused = this.refused?.name === name, at = this.place(name), kept = this.described?.parameters.find(([n]) => n === name)?.[1];
    if (!at || (refused && (!this.set.has(name) || kept === undefined))) return;
    const text = this.text.slice(0, at[0]) + written(refused ? kept! : value, this.text.slice(...at)) + this.text.slice(at[1]);
    const before = new Map(this.set);
    this.set.delete(name);
    const why = this.load(text, false);
    if (why !== null) {
      this.set = before;
      this.refused = { name, value, why };
    } else {
      this.editor.change(text);
      this.editor.complain(this.described!.diagnostics ?? []);
      this.runLater();
    }
    this.tellRefused();
  }
  /** Says which value cannot be built, and what the mechanism has instead. */
  private tellRefused(): void {
    this.mark();
    if (!this.refused) return;
    const { name, value, why } = this.refused, kept = this.described?.parameters.find(([n]) => n === name)?.[1];
    this.say(`${name} = ${value} cannot be built: ${why}. The mechanism and the file keep ${name} = ${kept === undefined ? "its value" : format(kept)}; Reset restores the slider`, true);
  }
  private input(name: string, value: number): void {
    this.inputs.set(name, value);
    this.heed(this.engine.ask({ do: "set", input: name, value }));
    if (!this.running) this.showLive();
  }

  // ---- drawing ----

  private studyPage(): PageData | null {
    const before = performance.now(), reply = this.engine.ask({ do: "run" });
    this.lastRun = performance.now() - before;
    if (!reply.ok) this.heed(reply);
    return reply.ok ? (reply["page"] as PageData) : null;
  }

  /** The new mechanism: immediately with its motion if that is quick to compute; otherwise at rest, and with its motion a little later. */
  private redraw(): void {
    this.leave();
    const quick = this.described!.assembled && this.lastRun < QUICK ? this.studyPage() : null;
    if (quick) { this.show(quick); return; }
    const reply = this.engine.ask({ do: "still" });
    if (reply.ok) this.show(reply["page"] as PageData);
    this.runLater();
  }
  private runLater(): void {
    clearTimeout(this.later);
    this.runner.stop();
    this.later = window.setTimeout(() => {
      if (!this.described?.assembled) return;
      if (this.running || this.hand) this.runLater(); else void this.compute();
    }, 220);
  }
  /** The motion of the study, computed in a worker; null if it was stopped or there is none. */
  private async motion(): Promise<PageData | null> {
    const inputs = [...this.inputs].map(([input, value]) => ({ do: "set", input, value }));
    this.runSince = performance.now();
    let reply: Reply | null;
    try {
      reply = await this.runner.ask([this.file(this.text), ...inputs, { do: "run" }]);
    } catch {
      // A browser that makes no workers for such a page computes in the page.
      return this.studyPage();
    }
    if (!reply) return null;
    this.lastRun = this.runner.spent;
    if (!reply.ok) this.heed(reply);
    return reply.ok ? (reply["page"] as PageData) : null;
  }
  private async compute(): Promise<void> { const page = await this.motion(); if (page) this.pending = page; }
  private stopRun(): void {
    this.runner.stop();
    this.againButton.hidden = false;
  }
  /** Shows the computed motion, unless the reader holds the mechanism or has produced a motion; also shows the time of the computation in progress. */
  private deliver(): void {
    const seconds = this.runner.busy ? (performance.now() - this.runSince) / 1000 : 0, waits = seconds > 0.5;
    if (this.busy.hidden === waits) this.busy.hidden = !waits;
    if (waits) { const text = `The motion is being computed: ${Math.floor(seconds)} s `; if (this.busyText.textContent !== text) this.busyText.textContent = text; }
    const page = this.pending;
    if (!page || this.running || this.hand || this.adopted || this.app.motions[0]!.isLive) return;
    this.pending = null;
    this.show(page);
    if (this.data.run) this.app.clock.play(true);
    this.data.run = false;
  }
  private show(page: PageData): void {
    this.adopted = false;
    this.original = page;
    this.app.show(page);
    this.explainLater();
  }

  /** Shows the instant that the engine holds. */
  private showLive(): void {
    this.app.clock.playing = false;
    this.liveTime = this.app.clock.time;
    this.app.motions[0]!.setLive(this.engine.row(), this.index);
    this.app.refresh();
    this.tell();
  }
  /** Back to the recording, at the time whose pose is nearest to what was shown. */
  private leave(): void {
    const m = this.app.motions[0]!;
    this.running = false;
    this.showButtons();
    if (!m.isLive) return;
    const places = m.bodies.map((_, i) => [...m.pose(i, 0).r, ...m.pose(i, 0).p]);
    m.setLive(null);
    let best = this.app.clock.time, least = Infinity;
    if (this.app.clock.time === this.liveTime) for (const t of m.t) {
      const d = places.reduce((s, p, i) => { const q = m.pose(i, t); return s + Math.hypot(p[0]! - q.r[0], p[1]! - q.r[1], p[2]! - q.r[2]); }, 0);
      if (d < least) { least = d; best = t; }
    }
    this.app.clock.set(best);
  }

  private attach(signal: AbortSignal): void {
    holdOn(this.app, {
      ready: () => this.described?.assembled === true,
      taken: (grip) => {
        if (!this.running && !this.takePose()) return;
        this.hand = { ...grip };
      },
      moved: (grip) => {
        if (!this.hand) return;
        this.hand = { ...grip, to: [...grip.to] };
        if (!this.running) this.drag(grip);
      },
      released: () => { const held = this.hand !== null; this.hand = null; if (held && !this.running) this.say(this.hint()); },
      clicked: (name) => { this.clicked = name; this.tell(true); this.app.highlight(name ? [name] : []); },
    }, signal);
  }

  /** The engine takes up what the recording shows, with its velocities and states; false if it cannot. */
  private takePose(): boolean {
    const m = this.app.motions[0]!, t = this.app.clock.time, bodies = this.app.page.model.bodies;
    const event = changed(this.app.page.results[0]!.events ?? [], t);
    if (event && !m.isLive) {
      this.say(`Event ${event.name} has changed the mechanism by that time: go to an earlier time, or press Reset`, true);
      return false;
    }
    this.started = false;
    this.showButtons();
    if (m.isLive) return true;
    this.app.clock.playing = false;
    const wanted = new Set([
      ...bodies.flatMap((b) => ["v.x", "v.y", "v.z", "omega.x", "omega.y", "omega.z"].map((k) => `${b.name}.${k}`)),
      ...(this.app.page.model.joints ?? []).map((j) => `${j.name}.angle`), ...(this.described?.states ?? []),
    ]);
    const values = m.columns.filter((c) => wanted.has(c.name)).map((c): [string, number] => [c.name, m.value(c, t)]).filter(([, x]) => Number.isFinite(x));
    const poses = bodies.map((_, i) => { const p = m.pose(i, t), o = m.origin(i, p); return { o, q: [...p.p] }; });
    const reply = this.engine.ask({ do: "pose", t, origins: poses.map((p) => p.o), quaternions: poses.map((p) => p.q), values });
    if (!reply.ok) this.heed(reply);
    return reply.ok;
  }

  drag(grip: Grip): Reply {
    const reply = this.engine.ask({ do: "drag", body: grip.body, at: grip.at, to: grip.to });
    if (!reply.ok) { this.heed(reply); return reply; }
    const stopped = reply["stopped"] as { text: string; names: string[] } | null;
    this.say(stopped ? stopped.text : this.coordinates(), stopped !== null);
    this.app.highlight(stopped ? [grip.body, ...stopped.names] : []);
    this.showLive();
    return reply;
  }

  /** What the hand turns, in numbers. */
  private coordinates(): string {
    const row = this.engine.row(), out: string[] = [];
    for (const d of this.app.page.model.drives ?? []) {
      const angle = this.index.get(`${d.joint}.angle`), distance = this.index.get(`${d.joint}.distance`);
      if (d.kind !== "distance" && angle !== undefined) out.push(`${d.joint} = ${format((row[angle]! * 180) / Math.PI)}\u00b0`);
      else if (distance !== undefined) out.push(`${d.joint} = ${format(row[distance]!)} m`);
    }
    return out.slice(0, 4).join(", ") || this.hint();
  }

  // ---- dynamics ----

  private showButtons(): void { this.goButton.textContent = this.running ? "Pause" : this.started ? "Go on" : "Let go"; this.goButton.classList.toggle("on", this.running); }
  toggle(): void {
    if (this.running) { this.pause(); return; }
    if (this.starting) return;
    this.starting = true;
    // To start a large mechanism takes a while: the page says so first.
    if (!this.started) this.say("Starting the dynamics\u2026");
    window.setTimeout(() => {
      this.starting = false;
      if (!this.begin()) return;
      this.running = true;
      this.lastFrame = 0;
      this.showButtons();
    }, 30);
  }
  private starting = false;
  private begin(): boolean {
    if (this.started) return true;
    // What is computed beside waits: the mechanism that moves needs the processor.
    if (this.runner.busy) this.runLater();
    if (this.checker.busy) { this.checker.stop(); this.explainLater(); }
    if (!this.takePose()) return false;
    const reply = this.engine.ask({ do: "start", gravity: this.gravity.checked, motors: this.motors.checked });
    this.heed(reply);
    if (!reply.ok) return false;
    this.started = true;
    this.longest = 1 / 480;
    this.rows = [];
    this.happened = [];
    this.record();
    return true;
  }
  /** Gravity or motors were switched: the motion continues from here with the new setting. */
  private restart(box: HTMLInputElement): void {
    const was = this.running;
    this.started = this.running = false;
    this.showButtons();
    if (!was) return;
    this.showLive();
    if (this.begin()) { this.running = true; this.lastFrame = 0; }
    // The mechanism cannot be started again in this state: it continues as before.
    else { box.checked = !box.checked; this.started = true; this.pause(); }
    this.showButtons();
  }
  private pause(): void {
    this.running = false;
    this.showButtons();
    this.adopt();
    this.app.motions[0]!.setLive(null);
    this.app.clock.set(this.app.clock.end);
    this.liveTime = this.app.clock.time;
  }
  private step(): void {
    if (this.running) this.pause();
    if (!this.begin()) return;
    this.advance(1 / 60);
    this.adopt();
    this.app.motions[0]!.setLive(null);
    this.app.clock.set(this.app.clock.end);
  }
  reset(): void {
    this.running = this.started = false;
    this.hand = null;
    this.adopted = false;
    this.refused = null;
    this.app.motions[0]!.setLive(null);
    if (this.editor.text !== this.text || !this.described?.assembled) {
      // The last file that could be assembled, with its sliders; undo in the editor restores what was typed.
      this.set = new Map(this.good.set);
      this.editor.change(this.good.text);
      this.load(this.good.text, true);
    } else {
      this.engine.ask({ do: "reset" });
      for (const [input, value] of this.inputs) this.engine.ask({ do: "set", input, value });
      this.app.show(this.original);
    }
    this.buildSliders(true);
    this.app.jump(this.app.clock.start);
    this.showButtons();
    this.say(this.hint());
  }

  /** One step of the engine; false if it cannot continue. */
  advance(seconds: number): boolean {
    const reply = this.engine.ask({ do: "advance", by: seconds * Number(this.speedBox.value), ...(this.hand ? { hand: this.hand } : {}) });
    this.record();
    if (reply.ok) {
      this.happened.push(...(reply["events"] as Happened[]));
      const last = this.happened[this.happened.length - 1];
      this.say(`t = ${format(reply["t"] as number)} s \u00b7 ${reply["how"] as string}${last ? ` \u00b7 ${words(last)} at ${format(last.t)} s` : ""}${this.behind ? " \u00b7 slower than real time" : ""}`);
      return true;
    }
    this.heed(reply);
    this.started = false;
    return false;
  }
  private record(): void {
    const row = this.engine.row();
    this.app.motions[0]!.setLive(row, this.index);
    if (!this.rows.length || row[0]! > this.rows[this.rows.length - 1]![0]!) this.rows.push(row);
    if (this.rows.length > MOST_ROWS) this.rows = this.rows.filter((_, k) => k % 2 === 0);
  }
  private adopt(): void {
    if (this.rows.length < 2) return;
    this.adopted = true;
    this.app.adopt(this.rows, this.index, this.happened);
    this.original = this.original ?? this.app.page;
  }

  private frame(now: number): void {
    const m = this.app.motions[0]!;
    if (this.running) {
      const dt = this.lastFrame === 0 ? 1 / 60 : Math.min(0.1, (now - this.lastFrame) / 1000);
      this.lastFrame = now;
      // A slow screen still records sixty rows a second, and a slow mechanism does not hold up the page: it moves slower than real time.
      const part = dt / Math.max(1, Math.ceil(dt * 60 - 0.5)), until = performance.now() + FRAME;
      let fine = true, left = dt;
      while (fine && left > 1e-9 && performance.now() < until) {
        const by = Math.min(left, part, this.longest), before = performance.now();
        fine = this.advance(by);
        left -= by;
        const spent = performance.now() - before;
        if (spent > FRAME) this.longest = Math.max(1e-6, by * Math.max(0.1, (0.5 * FRAME) / spent));
        else if (spent < 0.25 * FRAME) this.longest = Math.min(0.1, Math.max(this.longest, by) * 2);
      }
      this.behind = left > 0.5 * dt;
      this.app.clock.time = this.liveTime = this.app.clock.end;
      if (now - this.lastDraw > 250) { this.lastDraw = now; this.adopt(); this.app.clock.time = this.app.clock.end; this.tell(); }
      this.app.refresh();
      if (!fine) this.pause();
      return;
    }
    this.deliver();
    if (this.clicked !== null && this.app.clock.time !== this.toldAt) this.tell();
    // The reader plays or moves the time bar: the recording is shown again.
    if (m.isLive && !this.hand && (this.app.clock.playing || this.app.clock.time !== this.liveTime)) this.leave();
  }

  // ---- words ----

  private say(text: string, warn = false): void {
    const plain = text.replaceAll("`", "");
    if (this.status.textContent !== plain) this.status.textContent = plain;
    this.status.classList.toggle("warn", warn);
  }
  private heed(reply: Reply): void {
    const first = (reply.diagnostics ?? [])[0] as Complaint | undefined;
    if (reply.ok || !first) return;
    this.say(first.help ? `${first.message}; ${first.help}` : first.message, true);
    if (first.names.length) this.app.highlight(first.names);
    // A new engine knows nothing: give it the file again.
    if (reply["broken"]) this.engine.ask(this.file(this.text));
  }

  private lastTold = 0;
  /** The time whose values are shown. */
  private toldAt = NaN;
  /** Values of the part that was clicked. */
  private tell(now = false): void {
    if (!now && performance.now() - this.lastTold < 90) return;
    this.lastTold = performance.now();
    this.toldAt = this.app.clock.time;
    const name = this.clicked, m = this.app.motions[0]!;
    if (name === null) { this.values.replaceChildren(); return; }
    const rows = valuesOf(m, this.app.page.model.bodies.findIndex((b) => b.name === name), name, this.app.clock.time);
    this.values.replaceChildren(el("h2", {}, name, button("", "Close", () => { this.clicked = null; this.tell(true); this.app.highlight([]); }, "close")),
      el("dl", {}, ...rows.flatMap(([k, v]) => [el("dt", {}, k), el("dd", {}, v)])));
  }

  private explaining = 0;
  /** What `check` says, once the page has nothing more urgent to do. */
  private explainLater(): void {
    clearTimeout(this.explaining);
    this.explaining = window.setTimeout(() => { if (!this.running && !this.hand) this.explain(); else this.explainLater(); }, 600);
  }
  explain(): Promise<void> {
    if (this.checked) { this.explained(this.checked); return Promise.resolve(); }
    const checking = this.checking ??= this.checker.ask([this.file(this.text), { do: "check" }]).catch(() => this.engine.ask({ do: "check" })).then((reply) => {
      if (this.checking !== checking) return;
      this.checking = null;
      if (!reply?.ok) return;
      this.checked = reply;
      this.explained(reply);
    });
    return checking;
  }
  private explained(reply: Reply): void {
    const own = (this.original.diagnosis ?? []).filter((s) => /Work of|not unique|leaves out/.test(s.title));
    const { sections, times } = explanation(reply, this.app.catalogue, (number) => this.mode(number));
    this.app.showDiagnosis([...sections, ...own], times);
  }

  private mode(number: number): void {
    const reply = this.engine.ask({ do: "mode", number });
    this.heed(reply);
    if (!reply.ok) return;
    this.started = false;
    if (!this.app.switches.ghost.on) this.app.toggle("ghost", true);
    this.showLive();
  }

  /** For tests. */
  state(): object {
    return {
      running: this.running, text: this.editor.text, complaints: this.editor.complaints, status: this.status.textContent, warn: this.status.classList.contains("warn"),
      parameters: Object.fromEntries(this.described?.parameters ?? []), engineText: this.text, assembled: this.described?.assembled ?? false, computing: this.runner.busy,
      columns: this.described?.columns ?? [], row: Array.from(this.engine.row()), memory: this.engine.memoryBytes, rows: this.rows.length,
    };
  }
}
