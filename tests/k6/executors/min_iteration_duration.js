// Iterations take at least this long.
import http from 'k6/http';

export const options = { vus: 1, iterations: 2, minIterationDuration: '600ms', thresholds: { iteration_duration: ['min<600'] } };

export default function () {
  http.get(`${__ENV.BASE}/echo`);
}
