// A GET with and without parameters, and with a query.
// differs: requests url-encoding
import http from 'k6/http';

export default function () {
  http.get(`${__ENV.BASE}/echo`);
  http.get(`${__ENV.BASE}/echo?a=1&b=two%20words`, { headers: { 'X-One': '1', 'x-two': 'second' } });
  http.get(`${__ENV.BASE}/echo?space=a b&quote="&umlaut=ü`);
  http.get(`${__ENV.BASE}/echo#fragment`);
  http.get(__ENV.BASE);
}
