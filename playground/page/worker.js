// The worker: holds the WebAssembly and answers one request after the other.
"use strict";
let machine = null;

async function start(module) {
  const instantiateWasm = (imports, done) => {
    WebAssembly.instantiate(module, imports).then((instance) => done(instance, module),
                                                  (error) => postMessage({failed: String(error)}));
    return {};
  };
  machine = await makeFlashlab({instantiateWasm, print() {}, printErr() {}});
  postMessage({ready: true});
}

function answer(request, milliseconds, bytes) {
  const text = new TextEncoder().encode(JSON.stringify(request));
  const address = machine._flashlab_text(text.length);
  if (address === 0) throw new Error("there is no memory for the request");
  machine.HEAPU8.set(text, address);
  const answered = machine._flashlab_answer(address, text.length, milliseconds, bytes);
  if (answered === 0) throw new Error("there is no memory for the answer");
  const heap = machine.HEAPU8;
  const whole = new TextDecoder().decode(heap.slice(answered, heap.indexOf(0, answered)));
  machine._flashlab_done(answered);
  return JSON.parse(whole);
}

onmessage = (event) => {
  const {module, id, request, milliseconds, bytes} = event.data;
  if (module) {
    start(module).catch((error) => postMessage({failed: String(error)}));
    return;
  }
  try {
    postMessage({id, answer: answer(request, milliseconds, bytes)});
  } catch (error) {
    postMessage({id, crashed: String(error)});  // the page starts another worker
  }
};
