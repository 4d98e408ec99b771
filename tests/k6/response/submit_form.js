// submitForm() sends the fields of a form.
// differs: requests forms
import http from 'k6/http';

export default function () {
  const page = http.get(`${__ENV.BASE}/html`);
  page.submitForm();
  page.submitForm({ formSelector: '#login', fields: { user: 'me', extra: '1' } });
  page.submitForm({ formSelector: '#login', submitSelector: '[name=send]', params: { headers: { 'X-A': '1' } } });
  const found = page.submitForm({ formSelector: '#search', fields: { q: 'words here' } });
  console.log(found.status, found.json('method'), found.json('query.q'));
}
