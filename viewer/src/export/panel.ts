// The tab of exports: animation, model in motion, picture, data.

import type { App } from "../app";
import { button, el, fileName, save } from "../ui";
import { toCsv } from "./csv";
import { toGlb } from "./gltf";
import { canRecord, makeGif, recordWebm, type Film } from "./video";

/** Longest film, in seconds; longer motions are shown faster. */
const LONGEST = 30;

export class Exporter {
  private stop = false;
  constructor(private readonly app: App) {}

  private name(end: string): string { return fileName(this.app.page.model.title, end); }
  get filmSeconds(): number { return Math.min(LONGEST, Math.max(0.5, (this.app.clock.end - this.app.clock.start) / this.app.clock.speed)); }

  private async film(what: string, make: (film: Film) => Promise<Blob | null>, end: string): Promise<void> {
    const { app } = this, text = el("span", {}, what), bar = el("progress", { max: "1", value: "0" }), begun = performance.now();
    this.stop = false;
    const busy = el("div", { class: "busy", role: "status" }, text, bar, button("Stop", "Stop", () => { this.stop = true; }));
    const before = app.clock.time;
    app.clock.playing = false;
    app.frozen = true;
    app.scene.append(busy);
    try {
      const blob = await make({
        canvas: app.stage.canvas, start: app.clock.start, end: app.clock.end, speed: app.clock.speed,
        show: (t) => { app.clock.set(t); app.stage.render(true); }, stopped: () => this.stop,
        progress: (s) => {
          bar.value = s;
          const left = s > 0.02 ? Math.ceil(((performance.now() - begun) / 1000) * (1 / s - 1)) : 0;
          text.textContent = `${what} ${Math.round(100 * s)} %${left > 1 ? `, about ${left} s left` : ""}`;
        },
      });
      if (blob) save(this.name(end), blob);
    } finally {
      app.frozen = false;
      busy.remove();
      app.clock.set(before);
    }
  }

  webm(seconds = this.filmSeconds): Promise<void> { return this.film("Recording", (f) => recordWebm(f, seconds), ".webm"); }
  gif(seconds = Math.min(12, this.filmSeconds)): Promise<void> { return this.film("Writing the GIF", (f) => makeGif(f, seconds), ".gif"); }
  glb(): void { save(this.name(".glb"), toGlb(this.app.stage, this.app.page.model.title)); }

  async picture(): Promise<void> {
    this.app.stage.render(true);
    const blob = await new Promise<Blob | null>((done) => this.app.stage.canvas.toBlob(done, "image/png"));
    if (blob) save(this.name(".png"), blob);
  }

  csv(): void {
    const { app } = this, columns = app.motions.flatMap((m, r) => app.catalogue.entries.flatMap((e) => {
      const column = app.catalogue.get(e.name, r);
      return column ? [{ name: app.motions.length > 1 ? `${e.name} (${m.label})` : e.name, column }] : [];
    }));
    save(this.name(".csv"), new Blob([toCsv(columns)], { type: "text/csv" }));
  }
}

export function exportPanel(app: App): HTMLElement {
  const x = app.exporter;
  const row = (b: HTMLButtonElement, text: string) => el("div", { class: "row" }, b, el("span", { class: "hint" }, text));
  const webm = button("WebM video", "Record the animation as WebM", () => void x.webm());
  webm.disabled = canRecord() === null;
  return el("div", { class: "exports" },
    el("h2", {}, "The animation"),
    row(webm, webm.disabled ? "this browser cannot record; use the GIF" : "as shown now, at the chosen speed; recording takes as long as the video"),
    row(button("GIF video", "Make an animated GIF", () => void x.gif()), "640 pixels wide, at most 12 s"),
    row(button("Animated glTF", "Save bodies and motion as binary glTF", () => x.glb()), ".glb for any 3D program"),
    row(button("Picture", "Save the scene as PNG", () => void x.picture()), "PNG of the scene"),
    el("h2", {}, "The numbers"),
    row(button("All columns as CSV", "Save every column of this page", () => x.csv()), "rounded as in this page; the CSV file of the result has all digits"),
    el("p", { class: "hint" }, "Each plot has its own SVG, PNG and CSV buttons."));
}
