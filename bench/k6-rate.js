// k6 as a peer in benchmarks: open loop at RATE per second.
import http from 'k6/http';
const vus = Number(__ENV.VUS);
export const options = { scenarios: { s: { executor: 'constant-arrival-rate', rate: Number(__ENV.RATE), timeUnit: '1s', duration: `${__ENV.SECS}s`, preAllocatedVUs: vus, maxVUs: vus } } };
export default function () { http.get(__ENV.URL); }
