// Functions of http imported by name.
import { get, post, put, patch, del, head, options, request, batch, url } from 'k6/http';

export default function () {
  const there = `${__ENV.BASE}/echo`;
  get(there);
  post(there, 'a');
  put(there, 'a');
  patch(there, 'a');
  del(there);
  head(there);
  options(there);
  request('GET', there);
  batch([there]);
  get(url`${__ENV.BASE}/echo?id=${7}`);
}
