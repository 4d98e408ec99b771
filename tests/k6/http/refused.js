// A refused connection: status 0, a code, and a message.
// differs: exit failed-requests
// differs: metrics no-duration
// differs: keys no-duration
import http from 'k6/http';

export default function () {
  const response = http.get('http://127.0.0.1:1/');
  console.log(response.status, response.error_code, response.body, response.error);
}
