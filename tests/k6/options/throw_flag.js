// --throw.
// differs: exit failed-requests
// differs: metrics no-duration
// differs: keys no-duration
// differs: errors sentences
// flags: --throw
import http from 'k6/http';

export default function () {
  http.get('http://127.0.0.1:1/');
  console.log('never');
}
