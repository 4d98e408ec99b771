// Callbacks of promises run before the iteration ends.
import http from 'k6/http';

export default function () {
  http
    .asyncRequest('GET', `${__ENV.BASE}/echo?n=1`)
    .then((r) => http.asyncRequest('GET', `${__ENV.BASE}/echo?n=${r.status}`))
    .then((r) => console.log(r.json('query.n')))
    .finally(() => console.log('done'));
  console.log('first');
}
