// A script in CommonJS.
const { check } = require('k6');

exports.options = { vus: 1, iterations: 2 };
exports.default = function () {
  check(1, { 'is one': (n) => n === 1 });
  console.log('common');
};
