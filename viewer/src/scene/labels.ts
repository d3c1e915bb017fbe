// Names in the scene: of what lies under the pointer, or of everything.

import * as THREE from "three";
import { el } from "../ui";
import { vec } from "./shapes";
import type { Stage } from "./stage";

/** More names than this would hide the mechanism. */
const MOST = 80;

export class Labels {
  private readonly items: { node: HTMLElement; body: number; at: THREE.Vector3; size?: { w: number; h: number } }[] = [];
  private on = false;

  constructor(private readonly stage: Stage, private readonly parent: HTMLElement) {
    stage.onBeforeRender(() => this.place());
  }

  show(on: boolean): void {
    this.on = on;
    if (on && !this.items.length) this.make();
    for (const i of this.items) i.node.hidden = !on;
    this.stage.touch();
  }

  private make(): void {
    const d = this.stage.draft;
    const add = (text: string, kind: string, body: number, at: THREE.Vector3) => {
      const node = el("div", { class: `label ${kind}` }, text);
      this.parent.append(node);
      this.items.push({ node, body, at });
    };
    d.model.bodies.slice(0, MOST).forEach((b, i) => {
      // The middle of the joints: the centre of mass often hides behind one.
      const p = d.jointPoints(i), middle = p.reduce((s, v) => s.add(v), new THREE.Vector3()).divideScalar(Math.max(1, p.length));
      add(b.name, "body", i, p.length > 1 ? middle : vec(b.com ?? [0, 0, 0]));
    });
    (d.model.joints ?? []).slice(0, MOST).forEach((j) => { if (j.bodies) add(j.name, "joint", d.body(j.bodies[1]), vec(j.moving?.at ?? [0, 0, 0])); });
  }

  private place(): void {
    if (!this.on) return;
    const cast = this.stage.casts[0]!, corner = this.stage.canvas.getBoundingClientRect();
    // The buttons over the scene are not covered either.
    const taken = [...this.parent.querySelectorAll(".views, .toggles button")].map((b) => b.getBoundingClientRect()).filter((b) => b.width > 0).map((b) => ({ x: b.x - corner.x, y: b.y - corner.y, w: b.width, h: b.height }));
    for (const i of this.items) {
      const k = 8 * (i.body + 1), q = new THREE.Quaternion(...(cast.poses.subarray(k + 4, k + 8) as unknown as [number, number, number, number]));
      const p = this.stage.project(i.at.clone().applyQuaternion(q).add(new THREE.Vector3(...(cast.poses.subarray(k, k + 3) as unknown as [number, number, number]))));
      i.size ??= { w: i.node.offsetWidth, h: i.node.offsetHeight };
      const { w, h } = i.size, room = p && free(p, w, h, taken, this.stage.canvas);
      i.node.style.visibility = room ? "visible" : "hidden";
      if (!room) continue;
      taken.push({ ...room, w, h });
      i.node.style.transform = `translate(${room.x.toFixed(1)}px, ${room.y.toFixed(1)}px)`;
    }
  }
}

/** The upper left corner of a name beside its place, where it covers no other name and stays in the picture; nothing if there is no such room. */
function free(p: { x: number; y: number }, w: number, h: number, taken: { x: number; y: number; w: number; h: number }[], picture: { clientWidth: number; clientHeight: number }): { x: number; y: number } | null {
  const right = picture.clientWidth - w, bottom = picture.clientHeight - h;
  // A name whose place is out of the picture is not shown; one that is wider than the picture begins at its edge.
  if (p.x < 0 || p.y < 0 || p.x > picture.clientWidth || p.y > picture.clientHeight) return null;
  const gap = 6;
  for (const [dx, dy] of [[-w / 2, -h - gap], [-w / 2, gap], [gap, -h / 2], [-w - gap, -h / 2], [gap, -h - gap], [-w - gap, -h - gap], [gap, gap], [-w - gap, gap], [-w / 2, -2 * h - gap], [-w / 2, h + gap]] as const) {
    const x = Math.max(0, Math.min(right, p.x + dx)), y = Math.max(0, Math.min(bottom, p.y + dy));
    if (taken.every((t) => x + w <= t.x || t.x + t.w <= x || y + h <= t.y || t.y + t.h <= y)) return { x, y };
  }
  return null;
}

/** The name of the part under the pointer. */
export class Hover {
  private readonly tip = el("div", { class: "tip", hidden: true });
  private at: { x: number; y: number } | null = null;
  private waiting = false;

  constructor(private readonly stage: Stage, parent: HTMLElement, signal: AbortSignal) {
    parent.append(this.tip);
    stage.canvas.addEventListener("pointermove", (e) => {
      if (e.pointerType === "touch") return;
      this.at = e.buttons ? null : { x: e.offsetX, y: e.offsetY };
      if (this.waiting) return;
      this.waiting = true;
      setTimeout(() => { this.waiting = false; if (!signal.aborted) this.look(); }, 60);
    }, { signal });
    stage.canvas.addEventListener("pointerdown", (e) => {
      if (e.pointerType === "touch") { this.at = { x: e.offsetX, y: e.offsetY }; this.look(); }
    }, { signal });
    stage.canvas.addEventListener("pointerleave", (e) => { if (e.pointerType !== "touch") { this.at = null; this.look(); } }, { signal });
  }

  private look(): void {
    const id = this.at ? this.stage.pick(this.at.x, this.at.y) : 0, found = this.stage.draft.name(id);
    this.stage.highlight(found ? [id] : []);
    this.tip.hidden = !found;
    if (!found || !this.at) return;
    this.tip.replaceChildren(found.name, el("small", {}, found.kind));
    this.tip.style.transform = `translate(${this.at.x}px, ${this.at.y}px) translate(-50%, -150%)`;
  }
}
