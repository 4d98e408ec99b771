// Ways to import.
import http, { get } from 'k6/http';
import * as all from 'k6/http';
import * as k6 from 'k6';
import { check as examine } from 'k6';
import helper, { add, PI, Counter } from './lib/helper.js';
import * as whole from './lib/helper.js';

export default function () {
  console.log(typeof http.get, typeof get, typeof all.get, typeof k6.check, typeof examine);
  console.log(helper(2), add(1, 2), PI, new Counter().next(), Object.keys(whole).sort().join());
  get(`${__ENV.BASE}/echo`);
}
