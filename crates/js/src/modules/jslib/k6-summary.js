(function (exports, require, native) {
  'use strict';
  // The text at the end of a test, from the data of handleSummary().
  const UNITS = { s: ['s', 0.001, 2], ms: ['ms', 1, 2], us: ['µs', 1000, 2] };
  const COLORS = { cyan: 36, green: 32, red: 31, faint: 2 };

  const trimmed = (value, digits) => {
    const text = value.toFixed(digits);
    return text.includes('.') ? text.replace(/0+$/, '').replace(/\.$/, '') : text;
  };

  function duration(ms) {
    if (ms === 0) return '0s';
    if (ms < 0.001) return `${Math.trunc(ms * 1e6)}ns`;
    if (ms < 1) return `${trimmed(Math.trunc(ms * 1e5) / 100, 2)}µs`;
    if (ms < 1000) return `${trimmed(Math.trunc(ms * 100) / 100, 2)}ms`;
    const seconds = ms / 1000;
    if (seconds < 60) return `${trimmed(Math.trunc(seconds * 100) / 100, 2)}s`;
    const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
    return `${hours > 0 ? `${hours}h` : ''}${minutes}m${Math.round(seconds % 60)}s`;
  }

  function bytes(count) {
    const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
    let at = 0;
    let value = count;
    while (Math.abs(value) >= 1000 && at < units.length - 1) {
      value /= 1000;
      at++;
    }
    return `${at > 0 && Math.abs(value) < 10 ? value.toFixed(1) : value.toFixed(0)} ${units[at]}`;
  }

  exports.humanizeValue = (value, metric, unit) => {
    if (metric.type === 'rate') return `${(Math.trunc(value * 10000) / 100).toFixed(2)}%`;
    if (metric.contains === 'data') return bytes(value);
    if (metric.contains === 'time') {
      if (unit !== undefined && unit !== null && unit !== '' && Object.hasOwn(UNITS, unit)) {
        const [name, factor, digits] = UNITS[unit];
        return `${(value * factor).toFixed(digits)}${name}`;
      }
      return duration(value);
    }
    return trimmed(value, 6);
  };

  function columns(metric, options) {
    const show = (value) => exports.humanizeValue(value, metric, options.unit);
    const { values } = metric;
    switch (metric.type) {
      case 'counter':
        return [show(values.count), `${show(values.rate)}/s`];
      case 'gauge':
        return [show(values.value), `min=${show(values.min)}`, `max=${show(values.max)}`];
      case 'rate':
        return [show(values.rate), `✓ ${values.passes}`, `✗ ${values.fails}`];
      default:
        return options.stats.map((name) => {
          const value = values[name];
          if (value === undefined) return `${name}=-`;
          return `${name}=${name === 'count' ? value : show(value)}`;
        });
    }
  }

  const list = (all) => (Array.isArray(all) ? all : Object.values(all ?? {}));

  function group(of, indent, paint, lines) {
    const inner = of.name === '' ? indent : `${indent}  `;
    if (of.name !== '') lines.push(`${indent}█ ${of.name}`, '');
    const checks = list(of.checks);
    for (const check of checks) {
      if (check.fails === 0) {
        lines.push(paint(`${inner}✓ ${check.name}`, 'green'));
        continue;
      }
      const share = Math.floor((100 * check.passes) / (check.passes + check.fails));
      lines.push(paint(`${inner}✗ ${check.name}\n${inner} ↳  ${share}% — ✓ ${check.passes} / ✗ ${check.fails}`, 'red'));
    }
    if (checks.length > 0) lines.push('');
    for (const one of list(of.groups)) group(one, inner, paint, lines);
  }

  exports.textSummary = (data, options = {}) => {
    const { indent = ' ', enableColors = false } = options;
    const settings = {
      stats: options.summaryTrendStats ??
        data.options?.summaryTrendStats ?? ['avg', 'min', 'med', 'max', 'p(90)', 'p(95)'],
      unit: options.summaryTimeUnit ?? data.options?.summaryTimeUnit,
    };
    const paint = (text, color) => (enableColors ? `\x1b[${COLORS[color]}m${text}\x1b[0m` : text);
    const lines = [];
    if (data.root_group !== undefined) group(data.root_group, `${indent}    `, paint, lines);
    const names = Object.keys(data.metrics).sort();
    const shown = names.map((name) => {
      const brace = name.indexOf('{');
      return brace < 0 ? name : `  { ${name.slice(brace + 1, -1)} }`;
    });
    const width = Math.max(0, ...shown.map((name) => name.length)) + 3;
    const rows = names.map((name) => columns(data.metrics[name], settings));
    const widths = { trend: [], other: [] };
    const kind = (at) => (data.metrics[names[at]].type === 'trend' ? 'trend' : 'other');
    rows.forEach((row, at) =>
      row.forEach((text, column) => {
        widths[kind(at)][column] = Math.max(widths[kind(at)][column] ?? 0, text.length);
      }),
    );
    rows.forEach((row, at) => {
      const thresholds = Object.values(data.metrics[names[at]].thresholds ?? {});
      const passed = thresholds.every((one) => one.ok);
      const mark = thresholds.length === 0 ? ' ' : passed ? paint('✓', 'green') : paint('✗', 'red');
      const dots = paint(`${'.'.repeat(width - shown[at].length)}:`, 'faint');
      const cells = row.map((text, column) =>
        column === row.length - 1 ? text : text.padEnd(widths[kind(at)][column]),
      );
      lines.push(`${indent}  ${mark} ${shown[at]}${dots} ${cells.map((cell) => paint(cell, 'cyan')).join(' ')}`);
    });
    return lines.join('\n');
  };

  const escaped = (text) =>
    String(text).replace(
      /[&<>"']/g,
      (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' })[sign],
    );

  exports.jUnit = (data, options = {}) => {
    const { name = 'k6 thresholds', classname = 'Unnamed folder' } = options;
    let failures = 0;
    const cases = [];
    for (const [metric, of] of Object.entries(data.metrics)) {
      for (const [source, { ok }] of Object.entries(of.thresholds ?? {})) {
        const title = `<testcase name="${escaped(`${metric} - ${source}`)}" classname="${escaped(classname)}"`;
        if (ok) cases.push(`${title} />`);
        else {
          failures++;
          const values = escaped(JSON.stringify(of.values));
          cases.push(`${title}><failure message="threshold missed">${values}</failure></testcase>`);
        }
      }
    }
    const counts = `tests="${cases.length}" failures="${failures}"`;
    return (
      `<?xml version="1.0"?>\n<testsuites ${counts}>\n<testsuite name="${escaped(name)}" ${counts}>` +
      `${cases.map((one) => `\n${one}`).join('')}\n</testsuite>\n</testsuites>`
    );
  };
  exports.default = { textSummary: exports.textSummary, jUnit: exports.jUnit, humanizeValue: exports.humanizeValue };
})
