(function (exports, require, native) {
  'use strict';
  function define(kind) {
    return class {
      constructor(name, isTime) {
        this.name = String(name);
        Object.defineProperty(this, '__number', { value: native.metric(kind, this.name, isTime === true) });
      }
      add(value, tags) {
        return native.metricAdd(this.__number, value, tags);
      }
    };
  }
  exports.Counter = class Counter extends define('counter') {};
  exports.Gauge = class Gauge extends define('gauge') {};
  exports.Rate = class Rate extends define('rate') {};
  exports.Trend = class Trend extends define('trend') {};
  const { Counter, Gauge, Rate, Trend } = exports;
  exports.default = { Counter, Gauge, Rate, Trend };
})
