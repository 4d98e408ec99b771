// Names of headers as they are sent, and values that are not text.
import http from 'k6/http';

export default function () {
  http.get(`${__ENV.BASE}/echo`, {
    headers: { 'x-lower': 'a', 'X-UPPER': 'b', 'X-Number': 5, 'X-Bool': true, 'X-Empty': '' },
  });
  http.get(`${__ENV.BASE}/echo`, { headers: { Host: 'other.example', Accept: 'text/html' } });
  http.post(`${__ENV.BASE}/echo`, 'abc', { headers: { 'Content-Length': '3' } });
}
