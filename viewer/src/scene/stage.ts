// The stage: renderer, cameras, standard views, the pose textures that move the drawing, and what lies under the pointer.

import * as THREE from "three";
import { Line2 } from "three/examples/jsm/lines/Line2.js";
import { LineGeometry } from "three/examples/jsm/lines/LineGeometry.js";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import type { Motion } from "../motion";
import { Pose } from "../motion";
import { ACCENT, Draft } from "./draft";
import { drawBodies } from "./bodies";
import { setDetail } from "./shapes";
import { drawContacts, drawJoints, drawTies, ropesOf, type Rope } from "./joints";
import { ABSENT, contour, curveLook, dotLook, edge, identity, LIT, ROW, surface, tie, type Shared } from "./material";

export interface Theme { paper: string; ink: string; pen: string; grid: string }
export type View = "front" | "back" | "left" | "right" | "top" | "bottom" | "iso" | "normal";

/** What is drawn of a mechanism, and the ropes whose slack changes with its pose. */
interface Parts { surfaces: THREE.BufferGeometry; lines: THREE.BufferGeometry; ties: THREE.BufferGeometry; ropes: Rope[] }

/** One mechanism on the stage: a result, or a ghost of it. */
class Cast {
  readonly group = new THREE.Group();
  readonly texture: THREE.DataTexture;
  readonly poses: Float32Array;
  readonly edges: THREE.LineSegments;
  readonly outline: THREE.Mesh | null = null;
  /** Identities of joints and forces that are not there. */
  readonly absent = { value: new Array<number>(ABSENT).fill(0) };
  private readonly pose = new Pose();

  constructor(readonly motion: Motion, private readonly parts: Parts, shared: Shared, ghost?: { color: string; opacity: number; sink: number }) {
    const rows = Math.ceil((2 * (motion.bodies.length + 1) + parts.ropes.length) / ROW);
    this.poses = new Float32Array(4 * ROW * rows);
    this.poses[7] = 1;
    this.texture = new THREE.DataTexture(this.poses, ROW, rows, THREE.RGBAFormat, THREE.FloatType);
    const look = { poses: this.texture, absent: this.absent, ...(ghost ? { over: new THREE.Color(ghost.color), opacity: ghost.opacity, sink: ghost.sink } : {}) };
    const add = (o: THREE.Object3D, order: number) => { o.frustumCulled = false; o.renderOrder = order; this.group.add(o); };
    const order = ghost ? 1 : 0;
    add(new THREE.Mesh(parts.surfaces, surface(shared, look)), order);
    if (!ghost) add(this.outline = new THREE.Mesh(parts.surfaces, contour(shared, look)), order);
    add(this.edges = new THREE.LineSegments(parts.lines, edge(shared, look)), order);
    if (hasPoints(parts.ties)) add(new THREE.LineSegments(parts.ties, tie(shared, look)), order);
  }

  set(time: number): void {
    const n = this.motion.bodies.length;
    for (let i = 0; i < n; i++) {
      this.motion.pose(i, time, this.pose);
      const o = this.motion.origin(i, this.pose), k = 8 * (i + 1), p = this.pose.p;
      this.poses[k] = o[0]; this.poses[k + 1] = o[1]; this.poses[k + 2] = o[2]; this.poses[k + 3] = 1;
      this.poses[k + 4] = p[1]; this.poses[k + 5] = p[2]; this.poses[k + 6] = p[3]; this.poses[k + 7] = p[0];
    }
    for (const rope of this.parts.ropes) {
      const places = rope.places.map((p) => this.motion.place(p.body, p.at, time, this.pose));
      let straight = 0;
      for (let k = 1; k < places.length; k++) straight += Math.hypot(...places[k]!.map((v, c) => v - places[k - 1]![c]!));
      this.poses[4 * rope.texel] = Math.max(0, rope.length - straight);
      this.poses[4 * rope.texel + 1] = straight;
    }
    this.texture.needsUpdate = true;
  }
}

/** Colours of compared results; the first is drawn in the colours of its bodies, and grey represents it. */
export const RESULT_COLORS = ["#8a949e", "#d6336c", "#228833", "#6741d9", "#ccbb44", "#66ccee"];

export class Stage {
  /** Nothing where the browser offers no WebGL: the rest of the page works without. */
  readonly renderer: THREE.WebGLRenderer | null;
  readonly scene = new THREE.Scene();
  readonly draft: Draft;
  readonly casts: Cast[] = [];
  readonly ghost: Cast;
  readonly overlay = new THREE.Group();
  readonly surfaces: THREE.BufferGeometry;
  readonly gridStep: number;
  private readonly perspective = new THREE.PerspectiveCamera(28, 1, 0.01, 100);
  private readonly flat = new THREE.OrthographicCamera(-1, 1, 1, -1, -100, 100);
  readonly controls: OrbitControls;
  private readonly shared: Shared = {
    ink: { value: new THREE.Color() }, pen: { value: new THREE.Color() }, accent: { value: new THREE.Color(ACCENT) },
    lit: { value: new Array<number>(LIT).fill(0) }, size: { value: new THREE.Vector2(1, 1) }, contour: { value: 1.25 }, thicken: { value: 0 },
  };
  private readonly picker: { scene: THREE.Scene; target: THREE.WebGLRenderTarget };
  private readonly grid: THREE.LineSegments;
  private readonly center: THREE.Vector3;
  private readonly radius: number;
  private readonly beforeRender: (() => void)[] = [];
  private stale = true;
  /** The direction of the last fit, until the reader moves the camera: a new window size then fits again. */
  private fitted: THREE.Vector3 | null = null;
  time = 0;
  lastFrameMs = 0;

  /** `before` is a stage on the same canvas that is no longer used. */
  constructor(readonly canvas: HTMLCanvasElement, readonly motions: Motion[], model: Draft["model"], before: Stage | null = null) {
    this.renderer = before ? before.renderer : rendererOn(canvas);
    if (this.renderer && !before) compile(this.renderer, model, this.shared);
    this.draft = new Draft(model, motions);
    setDetail(model.bodies.length);
    drawBodies(this.draft);
    drawJoints(this.draft);
    drawContacts(this.draft);
    this.surfaces = this.draft.merge.surfaces();
    const ropes = ropesOf(this.draft);
    const parts = { surfaces: this.surfaces, lines: this.draft.merge.lines(), ties: drawTies(this.draft, ropes), ropes: [...ropes.values()] };
    // In a flat drawing a ghost lies behind all layers of the mechanism; in space only just behind its own surface.
    const sink = this.draft.normal ? 0.02 : 1e-4;
    motions.forEach((m, k) => {
      const cast = k === 0 ? new Cast(m, parts, this.shared) : new Cast(m, parts, this.shared, { color: RESULT_COLORS[k % RESULT_COLORS.length]!, opacity: 0.5, sink });
      this.casts.push(cast);
      this.scene.add(cast.group);
    });
    this.ghost = new Cast(motions[0]!, parts, this.shared, { color: "#8a949e", opacity: 0.25, sink });
    this.ghost.set(motions[0]!.start);
    this.ghost.group.visible = false;
    this.scene.add(this.ghost.group, this.overlay);
    this.picker = this.makePicker(parts);

    const box = this.draft.box;
    this.center = box.getCenter(new THREE.Vector3());
    this.radius = Math.max(box.getSize(new THREE.Vector3()).length() / 2 + this.draft.bar * 4, 1e-9);
    this.gridStep = niceStep(this.radius / 4);
    this.grid = this.makeGrid();
    this.scene.add(this.grid);

    for (const c of [this.perspective, this.flat]) c.up.copy(this.draft.up);
    this.controls = new OrbitControls(this.draft.normal ? this.flat : this.perspective, canvas);
    this.controls.enableDamping = false;
    this.controls.zoomToCursor = true;
    this.controls.addEventListener("change", () => this.touch());
    this.controls.addEventListener("start", () => { this.fitted = null; });
    this.view(this.draft.normal ? "normal" : "iso");
  }

  get camera(): THREE.PerspectiveCamera | THREE.OrthographicCamera {
    return this.controls.object as THREE.PerspectiveCamera | THREE.OrthographicCamera;
  }
  get sceneRadius(): number { return this.radius; }
  get isFlat(): boolean { return this.camera === this.flat; }

  onBeforeRender(f: () => void): void { this.beforeRender.push(f); }
  touch(): void { this.stale = true; }

  setTime(time: number): void {
    this.time = time;
    for (const c of this.casts) if (c.group.visible) c.set(time);
    if (this.followed !== null) this.keepUp();
    this.touch();
  }

  setTheme(theme: Theme): void {
    this.shared.ink.value.set(theme.ink);
    this.shared.pen.value.set(theme.pen);
    this.renderer?.setClearColor(theme.paper, 1);
    (this.grid.material as THREE.LineBasicMaterial).color.set(theme.grid);
    this.touch();
  }

  showGrid(on: boolean): void { this.grid.visible = on; this.touch(); }
  showGhost(on: boolean): void { this.ghost.group.visible = on; this.touch(); }
  highlight(ids: number[]): void {
    const next = Array.from({ length: LIT }, (_, k) => ids[k] ?? 0), now = this.shared.lit.value;
    if (next.some((id, k) => id !== now[k])) { this.shared.lit.value = next; this.touch(); }
  }
  /** What is not there, by result; shown from the next frame on. */
  setAbsent(result: number, names: Set<string>): void {
    const d = this.draft, ids = [...names].map((name) => {
      const j = (d.model.joints ?? []).findIndex((v) => v.name === name), f = (d.model.forces ?? []).findIndex((v) => v.name === name);
      return j >= 0 ? d.jointId(j) : f >= 0 ? d.forceId(f) : 0;
    }).filter((id) => id > 0);
    const next = Array.from({ length: ABSENT }, (_, k) => ids[k] ?? 0), cast = this.casts[result]!;
    if (next.some((id, k) => id !== cast.absent.value[k])) { cast.absent.value = next; this.touch(); }
  }
  get highlighted(): number[] { return this.shared.lit.value.filter((id) => id > 0); }

  /** Pixels drawn for each pixel of the screen, below 1 while a slow machine plays. */
  setSharpness(sharpness: number): void {
    if (sharpness === this.sharpness) return;
    this.sharpness = sharpness;
    this.renderer?.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2) * sharpness);
    this.touch();
  }
  get currentSharpness(): number { return this.sharpness; }
  private sharpness = 1;

  resize(width: number, height: number): void {
    if (this.renderer) setSize(this.renderer, width, height, this.sharpness);
    this.shared.size.value.set(width, height);
    this.aspect();
    if (this.fitted) this.look(this.fitted);
    this.touch();
  }

  private aspect(): void {
    const s = this.shared.size.value, a = s.x / Math.max(1, s.y);
    this.perspective.aspect = a;
    this.perspective.updateProjectionMatrix();
    const h = this.flatHalf / Math.min(1, a);
    Object.assign(this.flat, { left: -h * a, right: h * a, top: h, bottom: -h });
    this.flat.updateProjectionMatrix();
  }
  private flatHalf = 1;

  /** Looks along a standard direction and shows everything. */
  view(view: View): void {
    const up = this.draft.up, front = this.draft.normal ?? this.frontDirection();
    const right = up.clone().cross(front).normalize();
    const d = {
      front, normal: front, back: front.clone().negate(), right, left: right.clone().negate(), top: up.clone().addScaledVector(front, 1e-3),
      bottom: up.clone().negate().addScaledVector(front, 1e-3),
      iso: front.clone().multiplyScalar(0.8).addScaledVector(right, 0.62).addScaledVector(up, 0.45),
    }[view].clone().normalize();
    this.look(d);
  }

  private followed: number | null = null;
  private readonly lastSeen = new THREE.Vector3();
  get following(): number | null { return this.followed; }
  /** Keeps a body in the middle of the window, and shows the mechanism as large as it is rather than all its path; null ends it. */
  follow(body: number | null): void {
    this.followed = body;
    if (body !== null) this.lastSeen.copy(this.bodyPlace(body));
    this.fit();
  }
  private bodyPlace(body: number): THREE.Vector3 { return new THREE.Vector3(...this.motions[0]!.pose(body, this.time).r); }
  private keepUp(): void {
    const now = this.bodyPlace(this.followed!), move = now.clone().sub(this.lastSeen);
    this.lastSeen.copy(now);
    this.controls.target.add(move);
    for (const c of [this.perspective, this.flat]) c.position.add(move);
    this.controls.update();
  }

  /** Position of the camera, to be adopted by another stage. */
  get cameraState(): { position: THREE.Vector3; target: THREE.Vector3; half: number; zoom: number; flat: boolean; fitted: THREE.Vector3 | null } {
    return { position: this.camera.position.clone(), target: this.controls.target.clone(), half: this.flatHalf, zoom: this.flat.zoom, flat: this.isFlat, fitted: this.fitted };
  }
  takeCamera(s: Stage["cameraState"]): void {
    if (s.flat !== this.isFlat) this.setFlat(s.flat);
    this.controls.target.copy(s.target);
    this.camera.position.copy(s.position);
    this.flatHalf = s.half;
    this.flat.zoom = s.zoom;
    this.fitted = null;
    this.aspect();
    this.controls.update();
    this.touch();
  }

  /** Where the ray through a pixel meets the plane through a point that faces the camera, or the plane of a flat drawing. */
  pointAt(x: number, y: number, through: THREE.Vector3): THREE.Vector3 | null {
    const s = this.shared.size.value, ray = new THREE.Raycaster();
    this.camera.updateMatrixWorld();
    ray.setFromCamera(new THREE.Vector2((x / s.x) * 2 - 1, 1 - (y / s.y) * 2), this.camera);
    const facing = this.camera.getWorldDirection(new THREE.Vector3()), n = this.draft.normal;
    const normal = n && Math.abs(n.dot(facing)) > 0.2 ? n : facing;
    return ray.ray.intersectPlane(new THREE.Plane().setFromNormalAndCoplanarPoint(normal, through), new THREE.Vector3());
  }

  /** Frees what the graphics card holds; the renderer lives on for the next stage. */
  dispose(): void {
    this.controls.dispose();
    this.picker.target.dispose();
    for (const scene of [this.scene, this.picker.scene]) scene.traverse((o) => {
      const m = o as THREE.Mesh;
      m.geometry?.dispose();
      for (const one of [m.material].flat()) one?.dispose();
      if (o instanceof THREE.InstancedMesh) o.dispose();
    });
    for (const c of [...this.casts, this.ghost]) c.texture.dispose();
  }

  fit(): void { this.look(this.camera.position.clone().sub(this.controls.target).normalize()); }

  setFlat(on: boolean): void {
    const d = this.camera.position.clone().sub(this.controls.target).normalize();
    this.controls.object = on ? this.flat : this.perspective;
    this.look(d);
  }

  /** Looks along `-d` so that every place the mechanism ever touches fills the window. */
  private look(d: THREE.Vector3): void {
    this.fitted = d.clone();
    const up = this.draft.up.clone().addScaledVector(d, -this.draft.up.dot(d)).normalize(), right = up.clone().cross(d);
    const margin = this.draft.bar * (this.draft.normal ? 5 : 3.5);
    const seen = this.followed === null ? this.draft.touched : this.draft.placesAround(this.followed, this.time);
    const bounds = (axis: THREE.Vector3): [number, number] => {
      let lo = Infinity, hi = -Infinity;
      for (const p of seen) { const s = p.dot(axis); if (s < lo) lo = s; if (s > hi) hi = s; }
      return [lo, hi];
    };
    const [x, y, z] = [bounds(right), bounds(up), bounds(d)], mid = (b: [number, number]) => (b[0] + b[1]) / 2;
    const target = right.clone().multiplyScalar(mid(x)).addScaledVector(up, mid(y)).addScaledVector(d, mid(z));
    const s = this.shared.size.value, a = s.x / Math.max(1, s.y), slope = Math.tan((this.perspective.fov * Math.PI) / 360);
    const half = 1.1 * Math.max((y[1] - y[0]) / 2 + margin, ((x[1] - x[0]) / 2 + margin) / a);
    let reach = 0;
    for (const p of seen) {
      const v = p.clone().sub(target);
      reach = Math.max(reach, v.dot(d) + (1.1 / slope) * Math.max(Math.abs(v.dot(up)) + margin, (Math.abs(v.dot(right)) + margin) / a));
    }
    this.flatHalf = half * Math.min(1, a);
    this.flat.zoom = 1;
    this.controls.target.copy(target);
    for (const c of [this.perspective, this.flat]) {
      c.position.copy(target).addScaledVector(d, c === this.flat ? this.radius * 4 : reach);
      c.near = c === this.flat ? -this.radius * 40 : reach / 200;
      c.far = c === this.flat ? this.radius * 40 : reach + this.radius * 30;
    }
    this.aspect();
    this.controls.update();
    this.touch();
  }

  private frontDirection(): THREE.Vector3 {
    const up = this.draft.up;
    const d = Math.abs(up.y) > 0.7 ? new THREE.Vector3(0, 0, 1) : Math.abs(up.z) > 0.7 ? new THREE.Vector3(0, -1, 0) : new THREE.Vector3(0, 0, 1);
    return d.addScaledVector(up, -d.dot(up)).normalize();
  }

  /** Draws if anything changed; true when it did. */
  render(force = false): boolean {
    if (!this.stale && !force) return false;
    this.stale = false;
    for (const f of this.beforeRender) f();
    this.thinLines();
    const before = performance.now();
    this.renderer?.render(this.scene, this.camera);
    this.lastFrameMs = performance.now() - before;
    return true;
  }

  // Seen from far, a contour of fixed width would be all there is of a thin rod.
  private thinLines(): void {
    const rod = (this.draft.normal ? this.draft.bar : this.draft.rod) * this.pixelsPerLength();
    this.shared.thicken.value = Math.max(0, 1.1 - rod);
    this.shared.contour.value = this.shared.thicken.value + Math.min(1.25, rod * 0.3);
    for (const c of [...this.casts, this.ghost]) {
      c.edges.visible = rod > 1.2;
      if (c.outline) c.outline.visible = rod > 0.6;
    }
  }

  private pixelsPerLength(): number {
    const h = this.shared.size.value.y;
    if (this.isFlat) return (h * this.flat.zoom) / (this.flat.top - this.flat.bottom);
    const far = this.perspective.position.distanceTo(this.controls.target);
    return h / (2 * far * Math.tan((this.perspective.fov * Math.PI) / 360));
  }

  /** Screen place of a world point, in pixels of the page; null behind the camera. */
  project(p: THREE.Vector3): { x: number; y: number } | null {
    this.camera.updateMatrixWorld();
    const v = p.clone().project(this.camera), s = this.shared.size.value;
    return v.z > 1 ? null : { x: ((v.x + 1) / 2) * s.x, y: ((1 - v.y) / 2) * s.y };
  }

  screen(v: readonly [number, number, number]): { x: number; y: number } | null { return this.project(new THREE.Vector3(...v)); }

  /** The identity of what is drawn at a pixel; 0 for nothing. A square of 5 pixels makes thin rods easy to hit. */
  pick(x: number, y: number): number {
    const s = this.shared.size.value, n = 5, cam = this.camera, gl = this.renderer;
    if (!gl) return 0;
    cam.setViewOffset(s.x, s.y, Math.round(x) - 2, Math.round(y) - 2, n, n);
    gl.setRenderTarget(this.picker.target);
    gl.getClearColor(CLEAR);
    gl.setClearColor(0x000000, 1);
    gl.render(this.picker.scene, cam);
    gl.setClearColor(CLEAR, 1);
    const px = new Uint8Array(4 * n * n);
    gl.readRenderTargetPixels(this.picker.target, 0, 0, n, n, px);
    gl.setRenderTarget(null);
    cam.clearViewOffset();
    let best = 0, near = Infinity;
    for (let k = 0; k < n * n; k++) {
      const id = px[4 * k]! + 256 * px[4 * k + 1]! + 65536 * px[4 * k + 2]!;
      const dist = Math.hypot((k % n) - 2, Math.floor(k / n) - 2);
      if (id > 0 && dist < near) { best = id; near = dist; }
    }
    return best;
  }

  private makePicker(parts: Parts): Stage["picker"] {
    const scene = new THREE.Scene(), look = { poses: this.casts[0]!.texture, absent: this.casts[0]!.absent };
    scene.add(new THREE.Mesh(parts.surfaces, identity(this.shared, look, "body")), ...(hasPoints(parts.ties) ? [new THREE.LineSegments(parts.ties, identity(this.shared, look, "tie"))] : []));
    scene.traverse((o) => { o.frustumCulled = false; });
    return { scene, target: new THREE.WebGLRenderTarget(5, 5) };
  }

  // Squares of a round size: behind a planar mechanism, below a spatial one.
  private makeGrid(): THREE.LineSegments {
    const d = this.draft, step = this.gridStep, n = Math.ceil((this.radius * 1.5) / step);
    const normal = d.normal ?? d.up, a = d.normal ? d.up : this.frontDirection(), b = normal.clone().cross(a);
    const low = Math.min(...[d.box.min, d.box.max].map((v) => v.dot(normal)));
    const level = d.normal ? this.center.dot(normal) - d.depth : low - d.bar * 5;
    const snap = (v: THREE.Vector3) => Math.round(this.center.dot(v) / step) * step;
    const origin = normal.clone().multiplyScalar(level).addScaledVector(a, snap(a)).addScaledVector(b, snap(b));
    const points: THREE.Vector3[] = [];
    for (let k = -n; k <= n; k++) for (const [u, v] of [[a, b], [b, a]] as const) {
      points.push(origin.clone().addScaledVector(u, k * step).addScaledVector(v, -n * step), origin.clone().addScaledVector(u, k * step).addScaledVector(v, n * step));
    }
    const grid = new THREE.LineSegments(new THREE.BufferGeometry().setFromPoints(points), gridLines());
    // Drawn first, and without depth: ghosts lie a little behind, and its lines must not cut through them.
    grid.renderOrder = -1;
    return grid;
  }
}

const CLEAR = new THREE.Color();

const hasPoints = (g: THREE.BufferGeometry): boolean => g.getAttribute("position").count > 0;

function rendererOn(canvas: HTMLCanvasElement): THREE.WebGLRenderer | null {
  try {
    // The library complains aloud before it throws; asking first keeps the console quiet.
    const context = canvas.getContext("webgl2", { alpha: true, depth: true, stencil: false, antialias: true, powerPreference: "default" });
    if (!context) return null;
    const renderer = new THREE.WebGLRenderer({ canvas, context, alpha: false });
    renderer.outputColorSpace = THREE.LinearSRGBColorSpace;
    // Now: later, to change the size waits for all that the graphics driver has to do.
    const { clientWidth: width, clientHeight: height } = canvas.parentElement ?? canvas;
    if (width > 0 && height > 0) setSize(renderer, width, height, 1);
    return renderer;
  } catch {
    return null;
  }
}

function setSize(renderer: THREE.WebGLRenderer, width: number, height: number, sharpness: number): void {
  const ratio = Math.min(window.devicePixelRatio || 1, 2) * sharpness, size = renderer.getSize(new THREE.Vector2());
  if (size.x === width && size.y === height && renderer.getPixelRatio() === ratio) return;
  renderer.setPixelRatio(ratio);
  renderer.setSize(width, height, false);
}

/**
 * Compiles the shaders of the first picture: the graphics driver does so beside the script, which builds the mechanism meanwhile.
 * These materials are never disposed of, so that the shaders serve every later stage too.
 */
function compile(renderer: THREE.WebGLRenderer, model: Draft["model"], shared: Shared): void {
  const look = { poses: new THREE.Texture(), absent: { value: new Array<number>(ABSENT).fill(0) } }, scene = new THREE.Scene();
  // A shader depends on the attributes of what is drawn with it.
  const line = new THREE.BufferGeometry().setAttribute("position", new THREE.Float32BufferAttribute([], 3)), solid = line.clone().setAttribute("normal", new THREE.Float32BufferAttribute([], 3));
  scene.add(new THREE.Mesh(solid, surface(shared, look)), new THREE.Mesh(solid, contour(shared, look)), new THREE.LineSegments(line, edge(shared, look)), new THREE.LineSegments(line, gridLines()));
  if (model.forces?.some((f) => f.between) || model.joints?.some((j) => j.type === "distance")) scene.add(new THREE.LineSegments(line, tie(shared, look)));
  if (model.points?.length || model.view?.trace?.length) scene.add(new THREE.Mesh(solid, dotLook(ACCENT)), new Line2(new LineGeometry(), curveLook(ACCENT, 1, 1, false)));
  renderer.compile(scene, new THREE.OrthographicCamera());
}
const gridLines = () => new THREE.LineBasicMaterial({ transparent: true, opacity: 0.75, depthWrite: false });

/** 1, 2 or 5 times a power of ten, not above `x`. */
export function niceStep(x: number): number {
  const p = 10 ** Math.floor(Math.log10(x)), m = x / p;
  return (m >= 5 ? 5 : m >= 2 ? 2 : 1) * p;
}
