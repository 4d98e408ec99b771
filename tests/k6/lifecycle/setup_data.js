// What setup() returns reaches users and teardown() as JSON.
// differs: metrics setup-apart
// differs: keys setup-apart
import http from 'k6/http';

export const options = { vus: 1, iterations: 2 };

export function setup() {
  http.post(`${__ENV.BASE}/echo?vu=setup`, 'setup');
  return { list: [1, { a: 2 }], n: 1, text: 'ü' };
}
export default function (data) {
  console.log(JSON.stringify([data.list, data.n, data.text]), __VU, __ITER);
  data.n += 1;
}
export function teardown(data) {
  console.log('teardown', JSON.stringify([data.list, data.n, data.text]), __VU);
  http.post(`${__ENV.BASE}/echo?vu=teardown`, 'teardown');
}
