// Puts what the server sends in place of the part that it belongs to. The part is the server's own
// HTML, escaped there; the page's policy lets nothing in it run or load.
"use strict";
const part = document.querySelector("[data-events]");
const said = document.querySelector("[data-said]");
const source = new EventSource(part.dataset.events);
source.addEventListener("part", (event) => {
  const open = [...part.querySelectorAll("details")].map((each) => each.open);
  part.innerHTML = JSON.parse(event.data);
  part.querySelectorAll("details").forEach((each, place) => { each.open = open[place] ?? each.open; });
});
source.addEventListener("over", () => {
  source.close();
  said.textContent = "The run has ended.";
});
source.addEventListener("open", () => { said.textContent = "Live: this page follows the run."; });
source.addEventListener("error", () => { said.textContent = "Not connected; trying again."; });
