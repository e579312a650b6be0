// The extension of Visual Studio Code for programs of the flashlab machine: the language server, the
// debugger, tasks, and a view of the exercises. `flashlab` does the work.
"use strict";
const path = require("path");
const { execFile } = require("child_process");
const vscode = require("vscode");
const { LspClient } = require("./lsp_client.js");

const kLanguage = "flashlab";
const kSchemes = ["file", "untitled"];
const kFiles = kSchemes.map((scheme) => ({ language: kLanguage, scheme }));

let client = null; // the language server's
let diagnostics = null;

function program() {
  return vscode.workspace.getConfiguration("flashlab").get("path") || "flashlab";
}

// From the protocol to Visual Studio Code ---------------------------------------------------------

function position(one) {
  return new vscode.Position(one.line, one.character);
}
function range(one) {
  return new vscode.Range(position(one.start), position(one.end));
}
function location(one) {
  return new vscode.Location(vscode.Uri.parse(one.uri), range(one.range));
}
function diagnostic(one) {
  // The protocol counts severities from 1, Visual Studio Code from 0.
  const result = new vscode.Diagnostic(range(one.range), one.message, one.severity - 1);
  result.source = one.source;
  return result;
}
function symbol(one) {
  const result = new vscode.DocumentSymbol(
    one.name, "", one.kind - 1, range(one.range), range(one.selectionRange));
  result.children = one.children.map(symbol);
  return result;
}
function completion(one) {
  const result = new vscode.CompletionItem(one.label, one.kind - 1);
  result.detail = one.detail;
  if (one.documentation) result.documentation = one.documentation;
  const { insert, replace } = one.textEdit;
  result.range = { inserting: range(insert), replacing: range(replace) };
  result.insertText = one.textEdit.newText;
  return result;
}
function textEdit(one) {
  return new vscode.TextEdit(range(one.range), one.newText);
}
function workspaceEdit(one) {
  const result = new vscode.WorkspaceEdit();
  for (const [uri, edits] of Object.entries(one.changes)) {
    for (const each of edits) result.replace(vscode.Uri.parse(uri), range(each.range), each.newText);
  }
  return result;
}
function hover(one) {
  const { kind, value } = one.contents;
  return new vscode.Hover(kind === "markdown" ? new vscode.MarkdownString(value)
                                              : new vscode.MarkdownString().appendText(value));
}
function codeAction(one) {
  const result = new vscode.CodeAction(one.title, vscode.CodeActionKind.QuickFix);
  result.edit = workspaceEdit(one.edit);
  result.diagnostics = one.diagnostics.map(diagnostic);
  result.isPreferred = one.isPreferred;
  return result;
}
function fold(one) {
  return new vscode.FoldingRange(
    one.startLine, one.endLine, one.kind === "comment" ? vscode.FoldingRangeKind.Comment : undefined);
}
// Of ours, to the protocol.
function protocolRange({ start, end }) {
  return { start: { line: start.line, character: start.character },
           end: { line: end.line, character: end.character } };
}

// The language server -----------------------------------------------------------------------------

function about(document) {
  return { textDocument: { uri: document.uri.toString() } };
}
function at(document, place) {
  return { ...about(document), position: { line: place.line, character: place.character } };
}

// Asks the server and converts its result; null and refusals become `otherwise`.
async function ask(method, params, convert, otherwise) {
  try {
    const result = await client.request(method, params);
    return result === null || result === undefined ? otherwise : convert(result);
  } catch {
    return otherwise; // the server died, or the document is not open: the next request may succeed
  }
}

function registerLanguage(legend) {
  const languages = vscode.languages;
  return [
    languages.registerHoverProvider(kFiles, {
      provideHover: (document, place) =>
        ask("textDocument/hover", at(document, place), hover, null),
    }),
    languages.registerDefinitionProvider(kFiles, {
      provideDefinition: (document, place) =>
        ask("textDocument/definition", at(document, place), location, null),
    }),
    languages.registerReferenceProvider(kFiles, {
      provideReferences: (document, place, context) =>
        ask("textDocument/references",
            { ...at(document, place), context: { includeDeclaration: context.includeDeclaration } },
            (list) => list.map(location), []),
    }),
    languages.registerRenameProvider(kFiles, {
      // Refusals reach the user: they say why.
      prepareRename: async (document, place) => {
        const one = await client.request("textDocument/prepareRename", at(document, place));
        return { range: range(one.range), placeholder: one.placeholder };
      },
      provideRenameEdits: async (document, place, newName) => {
        const result = await client.request("textDocument/rename", { ...at(document, place), newName });
        return workspaceEdit(result);
      },
    }),
    languages.registerDocumentHighlightProvider(kFiles, {
      provideDocumentHighlights: (document, place) =>
        ask("textDocument/documentHighlight", at(document, place),
            (list) => list.map((one) => new vscode.DocumentHighlight(range(one.range))), []),
    }),
    languages.registerCodeActionsProvider(kFiles, {
      provideCodeActions: (document, where, context) =>
        ask("textDocument/codeAction", {
          ...about(document), range: protocolRange(where),
          context: { diagnostics: [], ...(context.only && { only: [context.only.value] }) },
        }, (list) => list.map(codeAction), []),
    }, { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] }),
    languages.registerFoldingRangeProvider(kFiles, {
      provideFoldingRanges: (document) =>
        ask("textDocument/foldingRange", about(document), (list) => list.map(fold), []),
    }),
    languages.registerDocumentSymbolProvider(kFiles, {
      provideDocumentSymbols: (document) =>
        ask("textDocument/documentSymbol", about(document), (list) => list.map(symbol), []),
    }),
    languages.registerCompletionItemProvider(kFiles, {
      provideCompletionItems: (document, place) =>
        ask("textDocument/completion", at(document, place), (list) => list.map(completion), []),
    }, "."),
    languages.registerDocumentFormattingEditProvider(kFiles, {
      provideDocumentFormattingEdits: (document, options) =>
        ask("textDocument/formatting", { ...about(document), options },
            (list) => list.map(textEdit), []),
    }),
    languages.registerInlayHintsProvider(kFiles, {
      provideInlayHints: (document, visible) =>
        ask("textDocument/inlayHint", { ...about(document), range: protocolRange(visible) },
            (list) => list.map((one) => {
          const hint = new vscode.InlayHint(position(one.position), one.label);
          hint.paddingLeft = one.paddingLeft === true;
          hint.tooltip = one.tooltip;
          return hint;
        }), []),
    }),
    languages.registerCodeLensProvider(kFiles, {
      provideCodeLenses: (document) =>
        ask("textDocument/codeLens", about(document),
            (list) => list.map((one) => new vscode.CodeLens(range(one.range), one.command)), []),
    }),
    languages.registerDocumentSemanticTokensProvider(kFiles, {
      provideDocumentSemanticTokens: (document) =>
        ask("textDocument/semanticTokens/full", about(document),
            (one) => new vscode.SemanticTokens(new Uint32Array(one.data)), null),
    }, new vscode.SemanticTokensLegend(legend.tokenTypes, legend.tokenModifiers)),
  ];
}

function isOurs(document) {
  return document.languageId === kLanguage && kSchemes.includes(document.uri.scheme);
}

function followDocuments(subscriptions) {
  const open = (document) => {
    if (isOurs(document)) {
      client.open(document.uri.toString(), kLanguage, document.version, document.getText());
    }
  };
  vscode.workspace.textDocuments.forEach(open);
  subscriptions.push(
    vscode.workspace.onDidOpenTextDocument(open),
    vscode.workspace.onDidChangeTextDocument(({ document }) => {
      if (isOurs(document)) client.change(document.uri.toString(), document.version, document.getText());
    }),
    vscode.workspace.onDidCloseTextDocument((document) => {
      if (!isOurs(document)) return;
      client.close(document.uri.toString());
      diagnostics.delete(document.uri);
    }));
}

async function startServer(subscriptions) {
  diagnostics = vscode.languages.createDiagnosticCollection("flashlab");
  subscriptions.push(diagnostics);
  client = new LspClient([program(), "lsp"], (method, params) => {
    if (method !== "textDocument/publishDiagnostics") return;
    diagnostics.set(vscode.Uri.parse(params.uri), params.diagnostics.map(diagnostic));
  }, (text) => vscode.window.showWarningMessage(text));
  followDocuments(subscriptions);
  try {
    await client.ready;
  } catch {
    return; // the client said why
  }
  subscriptions.push(...registerLanguage(client.capabilities.semanticTokensProvider.legend));
}

// Tasks, commands and the debugger ----------------------------------------------------------------

const kTasks = {
  run: { title: "Run", words: (file) => ["run", file] },
  trace: { title: "Trace", words: (file) => ["trace", file, "--symbols"] },
  check: { title: "Check", words: (file) => ["exercises", "check", file] },
};

function task(kind, file) {
  const { title, words } = kTasks[kind];
  const result = new vscode.Task(
    { type: "flashlab", kind, file }, vscode.TaskScope.Workspace, `${title} ${path.basename(file)}`,
    "flashlab", new vscode.ProcessExecution(program(), words(file)), ["$flashlab"]);
  if (kind === "check") result.group = vscode.TaskGroup.Test;
  return result;
}

// The text of a lens or of a menu, or the one in the active editor.
function chosenUri(argument) {
  if (typeof argument === "string") return vscode.Uri.parse(argument);
  if (argument && argument.fsPath) return argument;
  const editor = vscode.window.activeTextEditor;
  return editor && isOurs(editor.document) ? editor.document.uri : undefined;
}

// Its file; none if it was never saved.
function chosenFile(argument) {
  const uri = chosenUri(argument);
  return uri && uri.scheme === "file" ? uri.fsPath : undefined;
}

function withFile(action) {
  return (argument) => {
    const file = chosenFile(argument);
    if (file !== undefined) return action(file);
    return vscode.window.showWarningMessage(
      chosenUri(argument) ? "flashlab: save the text in a file first" : "flashlab: open a .toy file first");
  };
}

function debugConfiguration(file) {
  return { type: "flashlab", request: "launch", name: `Debug ${path.basename(file)}`, program: file };
}

function registerCommands() {
  const commands = Object.keys(kTasks).map((kind) =>
    vscode.commands.registerCommand(
      `flashlab.${kind}`, withFile((file) => vscode.tasks.executeTask(task(kind, file)))));
  return commands.concat([
    vscode.commands.registerCommand("flashlab.debug", withFile(
      (file) => vscode.debug.startDebugging(undefined, debugConfiguration(file)))),
    vscode.tasks.registerTaskProvider("flashlab", {
      provideTasks: () => {
        const file = chosenFile(undefined);
        return file === undefined ? [] : Object.keys(kTasks).map((kind) => task(kind, file));
      },
      resolveTask: (one) => {
        const { kind, file } = one.definition;
        return kTasks[kind] && file ? task(kind, file) : undefined;
      },
    }),
    vscode.debug.registerDebugConfigurationProvider("flashlab", {
      // F5 without a launch.json gives an empty configuration.
      resolveDebugConfiguration: (folder, configuration) => {
        if (configuration.program) return configuration;
        const file = chosenFile(undefined);
        if (file === undefined) return undefined;
        return { ...configuration, ...debugConfiguration(file) };
      },
    }),
    vscode.debug.registerDebugAdapterDescriptorFactory("flashlab", {
      createDebugAdapterDescriptor: () => new vscode.DebugAdapterExecutable(program(), ["dap"]),
    }),
  ]);
}

// The exercises -----------------------------------------------------------------------------------

function exercises() {
  return new Promise((resolve, reject) => {
    execFile(program(), ["exercises", "list", "--json"], { maxBuffer: 1 << 24 }, (error, output) => {
      if (error) reject(error);
      else resolve(JSON.parse(output));
    });
  });
}

class ExerciseView {
  constructor() {
    this.changed = new vscode.EventEmitter();
    this.onDidChangeTreeData = this.changed.event;
  }
  refresh() {
    this.changed.fire(undefined);
  }
  async getChildren(chapter) {
    const all = await exercises();
    if (chapter !== undefined) return all.filter((one) => one.chapter === chapter);
    return [...new Set(all.map((one) => one.chapter))];
  }
  getTreeItem(one) {
    const states = vscode.TreeItemCollapsibleState;
    if (typeof one === "string") {
      return new vscode.TreeItem(path.basename(one, ".md"), states.Expanded);
    }
    const item = new vscode.TreeItem(one.title, states.None);
    item.description = `${one.points}/${one.max_points} ${one.next ? "next" : one.status}`;
    item.tooltip = one.id;
    item.command = { command: "flashlab.exercise", title: "Open", arguments: [one] };
    return item;
  }
}

// Opens the learner's file, which `exercises start` makes if there is none.
function openExercise(one) {
  const open = async (file) =>
    vscode.window.showTextDocument(await vscode.workspace.openTextDocument(vscode.Uri.file(file)));
  if (one.file) return open(one.file);
  const folders = vscode.workspace.workspaceFolders;
  if (!folders || folders.length === 0) {
    return vscode.window.showWarningMessage("flashlab: open a folder for your exercises first");
  }
  const folder = folders[0].uri.fsPath;
  return new Promise((resolve) => {
    execFile(program(), ["exercises", "start", one.id], { cwd: folder }, async (error, out, err) => {
      if (error) return resolve(vscode.window.showWarningMessage(`flashlab: ${err}`));
      const started = (await exercises()).find((other) => other.id === one.id);
      resolve(open(path.resolve(folder, started.file)));
    });
  });
}

function registerExercises() {
  const view = new ExerciseView();
  return [
    vscode.window.registerTreeDataProvider("flashlab.exercises", view),
    vscode.commands.registerCommand("flashlab.exercise", async (one) => {
      await openExercise(one);
      view.refresh();
    }),
    vscode.commands.registerCommand("flashlab.refresh", () => view.refresh()),
    vscode.tasks.onDidEndTask(() => view.refresh()),
  ];
}

async function activate(context) {
  context.subscriptions.push(...registerCommands(), ...registerExercises());
  await startServer(context.subscriptions);
}

function deactivate() {
  return client ? client.stop() : undefined;
}

module.exports = { activate, deactivate, client: () => client };
