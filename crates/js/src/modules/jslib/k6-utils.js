(function (exports, require, native) {
  'use strict';
  const UNITS = { d: 86400000, h: 3600000, m: 60000, s: 1000, ms: 1, us: 0.001, µs: 0.001, ns: 0.000001 };

  exports.randomIntBetween = (low, high) => Math.floor(Math.random() * (high - low + 1)) + low;
  exports.randomItem = (list) => list[Math.floor(Math.random() * list.length)];
  exports.randomString = (length, charset = 'abcdefghijklmnopqrstuvwxyz') => {
    let text = '';
    for (let at = 0; at < length; at++) text += charset[Math.floor(Math.random() * charset.length)];
    return text;
  };
  exports.uuidv4 = (isSecure = false) => {
    if (isSecure) return crypto.randomUUID();
    return 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, (sign) => {
      const digit = Math.floor(Math.random() * 16);
      return (sign === 'x' ? digit : (digit & 3) | 8).toString(16);
    });
  };

  exports.findBetween = (content, left, right, repeat = false) => {
    const all = [];
    for (let at = 0; ;) {
      const begin = content.indexOf(left, at);
      const end = begin < 0 ? -1 : content.indexOf(right, begin + left.length);
      if (end < 0) return repeat ? all : '';
      const found = content.slice(begin + left.length, end);
      if (!repeat) return found;
      all.push(found);
      at = end + right.length;
    }
  };

  exports.parseDuration = (text) => {
    if (typeof text !== 'string' || text === '') throw new Error(`invalid duration \`${text}\``);
    if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
    if (!/^(\d+(\.\d+)?(ms|us|µs|ns|d|h|m|s))+$/.test(text)) throw new Error(`invalid duration \`${text}\``);
    let total = 0;
    for (const [, number, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|us|µs|ns|d|h|m|s)/g)) {
      total += Number(number) * UNITS[unit];
    }
    return total;
  };

  // The levels of a bell curve, two standard deviations to each side.
  exports.normalDistributionStages = (maxVus, durationSeconds, numberOfStages = 10) => {
    const duration = `${durationSeconds / numberOfStages}s`;
    return Array.from({ length: numberOfStages }, (_, at) => {
      if (at === numberOfStages - 1) return { duration, target: 0 };
      const place = numberOfStages <= 2 ? 0 : -2 + (4 * at) / (numberOfStages - 2);
      return { duration, target: Math.ceil(maxVus * Math.exp(-(place ** 2) / 2)) };
    });
  };

  function stagesOf(what) {
    const { scenario, test } = require('k6/execution');
    const of = test.options?.scenarios?.[scenario.name] ?? test.options;
    if (!Array.isArray(of?.stages) || of.stages.length === 0) {
      throw new Error(`${what}() requires a scenario with stages`);
    }
    return of;
  }

  exports.getCurrentStageIndex = () => {
    const { stages } = stagesOf('getCurrentStageIndex');
    let left = native.now() - require('k6/execution').scenario.startTime;
    const at = stages.findIndex((stage) => (left -= exports.parseDuration(String(stage.duration))) < 0);
    return at < 0 ? stages.length - 1 : at;
  };

  function profile() {
    const { stages, startVUs, startRate, executor } = stagesOf('tagWithCurrentStageProfile');
    const at = exports.getCurrentStageIndex();
    const start = executor === 'ramping-arrival-rate' ? (startRate ?? 0) : (startVUs ?? 1);
    const change = stages[at].target - (at === 0 ? start : stages[at - 1].target);
    return change > 0 ? 'ramp-up' : change < 0 ? 'ramp-down' : 'steady';
  }

  const tags = () => require('k6/execution').vu.metrics.tags;
  exports.tagWithCurrentStageIndex = () => {
    tags().stage = String(exports.getCurrentStageIndex());
  };
  exports.tagWithCurrentStageProfile = () => {
    tags().stage_profile = profile();
  };

  // As `check` of k6, also for promises and asynchronous functions.
  exports.check = (value, sets, extra) => {
    const isLater = (one) => one !== null && typeof one === 'object' && typeof one.then === 'function';
    const later = isLater(value) || Object.values(sets).some((one) => isLater(one) || native.isAsync(one));
    if (!later) {
      const results = {};
      let pending = false;
      for (const [name, set] of Object.entries(sets)) {
        results[name] = typeof set === 'function' ? set(value) : set;
        pending ||= isLater(results[name]);
      }
      return pending ? settle(results, value, extra) : native.check(value, results, extra);
    }
    return (async () => {
      const known = await value;
      const results = {};
      for (const [name, set] of Object.entries(sets)) results[name] = typeof set === 'function' ? set(known) : set;
      return settle(results, known, extra);
    })();
  };
  async function settle(results, value, extra) {
    const known = {};
    for (const [name, result] of Object.entries(results)) known[name] = Boolean(await result);
    return native.check(value, known, extra);
  }
  exports.default = { ...exports };
})
