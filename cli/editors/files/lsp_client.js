// A client of the Language Server Protocol over a process's standard input and output. It needs
// nothing but node, and knows nothing of Visual Studio Code.
"use strict";
const { spawn } = require("child_process");

const kMostRestarts = 5; // within kRestartWindow: then it stays ended
const kRestartWindow = 180000; // ms

// Cuts a stream of bytes into messages.
class FrameReader {
  constructor(onMessage) {
    this.onMessage = onMessage;
    this.waiting = Buffer.alloc(0);
  }
  push(bytes) {
    this.waiting = Buffer.concat([this.waiting, bytes]);
    for (;;) {
      const end = this.waiting.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = /content-length: *(\d+)/i.exec(this.waiting.subarray(0, end).toString("latin1"));
      if (!length) throw new Error("the server sent a frame without a length");
      const first = end + 4;
      const last = first + Number(length[1]);
      if (this.waiting.length < last) return;
      const text = this.waiting.subarray(first, last).toString("utf8");
      this.waiting = this.waiting.subarray(last);
      this.onMessage(JSON.parse(text));
    }
  }
}

// Starts the server, and starts it again if it dies; open documents are then opened again.
class LspClient {
  // command: [program, argument, ...]; onNotification(method, params); onState(text) for a person.
  constructor(command, onNotification, onState) {
    this.command = command;
    this.onNotification = onNotification;
    this.onState = onState;
    this.documents = new Map(); // uri -> {languageId, version, text}
    this.pending = new Map(); // id -> {resolve, reject}
    this.nextId = 1;
    this.deaths = [];
    this.isStopping = false;
    this.capabilities = {};
    this.process = null;
    this.readyProcess = null; // the process that answered "initialize"
    this.start();
  }

  start() {
    const server = spawn(this.command[0], this.command.slice(1), { stdio: ["pipe", "pipe", "ignore"] });
    this.process = server;
    const reader = new FrameReader((message) => this.receive(message));
    server.stdout.on("data", (bytes) => {
      try {
        reader.push(bytes);
      } catch (error) {
        this.onState(`flashlab: ${error.message}`);
        server.kill();
      }
    });
    server.stdin.on("error", () => {}); // the process ended: "exit" or "error" follows
    server.on("error", (error) => this.ended(server, `cannot be started: ${error.message}`, false));
    server.on("exit", (code, signal) => this.ended(server, `ended (${signal || code})`, true));
    this.ready = this.sendRequest("initialize", {
      processId: process.pid,
      rootUri: null,
      capabilities: {
        textDocument: {
          hover: { contentFormat: ["markdown", "plaintext"] },
          completion: { completionItem: { insertReplaceSupport: true } },
          codeAction: {
            codeActionLiteralSupport: { codeActionKind: { valueSet: ["quickfix"] } },
          },
          foldingRange: { lineFoldingOnly: true },
          rename: { prepareSupport: true },
          documentSymbol: { hierarchicalDocumentSymbolSupport: true },
        },
      },
    }).then((result) => {
      this.capabilities = result.capabilities;
      this.readyProcess = server;
      this.send({ method: "initialized", params: {} });
      for (const [uri, one] of this.documents) this.sendOpen(uri, one);
    });
    this.ready.catch(() => {}); // ended() tells
  }

  ended(server, why, mayRestart) {
    if (server !== this.process) return;
    this.process = null;
    for (const one of this.pending.values()) one.reject(new Error(`the server ${why}`));
    this.pending.clear();
    if (this.isStopping) return;
    const now = Date.now();
    this.deaths = this.deaths.filter((time) => now - time < kRestartWindow).concat(now);
    if (!mayRestart || this.deaths.length > kMostRestarts) {
      this.onState(`flashlab: the server ${why}; it is not started again`);
      return;
    }
    this.onState(`flashlab: the server ${why}; it is started again`);
    this.start();
  }

  send(message) {
    if (!this.process) return;
    const text = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }), "utf8");
    this.process.stdin.write(`Content-Length: ${text.length}\r\n\r\n`);
    this.process.stdin.write(text);
  }

  sendRequest(method, params) {
    if (!this.process) return Promise.reject(new Error("the server is not running"));
    const id = this.nextId++;
    const answer = new Promise((resolve, reject) => this.pending.set(id, { resolve, reject }));
    this.send({ id, method, params });
    return answer;
  }

  receive(message) {
    if (message.method !== undefined) {
      if (message.id === undefined) this.onNotification(message.method, message.params);
      return;
    }
    const waiting = this.pending.get(message.id);
    if (!waiting) return;
    this.pending.delete(message.id);
    if (message.error) waiting.reject(new Error(message.error.message));
    else waiting.resolve(message.result);
  }

  // Resolves with the result, after the server is ready. Rejects with the server's reason.
  async request(method, params) {
    await this.ready;
    return this.sendRequest(method, params);
  }

  sendOpen(uri, { languageId, version, text }) {
    const textDocument = { uri, languageId, version, text };
    this.send({ method: "textDocument/didOpen", params: { textDocument } });
  }
  open(uri, languageId, version, text) {
    this.documents.set(uri, { languageId, version, text });
    if (this.isReady()) this.sendOpen(uri, this.documents.get(uri));
  }
  change(uri, version, text) {
    const known = this.documents.get(uri);
    if (!known) return;
    this.documents.set(uri, { ...known, version, text });
    const params = { textDocument: { uri, version }, contentChanges: [{ text }] };
    if (this.isReady()) this.send({ method: "textDocument/didChange", params });
  }
  close(uri) {
    if (!this.documents.delete(uri)) return;
    if (this.isReady()) this.send({ method: "textDocument/didClose", params: { textDocument: { uri } } });
  }
  // Until it is, changes only go into `documents`; start() then sends the newest texts.
  isReady() {
    return this.process !== null && this.readyProcess === this.process;
  }

  async stop() {
    this.isStopping = true;
    if (!this.process) return;
    const server = this.process;
    const gone = new Promise((resolve) => server.once("exit", resolve));
    const late = setTimeout(() => server.kill(), 2000);
    try {
      await this.sendRequest("shutdown", null);
      this.send({ method: "exit" });
    } catch {
      server.kill();
    }
    await gone;
    clearTimeout(late);
  }
}

module.exports = { FrameReader, LspClient };
