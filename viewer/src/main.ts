// Starts the page, and offers `window.fourbar`: a small view of its state for tests and scripts.
// The address may end in #t=0.5&play=0&theme=dark&panel=0&plain=1&view=iso&show=traces,reactions for pictures of the page.

import { App } from "./app";
import { readPage } from "./data";
import { warningCount } from "./diagnosis";
import { RESULT_COLORS, type View } from "./scene/stage";
import { Engine } from "./live/engine";
import { Live } from "./live/live";
import { playground } from "./live/playground";
import { el, saved } from "./ui";

function options(app: App): void {
  const o = new URLSearchParams(location.hash.slice(1));
  if (o.get("theme") === "dark" || o.get("theme") === "light") app.chooseTheme(o.get("theme") as "dark" | "light");
  if (o.get("plain") === "1") document.getElementById("app")!.classList.add("plain");
  if (o.get("panel") === "0") app.togglePanel(false);
  const view = o.get("view");
  if (view && ["front", "back", "left", "right", "top", "bottom", "iso", "normal"].includes(view)) app.stage.view(view as View);
  for (const name of (o.get("show") ?? "").split(",")) if (Object.hasOwn(app.switches, name)) app.toggle(name as keyof App["switches"], true);
  const tab = o.get("tab");
  if (tab) app.openTab(tab);
  const t = Number(o.get("t"));
  if (o.has("t") && Number.isFinite(t)) app.jump(t);
  const still = window.matchMedia?.("(prefers-reduced-motion: reduce)").matches;
  if (o.get("play") !== "0" && !o.has("t") && !still) app.clock.play(true);
}

function api(app: App): object {
  const result = (r: number) => { const c = app.stage.casts[r]; if (!c) throw new Error(`no result ${r}`); return c; };
  return Object.freeze({
    time: () => app.clock.time,
    start: () => app.clock.start,
    end: () => app.clock.end,
    playing: () => app.clock.playing,
    setTime: (t: number) => { app.jump(t); app.stage.render(true); },
    play: (on: boolean) => app.clock.play(on),
    sampleTimes: (r = 0) => Array.from(app.motions[r]!.t),
    /** As drawn: read back from the texture that moves the scene. */
    bodyPose: (name: string, r = 0) => {
      const i = app.page.model.bodies.findIndex((b) => b.name === name);
      if (i < 0) throw new Error(`no body ${name}`);
      const p = result(r).poses, k = 8 * (i + 1), com = app.page.model.bodies[i]!.com ?? [0, 0, 0];
      return { origin: Array.from(p.slice(k, k + 3)), quaternion: [p[k + 7], p[k + 4], p[k + 5], p[k + 6]], com };
    },
    counts: () => ({
      bodies: app.page.model.bodies.length, joints: app.page.model.joints?.length ?? 0, results: app.motions.length, columns: app.catalogue.entries.length,
      triangles: app.stage.renderer?.info.render.triangles ?? 0, calls: app.stage.renderer?.info.render.calls ?? 0, traces: app.overlays.traced.length,
      reactions: app.overlays.reactionCount, contacts: app.overlays.contactCount, plots: app.plots.cards.length, warnings: warningCount(app.page.diagnosis ?? []),
    }),
    traced: () => app.overlays.traced,
    plots: () => app.plots.cards.map((c) => ({ names: [...c.names], over: c.over, log: c.isLog, curves: c.curveCount, readout: c.readout() })),
    plotRange: () => [...app.plots.range],
    value: (name: string, t: number, r = 0) => { const c = app.catalogue.get(name, r); return c ? { unit: c.unit, exact: app.catalogue.isExact(name, r), samples: c.t.length, at: at(c, t) } : null; },
    follow: (name: string | null) => app.stage.follow(name === null ? null : app.page.model.bodies.findIndex((b) => b.name === name)),
    lit: () => app.stage.highlighted.map((id) => app.stage.draft.name(id)?.name),
    visible: (r: number) => result(r).group.visible,
    resultColors: () => RESULT_COLORS.slice(0, app.motions.length),
    pick: (x: number, y: number) => app.stage.draft.name(app.stage.pick(x, y)),
    /** Where a place of a body is on the screen; its centre of mass unless given. */
    screen: (name: string, r = 0, at?: [number, number, number]) => {
      const i = app.page.model.bodies.findIndex((b) => b.name === name), m = result(r).motion;
      return app.stage.screen(at ? m.place(i, at, app.clock.time) : m.pose(i, app.clock.time).r);
    },
    saved: () => saved.map((s) => ({ name: s.name, type: s.type, size: s.size })),
    savedBytes: async (k: number) => Array.from(new Uint8Array(await saved[k]!.blob.arrayBuffer())),
    gif: (seconds: number) => app.exporter.gif(seconds),
    webm: (seconds: number) => app.exporter.webm(seconds),
    /** Mean milliseconds to set a new time and draw, over `frames` frames. */
    bench: (frames: number) => {
      const gl = app.stage.renderer!.getContext(), one = new Uint8Array(4), before = performance.now();
      for (let k = 0; k < frames; k++) {
        app.clock.set(app.clock.start + ((app.clock.end - app.clock.start) * k) / frames);
        app.stage.render(true);
        // Reading a pixel back waits until the frame is really drawn.
        gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, one);
      }
      return (performance.now() - before) / frames;
    },
  });
}

/** Waits until the first picture is on the screen, so that the engine does not take processor time from it; at most a second, because a hidden page draws nothing. */
const drawn = () => new Promise<void>((done) => {
  setTimeout(done, 1000);
  if (PerformanceObserver.supportedEntryTypes?.includes("paint")) new PerformanceObserver(() => done()).observe({ type: "paint", buffered: true });
  else requestAnimationFrame(() => setTimeout(done));
});

/** The live page for tests and scripts. */
function liveApi(live: Live): object {
  return Object.freeze({
    ask: (request: Record<string, unknown>) => live.engine.ask(request),
    row: () => Array.from(live.engine.row()),
    state: () => live.state(),
    drag: (body: string, at: [number, number, number], to: [number, number, number]) => live.drag({ body, at, to }),
    toggle: () => live.toggle(), reset: () => live.reset(), advance: (s: number) => live.advance(s), explain: () => live.explain(),
    open: (file: string, text: string) => live.open(file, text), undo: () => live.editor.undo(),
  });
}

const at = (c: { t: Float64Array; y: Float64Array }, t: number): number => {
  let k = 0;
  while (k < c.t.length - 1 && Math.abs(c.t[k + 1]! - t) <= Math.abs(c.t[k]! - t)) k++;
  return c.y[k]!;
};

const root = document.getElementById("app")!;
try {
  const app = new App(readPage(document.getElementById("fourbar-data")!.textContent ?? ""), root);
  options(app);
  Object.defineProperty(window, "fourbar", { value: api(app), enumerable: false });
  const data = app.page.live, engine = document.getElementById("fourbar-engine")?.textContent ?? "";
  // Without WebAssembly the page still plays its recording.
  if (data && engine) void drawn().then(() => Engine.of(engine)).then((e) => {
    const live = new Live(app, data, e);
    if (data.gallery) playground(live, data.gallery);
    const tab = new URLSearchParams(location.hash.slice(1)).get("tab");
    if (tab) app.openTab(tab);
    Object.defineProperty(window, "live", { value: liveApi(live), enumerable: false });
  }).catch((e: unknown) => {
    app.showDiagnosis([...(app.page.diagnosis ?? []), { title: "The engine", lines: [{ level: "warn", text: `The engine of this live page cannot run here (${e instanceof Error ? e.message : String(e)}): the page plays its recording.` }] }]);
    Object.defineProperty(window, "live", { value: null, enumerable: false });
  });
} catch (e) {
  const text = e instanceof Error ? e.message : String(e);
  root.replaceChildren(el("div", { class: "failure" }, el("h1", {}, "This page cannot be shown"), el("p", {}, text),
    el("p", { class: "hint" }, "The data of this page do not have the expected form.")));
  console.error(text);
}
