// The animation as a file: WebM recorded from the canvas, or a GIF made frame by frame.

import { Gif } from "./gif";

export interface Film {
  canvas: HTMLCanvasElement;
  /** Shows the scene at a time and draws it at once. */
  show(time: number): void;
  start: number; end: number;
  /** Seconds of motion in one second of film. */
  speed: number;
  progress(done: number): void;
  stopped(): boolean;
}

export const canRecord = (): string | null =>
  typeof MediaRecorder === "undefined" ? null : ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"].find((m) => MediaRecorder.isTypeSupported(m)) ?? null;

/** Takes as long as the film lasts: the recorder keeps its own clock. */
export async function recordWebm(film: Film, seconds: number): Promise<Blob | null> {
  const mime = canRecord();
  if (!mime) throw new Error("this browser cannot record WebM: use the GIF");
  const stream = film.canvas.captureStream(30), chunks: Blob[] = [];
  const recorder = new MediaRecorder(stream, { mimeType: mime, videoBitsPerSecond: 6e6 });
  recorder.ondataavailable = (e) => { if (e.data.size) chunks.push(e.data); };
  const ended = new Promise<void>((done) => { recorder.onstop = () => done(); });
  film.show(film.start);
  recorder.start(500);
  const begin = performance.now();
  await new Promise<void>((done) => {
    const tick = () => {
      const s = Math.min(1, (performance.now() - begin) / 1000 / seconds);
      film.show(film.start + (film.end - film.start) * s);
      film.progress(s);
      // A busy machine may not have encoded any picture by then: it gets a little longer.
      const late = chunks.length === 0 && performance.now() - begin < 1000 * (seconds + PATIENCE);
      if ((s >= 1 && !late) || film.stopped()) setTimeout(done, 120); else requestAnimationFrame(tick);
    };
    tick();
  });
  recorder.stop();
  await ended;
  stream.getTracks().forEach((t) => t.stop());
  if (film.stopped()) return null;
  if (!chunks.length) throw new Error("this browser has recorded nothing: use the GIF");
  return new Blob(chunks, { type: "video/webm" });
}
/** Seconds that a recorder may need for its first picture. */
const PATIENCE = 10;

export async function makeGif(film: Film, seconds: number, width = 640, framesPerSecond = 20, most = 240): Promise<Blob | null> {
  const w = Math.min(width, film.canvas.width), h = Math.round((w * film.canvas.height) / film.canvas.width);
  const small = document.createElement("canvas");
  small.width = w; small.height = h;
  const pen = small.getContext("2d", { willReadFrequently: true })!;
  const shot = (t: number) => { film.show(t); pen.drawImage(film.canvas, 0, 0, w, h); return pen.getImageData(0, 0, w, h).data; };
  const n = Math.max(2, Math.min(most, Math.round(seconds * framesPerSecond))), delay = (1000 * seconds) / n;
  const at = (k: number) => film.start + ((film.end - film.start) * k) / n;
  const gif = new Gif(w, h, [0, 0.25, 0.5, 0.75].map((s) => shot(film.start + (film.end - film.start) * s).slice()));
  for (let k = 0; k < n; k++) {
    if (film.stopped()) return null;
    gif.frame(shot(at(k)), delay);
    film.progress((k + 1) / n);
    // The page stays alive between frames.
    await new Promise((done) => setTimeout(done));
  }
  return gif.finish();
}
