// setup() and teardown() as async functions.
// differs: metrics setup-apart
// differs: keys setup-apart
import http from 'k6/http';

export async function setup() {
  const response = await http.asyncRequest('GET', `${__ENV.BASE}/json`);
  return { id: response.json('id') };
}
export default async function (data) {
  console.log(data.id);
}
export async function teardown(data) {
  await http.asyncRequest('GET', `${__ENV.BASE}/echo?id=${data.id}`);
}
