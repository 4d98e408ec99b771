// Secrets of a mock source.
// flags: --secret-source=mock=password=hidden,token=abc
import secrets from 'k6/secrets';
import http from 'k6/http';

export default async function () {
  const password = await secrets.get('password');
  http.post(`${__ENV.BASE}/echo`, password);
  console.log('the password is', password);
  try {
    await secrets.get('missing');
  } catch (e) {
    console.log('exception');
  }
}
