// Sends requests to the worker. Two workers: a long run must not delay the errors shown while typing.
"use strict";

/// Returns the bytes behind base64 of gzip.
async function unpacked(id) {
  const packed = Uint8Array.from(atob(document.getElementById(id).textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const wasmBytes = unpacked("wasm");
const workerAddress = URL.createObjectURL(new Blob(
    [document.getElementById("worker").textContent], {type: "text/javascript"}));

class Stopped extends Error {}

class Engine {
  constructor(milliseconds) {
    this.milliseconds = milliseconds;
    this.waiting = new Map();
    this.next = 1;
    this.begin();
  }

  begin() {
    this.worker = new Worker(workerAddress);
    this.ready = new Promise((resolve, reject) => {
      this.worker.onmessage = ({data}) => {
        if (data.ready) return resolve();
        if (data.failed) return reject(new Error(data.failed));
        const {done, fail} = this.waiting.get(data.id) || {};
        this.waiting.delete(data.id);
        if (data.crashed) {
          if (fail) fail(new Error("flashlab ended in this request: " + data.crashed));
          this.stop("another request ended it");
        } else if (done) {
          done(data.answer);
        }
      };
      this.worker.onerror = (event) => reject(new Error(event.message || "the worker cannot start"));
    });
    this.ready.catch(() => {});
    wasmBytes.then((bytes) => this.worker.postMessage({wasm: bytes}));
  }

  /// Returns {ok, answer, error, notes}. Throws Stopped after stop(), Error if WebAssembly fails.
  async ask(request) {
    await this.ready;
    const id = this.next++;
    return new Promise((done, fail) => {
      this.waiting.set(id, {done, fail});
      this.worker.postMessage({id, request, milliseconds: this.milliseconds, bytes: 1 << 30});
    });
  }

  /// Returns the answer. Throws an Error with `details` for an error in it.
  async answer(request) {
    const whole = await this.ask(request);
    if (whole.ok) return whole.answer;
    throw Object.assign(new Error(whole.error.text), {details: whole.error});
  }

  /// Ends what runs; the next request meets a new worker.
  stop(why = "stopped") {
    this.worker.terminate();
    for (const {fail} of this.waiting.values()) fail(new Stopped(why));
    this.waiting.clear();
    this.begin();
  }
}
