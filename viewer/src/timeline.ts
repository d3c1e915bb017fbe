// The bar below the scene: buttons, scrubber with marks of events, speed, clock.

import { SPEEDS, type Clock } from "./clock";
import type { Happened, Section } from "./data";
import { eventMarks } from "./events";
import { button, el, icon } from "./ui";

export class Timeline {
  readonly root = el("footer", {});
  private readonly slider = el("input", { type: "range", min: "0", max: "1", step: "any", "aria-label": "Time" });
  private readonly playButton: HTMLButtonElement;
  private readonly loopButton: HTMLButtonElement;
  private readonly clockText = el("span", { class: "clock" });
  private readonly speedBox: HTMLSelectElement;
  private wasPlaying: boolean | null = null;
  private digits = 3;

  constructor(private readonly clock: Clock, diagnosis: Section[], events: Happened[]) {
    this.playButton = button("", "Play or pause (space)", () => clock.play(), "play");
    this.playButton.classList.add("play");
    this.loopButton = button("", "Repeat", () => { clock.loop = !clock.loop; this.update(); }, "loop");
    this.speedBox = el("select", { title: "Speed (arrow up, arrow down)", "aria-label": "Speed", onchange: () => { clock.speed = Number(this.speedBox.value); } },
      ...SPEEDS.map((s) => el("option", { value: String(s) }, `${s}\u00d7`)));
    this.loopButton.classList.add("optional");
    const track = el("div", { class: "track" }, this.slider);
    this.track = track;
    this.mark(diagnosis, events);
    const optional = (b: HTMLButtonElement) => { b.classList.add("optional"); return b; };
    this.slider.addEventListener("input", () => { clock.playing = false; clock.set(clock.start + Number(this.slider.value) * (clock.end - clock.start)); });
    this.root.append(this.playButton,
      optional(button("", "To the start (Home)", () => { clock.play(false); clock.set(clock.start); }, "first")),
      button("", "One sample back (arrow left)", () => clock.step(-1), "back"),
      button("", "One sample forward (arrow right)", () => clock.step(1), "next"),
      optional(button("", "To the end (End)", () => { clock.play(false); clock.set(clock.end); }, "last")),
      this.loopButton, track, this.clockText, this.speedBox);
    this.update();
  }

  /** Marks of what the diagnosis says about times, above the bar, and of events, below it. */
  mark(diagnosis: Section[], events: Happened[]): void {
    const clock = this.clock, span = clock.end - clock.start;
    for (const old of this.track.querySelectorAll(".mark")) old.remove();
    if (!(span > 0)) return;
    const put = (time: number, text: string, kind: string) => {
      const mark = el("button", { class: kind, type: "button", title: text, "aria-label": `Jump to: ${text}`, onclick: () => { clock.play(false); clock.set(time); } });
      // The thumb of a range input does not reach its ends: half its width stays free on each side.
      mark.style.left = `calc(8px + (100% - 16px) * ${(time - clock.start) / span})`;
      this.track.append(mark);
    };
    for (const s of diagnosis) for (const l of s.lines) if (l.time !== undefined) put(l.time, l.text, "mark");
    for (const m of eventMarks(events, clock.start, span)) put(m.time, m.text, "mark event");
  }
  private readonly track: HTMLElement;

  update(): void {
    const c = this.clock, span = c.end - c.start;
    this.digits = Math.max(0, Math.min(7, 3 - Math.floor(Math.log10(span > 0 ? span : 1))));
    this.slider.value = String(span > 0 ? (c.time - c.start) / span : 0);
    this.clockText.replaceChildren(`${c.time.toFixed(this.digits)} `, el("small", {}, `/ ${Number(c.end.toFixed(this.digits))} s`));
    if (this.wasPlaying !== c.playing) {
      this.wasPlaying = c.playing;
      this.playButton.replaceChildren(icon(c.playing ? "pause" : "play"));
    }
    this.loopButton.classList.toggle("on", c.loop);
    if (this.speedBox.value !== String(c.speed)) this.speedBox.value = String(c.speed);
  }
}
