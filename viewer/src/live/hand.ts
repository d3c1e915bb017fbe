// Taking hold of the mechanism in the scene: which point of which body, and where the pointer is in space.

import * as THREE from "three";
import type { App } from "../app";
import type { Vec3 } from "../data";

export interface Grip { body: string; at: Vec3; to: Vec3 }

export interface HandHost {
  /** Whether something can be taken. */
  ready(): boolean;
  taken(grip: Grip): void;
  moved(grip: Grip): void;
  released(): void;
  clicked(name: string | null): void;
}

/** Listens to the pointer on the scene of a page until `signal`. */
export function holdOn(app: App, host: HandHost, signal: AbortSignal): void {
  let held: { grip: Grip; plane: THREE.Vector3; pointer: number } | null = null, moved = false, wanted: PointerEvent | null = null;
  const { stage } = app, canvas = stage.canvas;
  const local = (body: number, p: THREE.Vector3): Vec3 => {
    const pose = stage.motions[0]!.pose(body, app.clock.time), o = stage.motions[0]!.origin(body, pose), q = pose.p;
    const v = p.clone().sub(new THREE.Vector3(...o)).applyQuaternion(new THREE.Quaternion(q[1], q[2], q[3], q[0]).invert());
    return [v.x, v.y, v.z];
  };
  const bodyOf = (id: number): number => {
    const d = stage.draft, n = d.model.bodies.length, joints = d.model.joints ?? [];
    if (id >= 1 && id <= n) return id - 1;
    const j = joints[id - 1 - n];
    // A joint is taken by the body that moves more: the moving one, unless that is the ground.
    return j?.bodies ? Math.max(d.body(j.bodies[1]), j.bodies[1] === "ground" ? d.body(j.bodies[0]) : -1) : -1;
  };
  canvas.addEventListener("pointerdown", (e) => {
    if (e.button !== 0 || !e.isPrimary || !host.ready()) return;
    const id = stage.pick(e.offsetX, e.offsetY), body = bodyOf(id);
    moved = false;
    if (body < 0) return;
    const through = nearest(app, body, e.offsetX, e.offsetY), p = stage.pointAt(e.offsetX, e.offsetY, through);
    if (!p) return;
    const grip: Grip = { body: stage.draft.model.bodies[body]!.name, at: local(body, p), to: [p.x, p.y, p.z] };
    held = { grip, plane: through, pointer: e.pointerId };
    // The camera stays where it is while a part is held.
    stage.controls.enabled = false;
    canvas.setPointerCapture(e.pointerId);
    canvas.classList.add("holding");
    host.taken(grip);
  }, { signal, capture: true });
  const go = () => {
    const e = wanted;
    wanted = null;
    if (!held || !e || signal.aborted) return;
    const p = stage.pointAt(e.offsetX, e.offsetY, held.plane);
    if (!p) return;
    held.grip.to = [p.x, p.y, p.z];
    host.moved(held.grip);
  };
  canvas.addEventListener("pointermove", (e) => {
    if (!held || e.pointerId !== held.pointer) return;
    if (Math.abs(e.movementX) + Math.abs(e.movementY) > 0) moved = true;
    // One step of the engine for each frame of the screen.
    if (!wanted) requestAnimationFrame(go);
    wanted = e;
  }, { signal });
  const end = (e: PointerEvent) => {
    if (!held) {
      if (!moved && e.type === "pointerup" && host.ready()) host.clicked(null);
      return;
    }
    if (wanted) go();
    const name = held.grip.body;
    held = null;
    stage.controls.enabled = true;
    canvas.classList.remove("holding");
    host.released();
    if (!moved) host.clicked(stage.draft.name(stage.pick(e.offsetX, e.offsetY))?.name ?? name);
  };
  for (const kind of ["pointerup", "pointercancel"] as const) canvas.addEventListener(kind, end, { signal });
}

/** The joint or centre of mass of a body that lies nearest to the pointer on the screen: its depth is that of the grip. */
function nearest(app: App, body: number, x: number, y: number): THREE.Vector3 {
  const { stage } = app, m = stage.motions[0]!, com = stage.draft.model.bodies[body]!.com ?? [0, 0, 0] as Vec3;
  const places = [com, ...stage.draft.jointPoints(body).map((p): Vec3 => [p.x, p.y, p.z])].map((at) => new THREE.Vector3(...m.place(body, at, app.clock.time)));
  let best = places[0]!, least = Infinity;
  for (const p of places) {
    const s = stage.project(p), d = s ? Math.hypot(s.x - x, s.y - y) : Infinity;
    if (d < least) { least = d; best = p; }
  }
  return best;
}
