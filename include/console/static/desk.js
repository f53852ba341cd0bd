// Keeps the desk fresh and draws fans. The server renders; this file swaps only the parts whose
// HTML has changed, so that nothing flickers, and says so when it can't.
"use strict";

const REFRESH_MILLISECONDS = 10_000;
const TIMEOUT_MILLISECONDS = 8_000;
const FAN = { width: 640, height: 180, left: 64, right: 12, top: 12, bottom: 24 };
const SVG = "http://www.w3.org/2000/svg";
const shown = new Map(); // part → the server's HTML that is on the page
const open = new Set(); // symbols whose fan is open
let lastSuccess = new Date();

const partsOf = (root) => new Map([...root.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part]));
const timeOf = (instant) => instant.toLocaleTimeString("en-GB");

function remember(root) {
  shown.clear();
  for (const [name, part] of partsOf(root)) shown.set(name, part.outerHTML);
}

function swap(fresh) {
  const parts = partsOf(fresh);
  const sameParts = parts.size === shown.size && [...parts.keys()].every((name) => shown.has(name));
  if (!sameParts) {
    document.getElementById("desk").replaceWith(document.importNode(fresh.getElementById("desk"), true));
  } else {
    const current = partsOf(document);
    for (const [name, part] of parts) {
      if (shown.get(name) !== part.outerHTML) replacePart(current.get(name), part);
    }
  }
  remember(fresh);
  return sameParts;
}

function replacePart(current, fresh) {
  const focused = current.contains(document.activeElement) ? document.activeElement.dataset.symbol : undefined;
  const next = document.importNode(fresh, true);
  current.replaceWith(next);
  const button = next.querySelector("button[data-symbol]");
  if (button && open.has(button.dataset.symbol)) {
    button.setAttribute("aria-expanded", "true");
    drawFan(button);
  }
  if (focused && button) button.focus();
}

async function ask(url, options = {}) {
  const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS), credentials: "same-origin", ...options });
  if (answer.status === 401) throw new Error("the login has ended; reload this page to log in");
  if (answer.status === 403) throw new Error("this login may not do that");
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  return answer;
}

async function refresh() {
  const failure = document.getElementById("refresh-failure");
  try {
    const text = await (await ask(window.location.href)).text();
    const fresh = new DOMParser().parseFromString(text, "text/html");
    if (!fresh.getElementById("desk")) throw new Error("the answer was not the desk");
    if (!swap(fresh)) reopenFans();
    lastSuccess = new Date();
    failure.textContent = "";
    document.getElementById("refresh-time").textContent = `Refreshed ${timeOf(lastSuccess)}, every 10 s.`;
  } catch (error) {
    const why = error.name === "TimeoutError" ? "no answer within 8 s" : error.message;
    failure.textContent = `Not refreshed since ${timeOf(lastSuccess)}: ${why}. What is shown may be out of date; trying again every 10 s.`;
  }
}

async function keepFresh() {
  if (!document.hidden) await refresh();
  window.setTimeout(keepFresh, REFRESH_MILLISECONDS);
}

function reopenFans() {
  for (const button of document.querySelectorAll("button[data-symbol]")) {
    if (open.has(button.dataset.symbol)) showFan(button);
  }
}

function fanRow(button) {
  const next = button.closest("tr").nextElementSibling;
  return next && next.classList.contains("fan") ? next : null;
}

function showFan(button) {
  button.setAttribute("aria-expanded", "true");
  const row = document.createElement("tr");
  row.className = "fan";
  const cell = row.appendChild(document.createElement("td"));
  cell.colSpan = button.closest("tr").cells.length;
  cell.textContent = "Loading the forecast.";
  button.closest("tr").after(row);
  drawFan(button);
}

function hideFan(button) {
  button.setAttribute("aria-expanded", "false");
  fanRow(button)?.remove();
}

async function drawFan(button) {
  const symbol = button.dataset.symbol;
  let content;
  try {
    const answer = await ask(`api/symbols/${encodeURIComponent(symbol)}/forecast`);
    content = fanFigure(await answer.json());
  } catch (error) {
    content = [document.createTextNode(`The forecast of ${symbol} can't be shown: ${error.message}.`)];
  }
  fanRow(button)?.cells[0].replaceChildren(...content);
}

function element(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function fanFigure(fan) {
  const quantiles = fan.steps.map((step) => step.close_quantiles);
  const levels = [...quantiles.flat(), ...(fan.price_at_issue === null ? [] : [fan.price_at_issue])];
  const low = Math.min(...levels);
  const span = Math.max(...levels) - low || 1;
  const steps = Math.max(fan.steps.length - 1, 1);
  const x = (step) => FAN.left + (step / steps) * (FAN.width - FAN.left - FAN.right);
  const y = (level) => FAN.top + (1 - (level - low) / span) * (FAN.height - FAN.top - FAN.bottom);
  const path = (index) => quantiles.map((values, step) => `${x(step).toFixed(1)},${y(values[index]).toFixed(1)}`);
  const band = (lower, upper) => [...path(lower), ...path(upper).reverse()].join(" ");
  const last = fan.levels.length - 1;
  const title = `Forecast of the close of ${fan.symbol}, ${fan.samples} sample paths`;
  const svg = element("svg", { viewBox: `0 0 ${FAN.width} ${FAN.height}`, role: "img", "aria-label": title });
  svg.append(
    element("polygon", { class: "outer", points: band(0, last) }),
    element("polygon", { class: "inner", points: band(1, last - 1) }),
    element("polyline", { class: "median", points: path((last / 2) | 0).join(" ") }),
    element("text", { x: 0, y: y(low) }, low.toPrecision(6)),
    element("text", { x: 0, y: y(low + span) + 8 }, (low + span).toPrecision(6)),
  );
  if (fan.steps.length === 1) quantiles[0].forEach((level) => svg.append(element("circle", { cx: x(0), cy: y(level), r: 2.5 })));
  if (fan.price_at_issue !== null) {
    const level = y(fan.price_at_issue);
    svg.append(element("line", { class: "issue", x1: FAN.left, x2: FAN.width - FAN.right, y1: level, y2: level }));
  }
  svg.append(...[0, fan.steps.length - 1].filter((step, place, all) => all.indexOf(step) === place).map((step) => element(
    "text",
    { x: x(step), y: FAN.height - 6, "text-anchor": step === 0 ? "start" : "end" },
    `${fan.steps[step].ends_at.slice(0, 16).replace("T", " ")} UTC`,
  )));
  const caption = document.createElement("p");
  caption.className = "quiet";
  caption.textContent = `${fan.model_label}, made from bars that ended by ${fan.origin.slice(0, 16).replace("T", " ")} UTC. `
    + `Close at each bar's end: 10–90 % and 25–75 % quantiles and the median of ${fan.samples} sample paths; dashed: price at issue.`;
  return [svg, caption];
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-symbol]");
  if (!button) return;
  if (open.delete(button.dataset.symbol)) hideFan(button);
  else { open.add(button.dataset.symbol); showFan(button); }
});

async function setLatch(form) {
  const body = { is_halted: form.dataset.halts === "true", reason: form.reason.value, actor: form.actor.value };
  const status = form.querySelector("[role=status]");
  status.textContent = "Asking.";
  try {
    await ask("api/halt", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    status.textContent = "Done.";
    await refresh();
  } catch (error) {
    status.textContent = `Not done: ${error.message}.`;
  }
}

document.addEventListener("submit", (event) => {
  event.preventDefault();
  setLatch(event.target);
});

remember(document);
window.setTimeout(keepFresh, REFRESH_MILLISECONDS);
