// A stand-in for the module `vscode`, as far as the extension uses it. Every constructor and function
// checks the types that Visual Studio Code documents, and throws if the extension gives others.
"use strict";

function check(condition, what) {
  if (!condition) throw new TypeError(what);
}
const isCount = (value) => Number.isInteger(value) && value >= 0;
const isText = (value) => typeof value === "string";
const isFunction = (value) => typeof value === "function";

class Position {
  constructor(line, character) {
    check(isCount(line) && isCount(character), `Position(${line}, ${character})`);
    Object.assign(this, { line, character });
  }
}
class Range {
  constructor(start, end) {
    check(start instanceof Position && end instanceof Position, "Range of two Positions");
    check(start.line < end.line || (start.line === end.line && start.character <= end.character),
          "Range that ends before it starts");
    Object.assign(this, { start, end });
  }
}
class Uri {
  constructor(scheme, fsPath) {
    Object.assign(this, { scheme, fsPath });
  }
  static file(path) {
    check(isText(path) && path.startsWith("/"), `Uri.file(${path})`);
    return new Uri("file", path);
  }
  static parse(text) {
    check(isText(text) && /^\w+:/.test(text), `Uri.parse(${text})`);
    return new Uri(text.split(":")[0], decodeURIComponent(text.replace(/^\w+:(\/\/)?/, "")));
  }
  toString() {
    if (this.scheme === "untitled") return `untitled:${encodeURIComponent(this.fsPath)}`;
    return `${this.scheme}://${this.fsPath.split("/").map(encodeURIComponent).join("/")}`;
  }
}
class Location {
  constructor(uri, range) {
    check(uri instanceof Uri && range instanceof Range, "Location");
    Object.assign(this, { uri, range });
  }
}
class Diagnostic {
  constructor(range, message, severity) {
    check(range instanceof Range && isText(message) && isCount(severity) && severity <= 3, "Diagnostic");
    Object.assign(this, { range, message, severity });
  }
}
class DocumentSymbol {
  constructor(name, detail, kind, range, selectionRange) {
    check(isText(name) && name !== "" && isText(detail) && isCount(kind) && kind <= 25, "DocumentSymbol");
    check(range instanceof Range && selectionRange instanceof Range, "DocumentSymbol's ranges");
    Object.assign(this, { name, detail, kind, range, selectionRange, children: [] });
  }
}
class CompletionItem {
  constructor(label, kind) {
    check(isText(label) && isCount(kind) && kind <= 26, "CompletionItem");
    Object.assign(this, { label, kind });
  }
}
class TextEdit {
  constructor(range, newText) {
    check(range instanceof Range && isText(newText), "TextEdit");
    Object.assign(this, { range, newText });
  }
}
class WorkspaceEdit {
  constructor() {
    this.edits = [];
  }
  replace(uri, range, text) {
    check(uri instanceof Uri && range instanceof Range && isText(text), "WorkspaceEdit.replace");
    this.edits.push({ uri, range, text });
  }
}
class CodeAction {
  constructor(title, kind) {
    check(isText(title) && kind === CodeActionKind.QuickFix, "CodeAction");
    Object.assign(this, { title, kind });
  }
}
const CodeActionKind = { QuickFix: { value: "quickfix" } };
const FoldingRangeKind = { Comment: 1, Imports: 2, Region: 3 };
class FoldingRange {
  constructor(start, end, kind) {
    check(isCount(start) && isCount(end) && start < end, "FoldingRange");
    check(kind === undefined || kind === FoldingRangeKind.Comment, "FoldingRange's kind");
    Object.assign(this, { start, end, kind });
  }
}
class DocumentHighlight {
  constructor(range) {
    check(range instanceof Range, "DocumentHighlight");
    this.range = range;
  }
}
class MarkdownString {
  constructor(value = "") {
    check(isText(value), "MarkdownString");
    this.value = value;
  }
  appendText(text) {
    check(isText(text), "MarkdownString.appendText");
    this.value += text.replace(/[\\`*_{}[\]()#+\-!~]/g, "\\$&").replace(/\n/g, "\n\n");
    return this;
  }
}
class Hover {
  constructor(contents) {
    check(contents instanceof MarkdownString, "Hover");
    this.contents = contents;
  }
}
class InlayHint {
  constructor(position, label) {
    check(position instanceof Position && isText(label) && label !== "", "InlayHint");
    Object.assign(this, { position, label });
  }
}
class CodeLens {
  constructor(range, command) {
    check(range instanceof Range && isText(command.command) && isText(command.title), "CodeLens");
    Object.assign(this, { range, command });
  }
}
class SemanticTokensLegend {
  constructor(tokenTypes, tokenModifiers) {
    check(tokenTypes.every(isText) && tokenModifiers.every(isText), "SemanticTokensLegend");
    Object.assign(this, { tokenTypes, tokenModifiers });
  }
}
class SemanticTokens {
  constructor(data) {
    check(data instanceof Uint32Array && data.length % 5 === 0, "SemanticTokens");
    this.data = data;
  }
}
class EventEmitter {
  constructor() {
    this.listeners = [];
    this.event = (listener) => {
      check(isFunction(listener), "a listener");
      this.listeners.push(listener);
      return { dispose: () => {} };
    };
  }
  fire(value) {
    for (const listener of this.listeners) listener(value);
  }
}
class TreeItem {
  constructor(label, collapsibleState) {
    check(isText(label) && isCount(collapsibleState) && collapsibleState <= 2, "TreeItem");
    Object.assign(this, { label, collapsibleState });
  }
}
class ProcessExecution {
  constructor(process, args) {
    check(isText(process) && args.every(isText), "ProcessExecution");
    Object.assign(this, { process, args });
  }
}
class Task {
  constructor(definition, scope, name, source, execution, problemMatchers) {
    check(isText(definition.type) && isText(name) && isText(source), "Task");
    check(execution instanceof ProcessExecution && problemMatchers.every(isText), "Task's execution");
    Object.assign(this, { definition, scope, name, source, execution, problemMatchers });
  }
}
class DebugAdapterExecutable {
  constructor(command, args) {
    check(isText(command) && args.every(isText), "DebugAdapterExecutable");
    Object.assign(this, { command, args });
  }
}

// The state that a test sees: what was registered, shown and started.
const seen = { providers: {}, selectors: [], commands: {}, messages: [], tasks: [], debugged: [], views: {}, opened: [] };
const settings = {};
const events = {
  open: new EventEmitter(), change: new EventEmitter(), close: new EventEmitter(),
  endTask: new EventEmitter(),
};

const nothing = { dispose: () => {} };
function provider(kind, ...methods) {
  return (selector, one) => {
    check([selector].flat().every((each) => isText(each.language)), `${kind}: a selector`);
    for (const method of methods) check(isFunction(one[method]), `${kind}: ${method}`);
    check(!(kind in seen.providers), `${kind}: registered twice`);
    seen.providers[kind] = one;
    seen.selectors.push(selector);
    return nothing;
  };
}

const languages = {
  createDiagnosticCollection: (name) => {
    check(isText(name), "createDiagnosticCollection");
    const published = new Map();
    seen.diagnostics = published;
    seen.onDiagnostics = new EventEmitter();
    return {
      set: (uri, list) => {
        check(uri instanceof Uri && list.every((one) => one instanceof Diagnostic), "diagnostics");
        published.set(uri.toString(), list);
        seen.onDiagnostics.fire(list);
      },
      delete: (uri) => published.delete(uri.toString()),
      dispose: () => {},
    };
  },
  registerHoverProvider: provider("hover", "provideHover"),
  registerDefinitionProvider: provider("definition", "provideDefinition"),
  registerReferenceProvider: provider("references", "provideReferences"),
  registerRenameProvider: provider("rename", "prepareRename", "provideRenameEdits"),
  registerDocumentSymbolProvider: provider("symbols", "provideDocumentSymbols"),
  registerCompletionItemProvider: provider("completion", "provideCompletionItems"),
  registerDocumentFormattingEditProvider: provider("formatting", "provideDocumentFormattingEdits"),
  registerFoldingRangeProvider: provider("folding", "provideFoldingRanges"),
  registerDocumentHighlightProvider: provider("highlights", "provideDocumentHighlights"),
  registerCodeActionsProvider: (selector, one, { providedCodeActionKinds }) => {
    check(providedCodeActionKinds.includes(CodeActionKind.QuickFix), "code actions: their kinds");
    return provider("actions", "provideCodeActions")(selector, one);
  },
  registerInlayHintsProvider: provider("hints", "provideInlayHints"),
  registerCodeLensProvider: provider("lenses", "provideCodeLenses"),
  registerDocumentSemanticTokensProvider: (selector, one, legend) => {
    check(legend instanceof SemanticTokensLegend, "semantic tokens: a legend");
    seen.legend = legend;
    return provider("tokens", "provideDocumentSemanticTokens")(selector, one);
  },
};

const workspace = {
  textDocuments: [],
  workspaceFolders: undefined,
  getConfiguration: (section) => ({ get: (key) => settings[`${section}.${key}`] }),
  onDidOpenTextDocument: events.open.event,
  onDidChangeTextDocument: events.change.event,
  onDidCloseTextDocument: events.close.event,
  openTextDocument: async (uri) => {
    check(uri instanceof Uri, "openTextDocument");
    return { uri };
  },
};

const window = {
  activeTextEditor: undefined,
  showWarningMessage: (text) => {
    check(isText(text), "showWarningMessage");
    seen.messages.push(text);
  },
  showTextDocument: (document) => seen.opened.push(document.uri.fsPath),
  registerTreeDataProvider: (id, one) => {
    check(isText(id) && isFunction(one.getChildren) && isFunction(one.getTreeItem), "a view");
    seen.views[id] = one;
    return nothing;
  },
};

const commands = {
  registerCommand: (name, action) => {
    check(isText(name) && isFunction(action), "registerCommand");
    check(!(name in seen.commands), `${name}: registered twice`);
    seen.commands[name] = action;
    return nothing;
  },
};

const tasks = {
  registerTaskProvider: (type, one) => {
    check(isText(type) && isFunction(one.provideTasks) && isFunction(one.resolveTask), "tasks");
    seen.taskProvider = one;
    return nothing;
  },
  executeTask: (task) => {
    check(task instanceof Task, "executeTask");
    seen.tasks.push(task);
  },
  onDidEndTask: events.endTask.event,
};

const debug = {
  startDebugging: (folder, configuration) => {
    check(configuration.type === "flashlab" && isText(configuration.program), "startDebugging");
    seen.debugged.push(configuration);
  },
  registerDebugConfigurationProvider: (type, one) => {
    check(isFunction(one.resolveDebugConfiguration), "a configuration provider");
    seen.configurations = one;
    return nothing;
  },
  registerDebugAdapterDescriptorFactory: (type, one) => {
    check(isFunction(one.createDebugAdapterDescriptor), "an adapter factory");
    seen.adapters = one;
    return nothing;
  },
};

module.exports = {
  Position, Range, Uri, Location, Diagnostic, DocumentSymbol, CompletionItem, TextEdit, WorkspaceEdit,
  CodeAction, CodeActionKind, FoldingRange, FoldingRangeKind, DocumentHighlight, MarkdownString, Hover, InlayHint, CodeLens, SemanticTokensLegend, SemanticTokens, EventEmitter,
  TreeItem, ProcessExecution, Task, DebugAdapterExecutable,
  TaskScope: { Global: 1, Workspace: 2 },
  TaskGroup: { Test: "test" },
  TreeItemCollapsibleState: { None: 0, Collapsed: 1, Expanded: 2 },
  languages, workspace, window, commands, tasks, debug,
  stub: { seen, settings, events },
};
