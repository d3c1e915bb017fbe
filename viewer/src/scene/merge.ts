// Merges every solid of the mechanism into one geometry. Each vertex says which body carries it, so that one draw call
// shows a thousand bodies and their poses arrive as one small texture.

import * as THREE from "three";

/** What a vertex needs besides its place: the pose row that moves it, the thing to name on hover, its colour. */
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
    const g = geometry.clone().applyMatrix4(place);
    const p = g.getAttribute("position"), n = g.getAttribute("normal");
    const first = this.position.length / 3, start = this.index.length;
    for (let i = 0; i < p.count; i++) {
      this.position.push(p.getX(i), p.getY(i), p.getZ(i));
      this.normal.push(n.getX(i), n.getY(i), n.getZ(i));
      this.color.push(owner.color.r, owner.color.g, owner.color.b);
      this.owner.push(owner.body, owner.id);
    }
    if (g.index) for (let i = 0; i < g.index.count; i++) this.index.push(first + g.index.getX(i));
    else for (let i = 0; i < p.count; i++) this.index.push(first + i);
    this.ranges.push({ body: owner.body, start, count: this.index.length - start, color: owner.color });
    if (edges) {
      const e = edgesOf(geometry).clone().applyMatrix4(place).getAttribute("position");
      for (let i = 0; i < e.count; i++) this.linePoint(new THREE.Vector3().fromBufferAttribute(e, i), owner);
    }
    g.dispose();
  }

  /** Loose line segments, two points each. */
  segments(points: THREE.Vector3[], owner: Owner): void {
    for (const p of points) this.linePoint(p, owner);
  }

  private linePoint(p: THREE.Vector3, owner: Owner): void {
    this.linePosition.push(p.x, p.y, p.z);
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
