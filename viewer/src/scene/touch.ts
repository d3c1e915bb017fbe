// Where two sides of a contact touch, from the drawing alone: for the arrows of contact forces.

import type { Side, Vec3 } from "../data";

const dot = (a: Vec3, b: Vec3): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const plus = (a: Vec3, b: Vec3, s: number): Vec3 => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
const minus = (a: Vec3, b: Vec3): Vec3 => plus(a, b, -1);
const unit = (a: Vec3): Vec3 | null => { const l = Math.hypot(...a); return l > 0 ? [a[0] / l, a[1] / l, a[2] / l] : null; };

/** The world of a side: places and directions of its body. */
export interface World { place(body: string, at: Vec3): Vec3; direction(body: string, v: Vec3): Vec3 }
/** A place, the normal there from the second side to the first, and how far the sides are apart. */
export interface Touch { at: Vec3; n: Vec3; gap: number }

/** The nearest point of an outline, with the normal of its edge. */
function nearest(points: Vec3[], closed: boolean, p: Vec3): { q: Vec3; far: number; edge: Vec3 } {
  let best = { q: points[0]!, far: Infinity, edge: [0, 0, 0] as Vec3 };
  for (let i = 0; i + (closed ? 0 : 1) < points.length; i++) {
    const a = points[i]!, e = minus(points[(i + 1) % points.length]!, a), l = dot(e, e);
    const s = l > 0 ? Math.min(1, Math.max(0, dot(minus(p, a), e) / l)) : 0, q = plus(a, e, s), far = Math.hypot(...minus(p, q));
    if (far < best.far) best = { q, far, edge: e };
  }
  return best;
}

export function touch(first: Side, second: Side, world: World): Touch | null {
  const radius = first.radius ?? 0, ends = first.outline?.map((p) => world.place(first.body, p)) ?? [world.place(first.body, first.at)];
  let out: Touch | null = null;
  const offer = (t: Touch) => { if (!out || t.gap < out.gap) out = t; };
  if (second.normal) {
    const n = unit(world.direction(second.body, second.normal)), s = world.place(second.body, second.at);
    if (!n) return null;
    for (const p of ends) {
      // The rim of a disk touches where it is lowest.
      const e = first.axis && world.direction(first.body, first.axis), down = e ? unit(plus(n, e, -dot(n, e))) ?? n : n;
      const at = plus(p, down, -radius);
      offer({ at, n, gap: dot(n, minus(at, s)) });
    }
  } else if (second.outline) {
    const points = second.outline.map((p) => world.place(second.body, p)), k = 1 / points.length;
    const centre = points.reduce((c, p) => plus(c, p, k), [0, 0, 0] as Vec3);
    for (const p of ends) {
      const { q, far, edge } = nearest(points, second.closed === true, p);
      // Outwards of the edge, for points that lie on it.
      const away = minus(q, centre), along = unit(edge), n = radius > 0 ? unit(minus(p, q)) : unit(along ? plus(away, along, -dot(away, along)) : away);
      if (n) offer({ at: q, n, gap: far - radius });
    }
  } else {
    const c = world.place(second.body, second.at), R = second.radius ?? 0;
    for (const p of ends) {
      const d = minus(p, c), l = Math.hypot(...d), n = unit(second.hollow ? minus(c, p) : d);
      if (n) offer({ at: plus(p, n, -radius), n, gap: second.hollow ? R - radius - l : l - R - radius });
    }
  }
  return out;
}

/** Where a contact acts: the middle of the places that are nearest to touching. */
export function meeting(spots: [Side, Side][], world: World, near: number): Touch | null {
  const all = spots.map(([a, b]) => touch(a, b, world)).filter((t) => t !== null), least = Math.min(...all.map((t) => t.gap));
  const closed = all.filter((t) => t.gap <= least + near);
  if (!closed.length) return null;
  const k = 1 / closed.length, n = unit(closed.reduce((s, t) => plus(s, t.n, k), [0, 0, 0] as Vec3));
  return n && { at: closed.reduce((s, t) => plus(s, t.at, k), [0, 0, 0] as Vec3), n, gap: least };
}
