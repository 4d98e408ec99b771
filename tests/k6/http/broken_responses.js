// Connections that are closed too early, and responses that are not HTTP.
// differs: exit failed-requests
// differs: metrics no-duration
// differs: keys no-duration
import http from 'k6/http';

export default function () {
  for (const path of ['close', 'partial', 'garbage']) {
    const response = http.post(`${__ENV.BASE}/${path}`, 'x');
    console.log(path, response.status, response.error_code > 0);
  }
}
