// node playground/first_answers.js BUILD: prints the answers that the page shows before its WebAssembly is
// compiled, as one object in JSON. BUILD holds flashlab_wasm.js.
"use strict";
const machine = require(require("path").resolve(process.argv[2], "flashlab_wasm.js"));

machine().then((built) => {
  const answer = (request) => {
    const text = Buffer.from(JSON.stringify(request));
    const address = built._flashlab_text(text.length);
    built.HEAPU8.set(text, address);
    const answered = built._flashlab_answer(address, text.length, 60000, 1 << 30);
    const whole = JSON.parse(Buffer.from(built.HEAPU8.slice(answered, built.HEAPU8.indexOf(0, answered))).toString());
    built._flashlab_done(answered);
    if (!whole.ok) throw new Error(whole.error.text);
    return whole.answer;
  };
  const first = "softmax_online";
  process.stdout.write(JSON.stringify({
    isa: answer({request: "isa"}),
    programs: answer({request: "programs"}),
    exercises: answer({request: "exercises"}),
    texts: {[first]: answer({request: "programs", name: first}).text},
  }));
}).catch((error) => {
  process.stderr.write(`first_answers.js: ${error}\n`);
  process.exit(1);
});
