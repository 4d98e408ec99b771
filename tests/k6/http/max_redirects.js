// The option maxRedirects ends in the last redirect.
import http from 'k6/http';

export const options = { maxRedirects: 2 };

export default function () {
  const response = http.get(`${__ENV.BASE}/redirect/4`);
  console.log(response.status, response.url.replace(__ENV.BASE, ''), response.body);
}
