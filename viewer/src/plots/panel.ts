// The plots beside the scene: cards that share one span of time and one cursor.

import { button, el } from "../ui";
import { Card, type Host } from "./card";
import type { ChartLook } from "./chart";
import type { PlotChoice } from "../catalogue";

export interface PanelHost extends Omit<Host, "range" | "setRange" | "remove" | "look"> { span(): [number, number]; look(): ChartLook }

export class PlotPanel {
  readonly root = el("div", { class: "plots" });
  readonly cards: Card[] = [];
  private readonly list = el("div", { class: "cards" });
  private readonly reset: HTMLButtonElement;
  private zoom: [number, number] | null = null;

  constructor(private readonly host: PanelHost, defaults: PlotChoice[]) {
    this.reset = button("Whole time", "Show the whole time (double-click in a plot)", () => this.setRange(null));
    this.root.append(this.list, el("div", { class: "cardtools" },
      button("Add a plot", "Add an empty plot", () => { const c = this.add([]); this.draw(); c.toggleFinder(true); c.root.scrollIntoView({ block: "nearest" }); }), this.reset,
      el("span", { class: "hint" }, "click: jump · drag: zoom · shift-wheel: zoom")));
    for (const p of defaults) this.add(p.names, p.over);
  }

  add(names: string[], over: string | null = null): Card {
    const card = new Card({
      ...this.host, range: () => this.range, setRange: (r) => this.setRange(r),
      remove: (c) => { this.cards.splice(this.cards.indexOf(c), 1); c.root.remove(); },
    }, names, over);
    this.cards.push(card);
    this.list.append(card.root);
    return card;
  }

  setRange(range: [number, number] | null): void {
    const [a, b] = this.host.span();
    if (range) {
      const clipped: [number, number] = [Math.max(a, range[0]), Math.min(b, range[1])];
      // Below this width the clock itself has no digits left.
      if (clipped[1] - clipped[0] < (b - a) * 1e-6) return;
      range = clipped[0] <= a && clipped[1] >= b ? null : clipped;
    }
    this.zoom = range;
    this.draw();
  }
  get range(): [number, number] { return this.zoom ?? this.host.span(); }
  /** Columns of the plots, and what they are plotted over. */
  get choice(): PlotChoice[] { return this.cards.map((c) => ({ names: [...c.names], over: c.over })); }

  draw(): void {
    this.reset.disabled = this.zoom === null;
    for (const c of this.cards) c.draw();
  }
  cursor(): void { for (const c of this.cards) c.cursor(); }
}
