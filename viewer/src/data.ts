// The data of a page: their types and their decoding. DATA.md is the contract in words.

export type Vec3 = [number, number, number];
/** Scalar part first, body to world. */
export type Quat = [number, number, number, number];

/** A packed array of numbers; see "Arrays" in DATA.md. */
export type Packed =
  | { enc: "linear"; start: number; step: number; count: number }
  | { enc: "f32" | "f64" | "u32"; data: string }
  | { enc: "i16"; scale: number | number[]; offset?: number | number[]; data: string }
  | number[];

export type Shape = { color?: string } & (
  | { type: "box"; size: Vec3; at?: Vec3; orientation?: Quat }
  | { type: "cylinder" | "rod"; from: Vec3; to: Vec3; radius: number }
  | { type: "sphere"; at?: Vec3; radius: number }
  | { type: "plate"; points: Vec3[]; thickness: number }
  | { type: "mesh"; vertices: Packed; triangles: Packed; at?: Vec3; orientation?: Quat }
);

export interface Body { name: string; com?: Vec3; color?: string; shapes?: Shape[] }
export interface Frame { at?: Vec3; axis?: Vec3 }
export interface Joint {
  name: string; type: string; bodies?: [string, string]; base?: Frame; moving?: Frame;
  joints?: string[]; unique?: boolean;
  /** Of a point on a curve: the curve in the frame of the base, and the radius of the follower. */
  curve?: Vec3[]; closed?: boolean; radius?: number;
  /** Whether it is not there at the start: an event puts it in. */
  open?: boolean;
}
export interface Place { body: string; at: Vec3 }
export interface Force {
  name: string; type: string; between?: [Place, Place]; length?: number;
  /** Of a rope: pulleys or eyes that it runs over, in order. */
  via?: Place[];
  on?: Place; body?: string; joint?: string;
  vector?: Vec3; frame?: "world" | "body";
  /** Of a contact: what the two bodies bring to each place where they may touch. */
  spots?: [Side, Side][];
}
export interface Side extends Place { radius?: number; normal?: Vec3; axis?: Vec3; outline?: Vec3[]; closed?: boolean; hollow?: boolean; swapped?: boolean }
export interface Drive { name: string; joint: string; kind: string }
export interface Model {
  title: string; length_unit?: string; length?: number; gravity?: Vec3; planar_normal?: Vec3 | null;
  ground?: { shapes?: Shape[] };
  bodies: Body[]; joints?: Joint[]; forces?: Force[]; points?: (Place & { name: string })[];
  drives?: Drive[]; view?: { trace?: string[]; follow?: string; plots?: (string[] | { x: string; y: string[] })[] };
}
export interface PackedColumn { name: string; unit?: string; time?: number; data: Packed; lo?: Packed; hi?: Packed }
export interface PackedResult {
  label: string; formulation?: string; integrator?: string; times: Packed[];
  poses: { time?: number; r: Packed[]; p: Packed[] };
  columns?: PackedColumn[]; difference?: PackedColumn[];
  /** In the order of time. */
  events?: Happened[];
}
/** What an event, a limit or friction that sticks has done. */
export interface Happened {
  t: number; name: string; kind: string; impulse?: number; lost?: number; speed?: [number, number];
  /** Joints, drives and forces that it has taken out, put in, locked and released. */
  off?: string[]; on?: string[]; locked?: string[]; freed?: string[];
}
export interface Line {
  text: string; time?: number; level?: "info" | "good" | "warn"; names?: string[];
  /** A button of the live page. */
  act?: { text: string; run(): void };
}
export interface Section { title: string; lines: Line[] }
export interface PageData {
  fourbar: number; generator?: string; model: Model; results: PackedResult[]; diagnosis?: Section[];
  /** The file of a live page, and the shipped models of a playground. */
  live?: { file: string; text: string; set?: [string, string][]; study?: Record<string, unknown>; run?: boolean; gallery?: { name: string; group?: string; title: string; purpose?: string; text: string }[] };
}

function bytes(base64: string): ArrayBuffer {
  const text = atob(base64);
  const out = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) out[i] = text.charCodeAt(i);
  return out.buffer;
}

// Typed arrays read in the order of the machine; the contract is little-endian, as is every machine with a browser today.
export function unpack(p: Packed): Float64Array {
  if (Array.isArray(p)) return Float64Array.from(p);
  switch (p.enc) {
    case "linear": {
      const out = new Float64Array(p.count);
      for (let i = 0; i < p.count; i++) out[i] = p.start + i * p.step;
      return out;
    }
    case "f64": return new Float64Array(bytes(p.data));
    case "f32": return Float64Array.from(new Float32Array(bytes(p.data)));
    case "u32": return Float64Array.from(new Uint32Array(bytes(p.data)));
    case "i16": {
      const raw = new Int16Array(bytes(p.data));
      const scale = Array.isArray(p.scale) ? p.scale : [p.scale];
      const offset = Array.isArray(p.offset) ? p.offset : [p.offset ?? 0];
      const out = new Float64Array(raw.length);
      for (let i = 0; i < raw.length; i++) {
        out[i] = raw[i] === -32768 ? NaN : offset[i % offset.length]! + scale[i % scale.length]! * raw[i]!;
      }
      return out;
    }
    default: throw new Error(`unknown packing ${JSON.stringify((p as { enc: unknown }).enc)}`);
  }
}

/** Reads the data block of the page; every complaint names what is wrong. */
export function readPage(text: string): PageData {
  const page = JSON.parse(text) as PageData;
  if (page.fourbar !== 1) throw new Error(`the data have version ${String(page.fourbar)}, this viewer reads version 1`);
  if (!Array.isArray(page.results) || page.results.length === 0) throw new Error("the data contain no result");
  const names = new Set(page.model.bodies.map((b) => b.name).concat("ground"));
  for (const joint of page.model.joints ?? []) {
    for (const name of joint.bodies ?? []) {
      if (!names.has(name)) throw new Error(`joint ${joint.name} names the unknown body ${name}`);
    }
  }
  return page;
}
