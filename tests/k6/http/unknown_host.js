// A name that does not resolve.
// differs: exit unknown-host
// differs: checks unknown-host
// differs: metrics unknown-host
// differs: keys unknown-host
// differs: console unknown-host
import http from 'k6/http';

export default function () {
  const response = http.get('http://name.invalid/');
  console.log(response.status, response.error_code);
}
