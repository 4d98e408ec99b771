// With noCookiesReset, cookies survive iterations.
import http from 'k6/http';

export const options = { vus: 1, iterations: 3, noCookiesReset: true };

export default function () {
  if (__ITER === 0) http.get(`${__ENV.BASE}/cookies/set?kept=yes`);
  http.get(`${__ENV.BASE}/cookies`);
}
