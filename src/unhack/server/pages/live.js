// Puts what the server sends in place of the part that it belongs to. The part is the server's own
// HTML, escaped there; the page's policy lets nothing in it run or load.
//
// A stream ends every few seconds and is asked for anew, of which nothing is said unless it lasts. A
// browser gives up for good where the answer is no stream, as from a proxy whose server starts anew:
// then this script asks. A tab that nobody sees holds no connection, of which a browser has six.
"use strict";
const AGAIN_MS = 5000, PATIENCE_MS = 5000;
const part = document.querySelector("[data-events]");
const said = document.querySelector("[data-said]");
let source = null, again = 0, doubt = 0, over = false;

function say(words) {
  if (said.textContent !== words) said.textContent = words;
}

function show(html) {
  const opened = [...part.querySelectorAll("details")].map((each) => each.open);
  const stops = () => [...part.querySelectorAll("a, summary, [tabindex]")];
  const at = stops().indexOf(document.activeElement);
  const along = stops().map((each) => each.scrollLeft);
  part.innerHTML = html;
  part.querySelectorAll("details").forEach((each, n) => { each.open = opened[n] ?? each.open; });
  stops().forEach((each, n) => { each.scrollLeft = along[n] ?? 0; });
  if (at >= 0) stops()[at]?.focus({ preventScroll: true });
}

function leave() {
  clearTimeout(again);
  clearTimeout(doubt);
  doubt = 0;
  source?.close();
}

function follow() {
  clearTimeout(again);
  const stream = source = new EventSource(part.dataset.events);
  stream.addEventListener("part", (event) => show(JSON.parse(event.data)));
  stream.addEventListener("over", () => {
    over = true;
    leave();
    say("The run has ended.");
  });
  stream.addEventListener("open", () => {
    clearTimeout(doubt);
    doubt = 0;
    say("Live: this page follows the run.");
  });
  stream.addEventListener("error", () => {
    doubt ||= setTimeout(say, PATIENCE_MS, "Not connected; trying again.");
    if (stream.readyState === EventSource.CLOSED) again = setTimeout(follow, AGAIN_MS);
  });
}

document.addEventListener("visibilitychange", () => {
  if (over) return;
  leave();
  if (!document.hidden) follow();
});
follow();
