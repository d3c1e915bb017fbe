// A GIF encoder for drawings of few colours: one palette of the most frequent colours, LZW as in the GIF89a specification.

class Bytes {
  private data = new Uint8Array(1 << 16);
  length = 0;
  push(b: number): void {
    if (this.length === this.data.length) { const more = new Uint8Array(this.data.length * 2); more.set(this.data); this.data = more; }
    this.data[this.length++] = b;
  }
  all(...b: number[]): void { for (const x of b) this.push(x); }
  word(x: number): void { this.all(x & 255, (x >> 8) & 255); }
  view(): Uint8Array<ArrayBuffer> { return this.data.slice(0, this.length); }
}

/** Colours reduced to 5 bits each, as one number. */
const key = (r: number, g: number, b: number) => ((r >> 3) << 10) | ((g >> 3) << 5) | (b >> 3);

export class Gif {
  private readonly out = new Bytes();
  private readonly nearest = new Int16Array(32768).fill(-1);
  private readonly palette: [number, number, number][];

  /** `sample` holds pixels (RGBA) from which the palette is chosen. */
  constructor(private readonly width: number, private readonly height: number, sample: Uint8ClampedArray[]) {
    const count = new Uint32Array(32768), sum = new Float64Array(32768 * 3);
    for (const px of sample) for (let i = 0; i < px.length; i += 4) {
      const k = key(px[i]!, px[i + 1]!, px[i + 2]!);
      count[k]!++;
      sum[3 * k]! += px[i]!; sum[3 * k + 1]! += px[i + 1]!; sum[3 * k + 2]! += px[i + 2]!;
    }
    this.palette = [...count.keys()].filter((k) => count[k]! > 0).sort((a, b) => count[b]! - count[a]!).slice(0, 256)
      .map((k) => [0, 1, 2].map((c) => Math.round(sum[3 * k + c]! / count[k]!)) as [number, number, number]);
    while (this.palette.length < 256) this.palette.push([0, 0, 0]);
    const o = this.out;
    for (const c of "GIF89a") o.push(c.charCodeAt(0));
    o.word(width); o.word(height);
    o.all(0xf7, 0, 0);
    for (const c of this.palette) o.all(...c);
    // The block that makes it repeat for ever.
    o.all(0x21, 0xff, 11);
    for (const c of "NETSCAPE2.0") o.push(c.charCodeAt(0));
    o.all(3, 1, 0, 0, 0);
  }

  private indexOf(r: number, g: number, b: number): number {
    const k = key(r, g, b);
    if (this.nearest[k]! < 0) {
      let best = 0, least = Infinity;
      this.palette.forEach((c, i) => {
        const d = (c[0] - r) ** 2 + (c[1] - g) ** 2 + (c[2] - b) ** 2;
        if (d < least) { least = d; best = i; }
      });
      this.nearest[k] = best;
    }
    return this.nearest[k]!;
  }

  frame(px: Uint8ClampedArray, delayMs: number): void {
    const o = this.out;
    o.all(0x21, 0xf9, 4, 4);
    o.word(Math.max(2, Math.round(delayMs / 10)));
    o.all(0, 0, 0x2c);
    o.word(0); o.word(0); o.word(this.width); o.word(this.height);
    o.all(0, 8);
    const index = new Uint8Array(this.width * this.height);
    for (let i = 0; i < index.length; i++) index[i] = this.indexOf(px[4 * i]!, px[4 * i + 1]!, px[4 * i + 2]!);
    this.lzw(index);
  }

  private lzw(index: Uint8Array): void {
    const o = this.out, clear = 256, end = 257;
    let table = new Map<number, number>(), next = 258, size = 9, bits = 0, held = 0;
    const block: number[] = [];
    const flush = () => { if (block.length) { o.push(block.length); o.all(...block); block.length = 0; } };
    const emit = (code: number) => {
      bits |= code << held;
      held += size;
      while (held >= 8) { block.push(bits & 255); bits >>>= 8; held -= 8; if (block.length === 255) flush(); }
    };
    emit(clear);
    let prefix = index[0]!;
    for (let i = 1; i < index.length; i++) {
      const c = index[i]!, k = (prefix << 8) | c, known = table.get(k);
      if (known !== undefined) { prefix = known; continue; }
      emit(prefix);
      if (next < 4096) {
        table.set(k, next);
        if (next === 1 << size) size++;
        next++;
      } else {
        emit(clear);
        table = new Map();
        next = 258;
        size = 9;
      }
      prefix = c;
    }
    emit(prefix);
    emit(end);
    if (held > 0) block.push(bits & 255);
    flush();
    o.push(0);
  }

  finish(): Blob {
    this.out.push(0x3b);
    return new Blob([this.out.view()], { type: "image/gif" });
  }
}
