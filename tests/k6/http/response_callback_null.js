// Without a callback, there is no http_req_failed.
// differs: metrics no-callback
// differs: keys no-callback
import http from 'k6/http';

http.setResponseCallback(null);

export default function () {
  http.get(`${__ENV.BASE}/status/200`);
  http.get(`${__ENV.BASE}/status/500`);
}
