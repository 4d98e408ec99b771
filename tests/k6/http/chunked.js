// A chunked response.
import http from 'k6/http';

export default function () {
  const response = http.get(`${__ENV.BASE}/chunked`);
  console.log(response.status, response.body, Object.keys(response.headers).sort().join());
}
