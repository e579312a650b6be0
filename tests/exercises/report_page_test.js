// Runs in the page that write_html makes: sorts it by each column, and leaves what it shows as JSON
// for report_page_test.cpp.
(() => {
  const names = () => [...document.querySelectorAll("#students tbody th")].map((e) => e.textContent);
  const button = (text) =>
      [...document.querySelectorAll("#students button")].find((e) => e.textContent === text);
  const result = { first : names(), errors : window.errorsSoFar };
  button("cycles").click();
  result.rising = names();
  result.note = document.getElementById("sort-note").textContent;
  button("cycles").click();
  result.falling = names();
  result.order = button("cycles").parentElement.getAttribute("aria-sort");
  button("name").click();
  result.byName = names();
  const report = document.createElement("pre");
  report.id = "report";
  report.textContent = JSON.stringify(result);
  document.body.append(report);
})();
