// A scenario that starts later.
import http from 'k6/http';

export const options = {
  scenarios: {
    first: { executor: 'per-vu-iterations', vus: 1, iterations: 1, exec: 'first' },
    second: { executor: 'per-vu-iterations', vus: 1, iterations: 1, exec: 'second', startTime: '1s' },
  },
};

export function first() {
  http.get(`${__ENV.BASE}/echo?first`);
}
export function second() {
  http.get(`${__ENV.BASE}/echo?second`);
}
