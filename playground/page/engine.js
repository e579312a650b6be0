// Sends requests to the worker. Two workers: a long run must not delay the errors shown while typing.
"use strict";

/// Returns what is behind gzip in characters of 7 bits, as a response of this kind. A letter above ASCII stands for a
/// character that HTML does not keep (in_characters of assemble.py).
function unpacked(id, kind) {
  const text = document.getElementById(id).textContent;
  const packed = new Uint8Array(parseInt(text, 10));
  let bits = 0, count = 0, end = 0;
  for (let i = text.indexOf(":") + 1; end < packed.length; ++i) {
    const code = text.charCodeAt(i);
    bits = (bits << 7 | (code < 128 ? code : code - 0xc0)) & 0x7fff;
    count += 7;
    if (count >= 8) packed[end++] = bits >> (count -= 8);
  }
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream, {headers: {"Content-Type": kind}});
}

/// Compiled once, while it is unpacked, for all workers.
const compiled = (async () => WebAssembly.compileStreaming(unpacked("wasm", "application/wasm")))();
compiled.catch(() => {});  // told when a request needs it
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
    const worker = this.worker;
    compiled.then((module) => worker.postMessage({module}), (error) => worker.onmessage({data: {failed: String(error)}}));
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
