// The shaders of the mechanism: a matte surface with a drawn contour, edges, and a picture of identities for hovering.
// All of them take the pose of each vertex's body from a texture: texel 2k is the origin, 2k + 1 the quaternion (x, y, z, w).

import * as THREE from "three";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";

/** Texels in a row of the pose texture. */
export const ROW = 256;
/** How many things can be lit at once, and how many can be absent. */
export const LIT = 12;
export const ABSENT = 32;

const POSE = /* glsl */ `
  uniform sampler2D poses;
  vec4 texel(int k) { return texelFetch(poses, ivec2(k % ${ROW}, k / ${ROW}), 0); }
  vec3 turn(vec4 q, vec3 v) { return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v); }
  uniform float ghost;
  uniform float sink;
  vec3 place(float body, vec3 at) {
    int k = 2 * int(body + 0.5);
    return texel(k).xyz + turn(texel(k + 1), at);
  }
  uniform float absent[${ABSENT}];
  // A ghost has no ground, and lies a little behind the result with which it is compared. What events have taken out is not drawn.
  vec4 onScreen(float body, float id, vec3 p) {
    if (ghost > 0.5 && body < 0.5) return vec4(2.0, 2.0, 2.0, 1.0);
    for (int k = 0; k < ${ABSENT}; k++) if (absent[k] > 0.5 && abs(id - absent[k]) < 0.5) return vec4(2.0, 2.0, 2.0, 1.0);
    vec4 c = projectionMatrix * viewMatrix * vec4(p, 1.0);
    c.z += sink * c.w;
    // Faces of two bodies in one plane: the later body lies in front, always, so that nothing flickers.
    c.z -= 2e-6 * mod(body, 64.0) * c.w;
    return c;
  }
`;

const BODY_VERTEX = /* glsl */ `
  attribute vec3 tint;
  attribute vec2 owner;
  uniform float swell;
  uniform vec2 size;
  varying vec3 vTint;
  varying vec3 vNormal;
  varying float vId;
  ${POSE}
  void main() {
    vTint = tint;
    vId = owner.y;
    vec4 q = texel(2 * int(owner.x + 0.5) + 1);
    vec3 n = turn(q, normal);
    vNormal = (viewMatrix * vec4(n, 0.0)).xyz;
    gl_Position = onScreen(owner.x, owner.y, place(owner.x, position));
    if (swell > 0.0) {
      // Grown by a number of pixels on the screen: the contour is the back of the solid, a little larger.
      vec2 d = (projectionMatrix * vec4(vNormal, 0.0)).xy;
      gl_Position.xy += normalize(d + vec2(1e-9)) * swell * 2.0 / size * gl_Position.w;
    }
  }
`;

const LINE_VERTEX = /* glsl */ `
  attribute vec3 tint;
  attribute vec2 owner;
  varying vec3 vTint;
  varying float vId;
  ${POSE}
  void main() {
    vTint = tint;
    vId = owner.y;
    gl_Position = onScreen(owner.x, owner.y, place(owner.x, position));
    gl_Position.z -= 3e-5 * gl_Position.w;
  }
`;

// A spring, rope or distance: `position` is (offset across, offset across, fraction along) between two places on two bodies;
// `slack` is the direction in which a rope sags, and the texel of its spare and straight length, or 0: each stretch between
// two of its places has its share of the spare length, and is a bow about as deep as two straight halves would be.
const TIE_VERTEX = /* glsl */ `
  attribute vec3 tint;
  attribute vec4 first;
  attribute vec4 second;
  attribute vec4 slack;
  attribute float id;
  varying vec3 vTint;
  varying float vId;
  ${POSE}
  void main() {
    vTint = tint;
    vId = id;
    vec3 a = place(first.w, first.xyz), b = place(second.w, second.xyz);
    vec3 d = b - a;
    float l = length(d);
    d = l > 0.0 ? d / l : vec3(1.0, 0.0, 0.0);
    vec3 side = abs(d.x) < 0.8 ? vec3(1.0, 0.0, 0.0) : vec3(0.0, 1.0, 0.0);
    vec3 u = normalize(cross(d, side)), v = cross(d, u);
    vec3 p = a + d * (position.z * l) + u * position.x + v * position.y;
    vec3 down = dot(slack.xyz, slack.xyz) > 0.5 ? slack.xyz : u;
    if (slack.w > 0.5) {
      vec4 rope = texel(int(slack.w + 0.5));
      float whole = l + rope.x * (rope.y > 0.0 ? l / rope.y : 1.0);
      p += down * (2.0 * position.z * (1.0 - position.z) * sqrt(max(0.0, whole * whole - l * l)));
    }
    gl_Position = onScreen(1.0, id, p);
  }
`;

const SURFACE = /* glsl */ `
  uniform vec3 accent;
  uniform float lit[${LIT}];
  uniform float opacity;
  uniform float flatTint;
  uniform vec3 over;
  varying vec3 vTint;
  varying vec3 vNormal;
  varying float vId;
  void main() {
    vec3 n = normalize(vNormal);
    float light = 0.5 + 0.5 * dot(n, normalize(vec3(0.25, 0.55, 0.8)));
    vec3 base = mix(vTint, over, flatTint);
    vec3 c = mix(base * 0.62, mix(base, vec3(1.0), 0.16), light);
    for (int k = 0; k < ${LIT}; k++) if (lit[k] > 0.5 && abs(vId - lit[k]) < 0.5) c = mix(c, accent, 0.65);
    gl_FragColor = vec4(c, opacity);
  }
`;

const INK = /* glsl */ `
  uniform vec3 stroke;
  uniform float inkShare;
  uniform vec3 accent;
  uniform float lit[${LIT}];
  uniform float opacity;
  varying vec3 vTint;
  varying float vId;
  void main() {
    vec3 c = mix(vTint, stroke, inkShare);
    for (int k = 0; k < ${LIT}; k++) if (lit[k] > 0.5 && abs(vId - lit[k]) < 0.5) c = accent;
    gl_FragColor = vec4(c, opacity);
  }
`;

const IDENTITY = /* glsl */ `
  varying float vId;
  void main() {
    float k = floor(vId + 0.5);
    gl_FragColor = vec4(mod(k, 256.0) / 255.0, mod(floor(k / 256.0), 256.0) / 255.0, floor(k / 65536.0) / 255.0, 1.0);
  }
`;

/** Uniforms that all materials of the page share by reference: a change of theme or hover reaches every one. */
export interface Shared {
  /** Contours, and lines such as edges and hatching: on dark paper the first stay dark, the second turn light. */
  ink: { value: THREE.Color }; pen: { value: THREE.Color }; accent: { value: THREE.Color };
  lit: { value: number[] }; size: { value: THREE.Vector2 };
  /** Width of the contour in pixels. */
  contour: { value: number };
  /** Pixels added to every solid, so that a long chain seen from far is still a line. */
  thicken: { value: number };
}

interface Look { poses: THREE.Texture; absent: { value: number[] }; over?: THREE.Color; opacity?: number; sink?: number }

function make(shared: Shared, look: Look, vertexShader: string, fragmentShader: string, extra: object, own: Record<string, THREE.IUniform>): THREE.ShaderMaterial {
  const opacity = look.opacity ?? 1;
  return new THREE.ShaderMaterial({
    vertexShader, fragmentShader,
    uniforms: {
      ...shared, poses: { value: look.poses }, absent: look.absent, opacity: { value: opacity }, swell: { value: 0 }, ghost: { value: look.over ? 1 : 0 }, sink: { value: look.sink ?? 0 },
      flatTint: { value: look.over ? 1 : 0 }, over: { value: look.over ?? new THREE.Color() }, inkShare: { value: 0.62 }, ...own,
    },
    transparent: opacity < 1, depthWrite: opacity >= 1, ...extra,
  });
}

export const surface = (s: Shared, l: Look): THREE.ShaderMaterial =>
  make(s, l, BODY_VERTEX, SURFACE, { side: THREE.DoubleSide, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 }, { swell: s.thicken });

export const contour = (s: Shared, l: Look): THREE.ShaderMaterial =>
  make(s, l, BODY_VERTEX, INK, { side: THREE.BackSide }, { swell: s.contour, stroke: s.ink });

export const edge = (s: Shared, l: Look): THREE.ShaderMaterial => make(s, l, LINE_VERTEX, INK, {}, { stroke: s.pen });

export const tie = (s: Shared, l: Look): THREE.ShaderMaterial => make(s, l, TIE_VERTEX, INK, {}, { inkShare: { value: 0.3 }, stroke: s.pen });

export const identity = (s: Shared, l: Look, kind: "body" | "line" | "tie"): THREE.ShaderMaterial =>
  make(s, { poses: l.poses, absent: l.absent }, { body: BODY_VERTEX, line: LINE_VERTEX, tie: TIE_VERTEX }[kind], IDENTITY, { side: THREE.DoubleSide }, {});

/** A traced curve, `width` pixels wide, and the dot that moves along it. */
export const curveLook = (color: string, width: number, opacity: number, depthTest: boolean): LineMaterial => new LineMaterial({ color, linewidth: width, transparent: true, opacity, depthTest });
export const dotLook = (color: string): THREE.MeshBasicMaterial => new THREE.MeshBasicMaterial({ color, depthTest: false, transparent: true });
