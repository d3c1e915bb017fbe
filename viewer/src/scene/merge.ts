// Merges every solid of the mechanism into one geometry. Each vertex says which body carries it, so that one draw call
// shows a thousand bodies and their poses arrive as one small texture.

import * as THREE from "three";

/** What a vertex needs in addition to its place: the pose row that moves it, the thing to name on hover, its colour. */
export interface Owner { body: number; id: number; color: THREE.Color }

export class Merge {
  private position: number[] = [];
  private normal: number[] = [];
  private color: number[] = [];
  private owner: number[] = [];
  private index: number[] = [];
  private linePosition: number[] = [];
  private lineOwner: number[] = [];
  private lineColor: number[] = [];
  /** Vertex ranges by body, for the export of the scene. */
  readonly ranges: { body: number; start: number; count: number; color: THREE.Color }[] = [];

  solid(geometry: THREE.BufferGeometry, place: THREE.Matrix4, owner: Owner, edges = true): void {
    const p = geometry.getAttribute("position").array, n = geometry.getAttribute("normal").array, count = p.length / 3;
    const first = this.position.length / 3, start = this.index.length, turn = new THREE.Matrix3().getNormalMatrix(place).elements;
    transformed(p, place.elements, this.position);
    for (let i = 0; i < n.length; i += 3) {
      const x = n[i]!, y = n[i + 1]!, z = n[i + 2]!;
      const a = turn[0]! * x + turn[3]! * y + turn[6]! * z, b = turn[1]! * x + turn[4]! * y + turn[7]! * z, c = turn[2]! * x + turn[5]! * y + turn[8]! * z;
      const l = Math.hypot(a, b, c) || 1;
      this.normal.push(a / l, b / l, c / l);
    }
    for (let i = 0; i < count; i++) {
      this.color.push(owner.color.r, owner.color.g, owner.color.b);
      this.owner.push(owner.body, owner.id);
    }
    const index = geometry.index?.array;
    if (index) for (let i = 0; i < index.length; i++) this.index.push(first + index[i]!);
    else for (let i = 0; i < count; i++) this.index.push(first + i);
    this.ranges.push({ body: owner.body, start, count: this.index.length - start, color: owner.color });
    if (!edges) return;
    const e = edgesOf(geometry).getAttribute("position").array;
    transformed(e, place.elements, this.linePosition);
    for (let i = 0; i < e.length / 3; i++) this.lineLook(owner);
  }

  /** Loose line segments, two points each. */
  segments(points: THREE.Vector3[], owner: Owner): void {
    for (const p of points) this.linePoint(p, owner);
  }

  private linePoint(p: THREE.Vector3, owner: Owner): void {
    this.linePosition.push(p.x, p.y, p.z);
    this.lineLook(owner);
  }
  private lineLook(owner: Owner): void {
    this.lineOwner.push(owner.body, owner.id);
    this.lineColor.push(owner.color.r, owner.color.g, owner.color.b);
  }

  surfaces(): THREE.BufferGeometry {
    const g = new THREE.BufferGeometry();
    g.setAttribute("position", new THREE.Float32BufferAttribute(this.position, 3));
    g.setAttribute("normal", new THREE.Float32BufferAttribute(this.normal, 3));
    g.setAttribute("tint", new THREE.Float32BufferAttribute(this.color, 3));
    g.setAttribute("owner", new THREE.Float32BufferAttribute(this.owner, 2));
    g.setIndex(this.index);
    return g;
  }

  lines(): THREE.BufferGeometry {
    const g = new THREE.BufferGeometry();
    g.setAttribute("position", new THREE.Float32BufferAttribute(this.linePosition, 3));
    g.setAttribute("tint", new THREE.Float32BufferAttribute(this.lineColor, 3));
    g.setAttribute("owner", new THREE.Float32BufferAttribute(this.lineOwner, 2));
    return g;
  }
}

/** Adds points, moved by the columns of a matrix, to a list. */
function transformed(points: ArrayLike<number>, m: ArrayLike<number>, out: number[]): void {
  for (let i = 0; i < points.length; i += 3) {
    const x = points[i]!, y = points[i + 1]!, z = points[i + 2]!;
    out.push(m[0]! * x + m[4]! * y + m[8]! * z + m[12]!, m[1]! * x + m[5]! * y + m[9]! * z + m[13]!, m[2]! * x + m[6]! * y + m[10]! * z + m[14]!);
  }
}

// Chains repeat the same few solids; their edges are found once.
const known = new WeakMap<THREE.BufferGeometry, THREE.BufferGeometry>();
function edgesOf(geometry: THREE.BufferGeometry): THREE.BufferGeometry {
  let e = known.get(geometry);
  if (!e) {
    e = new THREE.EdgesGeometry(geometry, 35);
    known.set(geometry, e);
  }
  return e;
}
