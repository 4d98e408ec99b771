// A cookie that a redirect sets is sent with the next request.
import http from 'k6/http';

export default function () {
  http.get(`${__ENV.BASE}/redirect-to?url=/cookies&cookie=session%3Dabc`);
  http.get(`${__ENV.BASE}/cookies`);
}
