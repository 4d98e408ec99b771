// TypeScript: types are removed.
import http, { type RefinedResponse } from 'k6/http';
import { check } from 'k6';
import type { Options } from 'k6/options';

interface User {
  name: string;
  age?: number;
}

export const options: Options = { vus: 1, iterations: 1 };

function named<T extends User>(user: T): string {
  return `${user.name as string}!`;
}

export default function (): void {
  const response: RefinedResponse<'text'> = http.get(`${__ENV.BASE}/echo`);
  check(response, { 'is 200': (r) => r.status === 200 });
  console.log(named({ name: 'ann' }), (response as any).status!);
}
