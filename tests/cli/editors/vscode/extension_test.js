// Runs the extension of a .vsix package on the stub of `vscode`, with the real servers.
//   node extension_test.js PACKAGE.vsix FLASHLAB
"use strict";
const assert = require("assert");
const { spawn } = require("child_process");
const fs = require("fs");
const Module = require("module");
const path = require("path");
const vscode = require("./vscode_stub.js");

const [, , packageFile, flashlab] = process.argv;
const { seen, settings, events } = vscode.stub;
settings["flashlab.path"] = flashlab;

// Reads an archive without compression by its directory, as installers do.
function filesOf(archive) {
  const end = archive.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  const files = new Map();
  let at = archive.readUInt32LE(end + 16);
  for (let i = 0; i < archive.readUInt16LE(end + 10); ++i) {
    assert.strictEqual(archive.readUInt32LE(at), 0x02014b50);
    assert.strictEqual(archive.readUInt16LE(at + 10), 0, "stored");
    const size = archive.readUInt32LE(at + 24);
    const name = archive.subarray(at + 46, at + 46 + archive.readUInt16LE(at + 28)).toString();
    const local = archive.readUInt32LE(at + 42);
    assert.strictEqual(archive.readUInt32LE(local), 0x04034b50);
    const first = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
    files.set(name, archive.subarray(first, first + size));
    at += 46 + name.length;
  }
  return files;
}

const folder = fs.mkdtempSync(path.join(require("os").tmpdir(), "flashlab-vscode-"));
process.on("exit", () => fs.rmSync(folder, { recursive: true }));
process.env.HOME = folder; // the learner's progress
process.env.XDG_DATA_HOME = folder;
for (const [name, bytes] of filesOf(fs.readFileSync(packageFile))) {
  const file = path.join(folder, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, bytes);
}

const load = Module._load;
Module._load = (request, ...rest) => (request === "vscode" ? vscode : load(request, ...rest));
const manifest = JSON.parse(fs.readFileSync(path.join(folder, "extension/package.json")));
const extension = require(path.join(folder, "extension", manifest.main));
const { LspClient } = require(path.join(folder, "extension/lsp_client.js"));

const kText = ".isa softmax\n.registers 2\n.param n = 4\n.input x[n]\n.output y[n]\n.pass Copy\n" +
  "for i in 0..n\n  LOAD x[i], R0 ; \u{1F600}\n  STORE R0, y[i]\nend\n";

function documentOf(name, text) {
  return { uri: vscode.Uri.file(path.join(folder, name)), languageId: "flashlab", version: 1,
           getText() { return text; }, set(next) { text = next; this.version += 1; } };
}
function nextDiagnostics() {
  return new Promise((resolve) => {
    const listeners = seen.onDiagnostics.listeners;
    const listener = (list) => { listeners.splice(listeners.indexOf(listener), 1); resolve(list); };
    listeners.push(listener);
  });
}
function everything(text) {
  return new vscode.Range(new vscode.Position(0, 0), new vscode.Position(text.split("\n").length, 0));
}

const tests = {
  async "the manifest's commands, views and files are there"() {
    for (const { command } of manifest.contributes.commands) assert(command in seen.commands, command);
    for (const { id } of manifest.contributes.views.explorer) assert(id in seen.views, id);
    for (const { path: file } of manifest.contributes.grammars) {
      JSON.parse(fs.readFileSync(path.join(folder, "extension", file)));
    }
    assert.strictEqual(manifest.contributes.debuggers[0].type, "flashlab");
  },

  async "errors come and go while one types"() {
    const document = documentOf("a.toy", kText.replace("LOAD", "LAOD"));
    let published = nextDiagnostics();
    events.open.fire(document);
    const [error] = await published;
    assert.match(error.message, /LOAD/);
    assert.deepStrictEqual(error.range.start, new vscode.Position(7, 2));
    assert.strictEqual(error.severity, 0);
    document.set(kText);
    published = nextDiagnostics();
    events.change.fire({ document });
    assert.deepStrictEqual(await published, []);
  },

  async "hints, lenses, hover, names, outline, completion, colours and formatting"() {
    const document = documentOf("a.toy", kText);
    const at = new vscode.Position(7, 7);
    const of = seen.providers;
    const hints = await of.hints.provideInlayHints(document, everything(kText));
    assert.match(hints[0].label, /n loads, n stores/);
    assert.strictEqual(hints[1].label, "n times");
    assert.strictEqual(hints[1].position.character, 20, "UTF-16");
    const lenses = await of.lenses.provideCodeLenses(document);
    for (const { command } of lenses) assert(command.command in seen.commands, command.command);
    const { value } = (await of.hover.provideHover(document, at)).contents;
    assert.match(value, /^\*\*x\*\* an input of `n` elements/, "Markdown, which the client asks for");
    assert.match(value, /LOAD/);
    assert.strictEqual((await of.definition.provideDefinition(document, at)).range.start.line, 3);
    assert.strictEqual((await of.references.provideReferences(document, at, {})).length, 2);
    const [pass] = await of.symbols.provideDocumentSymbols(document);
    assert.strictEqual(pass.children[0].name, "for i in 0..n");
    const items = await of.completion.provideCompletionItems(document, new vscode.Position(7, 4));
    const { range: places } = items.find((one) => one.label === "LOAD");
    assert.deepStrictEqual([places.inserting, places.replacing],
      [4, 6].map((end) => new vscode.Range(new vscode.Position(7, 2), new vscode.Position(7, end))));
    const tokens = await of.tokens.provideDocumentSemanticTokens(document);
    assert(tokens.data.length > 50);
    assert(seen.legend.tokenTypes.includes("parameter"));
    assert.strictEqual((await of.rename.prepareRename(document, at)).placeholder, "x");
    const { edits } = await of.rename.provideRenameEdits(document, at, "input");
    assert.strictEqual(edits.length, 2);
    await assert.rejects(of.rename.provideRenameEdits(document, at, "n"), /in use/);
    assert.deepStrictEqual(await of.formatting.provideDocumentFormattingEdits(document, {}), []);
  },

  async "quick fixes, folds and highlights"() {
    const text = kText.replace("LOAD", "LAOD");
    const document = documentOf("fixed.toy", text);
    const published = nextDiagnostics();
    events.open.fire(document);
    const [{ range }] = await published;
    const of = seen.providers;
    const [action] = await of.actions.provideCodeActions(document, range, { diagnostics: [] });
    assert.strictEqual(action.title, "Write LOAD instead of LAOD");
    assert.deepStrictEqual(action.edit.edits, [{ uri: document.uri, range, text: "LOAD" }]);
    assert.strictEqual(action.isPreferred, true);
    assert.match(action.diagnostics[0].message, /LAOD/);
    const only = { value: "refactor" };
    assert.deepStrictEqual(await of.actions.provideCodeActions(document, range, { only }), []);
    const folds = await of.folding.provideFoldingRanges(document);
    assert(folds.some((one) => one.start === 6 && one.end === 8), "the loop");
    const places = await of.highlights.provideDocumentHighlights(document, new vscode.Position(7, 7));
    assert.deepStrictEqual(places.map((one) => one.range.start.line), [3, 7]);
  },

  async "a text that no file has yet has errors and hovers, and is saved before it runs"() {
    const document = { ...documentOf("", ""), uri: vscode.Uri.parse("untitled:Untitled-1"),
                       getText: () => kText.replace("STORE", "STOER") };
    const published = nextDiagnostics();
    events.open.fire(document);
    assert.match((await published)[0].message, /STOER/);
    for (const selector of seen.selectors) {
      assert.deepStrictEqual(selector.map((one) => one.scheme), ["file", "untitled"]);
    }
    const hover = await seen.providers.hover.provideHover(document, new vscode.Position(2, 8));
    assert.match(hover.contents.value, /n/);
    const count = seen.tasks.length;
    await seen.commands["flashlab.run"](document.uri.toString());
    assert.match(seen.messages.at(-1), /save the text/);
    vscode.window.activeTextEditor = { document };
    await seen.commands["flashlab.debug"](undefined);
    assert.match(seen.messages.at(-1), /save the text/);
    assert.deepStrictEqual(seen.taskProvider.provideTasks(), []);
    assert.strictEqual(seen.configurations.resolveDebugConfiguration(undefined, {}), undefined);
    vscode.window.activeTextEditor = undefined;
    assert.strictEqual(seen.tasks.length, count);
    events.close.fire(document);
    assert(!seen.diagnostics.has(document.uri.toString()));
  },

  async "a server killed in the middle of an edit is started again with the newest text"() {
    const document = documentOf("killed.toy", kText);
    let published = nextDiagnostics();
    events.open.fire(document);
    await published;
    const server = extension.client().process;
    server.kill("SIGKILL");
    document.set(kText.replace("STORE", "STRE")); // before and after the death is noticed
    events.change.fire({ document });
    await new Promise((resolve) => server.once("exit", resolve));
    document.set(kText.replace("STORE", "STOER"));
    events.change.fire({ document });
    const all = documentsPublished();
    await all.until(() => (all.of(document) || []).some((one) => /STOER/.test(one.message)));
    assert.match(seen.messages.at(-1), /started again/);
    document.set(kText);
    published = nextDiagnostics();
    events.change.fire({ document });
    assert.deepStrictEqual(await published, []);
  },

  async "a server that cannot start or always dies is given up, with a message"() {
    for (const [command, reason] of [[["/nonexistent/flashlab"], /cannot be started/],
                                     [["false"], /not started again/]]) {
      const said = [];
      await new Promise((resolve) => {
        const client = new LspClient(command, () => {}, (text) => {
          said.push(text);
          if (/not started again/.test(text)) resolve();
        });
        client.ready.catch(() => {});
      });
      assert.match(said.at(-1), reason);
      assert(said.length <= 6, "at most five starts more");
    }
  },

  async "tasks and lenses run the command on the file"() {
    const document = documentOf("a.toy", kText);
    await seen.commands["flashlab.trace"](document.uri.toString());
    assert.deepStrictEqual(seen.tasks.at(-1).execution.args, ["trace", document.uri.fsPath, "--symbols"]);
    vscode.window.activeTextEditor = { document };
    assert.strictEqual(seen.taskProvider.provideTasks().length, 3);
    const configuration = seen.configurations.resolveDebugConfiguration(undefined, {});
    assert.strictEqual(configuration.program, document.uri.fsPath);
    vscode.window.activeTextEditor = undefined;
    assert.strictEqual(seen.configurations.resolveDebugConfiguration(undefined, {}), undefined);
    await seen.commands["flashlab.run"](undefined);
    assert.match(seen.messages.at(-1), /open a .toy file/);
  },

  async "the debug adapter steps forward and back"() {
    const file = path.join(folder, "debugged.toy");
    fs.writeFileSync(file, kText);
    await seen.commands["flashlab.debug"](vscode.Uri.file(file).toString());
    const { command, args } = seen.adapters.createDebugAdapterDescriptor();
    const adapter = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
    const messages = [];
    const { FrameReader } = require(path.join(folder, "extension/lsp_client.js"));
    const reader = new FrameReader((one) => messages.push(one));
    adapter.stdout.on("data", (bytes) => reader.push(bytes));
    const send = (name, argumentsOf) => {
      const text = JSON.stringify({ seq: 1, type: "request", command: name, arguments: argumentsOf });
      adapter.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
    };
    send("initialize", { adapterID: "flashlab" });
    send("launch", seen.debugged.at(-1));
    send("configurationDone", {});
    send("next", { threadId: 1 });
    send("next", { threadId: 1 });
    send("stepBack", { threadId: 1 });
    send("stackTrace", { threadId: 1 });
    send("disconnect", {});
    await new Promise((resolve) => adapter.once("close", resolve));
    const stack = messages.find((one) => one.command === "stackTrace");
    assert.strictEqual(stack.body.stackFrames[0].name, "step 1 of 8");
    assert.strictEqual(stack.body.stackFrames[0].source.path, file);
    assert.strictEqual(messages.filter((one) => one.event === "stopped").length, 4);
  },

  async "the view shows the exercises, and opens one"() {
    const view = seen.views["flashlab.exercises"];
    const chapters = await view.getChildren(undefined);
    assert(chapters.length > 4);
    const [, second] = await view.getChildren(chapters[0]);
    assert.match(view.getTreeItem(second).description, /^0\/10 /);
    vscode.window.activeTextEditor = undefined;
    await seen.commands["flashlab.exercise"](second);
    assert.match(seen.messages.at(-1), /open a folder/);
    vscode.workspace.workspaceFolders = [{ uri: vscode.Uri.file(folder) }];
    await seen.commands["flashlab.exercise"](second);
    assert(fs.existsSync(seen.opened.at(-1)), "the file that was opened");
  },
};

// What was published, by document.
function documentsPublished() {
  return {
    of: (document) => seen.diagnostics.get(document.uri.toString()),
    until: async (condition) => { while (!condition()) await nextDiagnostics(); },
  };
}

async function main() {
  const late = setTimeout(() => { console.log("not finished after 60 s"); process.exit(1); }, 60000);
  const context = { subscriptions: [] };
  await extension.activate(context);
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test();
      console.log(`ok      ${name}`);
    } catch (error) {
      ++failed;
      console.log(`FAILED  ${name}: ${error.stack}`);
    }
  }
  await extension.deactivate();
  clearTimeout(late);
  console.log(`${Object.keys(tests).length - failed} passed, ${failed} failed`);
  process.exit(failed === 0 ? 0 : 1);
}
main();
