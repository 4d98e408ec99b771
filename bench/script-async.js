// A script with an asynchronous function.
import http from 'k6/http';
import { check } from 'k6';
export default async function () {
  const res = await http.asyncRequest('GET', __ENV.URL);
  check(res, { 'status is 200': (r) => r.status === 200 });
}
