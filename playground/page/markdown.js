// Shows the Markdown of chapters, problems and hints as elements. Never makes markup from text.
"use strict";

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== undefined && value !== null) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/// Returns text with `code`, **bold**, *italics*, [links](…) and pictures as nodes. `open(target)` follows
/// a link to another page of the course; `picture(path)` returns an address, or nothing.
function inline(text, context) {
  const nodes = [];
  const pattern = /(`+)([\s\S]*?[^`])\1(?!`)|\[<img src="([^"]+)"[^>]*alt="([^"]*)"[^>]*>\]\([^)]*\)|!\[([^\]]*)\]\(([^)]+)\)|\[([^\]]+)\]\(([^)]+)\)|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\\([\\`*_{}\[\]()#+\-.!|<>])/g;
  let end = 0;
  for (const found of text.matchAll(pattern)) {
    nodes.push(text.slice(end, found.index));
    end = found.index + found[0].length;
    const [, , code, image, alt, alt2, image2, label, target, bold, italic, escaped] = found;
    if (code !== undefined) nodes.push(element("code", {}, code.trim()));
    else if (image !== undefined) nodes.push(picture(image, alt, context));
    else if (image2 !== undefined) nodes.push(picture(image2, alt2, context));
    else if (label !== undefined) nodes.push(link(label, target, context));
    else if (bold !== undefined) nodes.push(element("strong", {}, ...inline(bold, context)));
    else if (italic !== undefined) nodes.push(element("em", {}, ...inline(italic, context)));
    else nodes.push(escaped);
  }
  nodes.push(text.slice(end));
  return nodes.filter((node) => node !== "");
}

function picture(path, alt, context) {
  const address = context.picture && context.picture(path);
  return address ? element("img", {src: address, alt, loading: "lazy"}) : element("em", {}, `[picture: ${alt}]`);
}

function link(label, target, context) {
  const page = /^([\w]+\.md)?(#[\w-]+)?$/.exec(target);
  if (page && context.open && (page[1] === undefined || context.known(page[1]))) {
    return element("a", {href: "#chapter=" + (page[1] || context.page)}, ...inline(label, context));
  }
  if (/^https:\/\//.test(target)) return element("a", {href: target, rel: "noreferrer", target: "_blank"}, label);
  return element("span", {class: "outside", title: "in flashlab's source: " + target}, ...inline(label, context));
}

/// Returns the elements of a Markdown text. context.block(element, about, text) and, for a picture,
/// context.moving(element, about) may add to it: `about` is the comment before it, such as "$ flashlab trace
/// matmul_c00". context.question(number, fold) may return an element that asks for a prediction before the fold
/// with its answer.
function markdown(text, context = {}) {
  const lines = text.replace(/\r/g, "").split("\n");
  const all = [];
  let about = "", asks = false, questions = 0;
  for (let at = 0; at < lines.length;) {
    const line = lines[at];
    const comment = /^\s*<!--\s*(.*?)\s*-->\s*$/.exec(line);
    if (comment) {
      about = comment[1];
      ++at;
    } else if (/^\s*$/.test(line)) {
      ++at;
    } else if (/^\s*(```|~~~)/.test(line)) {
      const body = [];
      const fence = line.trim().slice(0, 3);
      for (++at; at < lines.length && lines[at].trim().slice(0, 3) !== fence; ++at) body.push(lines[at]);
      ++at;
      const block = element("div", {class: "block"},
                            element("pre", {tabindex: "0"}, element("code", {}, body.join("\n"))));
      if (context.block) context.block(block, about, body.join("\n"));
      all.push(block);
      about = "";
    } else if (/^<details>/.test(line)) {
      const body = [];
      for (++at; at < lines.length && lines[at] !== "</details>"; ++at) body.push(lines[at]);
      ++at;
      const summary = (/<summary>([^<]*)</.exec(line) || ["", "Answer"])[1];
      const fold = element("details", {}, element("summary", {}, summary), ...markdown(body.join("\n"), context));
      if (asks && context.question) all.push(context.question(++questions, fold));
      asks = false;
      all.push(fold);
    } else if (/^ {4,}\S/.test(line)) {
      const body = [];
      while (at < lines.length && /^( {4,}|\s*$)/.test(lines[at])) body.push(lines[at++].slice(4));
      all.push(element("pre", {tabindex: "0"}, element("code", {}, body.join("\n").trimEnd())));
    } else if (/^#{1,6} /.test(line)) {
      const level = Math.min(6, /^#+/.exec(line)[0].length + (context.below || 0));
      all.push(element("h" + level, {}, ...inline(line.replace(/^#+ /, ""), context)));
      ++at;
    } else if (/^\|/.test(line) && /^\|[-| :]+\|?\s*$/.test(lines[at + 1] || "")) {
      const cells = (row) => row.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => inline(cell.trim(), context));
      const head = element("tr", {}, ...cells(line).map((cell) => element("th", {scope: "col"}, ...cell)));
      const body = [];
      for (at += 2; at < lines.length && /^\|/.test(lines[at]); ++at) {
        body.push(element("tr", {}, ...cells(lines[at]).map((cell) => element("td", {}, ...cell))));
      }
      all.push(element("div", {class: "scroller"}, element("table", {}, element("thead", {}, head), element("tbody", {}, ...body))));
    } else if (/^---+\s*$/.test(line)) {
      all.push(element("hr"));
      ++at;
    } else if (/^>/.test(line)) {
      const body = [];
      while (at < lines.length && /^>/.test(lines[at])) body.push(lines[at++].replace(/^> ?/, ""));
      all.push(element("blockquote", {}, ...markdown(body.join("\n"), context)));
    } else if (/^\s*([-*]|\d+\.) /.test(line)) {
      const ordered = /^\s*\d+\. /.test(line);
      const items = [];
      while (at < lines.length && /\S/.test(lines[at])) {
        if (/^\s{0,3}([-*]|\d+\.) /.test(lines[at])) items.push(lines[at].replace(/^\s*([-*]|\d+\.) /, ""));
        else items[items.length - 1] += "\n" + lines[at].trim();
        ++at;
      }
      all.push(element(ordered ? "ol" : "ul", {}, ...items.map((item) => element("li", {}, ...inline(item, context)))));
    } else {
      const body = [];
      while (at < lines.length && /\S/.test(lines[at]) && !/^(#{1,6} |```|\||>|\s*<!--)/.test(lines[at])) body.push(lines[at++]);
      if (body.length === 0) body.push(lines[at++]);
      asks = asks || body.join("\n").includes("**Predict**");
      const block = element("p", {}, ...inline(body.join("\n"), context));
      if (context.picture && about.startsWith("picture: ") && context.moving) context.moving(block, about);
      all.push(block);
      about = "";
    }
  }
  return all;
}
