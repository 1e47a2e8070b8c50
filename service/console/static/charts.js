// Curves over timesteps, by uPlot. What a curve shows stands in a table as well.
import { html, useEffect, useRef } from './lib.js';
import uPlot from './vendor/uplot.js';

const color = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Curves draws series over timesteps: each has a name, values and a colour of the style sheet. The
// ordinate ends at top.
export function Curves({ title, times, series, top = 1 }) {
  const box = useRef(null);
  const key = JSON.stringify([times, series, top]);
  useEffect(() => {
    const axis = () => ({ stroke: color('--soft'), grid: { stroke: color('--line'), width: 1 }, ticks: { stroke: color('--line') } });
    const draw = () => new uPlot({
      width: box.current.clientWidth, height: 220, legend: { live: false }, cursor: { show: false },
      scales: { x: { time: false }, y: { range: [0, top] } },
      axes: [{ ...axis(), incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] }, axis()],
      series: [{ label: 'timestep' }, ...series.map(s => ({
        label: s.name, stroke: color(s.color), width: 2, dash: s.dash, spanGaps: true, points: { show: times.length < 40, size: 5 },
      }))],
    }, [times, ...series.map(s => s.values)], box.current);
    let chart = draw();
    const again = () => { chart.destroy(); chart = draw(); };
    const size = new ResizeObserver(() => { if (box.current) chart.setSize({ width: box.current.clientWidth, height: 220 }); });
    size.observe(box.current);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', again);
    return () => { size.disconnect(); dark.removeEventListener('change', again); chart.destroy(); };
  }, [key]);
  return html`<figure><figcaption>${title}</figcaption><div class="chart" ref=${box} role="img" aria-label=${`${title}; the table below has the figures`}></div></figure>`;
}
