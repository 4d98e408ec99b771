// Fields of forms.
// differs: console forms
import { parseHTML } from 'k6/html';
import http from 'k6/http';

export default function () {
  const doc = parseHTML(http.get(`${__ENV.BASE}/html`).body);
  const form = doc.find('#login');
  console.log(form.serialize());
  console.log(JSON.stringify(form.serializeArray()), JSON.stringify(form.serializeObject()));
  console.log(doc.find('[name=token]').val(), doc.find('select').val(), doc.find('textarea').val());
}
