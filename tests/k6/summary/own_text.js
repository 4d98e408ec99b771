// handleSummary() with a text of its own, and files.
import http from 'k6/http';

export const options = { vus: 1, iterations: 2, thresholds: { http_reqs: ['count==2', 'count>5'] } };

export default function () {
  http.get(`${__ENV.BASE}/echo`);
}
export function handleSummary(data) {
  return {
    stdout: `requests ${data.metrics.http_reqs.values.count}\n`,
    'result.json': JSON.stringify(data.metrics.http_reqs.thresholds),
    'keys.txt': Object.keys(data).sort().join() + ' ' + Object.keys(data.metrics).filter((name) => !name.startsWith('vus')).sort().join(),
  };
}
