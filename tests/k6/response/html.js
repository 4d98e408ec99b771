// html() of a response.
import http from 'k6/http';

export default function () {
  const r = http.get(`${__ENV.BASE}/html`);
  const doc = r.html();
  console.log(doc.find('title').text(), doc.find('li').size(), doc.find('meta[name=csrf]').attr('content'));
  console.log(r.html('h1').text(), r.html().find('td').eq(2).text());
}
