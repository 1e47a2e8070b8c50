// The neighbourhood of a transaction, drawn: itself in the middle, on each ring those that are one
// payment further away. The same neighbourhood is always drawn the same.
import { html, useState } from './lib.js';
import { useAnswer } from './api.js';
import { Class, Loaded, n, plural, probability, Probability, Table } from './ui.js';

const middle = 300;
const ring = 125;

// placed gives every node its place. Those of a ring stand in the order of those that lead to them.
export function placed({ nodes, payments }) {
  const at = new Map();
  const near = new Map(nodes.map(node => [node.ref, []]));
  for (const p of payments) {
    near.get(p.source).push(p.target);
    near.get(p.target).push(p.source);
  }
  const rings = [];
  for (const node of nodes) (rings[node.distance] ??= []).push(node);
  rings.forEach((list, distance) => {
    const leads = node => near.get(node.ref).map(ref => at.get(ref)).find(p => p && p.distance === distance - 1)?.angle ?? 0;
    const order = list.map(node => ({ node, from: leads(node) })).sort((a, b) => a.from - b.from);
    order.forEach(({ node, from }, i) => {
      const angle = distance === 1 || order.length > 6 ? (2 * Math.PI * i) / order.length : from + 0.35 * (i - (order.length - 1) / 2);
      at.set(node.ref, {
        node, distance, angle,
        x: middle + distance * ring * Math.sin(angle), y: middle - distance * ring * Math.cos(angle),
      });
    });
  });
  return at;
}

const shown = node => (node.alert ? 'alert' : node.label);

// Shape tells kinds apart without colour: alerts are triangles, illicit ones squares.
function Shape({ kind, x, y, r }) {
  if (kind === 'alert') return html`<path d=${`M${x} ${y - r * 1.2}L${x + r * 1.15} ${y + r * .8}L${x - r * 1.15} ${y + r * .8}Z`} />`;
  if (kind === 'illicit') return html`<rect x=${x - r} y=${y - r} width=${2 * r} height=${2 * r} />`;
  return html`<circle cx=${x} cy=${y} r=${r} />`;
}

function Payment({ from, to }) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  const [ux, uy] = [dx / length, dy / length];
  const gap = 15;
  return html`<line x1=${from.x + ux * gap} y1=${from.y + uy * gap} x2=${to.x - ux * (gap + 5)} y2=${to.y - uy * (gap + 5)} marker-end="url(#arrow)" />`;
}

function Drawing({ of }) {
  const at = placed(of);
  const reach = middle - 40 - ring * Math.max(...of.nodes.map(node => node.distance), 1);
  const side = 2 * (middle - reach);
  const said = node => `${node.id}, ${shown(node)}${node.probability == null ? '' : `, probability ${probability(node.probability)}`}`;
  return html`<svg class="graph" viewBox=${`${reach - 60} ${reach} ${side + 120} ${side}`} role="group"
      aria-label=${`${plural(of.nodes.length, 'transaction')} and ${plural(of.payments.length, 'payment')} around this one`}>
    <defs><marker id="arrow" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" /></marker></defs>
    <g class="payments">${of.payments.map(p => html`<${Payment} from=${at.get(p.source)} to=${at.get(p.target)} />`)}</g>
    ${[...at.values()].map(({ node, x, y, distance }) => html`
      <a href=${`#/transaction/${node.ref}`} class=${`node ${shown(node)}`} aria-label=${said(node)}>
        <title>${said(node)}</title>
        <${Shape} kind=${shown(node)} x=${x} y=${y} r=${distance === 0 ? 13 : 9} />
        ${(of.nodes.length <= 20 || distance === 0) && html`<text x=${x < middle - 1 ? x - 18 : x + 18} y=${distance === 0 ? y + 24 : y + 4} text-anchor=${x < middle - 1 ? 'end' : 'start'}>${node.id.length > 12 ? `${node.id.slice(0, 11)}…` : node.id}</text>`}
      </a>`)}
  </svg>`;
}

export function Neighbourhood({ transaction }) {
  const [distance, setDistance] = useState(1);
  const answer = useAnswer(`/transactions/${transaction.ref}/neighbourhood?distance=${distance}&limit=60`, 'timesteps');
  if (transaction.payments == null) return html`<p class="note">Payments are drawn once the timestep closes.</p>`;
  return html`
    <label class="inline">Distance <select value=${distance} onChange=${event => setDistance(Number(event.target.value))}>
      ${[1, 2, 3].map(d => html`<option value=${d}>${plural(d, 'payment')}</option>`)}</select></label>
    <${Loaded} of=${answer}>${found => html`
      <${Drawing} of=${found} />
      <p class="note"><span aria-hidden="true">▲ alert, ■ labelled illicit, ● other (green: labelled licit). </span>Arrows point from payer to payee.
        ${found.truncated && ' Not all transactions are drawn.'}</p>
      <details><summary>Show as a table</summary>
        <${Table} caption="Transactions around this one" head=${['transaction', n('distance'), n('probability'), 'label', 'alert']}
          rows=${found.nodes.map(node => [html`<a href=${`#/transaction/${node.ref}`}>${node.id}</a>`, node.distance,
    html`<${Probability} of=${node.probability} />`, html`<${Class} of=${node.label} />`, node.alert ? 'yes' : 'no'])} /></details>`}<//>`;
}
