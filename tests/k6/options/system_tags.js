// Fewer tags of the system.
// differs: metrics system-tags
// differs: keys system-tags
import http from 'k6/http';

export const options = { systemTags: ['status', 'method'], thresholds: { 'http_reqs{method:GET}': ['count==1'] } };

export default function () {
  http.get(`${__ENV.BASE}/echo`);
}
