// require() in a script of ES modules.
const http = require('k6/http');
const common = require('./lib/common.js');

export default function () {
  console.log(typeof http.get, common.value);
}
