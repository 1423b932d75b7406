"""Style and script of the picture page: plain CSS and JavaScript, nothing loaded from anywhere."""

from typing import Final

__all__ = ["SCRIPT", "STYLE"]

STYLE: Final = """
:root {
  --paper: #fbfaf7; --ink: #1f2430; --faint: #6b7280; --line: #d9d6cf; --box: #ffffff; --centre: #2f5bd0;
  --dependency: #2f5bd0; --structural: #0f8a6a; --causal: #c2410c; --temporal: #8b5cf6; --reference: #64748b;
  --general: #a8a29e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14161b; --ink: #e8e6e1; --faint: #9aa1ad; --line: #333842; --box: #1d2129; --centre: #8fb0ff;
    --dependency: #8fb0ff; --structural: #5dd3ad; --causal: #ff9f6b; --temporal: #c4a7ff; --reference: #9fb0c6;
    --general: #8a8580;
  }
}
* { box-sizing: border-box; }
html, body { height: 100%; margin: 0; }
body { display: grid; grid-template: auto 1fr auto / 1fr 21rem; background: var(--paper); color: var(--ink);
  font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
header { grid-column: 1 / 3; display: flex; gap: 1rem; align-items: baseline; padding: .7rem 1rem;
  border-bottom: 1px solid var(--line); }
h1 { font-size: 1.05rem; margin: 0; overflow-wrap: anywhere; }
header p { margin: 0; color: var(--faint); flex: 1; }
input { font: inherit; color: inherit; background: var(--box); border: 1px solid var(--line); border-radius: 6px;
  padding: .2rem .6rem; width: 13rem; }
svg { width: 100%; height: 100%; min-height: 0; display: block; cursor: grab; touch-action: none; }
svg:active { cursor: grabbing; }
aside { border-left: 1px solid var(--line); padding: 1rem; overflow: auto; }
aside h2 { font-size: 1rem; margin: 0 0 .6rem; overflow-wrap: anywhere; }
aside h3 { font-size: .8rem; margin: 1.1rem 0 .3rem; color: var(--faint); font-weight: 600; }
aside ul { margin: 0; padding: 0; list-style: none; }
aside li { padding: .35rem 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
aside small { display: block; color: var(--faint); }
aside button { font: inherit; color: inherit; background: none; border: 0; padding: 0; cursor: pointer;
  text-align: left; text-decoration: underline; text-decoration-color: var(--line); overflow-wrap: anywhere; }
footer { grid-column: 1 / 3; padding: .5rem 1rem; border-top: 1px solid var(--line); color: var(--faint);
  display: flex; gap: 1.2rem; flex-wrap: wrap; font-size: .85rem; }
.key::before { content: ""; display: inline-block; width: 1.1rem; height: 3px; border-radius: 2px;
  margin-right: .4rem; vertical-align: middle; background: currentColor; }
.node rect { fill: var(--box); stroke: var(--line); stroke-width: 1.5; transition: stroke .15s; }
.node text { fill: var(--ink); font-size: 13px; text-anchor: middle; dominant-baseline: central;
  pointer-events: none; }
.node { cursor: pointer; outline: none; }
.node.centre rect { stroke: var(--centre); stroke-width: 2.5; }
.node.stub rect { stroke-dasharray: 4 3; }
.node:hover rect, .node:focus-visible rect, .node.chosen rect { stroke: var(--ink); stroke-width: 2.5; }
.edge path { fill: none; stroke: currentColor; opacity: .75; }
.edge text { fill: var(--faint); font-size: 10.5px; text-anchor: middle; paint-order: stroke; stroke: var(--paper);
  stroke-width: 4px; stroke-linejoin: round; pointer-events: none; }
marker path { fill: currentColor; }
.dependency { color: var(--dependency); } .structural { color: var(--structural); } .causal { color: var(--causal); }
.temporal { color: var(--temporal); } .reference { color: var(--reference); } .general { color: var(--general); }
.dim { opacity: .13; }
.node, .edge { transition: opacity .15s; }
@media (max-width: 48rem) {
  body { grid-template: auto 60vh auto auto / 1fr; }
  header, footer { grid-column: 1; flex-wrap: wrap; }
  aside { border-left: 0; border-top: 1px solid var(--line); }
}
"""

SCRIPT: Final = """
"use strict";
const data = JSON.parse(document.getElementById("graph").textContent);
const SVG = "http://www.w3.org/2000/svg";
const svg = document.querySelector("svg"), panel = document.querySelector("aside");
const make = (name, attributes, parent, text) => {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return parent.appendChild(made);
};
const write = (name, parent, text) => {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  return parent.appendChild(made);
};

// -- where everything stands: springs along the arrows, every box pushing every other away -----------------
const boxes = data.boxes.map((box, i) => {
  const short = box.name.length > 28 ? box.name.slice(0, 27) + "\\u2026" : box.name;
  const turn = i * 2.399963, out = box.centre ? 30 : 60 * Math.sqrt(i + 1);
  return { ...box, short, w: Math.max(46, 7.4 * [...short].length + 22), h: 30,
    x: out * Math.cos(turn), y: out * Math.sin(turn) };
});
const settle = (rounds) => {
  const far = 150;
  for (let round = 0; round < rounds; round += 1) {
    const heat = 24 * (1 - round / rounds) + 0.5;
    for (const box of boxes) { box.dx = -box.x * 0.012; box.dy = -box.y * 0.02; }
    for (let i = 0; i < boxes.length; i += 1) for (let j = 0; j < i; j += 1) {
      const a = boxes[i], b = boxes[j];
      let x = (a.x - b.x) * 0.62, y = a.y - b.y;
      if (!x && !y) { x = 0.1 * (i - j); y = 0.1; }
      const push = (far * far) / (x * x + y * y + 60) * 0.9;
      const length = Math.hypot(x, y);
      a.dx += x / length * push; a.dy += y / length * push;
      b.dx -= x / length * push; b.dy -= y / length * push;
    }
    for (const arrow of data.arrows) {
      const a = boxes[arrow.source], b = boxes[arrow.target];
      const x = b.x - a.x, y = b.y - a.y, length = Math.hypot(x, y) || 1;
      const pull = (length - far - (a.w + b.w) / 4) * 0.06;
      a.dx += x / length * pull; a.dy += y / length * pull;
      b.dx -= x / length * pull; b.dy -= y / length * pull;
    }
    for (const arrow of data.arrows) {  // room for what is written on an arrow
      const a = boxes[arrow.source], b = boxes[arrow.target], x = (a.x + b.x) / 2, y = (a.y + b.y) / 2;
      for (const box of boxes) {
        if (box === a || box === b) continue;
        const dx = (box.x - x) * 0.62 || 0.1, dy = box.y - y || 0.1, near = Math.hypot(dx, dy);
        if (near > 90) continue;
        box.dx += dx / near * (90 - near) * 0.35; box.dy += dy / near * (90 - near) * 0.35;
      }
    }
    for (const box of boxes) {
      const length = Math.hypot(box.dx, box.dy) || 1, step = Math.min(length, heat) / length;
      box.x += box.dx * step; box.y += box.dy * step;
    }
  }
  for (let again = 0; again < 40; again += 1)
  for (let i = 0; i < boxes.length; i += 1) for (let j = 0; j < i; j += 1) {
    const a = boxes[i], b = boxes[j];
    const x = (a.w + b.w) / 2 + 14 - Math.abs(a.x - b.x), y = (a.h + b.h) / 2 + 16 - Math.abs(a.y - b.y);
    if (x <= 0 || y <= 0) continue;
    const side = a.y >= b.y ? 1 : -1;
    a.y += side * y / 2; b.y -= side * y / 2;
  }
};
settle(boxes.length > 200 ? 120 : 320);

// -- drawing ----------------------------------------------------------------------------------------------------
const defs = make("defs", {}, svg);
for (const kind of ["dependency", "structural", "causal", "temporal", "reference", "general"]) {
  const head = make("marker", { id: "head-" + kind, class: kind, viewBox: "0 0 8 8", refX: 7, refY: 4,
    markerWidth: 7, markerHeight: 7, orient: "auto" }, defs);
  make("path", { d: "M0 0.6 8 4 0 7.4z" }, head);
}
const world = make("g", {}, svg);
const between = new Map();
const edges = data.arrows.map((arrow) => {
  const group = make("g", { class: "edge " + arrow.category }, world);
  const path = make("path", { "stroke-width": 1 + Math.min(2, Math.log1p(arrow.weight)) }, group);
  if (arrow.directed) path.setAttribute("marker-end", "url(#head-" + arrow.category + ")");
  const text = make("text", {}, group, arrow.count > 1 ? arrow.relation + " \\u00d7" + arrow.count : arrow.relation);
  const pair = Math.min(arrow.source, arrow.target) + "-" + Math.max(arrow.source, arrow.target);
  const lane = between.get(pair) || 0;
  between.set(pair, lane + 1);
  return { ...arrow, group, path, text, pair, lane };
});
const nodes = boxes.map((box, i) => {
  const stub = box.things.every((thing) => thing.state === "stub");
  const group = make("g", { class: "node" + (box.centre ? " centre" : "") + (stub ? " stub" : ""), tabindex: 0,
    role: "button", "aria-label": box.name }, world);
  make("title", {}, group, box.things.slice(0, 6).map((t) => t.label + ": " + t.text).join("\\n"));
  make("rect", { x: -box.w / 2, y: -box.h / 2, width: box.w, height: box.h, rx: 8 }, group);
  make("text", {}, group, box.short);
  group.addEventListener("pointerenter", () => light(i));
  group.addEventListener("pointerleave", () => light(null));
  group.addEventListener("focus", () => light(i));
  group.addEventListener("blur", () => light(null));
  group.addEventListener("click", () => choose(i));
  group.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(i); }
  });
  return group;
});
const rim = (from, to) => {  // where a line to the middle of a box meets its edge
  const x = from.x - to.x, y = from.y - to.y;
  const share = Math.min(Math.abs((to.w / 2 + 5) / (x || 1e-6)), Math.abs((to.h / 2 + 5) / (y || 1e-6)), 0.48);
  return { x: to.x + x * share, y: to.y + y * share };
};
const draw = () => {
  boxes.forEach((box, i) => nodes[i].setAttribute("transform", "translate(" + box.x + " " + box.y + ")"));
  for (const edge of edges) {
    const a = boxes[edge.source], b = boxes[edge.target], lanes = between.get(edge.pair);
    const x = b.x - a.x, y = b.y - a.y, length = Math.hypot(x, y) || 1;
    const turned = edge.source > edge.target ? -1 : 1, bend = turned * (edge.lane - (lanes - 1) / 2) * 44;
    const middle = { x: (a.x + b.x) / 2 - y / length * bend, y: (a.y + b.y) / 2 + x / length * bend };
    const start = rim(middle, a), end = rim(middle, b);
    edge.path.setAttribute("d", ["M", start.x, start.y, "Q", middle.x, middle.y, end.x, end.y].join(" "));
    edge.text.setAttribute("x", (start.x + 2 * middle.x + end.x) / 4);
    edge.text.setAttribute("y", (start.y + 2 * middle.y + end.y) / 4 - 3);
  }
};
const view = { x: 0, y: 0, w: 100, h: 100 };
const show = () => svg.setAttribute("viewBox", [view.x, view.y, view.w, view.h].join(" "));
const fit = () => {
  const left = Math.min(...boxes.map((b) => b.x - b.w / 2)), right = Math.max(...boxes.map((b) => b.x + b.w / 2));
  const top = Math.min(...boxes.map((b) => b.y - b.h / 2)), low = Math.max(...boxes.map((b) => b.y + b.h / 2));
  if (!boxes.length) return show();
  const wide = right - left + 80, high = low - top + 80;
  view.w = Math.max(480, wide); view.h = Math.max(320, high);
  view.x = left - 40 - (view.w - wide) / 2; view.y = top - 40 - (view.h - high) / 2;
  show();
};

// -- looking ------------------------------------------------------------------------------------------------------
const light = (at) => {
  const near = new Set([at]);
  for (const edge of edges) {
    const touches = edge.source === at || edge.target === at;
    edge.group.classList.toggle("dim", at !== null && !touches);
    if (touches) { near.add(edge.source); near.add(edge.target); }
  }
  nodes.forEach((node, j) => node.classList.toggle("dim", at !== null && !near.has(j)));
};
const list = (heading) => { write("h3", panel, heading); return write("ul", panel); };
const choose = (i) => {
  nodes.forEach((node, j) => node.classList.toggle("chosen", i === j));
  light(null);
  panel.replaceChildren();
  const box = boxes[i];
  write("h2", panel, box.name);
  const facts = list(box.things.length === 1 ? "What is known" : box.things.length + " things known");
  for (const thing of box.things) {
    const entry = write("li", facts, thing.text);
    write("small", entry, thing.label + " \\u00b7 " + thing.persona + " \\u00b7 " + thing.id.slice(0, 8));
  }
  const touching = edges.filter((edge) => edge.source === i || edge.target === i);
  if (!touching.length && !box.inside.length) return;
  const links = list("Links");
  for (const edge of touching) {
    const out = edge.source === i, entry = write("li", links);
    const before = out || !edge.directed ? "" : "\\u2190 ", after = out && edge.directed ? " \\u2192 " : " ";
    const told = before + edge.relation + after;
    write("span", entry, told).className = edge.category;
    const other = out ? edge.target : edge.source;
    write("button", entry, boxes[other].name).addEventListener("click", () => choose(other));
  }
  for (const told of box.inside) write("li", links, told);
};

// -- moving ---------------------------------------------------------------------------------------------------------
let held = null;
svg.addEventListener("pointerdown", (event) => {
  const node = event.target.closest(".node");
  held = { at: node ? nodes.indexOf(node) : -1, x: event.clientX, y: event.clientY };
});
window.addEventListener("pointermove", (event) => {
  if (!held) return;
  const scale = Math.max(view.w / svg.clientWidth, view.h / svg.clientHeight);
  const x = (event.clientX - held.x) * scale, y = (event.clientY - held.y) * scale;
  held.x = event.clientX; held.y = event.clientY;
  if (held.at >= 0) { boxes[held.at].x += x; boxes[held.at].y += y; draw(); }
  else { view.x -= x; view.y -= y; show(); }
});
window.addEventListener("pointerup", () => { held = null; });
svg.addEventListener("wheel", (event) => {
  event.preventDefault();
  const grow = Math.min(1.25, Math.max(0.8, Math.exp(event.deltaY * 0.0015)));
  const place = svg.getBoundingClientRect();
  const x = (event.clientX - place.left) / place.width, y = (event.clientY - place.top) / place.height;
  view.x += view.w * (1 - grow) * x; view.y += view.h * (1 - grow) * y;
  view.w *= grow; view.h *= grow;
  show();
}, { passive: false });
svg.addEventListener("dblclick", fit);
document.querySelector("input").addEventListener("input", (event) => {
  const asked = event.target.value.trim().toLowerCase();
  const told = (box) => [box.name, ...box.things.map((t) => t.label + " " + t.text)].join(" ").toLowerCase();
  nodes.forEach((node, i) => node.classList.toggle("dim", Boolean(asked) && !told(boxes[i]).includes(asked)));
  for (const edge of edges) edge.group.classList.toggle("dim", Boolean(asked));
});
draw();
fit();
const first = boxes.findIndex((box) => box.centre);
if (first >= 0) choose(first);
"""
