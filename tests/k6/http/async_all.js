// Several requests at once with Promise.all.
// order: any
import http from 'k6/http';

export default async function () {
  const all = [1, 2, 3].map((n) => http.asyncRequest('GET', `${__ENV.BASE}/echo?n=${n}`));
  const responses = await Promise.all(all);
  console.log(responses.map((r) => r.json('query.n')).join());
}
