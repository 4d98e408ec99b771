// Elements and their properties.
import { parseHTML } from 'k6/html';
import http from 'k6/http';

export default function () {
  const doc = parseHTML(http.get(`${__ENV.BASE}/html`).body);
  const h1 = doc.find('h1').get(0);
  console.log(h1.nodeName(), h1.nodeType(), h1.id(), h1.className(), h1.getAttribute('id'), h1.hasAttribute('x'));
  console.log(h1.innerHTML(), h1.textContent(), h1.attributes().id.value, h1.classList().join());
  const a = doc.find('a').get(0);
  console.log(a.href(), a.pathname(), a.search(), a.text());
  const input = doc.find('[name=keep]').get(0);
  console.log(input.checked(), input.type(), input.value(), input.name(), input.form().id());
  const ul = doc.find('ul').get(0);
  console.log(ul.childElementCount(), ul.firstElementChild().textContent(), ul.lastElementChild().textContent());
  console.log(ul.parentElement().nodeName(), ul.nextElementSibling().nodeName(), ul.hasChildNodes());
  console.log(ul.querySelector('.mid').textContent(), ul.querySelectorAll('li').length);
}
