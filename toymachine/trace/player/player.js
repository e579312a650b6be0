// The player: moves from one position of the trace to another, by buttons, keys, time and address.
"use strict";

const kAnnounceEvery = 1500;  // ms, while playing
const kGrowEvery = 1000;      // ms, while the trace is read
const kAddressDelay = 150;    // ms; browsers limit how often an address may change

class Player {
  constructor(trace) {
    this.trace = trace;
    this.position = -1;
    this.showSymbols = Boolean(trace.about.symbols);
    this.timer = 0;
    this.announced = 0;
    this.grown = performance.now();
    this.steps = new StepsTable(trace, (position) => this.move(position));
    this.figure = figurePanel();
    this.timeline = timelinePanel(trace, (step) => this.move(this.positionOf(step)));
    this.listen();
  }

  get view() {
    const { trace, position, showSymbols } = this;
    return { trace, position, showSymbols, step: trace.step(position) };
  }

  /** `part`: how much of the trace is read, while the rest is. */
  describe(part) {
    const { about, last, lines, numbers, passStart } = this.trace;
    const title = about.title || about.program || "Trace";
    const params = Object.entries(about.params || {}).map(([name, value]) => `${name} = ${value}`);
    const machine = about.isa && `${about.isa} machine`;
    const registers = `${grouped(about.num_registers)} registers`;
    const facts = [about.program, machine, registers, ...params, `${grouped(last)} steps`];
    document.title = `${title} · flashlab`;
    byId("title").textContent = title;
    byId("facts").textContent = facts.filter(Boolean).join("  ·  ");
    byId("notice").textContent = part === undefined ? this.notice() : readingText(part);
    byId("why").textContent = JSON.parse(byId("trace-why")?.textContent ?? '""');
    byId("scrubber").max = last;
    byId("jump-step").max = numbers[last];
    byId("total").textContent = grouped(numbers[last]);
    byId("shown").hidden = !about.symbols;
    byId("passes-section").hidden = passStart.size < 2;
    byId("passes-atomics").hidden = !this.trace.hasAtomics;
    const most = [...lines.values()].reduce((max, at) => Math.max(max, at.length), 0);
    byId("program").style.setProperty("--count", `${grouped(most).length + 1}ch`);
  }

  /** More of the trace was read. Drawing takes as long as reading a part, so it is done now and then. */
  grow(part) {
    const time = performance.now();
    if (part !== undefined && time - this.grown < kGrowEvery) return;
    this.grown = time;
    this.describe(part);
    this.draw();
  }

  notice() {
    const { whole, unreadable, gaps, about } = this.trace;
    if (unreadable) return `${unreadable} lines of this trace cannot be read.`;
    if (about.error) return `The run failed at line ${about.error.line}: ${about.error.what}`;
    if (gaps.length) return "Some steps are left out: “?” marks what they did; no counter includes them.";
    if (!whole || about.complete === false) return "The trace ends before the program does.";
    return "";
  }

  // ---- Going somewhere

  /** Shows a position, the nearest that there is. */
  go(position) {
    const target = Math.min(Math.max(0, Math.round(position) || 0), this.trace.last);
    if (target === this.position) return;
    this.position = target;
    this.draw();
    this.announce(false);
    clearTimeout(this.addressTimer);
    this.addressTimer = setTimeout(() => this.writeAddress(), kAddressDelay);
  }

  /** The same by the reader's hand: it ends the playing. */
  move(position) {
    if (this.playing) this.setPlaying(false);
    this.go(position);
  }

  /** The position of a step's number: of the last one that is not after it. */
  positionOf(number) { return countUpTo(this.trace.numbers, number) - 1; }

  writeAddress() {
    const hash = `#step=${this.trace.numbers[this.position]}`;
    if (location.hash !== hash) history.replaceState(null, "", hash);
  }

  readAddress() {
    const match = /^#step=(\d{1,15})$/.exec(location.hash);
    if (match) this.move(this.positionOf(Number(match[1])));
    else if (this.position < 0) this.go(this.positionOf(Number(byId("trace-opens-at")?.textContent ?? 0)));
  }

  // ---- Playing

  get playing() { return this.timer !== 0; }
  get speed() { return Number(byId("speed").value); }

  setPlaying(on) {
    clearTimeout(this.timer);
    this.timer = 0;
    byId("play").classList.toggle("playing", on);
    byId("play").setAttribute("aria-label", on ? "Pause" : "Play");
    if (!on) {
      this.announce(true);
      return;
    }
    if (this.position === this.trace.last) this.go(0);
    this.playedFrom = { time: performance.now(), position: this.position };
    this.wait();
  }

  wait() { this.timer = setTimeout(() => this.tick(), Math.max(16, 1000 / this.speed)); }

  /** One step, or as many as are due at a speed that no screen shows one by one. */
  tick() {
    const { time, position } = this.playedFrom;
    const due = Math.floor(((performance.now() - time) * this.speed) / 1000 + 0.01);
    this.go(Math.max(this.position + 1, position + due));
    if (this.position >= this.trace.last) this.setPlaying(false);
    else this.wait();
  }

  // ---- The reader's hands

  listen() {
    const actions = {
      first: () => this.move(0),
      back: () => this.move(this.position - 1),
      play: () => this.setPlaying(!this.playing),
      forward: () => this.move(this.position + 1),
      last: () => this.move(this.trace.last),
    };
    for (const [id, action] of Object.entries(actions)) byId(id).addEventListener("click", action);
    // A click leaves the focus where it was, so that space still means play.
    byId("buttons").addEventListener("mousedown", (event) => event.preventDefault());
    document.addEventListener("keydown", (event) => this.key(event, actions));
    window.addEventListener("hashchange", () => this.readAddress());
    byId("scrubber").addEventListener("input", (event) => this.move(Number(event.target.value)));
    for (const [id, forward] of [["pair-back", false], ["pair-forward", true]]) {
      byId(id).addEventListener("click", () => {
        const target = this.trace.meetings.other(this.position, forward);
        if (target !== undefined) this.move(target);
      });
    }
    byId("speed").addEventListener("change", () => this.playing && this.setPlaying(true));
    byId("jump").addEventListener("submit", (event) => {
      event.preventDefault();
      this.move(this.positionOf(Number(byId("jump-step").value)));
      byId("jump-step").value = this.trace.numbers[this.position];
    });
    byId("shown").addEventListener("change", (event) => {
      this.showSymbols = event.target.value === "symbols";
      this.draw();
    });
  }

  /** Keys belong to the player, except where the focused control has a use of its own for them. */
  key(event, actions) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const name = {
      ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last", " ": "play",
    }[event.key];
    const control = event.target.closest?.("input:not([type=range]), select, textarea, button, a");
    const isOurs = !control || (control.matches("button, a") && event.key !== " ");
    if (!name || !isOurs) return;
    event.preventDefault();
    actions[name]();
  }

  // ---- Showing

  draw() {
    const { trace, position, view } = this;
    drawNow(view, (target) => this.move(target));
    this.figure?.showStep(trace.numbers[position]);
    drawMeetings(view, (target) => this.move(target));
    drawRegisters(view);
    drawMemory(view);
    drawProgram(view);
    drawCounters(view);
    drawPasses(view, (start) => this.move(start));
    this.timeline?.draw(view);
    this.steps.draw(view);
    byId("scrubber").value = position;
    byId("scrubber").setAttribute("aria-valuetext", whereText(view));
    const field = byId("jump-step");
    if (document.activeElement !== field) field.value = trace.numbers[position];
    // Not `disabled`, which would take the focus from under a reader's fingers.
    for (const id of ["first", "back"]) byId(id).ariaDisabled = position === 0;
    for (const id of ["last", "forward"]) byId(id).ariaDisabled = position === trace.last;
  }

  announce(now) {
    const time = performance.now();
    if (this.playing && !now && time - this.announced < kAnnounceEvery) return;
    this.announced = time;
    byId("live").textContent = narration(this.view);
  }
}

/** The figure that moves goes where the player goes. Null for a page without one. */
function figurePanel() {
  const json = byId("trace-figure");
  if (!json) return null;
  const figure = new MovingFigure(JSON.parse(json.textContent), { controls: false });
  byId("figure").append(figure.element);
  byId("figure-section").hidden = false;
  return figure;
}

const readingText = (part) => `Reading the trace … ${Math.floor(part * 100)} %`;

/** Shows a long trace as soon as the step is read that the address asks for, and reads on. */
async function start() {
  try {
    const trace = new Trace();
    const hash = /^#step=(\d{1,15})$/.exec(location.hash);
    const wanted = Number(hash?.[1] ?? byId("trace-opens-at")?.textContent ?? 0);
    let player;
    const show = (part) => {
      if (player) return player.grow(part);
      byId("notice").textContent = readingText(part ?? 1);
      if (part !== undefined && (trace.last < 1 || trace.numbers[trace.last] < wanted)) return;
      byId("player").hidden = false;
      player = new Player(trace);
      player.describe(part);
      player.readAddress();
    };
    await trace.read(show);
    show();
    document.body.dataset.read = "all";
  } catch (error) {
    byId("notice").textContent = `This trace cannot be shown: ${error.message}`;
    throw error;
  }
}

start();
