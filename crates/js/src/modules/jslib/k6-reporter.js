(function (exports, require, native) {
  'use strict';
  // One page with the results of a test: no script, and nothing from elsewhere.
  const { humanizeValue } = require('jslib/k6-summary');
  const escaped = (text) =>
    String(text).replace(
      /[&<>"']/g,
      (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[sign],
    );
  const list = (all) => (Array.isArray(all) ? all : Object.values(all ?? {}));

  const STYLE = `body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;
padding:0 1rem;color:#222;background:#fff}
table{border-collapse:collapse;width:100%;margin:1rem 0}
th,td{padding:.3rem .6rem;border-bottom:1px solid #ddd;text-align:right}
th:first-child,td:first-child{text-align:left}.good{color:#186a3b}.bad{color:#a93226;font-weight:600}
.cards{display:flex;flex-wrap:wrap;gap:1rem}.cards div{border:1px solid #ddd;border-radius:.4rem;padding:.6rem 1rem}
.cards b{display:block;font-size:1.5rem}@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}
th,td,.cards div{border-color:#444}.good{color:#58d68d}.bad{color:#ec7063}}`;

  const isMissed = (metric) => Object.values(metric.thresholds ?? {}).some((one) => !one.ok);

  function card(title, value, isBad) {
    return `<div>${escaped(title)}<b class="${isBad ? 'bad' : ''}">${escaped(value)}</b></div>`;
  }
  function table(head, rows) {
    if (rows.length === 0) return '';
    const cells = (tag, row) => row.map((cell) => `<${tag}>${cell}</${tag}>`).join('');
    return (
      `<table><thead><tr>${cells('th', head.map(escaped))}</tr></thead><tbody>` +
      `${rows.map((row) => `<tr>${cells('td', row)}</tr>`).join('')}</tbody></table>`
    );
  }

  function checks(group, path, rows) {
    const name = path === '' ? group.name : `${path} / ${group.name}`;
    for (const check of list(group.checks)) {
      const share = (100 * check.passes) / Math.max(1, check.passes + check.fails);
      rows.push([
        escaped(name === '' ? check.name : `${name}: ${check.name}`),
        check.passes,
        check.fails,
        `<span class="${check.fails > 0 ? 'bad' : 'good'}">${share.toFixed(2)}%</span>`,
      ]);
    }
    for (const inner of list(group.groups)) checks(inner, name, rows);
    return rows;
  }

  exports.htmlReport = (data, options = {}) => {
    const title = options.title ?? `Load test ${new Date(native.now()).toISOString().slice(0, 16).replace('T', ' ')}`;
    const metrics = Object.entries(data.metrics).sort(([one], [other]) => (one < other ? -1 : 1));
    const show = (metric, value) => (value === undefined ? '–' : escaped(humanizeValue(value, metric)));
    const stats = data.options?.summaryTrendStats ?? ['avg', 'min', 'med', 'max', 'p(90)', 'p(95)'];
    const of = (type, row) =>
      metrics
        .filter(([, metric]) => metric.type === type)
        .map(([name, metric]) => [
          `<span class="${isMissed(metric) ? 'bad' : ''}">${escaped(name)}</span>`,
          ...row(metric),
        ]);
    const thresholds = metrics.flatMap(([name, metric]) =>
      Object.entries(metric.thresholds ?? {}).map(([source, { ok }]) => [
        escaped(`${name} ${source}`),
        `<span class="${ok ? 'good' : 'bad'}">${ok ? 'passed' : 'missed'}</span>`,
      ]),
    );
    const missed = thresholds.filter(([, text]) => text.includes('missed')).length;
    const rows = data.root_group === undefined ? [] : checks(data.root_group, '', []);
    const failed = rows.reduce((sum, row) => sum + row[2], 0);
    const count = (name) => data.metrics[name]?.values?.count;
    const errors = data.metrics.http_req_failed?.values?.passes;
    const cards = [
      count('http_reqs') === undefined ? '' : card('Requests', count('http_reqs')),
      errors === undefined ? '' : card('Failed requests', errors, errors > 0),
      card('Failed checks', failed, failed > 0),
      card('Missed thresholds', missed, missed > 0),
      count('iterations') === undefined ? '' : card('Iterations', count('iterations')),
    ];
    const ms = data.state?.testRunDurationMs;
    return (
      `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
      `<title>${escaped(title)}</title><style>${STYLE}</style></head><body><h1>${escaped(title)}</h1>` +
      `${ms === undefined ? '' : `<p>Duration: ${escaped(humanizeValue(ms, { contains: 'time' }))}</p>`}` +
      `<section class="cards">${cards.join('')}</section>` +
      `${thresholds.length === 0 ? '' : '<h2>Thresholds</h2>'}${table(['Threshold', 'Result'], thresholds)}` +
      `<h2>Metrics</h2>${table(
        ['Trend', ...stats],
        of('trend', (metric) => stats.map((name) => show(metric, metric.values[name]))),
      )}` +
      `${table(
        ['Counter', 'Count', 'Per second'],
        of('counter', (metric) => [show(metric, metric.values.count), show(metric, metric.values.rate)]),
      )}` +
      `${table(
        ['Rate', 'Share', 'Passes', 'Fails'],
        of('rate', ({ type, values }) => [show({ type }, values.rate), values.passes, values.fails]),
      )}` +
      `${table(
        ['Gauge', 'Value', 'Min', 'Max'],
        of('gauge', (metric) => ['value', 'min', 'max'].map((name) => show(metric, metric.values[name]))),
      )}` +
      `${rows.length === 0 ? '' : '<h2>Checks</h2>'}${table(['Check', 'Passes', 'Fails', 'Share'], rows)}</body></html>`
    );
  };
  exports.default = { htmlReport: exports.htmlReport };
})
