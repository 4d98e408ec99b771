// What counts as failed: expected statuses of a request, of the script, and none.
// differs: metrics no-callback
import http from 'k6/http';

export const options = { thresholds: { http_req_failed: ['rate<0.5'] } };

http.setResponseCallback(http.expectedStatuses(200, 404, { min: 500, max: 503 }));

export default function () {
  for (const status of [200, 404, 500, 503, 504, 201]) http.get(`${__ENV.BASE}/status/${status}`);
  http.get(`${__ENV.BASE}/status/201`, { responseCallback: http.expectedStatuses(201) });
  http.get(`${__ENV.BASE}/status/500`, { responseCallback: null });
}
