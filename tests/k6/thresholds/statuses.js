// Sub-metrics by status, method, and expected_response.
import http from 'k6/http';

export const options = {
  thresholds: {
    'http_reqs{status:200}': ['count==2'],
    'http_reqs{status:404}': ['count==1'],
    'http_reqs{method:POST}': ['count==1'],
    'http_reqs{expected_response:true}': ['count==2'],
    'http_req_duration{expected_response:true}': ['max<9000'],
    'http_req_duration{status:200}': ['max<9000'],
  },
};

export default function () {
  http.get(`${__ENV.BASE}/status/200`);
  http.post(`${__ENV.BASE}/status/200`, 'x');
  http.get(`${__ENV.BASE}/status/404`);
}
