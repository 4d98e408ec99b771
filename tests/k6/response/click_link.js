// clickLink() follows a link.
import http from 'k6/http';

export default function () {
  const page = http.get(`${__ENV.BASE}/html`);
  const next = page.clickLink();
  console.log(next.json('path'), next.json('query.from'));
  page.clickLink({ selector: 'p a', params: { headers: { 'X-A': '1' } } });
}
