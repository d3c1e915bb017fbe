// The engine inside the page: requests and replies as JSON through the memory of WebAssembly, the present instant as a row of numbers.

/** A complaint of the engine, in the words of the command line. `start` and `end` count characters of the file. */
export interface Complaint {
  code: string; message: string; help: string; names: string[]; warning: boolean; shown: string;
  line?: number; column?: number; start?: number; end?: number;
}
export interface Reply { ok: boolean; diagnostics?: Complaint[]; [key: string]: unknown }
export interface Described extends Reply {
  title: string; assembled: boolean; columns: string[]; parameters: [string, number][]; unused: string[]; states: string[];
  /** Parameters that are plain numbers, with the location of their values in the file: from, to. */
  written: [string, number, number][];
  inputs: { name: string; unit: string; value: number; range: [number | null, number | null] }[]; drives: string[]; gravity: boolean;
}

interface Exports {
  memory: WebAssembly.Memory;
  fourbar_request(length: number): number; fourbar_answer(): number; fourbar_reply(): number; fourbar_row(): number; fourbar_row_length(): number;
}

export class Engine {
  private exports: Exports;
  private constructor(private readonly module: WebAssembly.Module) { this.exports = this.fresh(); }

  /** From the text of the block that holds it: gzip in base64. */
  static async of(text: string): Promise<Engine> {
    const bytes = atob(text.trim()), packed = new Uint8Array(bytes.length);
    for (let k = 0; k < bytes.length; k++) packed[k] = bytes.charCodeAt(k);
    const plain = new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")));
    return new Engine(await WebAssembly.compile(await plain.arrayBuffer()));
  }

  private fresh(): Exports { return new WebAssembly.Instance(this.module, {}).exports as unknown as Exports; }

  /** Asks the engine. Should it break down, which is a fault of the program, a new one takes its place and the complaint says so. */
  ask(request: Record<string, unknown>): Reply {
    try {
      const e = this.exports, bytes = new TextEncoder().encode(JSON.stringify(request)), at = e.fourbar_request(bytes.length);
      new Uint8Array(e.memory.buffer, at, bytes.length).set(bytes);
      const length = e.fourbar_answer();
      return JSON.parse(new TextDecoder().decode(new Uint8Array(e.memory.buffer, e.fourbar_reply(), length))) as Reply;
    } catch (error) {
      this.exports = this.fresh();
      const message = `the engine failed: ${error instanceof Error ? error.message : String(error)}`;
      return { ok: false, broken: true, diagnostics: [{ code: "U473", message, help: "this is a bug in the program; please report it with the file", names: [], warning: false, shown: message }] };
    }
  }

  /** A second engine, which computes while the page stays responsive. */
  beside(): Beside { return new Beside(this.module); }

  /** The present instant, in the order of the columns; a copy. */
  row(): Float64Array {
    const e = this.exports;
    return new Float64Array(e.memory.buffer, e.fourbar_row(), e.fourbar_row_length()).slice();
  }

  get memoryBytes(): number { return this.exports.memory.buffer.byteLength; }
}

/** The script of a worker: its own engine answers a list of requests, up to the first that fails. */
const WORKER = `
let made = null;
onmessage = ({ data: { module, requests } }) => {
  const before = performance.now();
  let reply = null;
  try {
    made ??= new WebAssembly.Instance(module, {}).exports;
    for (const request of requests) {
      const bytes = new TextEncoder().encode(JSON.stringify(request)), at = made.fourbar_request(bytes.length);
      new Uint8Array(made.memory.buffer, at, bytes.length).set(bytes);
      const length = made.fourbar_answer();
      reply = JSON.parse(new TextDecoder().decode(new Uint8Array(made.memory.buffer, made.fourbar_reply(), length)));
      if (!reply.ok) break;
    }
  } catch (error) {
    made = null;
    const message = 'the engine failed: ' + error;
    reply = { ok: false, diagnostics: [{ code: 'U473', message, help: 'this is a bug in the program; please report it with the file', names: [], warning: false, shown: message }] };
  }
  postMessage({ reply, spent: performance.now() - before });
};`;

/** An engine in a worker. It does one thing at a time: what is asked next ends what is still under way. */
export class Beside {
  private worker: Worker | null = null;
  private waiting: ((answer: Reply | null) => void) | null = null;
  /** Milliseconds of the last answer. */
  spent = Infinity;
  constructor(private readonly module: WebAssembly.Module) {}

  get busy(): boolean { return this.waiting !== null; }

  /** Answers the last of the requests; null if it was stopped, an error where this browser has no workers for pages like this one. */
  ask(requests: Record<string, unknown>[]): Promise<Reply | null> {
    this.stop();
    return new Promise((done, failed) => {
      if (!this.worker) {
        const address = URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" }));
        this.worker = new Worker(address);
        setTimeout(() => URL.revokeObjectURL(address), 10000);
      }
      this.waiting = done;
      this.worker.onmessage = ({ data }: MessageEvent<{ reply: Reply; spent: number }>) => {
        this.waiting = null;
        this.spent = data.spent;
        done(data.reply);
      };
      this.worker.onerror = () => { this.waiting = null; this.worker = null; failed(new Error("a worker cannot be made")); };
      this.worker.postMessage({ module: this.module, requests });
    });
  }

  /** Ends what is under way. */
  stop(): void {
    const waiting = this.waiting;
    if (!waiting) return;
    this.worker?.terminate();
    this.worker = this.waiting = null;
    waiting(null);
  }
}
