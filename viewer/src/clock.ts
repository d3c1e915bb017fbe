// Time: playing, pausing, stepping from sample to sample, speed, loop.

export const SPEEDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];

export class Clock {
  time: number;
  playing = false;
  loop = true;
  speed = 1;
  private last = 0;

  constructor(public samples: Float64Array, public start: number, public end: number, private readonly changed: () => void) {
    this.time = start;
    const span = end - start;
    // A motion of 50 ms or of an hour is watched in some seconds.
    if (span > 0 && (span < 2 || span > 60)) {
      const ideal = span / 6;
      this.speed = SPEEDS.reduce((a, b) => (Math.abs(Math.log(b / ideal)) < Math.abs(Math.log(a / ideal)) ? b : a));
    }
  }

  set(time: number): void {
    this.time = Math.min(this.end, Math.max(this.start, time));
    this.changed();
  }

  /** Other samples: a recording that grows. */
  adopt(samples: Float64Array): void {
    this.samples = samples;
    this.start = samples[0]!;
    this.end = samples[samples.length - 1]!;
    this.time = Math.min(this.end, Math.max(this.start, this.time));
  }

  play(on = !this.playing): void {
    if (on && this.time >= this.end) this.time = this.start;
    this.playing = on && this.end > this.start;
    this.last = 0;
    this.changed();
  }

  /** Called before each frame of the screen, with its time in milliseconds. */
  tick(now: number): void {
    if (!this.playing) return;
    // After a pause of the whole page (hidden tab) the motion continues where it was.
    const dt = this.last === 0 ? 0 : Math.min(0.25, (now - this.last) / 1000);
    this.last = now;
    let t = this.time + dt * this.speed;
    if (t >= this.end) {
      if (this.loop) t = this.start + ((t - this.start) % (this.end - this.start));
      else { t = this.end; this.playing = false; }
    }
    this.set(t);
  }

  /** To the next or an earlier sample of the result. */
  step(count: number): void {
    this.playing = false;
    const t = this.samples, tiny = (this.end - this.start) * 1e-9;
    let k = 0;
    if (count > 0) { while (k < t.length - 1 && t[k]! <= this.time + tiny) k++; k += count - 1; }
    else { k = t.length - 1; while (k > 0 && t[k]! >= this.time - tiny) k--; k += count + 1; }
    this.set(t[Math.max(0, Math.min(t.length - 1, k))]!);
  }

  faster(by: 1 | -1): void {
    const k = SPEEDS.indexOf(this.speed);
    this.speed = SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, k + by))]!;
    this.changed();
  }
}
