// Steps through the player of a trace with a figure, and leaves what the figure said.
(() => {
  const leave = () => {
    const report = { errors: window.errorsSoFar, captions: [], widest: 0 };
    const key = (name) => document.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
    key("Home");
    for (let i = 0; i < 12; ++i) {
      report.captions.push(document.querySelector(".moving .mf-caption b").textContent);
      key("ArrowRight");
    }
    report.widest = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    key("End");
    report.last = document.querySelectorAll(".moving .mf-number")[2].textContent;
    const pre = document.createElement("pre");
    pre.id = "report";
    pre.textContent = JSON.stringify(report);
    document.body.append(pre);
  };
  const wait = () => (document.body.dataset.read === "all" ? leave() : setTimeout(wait, 20));
  wait();
})();
