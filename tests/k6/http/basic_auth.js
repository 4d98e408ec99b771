// Credentials in the URL.
// differs: exit failed-requests
import http from 'k6/http';

export default function () {
  const url = `${__ENV.BASE}/basic/user/pass`;
  const response = http.get(url.replace('http://', 'http://user:pass@'), { auth: 'basic' });
  console.log(response.status, JSON.stringify(response.json()));
  console.log(http.get(url).status);
  console.log(http.get(url.replace('http://', 'http://user:pass@')).status);
}
