// Selectors and what a selection can do.
import { parseHTML } from 'k6/html';
import http from 'k6/http';

export default function () {
  const doc = parseHTML(http.get(`${__ENV.BASE}/html`).body);
  const items = doc.find('li');
  console.log(items.size(), items.first().text(), items.last().text(), items.eq(1).text(), items.get(2).textContent());
  console.log(items.map((n, one) => `${n}${one.text()}`).join(), items.slice(1).size(), items.toArray().length);
  items.each((n, one) => console.log(n, one.textContent()));
  console.log(doc.find('.mid').next().text(), doc.find('.mid').prev().text(), doc.find('.mid').parent().children().size());
  console.log(doc.find('h1').attr('id'), doc.find('h1').attr('missing'));
  console.log(doc.find('p').not('.lead').text(), doc.find('p').filter('.lead').html());
  console.log(doc.find('li').is('.mid'), doc.find('body').has('ul').size(), doc.find('b').closest('p').attr('class'));
  console.log(doc.find('a').data('index'), JSON.stringify(doc.find('a').data('info')), doc.find('b').parents().size());
  console.log(doc.find('ul').contents().size(), doc.find('.mid').siblings().size(), doc.find('li').nextAll().size());
  console.log(doc.find('li').prevUntil('.mid').size(), doc.find('tr').children('td').size(), doc.find('b').parentsUntil('body').size());
}
