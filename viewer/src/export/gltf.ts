// The moving mechanism as one binary glTF file: a node for each body with its solids, and one animation.

import * as THREE from "three";
import { Pose } from "../motion";
import type { Stage } from "../scene/stage";

const MOST_KEYS = 1200;

class Buffer {
  readonly views: object[] = [];
  readonly accessors: object[] = [];
  private parts: Uint8Array[] = [];
  length = 0;

  /** Adds an accessor and returns its number. */
  add(data: Float32Array | Uint32Array, type: "SCALAR" | "VEC3" | "VEC4", target?: number, bounds = false): number {
    const width = { SCALAR: 1, VEC3: 3, VEC4: 4 }[type];
    this.views.push({ buffer: 0, byteOffset: this.length, byteLength: data.byteLength, ...(target ? { target } : {}) });
    const accessor: Record<string, unknown> = { bufferView: this.views.length - 1, componentType: data instanceof Float32Array ? 5126 : 5125, count: data.length / width, type };
    if (bounds) {
      const min = new Array<number>(width).fill(Infinity), max = new Array<number>(width).fill(-Infinity);
      data.forEach((v, i) => { min[i % width] = Math.min(min[i % width]!, v); max[i % width] = Math.max(max[i % width]!, v); });
      Object.assign(accessor, { min, max });
    }
    this.accessors.push(accessor);
    this.parts.push(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    this.length += data.byteLength;
    return this.accessors.length - 1;
  }

  bytes(): Uint8Array {
    const out = new Uint8Array(this.length);
    let at = 0;
    for (const p of this.parts) { out.set(p, at); at += p.length; }
    return out;
  }
}

export function toGlb(stage: Stage, title: string): Blob {
  const d = stage.draft, motion = stage.motions[0]!, buffer = new Buffer();
  const position = stage.surfaces.getAttribute("position"), normal = stage.surfaces.getAttribute("normal"), index = stage.surfaces.getIndex()!;
  const materials: object[] = [], byColor = new Map<string, number>(), meshes: object[] = [], nodes: Record<string, unknown>[] = [];
  const material = (c: THREE.Color): number => {
    const k = c.getHexString();
    if (!byColor.has(k)) {
      byColor.set(k, materials.length);
      // glTF wants linear light, the page keeps colours as they appear.
      const linear = [c.r, c.g, c.b].map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
      materials.push({ name: `#${k}`, doubleSided: true, pbrMetallicRoughness: { baseColorFactor: [...linear, 1], metallicFactor: 0, roughnessFactor: 0.8 } });
    }
    return byColor.get(k)!;
  };
  const byBody = new Map<number, typeof d.merge.ranges>();
  for (const r of d.merge.ranges) byBody.set(r.body, [...(byBody.get(r.body) ?? []), r]);
  const names = ["ground", ...motion.bodies.map((b) => b.name)];
  names.forEach((name, row) => {
    const groups = new Map<number, number[]>();
    for (const r of byBody.get(row) ?? []) {
      const m = material(r.color), list = groups.get(m) ?? [];
      for (let k = r.start; k < r.start + r.count; k++) list.push(index.getX(k));
      groups.set(m, list);
    }
    const primitives = [...groups].map(([m, list]) => {
      const p = new Float32Array(3 * list.length), n = new Float32Array(3 * list.length), seen = new Map<number, number>(), triangles: number[] = [];
      for (const v of list) {
        if (!seen.has(v)) {
          const k = seen.size;
          seen.set(v, k);
          p.set([position.getX(v), position.getY(v), position.getZ(v)], 3 * k);
          const u = new THREE.Vector3(normal.getX(v), normal.getY(v), normal.getZ(v)).normalize();
          n.set([u.x, u.y, u.z], 3 * k);
        }
        triangles.push(seen.get(v)!);
      }
      return {
        attributes: { POSITION: buffer.add(p.slice(0, 3 * seen.size), "VEC3", 34962, true), NORMAL: buffer.add(n.slice(0, 3 * seen.size), "VEC3", 34962) },
        indices: buffer.add(Uint32Array.from(triangles), "SCALAR", 34963), material: m,
      };
    });
    const node: Record<string, unknown> = { name };
    if (primitives.length) { meshes.push({ name, primitives }); node["mesh"] = meshes.length - 1; }
    nodes.push(node);
  });

  const times = d.sampleTimes(MOST_KEYS), keys = buffer.add(Float32Array.from(times, (t) => t - motion.start), "SCALAR", undefined, true);
  const samplers: object[] = [], channels: object[] = [], pose = new Pose();
  motion.bodies.forEach((_, i) => {
    const move = new Float32Array(3 * times.length), turn = new Float32Array(4 * times.length);
    times.forEach((t, k) => {
      motion.pose(i, t, pose);
      move.set(motion.origin(i, pose), 3 * k);
      turn.set([pose.p[1], pose.p[2], pose.p[3], pose.p[0]], 4 * k);
    });
    Object.assign(nodes[i + 1]!, { translation: Array.from(move.slice(0, 3)), rotation: Array.from(turn.slice(0, 4)) });
    samplers.push({ input: keys, output: buffer.add(move, "VEC3"), interpolation: "LINEAR" }, { input: keys, output: buffer.add(turn, "VEC4"), interpolation: "LINEAR" });
    channels.push({ sampler: 2 * i, target: { node: i + 1, path: "translation" } }, { sampler: 2 * i + 1, target: { node: i + 1, path: "rotation" } });
  });
  // In glTF y points up.
  const q = new THREE.Quaternion().setFromUnitVectors(d.up, new THREE.Vector3(0, 1, 0));
  nodes.push({ name: title, children: names.map((_, k) => k), rotation: [q.x, q.y, q.z, q.w] });
  const json = {
    asset: { version: "2.0", generator: "fourbar" }, scene: 0, scenes: [{ nodes: [nodes.length - 1] }], nodes, meshes, materials,
    ...(channels.length ? { animations: [{ name: motion.label, samplers, channels }] } : {}),
    accessors: buffer.accessors, bufferViews: buffer.views, buffers: [{ byteLength: buffer.length }],
  };
  return pack(json, buffer.bytes());
}

function pack(json: object, binary: Uint8Array): Blob {
  const text = new TextEncoder().encode(JSON.stringify(json)), pad = (n: number) => (4 - (n % 4)) % 4;
  const a = text.length + pad(text.length), b = binary.length + pad(binary.length);
  const out = new Uint8Array(12 + 8 + a + 8 + b), view = new DataView(out.buffer);
  out.fill(0x20, 20, 20 + a);
  [0x46546c67, 2, out.length, a, 0x4e4f534a].forEach((v, k) => view.setUint32(4 * k, v, true));
  out.set(text, 20);
  view.setUint32(20 + a, b, true);
  view.setUint32(24 + a, 0x004e4942, true);
  out.set(binary, 28 + a);
  return new Blob([out], { type: "model/gltf-binary" });
}
