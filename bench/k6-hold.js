// k6 as a peer in benchmarks: each user holds one endless stream.
import http from 'k6/http';
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: Number(__ENV.VUS), iterations: 1, maxDuration: `${__ENV.SECS}s`, gracefulStop: '0s' } } };
export default function () { http.get(__ENV.URL, { timeout: '600s' }); }
