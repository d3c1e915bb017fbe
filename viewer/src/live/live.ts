// The live page: the mechanism in the hand, sliders, the file, and what `check` says. The engine computes, the page draws.

import type { App } from "../app";
import type { Happened, Line, PageData, Section } from "../data";
import { words } from "../events";
import { valueAt } from "../motion";
import { button, el, fileName, format, save } from "../ui";
import { Editor, isFree, unitOf, withParameter } from "./editor";
import type { Beside, Complaint, Described, Engine, Reply } from "./engine";
import { holdOn, type Grip } from "./hand";
import { sharedPage } from "./share";

/** The file of a live page, and the shipped models of a playground. */
export interface LiveData { file: string; text: string; set?: [string, string][]; run?: boolean; gallery?: Shipped[] }
/** A shipped model of a playground. */
export interface Shipped { name: string; group?: string; title: string; purpose?: string; text: string }

/** Rows that a recording keeps; a longer one is thinned out. */
const MOST_ROWS = 6000;
/** A study that runs faster than this follows a slider at once; milliseconds. */
const QUICK = 70;
/** The engine may hold up a frame this long while the mechanism moves by itself; milliseconds. */
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
  private readonly gravity = el("input", { type: "checkbox", checked: true, onchange: () => this.restart() });
  private readonly motors = el("input", { type: "checkbox", checked: true, onchange: () => this.restart() });
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
  /** Engines in workers: one runs the study, one says what `check` says. The page goes on while they do. */
  private readonly runner: Beside;
  private readonly checker: Beside;
  private runSince = 0;
  /** Whether the time bar has a motion that the reader started. */
  private adopted = false;
  /** A motion that is computed and waits until the hand lets go. */
  private pending: PageData | null = null;
  private checked: Reply | null = null;
  private checking: Promise<void> | null = null;
  /** Inputs that have another value than in the file. */
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
    this.text = data.text;
    this.set = new Map(data.set ?? []);
    this.good = { text: data.text, set: new Map(this.set) };
    this.runner = engine.beside();
    this.checker = engine.beside();
    this.againButton.hidden = true;
    this.original = app.page;
    this.editor = new Editor({ changed: (text) => this.edit(text), save: () => this.saveFile(), share: () => void this.share() });
    this.editor.open(data.text);
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
    this.load(data.text, data.run === true);
    app.openTab("Live");
  }

  // ---- the file ----

  /** Gives the engine a text with the values of the sliders; says why it is not a mechanism, and keeps the one before then. */
  private load(text: string, draw: boolean): string | null {
    const reply = this.engine.ask({ do: "load", text, set: [...this.set] }) as Described;
    if (!reply.ok) {
      // A new engine knows nothing: give it the last good file again.
      if (reply["broken"]) this.engine.ask({ do: "load", text: this.good.text, set: [...this.good.set] });
      this.complaints = reply.diagnostics ?? [];
      return reply.diagnostics?.[0]?.message ?? "the file is not a mechanism";
    }
    this.editor.complain(reply.diagnostics ?? []);
    this.runner.stop();
    this.checker.stop();
    this.pending = this.checked = this.checking = null;
    this.againButton.hidden = true;
    this.inputs.clear();
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
  /** What the engine had against the last file it refused. */
  private complaints: Complaint[] = [];

  private hint(): string { return "Drag a part: the joints stay closed. Let go for dynamics; click a part for its values."; }

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
    this.say(`${why}. The scene shows the last file that could be read; Reset brings it back`, true);
  }

  private saveFile(): void { save(this.data.file || fileName(this.described?.title ?? "", ".yaml"), new Blob([this.editor.text], { type: "text/yaml" })); }

  private async share(): Promise<void> {
    const page = (await this.motion()) ?? this.app.page;
    if (page !== this.app.page) this.pending = page;
    save(fileName(this.described?.title ?? "mechanism", ".html"), new Blob([sharedPage(page, { ...this.data, text: this.editor.text, set: [...this.set] })], { type: "text/html" }));
  }

  /** Another mechanism, such as one of the gallery. */
  open(file: string, text: string): void {
    this.data.file = file;
    this.set = new Map();
    this.refused = null;
    this.lastRun = Infinity;
    this.editor.open(text);
    this.leave();
    const why = this.load(text, true);
    if (why !== null) {
      this.editor.complain(this.complaints);
      this.lock(true);
      this.say(`${why}. The scene shows the mechanism before`, true);
    } else this.app.stage.view(this.app.stage.draft.normal ? "normal" : "iso");
  }

  // ---- sliders ----

  /** Sliders stand still while the file of the editor is not the one of the engine. */
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
    const d = this.described!, names = new Set(d.parameters.map(([n]) => n)), own = d.parameters.filter(([n]) => !d.unused.includes(n) && isFree(this.text, n, names)), known = [...this.sliders.querySelectorAll<HTMLInputElement>("input[type=range]")].map((i) => i.dataset["name"]);
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
      number.addEventListener("change", () => { const v = Number(number.value); if (Number.isFinite(v) && number.value !== "") { act(v); if (this.refused?.name !== name) reach(range, v); range.value = number.value; done(v); } });
      return el("label", { class: "slider" }, el("span", {}, name, unit && unit !== "1" ? el("small", {}, ` ${unit}`) : null), range, number);
    };
    const parameters = own.map(([name, v]) => {
      const half = v === 0 ? 1 : Math.abs(v) * 0.5;
      return row(name, unitOf(this.text, name), v, v - half, v + half, (x) => this.slide(name, x), (x) => this.settle(name, x));
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
  /** A parameter whose slider was let go: its value goes into the file, or the last one that could be built. */
  private settle(name: string, value: number): void {
    const refused = this.refused?.name === name, given = this.set.get(name);
    if (refused && given === undefined) return;
    const text = withParameter(this.text, name, refused ? Number(given) : value);
    if (text === null) return;
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
    this.say(`${name} = ${value} cannot be built: ${why}. The mechanism and the file keep ${name} = ${kept === undefined ? "its value" : format(kept)}; Reset brings the slider back`, true);
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

  /** The new mechanism: with its motion at once where that is quick, else as it stands, and the motion a little later. */
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
  /** The motion of the study, computed beside the page; none where it was stopped or there is none. */
  private async motion(): Promise<PageData | null> {
    const inputs = [...this.inputs].map(([input, value]) => ({ do: "set", input, value }));
    this.runSince = performance.now();
    let reply: Reply | null;
    try {
      reply = await this.runner.ask([{ do: "load", text: this.text, set: [...this.set] }, ...inputs, { do: "run" }]);
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
  /** Shows the computed motion, unless the reader holds the mechanism or has made a motion by hand; and how long the one under way takes. */
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
        if (this.running) { this.hand = { ...grip }; return; }
        this.takePose();
        this.hand = { ...grip };
      },
      moved: (grip) => {
        this.hand = { ...grip, to: [...grip.to] };
        if (!this.running) this.drag(grip);
      },
      released: () => { this.hand = null; if (!this.running) this.say(this.hint()); },
      clicked: (name) => { this.clicked = name; this.tell(true); this.app.highlight(name ? [name] : []); },
    }, signal);
  }

  /** The engine stands where the recording is shown: each body is dragged there, which a closed pose allows. */
  private takePose(): void {
    const m = this.app.motions[0]!;
    this.started = false;
    if (m.isLive) return;
    this.app.clock.playing = false;
    const t = this.app.clock.time, bodies = this.app.page.model.bodies;
    const poses = bodies.map((_, i) => { const p = m.pose(i, t), o = m.origin(i, p); return { o, q: [...p.p] }; });
    const reply = this.engine.ask({ do: "pose", t, origins: poses.map((p) => p.o), quaternions: poses.map((p) => p.q) });
    if (!reply.ok) this.heed(reply);
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
    if (!this.started) this.say("The dynamics are being started\u2026");
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
    this.takePose();
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
  private restart(): void {
    const was = this.running;
    this.started = this.running = false;
    this.showButtons();
    if (was) { this.showLive(); this.toggle(); }
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
      // The last file that could be assembled, with its sliders; undo in the editor gives back what was typed.
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

  /** One step of the engine; false where it cannot go on. */
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
    if (reply["broken"]) this.engine.ask({ do: "load", text: this.text, set: [...this.set] });
  }

  private lastTold = 0;
  /** Values of the part that was clicked. */
  private tell(now = false): void {
    if (!now && performance.now() - this.lastTold < 90) return;
    this.lastTold = performance.now();
    const name = this.clicked, m = this.app.motions[0]!;
    if (name === null) { this.values.replaceChildren(); return; }
    const columns = m.columns.filter((c) => c.name.startsWith(`${name}.`)), body = this.app.page.model.bodies.findIndex((b) => b.name === name);
    const rows: [string, string][] = [];
    if (body >= 0) rows.push(["position", m.pose(body, this.app.clock.time).r.map((x) => format(x)).join(", ") + " m"]);
    const done = new Set<string>();
    for (const c of columns) {
      const part = c.name.slice(name.length + 1), stem = part.replace(/\.[xyz]$/, "");
      if (done.has(stem)) continue;
      done.add(stem);
      const all = stem === part ? [c] : ["x", "y", "z"].map((a) => columns.find((o) => o.name === `${name}.${stem}.${a}`)).filter((o) => o !== undefined);
      const numbers = all.map((o) => m.value(o, this.app.clock.time)), size = numbers.length === 3 ? `  (${format(Math.hypot(...numbers))})` : "";
      rows.push([stem, `${numbers.map((x) => format(x)).join(", ")} ${c.unit === "1" ? "" : c.unit}${size}`]);
    }
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
    const text = this.text, request = { do: "load", text, set: [...this.set] };
    const checking = this.checking ??= this.checker.ask([request, { do: "check" }]).catch(() => this.engine.ask({ do: "check" })).then((reply) => {
      if (this.checking !== checking) return;
      this.checking = null;
      if (!reply?.ok) return;
      this.checked = reply;
      this.explained(reply);
    });
    return checking;
  }
  private explained(reply: Reply): void {
    const sections: Section[] = [{ title: (reply["headline"] as string).replaceAll("`", ""), lines: [] }];
    for (const f of reply["facts"] as { label: string; text: string }[]) {
      // An option of the command line is of no use here: the page lists the modes itself.
      const text = f.text.replace("; `--assembly-modes FILE.html` draws them", "");
      if (f.label) sections.push({ title: f.label[0]!.toUpperCase() + f.label.slice(1), lines: [] });
      sections[sections.length - 1]!.lines.push({ text: text.replaceAll("`", "") });
    }
    const modes = reply["modes"] as string[];
    if (modes.length) sections.push({ title: "Assembly modes: press one to see it", lines: modes.map((text, number): Line => ({ text: text.replaceAll("`", ""), act: { text: "show", run: () => this.mode(number) } })) });
    const events = this.events(reply["events"] as { joint: string; what: string; value: number; names: string[] }[]);
    if (events.length) sections.push({ title: "Singular positions of this motion", lines: events });
    const notes = (reply.diagnostics ?? []).map((d): Line => ({ text: `${d.message}${d.help ? `; ${d.help}` : ""} [${d.code}]`, level: "warn", names: d.names }));
    if (notes.length) sections.push({ title: "Warnings", lines: notes });
    const own = (this.original.diagnosis ?? []).filter((s) => /Work of|not unique|leaves out/.test(s.title));
    this.app.showDiagnosis([...sections, ...own], events.map((e) => e.time!));
  }

  /** When the motion passes singular positions. */
  private events(list: { joint: string; what: string; value: number; names: string[] }[]): Line[] {
    const out: Line[] = [];
    for (const e of list) {
      const c = this.app.catalogue.get(`${e.joint}.${e.what}`, 0);
      if (!c || c.t.length < 3) continue;
      const turn = e.what === "angle" ? 2 * Math.PI : 0, off = (k: number) => { const d = c.y[k]! - e.value; return turn ? d - turn * Math.round(d / turn) : d; };
      for (let k = 0; k + 1 < c.t.length && out.length < 40; k++) {
        const a = off(k), b = off(k + 1);
        if (a === 0 || (a < 0) === (b < 0) || Math.abs(a - b) > 1) continue;
        const time = c.t[k]! + ((c.t[k + 1]! - c.t[k]!) * a) / (a - b);
        out.push({ text: `${e.joint} ${e.what} = ${format(valueAt(c, time))}: ${e.names.join(", ")}`, time, names: [e.joint, ...e.names] });
      }
    }
    return out;
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
